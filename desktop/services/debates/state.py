"""One debate as it stands: read from the store, kept in memory while it runs, shown as ``DebateState``."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Literal

from desktop.domain.debates import DebateSetup, DebateState, DebateStatus, JudgeVerdict, SideMeter, TurnRecord
from desktop.domain.definitions import SIDES, SideName
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import TextBlock, Usage
from desktop.domain.threads import MessageRecord, QueuedRecord, ThreadRecord
from desktop.services.debates.setup import from_plain
from desktop.services.threads.masking import Mask, masked
from desktop.store import Store


@dataclass(slots=True)
class Debate:
    """A debate while it is worked on."""

    thread: ThreadRecord
    """Its thread."""
    setup: DebateSetup
    """Its set-up."""
    status: DebateStatus
    """How it stands."""
    head: str
    """The message that the next turn begins below."""
    turns: list[TurnRecord]
    """The turns of its path."""
    waiting: tuple[str, ...] = ()
    """Moderator messages that the sides have not read yet."""
    end_reason: str = ""
    """Why it ended, or ""."""
    end_detail: str = ""
    """The end in a sentence, or ""."""
    verdict: JudgeVerdict | None = None
    """The judge's verdict."""
    forked_from: str = ""
    """The thread it was forked from, or ""."""
    forked_at: int = 0
    """The turn that the fork goes on after."""
    forks: tuple[str, ...] = ()
    """The threads of its forks."""
    run_id: str = ""
    """The run under way, or ""."""
    judging: bool = False
    """Whether a judge is being asked."""
    now: SideMeter | None = None
    """The turn under way, if one is."""
    meters: dict[SideName, SideMeter] = field(default_factory=dict)
    """What the turns of each side used."""
    updated_at: float = 0.0
    """Seconds since the epoch."""
    spent: Usage = field(default_factory=lambda: Usage(cost_usd=0.0))
    """What its own runs had used when it was read, also in turns that broke off."""

    @property
    def side(self) -> SideName:
        """The side whose turn it is, or is next: A begins (R-SES-3)."""
        return "b" if len(self.turns) % 2 else "a"

    def count(self, turn: TurnRecord) -> None:
        """Add a finished turn to what its side has used."""
        meter = self.meters.get(turn.side, SideMeter(usage=Usage(cost_usd=0.0)))
        self.meters[turn.side] = replace(
            meter,
            turns=meter.turns + 1,
            rounds=meter.rounds + turn.rounds,
            calls=meter.calls + turn.calls,
            usage=meter.usage.plus(turn.usage),
        )

    def finish(self, turn: TurnRecord, at: float) -> None:
        """A turn is over and stored; ``at`` is when its last message was written."""
        self.turns.append(turn)
        self.count(turn)
        self.now, self.head, self.updated_at = None, turn.last_message_id, at

    def state(self) -> DebateState:
        """The state as others see it."""
        side, meters = self.side, {name: self._meter(name) for name in SIDES}
        number = len(self.turns) + (1 if self.now is not None else 0)
        return DebateState(
            self.thread.thread_id,
            self.thread.title,
            self.setup,
            self.status,
            number,
            side,
            meters,
            self.run_id,
            self.end_reason,
            self.end_detail,
            self.waiting,
            self.verdict,
            self.judging,
            self.forked_from,
            self.forked_at,
            self.forks,
            self.thread.created_at,
            max(self.thread.updated_at, self.updated_at),
        )

    def _meter(self, name: SideName) -> SideMeter:
        kept = self.meters.get(name, SideMeter(usage=Usage(cost_usd=0.0)))
        now = self.now if self.side == name else None
        if now is None:
            return replace(kept, round_limit=self.setup.side(name).max_rounds or 0)
        return SideMeter(
            kept.turns,
            kept.rounds + now.rounds,
            now.round,
            now.round_limit,
            kept.calls + now.calls,
            kept.usage.plus(now.usage),
        )


def moderated(waiting: QueuedRecord, *, parent_id: str, run_id: str, mask: Mask) -> MessageRecord:
    """A moderator's waiting message as it joins the path below ``parent_id``."""
    text, blocks = masked(waiting.text, waiting.attachments, mask)
    return MessageRecord(
        new_id(),
        waiting.thread_id,
        parent_id,
        "user",
        (TextBlock(text), *blocks),
        time.time(),
        author="moderator",
        run_id=run_id,
    )


async def load(store: Store, thread_id: str) -> Debate:
    """Load a debate from the store. Raises NotFound."""
    record = await store.debates.get(thread_id=thread_id)
    waiting = await store.queue.waiting(thread_id=thread_id)
    debate = Debate(
        await store.threads.get(thread_id=thread_id),
        from_plain(record.setup),
        record.status,
        record.head,
        await store.debates.turns(thread_id=thread_id),
        tuple(one.text for one in waiting),
        record.end_reason,
        record.end_detail,
        verdict_from(record.verdict),
        record.forked_from,
        record.forked_at,
        tuple(await store.debates.forks(thread_id=thread_id)),
        spent=await store.debates.used(thread_id=thread_id),
    )
    for turn in debate.turns:
        debate.count(turn)
    return debate


def verdict_to_plain(verdict: JudgeVerdict) -> dict[str, Any]:
    """The verdict as JSON values."""
    scores = {side: dict(marks) for side, marks in verdict.scores.items()}
    return {
        "winner": verdict.winner,
        "summary": verdict.summary,
        "reasons": dict(verdict.reasons),
        "scores": scores,
        "model": verdict.model,
        "at": verdict.at,
        "after_turn": verdict.after_turn,
    }


def verdict_from(data: Mapping[str, Any] | None) -> JudgeVerdict | None:
    """A stored verdict, or a judge's answer (its schema was checked); None for what is none."""
    if data is None or data.get("winner") not in ("a", "b", "draw"):
        return None
    winner: Literal["a", "b", "draw"] = data["winner"]
    reasons, scores = data.get("reasons"), data.get("scores")
    return JudgeVerdict(
        winner,
        str(data.get("summary") or ""),
        {str(side): str(text) for side, text in reasons.items()} if isinstance(reasons, Mapping) else {},
        {str(side): _marks(marks) for side, marks in scores.items()} if isinstance(scores, Mapping) else {},
        str(data.get("model") or ""),
        float(data.get("at") or time.time()),
        int(data.get("after_turn") or 0),
    )


def _marks(marks: Any) -> dict[str, float]:
    pairs = marks.items() if isinstance(marks, Mapping) else ()
    return {str(name): min(10.0, max(0.0, float(mark))) for name, mark in pairs if isinstance(mark, (int, float))}
