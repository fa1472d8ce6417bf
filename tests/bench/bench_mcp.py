"""MCP servers seen from the app's own loop: how soon one can be called, what a call costs, what starting blocks."""

import json
import tempfile
import time
from typing import Any

from desktop.workers.mcp_child import mcp_host
from tests.bench.bench_models import beside_a_burner, lateness, on_the_loop
from tests.bench.registry import Figure, bench
from tests.servers.mcp import honest, hostile

CALLS = 200


async def _held(host: Any, name: str, command: list[str]) -> Any:
    """A server, until it has told its tools; returns what holds it."""
    launch = {"server": name, "argv": command, "cwd": tempfile.gettempdir(), "env": {}, "timeout": 30}
    stream = host.stream("serve", launch)
    async for event in stream:
        if event.get("event") == "list":
            return stream
    raise AssertionError("the server told no tools")


async def _started() -> float:
    host = mcp_host(secrets=tuple)
    began = time.perf_counter()
    try:
        stream = await _held(host, "plain", hostile("plain"))
        took = (time.perf_counter() - began) * 1000
        stream.cancel()
        return took
    finally:
        await host.stop()


@bench("MCP: host and first server started, tools listed", target="<= 2500", unit="ms", by="process")
def first_server() -> Figure:
    return Figure(min(on_the_loop(_started) for _ in range(3)))


@bench("MCP: calls a second over stdio, one after another", target=">= 200", unit="/s")
def calls() -> Figure:
    async def work() -> float:
        host = mcp_host(secrets=tuple)
        try:
            await _held(host, "plain", hostile("plain"))
            began = time.perf_counter()
            for number in range(CALLS):
                arguments = json.dumps({"text": str(number)})
                call = {"server": "plain", "tool": "echo", "timeout": 30}
                await host.stream("call", call, parts=[arguments]).result()
            return CALLS / (time.perf_counter() - began)
        finally:
            await host.stop()

    return Figure(on_the_loop(work))


@bench("longest block of the Qt thread while an MCP server starts", target="<= 16", unit="ms", by="gap")
def block_while_it_starts() -> Figure:
    async def work() -> tuple[float, float]:
        host = mcp_host(secrets=tuple)
        try:
            return await lateness(_held(host, "honest", honest())), await beside_a_burner(3.0)
        finally:
            await host.stop()

    measured, reference = on_the_loop(work)
    return Figure(measured, reference, "reference: beside a process that burns a core")
