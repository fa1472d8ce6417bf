"""What a person does with the agents of a run that is under way, for the Run panel: pause, cancel, budgets."""

from __future__ import annotations

from collections.abc import Sequence

from desktop.domain.errors import ConfigurationError, NotFound
from desktop.domain.runs.cancellation import STOPPED
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.runs.tree import BY_HAND, NodeFacts, StoredRun
from desktop.services.chats.tree_history import as_it_ended
from desktop.store.run_agents import RunAgentRepository
from desktop.supervision.live_runs import LiveRuns
from desktop.supervision.tree import RunTree, TreeNode

OVER = "This agent has ended."


class RunTreeService:
    """Implements ``domain.run_tree.RunTreePort``."""

    def __init__(self, live: LiveRuns, kept: RunAgentRepository) -> None:
        self._live = live
        self._kept = kept

    async def last(self, thread_id: str) -> StoredRun | None:
        """What is kept of the latest run in which an agent wrote into this thread; those that the end of the app cut
        off say so."""
        found = await self._kept.last(thread_id=thread_id)
        return as_it_ended(found) if found is not None else None

    def watch(self, thread_id: str, before: str = "") -> None:
        """Requests of its run come before those of others, as long as it is looked at (R-SUP-14)."""
        self._live.attention.move(thread_id, before)

    def facts(self, run_id: str) -> Sequence[NodeFacts]:
        """All agents of the run, parents first. Raises NotFound."""
        return self._live.facts(run_id)

    def pause(self, run_id: str, path: str) -> None:
        """Before the branch's next call. Raises NotFound."""
        tree, node = self._living(run_id, path)
        tree.pause(node.path)

    def resume(self, run_id: str, path: str) -> None:
        """Resume a paused agent. Raises NotFound."""
        tree, node = self._living(run_id, path)
        tree.resume(node.path)

    def cancel(self, run_id: str, path: str) -> None:
        """For the whole run this is the same as Stop. Raises NotFound."""
        tree, node = self._living(run_id, path)
        tree.cancel(node.path, STOPPED)

    def change_budget(self, run_id: str, path: str, budget: ExecutionBudget) -> None:
        """Raises ConfigurationError for less than is used, NotFound."""
        tree, node = self._living(run_id, path)
        used = node.budget
        pairs = (
            ("tokens", budget.max_tokens, used.used.input_tokens + used.used.output_tokens),
            ("dollars", budget.max_cost_usd, used.used.cost_usd or 0.0),
            ("rounds", budget.max_rounds, used.rounds),
            ("seconds", budget.deadline_s, used.elapsed_s),
        )
        for name, wanted, consumed in pairs:
            if wanted is not None and wanted < consumed:
                raise ConfigurationError(
                    f"{consumed:g} {name} are used already, so the limit cannot be {wanted:g}.",
                    next_step="Give it more, or cancel the agent.",
                )
        tree.change_budget(node.path, budget, BY_HAND)

    def _living(self, run_id: str, path: str) -> tuple[RunTree, TreeNode]:
        tree, inside = self._live.placed(run_id, path)
        node = tree.find(inside)
        if node.over:
            raise NotFound(OVER)
        return tree, node
