"""The simulator: a draft tried on recorded calls and on tricks, by the functions that decide real calls.

``RuleSet.match`` and ``safety.assent.answer`` are asked twice for each call, with the rules as they are and as they
would be. It runs in a thread that lets go of the interpreter after each slice of work, so that the window goes on.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from desktop.conversation.rule_calls import facts_of, text_of
from desktop.conversation.trust import RuleSet, TrustRules
from desktop.domain.permission import RecordedCall
from desktop.domain.rules import Outcome, RuleDraft, SimulatedCall, Simulation
from desktop.domain.safety import CallFacts
from desktop.safety.assent import answer
from desktop.skills.patterns.grammar import Pattern

SHOWN = 200
"""Calls of each kind that are handed on; the counts are whole."""
SLICE_S = 0.001
"""Seconds of work before the interpreter is let go of."""
REST_S = 0.0002
MAX_RECORDED = 10_000


class RecordedCalls(Protocol):
    """``store.RuleRepository``."""

    def recorded(self, *, limit: int) -> Awaitable[list[RecordedCall]]: ...


class Cancelled(Exception):
    """Nobody waits any more."""


class Slices:
    """Work in a thread beside the window's: ``turn`` often, it rests when a slice is over. Raises Cancelled."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self._until = time.perf_counter() + SLICE_S

    def turn(self) -> None:
        """Between two pieces of work."""
        if time.perf_counter() < self._until:
            return
        if self.stopped.is_set():
            raise Cancelled
        time.sleep(REST_S)
        self._until = time.perf_counter() + SLICE_S


@dataclass(slots=True)
class Tally:
    """Calls of one kind: some to be shown, all counted."""

    shown: list[SimulatedCall] = field(default_factory=list)
    count: int = 0

    def add(self, call: SimulatedCall, times: int = 1) -> None:
        """One more."""
        self.count += times
        if len(self.shown) < SHOWN:
            self.shown.append(call)


def outcome(rules: RuleSet, facts: CallFacts) -> Outcome:
    """What becomes of a call that the blocklist and the boundary let through, without anything remembered."""
    return answer(facts.category, rules.match(facts)).what


class Simulator:
    """Tries drafts. One per app; each trial stands by itself."""

    def __init__(self, calls: RecordedCalls) -> None:
        self._calls = calls

    async def run(self, rules: TrustRules, draft: RuleDraft, pattern: Pattern) -> Simulation:
        """What would change. Cancelling it ends its thread within a slice."""
        before, after = rules.set, rules.with_rule(pattern, draft.thread_id, draft.replaces)
        calls = await self._calls.recorded(limit=MAX_RECORDED)
        slices = Slices()
        try:
            return await asyncio.to_thread(_simulate, before, after, calls, slices)
        finally:
            slices.stopped.set()


def _simulate(before: RuleSet, after: RuleSet, calls: Sequence[RecordedCall], slices: Slices) -> Simulation:
    passing, stopped, tried = Tally(), Tally(), 0
    for call, was, now in replayed(before, after, calls, slices.turn):
        tried += 1
        if was != "passes" and now == "passes":
            passing.add(call)
        elif was == "passes" and now != "passes":
            stopped.add(call)
    return Simulation(
        tried, 0, tuple(passing.shown), passing.count, tuple(stopped.shown), stopped.count,
    )  # fmt: skip


def replayed(
    before: RuleSet, after: RuleSet, calls: Iterable[RecordedCall], turn: Callable[[], None]
) -> Iterable[tuple[SimulatedCall, Outcome, Outcome]]:
    """Each recorded call with what became of it and what would; a record that cannot be read is left out."""
    for call in calls:
        turn()
        try:
            facts = facts_of(call)
        except (LookupError, TypeError, ValueError):
            continue
        was, now = outcome(before, facts), outcome(after, facts)
        shown = SimulatedCall(
            call.tool, text_of(facts), was, now, times=call.times, thread_id=call.thread_id, at=call.at
        )
        yield shown, was, now
