"""The ACP host's methods. ``serve`` holds one session of an agent as long as the call lasts, and tells in order all
that happens in it; ``prompt``, ``cancel``, ``answer`` and ``choose`` are about a session that is held."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import Mapping
from typing import Any

from acp.meta import PROTOCOL_VERSION

from desktop.workers.acp_host import limits
from desktop.workers.acp_host.connection import AgentConnection
from desktop.workers.acp_host.tool_server import OfferedTools
from desktop.workers.acp_host.updates import choices_of, cut, number
from desktop.workers.frames import PIECE
from desktop.workers.hardening import bound_memory
from desktop.workers.inside import CallError, ChildServer, WorkerCall, pipes, run
from desktop.workers.meter import TOO_MANY
from desktop.workers.stdio_process import StdioLimits, StdioProcess

SERVICE = "acp-host"
VERSION = "1"
OFFERED = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
"""What Assent serves to agents."""
_PROCESS = StdioLimits(
    limits.MESSAGE_MAX, limits.STDERR_PIECE, limits.STDERR_PAUSE, limits.CLOSE_TIMEOUT, limits.KILL_TIMEOUT
)
NEEDS_SIGN_IN = -32_000
_SETS = {"mode": ("session/set_mode", "modeId"), "model": ("session/set_model", "modelId")}


class Told:
    """What waits to be told of one session: in order, bounded, large events in pieces."""

    def __init__(self) -> None:
        self._waiting: deque[Mapping[str, Any]] = deque()
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    def tell(self, event: Mapping[str, Any]) -> None:
        """Take an event; whoever reads the agent waits while too many are here."""
        self._waiting.append(event)
        self._news.set()
        if len(self._waiting) >= limits.QUEUE_MAX:
            self._room.clear()

    async def room(self) -> None:
        """Wait until more may be read."""
        await self._room.wait()

    async def forward(self, call: WorkerCall) -> None:
        """Pass all on, until this is cancelled."""
        while True:
            await self._news.wait()
            while self._waiting:
                await _emit(call, self._waiting[0])
                self._waiting.popleft()
                if len(self._waiting) < limits.QUEUE_MAX // 2:
                    self._room.set()
            self._news.clear()

    async def empty(self, seconds: float) -> None:
        """Wait a moment until all is told."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._waiting:
                    await asyncio.sleep(0.01)


