"""Settings, About: which Assent this is, and what it is made of with every licence."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, qVersion

from desktop.domain.errors import AssentError
from desktop.systems import current

if TYPE_CHECKING:
    from desktop.domain.installation import Installation
    from desktop.domain.licences.part import LicencedPart
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.licences.reading import LicenceList

OWN_LICENCE = (
    "The authors of Assent have not chosen a licence for it yet. Until they do, all rights stay with them; each part "
    "that others made keeps its own."
)
KINDS = {
    "checkout": "From its sources",
    "wheel": "Python package",
    "folder": "Self-contained folder",
    "deb": "Debian package",
    "rpm": "RPM package",
    "appimage": "AppImage",
    "flatpak": "Flatpak",
    "windows": "Windows installer",
    "macos": "Mac app",
    "unknown": "Not known",
}
INSTALLERS = {
    "pip": "installed by pip",
    "uv": "installed by uv",
    "uv-tool": "installed by uv tool",
    "uvx": "started by uvx",
    "pipx": "installed by pipx",
    "pipx-run": "started by pipx run",
}


def kind_words(found: Installation) -> str:
    """How this Assent came here, for a person."""
    kind = KINDS.get(found.kind, found.kind)
    more = INSTALLERS.get(found.installer, found.installer)
    if found.kind == "unknown" and found.trouble:
        return f"{kind}: {found.trouble}"
    return f"{kind}, {more}" if more else kind


class AboutViewModel(QObject):
    """``changed`` when what is known did, ``found`` when another search did, ``text_ready`` when the text of the open
    part is there."""

    changed = Signal()
    found = Signal()
    text_ready = Signal()

    def __init__(self, installation: Callable[[], Installation], licences: LicenceList, bridge: Bridge) -> None:
        super().__init__()
        self._installation, self._licences, self._bridge = installation, licences, bridge
        self.facts: tuple[tuple[str, str], ...] = ()
        """Name and value of what tells this Assent from others."""
        self.problem = ""
        """Why there is no list."""
        self.rows: tuple[LicencedPart, ...] = ()
        """Those that the search finds."""
        self.total = 0
        self.part: LicencedPart | None = None
        """The one that is open."""
        self.text_name = self.text = ""
        """Which text of it shows, and its words."""
        self._all: tuple[tuple[str, LicencedPart], ...] = ()
        self._words = ""

    def look(self) -> None:
        """Read what is known, once."""

        async def work() -> None:
            self.facts = await self._bridge.in_thread(self._known)
            self.changed.emit()
            parts = await self._bridge.in_thread(self._licences.parts)
            self._all = tuple((_haystack(part), part) for part in parts)
            self.total, self.problem = len(parts), ""
            self.search(self._words)
            self.changed.emit()

        if not self._all:
            self._bridge.spawn(work(), name="read the licences", on_error=self._failed)

    def search(self, words: str) -> None:
        """Keep the parts in whose name, kind or licence each of the words is."""
        self._words = words
        wanted = words.lower().split()
        self.rows = tuple(part for text, part in self._all if all(word in text for word in wanted))
        self.found.emit()

    def open(self, part: LicencedPart, name: str = "") -> None:
        """Fetch a text of a part: the one of this name, or its first."""
        self.part, self.text_name, self.text = part, name or next(iter(part.texts), ""), ""
        if not self.text_name:
            self.text_ready.emit()
            return
        asked = (part, self.text_name)

        async def work() -> None:
            text = await self._bridge.in_thread(self._licences.text, asked[1])
            self._show(asked, text)

        def failed(error: AssentError) -> None:
            self._show(asked, f"{error} {getattr(error, 'next_step', '')}".strip())

        self._bridge.spawn(work(), name="read a licence", on_error=failed)

    @property
    def facts_text(self) -> str:
        """The facts as text to paste."""
        return "\n".join(f"{name}: {value}" for name, value in self.facts)

    @property
    def open_text(self) -> str:
        """The open part with the text that shows, to paste."""
        return "\n".join((*(f"{name}: {value}" for name, value in part_facts(self.part)), "", self.text)).strip() + "\n"

    def _show(self, asked: tuple[LicencedPart, str], text: str) -> None:
        if asked == (self.part, self.text_name):
            self.text = with_copyright(asked[0], text)
            self.text_ready.emit()

    def _known(self) -> tuple[tuple[str, str], ...]:
        found = self._installation()
        rows = (
            ("Version", found.version),
            ("Commit", found.commit),
            ("Built", found.built.replace("T", " ").replace("Z", " UTC")),
            ("Installed as", kind_words(found)),
            ("Place", found.root or found.code),
            ("Python", platform.python_version()),
            ("Qt", str(qVersion())),
            ("System", current.system_words()),
        )
        return tuple((name, value) for name, value in rows if value)

    def _failed(self, error: AssentError) -> None:
        self.problem = f"{error} {getattr(error, 'next_step', '')}".strip()
        self.changed.emit()


def part_facts(part: LicencedPart | None) -> tuple[tuple[str, str], ...]:
    """What is known of a part besides its texts."""
    if part is None:
        return ()
    rows = (
        ("Name", f"{part.name} {part.version}".strip()),
        ("Licence", part.licence),
        ("Taken up", part.used if part.used != part.licence else ""),
        ("Came in", ", ".join(part.inside)),
        ("Source", part.source),
    )
    return tuple((name, value) for name, value in rows if value)


def with_copyright(part: LicencedPart, text: str) -> str:
    """The words of a licence below whose they are."""
    return f"{part.copyright}\n\n{text}" if part.copyright and part.copyright not in text else text


def _haystack(part: LicencedPart) -> str:
    return " ".join((part.name, part.version, part.kind, part.licence, *part.inside)).lower()
