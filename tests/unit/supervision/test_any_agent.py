"""Whatever an agent in code does, it costs this agent only: what it gives back, how it ends, what it leaves behind."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.permission import Decision
from desktop.domain.errors import ToolFailure
from desktop.domain.runs.middleware import MiddlewareTermination
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.runs.tree import NodeState
from tests.harness.timeouts import WAIT_S, until
from tests.unit.pipeline.kit import Person
from tests.unit.supervision.kit import Bench


async def cyclic(_ctx, _inbox):
    value: list = []
    value.append(value)
    return value


async def keyed(_ctx, _inbox):
    return {(1, 2): 3}


async def cancels_itself(_ctx, _inbox):
    sleeping = asyncio.ensure_future(asyncio.sleep(60))
    sleeping.cancel()
    await sleeping


async def exits(_ctx, _inbox):
    raise ZeroDivisionError


BAD = {
    "cyclic": (cyclic, "failed"),
    "tuple key": (keyed, "failed"),
    "cancels itself": (cancels_itself, "failed"),
    "raises": (exits, "failed"),
}


@pytest.mark.spec("R-SUP-15", "R-JRN-5", "R-AAT-5")
@pytest.mark.parametrize("what", BAD)
async def test_an_agent_that_gives_back_or_ends_as_nobody_expects_costs_nobody_else(what: str) -> None:
    async def parent(ctx, _inbox):
        children = [await ctx.spawn(f"{name}-agent", "x") for name in ("bad", "good")]
        return [(await ctx.join(child)).status for child in children]

    async def good(ctx, _inbox):
        return (await ctx.llm("hi"))["text"]

    bench = Bench()
    body, status = BAD[what]
    outcome = await bench.run(parent, bad=body, good=good)
    assert (outcome.status, outcome.value) == ("completed", [status, "completed"])
    assert bench.log.told()[-1] == ".0 end completed"
    ends = sorted(record.agent for record in bench.log.records if record.kind == "return")
    assert ends == ["0.1", "0.1.1", "0.1.2"]


@pytest.mark.spec("R-CAN-10", "R-SUP-11")
async def test_an_agent_that_returns_something_when_it_is_cancelled_was_cancelled_all_the_same() -> None:
    async def swallows(_ctx, _inbox):
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            return "partial"

    bench = Bench()
    running = asyncio.ensure_future(bench.run(swallows))
    await until(lambda: hasattr(bench, "tree") and "0.1" in bench.tree.nodes)
    bench.token.cancel("stop it")
    outcome = await running
    assert (outcome.status, outcome.value) == ("cancelled", None)
    assert bench.tree.find("0.1").detail == "stop it"
    late = await Bench(budget=ExecutionBudget(deadline_s=0.03)).run(swallows)
    assert (late.status, "deadline_s" in late.limit) == ("limit", True)


@pytest.mark.spec("R-SUP-15", "R-JRN-5")
async def test_what_an_ended_agent_leaves_behind_reaches_nothing_any_more() -> None:
    bench, refused, go_on, over = Bench(), [], asyncio.Event(), asyncio.Event()

    async def leaky(ctx, _inbox):
        async def later() -> None:
            await go_on.wait()
            for call in (ctx.llm("late"), ctx.uuid(), ctx.emit("late")):
                with pytest.raises(ToolFailure):
                    await call
                refused.append(call)
            over.set()

        refused.append(asyncio.ensure_future(later()))
        return "done"

    async def parent(ctx, _inbox):
        await ctx.join(await ctx.spawn("leaky-agent", "x"))
        go_on.set()
        await asyncio.wait_for(over.wait(), WAIT_S)
        return len(bench.tree.nodes)

    assert (await bench.run(parent, leaky=leaky)).value == 3
    assert (len(refused), bench.done) == (4, [])


@pytest.mark.spec("R-JRN-4", "R-LIM-7", "R-CAN-9")
async def test_moments_budgets_priorities_and_agents_that_are_none_are_refused() -> None:
    wrong = ({"budget": {"deadline_s": float("nan")}}, {"budget": {"max_agents": 3}}, {"priority": "urgent"})
    no_mapping = ([{}], 5, "x")

    async def body(ctx, _inbox):
        with pytest.raises(ValueError, match="comes"):
            await ctx.sleep_until(float("nan"))
        ends = []
        for given in wrong:
            with pytest.raises(ToolFailure) as refused:
                await ctx.join(await ctx.spawn("main-agent", "x", **given))
            ends.append(refused.value.code)
        for budget in no_mapping:  # ``ctx`` cannot ask for that, but other code of a skill can
            asked = {"kind": "spawn", "given": {"agent": "main-agent", "message": "x", "budget": budget}}
            with pytest.raises(ToolFailure) as refused:
                await ctx.skill.manager.invoke(ctx._ref, asked)
            ends.append(refused.value.code)
        for name in ("nobody", "read", "event-emit"):
            with pytest.raises(ToolFailure, match="no agent called"):
                await ctx.join(await ctx.spawn(name, "x"))
        return ends

    bench = Bench()
    assert (await bench.run(body)).value == ["configuration"] * 6
    assert bench.done == []


@pytest.mark.spec("R-COD-7", "R-JRN-3")
async def test_a_child_is_called_by_its_name_and_no_file_is_read_for_a_path_or_uri(tmp_path: Path) -> None:
    file = tmp_path / "sub.skill.md"
    file.write_text("---\nname: sub\ndescription: d\n---\nDo it.\n")
    refs = (str(file), file.as_uri(), f"{file}#sub")

    async def body(ctx, _inbox):
        for ref in refs:
            with pytest.raises(ToolFailure, match="no agent called"):
                await ctx.join(await ctx.spawn(ref, "x"))

    bench = Bench()
    assert (await bench.run(body)).status == "completed"
    assert [bench.world.fabric.find_cached(ref) for ref in refs] == [(False, None)] * 3, "nobody looked there"


@pytest.mark.spec("R-MW-4")
async def test_a_layer_that_terminates_a_call_is_told_to_the_agent_by_its_code() -> None:
    class Halts:
        async def process(self, context: Any, call_next: Any) -> None:
            if context.tool == "write":
                raise MiddlewareTermination("halt!")
            await call_next()

    async def body(ctx, _inbox):
        answer = await ctx.tool("write", {"of": "a"})
        return [answer.ok, answer.code, answer.text]

    bench = Bench(layers=(Halts(),))
    ok, code, text = (await bench.run(body)).value
    assert (ok, code, "halt!" in text, bench.done) == (False, "terminated", True, [])


@pytest.mark.spec("R-CAN-12", "R-CAN-10")
async def test_a_bare_thread_ends_a_run_on_a_loop_that_nothing_else_wakes() -> None:
    bench, at_work, ended, late = Bench(), threading.Event(), threading.Event(), []
    loop = asyncio.get_running_loop()

    async def idle(_ctx, _inbox):
        loop.call_soon(at_work.set)
        await loop.create_future()

    def stop() -> None:
        at_work.wait(WAIT_S)
        bench.token.cancel("from a thread")
        if not ended.wait(WAIT_S):
            loop.call_soon_threadsafe(late.append, "woken by the test")

    thread = threading.Thread(target=stop)
    thread.start()
    outcome = await bench.run(idle)
    ended.set()
    thread.join()
    assert (outcome.status, bench.tree.find("0.1").detail, late) == ("cancelled", "from a thread", [])


@pytest.mark.spec("R-SUP-10", "R-JRN-1")
async def test_a_person_who_thinks_about_a_call_of_it_costs_no_deadline() -> None:
    person = Person("allow_once", wait=0.6)

    async def write(ctx, _inbox):
        return (await ctx.tool("write", {"of": "a"})).value

    bench = Bench(person=person, budget=ExecutionBudget(deadline_s=0.4))
    outcome = await bench.run(write)
    assert (outcome.status, outcome.value) == ("completed", "write done")
    assert NodeState.WAITING in [facts.state for facts in bench.told]
    worked, waited = bench.tree.find("0.1").final
    assert waited >= 0.5, "what was waited is told apart from what was worked"
    assert worked < 0.4


@pytest.mark.spec("R-SUP-10", "R-PRM-9", "R-CAN-10")
async def test_a_question_that_nobody_answers_any_more_stands_no_clock() -> None:
    person = Person(lambda _: Decision("deny", "digest"), wait=30)

    async def write(ctx, _inbox):
        return (await ctx.tool("write", {"of": "a"})).value

    bench = Bench(person=person)
    running = asyncio.ensure_future(bench.run(write))
    await until(lambda: bool(person.asked))
    await until(lambda: bench.tree.find("0.1").state is NodeState.WAITING)
    bench.token.cancel("enough")
    assert (await running).status == "cancelled"
    assert bench.done == []
