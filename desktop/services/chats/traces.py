"""Traces that outlive the app (S-TRC-2): what of them is kept beside the messages, and how both are read again.

A run's own rounds and calls stand in its messages already, with times, tokens, decisions and results. Only what agents
in it did, the calls within calls that a person was asked about, and the retries are written down besides, in batches,
by a listener that a run never waits for.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Protocol

from desktop.domain.errors import NotFound
from desktop.domain.loading.lazy import lazy_module
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import NoticeBlock, ReasoningBlock, TextBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.runs.events import (
    AgentTraced,
    Event,
    MiddlewareRan,
    RetryScheduled,
    RunEnded,
    RunStarted,
    ToolCallAnswered,
    ToolCallFinished,
    ToolCallStarted,
    ToolCallWaiting,
)
from desktop.domain.runs.limits import USUAL_ROUNDS, Limit
from desktop.domain.runs.traces import (
    BRIEF,
    KEPT_TEXT,
    TraceEntry,
    TraceLog,
    call_data,
    ending_data,
    entry_of,
    packed,
    result_data,
    usage_data,
)
from desktop.domain.threads import MessageRecord, RunRecord
from desktop.services.definitions.book import AgentBook
from desktop.store import Store
from desktop.supervision.budgets import BudgetTracker

if TYPE_CHECKING:
    from desktop.services.turns import spec as turns_spec
else:
    turns_spec = lazy_module("desktop.services.turns.spec")

FLUSH_AFTER_S = 1.0
BATCH = 65_536
"""Characters after which a batch is written at once."""
KEPT_OF_A_RUN = 4_000_000
"""Characters; what comes then is kept without its texts, and after ``MAX_ENTRIES`` not at all."""
MAX_ENTRIES = 20_000
AT_ONCE = 0.25
"""Seconds within which a call counts as begun right after what came before it; stored times are not exact."""
_LONG = ("text", "result", "args", "error")
_OF_CALLS = (ToolCallWaiting, ToolCallAnswered, ToolCallFinished)

_log = logging.getLogger(__name__)


class Batches(Protocol):
    """Stores batches of trace entries; the future is looked at only to report what could not be written."""

    def add(self, *, run_id: str, sequence: int, entries: Sequence[Mapping[str, Any]]) -> asyncio.Future[None]:
        """Append one batch."""
        ...


@dataclass(slots=True)
class _OpenTrace:
    """The trace of a run under way."""

    waiting: TraceLog = field(default_factory=TraceLog)
    """Entries that are not written yet."""
    weight: int = 0
    """Their size."""
    sequence: int = 0
    """The number of the next batch."""
    room: int = KEPT_OF_A_RUN
    """How much of the run is still kept."""
    entries: int = 0
    """How many there are."""
    nested: set[str] = field(default_factory=set)
    """Calls inside calls that were told of."""
    timer: asyncio.TimerHandle | None = None
    """Writes what waits, a moment later."""
    failed: bool = False
    """Whether a write has failed."""


class TraceKeeper:
    """A listener of the bus. ``redact`` cleans data that the runtime has not cleaned already (R-TRC-9)."""

    def __init__(self, batches: Batches, redact: Callable[[Any], Any] = lambda data: data) -> None:
        self._batches = batches
        self._redact = redact
        self._runs: dict[str, _OpenTrace] = {}

    def take(self, event: Event) -> None:
        """Keep an event in the trace of its run, if the thread's messages will not say the same."""
        if isinstance(event, RunStarted):
            self._runs[event.run_id] = _OpenTrace()
        run = self._runs.get(event.run_id)
        if run is None:
            return
        if isinstance(event, RunEnded):
            self._flush(event.run_id, run)
            del self._runs[event.run_id]
        elif _wanted(event, run) and (entry := entry_of(event, time.time())) is not None:
            if not isinstance(event, AgentTraced):
                cut = {"result": entry.data["result"][:KEPT_TEXT]} if "result" in entry.data else {}
                entry.data = dict(self._redact(entry.plain() | cut))
            self._keep(event.run_id, run, entry)

    def _keep(self, run_id: str, run: _OpenTrace, entry: TraceEntry) -> None:
        if run.entries >= MAX_ENTRIES or run.failed:
            return
        weight = _weight(entry)
        if run.room <= 0:
            entry = replace(entry, data={k: v for k, v in entry.data.items() if k not in _LONG} | {"omitted": weight})
            weight = 0
        is_new = run.waiting.add(entry) is not None
        weight += BRIEF * is_new
        run.room -= weight
        run.weight += weight
        run.entries += is_new
        if run.weight >= BATCH:
            self._flush(run_id, run)
        elif run.timer is None:
            run.timer = asyncio.get_running_loop().call_later(FLUSH_AFTER_S, self._flush, run_id, run)

    def _flush(self, run_id: str, run: _OpenTrace) -> None:
        if run.timer is not None:
            run.timer.cancel()
            run.timer = None
        batch = run.waiting.entries
        if not batch or run.failed:
            return
        run.sequence += 1
        run.waiting, run.weight = TraceLog(), 0
        written = self._batches.add(run_id=run_id, sequence=run.sequence, entries=[entry.to_plain() for entry in batch])
        written.add_done_callback(lambda done: _complain(done, run_id, run))


