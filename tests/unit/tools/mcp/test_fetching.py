"""Servers of npx and uvx that are not there yet: what a person reads while they are fetched, and why they cannot be."""

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from desktop.tools.mcp.fetching import Fetcher, FetchWatch, fetch_variables, fetcher_of
from tests.unit.tools.mcp.kit import Lent, McpBench

NPX_TRIES = "npm http fetch GET https://registry.example/@a%2fmemory attempt 1 failed with EAI_AGAIN\n"
NPX_OFFLINE = "npm error code ENOTCACHED\nnpm error request to https://registry.example/@a%2fmemory failed: cache mode"
NPX_GONE = "npm error code EAI_AGAIN\nnpm error syscall getaddrinfo\nnpm error errno EAI_AGAIN\n"
NPX_404 = "npm error code E404\nnpm error 404 Not Found - GET https://registry.example/@a%2fmemory\n"
NPX_FETCHED = "npm http fetch GET 200 https://registry.example/ajv 14ms (cache miss)\n"
UV_OFFLINE = "  cause: Because time was not found in the cache\n\nhint: Unavailable because the network was disabled."
UV_GONE = "error: Request failed after 3 retries in 5.9s\n  cause: client error (Connect)\n  cause: dns error\n"
UV_LOADS = "Downloading cryptography (4.5MiB)\nDownloading pydantic-core (2.2MiB)\n"
"""As npm 11 and uv 0.9 write it."""


@pytest.mark.parametrize(
    ("command", "args", "package"),
    [
        ("npx", ["-y", "@a/memory@1.2", "--port", "3"], "@a/memory@1.2"),
        ("/usr/bin/npx", ["--package=@a/b", "run-b"], "@a/b"),
        ("npx", ["-y", "-p", "@a/b", "run-b"], "@a/b"),
        ("C:\\node\\npx.cmd", ["x"], "x"),
        ("npm", ["exec", "--", "x"], "x"),
        ("uvx", ["--from", "git+https://e.example/x", "serve"], "git+https://e.example/x"),
        ("uv", ["tool", "run", "mcp-server-time"], "mcp-server-time"),
        ("docker", ["run", "-i", "--rm", "-e", "TOKEN", "ghcr.io/a/b"], "ghcr.io/a/b"),
        ("npx", [], ""),
    ],
)
def test_a_command_that_fetches_is_known_with_what_it_fetches(command: str, args: list[str], package: str) -> None:
    found = fetcher_of(command, args)
    assert found is not None
    assert found.package == package


@pytest.mark.parametrize(
    ("command", "args"), [("node", ["npx"]), ("npm", ["install"]), ("uv", ["tool", "list"]), ("npm", []), ("mynpx", [])]
)
def test_any_other_command_is_left_alone(command: str, args: list[str]) -> None:
    assert fetcher_of(command, args) is None


def test_a_fetcher_without_a_network_is_told_so_and_what_the_person_set_stays() -> None:
    npx, uvx, docker = Fetcher("npx", "x"), Fetcher("uvx", "x"), Fetcher("docker", "x")
    assert fetch_variables(npx, network=False, present={}) == {"npm_config_offline": "true"}
    assert fetch_variables(npx, network=False, present={"NPM_CONFIG_OFFLINE": "false"}) == {}
    assert fetch_variables(npx, network=True, present={}) == {"npm_config_loglevel": "http"}
    assert fetch_variables(npx, network=True, present={"npm_config_loglevel": "silent"}) == {}
    assert fetch_variables(uvx, network=False, present={}) == {"UV_OFFLINE": "1"}
    assert fetch_variables(docker, network=False, present={}) == {}


