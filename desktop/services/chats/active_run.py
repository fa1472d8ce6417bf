"""The run that is under way in a thread, and those that it hands the conversation on to."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

from desktop.domain.errors import Denied, KnownError
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.cancellation import CancellationToken
from desktop.services.turns.unattended import JobTerms
from desktop.supervision.budgets import BudgetTracker

MAX_HANDOVERS = 8
"""From agent to agent for one message: two that give a conversation back and forth come to an end."""


@dataclass(slots=True)
class ActiveRun:
    """The run of one thread."""

    thread_id: str
    """The thread."""
    run_id: str = field(default_factory=new_id)
    """The run."""
    token: CancellationToken = field(default_factory=CancellationToken)
    """Stops it."""
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it has ended."""
    handed: bool = False
    """Whether it hands the conversation over when it ends."""
    terms: JobTerms | None = None
    """The terms of a job."""
    before: BudgetTracker | None = None
    """What the runs used that handed the conversation on to it."""
    handovers: int = 0
    """How many those were."""
    successor: ActiveRun | None = None
    """The run that has its place once it is over."""

    def give_away(self) -> None:
        """Let another agent go on when this run is over. Raises Denied after too many handovers for one message."""
        if self.handovers >= MAX_HANDOVERS:
            words = f"This conversation was handed over {MAX_HANDOVERS} times for one message: answer it yourself."
            raise Denied(words, code="denied.limit")
        self.handed = True

    def carry_budget(self, used: BudgetTracker | None) -> None:
        """Hand the remaining budget to a successor run, under the same terms. There is no successor where this run was
        stopped meanwhile."""
        if self.handed and not self.token.cancelled:
            self.successor = ActiveRun(self.thread_id, terms=self.terms, before=used, handovers=self.handovers + 1)

    async def whole(self) -> None:
        """Wait until it is over, and so are its successors."""
        at: ActiveRun | None = self
        while at is not None:
            await at.over.wait()
            at = at.successor


class RunPlaces:
    """Each thread's one place for a run (R-SES-19). While ``closing`` none is given any more."""

    def __init__(self) -> None:
        self.closing = False
        self._taken: dict[str, ActiveRun] = {}

    def get(self, thread_id: str) -> ActiveRun | None:
        """The active run of a thread, or None."""
        return self._taken.get(thread_id)

    def taken(self) -> list[ActiveRun]:
        """The active runs of all threads that have one."""
        return list(self._taken.values())

    @contextmanager
    def holding(self, thread_id: str) -> Iterator[ActiveRun]:
        """Take it, before anything is awaited, and give it back where no run comes of it. Raises KnownError."""
        if self.closing:
            raise KnownError("Assent is closing.", code="app.closing")
        if thread_id in self._taken:
            raise KnownError("This chat is still being answered.", next_step="Stop it first.", code="run.busy")
        active = self._taken[thread_id] = ActiveRun(thread_id)
        with self.giving_back(active):
            yield active

    @contextmanager
    def giving_back(self, active: ActiveRun) -> Iterator[None]:
        """Give the place back if the body fails."""
        try:
            yield
        except BaseException:
            self.release(active)
            raise

    def release(self, active: ActiveRun) -> None:
        """Give the place of a run that is over back, unless the run after it has it already."""
        if self._taken.get(active.thread_id) is active:
            del self._taken[active.thread_id]
            if active.successor is not None:
                self._taken[active.thread_id] = active.successor
        active.over.set()