def _wanted(event: Event, run: _OpenTrace) -> bool:
    """Whether an event has to be kept, because the thread's messages will not say the same."""
    if isinstance(event, ToolCallStarted) and event.parent_call_id:
        run.nested.add(event.call_id)
        return True
    of_nested = isinstance(event, _OF_CALLS) and event.call_id in run.nested
    return of_nested or isinstance(event, AgentTraced | RetryScheduled | MiddlewareRan)


def _complain(done: asyncio.Future[None], run_id: str, run: _OpenTrace) -> None:
    """Log a failed write of the trace, once a run: a full disk costs the trace, not the run."""
    problem = None if done.cancelled() else done.exception()
    if problem is not None and not run.failed:
        run.failed = True
        _log.warning("the trace of run %s is not kept to its end: %s", run_id, problem)


def _weight(entry: TraceEntry) -> int:
    return sum(len(str(entry.data[name])) for name in _LONG if name in entry.data)


class TraceService:
    """Traces of runs that are over, and the limits that hold for one. Raises StoreError, NotFound."""

    def __init__(
        self,
        store: Store,
        agents: AgentBook,
        tracker: Callable[[], BudgetTracker],
        usual_rounds: Callable[[], Limit] = lambda: USUAL_ROUNDS,
    ) -> None:
        self._store = store
        self._agents = agents
        self._tracker = tracker
        self._usual_rounds = usual_rounds

    async def runs(self, thread_id: str) -> list[RunRecord]:
        """The latest runs of a thread, newest first."""
        return await self._store.runs.of_thread(thread_id=thread_id, limit=50)

    async def entries(self, run_id: str) -> list[TraceEntry]:
        """Everything that is known of a run, in order: from its messages and from what was kept besides."""
        run = await self._store.runs.get(run_id=run_id)
        messages = await self._store.traces.messages(run_id=run_id)
        kept = await self._store.traces.kept(run_id=run_id)
        return await asyncio.to_thread(assembled, run, messages, kept)

    async def run_of(self, message_id: str) -> str:
        """The run that wrote a message; "" where none did."""
        return (await self._store.messages.get(message_id=message_id)).run_id

    def limits(self, agent: str) -> tuple[Limit, ...]:
        """The limit on rounds, unless the agent is gone; those on tokens, cost and time where there are some."""
        tracker = self._tracker()
        try:
            found = self._agents.get(agent)
            who = f"the agent {found.name}"
            rounds = [turns_spec.round_limit(found.side_a.max_rounds, who, tracker, self._usual_rounds())]
        except NotFound:
            rounds = []
        where, budget = tracker.where, tracker.budget
        others = (
            ("max_tokens", budget.max_tokens),
            ("max_cost_usd", budget.max_cost_usd),
            ("deadline_s", budget.deadline_s),
        )
        return (*rounds, *(Limit(name, value, where) for name, value in others if value is not None))


# -- a run that is over, from what is stored --------------------------------------------------------------------------


