"""web-search: the real child asks real servers on this computer in the place of the services."""

from collections.abc import AsyncIterator

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import SecretsUnavailable, ToolFailure
from desktop.domain.files.work_place import NOWHERE
from desktop.domain.models import Connection
from desktop.domain.tools import PreCheck
from desktop.domain.web.proxies import WebProxies
from desktop.safety.confinement.linux import launcher
from desktop.tools.builtin.search_services import SearchServices, address_of
from desktop.tools.builtin.web_search import WEB_SEARCH, WebSearch
from desktop.workers.web_child import web_host
from tests.servers.hosts import KEY, Secrets
from tests.servers.raw_web import RawWeb, raw_web
from tests.servers.search_answers import BRAVE, SEARXNG, TAVILY
from tests.unit.tools.conftest import Bench

pytestmark = pytest.mark.spec("R-WEB-2")


class Searcher:
    """The tool over a bench, with the server ``web`` in the place of each service."""

    def __init__(self, bench: Bench, web: RawWeb) -> None:
        self.bench, self.web = bench, web
        self.child = web_host(launcher=launcher.__file__, secrets=lambda: (KEY,))
        self.secrets = Secrets(**{"connection/tavily-search": KEY})
        self.connections: tuple[Connection, ...] = ()
        self.services = SearchServices(self.child, self.secrets, lambda: self.connections)
        self.tool = WebSearch(self.services, WebProxies())

    def connect(self, kind: str, title: str = "Service", path: str = "/") -> None:
        name = "" if kind == "searxng" else "connection/tavily-search"
        self.connections = (Connection(kind, kind, title, self.web.url(path), name), *self.connections)

    async def search(self, query: str = "tide", **more: object) -> str:
        return (await self.bench.run(self.tool, query=query, **more)).text

    async def check(self, query: str = "tide") -> PreCheck:
        return await self.tool.precheck({"query": query}, NOWHERE)

    async def failure(self) -> ToolFailure:
        with pytest.raises(ToolFailure) as error:
            await self.search()
        assert KEY not in str(error.value)
        return error.value


@pytest.fixture
async def searcher(bench: Bench) -> AsyncIterator[Searcher]:
    async with raw_web() as web:
        made = Searcher(bench, web)
        yield made
        await made.child.stop()


async def test_results_come_numbered_with_title_address_and_snippet_and_name_their_host(searcher: Searcher) -> None:
    searcher.connect("brave-search")
    searcher.web.answer("/", BRAVE)
    result = await searcher.bench.run(searcher.tool, query="quay 3")
    assert result.outside == (f"127.0.0.1:{searcher.web.port}",)
    assert result.text == (
        "1. Tide tables & notices\n   <https://tides.example/quay-3>\n   High water at quay 3 is at 04:11.\n"
        "2. Harbour\n   <https://harbour.example/>"
    )


async def test_a_title_cannot_look_like_another_result(searcher: Searcher) -> None:
    sly = {"url": "https://a.example/", "title": "A\n2. *B* [x](y) `z`", "content": "c\n\n3. D"}
    searcher.connect("tavily-search")
    searcher.web.answer("/", {"results": [sly]})
    lines = (await searcher.search()).split("\n")
    assert lines == ["1. A 2. \\*B\\* \\[x\\](y) \\`z\\`", "   <https://a.example/>", "   c 3. D"]


async def test_what_was_left_out_and_who_was_silent_is_said(searcher: Searcher) -> None:
    searcher.connect("searxng")
    searcher.web.answer("/search", SEARXNG)
    text = await searcher.search(count=1)
    assert text.endswith(
        "[1 result left out that lead to no page of the web; 2 engines of the service did not answer]"
    ), text
    searcher.web.answer("/search", {"results": []})
    assert (await searcher.search()).startswith("Nothing was found.")


