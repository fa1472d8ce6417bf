"""Servers that flood, stall, never end or change their mind: each costs the call, and nobody waits for ever."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import pytest_asyncio

from desktop.domain.errors import KnownError
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.servers.mcp import McpPrompt
from desktop.tools.mcp.reading.listed import listed, uri_problem
from tests.harness.timeouts import WAIT_S
from tests.servers.mcp import unruly
from tests.unit.tools.mcp.kit import Lent, McpBench

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def bench(tmp_path: Path, lent: Lent) -> AsyncIterator[McpBench]:
    made = McpBench(tmp_path, host=lent)
    yield made
    await made.end()


def declared(mode: str, *arguments: str, **more: object) -> dict[str, object]:
    command = unruly(mode, *arguments)
    return {"name": mode, "command": command[0], "args": command[1:], "category": "read", **more}


@pytest.mark.spec("R-MCP-5", "R-LOOP-3")
@pytest.mark.parametrize(
    "mode", ["progress", *(pytest.param(mode, marks=pytest.mark.soak) for mode in ("changes", "updates"))]
)
async def test_a_hundred_thousand_messages_cost_the_call_and_the_server_comes_back(bench: McpBench, mode: str) -> None:
    await bench.put(declared(mode), declared("plain"))
    await bench.accept(mode)
    await bench.accept("plain")
    began = time.monotonic()
    if mode == "updates":
        await bench.servers.reading.watch(mode, "x://one")
    outcome = await bench.call(f"{mode}_echo", text="x")
    assert len(bench.output) <= 10 * (time.monotonic() - began) + 5, "the newest word, at the pace of a reader"
    assert (await bench.call("plain_echo", text="untouched")).result.text == "untouched"
    assert bench.server("plain").restarts == 0
    if outcome.state == "done":  # a very busy machine does not get through 2,000 messages a second: none too many
        assert outcome.result.text == "x"
        return
    assert outcome.result.code in ("mcp.ended", "mcp.not_running"), outcome.result.text
    await bench.until(lambda: bench.server(mode).restarts, "another start")
    await bench.running(mode)
    assert any("more messages than can be read" in line for line in bench.server(mode).log)


@pytest.mark.spec("R-MCP-5")
async def test_an_eager_server_is_read_at_the_pace_of_a_person(bench: McpBench) -> None:
    await bench.put(declared("eager"))
    await bench.accept("eager")
    told: list[str] = []
    bench.servers.reading.on_resource(lambda _server, uri: told.append(uri))
    await bench.servers.reading.watch("eager", "x://one")
    before, began = bench.told, time.monotonic()
    assert (await bench.call("eager_echo", text="done")).result.text == "done"
    await bench.until(lambda: told, "told of the change")
    seconds = time.monotonic() - began
    assert len(told) <= seconds + 2, "once a second"
    assert len(bench.output) <= 10 * seconds + 5, "ten times a second"
    assert bench.told - before < 10
    assert bench.server("eager").restarts == 0


@pytest.mark.spec("R-MCP-3", "R-MCP-5")
async def test_lists_without_an_end_are_cut_and_those_that_never_come_hold_up_nothing(bench: McpBench) -> None:
    await bench.put(declared("cursors"), declared("stalls"))
    await bench.accept("stalls")
    assert (await bench.call("stalls_echo", text="x")).result.text == "x"
    await bench.until(lambda: bench.servers.offers[0].prompts, "all lists")
    offers = bench.servers.offers[0]
    assert len(offers.resources) == 50, "so many pages are read"
    assert [one.name for one in offers.prompts] == ["greet 1", "greet 2"], (
        "a page that was there is not asked for again"
    )
    assert any("resources does not end" in note for note in offers.notes)
    assert any("prompts does not end" in note for note in offers.notes)
    reading = asyncio.ensure_future(bench.servers.reading.read_resource("stalls", "x://one"))
    assert (await bench.call("stalls_echo", text="y")).result.text == "y"
    await bench.servers.stop("stalls")
    with pytest.raises(KnownError, match="stalls"):
        await reading


@pytest.mark.spec("R-MCP-3", "R-TMO-8")
async def test_odd_contents_are_cleaned_cut_and_named(bench: McpBench) -> None:
    await bench.put(declared("contents"))
    await bench.running("contents")
    read = await bench.servers.reading.read_resource("contents", "x://one")
    lines = read.text.splitlines()
    assert lines[:5] == [
        "root:*:1",
        "[x://picture, 5 bytes: not shown]",
        "[x://none without data: not shown]",
        "[application/zip, 4 bytes: not shown]",
        "[content of the kind resource: not shown]",
    ]
    assert read.parts[0].uri == "file:///etc/shadow", "a claim of the server, which nobody follows"
    assert read.media == ()
    assert len(read.text) < 201_000
    assert any("more pieces of content were left out" in note for note in read.notes)
    assert any("Cut:" in note for note in read.notes)


@pytest.mark.spec("R-MCP-3")
async def test_a_file_of_this_computer_is_not_asked_of_a_server_on_another(bench: McpBench) -> None:
    await bench.put({"name": "far", "url": "https://far.invalid/mcp", "enabled": False}, declared("plain"))
    for uri in ("file:///etc/shadow", "FILE:///etc/shadow", "file:/etc/shadow", "file://localhost/etc/shadow"):
        with pytest.raises(KnownError, match="another machine"):
            await bench.servers.reading.read_resource("far", uri)
        with pytest.raises(KnownError, match="another machine"):
            await bench.servers.reading.watch("far", uri)
    text = json.dumps({"uri": "file:///etc/shadow", "name": "shadow"})
    assert "another machine" in listed("resources", "far", [text], lambda said: said, elsewhere=True)[0].problem
    template = json.dumps({"uriTemplate": "file:///{path}", "name": "any"})
    assert "another machine" in listed("templates", "far", [template], lambda said: said, elsewhere=True)[0].problem
    assert listed("resources", "near", [text], lambda said: said, elsewhere=False)[0].problem == ""
    assert uri_problem(" file:///etc/shadow", elsewhere=True)
    assert uri_problem("x:\nfile:///etc/shadow", elsewhere=False)


@pytest.mark.spec("R-MCP-5", "R-TOOL-10")
async def test_an_image_of_a_hundred_megabytes_and_a_death_in_the_middle_cost_that_call(bench: McpBench) -> None:
    await bench.put(declared("huge"), declared("dies-reading"), declared("plain"))
    for name in ("huge", "dies-reading", "plain"):
        await bench.accept(name)
    outcome = await bench.call("huge_echo", text="x")
    assert (outcome.state, outcome.result.code) == ("failed", "mcp.ended")
    with pytest.raises(KnownError, match="dies-reading"):
        await bench.servers.reading.read_resource("dies-reading", "x://one")
    await bench.until(lambda: any("8 MB" in line for line in bench.server("huge").log), "why it was ended")
    await bench.until(lambda: any("exit code 9" in line for line in bench.server("dies-reading").log), "how it ended")
    assert (await bench.call("plain_echo", text="here")).result.text == "here"
    assert bench.server("plain").restarts == 0


@pytest.mark.spec("R-MCP-3", "R-TOOL-10")
async def test_a_structured_result_that_is_not_what_was_declared_is_left_out(bench: McpBench) -> None:
    await bench.put(declared("misfit"), declared("nothing"))
    await bench.accept("misfit")
    await bench.accept("nothing")
    outcome = await bench.call("misfit_echo", text="x")
    assert (outcome.state, outcome.result.structured, outcome.result.is_error) == ("done", None, False)
    assert outcome.result.text.startswith("said\n[Its structured result was left out.")
    assert "integer" in outcome.result.text
    assert "gave none" in (await bench.call("nothing_echo", text="x")).result.text


@pytest.mark.spec("R-MCP-5")
async def test_a_task_outlives_its_call_and_its_result_is_asked_for_through_the_gates(
    bench: McpBench, tmp_path: Path
) -> None:
    said = bench.world.workspace / "slow"
    await bench.put(declared("slow", str(said), timeout=1, category="admin", tools={"echo": "read"}))
    await bench.accept("slow")
    begun = await bench.call("slow_echo", text="x")
    assert begun.state == "done"
    assert begun.result.facts["task"] == {"server": "slow", "id": "t1", "status": "working"}
    assert "mcp_task" in begun.result.text
    assert [(one.task_id, one.tool, one.status) for one in bench.server("slow").tasks] == [
        ("t1", "slow-echo", "working")
    ]
    await bench.until(lambda: bench.registry.find("mcp-task"), "there to be called")
    bench.person.answers = ["deny", "allow_once", "allow_once"]
    assert (await bench.call("mcp_task", server="slow", task="t1")).state == "denied"
    assert bench.person.asked[-1].preview["title"] == "Result of a task"
    assert "not done yet (working)" in (await bench.call("mcp_task", server="slow", task="t1")).result.text
    said.write_text("done")
    assert (await bench.call("mcp_task", server="slow", task="t1")).result.text.endswith("the end")
    assert bench.server("slow").tasks[0].status == "completed"
    assert (await bench.call("mcp_task", server="slow", task="t2")).state == "denied"
    assert (await bench.call("mcp_task", server="nobody", task="t1")).state == "denied"


@pytest.mark.spec("R-MCP-5", "R-TOOL-6")
async def test_a_cancelled_call_ends_its_task_and_one_that_never_ends_can_be_ended(bench: McpBench) -> None:
    mark = bench.world.workspace / "forever"
    await bench.put(declared("forever", str(mark)))
    await bench.accept("forever")
    token = CancellationToken()
    calling = asyncio.ensure_future(bench.call("forever_echo", token, text="x"))
    await bench.until(lambda: any("at it" in line for line in bench.output), "it is at work")
    token.cancel("stopped")
    assert (await calling).state == "aborted"
    await bench.until(lambda: mark.read_text() == "ended", "its end was told")
    await bench.put(declared("forever", str(mark), timeout=1))
    await bench.until(lambda: bench.server("forever").tools and not bench.server("forever").tools[0].off, "callable")
    await bench.call("forever_echo", text="x")
    assert (await bench.servers.tasks.cancel("forever", "t1")).status == "working", "the server's word counts"
    assert mark.read_text() == "ended"


@pytest.mark.spec("R-MCP-5")
async def test_a_task_that_a_restarted_server_knows_nothing_of_is_named_as_gone(bench: McpBench) -> None:
    mark = bench.world.workspace / "forgets"
    await bench.put(declared("forgets", str(mark), timeout=1))
    await bench.accept("forgets")
    await bench.call("forgets_echo", text="x")
    assert bench.server("forgets").tasks[0].status == "working"
    await bench.servers.restart("forgets")
    await bench.until(lambda: bench.server("forgets").tasks[0].status == "gone", "named as gone")
    with pytest.raises(KnownError, match="knows nothing of this task"):
        await bench.servers.tasks.result("forgets", "t1")


@pytest.mark.spec("R-MCP-1")
async def test_whatever_a_server_says_of_its_era_it_is_used_or_refused_in_words(bench: McpBench) -> None:
    modes = ("mute", "newer", "newer-late", "garbage-era", "future")
    await bench.put(*(declared(mode) for mode in modes))
    eras = {"mute": "2025-11-25", "newer": "2026-07-28", "newer-late": "2026-07-28", "garbage-era": "2025-11-25"}
    for name, era in eras.items():
        await bench.accept(name)
        assert bench.server(name).about.protocol == era
        assert (await bench.call(f"{name.replace('-', '_')}_echo", text=name)).result.text == name
    await bench.until(lambda: bench.server("future").condition == "failed", "given up at once")
    assert "2031-01-01" in bench.server("future").reason
    assert bench.server("future").restarts == 0, "another start would not change it"


@pytest.mark.spec("R-MCP-1", "R-MCP-5")
async def test_a_server_that_always_asks_for_more_is_refused(bench: McpBench) -> None:
    modes = ("patience", "models", "much")
    await bench.put(*(declared(mode) for mode in modes))
    for mode in modes:
        await bench.accept(mode)
    began = time.monotonic()
    patience = await bench.call("patience_echo", text="x")
    assert (patience.state, patience.result.code) == ("failed", "mcp.asks_too_much")
    assert time.monotonic() - began < WAIT_S
    models = await bench.call("models_echo", text="x")
    assert "does not let servers use its models" in models.result.text
    assert any("sampling/createMessage, which was refused" in line for line in bench.server("models").log)
    assert (await bench.call("much_echo", text="x")).result.code == "mcp.asks_too_much"


class OlderAway(BaseHTTPRequestHandler):
    """An older server whose address for messages is on another origin."""

    came: list[str]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.came.append(self.path)
        self.send_response(405)
        self.end_headers()

    def do_GET(self) -> None:
        self.came.append(self.path)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        away = f"http://localhost:{self.server.server_address[1]}/stolen"
        self.wfile.write(f"event: endpoint\ndata: {away}\n\n".encode())

    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest.mark.spec("R-MCP-1", "R-SEC-4")
async def test_an_older_server_cannot_send_messages_to_another_origin(bench: McpBench) -> None:
    came: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (OlderAway,), {"came": came}))
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        await bench.put({"name": "older", "url": f"http://127.0.0.1:{server.server_port}/sse"})
        await bench.until(lambda: bench.server("older").reason, "failed")
        assert set(came) == {"/sse"}
        prompt = McpPrompt("older", "any")
        assert (await bench.servers.reading.complete(prompt, "a", "", {})).values == ()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
