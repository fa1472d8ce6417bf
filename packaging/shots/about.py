"""Settings, About, with samples: for the pictures and the tests of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from desktop.domain.licences.part import LicencedPart
from desktop.presenter.settings.about.page import with_copyright
from desktop.services.licences.reading import LicenceList
from desktop.ui.settings.about.page import AboutPage

LICENCES = Path(__file__).resolve().parents[2] / "resources/licences"
FACTS = (
    ("Version", "0.1.0"),
    ("Commit", "9ffd2bd9a1c04be2f16c7ae6a7d0b7a25f5a8a51"),
    ("Built", "2026-11-27 09:12:00 UTC"),
    ("Installed as", "Self-contained folder"),
    ("Place", "/home/ida/Apps/assent"),
    ("Python", "3.11.7"),
    ("Qt", "6.11.3"),
    ("System", "Linux 6.12, x86_64"),
)

VIEWS = {
    **dict.fromkeys(("", "-960", "-200"), ""),
    **dict.fromkeys(("-parts", "-parts-960", "-parts-1440", "-parts-200"), "all"),
    "-found": "mpl",
    "-none": "nobody",
    **dict.fromkeys(("-text", "-text-960", "-text-200"), "PySide6"),
}
"""End of the picture's name -> what is searched for; with ``text`` in it the first that is found is open."""


def about_in(window: QWidget, view: str) -> None:
    """Search, and open a part."""
    page = window.findChild(AboutPage)
    assert isinstance(page, AboutPage)
    page.show_view("parts" if view else "this")
    page.list.search.setText(view if view != "all" else "")
    if view == "PySide6":
        page.list.parts.activated.emit(page.list.parts.parts.index(0))


def about_pictures(opened: Callable[[Any, str], QWidget]) -> Mapping[str, Callable[[Any], QWidget]]:
    """Each picture of the page by its name; ``opened`` shows a page of Settings and gives the window."""

    def picture(stage: Any, view: str) -> QWidget:
        window = opened(stage, "About")
        about_in(window, view)
        return window

    return {f"settings-about{name}": partial(picture, view=view) for name, view in VIEWS.items()}


class SampleAbout(QObject):
    """A view-model over the real list, with facts that are the same everywhere."""

    changed = Signal()
    found = Signal()
    text_ready = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._list = LicenceList(LICENCES)
        self.facts, self.problem = FACTS, ""
        self.rows: tuple[LicencedPart, ...] = ()
        self.total = 0
        self.part: LicencedPart | None = None
        self.text_name = self.text = ""
        self.facts_text = self.open_text = ""
        self._parts: tuple[LicencedPart, ...] = ()

    def look(self) -> None:
        """All of it at once."""
        self._parts = self._list.parts()
        self.total = len(self._parts)
        self.search("")
        self.changed.emit()

    def search(self, words: str) -> None:
        """By the name alone."""
        self.rows = tuple(part for part in self._parts if words.lower() in f"{part.name} {part.licence}".lower())
        self.found.emit()

    def open(self, part: LicencedPart, name: str = "") -> None:
        """Its text at once."""
        self.part, self.text_name = part, name or part.texts[0]
        self.text = with_copyright(part, self._list.text(self.text_name))
        self.text_ready.emit()
