"""A hosted agent's calls through the gates of a real pipeline."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from desktop.agents.hosted.tool_port import PipelineTools
from desktop.domain.judgement import Category
from desktop.domain.permission import Decision
from desktop.domain.run_tree import NodeState
from desktop.domain.supervision import ExecutionBudget
from desktop.pipeline.names import Caller
from desktop.supervision.run_context import EffectPorts
from tests.unit.pipeline.kit import Bench as Gates
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.supervision.kit import Bench, until


class Gated(Bench):
    """Its agents call through a pipeline, and a person is asked."""

    gates: Gates

    def ports(self, made: EffectPorts) -> EffectPorts:
        return replace(made, tool=PipelineTools(self.gates.pipeline, Caller(), self.gates.events.append))


def gated(tool: FakeTool, person: Person, **options) -> Gated:
    bench = Gated(**options)
    bench.gates = Gates(tool, person=person)
    return bench


async def write(ctx, inbox):
    return (await ctx.tool("write-file", {"path": "a"})).text


@pytest.mark.spec("R-SUP-10", "R-JRN-1")
async def test_a_person_who_thinks_about_a_hosted_agents_call_costs_no_deadline() -> None:
    tool, person = FakeTool("write-file", Category.WRITE), Person("allow_once", wait=0.6)
    bench = gated(tool, person, budget=ExecutionBudget(deadline_s=0.3))
    outcome = await bench.run(write)
    assert (outcome.status, outcome.value) == ("completed", "did write-file")
    states = [facts.state for facts in bench.told]
    assert NodeState.WAITING in states
    assert bench.tree.root.final[1] >= 0.5, "what was waited is told apart from what was worked"
    assert bench.tree.root.final[0] < 0.3


@pytest.mark.spec("R-SUP-10", "R-PRM-9", "R-CAN-10")
async def test_a_question_that_nobody_answers_any_more_stands_no_clock() -> None:
    tool, person = FakeTool("write-file", Category.WRITE), Person(lambda _: Decision("deny", "digest"), wait=30)
    bench = gated(tool, person)
    running = asyncio.ensure_future(bench.run(write))
    await until(lambda: bool(person.asked))
    assert bench.tree.root.state is NodeState.WAITING
    bench.token.cancel("enough")
    assert (await running).status == "cancelled"
    assert tool.calls == []
