"""The MCP host's methods: ``serve`` holds a server as long as the call lasts, the others ask one that is held."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.scrub import scrub
from desktop.workers.hardening import bound_memory
from desktop.workers.inside import CallError, ChildServer, WorkerCall, pipes, run
from desktop.workers.mcp_host import limits
from desktop.workers.mcp_host.auth import SignedIn, signer
from desktop.workers.mcp_host.connection import McpConnection
from desktop.workers.mcp_host.process import ServerProcess
from desktop.workers.mcp_host.sign_in.methods import sign_in_methods
from desktop.workers.mcp_host.web import WebEndpoint

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
        """``server``, ``timeout`` and ``argv``, ``cwd``, ``env`` or ``url``, ``headers`` with the ``secrets`` in them;
        ``roots`` and ``elicitation`` are what is offered to it. Emits what happens until the server is gone; that is
        always an error, which says how. Cancelled, it ends the server."""
        params = call.params
        name, timeout = str(params["server"]), float(params.get("timeout") or 30)
        if name in self._open:
            raise CallError("mcp.busy", "The server is held already.")
        events: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue(QUEUE_MAX)
        telling = asyncio.ensure_future(_forward(events, call))

        def connection() -> McpConnection:
            made = self._open[name] = McpConnection(
                lambda event: _put(events, event),
                events.put,
                is_web="url" in params,
                roots=params.get("roots") or (),
                modes=params.get("elicitation") or (),
            )
            return made

        async def ask(kind: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
            return await self._open[name].questions.ask(kind, payload)

        auth = signer(params, ask)
        try:
            if "url" in params:
                await self._serve_web(connection, params, timeout, auth)
            else:
                await self._serve_process(connection(), params, timeout, events)
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
        connection.obituary = lambda: process.failure
        try:
            await connection.run(process.streams(), timeout)
        except CallError as error:
            if error.code != "mcp.ended":
                raise
        raise CallError("mcp.ended", process.obituary())

    async def _serve_web(
        self, connection: Callable[[], McpConnection], params: Mapping[str, Any], timeout: float, auth: SignedIn | None
    ) -> None:
        headers = {str(key): str(value) for key, value in params.get("headers", {}).items()}
        secrets = _Secrets([*headers.values(), *map(str, params.get("secrets", ()))], auth)
        endpoint = WebEndpoint(str(params["url"]), headers, auth)
        try:
            await _held(connection, endpoint, timeout)
        except CallError as error:
            told = endpoint.words(error)
            raise CallError(told.code, scrub(str(told), secrets.all), told.data) from error
        except Exception as error:  # the boundary to the library and to the net: whatever it is, the server is gone
            words = scrub(f"{type(error).__name__}: {error}", secrets.all, limit=500)
            raise CallError("mcp.ended", words) from error
        raise CallError("mcp.ended", "It closed the connection.")

    def _running(self, call: WorkerCall) -> McpConnection:
        connection = self._open.get(str(call.params["server"]))
        if connection is None or not connection.ready:
            raise CallError("mcp.not_running", "The server is not running.")
        return connection

    async def call(self, call: WorkerCall) -> dict[str, Any]:
        """``server``, ``tool``, ``timeout`` (seconds); the arguments are JSON in the parts."""
        return await self._running(call).call(call, str(call.params["tool"]), _parts(call), _seconds(call))

    async def task(self, call: WorkerCall) -> dict[str, Any]:
        """``server``, ``task``, ``wanted`` (get, result, cancel), ``timeout``."""
        params = call.params
        return await self._running(call).task(call, str(params["task"]), str(params["wanted"]), _seconds(call))

    async def read(self, call: WorkerCall) -> dict[str, Any]:
        """``server``, ``uri``, ``timeout``."""
        return await self._running(call).read(call, str(call.params["uri"]), _seconds(call))

    async def prompt(self, call: WorkerCall) -> dict[str, Any]:
        """``server``, ``prompt``, ``timeout``; the arguments are JSON in the parts."""
        return await self._running(call).prompt(call, str(call.params["prompt"]), _parts(call), _seconds(call))

    async def complete(self, call: WorkerCall) -> dict[str, Any]:
        """``server``, ``timeout``; what is asked for, as the protocol has it, is JSON in the parts."""
        return await self._running(call).complete(_parts(call), _seconds(call))

    async def watch(self, call: WorkerCall) -> dict[str, Any]:
        """``server``, ``uri``, ``on``."""
        return await self._running(call).watch(str(call.params["uri"]), on=call.params.get("on") is True)

    async def level(self, call: WorkerCall) -> dict[str, Any]:
        """``server``, ``level``."""
        return await self._running(call).level(str(call.params["level"]))

    async def answer(self, call: WorkerCall) -> dict[str, Any]:
        """``server``, ``id``; the answer to what was asked is JSON in the parts. It may come before a server is ready:
        what its sign-in needs is asked, too."""
        connection = self._open.get(str(call.params["server"]))
        taken = connection is not None and connection.questions.answer(int(call.params["id"]), _parts(call))
        return {"taken": taken}

    def methods(self) -> dict[str, Any]:
        """By their names on the pipe."""
        served = (self.ping, self.serve, self.call, self.task, self.read, self.prompt, self.complete, self.watch)
        mine = {method.__name__: method for method in (*served, self.level, self.answer)}
        return {**mine, **sign_in_methods()}


@dataclass(frozen=True, slots=True)
class _Secrets:
    """What no text about a server may hold; a renewed token is another one."""

    known: list[str]
    auth: SignedIn | None

    @property
    def all(self) -> list[str]:
        return [*self.known, *(self.auth.secrets if self.auth is not None else ())]


async def _held(connection: Callable[[], McpConnection], endpoint: WebEndpoint, timeout: float) -> None:
    """Until the server is gone; one that does not know streamable HTTP is asked in the older way."""
    first = connection()
    try:
        await first.run(endpoint.streams(), timeout)
        return
    except CallError as error:
        if first.greeted or not endpoint.knows_older_alone:
            raise
        newer = error
    older = connection()
    try:
        await older.run(endpoint.older_streams(), timeout)
    except Exception:  # the boundary to the library and to the net: it was not the older transport either
        if older.greeted:
            raise
        raise newer from None


def _seconds(call: WorkerCall) -> float:
    return float(call.params["timeout"])


def _parts(call: WorkerCall) -> dict[str, Any]:
    """The JSON object in the parts of a call."""
    found = json.loads("".join(map(str, call.parts)) or "{}")
    return found if isinstance(found, dict) else {}


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


async def _serve() -> None:
    reader, writer = await pipes()
    await ChildServer(SERVICE, VERSION, McpHost().methods()).serve(reader, writer)
    await asyncio.sleep(0)


def main() -> None:
    """Entry point of the child."""
    bound_memory(limits.MEMORY_MAX)  # what others send must not take the machine's
    run(_serve, SERVICE)
