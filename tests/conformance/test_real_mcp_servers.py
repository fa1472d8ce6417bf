"""MCP servers that others wrote, from npm and PyPI, and the official conformance suite: what our client gets of each.

Slow, and they need a registry: ``-m soak``. ``-s`` prints a row for each server: what it says it has, and what came.
"""

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from desktop.domain.servers.questions import PersonAnswer, ServerQuestion
from desktop.tools.mcp.offered import OFFERS
from desktop.tools.mcp.servers import ServerFacts
from tests.conformance.mcp_client import CONTEXT
from tests.harness.loops import threads_ready
from tests.harness.timeouts import WAIT_S
from tests.unit.tools.mcp.kit import McpBench

pytestmark = [pytest.mark.soak, pytest.mark.asyncio(loop_scope="session")]
PACKAGES = ("server-everything", "server-filesystem", "server-memory", "conformance@0.1.16")
MODULES = ("mcp-server-git", "mcp-server-time", "mcp-server-fetch")
SCENARIOS = ("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry")


@contextmanager
def made_folder(known: str) -> Iterator[tuple[Path, bool]]:
    """(a folder that confined programs see, which /tmp is not; whether it is still empty)."""
    if name := os.environ.get(known):
        yield Path(name), False
        return
    with tempfile.TemporaryDirectory(prefix="assent-", dir="/var/tmp") as name:
        yield Path(name), True


