"""The built-in tools of the running app."""

from pathlib import Path

import pytest

from desktop.tools.builtin.catalogue import BUILT_IN
from tests.unit.app.test_journal_wiring import opened


@pytest.mark.spec("R-BLT-1")
async def test_every_tool_of_the_catalogue_is_registered_when_the_app_runs(tmp_path: Path) -> None:
    async with opened(tmp_path) as services:
        assert {name for name in BUILT_IN if services.tools.find(name) is None} == set()
