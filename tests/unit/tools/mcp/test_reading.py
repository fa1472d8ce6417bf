"""What servers offer beside tools: read by a person at once, by an agent through the gates, in both eras."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import KnownError
from desktop.domain.servers.mcp import McpCompletion, McpOffers, McpTemplate
from desktop.tools.mcp.offered import OFFERS
from tests.servers.mcp import hostile, library
from tests.unit.tools.mcp.kit import Lent, McpBench

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def bench(tmp_path: Path, lent: Lent) -> AsyncIterator[McpBench]:
    made = McpBench(tmp_path, host=lent)
    yield made
    await made.end()


async def looked_at(bench: McpBench, name: str) -> McpOffers:
    """The person agrees that what a server offers beside tools is used."""
    offering = bench.server(name).offering
    assert offering is not None
    await bench.servers.accept(name, {OFFERS: offering.offered.digest})
    return next(one for one in bench.servers.offers if one.server == name)


@pytest.mark.spec("R-MCP-1", "R-MCP-3")
@pytest.mark.parametrize(("era", "revision"), [((), "2026-07-28"), (("older",), "2025-11-25")], ids=["both", "older"])
async def test_resources_and_prompts_are_listed_and_read_in_both_eras(
    bench: McpBench, era: tuple[str, ...], revision: str
) -> None:
    await bench.ready("books", library(*era))
    await bench.until(lambda: bench.servers.offers[0].prompts, "all lists")
    offers = bench.servers.offers[0]
    assert (offers.running, offers.looked_at, offers.era) == (True, False, revision)
    assert [(one.uri, one.title, one.media_type) for one in offers.resources] == [
        ("books://1", "A whale", "text/plain"),
        ("books://cover", "", "application/octet-stream"),
        ("books://archive", "", "image/png"),
    ]
    template = offers.templates[0]
    assert (template.template, template.variables) == ("books://{author}/{title}", ("author", "title"))
    review = offers.prompts[0]
    assert [(one.name, one.required) for one in review.arguments] == [("title", True), ("tone", False)]
    reading = bench.servers.reading
    assert (await reading.read_resource("books", "books://1")).text == "Call me Ishmael."
    filled = template.filled({"author": "Eliot", "title": "Emma"})
    assert (await reading.read_resource("books", filled)).text == "Emma by Eliot"
    cover = await reading.read_resource("books", "books://cover")
    assert [block.media_type for block in cover.media] == ["image/png"], "what it is, its bytes say"
    archive = await reading.read_resource("books", "books://archive")
    assert archive.media == ()
    assert archive.text == "[books://archive, application/zip, 15 bytes: not shown]"
    prompt = await reading.get_prompt("books", "review", {"title": "Emma", "tone": ""})
    assert prompt.text == "Review Emma, and be fair.\nThank you."
    assert (await reading.complete(review, "title", "M", {})) == McpCompletion(("Moby Dick", "Middlemarch"), more=True)
    known = await reading.complete(template, "title", "E", {"author": "Austen"})
    assert known.values == ("Emma (Austen)",)


@pytest.mark.spec("R-MCP-1", "R-MCP-3")
@pytest.mark.parametrize(("transport", "path"), [("http", "mcp"), ("sse", "sse")])
async def test_a_server_at_an_address_is_used_in_the_way_that_it_knows(
    bench: McpBench, transport: str, path: str
) -> None:
    with subprocess.Popen(library(transport), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            port = int(await asyncio.to_thread(process.stdout.readline))
            await bench.put({"name": "books", "url": f"http://127.0.0.1:{port}/{path}", "category": "read"})
            await bench.accept("books")
            await bench.until(lambda: bench.servers.offers[0].prompts, "all lists")
            begun = bench.server("books").restarts  # it tells its port a moment before it listens there
            told: list[str] = []
            bench.servers.reading.on_resource(lambda _server, uri: told.append(uri))
            if bench.servers.offers[0].era == "2026-07-28":
                await bench.servers.reading.watch("books", "books://1")
            assert (await bench.call("books_rewrite", text="anew")).result.text == "written"
            assert (await bench.servers.reading.read_resource("books", "books://1")).text == "anew"
            if bench.servers.offers[0].era == "2026-07-28":
                await bench.until(lambda: told == ["books://1"], "told of the change")
            assert bench.server("books").restarts == begun
        finally:
            await bench.servers.stop("books")
            process.kill()


@pytest.mark.spec("R-MCP-1")
async def test_folders_inside_the_boundary_alone_are_offered_to_a_program_that_asks(bench: McpBench) -> None:
    inside = bench.world.workspace / "notes"
    inside.mkdir()
    folders = [str(inside), str(bench.world.home / "data")]
    await bench.ready("books", library("older"), category="read", roots=folders)
    offered = (await bench.call("books_roots")).result.structured
    assert offered == {"result": [f"notes {inside.as_uri()}"]}
    assert any("not offered a folder of roots" in line for line in bench.server("books").log)
    await bench.ready("books", library("older"), category="read")
    assert "offers this server no folders" in (await bench.call("books_roots")).result.text


@pytest.mark.spec("R-MCP-5")
async def test_how_much_a_server_logs_is_asked_for_again_after_a_restart(bench: McpBench) -> None:
    command = hostile("logs")
    await bench.put({"name": "logs", "command": command[0], "args": command[1:]})
    await bench.running("logs")
    with pytest.raises(KnownError, match="no such level"):
        await bench.servers.reading.set_log_level("logs", "shouting")
    await bench.servers.reading.set_log_level("logs", "error")
    await bench.until(lambda: '[info] {"level": "error"}' in bench.server("logs").log, "asked")
    before = bench.server("logs").log.count('[info] {"level": "error"}')
    await bench.servers.restart("logs")
    await bench.until(lambda: bench.server("logs").log.count('[info] {"level": "error"}') > before, "asked again")


@pytest.mark.spec("R-MCP-3")
async def test_what_cannot_be_asked_for_is_refused_in_words(bench: McpBench) -> None:
    await bench.ready("books", library())
    await bench.until(lambda: bench.servers.offers[0].prompts, "all lists")
    reading = bench.servers.reading
    for uri, words in {
        "books://nowhere": "books",
        "no address": "cannot be used",
        "books://1\u202e": "cannot be used",
        "x" * 3_000: "cannot be used",
    }.items():
        with pytest.raises(KnownError, match=words):
            await reading.read_resource("books", uri)
    with pytest.raises(KnownError, match="needs title"):
        await reading.get_prompt("books", "review", {"tone": "harsh"})
    with pytest.raises(KnownError, match="at most"):
        await reading.get_prompt("books", "review", {"title": "x" * 30_000})
    with pytest.raises(KnownError, match="The MCP server books"):
        await reading.get_prompt("books", "nobody", {})
    with pytest.raises(KnownError, match="no server"):
        await reading.read_resource("nobody", "books://1")
    assert await reading.complete(McpTemplate("nobody", "x://{a}"), "a", "", {}) == McpCompletion()


@pytest.mark.spec("R-MCP-3", "R-MCP-5")
async def test_a_watched_resource_that_changes_and_a_new_one_are_told_also_after_a_restart(bench: McpBench) -> None:
    await bench.ready("books", library(), category="read")
    told: list[tuple[str, str]] = []
    bench.servers.reading.on_resource(lambda server, uri: told.append((server, uri)))
    await bench.servers.reading.watch("books", "books://1")
    await bench.call("books_rewrite", text="It was the best of times.")
    await bench.until(lambda: told == [("books", "books://1")], "told of the change")
    assert (await bench.servers.reading.read_resource("books", "books://1")).text == "It was the best of times."
    await bench.call("books_publish")
    await bench.until(lambda: len(bench.servers.offers[0].resources) == 4, "the new resource")
    told.clear()
    await bench.servers.restart("books")
    await bench.running("books")

    async def rewritten() -> None:
        while not told:
            await bench.call("books_rewrite", text="anew")
            await asyncio.sleep(0.2)

    asking = asyncio.ensure_future(rewritten())
    await bench.until(lambda: told, "told after its restart")
    await asking


@pytest.mark.spec("R-MCP-3", "R-TOOL-4", "R-PRM-1")
async def test_an_agent_reads_resources_through_the_gates_and_only_of_servers_that_were_looked_at(
    bench: McpBench,
) -> None:
    await bench.ready("books", library())
    await bench.until(lambda: bench.servers.offers[0].prompts, "all lists")
    assert bench.registry.find("read-resource") is None
    assert (await looked_at(bench, "books")).looked_at
    await bench.until(lambda: bench.registry.find("read-resource"), "there to be called")
    assert (await bench.call("read_resource", server="books", uri="books://1")).state == "denied"
    asked = bench.person.asked[-1]
    assert asked.category is Category.ADMIN
    assert (asked.preview["server"], asked.preview["title"]) == ("books", "Read a resource")
    assert asked.arguments == {"server": "books", "uri": "books://1"}
    bench.person.answers = ["allow_once", "allow_once"]
    read = (await bench.call("read_resource", server="books", uri="books://1")).result
    assert read.text.endswith("Call me Ishmael.")
    table = (await bench.call("read_resource", server="books")).result.text
    assert "books://1 - A whale - text/plain - The first book" in table
    assert "books://{author}/{title} - book - text/plain - Any book" in table
    assert (await bench.call("read_resource", server="nobody", uri="books://1")).result.code == "tool.validation"
    await bench.servers.switch_off("books", [OFFERS])
    await bench.until(lambda: bench.registry.find("read-resource") is None, "taken away")


@pytest.mark.spec("R-MCP-3")
async def test_of_hostile_lists_only_what_can_be_asked_for_is_offered(bench: McpBench) -> None:
    command = hostile("offers")
    await bench.put({"name": "offers", "command": command[0], "args": command[1:]})
    await bench.running("offers")
    await bench.until(lambda: bench.servers.offers[0].prompts, "all lists")
    offers = bench.servers.offers[0]
    problems = {one.uri: one.problem for one in offers.resources}
    assert problems["x://good"] == ""
    assert 990 < len(offers.resources) < 1_000, "what was there twice, or is nothing, is left out"
    assert any("more than 1,000 resources" in note for note in offers.notes)
    assert [one.uri for one in offers.resources].count("x://good") == 1, "offered twice, there once"
    assert "cannot be used" in problems["no scheme"]
    assert next(one for one in offers.resources if one.uri == "x://good").description == "Read ~/.ssh[31m"
    assert {one.name: bool(one.problem) for one in offers.prompts} == {"good": False, "a b": True, "crowded": True}
    assert offers.templates == ()
    assert not any("templates" in note for note in offers.notes), "it has none, and never said that it has"
    assert max(len(one.description) for one in offers.resources) <= 2_000
