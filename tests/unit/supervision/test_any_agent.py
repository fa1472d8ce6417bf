"""Whatever an agent does, it costs this agent only: what it gives back, how it ends, what it leaves behind."""

from __future__ import annotations

import asyncio
import threading

import pytest

from desktop.domain.errors import CancellationError, ConfigurationError
from desktop.domain.middleware import MiddlewareTermination
from desktop.domain.run_tree import NodeState
from desktop.domain.supervision import ExecutionBudget
from tests.harness.patience import PATIENCE_S
from tests.unit.supervision.kit import ROOT, Bench, Made, ask, request, until


async def cyclic(_ctx, _inbox):
    value: list = []
    value.append(value)
    return value


async def deep(_ctx, _inbox):
    value: list = []
    for _ in range(5000):
        value = [value]
    return value


async def keyed(_ctx, _inbox):
    return {(1, 2): 3}


class Unsayable:
    def __str__(self):
        raise RuntimeError("no")

    __repr__ = __str__


async def unsayable(_ctx, _inbox):
    return Unsayable()


async def huge(_ctx, _inbox):
    return "x" * 9_000_000


async def cancels_itself(_ctx, _inbox):
    sleeping = asyncio.ensure_future(asyncio.sleep(60))
    sleeping.cancel()
    await sleeping


async def raises_cancelled(_ctx, _inbox):
    raise asyncio.CancelledError


async def exits(_ctx, _inbox):
    raise SystemExit(3)


BAD = {
    "cyclic": (cyclic, "agent.value"),
    "deep": (deep, "agent.value"),
    "tuple key": (keyed, "agent.value"),
    "unsayable": (unsayable, "agent.value"),
    "huge": (huge, "agent.value"),
    "cancels itself": (cancels_itself, "bug"),
    "raises CancelledError": (raises_cancelled, "bug"),
    "exits": (exits, "bug"),
}


@pytest.mark.spec("R-SUP-15", "R-JRN-5", "R-CAN-11")
@pytest.mark.expects_log("agent")
@pytest.mark.parametrize("what", BAD)
async def test_an_agent_that_gives_back_or_ends_as_nobody_expects_fails_alone_and_has_its_terminal_entry(what):
    body, code = BAD[what]

    async def parent(ctx, _inbox):
        children = [await ctx.spawn(name, []) for name in ("bad", "good")]
        return [(await ctx.join(child)).code for child in children]

    async def good(ctx, _inbox):
        return (await ctx.llm(request())).text

    alone, beside = Bench(), Bench()
    outcome = await alone.run(body)
    assert (outcome.status, outcome.code) == ("failed", code)
    assert alone.log.told()[-1].endswith("end failed")
    assert (await beside.run(parent, bad=body, good=good)).value == [code, ""]
    returns = [record.agent for record in beside.log.records if record.kind == "return"]
    assert sorted(returns) == ["0", "0.1", "0.2"]


@pytest.mark.spec("R-SUP-15")
@pytest.mark.expects_log("agent")
@pytest.mark.parametrize("odd", ["not async", "no run", "no id"])
async def test_what_is_no_agent_at_all_fails_as_one(odd):
    class Odd:
        if odd != "no id":
            id = ROOT
        if odd == "not async":

            def run(self, ctx, inbox):
                return 7

    host = await Bench().host({})
    assert (await asyncio.wait_for(host.run(Odd(), []), PATIENCE_S)).code == "bug"


async def swallows(_ctx, _inbox):
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        return "partial"


@pytest.mark.spec("R-CAN-10", "R-SUP-11")
async def test_an_agent_that_returns_something_when_it_is_cancelled_was_cancelled_all_the_same():
    bench = Bench()
    running = asyncio.ensure_future(bench.run(swallows))
    await until(lambda: hasattr(bench, "tree"))
    await asyncio.sleep(0)
    bench.token.cancel("stop it")
    outcome = await running
    assert (outcome.status, outcome.detail, outcome.value) == ("cancelled", "stop it", None)
    late = await Bench(budget=ExecutionBudget(deadline_s=0.03)).run(swallows)
    assert (late.status, "deadline_s" in late.limit) == ("limit", True)