@pytest.fixture(scope="session")
def packages() -> Iterator[Path]:
    """The npm packages, installed once; ``MCP_NPM`` names a folder that has them already."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    with made_folder("MCP_NPM") as (folder, empty):
        names = [*(f"@modelcontextprotocol/{name}" for name in PACKAGES), "node@22"]
        if empty:
            subprocess.run(["npm", "install", "--silent", "--prefix", str(folder), *names], check=True)
        yield folder / "node_modules"


@pytest.fixture(scope="session")
def modules() -> Iterator[Path]:
    """The programs of PyPI, installed once; ``MCP_PYPI`` names an environment that has them already."""
    with made_folder("MCP_PYPI") as (folder, empty):
        if empty:
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
            subprocess.run([str(folder / "bin" / "pip"), "install", "-q", *MODULES], check=True)
        yield folder / "bin"


@pytest_asyncio.fixture(loop_scope="session")
async def bench(tmp_path: Path) -> AsyncIterator[McpBench]:
    with threads_ready():
        made = McpBench(tmp_path)
        yield made
        await made.end()


async def ready(bench: McpBench, name: str, *, offers: str = "", **entry: Any) -> ServerFacts:
    """The server of this entry, running, with all that it offers looked at; ``offers`` is a list that is waited for."""
    await bench.put({"name": name, "category": "read", **entry})
    await bench.accept(name)
    facts = bench.server(name)
    if facts.offering is not None:
        await bench.servers.accept(name, {OFFERS: facts.offering.offered.digest})
    await bench.until(lambda: not offers or getattr(bench.servers.offers[0], offers), f"the {offers} of {name}")
    facts, beside = bench.server(name), bench.servers.offers[0]
    off = [one.off for one in facts.tools if one.off]
    print(
        f"\n| {name} | {beside.era} | {', '.join(facts.about.has)} | {len(facts.tools)} ({len(off)} off) | "
        f"{len(beside.resources)} + {len(beside.templates)} | {len(beside.prompts)} |"
    )
    return facts


def command(program: str, *arguments: str) -> dict[str, Any]:
    return {"command": program, "args": list(arguments)}


@contextmanager
def at_a_port(entry: Path, transport: str) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "PORT": str(port)}
    words = ["node", str(entry), transport]
    with subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            yield port
        finally:
            server.kill()


async def uses_everything(bench: McpBench, name: str) -> None:
    """Every feature of the reference server, over whatever transport it is held."""

    async def text(tool: str, **arguments: Any) -> str:
        outcome = await bench.call(f"{name}_{tool}", **arguments)
        assert outcome.state == "done", (tool, outcome.result.text)
        return outcome.result.text

    assert await text("echo", message="hi") == "Echo: hi"
    assert "sum of 2 and 3 is 5" in await text("get_sum", a=2, b=3)
    picture = (await bench.call(f"{name}_get_tiny_image")).result
    assert [one.media_type for one in picture.media] == ["image/png"]
    weather = (await bench.call(f"{name}_get_structured_content", location="New York")).result
    assert weather.structured["temperature"] == 33
    links = (await bench.call(f"{name}_get_resource_links", count=3)).result
    assert [one["server"] for one in links.facts["links"]] == [name] * 3
    held = (await bench.call(f"{name}_get_resource_reference", resourceType="Text", resourceId=1)).result
    assert held.facts["embedded"][0]["uri"] == "demo://resource/dynamic/text/1"
    bench.output.clear()
    await text("trigger_long_running_operation", duration=1, steps=4)
    assert "4 of 4\n" in bench.output
    reading, offers = bench.servers.reading, bench.servers.offers[0]
    assert "Everything Server" in (await reading.read_resource(name, offers.resources[0].uri)).text
    filled = next(one for one in offers.templates if "text" in one.template).filled({"resourceId": "7"})
    assert "Resource 7" in (await reading.read_resource(name, filled)).text
    prompt = next(one for one in offers.prompts if one.name == "completable-prompt")
    assert (await reading.complete(prompt, "department", "E", {})).values == ("Engineering",)
    said = await reading.get_prompt(name, "completable-prompt", {"department": "Engineering", "name": "Alice"})
    assert "Alice" in said.text
    resources = await reading.get_prompt(name, "resource-prompt", {"resourceType": "Text", "resourceId": "1"})
    assert [one.part.kind for one in resources.messages] == ["text", "resource"]
    told: list[str] = []
    reading.on_resource(lambda _server, uri: told.append(uri))
    await reading.watch(name, filled)
    await text("toggle_subscriber_updates")
    await reading.set_log_level(name, "debug")
    await text("toggle_simulated_logging")
    await bench.until(lambda: told and any("essage" in line for line in bench.server(name).log), "changes and its log")
    assert set(told) == {filled}


async def asks_and_works_on(bench: McpBench, name: str) -> None:
    """A question to the person in the middle of a call, and a call that is a task."""
    asked: list[ServerQuestion] = []

    def answer() -> None:
        for question in bench.questions.waiting:
            asked.append(question)
            bench.questions.answer(question.question_id, PersonAnswer("accept", {"name": "Ida", "check": True}))

    leave = bench.questions.attend(answer)
    told = await bench.call(f"{name}_trigger_elicitation_request")
    leave()
    assert (told.state, asked[0].server) == ("done", name), told.result.text
    assert "Ida" in told.result.text
    bench.output.clear()
    done = await bench.call(f"{name}_simulate_research_query", topic="bees", ambiguous=False)
    assert "Research Report: bees" in done.result.text
    assert any("Gathering sources" in line for line in bench.output)


@pytest.mark.spec("R-MCP-1", "R-MCP-3", "R-MCP-5")
async def test_the_reference_server_over_stdio(bench: McpBench, packages: Path) -> None:
    entry = packages / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
    facts = await ready(bench, "everything", offers="prompts", **command("node", str(entry), "stdio"))
    assert {"tools", "resources", "prompts", "completions", "logging", "tasks"} <= set(facts.about.has)
    await uses_everything(bench, "everything")
    await asks_and_works_on(bench, "everything")


@pytest.mark.spec("R-MCP-1", "R-MCP-3", "R-MCP-5")
@pytest.mark.parametrize(("transport", "path"), [("streamableHttp", "mcp"), ("sse", "sse")])
async def test_the_reference_server_at_an_address(bench: McpBench, packages: Path, transport: str, path: str) -> None:
    entry = packages / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
    with at_a_port(entry, transport) as port:
        await ready(bench, "everything", offers="prompts", url=f"http://127.0.0.1:{port}/{path}")
        await uses_everything(bench, "everything")
        await asks_and_works_on(bench, "everything")


@pytest.mark.spec("R-MCP-1")
async def test_files_within_the_boundary_alone(bench: McpBench, packages: Path) -> None:
    entry = packages / "@modelcontextprotocol" / "server-filesystem" / "dist" / "index.js"
    folder = bench.world.workspace
    (folder / "note.txt").write_text("a note")
    await ready(bench, "files", **command("node", str(entry), str(folder)), roots=[str(folder)])
    read = await bench.call("files_read_text_file", path=str(folder / "note.txt"))
    assert read.result.text == "a note"
    assert read.result.structured == {"content": "a note"}
    assert (await bench.call("files_read_text_file", path="/etc/passwd")).result.is_error
    written = await bench.call("files_write_file", path=str(folder / "new.txt"), content="new")
    assert written.state == "done"
    assert (folder / "new.txt").read_text() == "new"


@pytest.mark.spec("R-MCP-1")
async def test_a_memory_of_facts(bench: McpBench, packages: Path) -> None:
    entry = packages / "@modelcontextprotocol" / "server-memory" / "dist" / "index.js"
    kept = bench.world.workspace / "memory.jsonl"
    await ready(bench, "memory", offers="resources", **command("node", str(entry)), env={"MEMORY_FILE_PATH": str(kept)})
    fact = {"name": "Ida", "entityType": "person", "observations": ["likes bees"]}
    assert (await bench.call("memory_create_entities", entities=[fact])).state == "done"
    found = await bench.call("memory_search_nodes", query="bees")
    assert found.result.structured["entities"][0]["name"] == "Ida"
    assert "likes bees" in kept.read_text()


@pytest.mark.spec("R-MCP-5")
async def test_the_real_npx_without_a_network_says_so_at_once(bench: McpBench) -> None:
    if shutil.which("npx") is None:
        pytest.skip("npx is not installed")
    await bench.put({"name": "away", "command": "npx", "args": ["-y", "@modelcontextprotocol/no"], "network": False})
    await bench.until(lambda: bench.server("away").condition == "failed", "given up, without 70 seconds of waiting")
    assert "npx has not fetched @modelcontextprotocol/no yet" in bench.server("away").reason


@pytest.mark.spec("R-MCP-1")
async def test_servers_of_pypi(bench: McpBench, modules: Path) -> None:
    repository = bench.world.workspace / "repository"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    (repository / "new.txt").write_text("new")
    await ready(bench, "time", **command(str(modules / "mcp-server-time")))
    noon = await bench.call("time_convert_time", source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo")
    assert "21:00" in noon.result.text
    await ready(bench, "git", **command(str(modules / "mcp-server-git"), "--repository", str(repository)))
    assert "new.txt" in (await bench.call("git_git_status", repo_path=str(repository))).result.text
    assert (await bench.call("git_git_status", repo_path="/")).result.is_error
    await ready(bench, "fetch", offers="prompts", **command(str(modules / "mcp-server-fetch")), network=False)
    assert (await bench.call("fetch_fetch", url="http://example.invalid/")).result.is_error


@pytest.mark.spec("R-MCP-1", "R-MCP-3")
@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_the_official_suite_finds_nothing_wrong_with_the_client(
    packages: Path, tmp_path: Path, scenario: str
) -> None:
    client = Path(__file__).parent / "mcp_client.py"
    suite = packages / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    newer = packages / "node" / "bin" / "node"  # the suite wants 22; servers run with what is there
    words = [str(newer), str(suite), "client", "--command", f"{sys.executable} {client}", "--scenario", scenario]
    environment = {name: value for name, value in os.environ.items() if name != CONTEXT}
    suite_run = await asyncio.create_subprocess_exec(
        *words, cwd=tmp_path, env=environment, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(WAIT_S):
        told = (await suite_run.communicate())[1].decode()
    assert suite_run.returncode == 0, told[-3_000:]
    assert re.search(r"Passed: (\d+)/\1, 0 failed, 0 warnings", told)
