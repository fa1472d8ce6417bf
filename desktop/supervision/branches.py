"""What an agent does side by side: each task of its own that reaches the world is a branch, with steps of its own.

After a restart branches overtake one another, for what is known takes no time; so the place of an effect is its branch
and its step in that. A branch is named by the step at which it left the one above, and its turn among those that left
there. Its first effect says which one it is: turns may change where something else was waited for before.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from desktop.recovery.effect_journal import Asked, EffectJournal, Place

ATTEMPTS = 50
"""Turns of the loop in which branches that were known before may come first."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class _Branch:
    """``task`` is whose it is; a weak reference, for the task's context holds this."""

    name: str
    above: _Branch | None
    task: weakref.ref[asyncio.Task[Any]] | None
    steps: int = 0

    def is_above(self, other: _Branch) -> bool:
        found: _Branch | None = other
        while found is not None and found is not self:
            found = found.above
        return found is not None

    @property
    def at_work(self) -> bool:
        task = self.task() if self.task is not None else None
        return task is not None and not task.done()


class _At(NamedTuple):
    """Where a task stands, or where it left the one that made it."""

    owner: Branches
    branch: _Branch
    step: int


_AT: ContextVar[_At | None] = ContextVar("branch", default=None)


@dataclass(slots=True, eq=False)
class Branches:
    """Those of one agent, at ``path`` of the run tree; ``entered`` around its work."""

    path: str
    journal: EffectJournal
    _main: _Branch = field(init=False)
    _turns: dict[str, int] = field(init=False, default_factory=dict)
    _all: weakref.WeakSet[_Branch] = field(init=False, default_factory=weakref.WeakSet)

    def __post_init__(self) -> None:
        self._main = _Branch(self.path, None, None)
        self._all.add(self._main)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """What this task does is the trunk."""
        self._main.task = _this_task()
        before = _AT.set(_At(self, self._main, 0))
        try:
            yield
        finally:
            _AT.reset(before)

    async def place(self, asked: Asked) -> Place:
        """Of an effect that is asked for now. Raises ReplayMismatch where other branches were before."""
        branch = await self._branch(asked)
        branch.steps += 1
        _AT.set(_At(self, branch, branch.steps))
        return (branch.name, branch.steps)

    def below(self, place: Place) -> str:
        """The path of the child that is started there: ``0.3``, in a branch ``0.3-1-2``."""
        return ".".join((self.path, "-".join((*place[0].split("/")[1:], str(place[1])))))

    async def _branch(self, asked: Asked) -> _Branch:
        at, task = _AT.get(), _this_task()
        if at is None or at.owner is not self:
            return self._main
        if at.branch.task == task:
            return at.branch
        found = _Branch("", at.branch, task)
        found.name = await self._name(f"{at.branch.name}/{at.step}", asked, found)
        self._all.add(found)
        return found

    async def _name(self, stem: str, asked: Asked, new: _Branch) -> str:
        """That of a branch which began like this before, or a new one."""
        for _ in range(ATTEMPTS):
            known = self.journal.branches(stem)
            if not known:
                break
            for name, record in known.items():
                if asked.is_of(record):
                    return name
            await asyncio.sleep(0)
        if known and not any(one.at_work and not one.is_above(new) for one in self._all):
            raise self.journal.replay_mismatch(next(iter(known.values())), asked)
        turn = self._turns[stem] = self._turns.get(stem, self.journal.turns(stem)) + 1
        return f"{stem}-{turn}"


def _this_task() -> weakref.ref[asyncio.Task[Any]] | None:
    task = asyncio.current_task()
    return weakref.ref(task) if task is not None else None
