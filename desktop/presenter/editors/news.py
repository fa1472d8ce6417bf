"""What happens in the threads that an editor has open, told in order: also what a person does there in the window."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.models import ModelInfo
from desktop.domain.runs.events import (
    AgentListening,
    Event,
    MessageClosed,
    ReasoningArrived,
    RunEnded,
    RunStarted,
    TextArrived,
    ThreadChanged,
    ToolCallFinished,
    ToolCallWaiting,
)
from desktop.presenter.editors.desk import EditorDesk, EditorLink, SkillCommand
from desktop.presenter.editors.options import options_of
from desktop.presenter.editors.replay import said_by_person
from desktop.presenter.editors.session import EditorSession
from desktop.presenter.editors.updates import Update, call_updates, updates_of

SLICE_S = 0.004
"""Seconds of telling after which everything else gets its turn."""
logger = logging.getLogger(__name__)


class EditorNews:
    """Follows the bus for ``sessions`` until ``close``. Used on the loop."""

    def __init__(self, desk: EditorDesk, link: EditorLink, sessions: Mapping[str, EditorSession]) -> None:
        self._desk, self._link, self._sessions = desk, link, sessions
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._deaf = desk.bus.listen(self._take)
        self._tasks = [self._begin(self._tell(), "editor: tell")]
        self._commands_changed = asyncio.Event()
        self._tasks.append(self._begin(self._tell_commands(), "editor: commands"))
        self._still = desk.on_commands(self._commands_changed.set)
        self._sought = False
        self.models: tuple[ModelInfo, ...] = ()
        """Those that are known so far."""

    def close(self) -> None:
        """Tell nothing any more."""
        self._deaf()
        self._still()
        for task in self._tasks:
            task.cancel()

    def say(self, session: EditorSession, update: Update) -> None:
        """Tell one update of a session."""
        self._link.tell("update", {"thread": session.record.thread_id, **update})

    async def told(self) -> None:
        """Until all that has happened by now is told."""
        await self._events.join()

    def seek_models(self) -> None:
        """Find out, once, which models can be used: providers and local servers are asked, which may take a while."""
        if not self._sought:
            self._sought = True
            self._tasks.append(self._begin(self._list_models(), "editor: list models"))

    async def _list_models(self) -> None:
        try:
            self.models = tuple(await self._desk.models())
        except KnownError as error:
            logger.info("models could not be listed for an editor: %s", error.code)
            return
        for session in self._sessions.values():
            self._say_options(session)

    async def _tell_commands(self) -> None:
        """Skills that are added, changed or taken away while the editor is there."""
        told: list[SkillCommand] | None = None
        while True:
            await self._commands_changed.wait()
            self._commands_changed.clear()
            commands = list(await self._desk.commands())
            for session in self._sessions.values() if commands != told else ():
                self.say(session, {"kind": "commands", "commands": [one._asdict() for one in commands]})
            told = commands

    def _begin(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Future[None]:
        return self._desk.spawn(work, name)

    # -- the bus ------------------------------------------------------------------------------------------------------

    def _take(self, event: Event) -> None:
        """Called with everything that happens anywhere."""
        if self._of(event) is not None:
            self._events.put_nowait(event)

    def _of(self, event: Event) -> EditorSession | None:
        """The session that an event concerns: that of its thread, or of the thread that a called agent works for."""
        session = self._sessions.get(event.thread_id)
        if session is not None:
            return session
        if isinstance(event, ToolCallWaiting):
            return self._sessions.get(event.request.seen_in)
        call_id = getattr(event, "call_id", "")
        known = (one for one in self._sessions.values() if call_id and one.calls.knows(event.thread_id, call_id))
        return next(known, None)

    async def _tell(self) -> None:
        while True:
            events = [await self._events.get()]
            while not self._events.empty():
                events.append(self._events.get_nowait())
            turn = time.monotonic()
            for event in merged(events):
                if time.monotonic() - turn > SLICE_S:
                    await asyncio.sleep(0)
                    turn = time.monotonic()
                try:
                    session = self._of(event)
                    if session is not None:
                        await self._pass_on(session, event)
                except KnownError as error:
                    logger.info("an editor could not be told of something: %s", error.code)
            for _ in events:
                self._events.task_done()

    async def _pass_on(self, session: EditorSession, event: Event) -> None:
        if event.thread_id != session.record.thread_id:
            for update in call_updates(event, session.calls):
                self.say(session, update)
            return
        if isinstance(event, RunEnded):
            session.end = event
            session.resting = False
        elif isinstance(event, AgentListening):
            session.resting = event.waiting and event.context_id == event.thread_id
        elif isinstance(event, MessageClosed):
            session.closed = event.stop_reason
        elif isinstance(event, RunStarted):
            await self._began(session, event)
        elif isinstance(event, ThreadChanged) and event.what in ("title", "model", "agent"):
            await self._changed(session, event.what)
        mask = self._desk.mask
        if isinstance(event, ToolCallWaiting | ToolCallFinished):
            told = await asyncio.to_thread(lambda: list(updates_of(event, session.calls, mask)))
        else:
            told = list(updates_of(event, session.calls, mask))
        for update in told:
            self.say(session, update)

    async def _began(self, session: EditorSession, event: RunStarted) -> None:
        """A run that somebody began in the window: the editor is told what was said there."""
        if session.prompting or event.continues or event.user_message_id in session.mine:
            return
        for update in said_by_person(await self._desk.chats.message(event.user_message_id)):
            self.say(session, update)

    async def _changed(self, session: EditorSession, what: str) -> None:
        session.record = await self._desk.chats.thread(session.record.thread_id)
        if what == "title":
            at = moment(session.record.updated_at)
            self.say(session, {"kind": "title", "title": session.record.title, "at": at})
        else:
            self._say_options(session)

    def _say_options(self, session: EditorSession) -> None:
        found = options_of(self._desk, session.record, self.models)
        self.say(session, {"kind": "options", "options": found})


def merged(events: Iterable[Event]) -> Iterator[Event]:
    """The same, with text that came in pieces as one piece where nothing came between: an editor that draws more slowly
    than a model writes gets fewer and larger ones."""
    for (kind, message, _), group in groupby(events, _kind):
        found = list(group)
        first = found[0]
        if kind is not None and isinstance(first, TextArrived | ReasoningArrived):
            yield replace(first, text="".join(one.text for one in found if isinstance(one, kind)), message_id=message)
        else:
            yield from found


def _kind(event: Event) -> tuple[type[TextArrived | ReasoningArrived] | None, str, str]:
    """What goes together: pieces of one message's text, or of its thinking."""
    if isinstance(event, TextArrived | ReasoningArrived):
        return type(event), event.message_id, event.thread_id
    return None, "", ""


def moment(at: float) -> str:
    """Seconds since the epoch as the protocol writes a time."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
