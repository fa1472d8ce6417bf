"""A child never gets more than its parent has, whatever its parent asks for it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.runs.events import RunTreeChanged
from desktop.domain.runs.supervision import ExecutionBudget, Priority, SpawnBudget
from desktop.models.scripted import ScriptedModel, calls, says
from tests.unit.services.delegation.test_tools import BOSS, house, one
from tests.unit.supervision.kit import Bench


@pytest.mark.parametrize(
    ("of_run", "asked", "gets"),
    [
        (Priority.NORMAL, "critical", Priority.NORMAL),
        (Priority.NORMAL, "", Priority.NORMAL),
        (Priority.NORMAL, "low", Priority.LOW),
        (Priority.LOW, "normal", Priority.LOW),
        (Priority.LOW, "", Priority.LOW),
        (Priority.CRITICAL, "high", Priority.HIGH),
    ],
)
@pytest.mark.spec("R-SUP-3", "R-SUP-6")
async def test_a_child_is_never_more_important_than_its_parent(of_run: Priority, asked: str, gets: Priority) -> None:
    async def parent(ctx: Any, _inbox: Any) -> Any:
        return (await ctx.join(await ctx.spawn("child-agent", "x", priority=asked))).status

    async def child(_ctx: Any, _inbox: Any) -> str:
        return "done"

    bench = Bench(priority=of_run)
    assert (await bench.run(parent, child=child)).value == "completed"
    ranks = {node.path: node.priority for node in bench.told}
    assert ranks == {"0": of_run, "0.1": of_run, "0.1.1": gets}


@pytest.mark.spec("R-SUP-6")
async def test_a_child_that_asks_to_be_critical_takes_nobodys_place() -> None:
    async def parent(ctx: Any, _inbox: Any) -> Any:
        first = await ctx.spawn("quiet-agent", "x")
        second = await ctx.join(await ctx.spawn("loud-agent", "x", priority="critical"))
        return [second.status, (await ctx.join(first)).status]

    async def quiet(ctx: Any, _inbox: Any) -> Any:
        await asyncio.sleep(0.05)
        return (await ctx.llm("quietly"))["text"]

    async def loud(ctx: Any, _inbox: Any) -> Any:
        return (await ctx.llm("loudly"))["text"]

    bench = Bench(spawn=SpawnBudget(max_agents=3))
    assert (await bench.run(parent, quiet=quiet, loud=loud)).value == ["limit", "completed"]


@pytest.mark.parametrize(
    ("own", "asked", "rounds"), [({"max_rounds": 2}, {"max_rounds": 50}, 2), ({"max_rounds": 50}, {"max_rounds": 1}, 1)]
)
@pytest.mark.spec("R-SUP-8")
async def test_of_two_budgets_the_tighter_one_holds_for_a_child(
    own: dict[str, int], asked: dict[str, int], rounds: int
) -> None:
    async def parent(ctx: Any, _inbox: Any) -> Any:
        return (await ctx.join(await ctx.spawn("child-agent", "x", budget=asked))).status

    async def child(ctx: Any, _inbox: Any) -> None:
        for number in range(9):
            await ctx.llm(f"round {number}")

    bench = Bench(budget=ExecutionBudget(**own))
    assert (await bench.run(parent, child=child)).value == "limit"
    assert len([one for one in bench.done if one.startswith("llm")]) == rounds


@pytest.mark.spec("R-SUP-9")
async def test_no_child_outlives_its_parents_deadline() -> None:
    async def parent(ctx: Any, _inbox: Any) -> Any:
        return (await ctx.join(await ctx.spawn("child-agent", "x", budget={"deadline_s": 600}))).status

    async def child(_ctx: Any, _inbox: Any) -> None:
        await asyncio.Event().wait()

    outcome = await Bench(budget=ExecutionBudget(deadline_s=0.2)).run(parent, child=child)
    assert outcome.status == "limit"
    assert "deadline_s" in outcome.limit


@pytest.mark.spec("R-AG-5")
async def test_a_child_calls_no_tool_that_its_parent_may_not_call() -> None:
    async def parent(ctx: Any, _inbox: Any) -> Any:
        return (await ctx.join(await ctx.spawn("child-agent", "x"))).value

    async def child(ctx: Any, _inbox: Any) -> Any:
        return [(await ctx.tool(name, {"of": "it"})).ok for name in ("read", "write")]

    bench = Bench(allowed="child-agent read", allowed_by_name={"child": "*"})
    assert (await bench.run(parent, child=child)).value == [True, False]
    assert bench.done == ["read it"]


@pytest.mark.spec("R-SUP-3", "R-SUP-14")
async def test_a_skill_that_an_agent_works_on_is_as_important_as_its_caller(tmp_path: Path) -> None:
    model = ScriptedModel([calls("sub", {}), says("Sub done."), says("Boss done.")])
    found = {"boss": "allowed-tools: sub", "sub": ""}
    boss = replace(one(BOSS, "boss", exposed=False), priority=Priority.LOW)
    async with house(tmp_path, model, boss, skills=found) as h:
        await h.ask()
        changes = [event for event in h.world.events if isinstance(event, RunTreeChanged)]
        ranks = {node.agent: node.priority for event in changes for node in event.nodes}
        assert ranks == {BOSS: Priority.LOW, "sub": Priority.LOW}
