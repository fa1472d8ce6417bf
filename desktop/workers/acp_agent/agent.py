"""``EditorAgent``: what an editor asks for, passed on to Assent, and what Assent tells, passed on to the editor.

Nothing is decided here. A question is answered by the id of its request: when Assent withdraws it, the request is
cancelled in the editor, and an answer that comes later, a second one, or one to another id finds nobody waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from acp import PROTOCOL_VERSION, RequestError, schema

from desktop.domain.errors import KnownError, NotFound
from desktop.workers.acp_agent import shapes

REFUSED, NOT_FOUND, INVALID = -32603, -32002, -32602
WAITING_MAX = 64_000_000
"""Characters of updates that wait for an editor that does not read."""
logger = logging.getLogger(__name__)


class AssentLink(Protocol):
    """The connection with Assent."""

    async def call(self, method: str, params: Mapping[str, Any]) -> Any: ...


class Editor(Protocol):
    """The connection with the editor."""

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None: ...

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **kwargs: Any
    ) -> schema.RequestPermissionResponse: ...


class _Open:
    """A session as it was opened: on another connection it is opened again."""

    def __init__(self, cwd: str, peer: AssentLink) -> None:
        self.cwd, self.peer = cwd, peer


class EditorAgent:
    """An ``acp.Agent``. ``reach`` connects with Assent, which may be another process each time; ``version`` is ours."""

    def __init__(
        self, reach: Callable[[str, str], Awaitable[AssentLink]], version: str, slow: Callable[[], None]
    ) -> None:
        self._reach, self._version, self._slow = reach, version, slow
        self._editor: Editor | None = None
        self._name = self._editor_version = ""
        self._greeted = False
        self._sessions: dict[str, _Open] = {}
        self._known: set[str] = set()
        """Sessions whose id the editor has: it is told nothing of another."""
        self._early: dict[str, list[tuple[Any, int]]] = {}
        self._updates: asyncio.Queue[tuple[str, Any, int]] = asyncio.Queue()
        self._waiting = 0
        self._withdrawn: Callable[[str], Awaitable[None]] = _nothing

    def on_connect(self, conn: Any) -> None:
        """The SDK says who the editor is."""
        self._editor = conn

    def withdraws_by(self, cancel: Callable[[str], Awaitable[None]]) -> None:
        """How a question of a call is taken back in the editor."""
        self._withdrawn = cancel

    # -- what the editor asks for -------------------------------------------------------------------------------------

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: schema.ClientCapabilities | None = None,
        client_info: schema.Implementation | None = None,
        **_: Any,
    ) -> schema.InitializeResponse:
        """We speak one version: an editor of another one gets it named and decides."""
        self._name = (client_info.title or client_info.name) if client_info is not None else ""
        self._editor_version = client_info.version if client_info is not None else ""
        self._greeted = True
        return schema.InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_info=schema.Implementation(name="assent", title="Assent", version=self._version),
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(image=True, audio=False, embedded_context=True),
                mcp_capabilities=schema.McpCapabilities(http=False, sse=False),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                ),
            ),
            auth_methods=[],
        )

    async def new_session(
        self, cwd: str, additional_directories: list[str] | None = None, mcp_servers: list[Any] | None = None, **_: Any
    ) -> schema.NewSessionResponse:
        """A thread that begins with its first message."""
        found = await self._opened("open", {"cwd": cwd}, cwd, mcp_servers)
        return schema.NewSessionResponse(
            session_id=found["thread"],
            modes=shapes.modes(found),
            config_options=shapes.config_options(found["options"]),
        )

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: list[Any] | None = None,
        additional_directories: list[str] | None = None,
        **_: Any,
    ) -> schema.LoadSessionResponse:
        """A thread that an editor made, with what was said in it."""
        found = await self._opened("load", {"thread": session_id, "cwd": cwd, "replay": True}, cwd, mcp_servers)
        return schema.LoadSessionResponse(
            modes=shapes.modes(found), config_options=shapes.config_options(found["options"])
        )

    async def resume_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[Any] | None = None,
        **_: Any,
    ) -> schema.ResumeSessionResponse:
        """The same without what was said."""
        found = await self._opened("load", {"thread": session_id, "cwd": cwd, "replay": False}, cwd, mcp_servers)
        return schema.ResumeSessionResponse(
            modes=shapes.modes(found), config_options=shapes.config_options(found["options"])
        )

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> schema.ListSessionsResponse:
        """The threads that editors made, the latest first."""
        peer = await self._connected()
        found = await _asked(peer.call("list", {"cwd": cwd, "cursor": cursor}))
        sessions = [shapes.session_info(one) for one in found["threads"]]
        return schema.ListSessionsResponse(sessions=sessions, next_cursor=found["next"])

    async def prompt(self, session_id: str, prompt: Sequence[Any], **_: Any) -> schema.PromptResponse:
        """Ask, and wait until the answer has come to its end."""
        found = await self._of(session_id, "prompt", {"blocks": shapes.prompt_blocks(prompt)})
        await self._updates.join()
        return schema.PromptResponse(stop_reason=found["stop"])

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop the answer; its prompt then ends as cancelled."""
        if session_id in self._sessions:
            with contextlib.suppress(RequestError):  # where Assent has left, nothing is left to be stopped
                await self._of(session_id, "stop", {})

    async def close_session(self, session_id: str, **_: Any) -> schema.CloseSessionResponse:
        """The editor has the thread open no longer."""
        await self._of(session_id, "close", {})
        self._sessions.pop(session_id, None)
        return schema.CloseSessionResponse()

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> schema.SetSessionModeResponse:
        """How a thread asks."""
        await self._of(session_id, "choose", {"option": "mode", "value": mode_id})
        return schema.SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> schema.SetSessionConfigOptionResponse:
        """Who answers, or with which model."""
        found = await self._of(session_id, "choose", {"option": config_id, "value": value})
        return schema.SetSessionConfigOptionResponse(config_options=shapes.config_options(found["options"]))

    async def authenticate(self, method_id: str, **_: Any) -> schema.AuthenticateResponse:
        """There is nothing to sign in to."""
        raise RequestError(INVALID, "Assent has no way to sign in; connect models in its own window.")

    async def fork_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[Any] | None = None,
        **_: Any,
    ) -> schema.ForkSessionResponse:
        """Not offered: a thread branches in Assent."""
        raise RequestError.method_not_found("session/fork")

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Methods of an editor's own are unknown here."""
        raise RequestError.method_not_found(f"_{method}")

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """So are its notifications."""

    # -- what Assent says ---------------------------------------------------------------------------------------------

    def hear(self, method: str, params: Mapping[str, Any]) -> None:
        """Something happened in a thread that the editor has open."""
        if method != "update":
            return
        try:
            update = shapes.update_of(params)
        except (KeyError, ValueError, TypeError) as error:
            logger.warning("an update could not be told: %s", type(error).__name__)
            return
        if update is not None:
            self._put(str(params.get("thread")), update, len(str(params)))

    def _put(self, thread: str, update: Any, size: int) -> None:
        self._waiting += size
        if self._waiting > WAITING_MAX:
            self._slow()
        elif thread in self._known:
            self._updates.put_nowait((thread, update, size))
        else:
            self._early.setdefault(thread, []).append((update, size))

    def sent(self, message: Mapping[str, Any]) -> None:
        """The editor was sent this message: it may have the id of a new session from it."""
        result = message.get("result")
        thread = result.get("sessionId") if isinstance(result, Mapping) else None
        if isinstance(thread, str):
            self._introduce(thread)

    def _introduce(self, thread: str) -> None:
        self._known.add(thread)
        for update, size in self._early.pop(thread, ()):
            self._updates.put_nowait((thread, update, size))

    async def tell(self) -> None:
        """Pass updates on, in order, for as long as the editor reads. Raises ConnectionError when it is gone."""
        while True:
            thread, update, size = await self._updates.get()
            try:
                assert self._editor is not None
                await self._editor.session_update(thread, update)
            finally:
                self._waiting -= size
                self._updates.task_done()

    async def answer(self, method: str, params: Mapping[str, Any]) -> Any:
        """A question of Assent: the editor's answer is the id of an option, or ""."""
        if method != "ask" or self._editor is None:
            raise KnownError(f"An editor has no {method!r:.40}.", code="editor.method")
        await self._updates.join()  # it has been told of the call by then
        call = shapes.asked_call(params["call"])
        options = shapes.permission_options(params["options"])
        digest = {"assent.digest": str(params["digest"])}
        asked = self._editor.request_permission(str(params["thread"]), call, options, **digest)
        try:
            outcome = (await asked).outcome
        except asyncio.CancelledError:
            await self._withdrawn(call.tool_call_id)
            raise
        except (RequestError, ConnectionError, ValueError) as error:
            raise KnownError("The editor could not be asked.", code="editor.ask") from error
        return {"option": getattr(outcome, "option_id", "")}

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _connected(self) -> AssentLink:
        if not self._greeted:
            raise RequestError.invalid_request({"details": "initialize comes first"})
        peer: AssentLink = await _asked(self._reach(self._name, self._editor_version))
        return peer

    async def _opened(
        self, method: str, params: Mapping[str, Any], cwd: str, servers: Sequence[Any] | None
    ) -> Mapping[str, Any]:
        peer = await self._connected()
        if "thread" in params:
            self._introduce(params["thread"])
        found: Mapping[str, Any] = await _asked(peer.call(method, params))
        thread = str(found["thread"])
        self._sessions[thread] = _Open(cwd, peer)
        self._put(thread, shapes.commands(found["commands"]), 0)
        if servers:
            logger.info("the editor offered %d MCP servers; Assent uses those of its own mcp.yaml", len(servers))
        return found

    async def _of(self, session_id: str, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """A call about a session, which is opened again where Assent is another process by now."""
        known = self._sessions.get(session_id)
        if known is None:
            words = "This session is not open here; open it with session/load, or begin a new one."
            raise RequestError(NOT_FOUND, words, {"sessionId": session_id[:100]})
        peer = await self._connected()
        if known.peer is not peer:
            await _asked(peer.call("again", {"thread": session_id, "cwd": known.cwd}))
            known.peer = peer
        found: Mapping[str, Any] = await _asked(peer.call(method, {"thread": session_id, **params}))
        return found


async def _asked(work: Awaitable[Any]) -> Any:
    """Errors of Assent in the protocol's form, with the next step for the person."""
    try:
        return await work
    except KnownError as error:
        code = NOT_FOUND if error.code == NotFound.code else REFUSED
        raise RequestError(code, error.advice, {"code": error.code}) from error


async def _nothing(_call: str) -> None:
    return None
