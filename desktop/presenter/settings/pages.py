"""What a page of Settings is called, and how the command palette finds it. The table of them:
``desktop/app/wiring/settings_pages.py``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.presenter.settings.page import SettingSpec
from desktop.presenter.shell.window import PaletteRow

MODELS, APPROVALS, FILESYSTEM, UPDATES = "Models and keys", "Approvals", "Filesystem", "Updates"
"""Pages that other code names."""


@dataclass(frozen=True, slots=True)
class SettingsPlace:
    """A page of Settings in the list. ``name`` is its name in the schema; ``words`` are what a person may look for and
    the page does not say in its title or in those of its settings; ``help`` is its page of help."""

    name: str
    title: str
    icon: str
    words: tuple[str, ...] = ()
    help: str = ""


def settings_rows(places: Iterable[SettingsPlace], schema: Iterable[SettingSpec]) -> Iterator[PaletteRow]:
    """A line of the palette for each page, found by the settings on it as well."""
    titles: dict[str, list[str]] = {}
    for setting in schema:
        titles.setdefault(setting.page, []).append(setting.title)
    for place in places:
        also = (*titles.get(place.name, ()), *place.words)
        yield PaletteRow(f"settings:{place.name}", f"Settings: {place.title}", "", "Settings", place.icon, also=also)
