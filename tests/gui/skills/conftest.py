"""The page in a window, on real files."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from desktop.ui.skills.page import SkillsPage
from desktop.ui.theme import Theme
from desktop.ui.widgets.dialogs.base import Dialog
from tests.gui.skills.kit import SkillsBench
from tests.harness.timeouts import until


class Window:
    """The page, shown, and the service below it."""

    def __init__(self, bench: SkillsBench, page: SkillsPage) -> None:
        self.bench, self.page = bench, page
        self.list, self.skill, self.facets = page.list, page.skill, page.facets

    async def show(self, name: str, source: str = "") -> None:
        """Click a row."""
        key = self.bench.key(name, source)
        self.page.pick(key)
        detail = lambda: self.bench.skills.detail  # noqa: E731 - a word for it
        await until(lambda: detail() is not None and detail().key == key, name)
        await self.bench.rest()

    async def edit(self, name: str, tab: str = "text") -> None:
        await self.show(name)
        self.skill.show_tab(tab)
        await until(lambda: self.bench.editor.path == self.bench.skills.key[0], "the editor")
        await self.bench.rest()

    @property
    def dialog(self) -> Any:
        return next((one for one in self.page.window().findChildren(Dialog) if one.isVisible()), None)


@pytest.fixture
async def open_page(qtbot: QtBot, theme: Theme, tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    made: list[SkillsBench] = []

    async def make(bench: SkillsBench | None = None, *tools: Any, size: tuple[int, int] = (1280, 800)) -> Window:
        bench = bench or SkillsBench(tmp_path, tools, lambda: None)
        models = await bench.open()
        made.append(bench)
        page = SkillsPage(models)
        qtbot.addWidget(page)
        page.resize(*size)
        page.show()
        await until(lambda: bench.skills.loaded and not bench.bridge.task_names, "the list")
        return Window(bench, page)

    yield make
    for bench in made:
        await bench.end()


@pytest.fixture
def bench(tmp_path: Path) -> SkillsBench:
    return SkillsBench(tmp_path, (), lambda: None)