def assembled(run: RunRecord, messages: Sequence[MessageRecord], kept: Iterable[Any]) -> list[TraceEntry]:
    """All entries in the order of their times. Runs in any thread."""
    extra = [entry for entry in map(TraceEntry.from_plain, kept) if entry is not None]
    begun = {entry.call: entry.at for entry in reversed(extra) if entry.type == "agent-start" and not entry.ancestor}
    start = TraceEntry(run.started_at, "agent-start", run.run_id, {"model": run.model}, run.agent)
    found = [start, *_said(run.run_id, messages, begun), *extra]
    found.sort(key=lambda entry: entry.at)  # a stable sort: what has the same time stays as it was
    if run.ended_at is not None:
        data = {key: value for key, value in ending_data(run.end_reason, run.detail, "", "").items() if value}
        found.append(_entry(max(run.ended_at, found[-1].at), "agent-complete", run.run_id, data))
    return found


def _entry(at: float, kind: str, run_id: str, data: Mapping[str, Any]) -> TraceEntry:
    return TraceEntry(at, kind, run_id, packed(data))


def _said(run_id: str, messages: Sequence[MessageRecord], begun: Mapping[str, float]) -> Iterator[TraceEntry]:
    asked: dict[str, ToolCallBlock] = {}
    answered_at = before = 0.0
    for message in messages:
        if message.role == "assistant":
            answered_at = before = message.created_at + message.elapsed_ms / 1000
            asked.update((block.call_id, block) for block in message.blocks if isinstance(block, ToolCallBlock))
            yield from _round(run_id, message, answered_at)
        elif message.role == "tool":
            for block in message.blocks:
                if isinstance(block, ToolResultBlock):
                    call = asked.pop(block.call_id, None)
                    start = _start(message.created_at, block, (answered_at, before), begun)
                    yield from _call(run_id, start, message.created_at, block, call)
            before = message.created_at
    for call in asked.values():
        yield _entry(answered_at, "tool-call", run_id, call_data(call.tool, call.call_id, call.arguments))


def _round(run_id: str, message: MessageRecord, over: float) -> Iterator[TraceEntry]:
    about = {"messageId": message.message_id}
    yield _entry(message.created_at, "turn-start", run_id, {**about, "turnNumber": message.round_number})
    notices = []
    for block in message.blocks:
        if isinstance(block, TextBlock | ReasoningBlock) and block.text:
            kind = "message" if isinstance(block, TextBlock) else "reasoning"
            yield _entry(over, kind, run_id, {**about, "text": block.text})
        elif isinstance(block, NoticeBlock):
            notices.append(block.text[:BRIEF])
    calls = sum(isinstance(block, ToolCallBlock) for block in message.blocks)
    reason = "aborted" if message.status == "interrupted" else message.stop_reason
    data = {**about, "stopReason": reason, "toolCalls": calls, "elapsedMs": message.elapsed_ms, "model": message.model}
    data |= usage_data(message.usage) | ({"notices": notices} if notices else {})
    yield _entry(over, "turn-end", run_id, data)


def _start(over: float, block: ToolResultBlock, before: tuple[float, float], begun: Mapping[str, float]) -> float:
    """When a call began, as far as what is stored tells: after the answer that asked for it, or the call before it."""
    start = over - _seconds(block.facts.get("elapsed_ms")) - _seconds(block.facts.get("waited_ms"))
    near = [at for at in before if 0 <= start - at < AT_ONCE]
    start = max(near) if near else max(start, before[0])
    return min(start, over, begun.get(block.call_id, over) - 0.001)  # what an agent for it did came after it


def _call(
    run_id: str, start: float, over: float, block: ToolResultBlock, call: ToolCallBlock | None
) -> Iterator[TraceEntry]:
    facts, waited = block.facts, _seconds(block.facts.get("waited_ms"))
    arguments = call.arguments if call is not None else None
    data = call_data(block.tool, block.call_id, arguments or {}, str(facts.get("category") or ""))
    yield _entry(start, "tool-call", run_id, data)
    if waited:
        yield _entry(start, "tool-waiting", run_id, {"callId": block.call_id})
        told = {name: facts[name] for name in ("decision", "by", "reason") if facts.get(name)}
        yield _entry(min(start + waited, over), "tool-answered", run_id, {"callId": block.call_id, **told})
    result = result_data(block.tool, block.call_id, block.text, is_error=block.is_error, facts=facts)
    if facts.get("omitted"):
        result["omitted"] = facts["omitted"]
    yield _entry(over, "tool-result", run_id, result)


def _seconds(value: Any) -> float:
    return max(0.0, value / 1000) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
