"""One server, from its first greeting to its end: one task owns it, calls come in from others.

What servers want of their client is in ``wishes.py``: nothing is offered that the app did not say. What a server says
is passed on as data, capped; the app decides what of it counts.

Transports, messages and who gets which answer are the library's. Its ClientSession is not used: for one field that is
not as the protocol has it (a greeting without ``serverInfo``, a content of a kind that it does not know) it refuses the
whole greeting, list or result, and it drops keys of a tool that it does not know, while the app pins all that came.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import mcp_types
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

from desktop.workers.inside import CallError, WorkerCall
from desktop.workers.mcp_host import limits
from desktop.workers.mcp_host.content import Parted, flattened, prompted, read
from desktop.workers.mcp_host.era import RequestEnvelope, greeted
from desktop.workers.mcp_host.exchange import ServerExchange, words_of
from desktop.workers.mcp_host.lists import ServerLists
from desktop.workers.mcp_host.pieces import as_json, cut, pieces
from desktop.workers.mcp_host.progress import CallProgress
from desktop.workers.mcp_host.questions import AppQuestions, Deliver
from desktop.workers.mcp_host.said import LEVELS, ServerLog
from desktop.workers.mcp_host.tasks import ServerTask, ServerTasks, task_of
from desktop.workers.mcp_host.watching import ServerChanges
from desktop.workers.mcp_host.wishes import ServerWishes
from desktop.workers.meter import TOO_MANY, RateMeter

Tell = Callable[[Mapping[str, Any]], None]
HAVE = ("tools", "resources", "prompts", "completions", "logging")


class Flooded(Exception):
    """More messages than any honest server sends."""


class _Metered:
    """The library's stream of messages, at a bounded rate."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._meter = RateMeter(limits.BURST, limits.PER_SECOND)

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
        if not self._meter.takes():
            raise Flooded
        return item


