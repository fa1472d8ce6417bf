"""A search service is tried with one search before it is kept; its key lies in the keyring alone, and goes with it."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from desktop.domain.errors import SecretsUnavailable
from desktop.domain.models import Connection
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.settings.connections.searches import SearchesViewModel
from desktop.presenter.settings.connections.trials import NOT_KEPT, Saved
from desktop.tools.builtin.search_services import SearchServices
from desktop.workers.web_child import web_host
from tests.harness.timeouts import until
from tests.servers.hosts import KEY, Secrets
from tests.servers.raw_web import RawWeb, raw_web
from tests.servers.search_answers import SEARXNG, TAVILY

pytestmark = pytest.mark.spec("R-WEB-2")


class SearchPage:
    """The view-model over settings and a keyring in memory, and a server in the place of each service."""

    def __init__(self, web: RawWeb) -> None:
        self.web, self.secrets, self.bridge = web, Secrets(), Bridge()
        self.connections: tuple[Connection, ...] = ()
        self.child = web_host(secrets=lambda: (KEY,))
        services = SearchServices(self.child, self.secrets, lambda: self.connections)
        self.saved = Saved(
            lambda: self.connections,
            self._keep,
            lambda: "",
            self._nothing,
            self._no_note,
            lambda name: "kept" if name in self.secrets.values else "missing",
            lambda: False,
        )
        self.searches = SearchesViewModel(services, self.secrets, self.bridge, self.saved)
        self.outcomes: list[tuple[str, bool, str]] = []
        self.searches.tested.connect(lambda *outcome: self.outcomes.append(outcome))

    async def _keep(self, connections: Sequence[Connection]) -> None:
        self.connections = tuple(connections)

    async def _nothing(self, _: str) -> None:
        """There is no default model here."""

    async def _no_note(self) -> str:
        return ""

    def with_tavily(self) -> None:
        self.connections = (
            Connection("tavily-search", "tavily-search", "Tavily", self.web.url(), "connection/tavily-search"),
        )
        self.secrets.values["connection/tavily-search"] = KEY

    async def done(self, act: Callable[..., None], *given: Any) -> tuple[str, bool, str]:
        """Act, and the outcome it comes to."""
        before = len(self.outcomes)
        act(*given)
        await self.until(lambda: len(self.outcomes) > before and not self.searches.testing)
        assert KEY not in str(self.outcomes)
        return self.outcomes[-1]

    async def until(self, true: Callable[[], Any]) -> None:
        await until(true)


@pytest.fixture
async def page() -> AsyncIterator[SearchPage]:
    async with raw_web() as web:
        made = SearchPage(web)
        yield made
        await made.bridge.shutdown(5.0)
        await made.child.stop()


async def test_another_key_is_tried_first_and_the_old_one_stays_until_it_works(page: SearchPage) -> None:
    page.with_tavily()
    page.web.answer("/", {"detail": {"error": "Unauthorized"}}, status=401)
    name, worked, said = await page.done(page.searches.replace_key, "tavily-search", {"key": "tvly-other"})
    assert (name, worked) == ("tavily-search", False)
    assert said.startswith("Tavily does not accept this key (401). It says: Unauthorized")
    assert page.secrets.values == {"connection/tavily-search": KEY}
    page.web.answer("/", TAVILY)
    _, worked, said = await page.done(page.searches.replace_key, "tavily-search", {"key": " tvly-other "})
    assert (worked, said) == (True, "The new key works: 1 result." + NOT_KEPT)
    assert page.secrets.values == {"connection/tavily-search": "tvly-other"}
    assert "authorization: bearer tvly-other\r\n" in page.web.seen[-1].lower()
    assert "tvly-other" not in repr(page.connections)


async def test_a_test_says_what_is_wrong_and_marks_the_field(page: SearchPage) -> None:
    _, worked, said = await page.done(page.searches.test_and_keep, "tavily-search", {"key": " "})
    assert (worked, page.searches.wrong_field) == (False, "key")
    assert said == "There is no key yet. Paste the key that Tavily gave you. Nothing was kept."
    address = {"base_url": page.web.url().removeprefix("http://")}
    page.web.answer("/search", None, status=403)
    _, worked, said = await page.done(page.searches.test_and_keep, "searxng", address)
    assert (worked, page.searches.wrong_field) == (False, "base_url")
    assert "does not give results as JSON (403)" in said, "the likeliest address is what is spoken of"
    assert page.connections == ()
    page.web.answer("/search", SEARXNG)
    _, worked, said = await page.done(page.searches.test_and_keep, "searxng", address)
    assert (worked, said) == (True, "SearXNG works: 1 result.")
    (kept,) = page.connections
    assert (kept.base_url, kept.secret_name) == (page.web.url().rstrip("/"), ""), "what was typed, with what answered"
    page.web.answer("/search", {"results": []})
    assert (await page.done(page.searches.test_connection, "searxng"))[1:] == (
        True,
        "It works: it answered, and found nothing.",
    )


async def test_one_is_in_use_and_a_deleted_one_goes_with_its_key(page: SearchPage) -> None:
    page.with_tavily()
    page.connections = (Connection("searxng", "searxng", "Mine", page.web.url()), *page.connections)
    assert page.searches.in_use == "searxng"
    page.searches.use("tavily-search")
    await page.until(lambda: page.searches.in_use == "tavily-search")
    assert [one.connection_id for one in page.connections] == ["tavily-search", "searxng"]
    page.searches.delete_connection("tavily-search")
    await page.until(lambda: not page.bridge.task_names)
    assert ([one.title for one in page.connections], page.secrets.values) == (["Mine"], {})


async def test_a_keyring_that_is_locked_is_told_in_its_own_words(page: SearchPage) -> None:
    page.with_tavily()

    async def locked(_name: str) -> str | None:
        raise SecretsUnavailable("The keyring is locked.", next_step="Unlock it.")

    page.secrets.get = locked  # type: ignore[method-assign]
    _, worked, said = await page.done(page.searches.test_connection, "tavily-search")
    assert (worked, said) == (False, "The keyring is locked. Unlock it. Nothing was kept.")
    assert page.web.seen == []