def test_what_is_fetched_and_whom_it_cannot_reach_is_said_while_it_goes_on() -> None:
    watch = FetchWatch(Fetcher("npx", "@a/memory"), network=True)
    assert watch.doing == ""
    watch.quiet()
    assert watch.doing == "npx starts @a/memory. The first time it is fetched, which can take a minute."
    assert watch.heard(NPX_FETCHED * 2 + "ready\n") == "ready\n", "what was asked for here is no log of the server"
    assert watch.doing == "npx is fetching @a/memory: 2 files so far."
    watch.quiet()
    watch.heard(NPX_FETCHED)
    assert watch.doing == "npx is fetching @a/memory: 3 files so far."
    assert watch.failure() is None
    watch.heard(NPX_TRIES)
    assert watch.doing == "No network: npx cannot reach registry.example (EAI_AGAIN), and tries again."
    for end in range(len(NPX_FETCHED)):
        cut = FetchWatch(Fetcher("npx", "@a/memory"), network=True)
        assert cut.heard(NPX_FETCHED[:end]) + cut.heard(NPX_FETCHED[end:] + "no newline") == "no newline", end
        assert cut.doing == "npx is fetching @a/memory: 1 file so far."
    uv = FetchWatch(Fetcher("uvx", "time"), network=True)
    assert uv.heard(UV_LOADS) == UV_LOADS
    assert uv.doing == "uvx is fetching time: pydantic-core (2.2MiB)."


@pytest.mark.parametrize(
    ("program", "network", "said", "words", "next_step"),
    [
        ("npx", False, NPX_OFFLINE, "npx has not fetched pkg yet, and this server has no network.", "network: true"),
        ("uvx", False, UV_OFFLINE, "uvx has not fetched pkg yet, and this server has no network.", "network: true"),
        ("bunx", False, "ENOTFOUND", "bunx has not fetched pkg yet, and this server has no network.", "network: true"),
        ("npx", True, NPX_OFFLINE, "npx was told to work offline, and has not fetched pkg yet.", "go online"),
        ("npx", True, NPX_GONE, "No network: npx could not fetch pkg.", "Connect this computer"),
        ("uvx", True, UV_GONE, "No network: uvx could not fetch pkg.", "Connect this computer"),
        ("npx", True, NPX_404, "npx found no pkg.", "Correct its name"),
    ],
)
def test_why_nothing_was_fetched_is_said_with_the_next_step(
    program: str, network: bool, said: str, words: str, next_step: str
) -> None:
    watch = FetchWatch(Fetcher(program, "pkg"), network=network)
    watch.heard(said[:30])
    watch.heard(said[30:])
    found = watch.failure()
    assert found is not None
    assert str(found) == words
    assert next_step in found.next_step


def test_another_failure_is_none_of_a_fetch() -> None:
    watch = FetchWatch(Fetcher("npx", "pkg"), network=True)
    watch.heard("TypeError: undefined is not a function\n" + "x" * 10_000)
    assert watch.failure() is None


@pytest_asyncio.fixture(loop_scope="session")
async def bench(tmp_path: Path, lent: Lent) -> AsyncIterator[McpBench]:
    made = McpBench(tmp_path, host=lent)
    yield made
    await made.end()


NPX = f"""#!{sys.executable} -IS
import os, sys, time
if os.environ.get("npm_config_offline") == "true":
    print({NPX_OFFLINE!r}, file=sys.stderr, flush=True)
    sys.exit(1)
assert os.environ["npm_config_loglevel"] == "http"
print({NPX_TRIES!r}, end="", file=sys.stderr, flush=True)
time.sleep(600)
"""
"""What npx does where nothing can be fetched."""


@pytest.mark.spec("R-MCP-5")
@pytest.mark.asyncio(loop_scope="session")
async def test_a_start_that_cannot_fetch_says_so_at_once_and_is_cancelled(bench: McpBench, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "npx"
    program.write_text(NPX)
    os.chmod(program, 0o700)
    bench.change(allowed=(*bench.world.settings.allowed, str(folder)))
    named = {"command": str(program), "args": ["-y", "@a/memory"]}
    await bench.put({"name": "offline", "network": False, **named}, {"name": "online", "network": True, **named})
    await bench.until(lambda: bench.server("offline").condition == "failed", "the one without a network given up")
    assert bench.server("offline").reason.startswith(
        "npx has not fetched @a/memory yet, and this server has no network."
    )
    assert bench.server("offline").restarts == 0, "another start would not change it"
    await bench.until(
        lambda: bench.server("online").reason.startswith("No network: npx cannot"), "told what it waits for"
    )
    assert bench.server("online").condition == "starting"
    await bench.servers.stop("online")
    assert (bench.server("online").condition, bench.server("online").reason) == ("off", "")
