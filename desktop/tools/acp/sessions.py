"""Sessions of agents of other makers that are at work: one a chat, kept between its turns, gone on with after a restart
where the agent can.

One owned task reads what an agent tells, in order, and hands it to the turn that is under way. What arrives between
turns (a mode that changed, a plan) is kept as the state of the session.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from desktop.domain.errors import KnownError, ToolFailure
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.processes import ChildRefused, ChildStream
from desktop.domain.runs.cancellation import CancellationToken
from desktop.tools.acp.agents import AcpAgents, AcpRow, Launch
from desktop.tools.acp.session_state import SessionState

_log = logging.getLogger(__name__)

GREETING_S = 120.0
CALL_S = 40.0
CANCEL_S = 5.0
"""Seconds that an agent has to end a turn that was cancelled; then it is ended itself."""
IDLE_S = 900.0
"""Seconds after which the agent of a chat in which nothing happens is ended; it is started again when it is needed."""
NEEDS_SIGN_IN = -32_000
"""The protocol's code for it."""
PIECE = 16_000
MAX_WHOLE = 24_000_000
MAX_SESSIONS = 8
MAX_WAITING = 1_000
"""Events that wait for the turn; the agent is read no further meanwhile."""
KEY = "acp.sessions"
MAX_KEPT = 500

Event = Mapping[str, Any]


def _nobody(_number: Any) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class Gone:
    """The agent is no longer there."""

    error: KnownError


