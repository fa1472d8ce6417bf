"""The built-in tools of the running app."""

from pathlib import Path

import pytest

from desktop.domain.models import Connection
from desktop.tools.builtin.catalogue import BUILT_IN
from desktop.tools.builtin.web_search import WEB_SEARCH
from tests.unit.app.test_journal_wiring import opened


@pytest.mark.spec("R-BLT-1", "R-WEB-2")
async def test_every_tool_of_the_catalogue_is_registered_and_search_once_there_is_a_service(tmp_path: Path) -> None:
    async with opened(tmp_path) as services:
        assert {name for name in BUILT_IN if services.tools.find(name) is None} == {WEB_SEARCH.name}
        mine = Connection("searxng", "searxng", "Mine", "http://127.0.0.1:8888")
        await services.settings.update("web.search", (mine,))
        assert services.tools.find(WEB_SEARCH.provider_name) is not None
        await services.settings.update("web.search", (Connection("x", "no-such-service", "Odd"),))
        assert services.tools.find(WEB_SEARCH.name) is None, "a kind that nobody knows is none"
