"""A chat's run under supervision, through the service: its tree is told, its calls are written before they are made."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.domain.events import RunTreeChanged
from desktop.domain.models import TextDelta
from desktop.domain.run_tree import NodeState
from desktop.domain.supervision import ExecutionBudget
from desktop.domain.tools import Category
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.supervision.call_journal import fates
from tests.unit.agents.script import Hang, Script
from tests.unit.conversation.kit import world
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.supervision.kit import until


def told(w) -> list:
    return [node for event in w.events if isinstance(event, RunTreeChanged) for node in event.nodes]


@pytest.mark.spec("R-JRN-2", "R-JRN-5", "R-SUP-7")
async def test_a_chats_run_is_journaled_told_and_leaves_nothing(tmp_path: Path) -> None:
    model = ScriptedModel([calls("write_file", {"path": "a"}), says("done")])
    begun: list[str] = []

    async def write(args, context):
        begun.extend(line.phase for line in await w.store.effects.load(context.meta.run_id))
        return "written"

    tool = FakeTool("write-file", Category.WRITE, body=write)
    async with world(tmp_path, model, tool, person=Person("allow_once"), supervised=True) as w:
        thread = await w.thread()
        sent = await w.service.send(thread, "write it")
        await w.settled(thread)
        lines = [(line.kind, line.phase, line.value) for line in await w.store.effects.load(sent.run_id)]
        assert begun == ["begun"]
        assert lines == [("tool", "begun", ""), ("tool", "completed", ""), ("end", "completed", "")]
        last = told(w)[-1]
        assert (last.state, last.rounds, last.thread_id) == (NodeState.COMPLETED, 2, thread)
        assert await w.store.effects.unfinished() == []
        assert (w.live._trees, w.live._waiting) == ({}, {})


@pytest.mark.spec("R-SUP-9", "R-SUP-11")
async def test_a_run_whose_time_runs_out_in_the_middle_of_an_answer_ends_at_that_limit(tmp_path: Path) -> None:
    model = Script([TextDelta("I was about to"), Hang()])
    budget = ExecutionBudget(deadline_s=0.3)
    async with world(tmp_path, model, budget=budget, supervised=True) as w:
        await w.ask(await w.thread(), "go")
        (end,) = w.ends()
        assert (end.reason, end.limit) == ("budget", "deadline_s 0.3 (set by the run's budget)")


@pytest.mark.spec("R-JRN-2")
async def test_a_run_that_closing_cut_off_can_be_gone_on_with_and_tells_which_write_nobody_knows_of(tmp_path) -> None:
    model = ScriptedModel([calls("write_file", {"path": "a"}), says("never")])
    at_work: list[str] = []

    async def hangs(args, context):
        at_work.append(context.meta.run_id)
        await context.meta.cancellation.wait()
        context.meta.cancellation.check()

    tool = FakeTool("write-file", Category.WRITE, body=hangs)
    async with world(tmp_path, model, tool, person=Person("allow_once"), supervised=True) as w:
        sent = await w.service.send(await w.thread(), "write it")
        await until(lambda: bool(at_work))
        await w.service.close()
        assert w.ends()[0].reason == "interrupted"
        assert await w.store.effects.unfinished() == [sent.run_id]
        (fate,) = fates(await w.store.effects.load(sent.run_id)).values()
        assert (fate.tool, fate.repeatable, fate.result) == ("write-file", False, None)
