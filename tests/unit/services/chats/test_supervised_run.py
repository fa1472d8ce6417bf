"""A chat's run under supervision, through the service: its tree is told, its calls are written before they are made."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.models import TextDelta
from desktop.domain.runs.effects import is_digest
from desktop.domain.runs.events import RunTreeChanged, TextArrived
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.runs.tree import NodeState
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.recovery.history import call_outcomes
from tests.harness.timeouts import until
from tests.unit.agents.script import Hang, Script
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.services.kit import MODEL, world


def told(w) -> list:
    return [node for event in w.events if isinstance(event, RunTreeChanged) for node in event.nodes]


@pytest.mark.spec("R-JRN-2", "R-JRN-5", "R-SUP-7")
async def test_a_chats_run_is_journaled_told_and_leaves_nothing(tmp_path: Path) -> None:
    model = ScriptedModel([calls("write_file", {"path": "a"}), says("done")])
    begun: list[str] = []

    async def write(args, context):
        begun.extend(f"{line.kind} {line.phase}" for line in await w.store.effects.load(context.meta.run_id))
        return "written"

    tool = FakeTool("write-file", Category.WRITE, body=write)
    async with world(tmp_path, model, tool, person=Person("allow_once"), supervised=True) as w:
        thread = await w.thread()
        sent = await w.service.send(thread, "write it")
        await w.settled(thread)
        log = await w.store.effects.load(sent.run_id)
        asked = ["llm begun", "llm completed"]
        assert begun == [*asked, "tool begun"]
        assert [f"{line.kind} {line.phase}" for line in log] == [*begun, "tool completed", *asked, "end completed"]
        assert [line.agent for line in log if line.kind == "llm"] == ["0"] * 4
        assert all(is_digest(line.value) for line in log if line.phase == "completed" and line.kind != "end")
        last = told(w)[-1]
        assert (last.state, last.rounds, last.thread_id) == (NodeState.COMPLETED, 2, thread)
        assert await w.store.effects.unfinished() == []
        assert (w.live._trees, w.live._waiting) == ({}, {})


@pytest.mark.spec("R-SUP-2")
async def test_every_place_in_the_tree_of_a_run_has_the_runs_own_id(tmp_path: Path) -> None:
    named: list[str] = []

    async def look(args, context):
        named.append(context.meta.supervision.run_id)
        return "seen"

    model = ScriptedModel([calls("write_file", {"path": "a"}), says("done")])
    tool = FakeTool("write-file", Category.WRITE, body=look)
    async with world(tmp_path, model, tool, person=Person("allow_once"), supervised=True) as w:
        sent = await w.service.send(thread := await w.thread(), "write it")
        await w.settled(thread)
        assert named == [sent.run_id]


@pytest.mark.spec("R-JRN-5")
async def test_a_run_that_ends_before_it_asks_anybody_has_its_terminal_entry_all_the_same(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([]), supervised=True) as w:
        sent = await w.service.send(thread := await w.thread(model=""), "go")
        await w.settled(thread)
        assert w.ends()[0].code == "model.none"
        assert [(one.kind, one.phase) for one in await w.store.effects.load(sent.run_id)] == [("end", "failed")]


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
        (fate,) = call_outcomes(await w.store.effects.load(sent.run_id)).values()
        assert (fate.tool, fate.repeatable, fate.result) == ("write-file", False, None)


@pytest.mark.spec("R-JRN-2", "R-JRN-6")
async def test_what_was_refused_and_what_failed_has_its_line_in_the_one_log_of_the_run(tmp_path: Path) -> None:
    model = ScriptedModel([calls("write_file", {"path": "a"}), calls("no_such_tool", {}, unoffered=True)])
    tool = FakeTool("write-file", Category.WRITE)
    async with world(tmp_path, model, tool, person=Person("deny"), supervised=True) as w:
        sent = await w.service.send(thread := await w.thread(), "write it")
        await w.settled(thread)
        log = await w.store.effects.load(sent.run_id)
        assert [(one.kind, one.name, one.phase, one.summary) for one in log if one.phase != "begun"] == [
            ("llm", MODEL, "completed", ""),
            ("tool", "write_file", "failed", "denied.permission"),
            ("llm", MODEL, "completed", ""),
            ("tool", "no_such_tool", "failed", "not_found"),
            ("llm", MODEL, "failed", ""),
            ("end", "", "failed", log[-1].summary),
        ]
        assert not call_outcomes(log), "nothing of it was ever begun"
        assert tool.calls == []


@pytest.mark.spec("R-JRN-2", "R-CAN-10")
async def test_an_answer_that_is_stopped_has_no_outcome_in_the_log_and_the_run_ends_once(tmp_path: Path) -> None:
    async with world(tmp_path, Script([TextDelta("half"), Hang()]), supervised=True) as w:
        sent = await w.service.send(thread := await w.thread(), "go")
        await w.until(TextArrived)
        await w.service.stop(thread)
        await w.settled(thread)
        log = await w.store.effects.load(sent.run_id)
        assert [(one.kind, one.phase) for one in log] == [("llm", "begun"), ("llm", "cancelled"), ("end", "cancelled")]
