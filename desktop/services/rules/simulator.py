"""The simulator: a draft tried on recorded calls and on tricks, by the functions that decide real calls.

``RuleSet.match`` and ``safety.assent.answer`` are asked twice for each call, with the rules as they are and as they
would be. It runs in a thread that lets go of the interpreter after each slice of work, so that the window goes on.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import field
from typing import Protocol

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.permission import RecordedCall
from desktop.domain.approval.rules import Outcome, RuleDraft, SimulatedCall, Simulation
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import ShellReading
from desktop.safety.permission.decide import answer
from desktop.services.rules.calls import facts_of, text_of
from desktop.services.rules.suggest import narrower
from desktop.services.rules.text import ANY_COMMAND, allows_any_command, problem_of, read_rule
from desktop.services.rules.trial import Judges, RuleTrial, unlisted
from desktop.services.rules.trust import RuleSet, TrustRules
from desktop.skills.patterns.grammar import Pattern

SHOWN = 200
"""Calls of each kind that are handed on; the counts are whole."""
SLICE_S = 0.001
"""Seconds of work before the interpreter is let go of."""
REST_S = 0.0002
MAX_RECORDED = 10_000
LOOKED_AT = 1_000
"""Calls that a narrower pattern is made from; it is verified on all."""


class RecordedCalls(Protocol):
    """The part of ``store.RuleRepository`` that is used."""

    def recorded(self, *, limit: int) -> Awaitable[list[RecordedCall]]: ...


class Cancelled(Exception):
    """Raised in the simulator's thread when its trial was cancelled."""


class Slices:
    """Work in a thread beside the window's: ``turn`` often, it rests when a slice is over. Raises Cancelled."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self._until = time.perf_counter() + SLICE_S

    def turn(self) -> None:
        """Called between two pieces of work: lets others have the processor. Raises Cancelled."""
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
        """Count a call, and keep the first few as examples."""
        self.count += times
        if len(self.shown) < SHOWN:
            self.shown.append(call)


def outcome(rules: RuleSet, facts: CallFacts) -> Outcome:
    """What becomes of a call that the blocklist and the boundary let through, without anything remembered."""
    return answer(facts.category, rules.match(facts), asks=facts.asks).what


class Simulator:
    """Tries drafts of rules. There is one per app; each trial is independent."""

    def __init__(self, calls: RecordedCalls, judges: Judges) -> None:
        self._calls = calls
        self._judges = judges

    async def run(self, rules: TrustRules, draft: RuleDraft, pattern: Pattern) -> Simulation:
        """Find what a draft would change. Cancelling ends the simulator's thread within a slice."""
        attempt = _Trial(rules, draft, pattern, self._judges, Slices())
        calls = await self._calls.recorded(limit=MAX_RECORDED)
        try:
            return await asyncio.to_thread(attempt.run, calls)
        finally:
            attempt.slices.stopped.set()


class _Trial:
    """One simulation, in a thread."""

    def __init__(self, rules: TrustRules, draft: RuleDraft, pattern: Pattern, judges: Judges, slices: Slices) -> None:
        self.slices = slices
        self._rules = rules.frozen()
        self._draft = draft
        self._pattern = pattern
        self._judges = judges
        self._before = rules.set
        self._readings: dict[str, ShellReading] = {}

    def run(self, calls: Sequence[RecordedCall]) -> Simulation:
        after = self._with(self._pattern)
        passing, stopped, tried = Tally(), Tally(), 0
        let: list[RecordedCall] = []
        for record, call, _ in self._replayed(calls, after):
            tried += call.times
            if call.before != "passes" and call.after == "passes":
                passing.add(call, call.times)
                let.append(record)
            elif call.before == "passes" and call.after != "passes":
                stopped.add(call, call.times)
        through, held, tricks = self._tricks(self._pattern, after)
        suggestion, lets = self._suggestion(let) if through.count else ("", 0)
        return Simulation(
            tried,
            tricks,
            tuple(passing.shown),
            passing.count,
            tuple(stopped.shown),
            stopped.count,
            tuple(through.shown),
            through.count,
            tuple(held.shown),
            held.count,
            suggestion,
            lets,
            unlisted(self._pattern) if self._draft.decision == "allow" else (),
            ANY_COMMAND if self._draft.decision == "allow" and allows_any_command(self._pattern) else "",
        )

    def _with(self, pattern: Pattern) -> RuleSet:
        return self._rules.with_rule(pattern, self._draft.thread_id, self._draft.replaces)

    def _replayed(
        self, calls: Sequence[RecordedCall], after: RuleSet
    ) -> Iterator[tuple[RecordedCall, SimulatedCall, CallFacts]]:
        """Each recorded call with what became of it and what would; a record that cannot be read is left out. Nothing
        of it is kept here: many objects at once would make the collector stop every thread."""
        for call in calls:
            self.slices.turn()
            try:
                facts = facts_of(call)
            except (LookupError, TypeError, ValueError):
                continue
            was, now = outcome(self._before, facts), outcome(after, facts)
            shown = SimulatedCall(
                call.tool, text_of(facts), was, now, times=call.times, thread_id=call.thread_id, at=call.at
            )
            yield call, shown, facts

    def _tricks(self, pattern: Pattern, after: RuleSet) -> tuple[Tally, Tally, int]:
        """(those that would pass and did not, those that stay stopped, how many different ones were tried)"""
        through, held, seen = Tally(), Tally(), set[tuple[str, str, str]]()
        trial = RuleTrial(pattern, self._judges, self._draft.thread_id, self._readings)
        for trick, facts in trial.calls():
            self.slices.turn()
            key = (trick.tool, trick.source or trick.family if trick.arguments else "", trick.text + trick.leads)
            if key in seen:
                continue
            seen.add(key)
            was: Outcome = "blocked" if facts is None else outcome(self._before, facts)
            now: Outcome = "blocked" if facts is None else outcome(after, facts)
            call = SimulatedCall(trick.tool, trick.text, was, now, trick.why, trick.marked)
            if now != "passes":
                held.add(call)
            elif was != "passes":
                through.add(call)
        return through, held, len(seen)

    def _suggestion(self, let: Sequence[RecordedCall]) -> tuple[str, int]:
        """The widest narrower pattern that lets such calls through and no trick; verified like the draft itself."""
        seen = [facts_of(call) for call in let[:LOOKED_AT]]
        for text in narrower(self._pattern, seen, self._judges.workspace):
            if problem_of(text, self._draft.decision) is not None:
                continue
            pattern = read_rule(text, self._draft.decision)
            rules = self._with(pattern)
            lets = sum(call.times for _, call, _ in self._replayed(let, rules) if call.after == "passes")
            if lets and not any(self._tricks(one, rules)[0].count for one in (pattern, self._pattern)):
                return text, lets
        return "", 0
