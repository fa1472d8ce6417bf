"""The official conformance suite of the protocol, of clients that sign in: real servers of strangers, our whole client.

It fetches the suite and a Node that is new enough for it from npm, so it is left out unless asked for (``-m soak``).
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.tools.mcp.kit import McpBench

SUITE = "@modelcontextprotocol/conformance@0.1.16"
NOT_OURS = {
    "auth/client-credentials-jwt": "a machine signs in for itself, without a person: not offered",
    "auth/client-credentials-basic": "a machine signs in for itself, without a person: not offered",
    "auth/cross-app-access-complete-flow": "an identity provider of a company signs in for the person: not offered",
    "auth/2025-03-26-oauth-metadata-backcompat": "its metadata names another issuer: RFC 8414 forbids that",
}
METADATA = "https://conformance-test.local/client-metadata.json"


class Client:
    """What the suite starts: signs in where that is wanted, calls every tool, and allows more where that is wanted."""

    def __init__(self, bench: McpBench, scenario: str, context: dict[str, Any]) -> None:
        self.bench, self.scenario, self.context = bench, scenario, context

    def entry(self, url: str) -> dict[str, Any]:
        found: dict[str, Any] = {"name": "suite", "url": url, "category": "read", "timeout": 20}
        if self.context.get("client_id"):
            self.bench.keys["assent", "suite"] = self.context.get("client_secret", "")
            return {**found, "client_id": self.context["client_id"], "client_secret": "${keyring:assent/suite}"}
        return {**found, "client_id": METADATA} if "cimd" in self.scenario else found

    async def run(self, url: str) -> int:
        await self.bench.put(self.entry(url))
        for _ in range(6):
            await self.bench.until(self._settled, "settled")
            server = self.bench.server("suite")
            if server.sign_in.stage == "asks":
                await self._sign_in()
            elif server.condition != "running":
                return 1
            elif await self._called():
                return 0
        return 1

    def _settled(self) -> bool:
        server = self.bench.server("suite")
        return server.condition in ("running", "failed", "waiting") or server.sign_in.stage in ("asks", "refused")

    async def _sign_in(self) -> None:
        facts = self.bench.server("suite").sign_in
        every = "offline" in self.scenario
        wanted = [one.name for one in facts.scopes if one.needed or every or one.name in facts.granted]
        await self.bench.servers.sign_in("suite", tuple(wanted), self._show)
        await self.bench.until(lambda: self.bench.server("suite").sign_in.stage in ("in", "refused"), "came to an end")
        await self.bench.until(lambda: self.bench.server("suite").condition != "starting", "started")

    def _show(self, address: str) -> None:
        asyncio.get_running_loop().run_in_executor(None, _browse, address)

    async def _called(self) -> bool:
        """Whether every tool could be called; where one needs more, it is asked for."""
        await self.bench.accept("suite")
        for tool in self.bench.server("suite").tools:
            result = await self.bench.call(tool.offered.name)
            if "wants a person to sign in" in result.result.text:
                await self.bench.until(self._asks, "asks for more")
                return False
        return True

    def _asks(self) -> bool:
        return self.bench.server("suite").sign_in.stage in ("asks", "refused")


def _browse(address: str) -> None:
    try:
        with urllib.request.urlopen(address, timeout=20) as page:
            page.read()
    except (urllib.error.URLError, OSError):
        return


@pytest.fixture(scope="module")
def suite() -> Iterator[list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "install", "--prefix", folder, "node@22", SUITE], check=True, capture_output=True)
        modules = Path(folder, "node_modules")
        yield [str(modules / "node/bin/node"), str(modules / "@modelcontextprotocol/conformance/dist/index.js")]


@pytest.mark.soak
@pytest.mark.spec("R-MCP-2")
def test_every_scenario_of_signing_in_passes_but_those_that_are_not_ours(suite: list[str]) -> None:
    listed = subprocess.run([*suite, "list"], check=True, capture_output=True, text=True).stdout
    scenarios = sorted(set(re.findall(r"auth/[a-z0-9-]+", listed)))
    assert len(scenarios) > 15
    command = f"{sys.executable} {Path(__file__)}"
    root = str(Path(__file__).resolve().parents[4])
    passed = {}
    for scenario in scenarios:
        run = [*suite, "client", "--command", command, "--scenario", scenario, "--timeout", "90000"]
        ran = subprocess.run(run, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": root}, check=False)
        passed[scenario] = "OVERALL: PASSED" in ran.stdout + ran.stderr
    assert {name for name, good in passed.items() if not good} == set(NOT_OURS)


async def main(url: str) -> int:
    """As the suite starts it, with the address of a server."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    with tempfile.TemporaryDirectory() as folder:
        bench = McpBench(Path(folder))
        try:
            return await Client(bench, os.environ.get("MCP_CONFORMANCE_SCENARIO", ""), context).run(url)
        finally:
            await bench.end()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[-1])))
