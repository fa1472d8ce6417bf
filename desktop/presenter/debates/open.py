"""The open debate as the page shows it: read from the store, then kept up to date by the runtime's events."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.domain.debates import DebateState, TurnRecord
from desktop.domain.definitions import SIDES, SideName
from desktop.domain.runs.events import (
    DebateChanged,
    Event,
    RunEnded,
    SideTurnEnded,
    SideTurnStarted,
    UserMessageDelivered,
)
from desktop.domain.threads import MessageRecord
from desktop.presenter.debates.items import (
    END,
    VERDICT,
    TurnItem,
    debate_items,
    end_item,
    interrupted_item,
    message_item,
    owners,
    resumed_item,
    verdict_item,
)
from desktop.presenter.debates.live import LiveTurns
from desktop.presenter.debates.words import label_of
from desktop.presenter.transcript.items import TranscriptItem

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.debates.service import DebateService

ReadPath = Callable[[str, str | None, int], Awaitable[Sequence[MessageRecord]]]
"""(thread, before message id or None, how many) -> messages of its path, across forks, the oldest first."""

FIRST, PAGE = 24, 4_000
"""Messages read before anything is shown, and then at once."""


class OpenDebate(QObject):
    """Shows one debate; each half of a comparison is one, too. What a person does with it is in ``debates``."""

    opened = Signal(str)
    state_changed = Signal(object)
    items_reset = Signal(object)
    items_prepended = Signal(object)
    item_added = Signal(object)
    item_changed = Signal(object)
    text_appended = Signal(str, str, str)
    loaded = Signal()

    def __init__(self, service: DebateService, path: ReadPath, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._service, self._path, self._bridge = service, path, bridge
        self.thread_id = ""
        self.state: DebateState | None = None
        self.turns: list[TurnRecord] = []
        self.items: dict[str, TranscriptItem] = {}
        self._owners: dict[str, str] = {}
        self._lives: dict[str, LiveTurns] = {}
        self._cut: Sequence[MessageRecord] = ()
        """The turn that the end of the app cut off, until it goes on."""
        self._opening = 0
        self._early: list[Event] | None = None
        bridge.events.connect(self.take)

    # -- opening ------------------------------------------------------------------------------------------------------

    def open(self, thread_id: str) -> None:
        """Show a debate: its last screen first."""
        self._opening += 1
        self.thread_id, self.state, self.turns, self._cut = thread_id, None, [], ()
        self.items, self._owners = {}, {}
        self._early = [] if thread_id else None
        if thread_id:
            self._bridge.spawn(self._open(thread_id, self._opening), name="open debate")

    async def _open(self, thread_id: str, opening: int) -> None:
        state, turns = await self._service.state(thread_id), await self._service.turns(thread_id)
        last = list(await self._path(thread_id, None, FIRST))
        cut = await self._service.interrupted_turn(thread_id)
        if opening != self._opening:
            return
        self.state, self.turns, self._cut = state, list(turns), cut
        whole = len(last) < FIRST
        held, ready = ([], last) if whole else _cut(last, self.turns)
        labels = self._labels()
        shown = debate_items(ready, self.turns, labels, first=whole)
        if self._cut:
            shown.append(interrupted_item(self._cut, labels, len(turns) + 1))
        self.items = {item.message_id: item for item in (*shown, *self._live.items())}
        self._owners = owners(ready, self.turns)
        self._put_ends()
        self.opened.emit(thread_id)
        self.state_changed.emit(state)
        self.items_reset.emit(tuple(self.items.values()))
        while not whole:
            older = list(await self._path(thread_id, (held or ready)[0].message_id, PAGE))
            whole = len(older) < PAGE
            held, ready = ([], older + held) if whole else _cut(older + held, self.turns)
            made = await asyncio.to_thread(debate_items, ready, self.turns, labels, first=whole)
            if opening != self._opening:
                return
            self.items = {**{item.message_id: item for item in made}, **self.items}
            self._owners.update(owners(ready, self.turns))
            self.items_prepended.emit(tuple(made))
        early, self._early = self._early or [], None
        self.take(tuple(early))
        self.loaded.emit()

    def item_of(self, message_id: str) -> str:
        """The id of the item that shows a message, as far as it is read; "" for none."""
        owner = self._owners.get(message_id, message_id)
        return owner if owner in self.items else ""

    def _labels(self) -> dict[SideName, str]:
        setup = self.state.setup if self.state else None
        return {side: label_of(setup.side(side), side) if setup else "" for side in SIDES}

    # -- events -------------------------------------------------------------------------------------------------------

    def take(self, events: tuple[Event, ...]) -> None:
        """What happens while it is open; each turn is drawn once a batch."""
        anew: dict[str, TranscriptItem] = {}
        for event in events:
            if event.thread_id != self.thread_id:
                self._aside(event)
            elif self._early is not None:
                self._early.append(event)
            elif isinstance(event, DebateChanged):
                self._changed(event.state)
            elif isinstance(event, SideTurnStarted):
                self._begin(event)
                self._resumed(anew)
            elif isinstance(event, SideTurnEnded):
                self._turn_over(event.record, anew)
            elif isinstance(event, UserMessageDelivered):
                self._bridge.spawn(self._said(event.message_id), name="show moderator")
            elif isinstance(event, RunEnded):
                anew.update((item.message_id, item) for item in self._live.break_off(event))
            else:
                self._answer(event, anew)
        for item in anew.values():
            self._put(item)

    @property
    def _live(self) -> LiveTurns:
        return self._lives.get(self.thread_id) or LiveTurns()

    def _begin(self, event: SideTurnStarted) -> None:
        setup = self.state.setup if self.state and self.state.thread_id == event.thread_id else None
        limit = setup.side(event.side).max_rounds or 0 if setup else 0
        self._lives.setdefault(event.thread_id, LiveTurns()).begin(event, limit)

    def _resumed(self, anew: dict[str, TranscriptItem]) -> None:
        cut, self._cut = self._cut, ()
        item = self.items.get(cut[0].message_id) if cut else None
        if isinstance(item, TurnItem):
            anew[item.message_id] = resumed_item(item, cut)

    def _aside(self, event: Event) -> None:
        """Take an event of a debate that is not shown, so that its turn is complete when it is opened in the middle."""
        live = self._lives.get(event.thread_id)
        if isinstance(event, SideTurnStarted):
            self._begin(event)
        elif live is not None and isinstance(event, RunEnded):
            del self._lives[event.thread_id]
        elif live is not None and isinstance(event, SideTurnEnded):
            live.end(event.record)
        elif live is not None:
            live.apply(event)

    def _answer(self, event: Event, anew: dict[str, TranscriptItem]) -> None:
        turn, delta = self._live.apply(event)
        if turn is None:
            return
        message_id = turn.answer.message_id
        if delta is not None and message_id in self.items and message_id not in anew:
            self.text_appended.emit(message_id, delta.part_id, delta.text)
        else:
            anew[message_id] = turn.item()

    def _turn_over(self, record: TurnRecord, anew: dict[str, TranscriptItem]) -> None:
        if all(known.number != record.number for known in self.turns):
            self.turns.append(record)
        item = self._live.end(record)
        if item is not None and item.message_id == record.first_message_id:
            anew[item.message_id] = item
        elif item is not None or record.first_message_id not in self.items:  # it began in an earlier start
            self.open(self.thread_id)

    def _put(self, item: TranscriptItem) -> None:
        if not item.message_id:
            return
        known = item.message_id in self.items
        self.items[item.message_id] = item
        (self.item_changed if known else self.item_added).emit(item)

    async def _said(self, message_id: str) -> None:
        """A moderator's message was read by the sides: it stands before the turn that follows it."""
        thread_id = self.thread_id
        found = next((m for m in await self._path(thread_id, None, FIRST) if m.message_id == message_id), None)
        if found is None or thread_id != self.thread_id or message_id in self.items:
            return
        live = {item.message_id: item for item in self._live.items()}
        if any(key in self.items for key in live):
            kept = {key: item for key, item in self.items.items() if key not in live}
            self.items = {**kept, message_id: message_item(found, topic=False), **live}
            self.items_reset.emit(tuple(self.items.values()))
        else:
            self._put(message_item(found, topic=False))

    def _changed(self, state: DebateState) -> None:
        before = self.state
        self.state = state
        self._live.limit({side: meter.round_limit for side, meter in state.meters.items()})
        if self._put_ends() or (before is not None and before.verdict != state.verdict):
            self.items_reset.emit(tuple(self.items.values()))
        self.state_changed.emit(state)

    def _put_ends(self) -> bool:
        """The end and the verdict stand below everything; whether they came or went."""
        state = self.state
        before = [key for key in (END, VERDICT) if key in self.items]
        for key in before:
            del self.items[key]
        if state is None:
            return bool(before)
        if state.status == "ended" or (state.status == "paused" and state.end_reason):
            self.items[END] = end_item(state)
        if state.verdict is not None:
            self.items[VERDICT] = verdict_item(state, state.verdict)
        return before != [key for key in (END, VERDICT) if key in self.items]


def _cut(messages: list[MessageRecord], turns: Sequence[TurnRecord]) -> tuple[list[MessageRecord], list[MessageRecord]]:
    """(what may belong to a turn that begins earlier, the rest)."""
    begins = {turn.first_message_id for turn in turns}
    at = next((i for i, m in enumerate(messages) if m.role == "user" or m.message_id in begins), len(messages))
    return messages[:at], messages[at:]
