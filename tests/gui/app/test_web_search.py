"""A person connects a search server of their own, and an agent searches with it; without one there is no search."""

from collections.abc import Callable
from typing import Any

import pytest

from desktop.domain.approval.audit import AuditFilter
from desktop.ui.settings.web_search.page import WebSearchPage
from tests.gui.app.kit import HELLO, call, unoffered
from tests.servers.raw_web import raw_web
from tests.servers.search_answers import SEARXNG

pytestmark = pytest.mark.spec("R-WEB-2")


async def test_a_service_that_was_tested_is_searched_with_and_asked_about_once(start: Callable[..., Any]) -> None:
    async with raw_web() as web:
        app = await start(
            unoffered("web-search", query="tide"),
            HELLO,
            call("web_search", query="tide at quay 3"),
            call("web_search", query="and at quay 4"),
            [{"text": "At 04:10."}],
        )
        tools = app.startup._services.tools
        assert tools.find("web_search") is None
        app.say("When is high water?")
        await app.answered("Hello there.")
        assert web.seen == []

        app.startup._shell.go("settings")
        page = app.window.page("settings")
        page.show_settings("Web search")
        search: Any = page.findChild(WebSearchPage)
        search.form.choose("searxng")
        search.form.field("base_url").setText(web.url("/wrong"))
        search.form.test.click()
        await app.until(search.form.outcome.isVisible, "an outcome")
        assert "Nothing was kept." in search.form.outcome.accessibleName()
        assert app.startup._services.settings.current.web.search == ()
        web.answer("/search", SEARXNG)
        search.form.field("base_url").setText(web.url("/search"))
        search.form.test.click()
        await app.until(lambda: app.startup._services.settings.current.web.search, "the service")
        await app.until(lambda: tools.find("web_search") is not None, "the tool")
        assert "works: 1 result" in search.form.outcome.accessibleName()
        before = len(web.seen)

        app.startup._shell.go("chats")
        app.say("Search for it.")
        request = await app.asked()
        assert (request.preview["query"], request.preview["service"]) == ("tide at quay 3", "SearXNG")
        assert len(web.seen) == before, "nothing goes out before the answer"
        app.models.approvals.answer(request.request_id, "allow_run", digest=request.digest)
        await app.answered("At 04:10.")
        assert [head.split(" ")[1] for head in web.seen[before:]] == [
            "/search?q=tide+at+quay+3&format=json",
            "/search?q=and+at+quay+4&format=json",
        ]
        activity = await app.startup._services.store.audit.page(AuditFilter())
        assert "tide at quay 3" in str(activity), "Activity says what was searched for"

        app.models.searches.delete_connection("searxng")
        await app.until(lambda: tools.find("web_search") is None, "no search any more")
