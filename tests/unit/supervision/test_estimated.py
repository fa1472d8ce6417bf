"""A server that tells nothing of what it used does not make a budget endless (R-CTX-8, R-SUP-7)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from desktop.domain.messages import Usage
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.presenter.run_panel.words import tokens_words
from desktop.supervision.budgets import BudgetTracker
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.chats.test_supervised_run import told
from tests.unit.services.kit import world
from tests.unit.supervision.kit import Bench, said


@pytest.mark.spec("R-SUP-7", "R-CTX-8")
async def test_an_agent_in_code_whose_server_tells_nothing_stops_at_about_its_tokens():
    async def silent(_request):
        return replace(said("word " * 200), usage=None)

    async def body(ctx, inbox):
        for _ in range(30):
            await ctx.llm("z" * 400)

    bench = Bench(budget=ExecutionBudget(max_tokens=700), answer=silent)
    outcome = await bench.run(body)
    assert (outcome.status, len(bench.done)) == ("limit", 2)
    used = bench.tree.root.budget
    assert (used.estimated, used.total.input_tokens, used.used.cost_usd) == (True, 0, 0.0)
    assert 700 <= used.used.input_tokens + used.used.output_tokens <= 740


@pytest.mark.spec("R-SUP-7", "R-CTX-8")
@pytest.mark.parametrize("usage", [[], [{"usage": {"input": 0, "output": 0}}]], ids=["nothing", "zeros"])
async def test_a_chat_whose_server_tells_nothing_stops_too_and_its_panel_says_about(tmp_path: Path, usage) -> None:
    rounds = [[{"text": "word " * 400}, *usage, *calls("list_directory", {"path": "."})] for _ in range(9)]
    budget = ExecutionBudget(max_tokens=1500)
    model, tool = ScriptedModel([*rounds, says("x")]), FakeTool("list-directory")
    async with world(tmp_path, model, tool, supervised=True, budget=budget) as w:
        await w.ask(await w.thread(), "hello")
        assert w.ends()[0].reason == "budget"
        last = told(w)[-1]
        assert (last.rounds < 5, last.tokens_estimated) == (True, True)
        assert tokens_words(last).startswith("about ")


@pytest.mark.spec("R-SUP-7", "R-MOD-9")
async def test_what_is_charged_then_is_counted_as_the_model_is_known_to_count(tmp_path: Path) -> None:
    charged: list[int] = []
    for scale in (1.0, 2.0):
        model = ScriptedModel([[{"text": "word " * 400}, *calls("list_directory", {"path": "."})], says("done")])
        path = tmp_path / str(scale)
        path.mkdir()
        async with world(
            path, model, FakeTool("list-directory"), supervised=True, token_scale=lambda _ref, by=scale: by
        ) as w:
            await w.ask(await w.thread(), "hello")
            charged.append(told(w)[-1].input_tokens + told(w)[-1].output_tokens)
    assert charged[1] == pytest.approx(2 * charged[0], abs=4)
    assert charged[0] > 500


@pytest.mark.spec("R-SUP-7")
@pytest.mark.parametrize("usage", [Usage(-(10**9), -5, cost_usd=-5.0), Usage(10, 10, cost_usd=float("nan"))])
def test_what_a_port_says_that_is_no_usage_neither_lowers_nor_disables_a_budget(usage):
    budget = BudgetTracker(ExecutionBudget(max_tokens=100, max_cost_usd=0.05))
    budget.consume(Usage(60, 0, cost_usd=0.04))
    budget.consume(usage)
    budget.consume(Usage(40, 0, cost_usd=0.02))
    assert budget.broken() is not None
    assert budget.used.cost_usd == pytest.approx(0.06)
