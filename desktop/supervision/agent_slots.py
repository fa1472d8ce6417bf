"""How many agents of a tree live at once, and who has to make room for a more important one (R-SUP-5, R-SUP-6)."""

from __future__ import annotations

from dataclasses import dataclass

from desktop.domain.errors import BudgetExhausted
from desktop.domain.limits import Limit
from desktop.domain.supervision import Priority, SpawnBudget


@dataclass(slots=True)
class AgentSlot:
    """One agent's place among the living. ``held`` False: preempted, it waits for its place. ``paused``: a person has
    paused it already, so taking its place would gain nothing."""

    number: int
    priority: Priority
    held: bool = True
    paused: bool = False


class Headcount:
    """The tree's one spawn budget. The root has the first seat and keeps it, whatever happens.

    A newcomer of HIGH or CRITICAL takes the seat of the agent of lowest, and strictly lower, priority, the newest of
    those. The one that lost it stops before its next model call; freed seats go back to such agents first, the most
    important first, and among equals to the one that has been there longest; to one that a person has paused last.
    """

    def __init__(self, budget: SpawnBudget, where: str, priority: Priority = Priority.NORMAL) -> None:
        self._budget = budget
        self._where = where
        self._count = 0
        self.root = self._seat(priority)
        self._seats: dict[int, AgentSlot] = {self.root.number: self.root}

    @property
    def alive(self) -> int:
        """Seats that are held."""
        return sum(1 for seat in self._seats.values() if seat.held)

    def acquire(self, priority: Priority) -> tuple[AgentSlot, AgentSlot | None]:
        """A seat, and the one it was taken from, if any. Raises BudgetExhausted when there is none to be had."""
        victim = None
        if self.alive >= self._budget.max_agents:
            victim = self._victim(priority)
            if victim is None:
                limit = Limit("max_agents", self._budget.max_agents, self._where, "budget")
                raise BudgetExhausted(
                    f"No more agents can start: {limit}.", limit=str(limit), next_step="Wait for one to finish."
                )
            victim.held = False
        seat = self._seat(priority)
        self._seats[seat.number] = seat
        return seat, victim

    def release(self, seat: AgentSlot) -> AgentSlot | None:
        """An agent ended, however it ended. Returns the seat that gets its place back because of that."""
        if seat is self.root or self._seats.pop(seat.number, None) is None or not seat.held:
            return None
        return self._give_back()

    def _give_back(self) -> AgentSlot | None:
        waiting = [seat for seat in self._seats.values() if not seat.held]
        if not waiting or self.alive >= self._budget.max_agents:
            return None
        first = min(waiting, key=lambda seat: (seat.paused, -seat.priority, seat.number))
        first.held = True
        return first

    def _victim(self, priority: Priority) -> AgentSlot | None:
        if not self._budget.allow_preempt or priority < Priority.HIGH:
            return None
        weaker = [
            seat
            for seat in self._seats.values()
            if seat.held and not seat.paused and seat is not self.root and seat.priority < priority
        ]
        return min(weaker, key=lambda seat: (seat.priority, -seat.number), default=None)

    def _seat(self, priority: Priority) -> AgentSlot:
        self._count += 1
        return AgentSlot(self._count, priority)
