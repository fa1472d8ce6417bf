"""A page of Settings is one row of the table: in the list, found by its words, and made when it is opened."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from desktop.app.wiring.settings_pages import SETTINGS_PAGES, SettingsModels
from desktop.presenter.settings.confinement import ConfinementViewModel
from desktop.presenter.settings.pages import settings_rows
from desktop.presenter.shell.window import ShellViewModel
from desktop.ui.settings.page import SettingsPage
from desktop.ui.settings.page_row import PageRow, SettingsFrame
from tests.gui.app.kit import HELLO


class TidesViewModel(QObject):
    """View-model of the page that is added here."""

    wanted = Signal()

    def __init__(self, models: SettingsModels) -> None:
        super().__init__()
        self.home = models.views.services.home


class TidesPage(QWidget):
    def __init__(self, model: TidesViewModel) -> None:
        super().__init__()
        self.model = model


class Tides:
    """The row, and what was made by it."""

    def __init__(self) -> None:
        self.made: list[TidesPage] = []
        self.row: PageRow[SettingsModels] = PageRow(
            "Tides", "Tides and moons", "folder", words=("ebb",), head="Twice a day", build=self.build
        )

    def build(self, models: SettingsModels, frame: SettingsFrame) -> QWidget:
        page = TidesPage(TidesViewModel(models))
        page.model.wanted.connect(frame.approvals_wanted)
        self.made.append(page)
        return page


async def test_a_row_more_is_a_page_more(start: Callable[..., Any], qtbot: Any) -> None:
    app = await start(HELLO)
    tides, views = Tides(), app.models
    table = (*SETTINGS_PAGES, tides.row)
    page = SettingsPage(views.settings, table, SettingsModels(views, ConfinementViewModel()))
    qtbot.addWidget(page)
    listed = [page.nav.model().index(at, 0).data() for at in range(page.nav.model().rowCount())]
    assert listed == [row.title for row in SETTINGS_PAGES] + ["Tides and moons"]
    assert tides.made == []
    page.show_settings("Tides")
    page.show_settings("Appearance")
    page.show_settings("Tides")
    assert [made.model.home for made in tides.made] == [views.services.home]
    assert page._stack.currentWidget() is tides.made[0]
    assert (page._header.title.text(), page._note.text()) == ("Tides and moons", "Twice a day")
    wanted: list[bool] = []
    page.approvals_wanted.connect(lambda: wanted.append(True))
    tides.made[0].model.wanted.emit()
    assert wanted == [True]


def test_the_palette_finds_a_row_by_its_title_and_by_its_words() -> None:
    shell = ShellViewModel(lambda _key, _value: None)
    shell.add_source(lambda: settings_rows((*SETTINGS_PAGES, Tides().row), ()))
    found: dict[str, list[str]] = {}
    shell.palette_results.connect(lambda text, rows: found.update({text: [row.id for row in rows]}))
    for typed in ("tides", "ebb"):
        shell.palette_query(typed)
    assert [found[typed][0] for typed in ("tides", "ebb")] == ["settings:Tides", "settings:Tides"]


async def test_only_the_page_that_is_shown_has_its_view_models(start: Callable[..., Any]) -> None:
    app = await start(HELLO)
    app.startup._shell.go("settings")
    late = ("cli", "mcp", "keys", "reach", "grants", "boundaries", "middleware")
    assert [name for name in late if app.models.made(name)] == []
    app.window.page("settings").show_settings("Middleware")
    assert [name for name in late if app.models.made(name)] == ["middleware"]
