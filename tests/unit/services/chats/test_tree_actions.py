"""What a person may make of the budget of agents at work."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.domain.errors import ConfigurationError
from desktop.domain.ids import AgentId
from desktop.domain.messages import Usage
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.supervision import RUN_ROUNDS, ExecutionBudget, Supervision
from desktop.models.scripted import ScriptedModel
from desktop.services.chats.tree_actions import RunTreeService
from tests.unit.services.kit import world


@pytest.mark.spec("R-SUP-7", "R-LIM-7")
async def test_a_budget_by_hand_is_never_less_than_what_is_used_and_names_what_is(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([]), supervised=True) as w:
        node = Supervision.root(AgentId("a", "t"), session_id="t")
        tree = await w.live.open(RunMeta("run", CancellationToken(), "t", node), AgentId("a", "t"))
        tree.root.budget.consume(Usage(60, 40, cost_usd=0.5))
        tree.root.budget.consume(Usage(0, 0, cost_usd=0.0))
        service = RunTreeService(w.live, w.store.run_agents)
        less = {"max_tokens": 99, "max_cost_usd": 0.4, "max_rounds": 1, "deadline_s": 1e-9}
        for (name, value), unit in zip(less.items(), ("tokens", "dollars", "rounds", "seconds"), strict=True):
            with pytest.raises(ConfigurationError, match=f"{unit} are used already"):
                service.change_budget("run", "0", ExecutionBudget(**{name: value}))
        assert tree.root.budget.budget == ExecutionBudget(max_rounds=RUN_ROUNDS)
        service.change_budget("run", "0", ExecutionBudget(max_tokens=100))
        assert str(tree.root.budget.broken()).startswith("max_tokens 100")
        w.live.forget("run")
