"""The turns of an open debate that are under way, kept up to date from the runtime's events."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from desktop.domain.debates import TurnRecord
from desktop.domain.definitions import SideName
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.events import Event, MessageOpened, SideTurnStarted
from desktop.presenter.debates.items import BROKEN, TurnItem, ended_item, live_item
from desktop.presenter.transcript.items import NoticePart
from desktop.presenter.transcript.live_answer import Delta, LiveAnswer


@dataclass(slots=True)
class LiveTurn:
    """A turn that is being written."""

    answer: LiveAnswer
    number: int
    started_at: float
    rounds: int = 1
    limit: int = 0

    def item(self) -> TurnItem:
        """The turn as far as it is written."""
        return live_item(self.answer.item(), self.number, self.rounds, self.limit, self.started_at)


class LiveTurns:
    """The turns being written, at most one a side."""

    def __init__(self) -> None:
        self._turns: dict[str, LiveTurn] = {}
        self._sides: dict[str, str] = {}

    def clear(self) -> None:
        """Forget all turns, because another debate is shown."""
        self._turns.clear()
        self._sides.clear()

    def begin(self, event: SideTurnStarted, limit: int) -> None:
        """A side turn began."""
        answer = LiveAnswer(event.label, event.model, event.side)
        self._turns[event.side] = LiveTurn(answer, event.number, time.time(), 1, limit)

    def limit(self, rounds: Mapping[SideName, int]) -> None:
        """How many rounds a turn of each side may have, as the runtime says."""
        for side, turn in self._turns.items():
            turn.limit = rounds.get("b" if side == "b" else "a", 0) or turn.limit

    def apply(self, event: Event) -> tuple[LiveTurn | None, Delta | None]:
        """(the turn that changed, the delta to append: else draw it anew)."""
        if isinstance(event, MessageOpened):
            self._sides[event.message_id] = event.side
            turn = self._turns.get(event.side)
            if turn is not None:
                turn.rounds = max(turn.rounds, event.round_number)
        side = self._sides.get(getattr(event, "message_id", ""))
        turn = self._turns.get(side) if side else None
        if turn is None:
            return None, None
        changed, how = turn.answer.apply(event)
        return (turn if changed else None), how

    def end(self, record: TurnRecord) -> TurnItem | None:
        """A turn is stored: its last item; None for one whose beginning was not seen."""
        turn = self._turns.pop(record.side, None)
        if turn is None or not turn.answer.message_id:
            return None
        turn.answer.ended = True
        return ended_item(turn.item(), record)

    def break_off(self, event: Event) -> list[TurnItem]:
        """The run is over: turns that were not stored broke off."""
        broken = []
        for turn in self._turns.values():
            turn.answer.apply(event)
            item = turn.item()
            if item.message_id:
                notice = NoticePart(f"{item.message_id}:cut", BROKEN, "warning")
                parts = (*(part for part in item.parts if part.part_id != "end"), notice)
                broken.append(replace(item, live=False, time=f"turn {turn.number}, broken off", parts=parts))
        self.clear()
        return broken

    def items(self) -> list[TurnItem]:
        """The items of all turns that have begun to speak."""
        return [turn.item() for turn in self._turns.values() if turn.answer.message_id]
