"""What a person does with the agents of a run that is under way, for the Run panel: pause, cancel, budgets."""

from __future__ import annotations

from collections.abc import Sequence

from desktop.conversation.service import STOPPED
from desktop.domain.errors import ConfigurationError, NotFound
from desktop.domain.run_tree import NodeFacts
from desktop.domain.supervision import ExecutionBudget
from desktop.supervision.live_runs import LiveRuns
from desktop.supervision.tree import RunTree, TreeNode

OVER = "This agent has ended."
FROM = "you, in the Run panel"


class RunDesk:
    """Implements ``domain.run_tree.RunTreeDesk``."""

    def __init__(self, live: LiveRuns) -> None:
        self._live = live

    def facts(self, run_id: str) -> Sequence[NodeFacts]:
        """All agents of the run, parents first. Raises NotFound."""
        return self._live.tree(run_id).facts()

    def pause(self, run_id: str, path: str) -> None:
        """Before the branch's next call. Raises NotFound."""
        tree, node = self._living(run_id, path)
        tree.pause(node.path)

    def resume(self, run_id: str, path: str) -> None:
        """Raises NotFound."""
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
        tree.change_budget(node.path, budget, FROM)

    def _living(self, run_id: str, path: str) -> tuple[RunTree, TreeNode]:
        tree = self._live.tree(run_id)
        node = tree.find(path)
        if node.over:
            raise NotFound(OVER)
        return tree, node
