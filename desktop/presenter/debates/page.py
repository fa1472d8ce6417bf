"""The Debates page: the list, and everything a person does with the open debate."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QObject, Signal

from desktop.domain.debates import MAX_TURNS, DebateRow, DebateSetup, DebateState
from desktop.domain.definitions import SideName
from desktop.domain.errors import AssentError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ChatMessage, to_plain
from desktop.domain.runs.events import DebateChanged, Event, RunEnded, RunStarted, ThreadChanged
from desktop.domain.threads import ThreadRecord
from desktop.presenter.approvals.inbox import ApprovalsViewModel
from desktop.presenter.chat.thread_lines import arrange
from desktop.presenter.chat.threads import ThreadListModel
from desktop.presenter.common.exporting import write_bytes
from desktop.presenter.debates.open import OpenDebate, ReadPath
from desktop.presenter.debates.setup import DebateSetupViewModel
from desktop.presenter.debates.words import fork_words
from desktop.presenter.fences.shown import FencesViewModel
from desktop.presenter.run_panel.panel import RunTreeViewModel
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.presenter.transcript.live_threads import LiveThreads

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.debates.service import DebateService

MORE_TURNS = 4
"""Turns that "Continue with more turns" adds: two a side."""


@dataclass(frozen=True, slots=True)
class DebateModels:
    """What the page needs, as one bundle that ``app`` wires."""

    debates: DebatesViewModel
    setup: DebateSetupViewModel
    approvals: ApprovalsViewModel
    models: ModelSetupViewModel
    run_tree: RunTreeViewModel
    fences: FencesViewModel | None = None


class DebatesViewModel(QObject):
    """``open`` is the debate on the screen; ``beside`` the one that it is compared with."""

    rearranged = Signal()
    deleted = Signal(str, str)
    said = Signal(str)
    side_read = Signal(str, str, object)
    """side, its system text, its messages"""
    forked = Signal(str, str)
    """origin, fork"""
    open_wanted = Signal(str)

    def __init__(self, service: DebateService, path: ReadPath, bridge: Bridge, board: LiveThreads) -> None:
        super().__init__()
        self._service, self._bridge = service, bridge
        self.open = OpenDebate(service, path, bridge, self)
        self.beside = OpenDebate(service, path, bridge, self)
        self._model = ThreadListModel(board, self)
        self.rows: dict[str, DebateRow] = {}
        self._gone: set[str] = set()
        self._reading = self._again = False
        self._wanted = ""
        self._hits: dict[str, str] = {}
        self._searched = 0
        bridge.events.connect(self._take)

    # -- the list -----------------------------------------------------------------------------------------------------

    def model(self) -> ThreadListModel:
        """The rows for the view."""
        return self._model

    def refresh(self) -> None:
        """Read the list; one reading at a time."""
        self._again = self._reading
        if not self._reading:
            self._reading = True
            self._bridge.spawn(self._refresh(), name="read debates")

    async def _refresh(self) -> None:
        try:
            rows = await self._service.debates()
        finally:
            self._reading = False
        self.rows = {row.thread_id: row for row in rows if row.thread_id not in self._gone}
        self.filter(self._wanted)
        if self._again:
            self.refresh()

    def search(self, text: str) -> None:
        """Only debates with these words in their title, at once, or in what was said, as soon as that is known."""
        self._searched += 1
        number = self._searched
        if not text.strip():
            self._hits = {}
        self.filter(text)

        async def work() -> None:
            hits = await self._service.search(text)
            if number == self._searched:
                self._hits = {hit.thread_id: hit.message_id for hit in reversed(hits)}
                self.filter(text)

        if text.strip():
            self._do(work(), "search debates")

    def hit(self, thread_id: str) -> str:
        """The newest message of a debate that the search found, or ""."""
        return self._hits.get(thread_id, "")

    def filter(self, text: str) -> None:
        """Show only debates that have these words."""
        self._wanted = text
        words = text.casefold().split()
        kept = [
            row
            for row in self.rows.values()
            if row.thread_id in self._hits or all(word in row.title.casefold() for word in words)
        ]
        notes = {row.thread_id: fork_words(row) for row in kept}
        shown = arrange([_record(row) for row in kept])
        still = {row.thread_id for row in kept if row.status == "paused"}
        self._model.show(
            [
                replace(row, note=notes.get(row.thread_id, ""), state="paused" if row.thread_id in still else "")
                for row in shown
            ]
        )
        self.rearranged.emit()

    def _take(self, events: tuple[Event, ...]) -> None:
        kinds = (RunStarted, RunEnded, ThreadChanged)
        known = {*self.rows, self.open.thread_id}
        if any((isinstance(e, kinds) and e.thread_id in known) or _new(e, known) for e in events):
            self.refresh()

    def rename(self, thread_id: str, title: str) -> None:
        """Set the title that a person chose."""
        clean = " ".join(title.split())[:200]
        if clean:
            self._do(self._renamed(thread_id, clean), "rename debate")

    async def _renamed(self, thread_id: str, title: str) -> None:
        await self._service.rename(thread_id, title)
        self.refresh()
        if thread_id == self.open.thread_id:
            self.open.take((await self._state_event(thread_id),))

    async def _state_event(self, thread_id: str) -> DebateChanged:
        return DebateChanged(thread_id=thread_id, run_id="", state=await self._service.state(thread_id))

    def delete(self, thread_id: str) -> None:
        """Out of the list at once; ``undo_delete`` brings it back until the app is closed."""
        row = self.rows.pop(thread_id, None)
        if row is not None:
            self._gone.add(thread_id)
            self.filter(self._wanted)
            self._do(self._service.delete(thread_id), "delete debate")
            self.deleted.emit(thread_id, row.title)

    def undo_delete(self, thread_id: str) -> None:
        """Undo a deletion."""
        self._gone.discard(thread_id)

        async def work() -> None:
            await self._service.restore(thread_id)
            self.refresh()

        self._do(work(), "undo delete")

    # -- the open debate ----------------------------------------------------------------------------------------------

    @property
    def state(self) -> DebateState | None:
        """The state of the open debate, once it is read."""
        return self.open.state

    def go_on(self) -> None:
        """Begin the debate, or go on with it."""
        self._with(self._service.start, "start debate")

    def pause(self) -> None:
        """Pause after the turn under way."""
        self._with(self._service.pause, "pause debate")

    def step(self) -> None:
        """Run one turn, then pause."""
        self._with(self._service.step, "step debate")

    def stop(self) -> None:
        """Stop the debate at once, in the middle of a turn."""
        self._with(self._service.stop, "stop debate")

    def speak(self, text: str) -> None:
        """To both sides, before the next turn (R-SES-23)."""
        clean, thread_id = text.strip(), self.open.thread_id
        if clean and thread_id:
            self._do(self._service.speak(thread_id, clean), "speak as moderator")

    def take_back(self, text: str) -> None:
        """Take a waiting message of the moderator back."""
        thread_id = self.open.thread_id

        async def work() -> None:
            if not await self._service.take_back(thread_id, text):
                self.said.emit("Too late: the sides have read it.")

        self._do(work(), "take back")

    def more_turns(self) -> None:
        """Let one that had all its turns, or used up what it may, go on for some more."""
        state = self.state
        if state is None:
            return
        setup, spent = state.setup, state.end_reason == "budget"
        turns = min(max(setup.turn_limit, state.turn) + MORE_TURNS, MAX_TURNS)
        cost = setup.max_cost * 2 if spent and setup.max_cost else None
        tokens = setup.max_tokens * 2 if spent and setup.max_tokens else None

        async def work() -> None:
            await self._service.extend(state.thread_id, max_turns=turns, max_cost=cost, max_tokens=tokens)
            await self._service.start(state.thread_id)

        self._do(work(), "continue debate")

    def judge(self, model: str) -> None:
        """Ask a judge; the verdict comes with the state."""
        thread_id = self.open.thread_id

        async def work() -> None:
            await self._service.judge(thread_id, model)
            self.open.take((await self._state_event(thread_id),))

        self._do(work(), "judge debate")

    def read_side(self, side: SideName) -> None:
        """Read the messages as a side sees them; ``side_read`` hands them over."""
        thread_id = self.open.thread_id

        async def work() -> None:
            system, messages = await self._service.as_side(thread_id, side)
            if thread_id == self.open.thread_id:
                self.side_read.emit(side, system, tuple(messages))

        if thread_id:
            self._do(work(), "read as side")

    def fork(self, turn: int, setup: DebateSetup) -> None:
        """Fork the debate after a turn; then both are shown side by side."""
        origin = self.open.thread_id

        async def work() -> None:
            made = await self._service.fork(origin, turn, setup)
            self.refresh()
            self.forked.emit(origin, made)

        self._do(work(), "fork debate")

    def save_file(self, path: str, make: Callable[[], bytes], *, then: Callable[[], None] = lambda: None) -> None:
        """Write what a tool gave where the person chose: whole or not at all. ``make`` is called in a thread, ``then``
        once it is on the disk."""

        async def work() -> None:
            await self._bridge.in_thread(write_bytes, path, make)
            then()

        self._do(work(), "save a file")

    def export(self, path: str, form: Literal["md", "html", "json"]) -> None:
        """Write the debate into the file that the person chose."""
        thread_id = self.open.thread_id

        async def work() -> None:
            await self._service.export(thread_id, Path(path), form)
            self.said.emit("Exported.")

        self._do(work(), "export debate")

    # -- inside -------------------------------------------------------------------------------------------------------

    def _with(self, act: Any, name: str) -> None:
        if self.open.thread_id:
            self._do(act(self.open.thread_id), name)

    def _do(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        self._bridge.spawn(work, name=name, on_error=self._failed)

    def _failed(self, error: AssentError) -> None:
        self.said.emit(error.advice)


def _record(row: DebateRow) -> ThreadRecord:
    return ThreadRecord(row.thread_id, row.title or "Untitled debate", row.updated_at, row.updated_at)


def _new(event: Event, known: set[str]) -> bool:
    return isinstance(event, DebateChanged) and event.thread_id not in known


def side_text(system: str, messages: Sequence[ChatMessage]) -> str:
    """Everything a side sees, as JSON for the clipboard."""
    whole: list[dict[str, Any]] = [{"role": "system", "content": system}]
    whole += [{"role": message.role, "content": [to_plain(b) for b in message.blocks]} for message in messages]
    return json.dumps(whole, indent=2, ensure_ascii=False, default=str)
