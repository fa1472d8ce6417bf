"""How many agents of a tree live at once, and who has to make room for a more important one (R-SUP-5, R-SUP-6)."""

from __future__ import annotations

from desktop.domain.errors import BudgetExhausted
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.supervision import Priority, SpawnBudget


@dataclass(slots=True)
class AgentSlot:
    """One agent's place among the living. ``held`` False: preempted, it waits for its place. ``paused``: a person has
    paused it already, so taking its place would gain nothing."""

    number: int
    priority: Priority
    held: bool = True
    paused: bool = False


class AgentSlots:
    """The tree's one spawn budget. The root has the first slot and keeps it, whatever happens.

    A newcomer of HIGH or CRITICAL takes the slot of the agent of lowest, and strictly lower, priority, the newest of
    those. The one that lost it stops before its next model call; freed slots go back to such agents first, the most
    important first, and among equals to the one that has been there longest; to one that a person has paused last.
    """

    def __init__(self, budget: SpawnBudget, where: str, priority: Priority = Priority.NORMAL) -> None:
        self._budget = budget
        self._where = where
        self._count = 0
        self.root = self._slot(priority)
        self._slots: dict[int, AgentSlot] = {self.root.number: self.root}

    @property
    def alive(self) -> int:
        """Slots that are held."""
        return sum(1 for slot in self._slots.values() if slot.held)

    def acquire(self, priority: Priority) -> tuple[AgentSlot, AgentSlot | None]:
        """A slot, and the one it was taken from, if any. Raises BudgetExhausted when there is none to be had."""
        victim = None
        if self.alive >= self._budget.max_agents:
            victim = self._victim(priority)
            if victim is None:
                limit = Limit("max_agents", self._budget.max_agents, self._where, "budget")
                raise BudgetExhausted(
                    f"No more agents can start: {limit}.", limit=str(limit), next_step="Wait for one to finish."
                )
            victim.held = False
        slot = self._slot(priority)
        self._slots[slot.number] = slot
        return slot, victim

    def release(self, slot: AgentSlot) -> AgentSlot | None:
        """An agent ended, however it ended. Returns the slot that gets its place back because of that."""
        if slot is self.root or self._slots.pop(slot.number, None) is None or not slot.held:
            return None
        return self._give_back()

    def _give_back(self) -> AgentSlot | None:
        waiting = [slot for slot in self._slots.values() if not slot.held]
        if not waiting or self.alive >= self._budget.max_agents:
            return None
        first = min(waiting, key=lambda slot: (slot.paused, -slot.priority, slot.number))
        first.held = True
        return first

    def _victim(self, priority: Priority) -> AgentSlot | None:
        if not self._budget.allow_preempt or priority < Priority.HIGH:
            return None
        weaker = [
            slot
            for slot in self._slots.values()
            if slot.held and not slot.paused and slot is not self.root and slot.priority < priority
        ]
        return min(weaker, key=lambda slot: (slot.priority, -slot.number), default=None)

    def _slot(self, priority: Priority) -> AgentSlot:
        self._count += 1
        return AgentSlot(self._count, priority)