class AcpSession:
    """One agent at work in one chat. ``changed`` is called when its state is another one."""

    def __init__(self, row: AcpRow, launch: Launch, agents: AcpAgents, changed: Callable[[], None]) -> None:
        self.row = row
        self.launch = launch
        self.state = SessionState(row.agent.name, row.agent.title, launch.params["folder"], row.terms.writes)
        self.history = ""
        """Stands for the conversation that the agent knows."""
        self.agents = agents
        self._changed = changed
        self._child = agents.services.child
        self._key = f"{row.agent.name} {new_id()}"
        self._stream: ChildStream | None = None
        self._task: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._turn: asyncio.Queue[Event | Gone] | None = None
        self._whole: list[str] = []
        self.gone: KnownError | None = None
        self.used_at = 0.0
        self.taken_back: set[int] = set()
        """The requests of this turn that the agent has taken back."""
        self.on_taken_back: Callable[[Any], None] = _nobody

    # -- its life -----------------------------------------------------------------------------------------------------

    async def open(self, resume: str, tools: Sequence[Any]) -> None:
        """Start the agent, and open its session. Raises ToolFailure with why that did not work."""
        params = {**self.launch.params, "session": self._key, "timeout": GREETING_S, "resume": resume}
        self._stream = self._child.stream("serve", params, parts=pieces(tools))
        self._task = self.agents.services.spawn(self._live(self._stream), f"agent {self.row.agent.name}")
        await self._ready.wait()
        if self.gone is None and not await self.agents.still_the_same(self.row):
            self.gone = ToolFailure(
                f"The program of {self.row.agent.title} was changed while it was being started, so it was ended.",
                code="acp.changed",
                next_step="Look under Settings, Other agents, what it is now.",
            )
        if self.gone is not None:
            await self.close()
            raise self.gone

    async def _live(self, stream: ChildStream) -> None:
        error: KnownError = ToolFailure("It ended.", code="acp.ended")
        try:
            async for event in stream:
                if isinstance(event, Mapping):
                    await self._take(event)
        except ChildRefused as refused:
            error = self._failure(refused)
        except KnownError as died:
            error = died
        finally:
            stream.cancel()
            self.gone = self.gone or error
            self.agents.failed(self.row.agent.name, "" if self.state.ready else error.advice)
            self._ready.set()
            self.launch.door.close()
            if self._turn is not None:
                await self._turn.put(Gone(self.gone))
            self._changed()

    def failed(self, event: Event) -> KnownError:
        """Why a turn could not go on, as the agent says it."""
        words = self.agents.said(str(event.get("message") or "It failed."))
        if event.get("code") == NEEDS_SIGN_IN:
            error = self._signed_out(words, ())
            self.agents.failed(self.row.agent.name, error.advice)
            return error
        return ToolFailure(f"{self.row.agent.title} could not go on: {words}", code="acp.failed")

    def _signed_out(self, words: str, ways: Sequence[Any]) -> KnownError:
        said = "; ".join(self.agents.said(str(way)) for way in ways)
        how = f" It says: {said}." if said else ""
        return ToolFailure(
            f"{self.row.agent.title} is not signed in: {words}",
            code="acp.sign_in",
            next_step=f"Sign in with its own program in a terminal, then try again.{how}",
        )

    def _failure(self, refused: ChildRefused) -> KnownError:
        agent, words = self.row.agent, self.agents.said(str(refused))
        if refused.code == "acp.sign_in":
            return self._signed_out(words, refused.data.get("ways", ()))
        return ToolFailure(
            f"{agent.title} {'ended' if self.state.ready else 'did not start'}: {words}",
            code=refused.code,
            next_step="Settings, Other agents, has its log.",
        )

    async def _take(self, event: Event) -> None:
        kind, text = event.get("event"), str(event.get("text", ""))
        if kind == "piece":
            self._whole.append(text)
            if sum(map(len, self._whole)) > MAX_WHOLE:
                raise ToolFailure("It sent a message that is too large.", code="acp.flood")
        elif kind == "whole":
            whole, self._whole = "".join(self._whole), []
            found = json.loads(whole)
            await self._take(found if isinstance(found, dict) and found.get("event") not in ("piece", "whole") else {})
        elif kind in ("stderr", "note"):
            self.agents.note(self.row.agent.name, text)
        elif kind == "ready":
            self.state.begins(event, self.agents.said)
            self.agents.failed(self.row.agent.name, "")
            self._ready.set()
            self._changed()
        elif self.state.ready:
            await self._within(event)

    async def _within(self, event: Event) -> None:
        """What happens in an open session; what is replayed while one is loaded is known here."""
        kind, number = event.get("event"), event.get("id")
        if kind == "withdrawn":
            self.taken_back.add(number if isinstance(number, int) else -1)
            self.on_taken_back(number)
            return
        if self.state.take(event, self.agents.said):
            self._changed()
        if self._turn is not None:
            await self._turn.put(event)
        elif kind == "ask":
            await self.answer(number, error="Nothing is asked for outside a turn.")

    async def close(self) -> None:
        """End the agent."""
        stream, task = self._stream, self._task
        if stream is not None:
            stream.cancel()
        if task is not None and task is not asyncio.current_task():
            await asyncio.wait([task])
        await asyncio.to_thread(self.launch.door.close)

    # -- a turn -------------------------------------------------------------------------------------------------------

    async def begin_turn(self, blocks: Sequence[Any], tools: Sequence[Any]) -> asyncio.Queue[Event | Gone]:
        """Send a prompt; what comes of it is in the queue, in order. Raises KnownError."""
        if self._turn is not None:
            raise ToolFailure(f"{self.row.agent.title} is at work in this chat already.", code="acp.busy")
        if self.gone is not None:
            raise self.gone
        self._turn = asyncio.Queue(MAX_WAITING)
        self.taken_back.clear()
        self.state.new_turn()
        try:
            await self._call("prompt", {"blocks": list(blocks), "tools": list(tools)})
        except BaseException:
            self._turn = None
            raise
        return self._turn

    @property
    def at_work(self) -> bool:
        """Whether a turn is under way."""
        return self._turn is not None

    def end_turn(self) -> None:
        """Nobody listens any more."""
        turn, self._turn = self._turn, None
        self.on_taken_back = _nobody
        while turn is not None and not turn.empty():  # whoever waits to put something in can go on
            turn.get_nowait()
        self.used_at = asyncio.get_running_loop().time()
        self._changed()

    async def cancel_turn(self) -> None:
        """Have the agent stop, and then end it with all that it has started: what it left at work would go on, and the
        next turn begins with a session that knows what the chat has. What it still says is thrown away, what it still
        asks for is refused."""
        turn = self._turn
        if turn is None:
            return
        stopped = "It did not stop, and was ended."
        try:
            async with asyncio.timeout(CANCEL_S):
                await self._call("cancel", {})
                while not isinstance(event := await turn.get(), Gone) and event.get("event") not in ("done", "failed"):
                    if event.get("event") == "ask":
                        await self.answer(event.get("id"), error="The turn was stopped.")
            stopped = "It was stopped."
        except (TimeoutError, KnownError):
            _log.info("%s did not heed a stop", self.row.agent.name)
        finally:
            self.gone = self.gone or ToolFailure(stopped, code="acp.ended")
            self._turn = None
            await self.close()
            self.end_turn()

    async def answer(self, number: Any, value: Any = None, *, error: str = "", code: int = -32_603) -> bool:
        """Answer what the agent asked for; False where it has taken that back meanwhile."""
        said = {"error": {"code": code, "message": error}} if error else {"value": value}
        try:
            found = await self._call("answer", said, id=number)
        except KnownError:
            return False
        return isinstance(found, Mapping) and found.get("heard") is True

    async def choose(self, option: str, value: str) -> None:
        """Set a mode, a model or an option. Raises KnownError."""
        found = self.state.choice(option)
        if found is None or all(value != one.value for one in found.options):
            raise ToolFailure("That cannot be chosen here.", code="acp.choice")
        params = {"session": self._key, "by": found.by, "id": found.id, "value": value}
        answer = await self._child.call("choose", params, timeout=CALL_S)
        self.state.chosen(option, value, answer, self.agents.said)
        self._changed()

    async def _call(self, method: str, given: Mapping[str, Any], **more: Any) -> Any:
        stream = self._child.stream(method, {"session": self._key, **more}, parts=pieces(given), deadline_s=CALL_S)
        try:
            async for _ in stream:
                pass
        except TimeoutError:
            raise ToolFailure("It does not answer.", code="acp.silent") from None
        return stream.value