async def test_a_search_reads_is_about_its_service_and_asks_with_the_query(searcher: Searcher) -> None:
    searcher.connect("tavily-search", "Tavily")
    found = await searcher.check("who pays for quay 3?")
    host = f"127.0.0.1:{searcher.web.port}"
    assert (found.category, found.constraint, bool(found.asks), found.denied) == (Category.READ, host, True, None)
    assert found.resolved == {"host": host, "query": "who pays for quay 3?"}
    assert (found.preview["query"], found.preview["service"], found.preview["key"]) == (
        "who pays for quay 3?",
        "Tavily",
        True,
    )
    before = dict(found.preview)
    searcher.connect("searxng", "Mine")
    assert dict((await searcher.check("who pays for quay 3?")).preview) != before, "another service is another question"
    searcher.connections = (Connection("t", "tavily-search", "Tavily", searcher.web.url("/other"), "connection/x"),)
    assert dict((await searcher.check("who pays for quay 3?")).preview) != before, "and so is another address of a host"
    assert (WEB_SEARCH.about, WEB_SEARCH.category) == ("host", Category.READ)


async def test_of_several_services_the_first_is_asked_and_no_other_when_it_fails(searcher: Searcher) -> None:
    searcher.connect("searxng", "Second")
    searcher.connect("tavily-search", "First")
    searcher.web.answer("/search", SEARXNG)
    searcher.web.answer("/", {"detail": {"error": "busy"}}, status=429, headers="Retry-After: 30\r\n")
    error = await searcher.failure()
    assert str(error) == "First has had too many searches (429). It says: busy It asks to wait 30 s."
    assert len(searcher.web.seen) == 1


async def test_without_a_service_or_its_key_nothing_is_sent(searcher: Searcher) -> None:
    assert isinstance((await searcher.check()).denied, ToolFailure)
    searcher.connect("tavily-search", "Tavily")
    searcher.web.answer("/", TAVILY)
    searcher.secrets.values.clear()
    assert str(await searcher.failure()) == "The key of Tavily is missing. Enter it in Settings, Web search."
    assert searcher.web.seen == []


class Locked(Secrets):
    """A keyring that is locked."""

    async def get(self, name: str) -> str | None:
        raise SecretsUnavailable("The keyring is locked.", next_step="Unlock it.")


async def test_a_locked_keyring_is_named(searcher: Searcher) -> None:
    searcher.connect("tavily-search")
    services = SearchServices(searcher.child, Locked(), lambda: searcher.connections)
    searcher.tool = WebSearch(services, WebProxies())
    assert str(await searcher.failure()) == "The keyring is locked. Unlock it."


@pytest.mark.parametrize(
    ("kind", "status", "words"),
    [
        ("tavily-search", 401, "Service does not accept this key (401). Replace it in Settings, Web search."),
        ("tavily-search", 432, "The plan of this key at Service is used up (432). Look at the plan there."),
        ("tavily-search", 503, "Service failed on its side (503). Try again in a moment."),
        ("tavily-search", 418, "Service refused the search (418). Try other words."),
        ("searxng", 403, "Service at {host} does not give results as JSON (403). Whoever runs it adds json to"),
        ("searxng", 401, "Service at {host} asks for a sign-in (401), which Assent cannot do there."),
    ],
)
async def test_what_went_wrong_is_said_with_the_next_step(
    searcher: Searcher, kind: str, status: int, words: str
) -> None:
    searcher.connect(kind)
    for path in ("/", "/search"):
        searcher.web.answer(path, {}, status=status)
    assert str(await searcher.failure()).startswith(words.format(host=f"127.0.0.1:{searcher.web.port}"))


async def test_a_service_that_is_not_there_or_leads_elsewhere_is_named(searcher: Searcher) -> None:
    searcher.connections = (Connection("s", "searxng", "Mine", "http://127.0.0.1:9/"),)
    assert str(await searcher.failure()).startswith("Mine: Port 9 belongs to something else")
    searcher.connections = (Connection("s", "searxng", "Mine", "http://127.0.0.1:1023/"),)
    assert (await searcher.failure()).code == "web.unreachable"
    searcher.connect("tavily-search", "Tavily")
    searcher.web.redirect("/", "https://evil.example/")
    assert "sends requests on to https://evil.example/, which was not followed" in str(await searcher.failure())


def test_the_services_have_addresses_of_their_own() -> None:
    hosts = {
        kind: address_of(Connection("x", kind, "X")).host for kind in ("brave-search", "tavily-search", "exa-search")
    }
    assert hosts == {
        "brave-search": "api.search.brave.com",
        "tavily-search": "api.tavily.com",
        "exa-search": "api.exa.ai",
    }
