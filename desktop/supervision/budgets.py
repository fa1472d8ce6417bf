"""Budgets of a run tree: what was used, and the stop before the next model call (R-SUP-7 … R-SUP-11)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from desktop.domain.errors import BudgetExhausted
from desktop.domain.messages import Usage
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.supervision import ROUNDS, RUN_ROUNDS, ExecutionBudget
from desktop.supervision.clocks import BranchClock

DEFAULT = "the default of a run"
"""Where the bound on rounds was set that holds when nobody chose one."""
_NEXT = "Raise the budget to go on."


class BudgetTracker:
    """Consumption of one node of the run tree and of everything under it.

    A child's tracker passes consumption on to its parent, so the root bounds the whole tree and a child may be
    tighter, never looser (R-SUP-8); a root without a bound on rounds has the default one. Time waited for a person does
    not count (R-SUP-10); whoever knows when the waiting begins tells ``clock`` of it, others tell ``waited``
    afterwards. ``cost_known`` is False once a round's cost was not told: ``used.cost_usd`` is a lower bound then;
    ``estimated``: some tokens of ``used`` were not told. ``total`` is what was told, for people: its cost is None once
    that of used tokens is unknown. Provider retries of a round are not counted (R-LIM-6).
    """

    def __init__(
        self,
        budget: ExecutionBudget,
        *,
        parent: BudgetTracker | None = None,
        clock: Callable[[], float] = time.monotonic,
        where: str = "the run's budget",
    ) -> None:
        self.changed: dict[str, str] = {}
        self._parent = parent
        self.budget = self._bounded(budget)
        self.used = Usage(cost_usd=0.0)
        self.total = Usage(cost_usd=0.0)
        self.rounds = 0
        self._asking = 0
        self.tool_calls = 0
        self.cost_known = True
        self.estimated = False
        self.told = False
        self.where = where
        self.clock: BranchClock = BranchClock(clock, parent.clock if parent is not None else None)
        self._time = clock
        self._waited = 0.0
        self._rested = 0.0
        self._rests_since: float | None = None

    def child(self, budget: ExecutionBudget, where: str) -> BudgetTracker:
        """A subtree with its own additional budget."""
        return BudgetTracker(budget, parent=self, clock=self._time, where=where)

    def change(self, budget: ExecutionBudget, where: str) -> None:
        """Replace the budget; what is used stays used, and its deadline too counts from the start. An unchanged limit
        keeps the place where it was set."""
        for name in ("max_tokens", "max_cost_usd", "max_rounds", "deadline_s"):
            if getattr(budget, name) != getattr(self.budget, name):
                self.changed[name] = where
        self.budget = self._bounded(budget)

    def _bounded(self, budget: ExecutionBudget) -> ExecutionBudget:
        """The root of a tree is never without a bound on the rounds of all its agents."""
        if self._parent is not None or budget.max_rounds is not None:
            return budget
        self.changed[ROUNDS] = DEFAULT
        return replace(budget, max_rounds=RUN_ROUNDS)

    def where_of(self, name: str) -> str:
        """Who set the limit of this name (R-LIM-5)."""
        return self.changed.get(name, self.where)

    def consume(self, usage: Usage | None, *, rounds: int = 1, estimate: Usage | None = None) -> None:
        """One round was answered, or something beside the rounds (``rounds=0``); an unknown cost adds nothing to the
        sum (it stays a lower bound). ``estimate`` is charged where a server tells nothing; people are not told it."""
        if usage is not None:
            usage = Usage.reported(
                usage.input_tokens,
                usage.output_tokens,
                usage.reasoning_tokens,
                usage.cached_tokens,
                usage.written_tokens,
                cost=usage.cost_usd,
                saved=usage.saved_usd,
            )
        at: BudgetTracker | None = self
        while at is not None:
            at._consume(usage, rounds, estimate)
            at = at._parent

    def _consume(self, usage: Usage | None, rounds: int, estimate: Usage | None) -> None:
        self.rounds += rounds
        if usage is None or usage.cost_usd is None:
            self.cost_known = False
        if usage is not None:
            self.total = self.total.plus(usage)
        if estimate is not None:
            self.estimated = True
        for more in (usage, estimate):
            if more is not None:
                self.used = self.used.plus(more if more.cost_usd is not None else replace(more, cost_usd=0.0))

    def called(self) -> None:
        """Count a call of a tool, here and in all budgets above."""
        at: BudgetTracker | None = self
        while at is not None:
            at.tool_calls += 1
            at = at._parent

    def asks(self, change: int) -> None:
        """Count requests of this branch that begin (1) or end (-1); each may become a round."""
        at: BudgetTracker | None = self
        while at is not None:
            at._asking += change
            at = at._parent

    def waited(self, seconds: float) -> None:
        """A person was asked for this long. Not for a budget whose clock is ``told`` when waiting begins (R-SUP-10)."""
        if self.told:
            return
        self._waited += seconds
        if self._parent is not None:
            self._parent.waited(seconds)

    def rests(self, resting: bool) -> None:
        """From now on it is not this one's turn, or it is again: time in between is none that it used."""
        now = self._time()
        if self._rests_since is not None:
            self._rested += now - self._rests_since
        self._rests_since = now if resting else None

    def goes_on(self, before: BudgetTracker) -> None:
        """What another run used for the same work, its time included, counts here too. Before anything else is used."""
        self.used, self.total = self.used.plus(before.used), self.total.plus(before.total)
        self.rounds += before.rounds
        self.cost_known = self.cost_known and before.cost_known
        self.estimated = self.estimated or before.estimated
        self._rested -= before.elapsed_s

    @property
    def waited_s(self) -> float:
        """Seconds for which a person was waited for."""
        return self._waited + self.clock.stood

    @property
    def elapsed_s(self) -> float:
        """Wall time since the start, without waiting for a person, and without rests."""
        resting = self._time() - self._rests_since if self._rests_since is not None else 0.0
        return self.clock.elapsed - self._waited - self._rested - resting

    @property
    def time_left_s(self) -> float | None:
        """Seconds until this node's own deadline; None without one."""
        return None if self.budget.deadline_s is None else self.budget.deadline_s - self.elapsed_s

    def broken(self, *, asking: bool = False) -> Limit | None:
        """The first limit that is used up, here or above; ``asking``: requests under way count as rounds."""
        budget, used = self.budget, self.used
        pairs = (
            ("max_tokens", budget.max_tokens, used.input_tokens + used.output_tokens),
            ("max_cost_usd", budget.max_cost_usd, used.cost_usd or 0.0),
            ("max_rounds", budget.max_rounds, self.rounds + (self._asking if asking else 0)),
            ("deadline_s", budget.deadline_s, self.elapsed_s if budget.deadline_s is not None else 0.0),
        )
        for name, value, consumed in pairs:
            if value is not None and consumed >= value:
                return Limit(name, value, self.where_of(name), "budget")
        return self._parent.broken(asking=asking) if self._parent is not None else None

    def check(self) -> None:
        """Raise BudgetExhausted before a model call that the budget does not allow any more (R-SUP-7)."""
        limit = self.broken(asking=True)
        if limit is not None:
            raise BudgetExhausted(f"The budget is used up: {limit}.", limit=str(limit), next_step=_NEXT)

    def rounds_left(self, done: int = 0) -> Limit | None:
        """The remaining rounds as a limit of their own, or None; ``done`` of them were made by who asks and count."""
        mine = None
        if self.budget.max_rounds is not None:
            whole, where = self.budget.max_rounds, self.where_of("max_rounds")
            own = whole - self.rounds + done
            mine = Limit("max_rounds", own, where if own == whole else f"{where}, {whole} in all")
        above = self._parent.rounds_left(done) if self._parent is not None else None
        if mine is None or above is None:
            return mine or above
        return min(mine, above, key=lambda limit: limit.value)
