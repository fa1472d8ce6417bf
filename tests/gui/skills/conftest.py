"""The page in a window, on real files."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from desktop.ui.skills.page import SkillsPage
from desktop.ui.theme import Theme
from desktop.ui.widgets.dialogs.dialog import Dialog
from tests.gui.skills.kit import Desk, until


class Window:
    """The page, shown, and the desk below it."""

    def __init__(self, desk: Desk, page: SkillsPage) -> None:
        self.desk, self.page = desk, page
        self.list, self.skill, self.facets = page.list, page.skill, page.facets

    async def show(self, name: str, source: str = "") -> None:
        """Click a row."""
        key = self.desk.key(name, source)
        self.page.pick(key)
        detail = lambda: self.desk.skills.detail  # noqa: E731 - a word for it
        await until(lambda: detail() is not None and detail().key == key, name)
        await self.desk.rest()

    async def edit(self, name: str, tab: str = "text") -> None:
        await self.show(name)
        self.skill.show_tab(tab)
        await until(lambda: self.desk.editor.path == self.desk.skills.key[0], "the editor")
        await self.desk.rest()

    @property
    def dialog(self) -> Any:
        return next((one for one in self.page.window().findChildren(Dialog) if one.isVisible()), None)


@pytest.fixture
async def open_page(qtbot: QtBot, theme: Theme, tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    made: list[Desk] = []

    async def make(desk: Desk | None = None, *tools: Any, size: tuple[int, int] = (1280, 800)) -> Window:
        desk = desk or Desk(tmp_path, tools, lambda: None)
        models = await desk.open()
        made.append(desk)
        page = SkillsPage(models)
        qtbot.addWidget(page)
        page.resize(*size)
        page.show()
        await until(lambda: desk.skills.loaded and not desk.bridge.task_names, "the list")
        return Window(desk, page)

    yield make
    for desk in made:
        await desk.end()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, (), lambda: None)
