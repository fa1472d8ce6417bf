"""The page of agents, for more than one file of tests."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop.ui.theme import Theme
from tests.gui.settings.agents_kit import MINE, Shown
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.kit import world


@pytest.fixture
async def agents_shown(theme: Theme, qtbot: QtBot, tmp_path: Path) -> AsyncIterator[Shown]:
    theme.set_choice(os.environ.get("ASSENT_SHOTS_THEME", "light"))
    tools = (FakeTool("read-file"), FakeTool("list-directory"), FakeTool("bash"))
    async with world(tmp_path, None, *tools) as made:  # type: ignore[arg-type]  # no model is ever asked
        at = Shown(made, tmp_path)
        (at.mine / "night_watch_agent.yaml").write_text(MINE)
        await at.open(qtbot)
        yield at
        at.agents.close()
        await at.bridge.shutdown()
