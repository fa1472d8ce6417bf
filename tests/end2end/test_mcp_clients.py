"""`assent mcp` against programs that nobody here wrote: the official inspector's command line and the official
conformance suite. They come from npm, with a Node of their own: minutes, a network, and only when asked for."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, ClientTimeout, web

from tests.end2end.test_mcp_server import ROOT, made_home, serving, words

pytestmark = [pytest.mark.soak, pytest.mark.skipif(shutil.which("npx") is None, reason="npm is not installed")]

NODE, INSPECTOR, SUITE = "node@22", "@modelcontextprotocol/inspector@2.12.0", "@modelcontextprotocol/conformance@0.1.16"
MINUTES = 600
TEXT = """
frontmatter = {"name": "test-simple-text", "description": "Says a text.",
               "metadata": {"category": "read", "params": {"type": "object", "properties": {}}}}


async def run(ctx, args):
    return "This is a simple text response for testing."
"""
FAILS = """
frontmatter = {"name": "test-error-handling", "description": "Fails.",
               "metadata": {"category": "read", "params": {"type": "object", "properties": {}}}}


async def run(ctx, args):
    raise ValueError("This tool intentionally returns an error for testing")
"""
WORDS = "---\nname: {}\ndescription: Works.\n---\nSay that it is done.\n"
OFFERS = "a skill gives text and values; {} in a result come from no skill"
NOT_OFFERED = "Assent offers tools alone, and says so in its capabilities: no {}"
ASKS = "Assent asks its own person in its own window, and never the client for {}"
FAILURES = {
    "tools-call-image": OFFERS.format("pictures"),
    "tools-call-audio": OFFERS.format("sounds"),
    "tools-call-embedded-resource": OFFERS.format("resources"),
    "tools-call-mixed-content": OFFERS.format("pictures and resources"),
    "tools-call-sampling": ASKS.format("a model"),
    "tools-call-elicitation": ASKS.format("a form"),
    "elicitation-sep1034-defaults": ASKS.format("a form"),
    "elicitation-sep1330-enums": ASKS.format("a form"),
    "completion-complete": NOT_OFFERED.format("completion"),
    **dict.fromkeys(
        (
            "resources-list",
            "resources-read-text",
            "resources-read-binary",
            "resources-templates-read",
            "resources-subscribe",
            "resources-unsubscribe",
        ),
        NOT_OFFERED.format("resources"),
    ),
    **dict.fromkeys(
        (
            "prompts-list",
            "prompts-get-simple",
            "prompts-get-with-args",
            "prompts-get-embedded-resource",
            "prompts-get-with-image",
        ),
        NOT_OFFERED.format("prompts"),
    ),
}
"""Scenarios of the suite that fail, each with its reason."""


def npx(package: str, *command: str) -> str:
    """What a program from npm prints, whatever its exit code."""
    every = ["npx", "--yes", "--package", NODE, "--package", package, *command]
    return subprocess.run(every, cwd=ROOT, capture_output=True, text=True, timeout=MINUTES).stdout


def inspected(*command: str) -> Any:
    return json.loads(npx(INSPECTOR, "mcp-inspector", "--cli", *command))


@pytest.mark.spec("R-MSV-1")
async def test_the_official_inspector_lists_and_calls_by_stdio_and_by_http(tmp_path: Path) -> None:
    home = made_home(tmp_path / "h", offered="add")
    call = ("--method", "tools/call", "--tool-name", "add", "--tool-arg", "a=1", "b=2")

    def both(*server: str) -> None:
        (tool,) = inspected("--method", "tools/list", *server)["tools"]
        assert (tool["name"], tool["annotations"]["readOnlyHint"]) == ("add", True)
        assert inspected(*call, *server)["structuredContent"] == {"sum": 3}

    await asyncio.to_thread(both, "--", sys.executable, *words(home))
    async with serving(home) as (address, token):
        header = ("--transport", "http", "--server-url", address, "--header", f"Authorization: Bearer {token}")
        await asyncio.to_thread(both, *header)


@asynccontextmanager
async def with_token(address: str, token: str) -> AsyncIterator[str]:
    """An address that adds the token to what it passes on: the suite has no way to send one."""
    left_out = ("content-length", "transfer-encoding", "connection")

    async def passed_on(request: web.Request) -> web.StreamResponse:
        headers = {key: value for key, value in request.headers.items() if key.lower() not in left_out}
        headers["Authorization"] = f"Bearer {token}"
        target = address.removesuffix("/mcp") + request.path_qs
        async with (
            ClientSession(timeout=ClientTimeout(total=None)) as session,
            session.request(request.method, target, headers=headers, data=await request.read()) as answer,
        ):
            told = {key: value for key, value in answer.headers.items() if key.lower() not in left_out}
            out = web.StreamResponse(status=answer.status, headers=told)
            await out.prepare(request)
            async for chunk in answer.content.iter_any():
                await out.write(chunk)
            return out

    application = web.Application(client_max_size=2**26)
    application.router.add_route("*", "/{tail:.*}", passed_on)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
    finally:
        await runner.cleanup()


@pytest.mark.spec("R-MSV-1", "R-MSV-2")
@pytest.mark.expects_log
async def test_the_official_conformance_suite_fails_where_we_say_so_and_nowhere_else(tmp_path: Path) -> None:
    offered = "test-simple-text, test-error-handling, test-tool-with-logging, test-tool-with-progress"
    home = made_home(tmp_path / "h", offered=offered)
    (home / "script.json").write_text(json.dumps({"rounds": [[{"text": "Done."}]], "repeat": True}))
    for name, text in (
        ("test-simple-text.skill.py", TEXT),
        ("test-error-handling.skill.py", FAILS),
        ("test-tool-with-logging.skill.md", WORDS.format("test-tool-with-logging")),
        ("test-tool-with-progress.skill.md", WORDS.format("test-tool-with-progress")),
    ):
        (home / "skills" / name).write_text(text)
    async with serving(home) as (address, token), with_token(address, token) as open_address:
        said = await asyncio.to_thread(npx, SUITE, "conformance", "server", "--url", open_address)
    results = dict(re.findall(r"^[✓✗] ([\w-]+): \d+ passed, (\d+) failed", said, re.MULTILINE))
    assert len(results) >= 30, said[-3000:]
    failed = {name for name, count in results.items() if count != "0"}
    assert failed == set(FAILURES), (failed ^ set(FAILURES), said[-3000:])
