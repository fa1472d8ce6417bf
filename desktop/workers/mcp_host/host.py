"""The MCP host's methods: ``serve`` holds a server as long as the call lasts, ``call`` calls one of its tools."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import Any

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

from desktop.domain.scrub import scrub
from desktop.workers.inside import CallError, ChildServer, WorkerCall, pipes, run
from desktop.workers.mcp_host import limits
from desktop.workers.mcp_host.connection import McpConnection
from desktop.workers.mcp_host.process import ServerProcess
from desktop.workers.mcp_host.web import web_streams

SERVICE = "mcp-host"
VERSION = "1"
QUEUE_MAX = 4_000


class McpHost:
    """Servers by the name that the app gives them; what is secret stays inside the calls that bring it."""

    def __init__(self) -> None:
        self._open: dict[str, McpConnection] = {}

    async def ping(self, _: WorkerCall) -> dict[str, Any]:
        """How many servers there are."""
        return {"servers": len(self._open)}

    async def serve(self, call: WorkerCall) -> None:
        """``server``, ``timeout`` and ``argv``, ``cwd``, ``env`` or ``url``, ``headers`` with the ``secrets`` in them.
        Emits what happens until the server is gone; that is always an error, which says how. Cancelled, it ends the
        server."""
        params = call.params
        name, timeout = str(params["server"]), float(params.get("timeout") or 30)
        if name in self._open:
            raise CallError("mcp.busy", "The server is held already.")
        events: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue(QUEUE_MAX)
        connection = McpConnection(lambda event: _put(events, event), is_web="url" in params)
        self._open[name] = connection
        telling = asyncio.ensure_future(_forward(events, call))
        try:
            if "url" in params:
                await self._serve_web(connection, params, timeout)
            else:
                await self._serve_process(connection, params, timeout, events)
        finally:
            self._open.pop(name, None)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await events.join()
            telling.cancel()

    async def _serve_process(
        self, connection: McpConnection, params: Mapping[str, Any], timeout: float, events: asyncio.Queue[Any]
    ) -> None:
        env = {str(key): str(value) for key, value in params["env"].items()}
        argv = [str(word) for word in params["argv"]]
        process = ServerProcess(
            argv, str(params["cwd"]), env, lambda text: _put(events, {"event": "stderr", "text": text})
        )
        try:
            await connection.run(process.streams(), timeout)
        except CallError as error:
            if error.code != "mcp.ended":
                raise
        raise CallError("mcp.ended", process.obituary())

    async def _serve_web(self, connection: McpConnection, params: Mapping[str, Any], timeout: float) -> None:
        headers = {str(key): str(value) for key, value in params.get("headers", {}).items()}
        secrets = [*headers.values(), *map(str, params.get("secrets", ()))]
        try:
            await connection.run(web_streams(str(params["url"]), headers), timeout)
        except CallError as error:
            raise CallError(error.code, scrub(str(error), secrets), error.data) from error
        except Exception as error:  # the boundary to the library and to the net: whatever it is, the server is gone
            words = scrub(f"{type(error).__name__}: {error}", secrets, limit=500)
            raise CallError("mcp.ended", words) from error
        raise CallError("mcp.ended", "It closed the connection.")

    async def call(self, call: WorkerCall) -> dict[str, Any]:
        """``server``, ``tool``, ``timeout`` (seconds); the arguments are JSON in the parts."""
        params = call.params
        connection = self._open.get(str(params["server"]))
        if connection is None or not connection.ready:
            raise CallError("mcp.not_running", "The server is not running.")
        arguments = json.loads("".join(map(str, call.parts)) or "{}")
        return await connection.call(call, str(params["tool"]), arguments, float(params["timeout"]))

    def methods(self) -> dict[str, Any]:
        """By their names on the pipe."""
        return {method.__name__: method for method in (self.ping, self.serve, self.call)}


def _put(events: asyncio.Queue[Mapping[str, Any]], event: Mapping[str, Any]) -> None:
    """What finds no room is lost: only a server that talks without end loses anything."""
    with contextlib.suppress(asyncio.QueueFull):
        events.put_nowait(event)


async def _forward(events: asyncio.Queue[Mapping[str, Any]], call: WorkerCall) -> None:
    while True:
        event = await events.get()
        try:
            await call.emit(event)
        finally:
            events.task_done()


def _bound_memory() -> None:
    """What servers send must not take the machine's memory. POSIX only."""
    if resource is not None:
        with contextlib.suppress(ValueError, OSError):
            hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
            soft = limits.MEMORY_MAX if hard == resource.RLIM_INFINITY else min(limits.MEMORY_MAX, hard)
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


async def _serve() -> None:
    reader, writer = await pipes()
    await ChildServer(SERVICE, VERSION, McpHost().methods()).serve(reader, writer)
    await asyncio.sleep(0)


def main() -> None:
    """Entry point of the child."""
    _bound_memory()
    run(_serve, SERVICE)
