"""Write-ahead of a chat's tool calls: a layer behind the gates, and what it tells after a crash."""

from __future__ import annotations

import asyncio

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import StoreFull, ToolFailure
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import FunctionContext
from desktop.domain.tools import PreCheck, ToolResult, ToolSpec
from desktop.pipeline.compose import compose
from desktop.recovery.effect_journal import EffectJournal
from desktop.recovery.history import call_outcomes
from desktop.recovery.journal import CallJournal
from tests.harness.timeouts import until
from tests.unit.pipeline.kit import Bench, FakeTool, Person
from tests.unit.supervision.kit import MemoryLog


def spec(name: str) -> ToolSpec:
    return ToolSpec(name, "", {}, Category.READ if name == "look" else Category.WRITE)


class World:
    """One run with a journal, and one layer in front of what is done."""

    def __init__(self) -> None:
        self.log = MemoryLog()
        self.layer = CallJournal(lambda context: context.metadata["call"])
        self.done: list[str] = []

    async def open(self) -> EffectJournal:
        journal = EffectJournal("run", self.log, redact=lambda text: text.replace("s3cret", "***"))
        await journal.load()
        self.layer.open(journal)
        return journal

    async def call(self, call_id, tool, act=None, run_id="run", **arguments):
        meta = RunMeta(run_id, CancellationToken())
        context = FunctionContext(meta, tool=tool, arguments=arguments, definition=spec(tool))
        context.metadata["call"] = call_id

        async def core():
            self.done.append(call_id)
            context.result = await act() if act is not None else ToolResult(f"{call_id} done")

        await compose([self.layer])(context, core)
        return context.result


async def fails():
    raise ToolFailure("no such file", code="tool.failed")


async def hangs():
    await asyncio.sleep(3600)


@pytest.mark.spec("R-JRN-2", "R-JRN-5", "R-JRN-6", "R-MW-7")
async def test_a_call_is_written_before_it_is_done_and_its_outcome_after():
    world = World()
    journal = await world.open()
    assert (await world.call("c1", "write", of="s3cret")).text == "c1 done"
    with pytest.raises(ToolFailure):
        await world.call("c2", "write", fails)
    await world.call("c3", "look")
    await world.call("other", "write", run_id="not ours")
    assert world.layer.close("run") is journal
    await journal.end("completed", "said s3cret")
    await world.call("c4", "write")
    assert world.log.told() == [
        "c1.1 tool write begun",
        "c1.1 tool write completed",
        "c2.1 tool write begun",
        "c2.1 tool write failed",
        "c3.1 tool look begun",
        "c3.1 tool look completed",
        ".0 end completed",
    ]
    assert "s3cret" not in world.log.records[0].summary
    assert world.log.records[-1].summary == "said ***"


@pytest.mark.spec("R-JRN-2", "R-CAN-11")
async def test_after_a_crash_the_journal_tells_what_was_done_what_was_not_and_what_nobody_knows():
    world = World()
    await world.open()
    await world.call("done", "write")
    with pytest.raises(ToolFailure):
        await world.call("failed", "write", fails)
    running = [asyncio.ensure_future(world.call(name, name, hangs)) for name in ("write", "look")]
    await until(lambda: len([one for one in world.log.records if one.phase == "begun"]) == 4)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    found = call_outcomes(await world.log.load("run"))
    assert found["done"].result == ToolResult("done done")
    assert found["failed"].result == ToolResult("no such file", is_error=True, code="tool.failed")
    assert (found["write"].result, found["write"].repeatable, found["write"].summary) == (None, False, "write {}")
    assert (found["look"].result, found["look"].repeatable) == (None, True)
    assert "never asked for" not in found


@pytest.mark.spec("R-JRN-2")
async def test_a_call_that_cannot_be_written_down_is_not_made():
    world = World()
    await world.open()
    world.log.broken = StoreFull("The disk is full.")
    with pytest.raises(StoreFull):
        await world.call("c1", "write")
    assert world.done == []


@pytest.mark.spec("R-MW-7", "R-JRN-2")
async def test_behind_the_gates_only_what_was_allowed_is_written_as_begun():
    """In the real pipeline: a denied call, one raised from read to write by the gates, one allowed."""
    log = MemoryLog()
    layer = CallJournal(lambda call: call.request.block.call_id, repeatable=lambda call: call.category is Category.READ)
    journal = EffectJournal("run", log)
    await journal.load()
    layer.open(journal)
    person = Person("deny", "allow_once")
    tool = FakeTool(checks=lambda args: PreCheck(Category.WRITE if args["path"] == "w" else Category.READ))
    bench = Bench(tool, person=person, layers=[layer])
    for path in ("w", "w", "r"):
        await bench.call("read_file", {"path": path})
    await bench.call("read_file", {"nothing": 1})
    await journal.settle()
    begun = [(r.phase, bool(r.summary)) for r in log.records]
    assert begun == [("begun", True), ("completed", False), ("begun", False), ("completed", False)]
    assert len(tool.calls) == 2
