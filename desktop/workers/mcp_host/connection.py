"""One server, from its first greeting to its end: one task owns it, calls come in from others.

Nothing is offered to servers: no sampling, no elicitation, no roots; whatever a server asks for except ``ping`` is
refused and told. What it says is passed on as data, capped; the app decides what of it counts.

Transports, messages and who gets which answer are the library's. Its ClientSession is not used: for one field that is
not as the protocol has it (a greeting without ``serverInfo``, a content of a kind that it does not know) it refuses the
whole greeting, list or result, and it drops keys of a tool that it does not know, while the app pins all that came.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import mcp_types
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

from desktop.workers.frames import PIECE
from desktop.workers.inside import CallError, WorkerCall
from desktop.workers.mcp_host import limits
from desktop.workers.mcp_host.content import flattened
from desktop.workers.mcp_host.said import ServerLog

OLDEST = "2024-11-05"
NEWEST = "2025-11-25"
"""Revisions of the protocol that begin with ``initialize``."""
_HEADER = "mcp-protocol-version"
Tell = Callable[[Mapping[str, Any]], None]


class Flooded(Exception):
    """More messages than any honest server sends."""


class _Metered:
    """The library's stream of messages, at a bounded rate."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._left = float(limits.BURST)
        self._at = time.monotonic()

    @property
    def last_context(self) -> Any:
        """What the HTTP transport adds to a message."""
        return getattr(self._inner, "last_context", None)

    async def __aenter__(self) -> _Metered:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._inner.__aexit__(*error)

    def __aiter__(self) -> _Metered:
        return self

    async def __anext__(self) -> Any:
        item = await self._inner.__anext__()
        now = time.monotonic()
        self._left = min(float(limits.BURST), self._left + (now - self._at) * limits.PER_SECOND) - 1
        self._at = now
        if self._left < 0:
            raise Flooded
        return item


