"""The open thread as the chat page shows it: loaded in pages, then kept up to date by the runtime's events.

What a person does with it is in ``chat``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.approval.thread_modes import ThreadMode
from desktop.domain.runs.events import (
    Event,
    RunEnded,
    RunStarted,
    ThreadChanged,
    UserMessageDelivered,
    UserMessageQueued,
)
from desktop.domain.threads import ThreadRecord
from desktop.presenter.chat.drafts import Drafts
from desktop.presenter.chat.header_state import meters_of, run_state_of
from desktop.presenter.chat.shown_items import ShownIds
from desktop.presenter.chat.state import Meters, RunState
from desktop.presenter.chat.thread_pages import pages, with_live
from desktop.presenter.chat.waiting_messages import WaitingMessages
from desktop.presenter.transcript.build import build_items
from desktop.presenter.transcript.items import TranscriptItem
from desktop.presenter.transcript.live_answer import Delta
from desktop.presenter.transcript.live_threads import LiveThreads

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.chats.service import ConversationService


def _read(
    service: ConversationService, thread_id: str, titles: Mapping[str, str], measured: Callable[[int], None], end: str
) -> AsyncIterator[tuple[TranscriptItem, ...]]:
    return pages(
        lambda before, limit: service.path(thread_id, before=before, limit=limit, end=end),
        service.sibling_places,
        titles,
        measured,
        lambda: service.thread_end(thread_id),
    )


class OpenThread(QObject):
    """The open thread as it is shown. ``""`` is a chat that has no thread yet: it is made by the first message."""

    opened = Signal(str)
    items_reset = Signal(object)
    items_prepended = Signal(object)
    item_added = Signal(object)
    item_changed = Signal(object)
    text_appended = Signal(str, str, str)
    meters_changed = Signal(object)
    state_changed = Signal(object)
    queue_changed = Signal(object)
    draft_loaded = Signal(str, object)
    edit_loaded = Signal(str, str)
    """The first with text and attachments, the second with the message that is said differently and its new text."""
    title_changed = Signal(str)
    project_changed = Signal(str)
    announced = Signal(str)
    loaded = Signal()

    def __init__(self, service: ConversationService, bridge: Bridge, board: LiveThreads) -> None:
        super().__init__()
        self._service, self._bridge, self._board = service, bridge, board
        self.drafts = Drafts(service, bridge, self)
        self._thread_id = self._live_id = self._awaited = ""
        self._record: ThreadRecord | None = None
        self._opening = 0
        self._showing: asyncio.Future[None] | None = None
        self._shown = ShownIds()
        self._held = self._estimate = self._measured = self._ends = 0
        self._redraw = False
        self._waiting = WaitingMessages(self.queue_changed.emit)
        self._chosen_agent, self._chosen_model = "assistant", ""
        self._chosen_project = ""
        self.chosen_mode: ThreadMode = "ask"
        self.model_titles: Callable[[str], tuple[str, int | None]] = lambda ref: (ref.partition("/")[2] or ref, None)
        self.token_scale: Callable[[str], float] = lambda _ref: 1.0
        board.answer_changed.connect(self._answer_changed)
        board.answer_grew.connect(self._answer_grew)
        board.state_changed.connect(self._board_changed)
        board.run_ended.connect(self._run_ended)
        board.answer_parted.connect(self._answer_parted)

    @property
    def thread_id(self) -> str:
        """The open thread, or "" for a chat without one."""
        return self._thread_id

    @property
    def title(self) -> str:
        """The thread's title, or what an untitled one is called."""
        return (self._record.title if self._record else "") or "New chat"

    @property
    def project(self) -> str:
        """The folder that the thread works in, or the one that was chosen for a chat that has no thread yet."""
        return self._record.project if self._record is not None else self._chosen_project

    @property
    def meters(self) -> Meters:
        """What the header shows."""
        live, known = self._board.state(self._thread_id), (self._measured, self._estimate)
        chosen = self._chosen_agent, self._chosen_model
        titles, scale = (self._board.titles, self.model_titles), self.token_scale
        return meters_of(self._record, live, *chosen, *titles, *known, scale)

    @property
    def run_state(self) -> RunState:
        """Whether the thread's run is working, waiting or stopping."""
        return run_state_of(self._board.state(self._thread_id), self.meters)

    # -- opening ----------------------------------------------------------------------------------------------------

    def open_thread(self, thread_id: str) -> None:
        """Show a thread: its last screen first, older messages as they are scrolled to."""
        self._opening += 1
        self._thread_id, self._record, self._chosen_project, self.chosen_mode = thread_id, None, "", "ask"
        self._waiting.clear()
        self._live_id, self._awaited, self._redraw = "", "", False
        self._showing = self._spawn(self._open(thread_id, self._opening), "open thread")

    def new_thread(self) -> None:
        """Show an empty chat; nothing is stored before its first message."""
        self.open_thread("")

    async def _open(self, thread_id: str, opening: int) -> None:
        draft, edit = await self.drafts.draft(thread_id), await self.drafts.edit(thread_id)
        record = await self._service.thread(thread_id) if thread_id else None
        measured = await self._service.context_used(thread_id, record.active_leaf) if record else 0
        if opening != self._opening:
            return
        self._record, self._measured, self._estimate = record, measured or 0, 0
        self.opened.emit(thread_id)
        self.draft_loaded.emit(draft.text, draft.attachments)
        if edit.message_id:
            self.edit_loaded.emit(edit.message_id, edit.text)
        await asyncio.sleep(0)
        if opening != self._opening:
            return
        self._reset(()) if not thread_id else await self._load(thread_id, opening)
        if opening == self._opening:
            self._tell_all()
            self.loaded.emit()

    async def _load(self, thread_id: str, opening: int) -> None:
        """Load all pages. A run that ends meanwhile makes it read again: what was read of it may be half of its
        answer."""
        ends = -1
        while ends != self._ends and opening == self._opening:
            ends, self._live_id = self._ends, ""
            await self._load_pages(thread_id, opening)

    async def _load_pages(self, thread_id: str, opening: int) -> None:
        first, self._estimate = True, 0
        live = self._board.state(thread_id)
        end = live.answer.continues if live.running and live.answer is not None else ""
        async for page in _read(self._service, thread_id, self._board.titles, self._measure, end):
            if opening != self._opening:
                return
            if first:
                self._reset(self._with_live(page, end))
                await asyncio.sleep(0)  # the window has its turn: all of it at once is long where it is the first
                if opening != self._opening:
                    return
                self._tell_all()
            else:
                self._shown.update(item.message_id for item in page)
                self.items_prepended.emit(page)
            first = False
        await self._load_queue(thread_id, opening)

    def _measure(self, tokens: int) -> None:
        self._estimate += tokens

    def _reset(self, items: tuple[TranscriptItem, ...]) -> None:
        self._shown.reset(items)
        self.items_reset.emit(items)

    def _with_live(self, items: tuple[TranscriptItem, ...], end: str) -> tuple[TranscriptItem, ...]:
        state = self._board.state(self._thread_id)
        answer = state.answer
        if not state.running or answer is None:
            return items
        if end and end == answer.continues:
            answer.go_on_from(items[-1])
        if answer.continues or not answer.message_id:
            return items
        self._live_id = answer.message_id
        return with_live(items, answer.item(), answer.parent_id)

    async def _load_queue(self, thread_id: str, opening: int) -> None:
        queue = await self._service.queued(thread_id), await self._service.held(thread_id)
        if opening == self._opening:
            self._waiting.show(*queue)

    async def _reload(self) -> None:
        """Draw the active path anew: after an edit, on another branch."""
        self._opening += 1
        opening, thread_id = self._opening, self._thread_id
        if thread_id:
            self._record = await self._service.thread(thread_id)
            await self._load(thread_id, opening)
        if opening == self._opening:
            self._tell_all()

    def _tell_all(self) -> None:
        self.title_changed.emit(self.title)
        self.project_changed.emit(self.project)
        self._tell_meters()

    def _tell_meters(self) -> None:
        self.meters_changed.emit(self.meters)
        self.state_changed.emit(self.run_state)

    # -- events -----------------------------------------------------------------------------------------------------

    def take(self, events: tuple[Event, ...]) -> None:
        """Events beside the answer; connected before the board's, so that no answer shows before its question."""
        for event in events:
            if event.thread_id != self._thread_id:
                continue
            if isinstance(event, ThreadChanged) and event.what in ("title", "model", "agent", "project"):
                self._spawn(self._look_at_record(event.thread_id), "thread changed")
            elif isinstance(event, ThreadChanged) and event.what == "results" and not self._held:
                self._spawn(self._redrawn(), "show results")
            elif isinstance(event, UserMessageQueued):
                self._waiting.add(event.queue_id, event.text)
            elif isinstance(event, UserMessageDelivered):
                self._waiting.drop(event.queue_id)
                self._await_question(event.message_id)
            elif isinstance(event, RunStarted) and event.user_message_id and event.user_message_id not in self._shown:
                self._await_question(event.user_message_id)

    def _await_question(self, message_id: str) -> None:
        if not self._held:
            self._awaited = message_id
            self._spawn(self._show_question(message_id), "show message")

    async def _look_at_record(self, thread_id: str) -> None:
        record = await self._service.thread(thread_id)
        if thread_id == self._thread_id:
            self._record = record
            self._tell_all()

    async def _show_question(self, message_id: str) -> None:
        record = await self._service.message(message_id)
        places = await self._service.sibling_places([message_id])
        if record is None or record.thread_id != self._thread_id or message_id in self._shown:
            return
        self._waiting.drop_text(record.text)
        self._shown.add(message_id)
        if (passed := self._shown.gone_by()) is not None:
            self.item_changed.emit(passed)
        self.item_added.emit(build_items([record], places)[0])
        self._awaited, self._redraw = "", False
        self._answer_changed(self._thread_id)

    def _answer_changed(self, thread_id: str) -> None:
        answer = self._board.state(thread_id).answer
        if thread_id != self._thread_id or answer is None or self._awaited or self._held:
            return
        if not answer.message_id and not answer.continues:
            return
        if answer.continues or (self._redraw and answer.message_id not in self._shown):
            # It goes on with one that is shown, or hangs below another message than the last one: a repeated one.
            self._spawn(self._redrawn(), "redraw")
            return
        self._live_id = answer.message_id
        self._put(answer.item())

    async def _redrawn(self) -> None:
        self._redraw = False
        self._held += 1
        try:
            await self._reload()
        finally:
            self._held -= 1
        if self._board.state(self._thread_id).running:
            self._answer_changed(self._thread_id)

    def _answer_parted(self, thread_id: str, item: TranscriptItem) -> None:
        if thread_id == self._thread_id and not self._held:
            self._live_id = ""
            self._put(item)

    def _put(self, item: TranscriptItem) -> None:
        if item.message_id not in self._shown and (passed := self._shown.gone_by(answered=True)) is not None:
            self.item_changed.emit(passed)
        (self.item_changed if self._shown.put(item) else self.item_added).emit(item)

    def _answer_grew(self, thread_id: str, delta: Delta) -> None:
        if thread_id == self._thread_id and self._live_id and not self._held:
            self.text_appended.emit(self._live_id, delta.part_id, delta.text)

    def _board_changed(self, thread_id: str) -> None:
        self._tell_meters() if thread_id == self._thread_id else None

    def _run_ended(self, thread_id: str, event: RunEnded) -> None:
        if thread_id == self._thread_id:
            self._ends += 1
            self._spawn(self._after_run(thread_id), "refresh thread")

    async def _after_run(self, thread_id: str) -> None:
        record = await self._service.thread(thread_id)
        answer = self._board.state(thread_id).answer
        if answer is not None and answer.message_id in self._shown:
            places = await self._service.sibling_places([answer.message_id])
            answer.place = places.get(answer.message_id, (1, 1))
            self._answer_changed(thread_id)
        if thread_id == self._thread_id:
            self._record = record
            await self._load_queue(thread_id, self._opening)
            self._tell_all()

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Future[None]:
        return self._bridge.spawn(work, name=name)