async def _emit(call: WorkerCall, event: Mapping[str, Any]) -> None:
    kind, text = event.get("event"), event.get("text")
    if kind in ("text", "thought") and isinstance(text, str):
        for at in range(0, len(text), PIECE // 2):
            await call.emit({"event": kind, "text": text[at : at + PIECE // 2]}, join="text")
        return
    whole = json.dumps(event, ensure_ascii=False)
    if len(whole) <= limits.EVENT_WHOLE:
        await call.emit(event)
        return
    for at in range(0, len(whole), PIECE // 2):
        await call.emit({"event": "piece", "text": whole[at : at + PIECE // 2]})
    await call.emit({"event": "whole"})


class AgentSession:
    """One session of one agent: its process, its connection, and our tools for it."""

    def __init__(self, params: Mapping[str, Any], tools: list[Any]) -> None:
        self._params = params
        self.told = Told()
        env = {str(key): str(value) for key, value in params["env"].items()}
        argv = [str(word) for word in params["argv"]]
        self._process = StdioProcess(
            argv, str(params["cwd"]), env, lambda text: self.told.tell({"event": "stderr", "text": text}), _PROCESS
        )
        self.connection = AgentConnection(self._process, self.told.tell, self.told.room)
        self.tools = OfferedTools(str(params["door"]), tools, self._call_tool) if params.get("door") else None
        self.session_id = ""
        self._prompting: asyncio.Task[None] | None = None

    async def _call_tool(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        answer = await self.connection.ask("tools/call", {"name": name, "arguments": dict(arguments)})
        return answer if isinstance(answer, Mapping) else {}

    async def run(self) -> None:
        """Until the agent is gone. Raises CallError for how it ended."""
        try:
            await self._process.start()
        except (OSError, ValueError) as error:
            raise CallError("acp.not_started", getattr(error, "strerror", None) or str(error)) from error
        serving = asyncio.ensure_future(self.connection.serve())
        beside: list[asyncio.Task[Any]] = [serving]
        if self.tools is not None:
            beside.append(asyncio.ensure_future(self.tools.serve()))
        patience = limits.FAILED_TIMEOUT
        flood = asyncio.ensure_future(self.tools.flooded.wait() if self.tools is not None else asyncio.Event().wait())
        beside.append(flood)
        try:
            await self._open(serving)
            await asyncio.wait({serving, flood}, return_when=asyncio.FIRST_COMPLETED)
            why = TOO_MANY if flood.done() else await serving
            raise CallError("acp.ended", why or await self._obituary())
        except asyncio.CancelledError:
            patience = limits.CLOSE_TIMEOUT
            raise
        finally:
            for task in (*beside, *([self._prompting] if self._prompting is not None else [])):
                task.cancel()
            await self.connection.close()
            await self._process.end(patience)

    async def _obituary(self) -> str:
        await self._process.end(limits.FAILED_TIMEOUT)
        return self._process.obituary()

    async def _open(self, serving: asyncio.Task[str]) -> None:
        """Greet, and open the session; the agent's end while it does ends this, too."""
        opening = asyncio.ensure_future(self._greet())
        await asyncio.wait({opening, serving}, return_when=asyncio.FIRST_COMPLETED)
        if not opening.done():
            opening.cancel()
            raise CallError("acp.ended", serving.result() or await self._obituary())
        try:
            opening.result()
        except CallError as error:
            if error.code != "acp.ended":
                raise
            raise CallError("acp.ended", await serving or await self._obituary()) from error

    async def _greet(self) -> None:
        params = self._params
        seconds = float(params.get("timeout") or 60)
        hello = {
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": OFFERED,
            "clientInfo": {"name": "Assent", "version": "1"},
        }
        answer = await self.connection.request("initialize", hello, seconds)
        if answer.get("protocolVersion") != PROTOCOL_VERSION:
            said = cut(str(answer.get("protocolVersion")), 40)
            raise CallError("acp.version", f"It speaks a version of the protocol that is not known: {said}.")
        able = answer.get("agentCapabilities")
        able = able if isinstance(able, Mapping) else {}
        resumed, opened = await self._session(able, str(params.get("resume") or ""), seconds, answer)
        info = answer.get("agentInfo")
        info = info if isinstance(info, Mapping) else {}
        prompt = able.get("promptCapabilities")
        self.told.tell(
            {
                "event": "ready",
                "name": cut(info.get("title") or info.get("name"), 200),
                "version": cut(info.get("version"), 100),
                "session": self.session_id,
                "resumed": resumed,
                "keeps": able.get("loadSession") is True or "resume" in _mapping(able.get("sessionCapabilities")),
                "images": _mapping(prompt).get("image") is True,
                "choices": choices_of(opened),
            }
        )

    async def _session(
        self, able: Mapping[str, Any], resume: str, seconds: float, hello: Mapping[str, Any]
    ) -> tuple[bool, dict[str, Any]]:
        """An earlier session where the agent can go on with one, else a new one; what it answered."""
        tools = [self.tools.declaration()] if self.tools is not None else []
        where: dict[str, Any] = {"cwd": str(self._params["folder"]), "mcpServers": tools}
        if resume:
            if "resume" in _mapping(able.get("sessionCapabilities")):
                method = "session/resume"
            else:
                method = "session/load" if able.get("loadSession") is True else ""
            if method:
                with contextlib.suppress(CallError):
                    self.told.tell({"event": "loading"})
                    found = await self.connection.request(method, {**where, "sessionId": resume}, seconds)
                    self.session_id = resume
                    return True, found
        try:
            opened = await self.connection.request("session/new", where, seconds)
        except CallError as error:
            if error.data.get("code") == NEEDS_SIGN_IN:
                raise CallError("acp.sign_in", str(error), {"ways": _ways(hello)}) from error
            raise
        self.session_id = cut(opened.get("sessionId"), 500)
        if not self.session_id:
            raise CallError("acp.refused", "It opened no session.")
        return False, opened

    def prompt(self, blocks: list[Any]) -> None:
        """Begin a turn; how it ends is told. Raises CallError while another one goes on."""
        if self._prompting is not None and not self._prompting.done():
            raise CallError("acp.busy", "It is at work already.")
        self.connection.begin_turn()
        self._prompting = asyncio.ensure_future(self._prompted(blocks))

    async def _prompted(self, blocks: list[Any]) -> None:
        params = {"sessionId": self.session_id, "prompt": blocks}
        try:
            answer = await self.connection.request("session/prompt", params, None)
        except CallError as error:
            if error.code == "acp.ended":
                return  # how it ended is told by ``run``
            self.told.tell({"event": "failed", "code": error.code, "message": str(error), **error.data})
            return
        used = _mapping(answer.get("usage"))
        tokens = {"input": number(used.get("inputTokens")), "output": number(used.get("outputTokens"))}
        self.told.tell({"event": "done", "reason": cut(answer.get("stopReason"), 40), "tokens": tokens})

    async def cancel(self) -> None:
        """Have the turn under way end."""
        self.connection.withdraw_all()
        await self.connection.notify("session/cancel", {"sessionId": self.session_id})

    async def choose(self, by: str, option: str, value: str) -> list[dict[str, Any]]:
        """Set a mode, a model or an option of the session; what can be chosen now, as far as it says so."""
        if by == "option":
            method, given = "session/set_config_option", {"configId": option, "value": value}
        else:
            method, key = _SETS[by]
            given = {key: value}
        answer = await self.connection.request(method, {"sessionId": self.session_id, **given}, limits.CALL_TIMEOUT)
        return choices_of(answer)


class AcpHost:
    """Sessions by the name that the app gives them."""

    def __init__(self) -> None:
        self._open: dict[str, AgentSession] = {}

    async def ping(self, _: WorkerCall) -> dict[str, Any]:
        """How many sessions there are."""
        return {"sessions": len(self._open)}

    async def serve(self, call: WorkerCall) -> None:
        """``session``, ``argv``, ``cwd``, ``env``, ``folder`` (where the agent works), ``timeout``, ``resume`` (an
        earlier session, or ""), ``door`` (a folder for our tools, or ""); the tools are JSON in the parts. Emits what
        happens until the agent is gone; that is always an error, which says how. Cancelled, it ends the agent."""
        name = str(call.params["session"])
        if name in self._open:
            raise CallError("acp.busy", "The session is held already.")
        tools = json.loads("".join(map(str, call.parts)) or "[]")
        session = self._open[name] = AgentSession(call.params, tools)
        telling = asyncio.ensure_future(session.told.forward(call))
        try:
            await session.run()
        finally:
            self._open.pop(name, None)
            await session.told.empty(1.0)
            telling.cancel()

    def _of(self, call: WorkerCall) -> AgentSession:
        session = self._open.get(str(call.params.get("session")))
        if session is None or not session.session_id:
            raise CallError("acp.not_running", "The agent is not running.")
        return session

    async def prompt(self, call: WorkerCall) -> None:
        """``session``; in the parts JSON: ``{blocks, tools}``. Returns when the turn has begun."""
        session, given = self._of(call), json.loads("".join(map(str, call.parts)))
        if session.tools is not None:
            await session.tools.offer(given.get("tools") or [])
        session.prompt(given["blocks"])

    async def cancel(self, call: WorkerCall) -> None:
        """``session``: end its turn."""
        await self._of(call).cancel()

    async def answer(self, call: WorkerCall) -> dict[str, Any]:
        """``session``, ``id`` of an ask; in the parts JSON: ``{value}`` or ``{error: {code, message}}``."""
        given = json.loads("".join(map(str, call.parts)))
        heard = self._of(call).connection.answer(call.params.get("id"), given.get("value"), given.get("error"))
        return {"heard": heard}

    async def choose(self, call: WorkerCall) -> dict[str, Any]:
        """``session``, ``by`` (mode, model, option), ``id``, ``value``."""
        params = call.params
        choices = await self._of(call).choose(str(params["by"]), str(params["id"]), str(params["value"]))
        return {"choices": choices}

    def methods(self) -> dict[str, Any]:
        """By their names on the pipe."""
        served = (self.ping, self.serve, self.prompt, self.cancel, self.answer, self.choose)
        return {method.__name__: method for method in served}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _ways(hello: Mapping[str, Any]) -> list[str]:
    """How the agent says that one signs in."""
    found = hello.get("authMethods")
    said = [
        cut(one.get("description"), 200) or cut(one.get("name"), 200)
        for one in (found[:10] if isinstance(found, list) else ())
        if isinstance(one, Mapping)
    ]
    return [words for words in said if words]


async def _serve() -> None:
    reader, writer = await pipes()
    await ChildServer(SERVICE, VERSION, AcpHost().methods()).serve(reader, writer)
    await asyncio.sleep(0)


def main() -> None:
    """Entry point of the child."""
    bound_memory(limits.MEMORY_MAX)  # what others send must not take the machine's
    run(_serve, SERVICE)