class McpConnection:
    """``tell`` takes what may be lost, at once; ``deliver`` what may not, in order. ``is_web``: a session over HTTP,
    which may be lost. ``roots`` and ``modes`` are what is offered to the server."""

    def __init__(
        self,
        tell: Tell,
        deliver: Deliver,
        *,
        is_web: bool,
        roots: Sequence[Mapping[str, str]] = (),
        modes: Sequence[str] = (),
    ) -> None:
        self._tell, self._deliver = tell, deliver
        self.questions = AppQuestions(deliver)
        wishes = ServerWishes(self.questions.ask, tell, roots, modes)
        self._capabilities = wishes.capabilities
        self._envelope = RequestEnvelope(self._capabilities, is_web=is_web)
        self._exchange = ServerExchange(self._envelope, wishes)
        self._lists = ServerLists(self._exchange, deliver)
        self._envelope.headers_of = self._lists.headers_of
        self._changes = ServerChanges(self._exchange, self._lists, deliver)
        self._tasks = ServerTasks(self._exchange)
        self._log = ServerLog(tell)
        self._lost = asyncio.Event()
        self.greeted = self.ready = False
        self.obituary: Callable[[], str] = str
        """Why a program's messages ended, if that is known."""

    async def run(self, transport: AbstractAsyncContextManager[tuple[Any, Any]], timeout: float) -> None:
        """Until the server is gone. Raises CallError for what it did wrong; ``timeout`` is for the greeting."""
        try:
            async with contextlib.AsyncExitStack() as open_until_then:
                incoming, outgoing = await _opened(open_until_then, transport)
                self._exchange.dispatcher = JSONRPCDispatcher(_Metered(incoming), outgoing)
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
            dispatcher = self._exchange.dispatcher
            await dispatcher.run(self._on_request, self._on_notify, task_status=task_status)
        finally:
            self._lost.set()

    async def _serve(self, timeout: float) -> None:
        """Greet, list, and list again whenever that is due; ends with the connection."""
        try:
            async with asyncio.timeout(timeout):
                await self._greet()
        except TimeoutError:
            raise CallError("mcp.silent", f"It did not answer the greeting within {timeout:g} s.") from None
        self.greeted = self.ready = True
        listing = asyncio.ensure_future(self._lists.keep())
        losing = asyncio.ensure_future(self._lost.wait())
        beside = [
            asyncio.ensure_future(work())
            for work in (self._log.follow, self._ask_for_logs, self._changes.tell, self._changes.listen)
        ]
        try:
            done, _ = await asyncio.wait({listing, losing}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            raise CallError("mcp.ended", "Its session is over.")
        finally:
            for task in (listing, losing, *beside):
                task.cancel()

    async def _greet(self) -> None:
        dispatcher = self._exchange.dispatcher
        era = self._envelope.era = await greeted(dispatcher.send_raw_request, self._capabilities)
        if not era.modern:
            _, options = self._envelope.dressed("notifications/initialized", {})
            await dispatcher.notify("notifications/initialized", None, options)
        has = [name for name in HAVE if era.has(name)]
        has += [
            name
            for name, there in (("tasks", era.tasks), ("subscriptions", era.has("resources", "subscribe")))
            if there
        ]
        await self._deliver(
            {
                "event": "ready",
                "protocol": era.version,
                "instructions": cut(era.instructions, limits.INSTRUCTIONS_MAX),
                "name": cut(era.info.get("title") or era.info.get("name"), 200),
                "version": cut(era.info.get("version"), 100),
                "has": has,
            }
        )
        self._lists.all_due()

    # -- its log ------------------------------------------------------------------------------------------------------

    async def _ask_for_logs(self) -> None:
        """What it writes from ``info`` on, where it says that it has a log; one that refuses is left alone."""
        if self._envelope.era.has("logging"):
            with contextlib.suppress(MCPError, CallError, anyio.ClosedResourceError, anyio.BrokenResourceError):
                await self.set_log_level(self._envelope.log_level)

    async def set_log_level(self, level: str) -> None:
        """How much it writes to its log from now on. Raises CallError and MCPError."""
        if level not in LEVELS:
            raise CallError("mcp.refused", "There is no such level.")
        self._envelope.log_level = level  # of each request that is made from now on, in the newer era
        if not self._envelope.era.modern:
            await self._exchange.request("logging/setLevel", {"level": level}, limits.LIST_TIMEOUT)

    # -- calls --------------------------------------------------------------------------------------------------------

    async def call(self, call: WorkerCall, tool: str, arguments: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Call a tool, emitting its progress and its result; what goes on after its time as a task is named. A
        cancelled call is told to the server. Raises CallError."""
        progress = CallProgress(call)
        following = asyncio.ensure_future(progress.follow())
        key, until = str(call.params.get("call") or ""), time.monotonic() + seconds
        params: dict[str, Any] = {"name": tool, "arguments": dict(arguments)}
        era = self._envelope.era
        if not era.modern and era.tasks and self._lists.as_task(tool):
            params["task"] = {"ttl": limits.TASK_TTL}
        try:
            with self._told():
                result: Any = await self._exchange.request("tools/call", params, seconds, on_progress=progress, key=key)
                task = task_of(result, modern=era.modern)
                if task is not None:
                    left = max(0.0, until - time.monotonic())
                    result = await self._tasks.wait(task, tool, left, progress.said, key)
        finally:
            following.cancel()
        await progress.flush()
        if isinstance(result, ServerTask):
            return {"is_error": False, "task": result.plain}
        return await _emitted(call, result)

    async def task(self, call: WorkerCall, task_id: str, wanted: str, seconds: float) -> dict[str, Any]:
        """One task: how it is (``get``), what came of it (``result``), or its end (``cancel``). Raises CallError."""
        with self._told():
            if wanted == "cancel":
                await self._tasks.cancel(task_id)
            task = await self._tasks.get(task_id)
            if wanted != "result" or task.status in ("working", "input_required"):
                return {"is_error": False, "task": task.plain}
            return await _emitted(call, await self._tasks.result(task, seconds))

    async def read(self, call: WorkerCall, uri: str, seconds: float) -> dict[str, Any]:
        """Read a resource, emitting what it holds. Raises CallError."""
        with self._told():
            return await _parted(call, read(await self._exchange.request("resources/read", {"uri": uri}, seconds)))

    async def prompt(self, call: WorkerCall, name: str, arguments: Mapping[str, str], seconds: float) -> dict[str, Any]:
        """Have a prompt filled in, emitting what it says. Raises CallError."""
        params = {"name": name, **({"arguments": dict(arguments)} if arguments else {})}
        with self._told():
            return await _parted(call, prompted(await self._exchange.request("prompts/get", params, seconds)))

    async def complete(self, params: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Values that the server proposes for one argument. Raises CallError."""
        with self._told():
            result = await self._exchange.request("completion/complete", params, seconds)
        found = result.get("completion")
        found = found if isinstance(found, Mapping) else {}
        given = found.get("values")
        values = (
            [cut(one, limits.PROGRESS_MAX) for one in given if isinstance(one, str)] if isinstance(given, list) else []
        )
        more = found.get("hasMore") is True or len(values) > limits.VALUES_MAX
        return {"values": values[: limits.VALUES_MAX], "more": more}

    async def watch(self, uri: str, *, on: bool) -> dict[str, Any]:
        """Say when a resource changes, or no longer. Raises CallError."""
        with self._told():
            await self._changes.watch(uri, on=on)
        return {}

    async def level(self, level: str) -> dict[str, Any]:
        """How much it writes to its log. Raises CallError."""
        with self._told():
            await self.set_log_level(level)
        return {}

    @contextlib.contextmanager
    def _told(self) -> Any:
        """Errors of the protocol in our words; a connection that is over ends with them."""
        try:
            yield
        except MCPError as error:
            if _is_closed(error) or _session_is_over(error):
                self._lost.set()
            if _is_closed(error) and (why := self.obituary()):
                raise CallError("mcp.ended", f"The connection to the server ended. {why}") from error
            raise _words(error) from error

    # -- what the server wants ----------------------------------------------------------------------------------------

    async def _on_request(self, _context: Any, method: str, params: Any) -> dict[str, Any]:
        return await self._exchange.wish(method, params)

    async def _on_notify(self, _context: Any, method: str, params: Any) -> None:
        if method == "notifications/message":
            self._log.add(params)
        elif method == "notifications/elicitation/complete":
            self._exchange.page_done(params)
        else:
            self._changes.hear(method, params)


async def _opened(stack: contextlib.AsyncExitStack, transport: AbstractAsyncContextManager[Any]) -> tuple[Any, Any]:
    """The streams of a transport. Raises CallError where it does not come to that: an older server that names no
    address for messages, or one that is not its own, would be waited for without end."""
    try:
        async with asyncio.timeout(limits.OPEN_TIMEOUT):
            streams: tuple[Any, Any] = await stack.enter_async_context(transport)
    except TimeoutError:
        raise CallError("mcp.silent", "It does not say where messages can be sent to.") from None
    return streams


async def _emitted(call: WorkerCall, result: Mapping[str, Any]) -> dict[str, Any]:
    """Emit the result of a tool."""
    found = flattened(result)
    beside = as_json(found.parts) if found.parts else ""
    for name, whole in (("text", found.text), ("structured", found.structured), ("parts", beside)):
        for piece in pieces(whole):
            await call.emit({name: piece})
    await _media(call, found.media)
    return {"is_error": found.is_error}


async def _parted(call: WorkerCall, found: Parted) -> dict[str, Any]:
    """Emit what was read."""
    for piece in pieces(as_json(found.parts)):
        await call.emit({"parts": piece})
    await _media(call, found.media)
    return {"notes": list(found.notes), "description": found.description}


async def _media(call: WorkerCall, media: Sequence[str]) -> None:
    for number, data in enumerate(media, 1):
        for piece in pieces(data):
            await call.emit({"media": number, "data": piece})


def _is_closed(error: MCPError) -> bool:
    """Whether it is the library's word that nothing can come any more; servers use the same number for other things."""
    return (error.error.code, error.error.message) == (mcp_types.CONNECTION_CLOSED, "Connection closed")


def _session_is_over(error: MCPError) -> bool:
    return "session terminated" in error.error.message.casefold()


def _words(error: BaseException) -> BaseException:
    """An error of the protocol in our codes; anything else as it is."""
    if isinstance(error, Flooded):
        return CallError("mcp.flooded", TOO_MANY)
    return words_of(error, _is_closed)


def _first(group: BaseExceptionGroup[Any]) -> BaseException:
    """One exception of a group, however deep; a cancellation only where there is nothing else."""
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        inner = found.exceptions
        found = next((one for one in inner if not isinstance(one, asyncio.CancelledError)), inner[0])
    return found
