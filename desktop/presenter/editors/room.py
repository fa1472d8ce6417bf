"""What one connected editor may do: make threads and open its own again, ask, stop, choose, answer questions (R-ACP-3).

A session is a thread like any other, made with its first message and marked with the editor's name. Every call of it
goes the one way of all calls; a question stands in the editor and in the window at once, and the first answer counts.
When the editor leaves, its questions are withdrawn there. What it began goes on where a window is open, in which a
person sees and stops it; without one it is stopped.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.errors import KnownError, NotFound
from desktop.domain.ids import new_id
from desktop.domain.messages import Block
from desktop.domain.threads import EDITOR_LABEL, ThreadRecord
from desktop.presenter.editors import options
from desktop.presenter.editors.desk import EditorDesk, EditorLink
from desktop.presenter.editors.ends import answer_of
from desktop.presenter.editors.fences import quoted
from desktop.presenter.editors.folders import EditorFolder, folder_of
from desktop.presenter.editors.news import EditorNews, moment
from desktop.presenter.editors.places import EditorPlaces
from desktop.presenter.editors.prompts import opened_prompt, plain_name
from desktop.presenter.editors.replay import replayed
from desktop.presenter.editors.requests import decision_of, not_for_editors, options_of
from desktop.presenter.editors.session import EditorSession
from desktop.presenter.editors.updates import EditorCalls, Surroundings
from desktop.services.definitions.book import DEFAULT_AGENT

SESSIONS, PAGE, MOMENT, LOOK = 200, 50, 1.0, 0.25
"""Sessions of one editor at once; threads of one page of the list; seconds of a wait for the very end of the run
before, and between two looks whether a persistent agent waits again."""
NO_MODEL, BUSY = "No model is chosen.", "This thread is at work."
_ID = re.compile("[0-9a-f]{32}")
logger = logging.getLogger(__name__)


class EditorRoom:
    """``answer`` serves the program beside the editor, ``left`` ends it. Used on the loop."""

    def __init__(self, desk: EditorDesk, guest: EditorLink, name: str) -> None:
        self._desk, self._guest = desk, guest
        self._name = plain_name(name, "an editor")
        self._sessions: dict[str, EditorSession] = {}
        self._news = EditorNews(desk, guest, self._sessions)
        self._places = EditorPlaces(desk, guest, self._news.say, self._name)
        desk.note(self._name, "connected")
        self._methods: dict[str, Callable[[Mapping[str, Any]], Awaitable[Any]]] = {
            "open": self._open,
            "load": self._load,
            "again": self._again,
            "list": self._list,
            "prompt": self._prompt,
            "stop": self._stop,
            "choose": self._choose,
            "close": self._close,
        }

    # -- what the door calls ------------------------------------------------------------------------------------------

    async def answer(self, method: str, params: Mapping[str, Any]) -> Any:
        """Do what the editor asks for. Raises KnownError."""
        found = self._methods.get(method)
        if found is None:
            raise KnownError(f"Assent offers no {method!r:.40} to an editor.", code="editor.method")
        return await found(params)

    def hear(self, method: str, params: Mapping[str, Any]) -> None:
        """An editor's program tells nothing."""

    async def left(self) -> None:
        """The connection is over."""
        self._news.close()
        self._desk.note(self._name, "has left")
        for session in list(self._sessions.values()):
            await self._let_go(session)

    # -- sessions -----------------------------------------------------------------------------------------------------

    async def _open(self, params: Mapping[str, Any]) -> Any:
        folder = await folder_of(params.get("cwd"), self._desk.policy)
        model = self._desk.default_model()
        if not model:
            raise KnownError(NO_MODEL, next_step="Choose one in Assent, Settings, Models and keys.", code="model.none")
        now, wanted = time.time(), params.get("thread")
        thread_id = wanted if isinstance(wanted, str) and _ID.fullmatch(wanted) else new_id()
        if await self._is_stored(thread_id):  # whoever names somebody else's would hear it, and answer its questions
            raise NotFound(f"{thread_id} is no new thread.", next_step="Begin a new one.")
        record = ThreadRecord(thread_id, "", now, now, DEFAULT_AGENT, model, label=f"{EDITOR_LABEL}{self._name}")
        return await self._opened(self._made(record, folder, stored=False))

    async def _load(self, params: Mapping[str, Any]) -> Any:
        record = await self._own(str(params.get("thread")))
        folder = await folder_of(params.get("cwd"), self._desk.policy)
        kept = self._sessions.get(record.thread_id)
        if kept is not None and kept.prompting:
            raise KnownError("This thread is at work in this editor already.", code="editor.busy")
        if kept is not None:
            await self._let_go(kept)
        session = self._made(record, folder, stored=True)
        session.told = await self._folder_told(record.thread_id) == folder.path
        if params.get("replay", True):
            async for said in replayed(self._desk.chats, record.thread_id, session.calls):
                for update in said:
                    self._news.say(session, update)
                await self._guest.drained()
                await asyncio.sleep(0)  # where there is nothing to wait for, everything else gets its turn
        return await self._opened(session)

    async def _again(self, params: Mapping[str, Any]) -> Any:
        """A thread that the editor had open with another process: it may be that nothing was said in it yet."""
        try:
            return await self._load({**params, "replay": False})
        except NotFound:
            if await self._is_stored(str(params.get("thread"))):
                raise
            return await self._open(params)

    async def _is_stored(self, thread_id: str) -> bool:
        with contextlib.suppress(NotFound):
            await self._desk.chats.thread(thread_id)
            return True
        return False

    def _made(self, record: ThreadRecord, folder: EditorFolder, *, stored: bool) -> EditorSession:
        if len(self._sessions) >= SESSIONS:
            raise KnownError(f"The editor has {SESSIONS} threads open; close one first.", code="editor.full")
        desk, thread_id = self._desk, record.thread_id
        around = Surroundings(
            desk.spec, lambda: self._begins_in(thread_id), desk.mask, lambda: self._title_of(thread_id)
        )
        session = self._sessions[thread_id] = EditorSession(record, folder, EditorCalls(around), stored=stored)
        session.release = desk.claim(thread_id, self._ask)
        return session

    async def _opened(self, session: EditorSession) -> Any:
        """What the editor is told of a thread that it has open; what takes long to find out is told later."""
        await self._places.settle(session)
        self._news.seek_models()
        commands = await self._desk.commands()
        return {
            "thread": session.record.thread_id,
            "title": session.record.title,
            "options": options.options_of(self._desk, session.record, self._news.models),
            "modes": list(options.MODES),
            "mode": options.ASK_MODE,
            "commands": [one._asdict() for one in commands],
            "warning": session.folder.warning,
        }

    async def _own(self, thread_id: str) -> ThreadRecord:
        """A thread that an editor made. Others are not for editors. Raises NotFound."""
        with contextlib.suppress(NotFound):
            record = await self._desk.chats.thread(thread_id)
            if record.editor and record.deleted_at is None:
                return record
        raise NotFound(f"There is no thread {thread_id!r:.60} of an editor.", next_step="Begin a new one.")

    async def _list(self, params: Mapping[str, Any]) -> Any:
        cwd, after = params.get("cwd"), params.get("cursor")
        start = int(after) if isinstance(after, str) and after.isascii() and after.isdigit() and len(after) < 9 else 0
        if after and not start:
            raise KnownError("The list has no such page.", code="editor.cursor")
        threads = [thread for thread in await self._desk.chats.threads() if thread.editor]
        threads.sort(key=lambda thread: thread.updated_at, reverse=True)
        kept = await self._desk.state.everything()
        rows = [(thread, _folder(kept.get(_key(thread.thread_id)))) for thread in threads]
        rows = [(thread, folder) for thread, folder in rows if folder and cwd in (None, folder)]
        page = rows[start : start + PAGE]
        return {
            "threads": [_row(thread, folder) for thread, folder in page],
            "next": str(start + PAGE) if len(rows) > start + PAGE else None,
        }

    async def _close(self, params: Mapping[str, Any]) -> Any:
        session = self._session(params)
        if session.working:
            await self._stop(params)
        await self._let_go(session)
        return {}

    async def _let_go(self, session: EditorSession) -> None:
        """The editor has the thread open no longer."""
        self._sessions.pop(session.record.thread_id, None)
        session.release()
        if session.working and not self._desk.is_attended():
            await self._desk.chats.interrupt(session.record.thread_id)

    def _session(self, params: Mapping[str, Any]) -> EditorSession:
        session = self._sessions.get(str(params.get("thread")))
        if session is None:
            raise NotFound(
                f"This editor has no thread {str(params.get('thread'))!r:.60} open.", next_step="Open it first."
            )
        return session

    # -- a prompt -----------------------------------------------------------------------------------------------------

    async def _prompt(self, params: Mapping[str, Any]) -> Any:
        session = self._session(params)
        thread_id = session.record.thread_id
        if session.prompting:
            raise _busy()
        session.prompting, session.stopping, session.end, session.closed = True, False, None, None
        try:
            if not session.resting and not await self._desk.chats.wait(thread_id, MOMENT):
                raise _busy()  # somebody has said something in the window
            said = await opened_prompt(self._desk.pictures, params.get("blocks"))
            await self._places.ask(session)
            if session.stopping:
                return {"stop": "cancelled"}
            await self._store(session)
            folder = await self._folder(session)
            if session.stopping:  # from here on there is a run, which a stop finds
                return {"stop": "cancelled"}
            return await self._answered(session, said.text, (*said.blocks, *folder))
        finally:
            session.prompting = False

    async def _answered(self, session: EditorSession, text: str, blocks: tuple[Block, ...]) -> Any:
        """Say it, and wait for the end of the answer; a persistent agent has answered when it waits again."""
        chats, thread_id = self._desk.chats, session.record.thread_id
        if session.folder.warning and not session.warned:
            session.warned = True
            self._news.say(session, {"kind": "text", "message": "", "text": quoted((session.folder.warning,))})
        was_resting, session.resting, session.working = session.resting, False, True
        sent = await chats.send(thread_id, text, blocks)
        session.mine.add(sent.message_id)
        if not (sent.run_id or was_resting) and await chats.remove_queued(thread_id, sent.queue_id):
            raise _busy()
        while not session.resting and not await chats.wait(thread_id, LOOK):
            pass
        await self._news.told()
        if session.resting and session.end is None:
            return {"stop": "end_turn"}
        session.working = False
        return answer_of(session.end, session.closed)

    async def _store(self, session: EditorSession) -> None:
        """The thread itself, with the first message: an editor opens many that nothing is ever said in."""
        project, record = session.folder.project, session.record
        if session.stored:
            if project and not record.project:
                await self._desk.projects.place(record.thread_id, project)
                session.record = replace(record, project=project)
            return
        made = await self._desk.chats.create_thread(
            agent=record.agent, model=record.model, thread_id=record.thread_id, project=project
        )
        await self._desk.threads.set_label(thread_id=made.thread_id, label=record.label)
        await self._desk.state.put(key=_key(made.thread_id), value={"cwd": session.folder.path})
        session.record, session.stored = replace(made, label=record.label), True

    async def _folder(self, session: EditorSession) -> tuple[Block, ...]:
        """What the agent is told of the editor's folder, once."""
        if session.told:
            return ()
        session.told = True
        await self._desk.state.put(key=_key(session.record.thread_id), value={"cwd": session.folder.path})
        return (session.folder.told(self._desk.workspace()),)

    async def _folder_told(self, thread_id: str) -> str:
        return _folder(await self._desk.state.get(key=_key(thread_id)))

    async def _stop(self, params: Mapping[str, Any]) -> Any:
        session = self._session(params)
        session.stopping = session.prompting
        if session.question is not None:
            session.question.cancel()
        return {"stopped": await self._desk.chats.stop(session.record.thread_id)}

    # -- choices ------------------------------------------------------------------------------------------------------

    async def _choose(self, params: Mapping[str, Any]) -> Any:
        session = self._session(params)
        option, value = str(params.get("option")), str(params.get("value"))
        if option == "mode":
            if value != options.ASK_MODE:
                raise KnownError(f"There is no mode {value!r:.40}.", code="editor.mode")
        elif session.stored:
            await options.choose(self._desk, session.record.thread_id, option, value)
            session.record = await self._desk.chats.thread(session.record.thread_id)
        else:
            options.check(self._desk, option, value)
            is_agent, record = option == options.AGENT, session.record
            session.record = replace(record, agent=value) if is_agent else replace(record, model=value)
        return {"options": options.options_of(self._desk, session.record, self._news.models)}

    def _begins_in(self, thread_id: str) -> str:
        """Where relative paths of a thread begin."""
        session = self._sessions.get(thread_id)
        return (session.folder.project if session is not None else "") or self._desk.workspace()

    def _title_of(self, thread_id: str) -> str:
        session = self._sessions.get(thread_id)
        return (session.record.title if session is not None else "") or "New chat"

    # -- questions ----------------------------------------------------------------------------------------------------

    async def _ask(self, request: PermissionRequest) -> Decision | None:
        """Bring a request to the editor. None: it is not answered there."""
        session = self._sessions.get(request.seen_in)
        if session is None:
            return None
        if why := await asyncio.to_thread(not_for_editors, request):
            reason = f"{why}, and Assent’s window is not open"
            no = Decision("deny", request.digest, by="no_handler", reason=reason)
            return None if self._desk.is_attended() else no
        await self._news.told()  # the editor knows the call by then
        question = {
            "thread": session.record.thread_id,
            "call": session.calls.shown(request.thread_id, request.call_id),
            "digest": request.digest,
            "options": [one._asdict() for one in options_of(request)],
        }
        try:
            answer = await self._guest.call("ask", question)
        except KnownError as error:
            logger.info("a question could not be brought to an editor: %s", error.code)
            return None
        option = answer.get("option") if isinstance(answer, Mapping) else None
        return replace(decision_of(request, option), via=self._name)


def _busy() -> KnownError:
    return KnownError(BUSY, next_step="Wait until it is done, or stop it.", code="editor.busy")


def _folder(kept: Any) -> str:
    return str(kept.get("cwd", "")) if isinstance(kept, Mapping) else ""


def _key(thread_id: str) -> str:
    return f"editor:{thread_id}"


def _row(thread: ThreadRecord, folder: str) -> dict[str, Any]:
    return {"thread": thread.thread_id, "title": thread.title, "cwd": folder, "at": moment(thread.updated_at)}