@pytest.mark.spec("R-CAN-10", "R-JRN-5")
@pytest.mark.expects_log("left behind")
async def test_an_agent_that_will_not_end_is_left_behind_and_reaches_nothing_any_more():
    bench, freed, refused = Bench(), asyncio.Event(), []

    async def stubborn(ctx, _inbox):
        while not freed.is_set():
            try:
                await freed.wait()
            except asyncio.CancelledError:
                continue
        for call in (ctx.llm(request()), ctx.tool("write", {}), ctx.spawn("stubborn", []), ctx.uuid()):
            with pytest.raises(CancellationError):
                await call
            refused.append(call)

    async def parent(ctx, _inbox):
        await ctx.spawn("stubborn", [])
        await until(lambda: len(bench.tree.nodes) == 2)
        await ctx.uuid()
        return "parent done"

    outcome = await bench.run(parent, stubborn=stubborn)
    assert (outcome.status, outcome.value) == ("completed", "parent done")
    assert bench.log.told()[-1].endswith("end completed")
    freed.set()
    await until(lambda: len(refused) == 4 or bench.tree.find("0.1").state is not NodeState.CANCELLED)
    assert (len(refused), bench.done) == (4, [])


@pytest.mark.spec("R-SUP-15", "R-JRN-5")
async def test_what_an_ended_agent_leaves_behind_calls_nobody_and_starts_nobody():
    bench, heard, go_on, over = Bench(), [], asyncio.Event(), asyncio.Event()

    async def leaky(ctx, _inbox):
        async def later():
            await go_on.wait()
            for call in (ctx.llm(request("late")), ctx.spawn("leaky", [])):
                with pytest.raises(CancellationError, match="has ended"):
                    await call
                heard.append(call)
            over.set()

        heard.append(asyncio.ensure_future(later()))
        return "done"

    async def parent(ctx, _inbox):
        await ctx.join(await ctx.spawn("leaky", []))
        go_on.set()
        await asyncio.wait_for(over.wait(), PATIENCE_S)
        return len(bench.tree.nodes)

    assert (await bench.run(parent, leaky=leaky)).value == 2
    assert (len(heard), bench.done) == (3, [])


@pytest.mark.spec("R-JRN-4", "R-LIM-7")
async def test_numbers_that_are_none_are_refused():
    async def body(ctx, inbox):
        with pytest.raises(ValueError, match="comes"):
            await ctx.sleep_until(float("nan"))
        with pytest.raises(ConfigurationError, match="deadline_s"):
            await ctx.spawn("child", [], budget=ExecutionBudget(deadline_s=float("nan")))
        return "refused"

    assert (await Bench().run(body, child=cyclic)).value == "refused"


@pytest.mark.spec("R-MW-4")
async def test_a_layer_that_terminates_an_agent_is_named_by_the_code_of_its_end():
    async def body(ctx, inbox):
        raise MiddlewareTermination("halt!")

    outcome = await Bench().run(body)
    assert (outcome.status, outcome.code, outcome.detail) == ("failed", "terminated", "halt!")


@pytest.mark.spec("R-CAN-12", "R-CAN-10")
async def test_a_bare_thread_ends_a_run_on_a_loop_that_nothing_else_wakes():
    bench, at_work, ended, late = Bench(), threading.Event(), threading.Event(), []
    loop = asyncio.get_running_loop()

    async def idle(_ctx, _inbox):
        loop.call_soon(at_work.set)
        await loop.create_future()

    def stop():
        at_work.wait(PATIENCE_S)
        bench.token.cancel("from a thread")
        if not ended.wait(PATIENCE_S):
            loop.call_soon_threadsafe(late.append, "woken by the test")

    host = await bench.host({})
    thread = threading.Thread(target=stop)
    thread.start()
    outcome = await host.run(Made(ROOT, idle), [ask("go")])
    ended.set()
    thread.join()
    assert (outcome.status, outcome.detail, late) == ("cancelled", "from a thread", [])