def pieces(value: Any) -> list[str]:
    """A value as JSON, in texts that a call can carry."""
    text = json.dumps(value, ensure_ascii=False)
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


class AcpSessions:
    """The sessions of all chats. ``changed`` is called with the chat's id when what is shown of its agent is another
    one."""

    def __init__(self, agents: AcpAgents) -> None:
        self.agents = agents
        self._open: dict[str, AcpSession] = {}
        agents.on_change(self.recheck)
        self._locks: dict[str, asyncio.Lock] = {}
        self._listeners: list[Callable[[str], None]] = []

    def on_change(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Called with a chat's id; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def state(self, place: str) -> SessionState | None:
        """What is known of the agent in a chat; None: it is not running."""
        found = self._open.get(place)
        return found.state if found is not None and found.gone is None else None

    def ending(self, name: str) -> CancellationToken | None:
        """What ends a call that an agent has begun under this name; None: it is over, or was ended."""
        return self.agents.services.requests.token(name)

    def session(self, place: str) -> AcpSession | None:
        """The session of a chat, if its agent runs."""
        found = self._open.get(place)
        return found if found is not None and found.gone is None else None

    async def of(
        self,
        place: str,
        name: str,
        earlier: Sequence[Any],
        tools: Sequence[Any],
        *,
        grants: bool = True,
        project: str = "",
    ) -> tuple[AcpSession, bool]:
        """The session of the agent ``name`` in a chat, started or gone on with, and whether it knows what was said
        (``earlier``). Not ``grants``: what is open for this session of the app only is closed to it, as to every call
        of a job. ``project``: the folder that the chat works in. Raises ToolFailure."""
        async with self._locks.setdefault(place, asyncio.Lock()):
            row = await self.agents.usable(name)
            known, found = conversation(earlier), self._open.get(place)
            if found is not None and self._fits(found, row, grants=grants, project=project) and found.history == known:
                return found, True
            if found is not None:
                self._open.pop(place, None)
                await found.close()
            await self._make_room()
            kept = await self._kept(place, name, known) if known else ""
            launch = await self.agents.launch(row, grants=grants, project=project)
            session = AcpSession(row, launch, self.agents, lambda: self._tell(place))
            session.history = known
            await session.open(kept, tools)
            self._open[place] = session
            self.agents.services.spawn(self._end_idle(place, session), f"agent {name}: until it is idle")
            self._tell(place)
            return session, session.state.resumed

    async def keep(self, place: str, session: AcpSession, said: Sequence[Any]) -> None:
        """The agent knows this conversation now; so it can be gone on with after a restart."""
        session.history = conversation(said)
        if not session.state.keeps or not place:
            return
        store = self.agents.services.store
        rows = await store.get(key=KEY, default={})
        kept = dict(rows) if isinstance(rows, Mapping) else {}
        kept.pop(place, None)
        kept[place] = {"agent": session.row.agent.name, "session": session.state.session, "known": session.history}
        await store.put(key=KEY, value=dict(list(kept.items())[-MAX_KEPT:]))

    async def _kept(self, place: str, name: str, known: str) -> str:
        rows = await self.agents.services.store.get(key=KEY, default={})
        row = rows.get(place) if isinstance(rows, Mapping) else None
        if not isinstance(row, Mapping) or row.get("agent") != name or row.get("known") != known:
            return ""
        return str(row.get("session") or "")

    async def _make_room(self) -> None:
        while len(self._open) >= MAX_SESSIONS:
            idle = [(one.used_at, place) for place, one in self._open.items() if not one.at_work]
            if not idle:
                return
            session = self._open.pop(min(idle)[1])
            await session.close()

    async def _end_idle(self, place: str, session: AcpSession) -> None:
        while session.gone is None:
            await asyncio.sleep(IDLE_S / 10)
            late = asyncio.get_running_loop().time() - session.used_at > IDLE_S
            if late and not session.at_work and self._open.get(place) is session:
                self._open.pop(place, None)
                await session.close()
                return

    def _tell(self, place: str) -> None:
        for listener in tuple(self._listeners):
            listener(place)

    def _fits(self, session: AcpSession, row: AcpRow, *, grants: bool, project: str) -> bool:
        """Whether it was started as it would be now."""
        same = (session.row.agent, session.row.terms) == (row.agent, row.terms)
        bound = session.launch.bounds == self.agents.bounds(grants=grants, project=project)
        return session.gone is None and same and bound and os.path.isdir(session.launch.door.path)

    def recheck(self) -> None:
        """What agents may do has changed: one that was started under other terms, or inside other folders, is ended,
        also in the middle of its turn."""
        rows = {row.agent.name: row for row in self.agents.rows}
        for place, session in list(self._open.items()):
            row, (project, grants) = rows.get(session.row.agent.name), session.launch.bounds[-2:]
            if row is not None and row.standing == "on" and self._fits(session, row, grants=grants, project=project):
                continue
            session.gone = session.gone or ToolFailure(
                f"What {session.row.agent.title} may do was changed, so it was ended.",
                code="acp.ended",
                next_step="Ask again.",
            )
            self._open.pop(place, None)
            self.agents.services.spawn(session.close(), f"end agent {session.row.agent.name}")

    async def end(self, place: str) -> None:
        """End the agent of a chat, if it runs."""
        found = self._open.pop(place, None)
        if found is not None:
            await found.close()
            self._tell(place)

    async def close(self) -> None:
        """End all of them, and the ACP host."""
        await self.agents.services.child.stop()
        for session in list(self._open.values()):
            session.launch.door.close()
        self._open.clear()


def conversation(rows: Sequence[Any]) -> str:
    """Stands for what was said so far, role by role; "" for nothing."""
    said = [
        [str(row.get("role")), str(row.get("text", "")).strip()]
        for row in rows
        if isinstance(row, Mapping) and row.get("role") in ("user", "assistant") and str(row.get("text", "")).strip()
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest() if said else ""