class McpConnection:
    """``tell`` takes what happens, in order and without waiting; ``is_web``: a session over HTTP, which may be lost."""

    def __init__(self, tell: Tell, *, is_web: bool) -> None:
        self._tell = tell
        self._is_web = is_web
        self._dispatcher: Any = None
        self._version = ""
        self._listed = asyncio.Event()
        self._lost = asyncio.Event()
        self._refused: set[str] = set()
        self._log = ServerLog(tell)
        self._logs = False
        self.ready = False

    async def run(self, transport: AbstractAsyncContextManager[tuple[Any, Any]], timeout: float) -> None:
        """Until the server is gone. Raises CallError for what it did wrong; ``timeout`` is for the greeting."""
        try:
            async with transport as (read, write):
                self._dispatcher = JSONRPCDispatcher(_Metered(read), write)
                async with anyio.create_task_group() as group:
                    await group.start(self._pump)
                    group.start_soon(self._serve, timeout)
        except BaseExceptionGroup as several:
            raise _words(_first(several)) from several
        except MCPError as error:
            raise _words(error) from error
        finally:
            self.ready = False

    async def _pump(self, *, task_status: Any) -> None:
        """Take messages in until there are no more."""
        try:
            await self._dispatcher.run(self._on_request, self._on_notify, task_status=task_status)
        finally:
            self._lost.set()

    async def _serve(self, timeout: float) -> None:
        """Greet, list, and list again whenever that is due; ends with the connection."""
        try:
            async with asyncio.timeout(timeout):
                await self._greet()
        except TimeoutError:
            raise CallError("mcp.silent", f"It did not answer the greeting within {timeout:g} s.") from None
        self.ready = True
        listing = asyncio.ensure_future(self._keep_listed())
        losing = asyncio.ensure_future(self._lost.wait())
        beside = [asyncio.ensure_future(self._log.follow()), asyncio.ensure_future(self._ask_for_logs())]
        try:
            done, _ = await asyncio.wait({listing, losing}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            raise CallError("mcp.ended", "Its session is over.")
        finally:
            for task in (listing, losing, *beside):
                task.cancel()

    # -- greeting and tools -------------------------------------------------------------------------------------------

    async def _greet(self) -> None:
        params = {"protocolVersion": NEWEST, "capabilities": {}, "clientInfo": {"name": "Assent", "version": "1"}}
        options = {"cancel_on_abandon": False}
        answer = await self._dispatcher.send_raw_request("initialize", params, options)
        version = answer.get("protocolVersion")
        if not isinstance(version, str) or not OLDEST <= version <= NEWEST:
            raise CallError("mcp.version", f"It speaks a revision of MCP that is not known: {str(version)[:40]}.")
        self._version = version
        await self._dispatcher.notify("notifications/initialized", None, self._options())
        info = answer.get("serverInfo")
        info = info if isinstance(info, dict) else {}
        capabilities = answer.get("capabilities")
        self._logs = isinstance(capabilities, dict) and isinstance(capabilities.get("logging"), dict)
        instructions = _cut(answer.get("instructions"), limits.INSTRUCTIONS_MAX)
        self._tell(
            {
                "event": "ready",
                "protocol": version,
                "instructions": instructions,
                "name": _cut(info.get("title") or info.get("name"), 200),
                "version": _cut(info.get("version"), 100),
            }
        )
        if isinstance(capabilities, dict) and capabilities.get("tools") is not None:
            self._listed.set()
        else:
            self._tell({"event": "tools", "count": 0, "note": "It offers no tools."})

    def _options(self, **more: Any) -> dict[str, Any]:
        return {"headers": {_HEADER: self._version}, **more} if self._is_web else more

    async def _ask_for_logs(self) -> None:
        """What it writes from ``info`` on, where it says that it has a log; one that refuses is left alone."""
        if self._logs:
            with contextlib.suppress(MCPError, anyio.ClosedResourceError, anyio.BrokenResourceError):
                options = self._options(timeout=limits.LIST_TIMEOUT)
                await self._dispatcher.send_raw_request("logging/setLevel", {"level": "info"}, options)

    async def _keep_listed(self) -> None:
        while True:
            await self._listed.wait()
            self._listed.clear()
            await self._list()
            await asyncio.sleep(limits.LIST_PAUSE)

    async def _list(self) -> None:
        """Read all pages of the server's tools; each tool is passed on as the JSON text that came, so that the app
        judges exactly that."""
        tools: list[Any] = []
        cursor, note = None, ""
        for _ in range(limits.PAGES_MAX):
            params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
            options = self._options(timeout=limits.LIST_TIMEOUT)
            page = await self._dispatcher.send_raw_request("tools/list", params, options)
            found = page.get("tools")
            tools += found if isinstance(found, list) else []
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or len(tools) > limits.TOOLS_MAX:
                break
        if len(tools) > limits.TOOLS_MAX or isinstance(cursor, str):
            note = f"It offers more than {limits.TOOLS_MAX} tools; the others are left out."
        kept = tools[: limits.TOOLS_MAX]
        for number, tool in enumerate(kept):
            for piece in _pieces(_json(tool)):
                self._tell({"event": "tool", "number": number, "text": piece})
        self._tell({"event": "tools", "count": len(kept), "note": note})

    # -- calls --------------------------------------------------------------------------------------------------------

    async def call(self, call: WorkerCall, tool: str, arguments: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Call a tool, emitting its progress and its result. A cancelled call is told to the server. Raises
        CallError."""

        async def progress(done: float, total: float | None, message: str | None) -> None:
            of = f" of {total:g}" if total is not None else ""
            words = f"{done:g}{of}" + (f" {message[: limits.PROGRESS_MAX]}" if message else "")
            await call.emit({"progress": words + "\n"})

        params = {"name": tool, "arguments": dict(arguments)}
        try:
            options = self._options(timeout=seconds, on_progress=progress)
            result = await self._dispatcher.send_raw_request("tools/call", params, options)
        except MCPError as error:
            if _is_closed(error) or _session_is_over(error):
                self._lost.set()
            raise _words(error, seconds) from error
        found = flattened(result)
        for name, whole in (("text", found.text), ("structured", found.structured)):
            for piece in _pieces(whole):
                await call.emit({name: piece})
        for number, data in enumerate(found.media, 1):
            for piece in _pieces(data):
                await call.emit({"media": number, "data": piece})
        return {"is_error": found.is_error}

    # -- what the server wants ----------------------------------------------------------------------------------------

    async def _on_request(self, _context: Any, method: str, _params: Any) -> dict[str, Any]:
        if method == "ping":
            return {}
        self._note(method)
        raise MCPError(code=mcp_types.METHOD_NOT_FOUND, message="Assent offers nothing to servers.")

    def _note(self, method: str) -> None:
        """Tell of a refused wish of the server, once for each kind of wish."""
        known = _cut(method, 80)
        if known not in self._refused and len(self._refused) < 20:
            self._refused.add(known)
            self._tell({"event": "note", "text": f"It asked for {known}, which was refused."})

    async def _on_notify(self, _context: Any, method: str, params: Any) -> None:
        if method == "notifications/tools/list_changed":
            self._listed.set()
        elif method == "notifications/message":
            self._log.add(params)


def _is_closed(error: MCPError) -> bool:
    """Whether it is the library's word that nothing can come any more; servers use the same number for other things."""
    return (error.error.code, error.error.message) == (mcp_types.CONNECTION_CLOSED, "Connection closed")


def _session_is_over(error: MCPError) -> bool:
    return "session terminated" in error.error.message.casefold()


def _words(error: BaseException, seconds: float = limits.LIST_TIMEOUT) -> BaseException:
    """An error of the protocol in our codes; anything else as it is."""
    if isinstance(error, Flooded):
        return CallError("mcp.flooded", "It sent more messages than can be read.")
    if not isinstance(error, MCPError):
        return error
    code, message = error.error.code, _cut(error.error.message)
    if _is_closed(error):
        return CallError("mcp.ended", "The connection to the server ended.")
    if code == mcp_types.REQUEST_TIMEOUT:
        return CallError("mcp.timeout", f"It did not answer within {seconds:g} s.")
    return CallError("mcp.refused", message or f"It refused the request ({code}).", {"code": code})


def _first(group: BaseExceptionGroup[Any]) -> BaseException:
    """One exception of a group, however deep; a cancellation only where there is nothing else."""
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        inner = found.exceptions
        found = next((one for one in inner if not isinstance(one, asyncio.CancelledError)), inner[0])
    return found


def _cut(value: Any, size: int = limits.WORDS_MAX) -> str:
    return value[:size] if isinstance(value, str) else ""


def _json(value: Any) -> str:
    """A tool as it came; too large a one becomes its name and its size, for the app to say so."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = "null"
    if len(text) > limits.TOOL_MAX:
        name = value.get("name") if isinstance(value, dict) else None
        return json.dumps({"name": _cut(name, 200), "tooLarge": len(text)})
    return text


def _pieces(text: str) -> list[str]:
    size = PIECE // 2
    return [text[at : at + size] for at in range(0, len(text), size)]
