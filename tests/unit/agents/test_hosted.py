"""The agents that ship, hosted in a run: reasoning and acting, having others work, watching."""

from __future__ import annotations

import asyncio

import pytest

from desktop.agents.hosted.information import MAX_NAMES, InformationAgent, Metrics
from desktop.agents.hosted.orchestrator import OrchestratorAgent, Task, fan_out
from desktop.agents.hosted.react import JournaledAnswerer, ReActAgent, loop_runner
from desktop.agents.loop.answer import Answerer
from desktop.agents.loop.retry import RetryPolicy
from desktop.agents.loop.summarising import SYSTEM
from desktop.domain.errors import ModelBadRequest, ToolFailure
from desktop.domain.events import MessageClosed, RetryScheduled, RunEnded, RunStarted, TextArrived, ToolCallFinished
from desktop.domain.ids import AgentId
from desktop.domain.limits import Limit
from desktop.domain.messages import ChatMessage, ToolCallBlock, Usage
from desktop.domain.middleware import ChatContext, FunctionContext
from desktop.domain.models import ModelRef, ModelRequest, TextDelta
from desktop.domain.supervision import SpawnBudget
from desktop.domain.tools import ToolResult
from desktop.pipeline.compose import compose
from desktop.supervision.bus import Bus
from desktop.supervision.run_context import EffectPorts
from tests.harness.patience import PATIENCE_S
from tests.unit.agents.script import Script, says
from tests.unit.agents.test_loop import valid
from tests.unit.supervision.kit import ROOT, Bench, Made, ask, request, said

MODEL = ModelRef("m", "m")


def calling(tool: str, **arguments: object) -> ChatMessage:
    block = ToolCallBlock(f"c-{tool}", tool, arguments)
    return ChatMessage("assistant", (block,), "tool_calls", Usage(10, 5, cost_usd=0.01), "m/m")


def cut(bench: Bench, after: int) -> Bench:
    """The process died when so many lines were written."""
    bench.log.records = bench.log.records[:after]
    bench.done.clear()
    return bench


async def hosted(bench: Bench, agent, **kinds):
    host = await bench.host(kinds)
    return await asyncio.wait_for(host.run(agent, [ask("go")]), PATIENCE_S)


@pytest.mark.spec("R-SUP-15", "R-SUP-16", "R-JRN-1")
async def test_the_loop_as_an_agent_acts_answers_and_goes_on_after_a_restart():
    async def answer(asked):
        return said("it is done") if asked.messages[-1].role == "tool" else calling("write", of="a")

    agent = ReActAgent(ROOT, loop_runner(MODEL, system="work", tools=({"name": "write"},)))
    bench = Bench(answer=answer)
    outcome = await hosted(bench, agent)
    assert (outcome.status, outcome.value, outcome.rounds) == ("completed", "it is done", 2)
    assert bench.done == ["llm go", "write a", "llm "]
    again = await hosted(cut(bench, 4), agent)
    assert (again.value, again.rounds, bench.done) == ("it is done", 2, ["llm "])


@pytest.mark.spec("R-CTX-1", "R-CTX-9", "R-JRN-2", "R-SUP-16")
async def test_the_loop_as_an_agent_summarises_its_older_rounds_once_whatever_line_it_is_cut_off_at():
    asked: list[ModelRequest] = []

    async def answer(request):
        asked.append(request)
        if request.system == SYSTEM:
            return said("Much was read.")
        rounds = sum(one.system != SYSTEM for one in asked)
        return said("done") if rounds >= 16 else calling("write", of="a" * 2_000)

    agent = ReActAgent(ROOT, loop_runner(MODEL, tools=({"name": "write"},), window=4_000, summaries=True))
    bench = Bench(answer=answer)
    assert (await hosted(bench, agent)).value == "done"
    summaries = [request for request in asked if request.system == SYSTEM]
    lines, whole = list(bench.log.records), len(asked)
    assert 2 <= len(summaries) <= 10
    assert all(request.messages[-1].text == "go" or valid(request.messages) for request in asked)
    assert all("go" in [m.text for m in request.messages] for request in asked if request.system != SYSTEM)
    last = max(at for at, line in enumerate(lines) if line.kind == "llm" and line.phase == "completed")
    bench.log.records = lines[:last]
    assert (await hosted(bench, agent)).value == "done"
    assert (len(asked), asked[-1].system == SYSTEM) == (whole + 1, False)


@pytest.mark.spec("R-SUP-11", "R-SUP-16")
async def test_the_loop_as_an_agent_ends_at_its_limit_or_with_the_models_failure():
    async def forever(asked):
        return calling("read")

    async def refuse(asked):
        raise ModelBadRequest("Nonsense.")

    agent = ReActAgent(ROOT, loop_runner(MODEL, limit=Limit("maxSteps", 3, "the test")))
    limited = await hosted(Bench(answer=forever), agent)
    assert (limited.status, limited.limit, limited.rounds) == ("limit", "maxSteps 3 (set by the test)", 3)
    failed = await hosted(Bench(answer=refuse), agent)
    assert (failed.status, failed.code) == ("failed", "model.bad_request")


@pytest.mark.spec("R-JRN-1", "R-LOOP-14")
async def test_an_answer_that_streams_is_journaled_and_its_failure_keeps_its_words():
    script = Script(says("hello"), [TextDelta("half"), ModelBadRequest("no")])
    heard = []

    async def body(ctx, inbox):
        answerer = JournaledAnswerer(ctx, Answerer(script, retry=RetryPolicy()))
        first = await answerer.ask(request(), ctx.meta, heard.append)
        second = await answerer.ask(request("again"), ctx.meta, heard.append)
        return [first.message.text, second.message.text, type(second.error).__name__]

    bench = Bench()
    assert (await bench.run(body)).value == ["hello", "half", "ModelBadRequest"]
    bench.log.records = bench.log.records[:4]
    assert (await bench.run(body)).value == ["hello", "", "ModelBadRequest"]
    assert len(script.requests) == 2


@pytest.mark.spec("R-SUP-16", "R-JRN-3")
async def test_an_orchestrator_fans_out_waits_and_puts_together():
    alive: list[int] = []
    bench = Bench()

    async def worker(ctx, inbox):
        alive.append(bench.tree.agent_slots.alive)
        await ctx.tool("read", {"of": inbox[0].text})
        return inbox[0].text.upper()

    async def plan(ctx, inbox):
        return [Task("worker", [ask(letter)]) for letter in "abcdefgh"]

    outcome = await hosted(bench, OrchestratorAgent(ROOT, plan, at_once=3), worker=worker)
    assert outcome.value == list("ABCDEFGH")
    assert max(alive) == 4


@pytest.mark.spec("R-SUP-16", "R-JRN-3")
async def test_a_child_that_fails_does_not_stop_the_others_and_fails_the_usual_end():
    async def worker(ctx, inbox):
        if inbox[0].text == "b":
            raise ToolFailure("no b")
        return inbox[0].text

    async def plan(ctx, inbox):
        return [Task("worker", [ask(letter)]) for letter in "abc"]

    async def kinds_of_ends(ctx, outcomes):
        return [(outcome.status, outcome.code) for outcome in outcomes]

    outcome = await hosted(Bench(), OrchestratorAgent(ROOT, plan, kinds_of_ends), worker=worker)
    assert [status for status, _ in outcome.value] == ["completed", "failed", "completed"]
    failed = await hosted(Bench(), OrchestratorAgent(ROOT, plan), worker=worker)
    assert (failed.status, failed.detail) == ("failed", "Part 2 of 3 ended: no b")

    async def unknown(ctx, inbox):
        return await fan_out(ctx, [Task("nobody", [])])

    missing = await hosted(Bench(), Made(ROOT, unknown))
    assert (missing.status, missing.code) == ("failed", "not_found")


@pytest.mark.spec("R-SUP-5", "R-SUP-16")
async def test_where_seats_are_few_a_fan_out_waits_for_one_and_where_there_is_none_it_loses_nothing():
    async def worker(ctx, inbox):
        return (await ctx.llm(request(inbox[0].text))).text

    async def plan(ctx, inbox):
        return [Task("worker", [ask(str(number))]) for number in range(12)]

    async def statuses(ctx, outcomes):
        return [outcome.status for outcome in outcomes]

    few = Bench(spawn=SpawnBudget(max_agents=5))
    outcome = await hosted(few, OrchestratorAgent(ROOT, plan), worker=worker)
    assert outcome.value == [f"re {number}" for number in range(12)]
    few.log.records = few.log.records[: len(few.log.records) // 2]
    assert (await hosted(few, OrchestratorAgent(ROOT, plan), worker=worker)).value == outcome.value
    assert few.done.count("llm 0") == 1
    none = Bench(spawn=SpawnBudget(max_agents=1))
    assert (await hosted(none, OrchestratorAgent(ROOT, plan, statuses), worker=worker)).value == ["limit"] * 12


@pytest.mark.spec("R-LOOP-12", "R-SUP-15")
@pytest.mark.parametrize("parallel", [False, True])
async def test_a_tool_that_raises_ends_the_agent_with_its_own_words_side_by_side_too(parallel):
    async def act(name, arguments, meta):
        if name == "broken":
            raise ToolFailure("disk on fire")
        return ToolResult("ok")

    async def answer(asked):
        blocks = tuple(ToolCallBlock(name, name, {}) for name in ("read", "broken"))
        return ChatMessage("assistant", blocks, "tool_calls", Usage(1, 1), "m/m")

    agent = ReActAgent(ROOT, loop_runner(MODEL, parallel=lambda _name: parallel))
    outcome = await hosted(Bench(answer=answer, act=act), agent)
    assert (outcome.status, outcome.code, outcome.detail) == ("failed", "tool.failed", "disk on fire")


@pytest.mark.spec("R-SUP-16", "C-25")
async def test_an_information_agent_adds_up_what_a_run_says():
    bus, bench = Bus(), Bench()
    where = {"thread_id": "t", "run_id": "watched"}
    agent = InformationAgent(ROOT, bus, "watched")
    bus.publish(RunStarted(**where, agent="x", model="m", user_message_id="u"))
    for number in range(3):
        bus.publish(TextArrived(**where, message_id="m", text="x"))
        usage = Usage(100, 10, cost_usd=0.5) if number else Usage(100, 10)
        bus.publish(MessageClosed(**where, message_id="m", stop_reason="end", usage=usage))
    for failed in (False, True):
        bus.publish(
            ToolCallFinished(
                **where,
                message_id="m",
                call_id="c",
                tool="bash",
                state="done",
                text="",
                is_error=failed,
                code="",
                elapsed_ms=20,
            )
        )
    bus.publish(RetryScheduled(**where, attempt=1, delay_s=1.0, code="x", detail=""))
    bus.publish(RunEnded(thread_id="t", run_id="another", reason="error"))
    below = {"thread_id": "child", "run_id": "below"}
    bus.publish(RunStarted(**below, agent="y", model="m", user_message_id="u", above="watched"))
    bus.publish(MessageClosed(**below, message_id="m", stop_reason="end", usage=Usage(1, 1, cost_usd=0.25)))
    bus.publish(RunEnded(**below, reason="response"))
    bus.publish(MessageClosed(**below, message_id="m", stop_reason="end", usage=Usage(1000, 1000)))
    bus.publish(RunEnded(**where, reason="response"))
    outcome = await hosted(bench, agent)
    assert outcome.value == {
        "runs_started": 2,
        "runs_ended": {"response": 2},
        "rounds": {"end": 4},
        "input_tokens": 301,
        "output_tokens": 31,
        "cost_usd": 1.25,
        "cost_known": False,
        "tool_calls": {"bash": 2},
        "tool_failures": {"bash": 1},
        "tool_ms": {"bash": 40},
        "retries": 1,
        "missed": 0,
    }
    assert any(line.startswith("emit metrics") for line in bench.done)
    assert bus._listeners == []
    own = await hosted(Bench(), InformationAgent(ROOT, bus, "run"))
    assert (own.status, own.code, bus._listeners) == ("failed", "configuration", [])


@pytest.mark.spec("R-SUP-16")
async def test_an_information_agent_that_is_cancelled_leaves_the_bus():
    bus, bench = Bus(), Bench()
    agent = InformationAgent(ROOT, bus, "watched")
    host = await bench.host({})
    running = asyncio.ensure_future(host.run(agent, []))
    await asyncio.sleep(0)
    bench.token.cancel()
    assert (await running).status == "cancelled"
    assert bus._listeners == []


def test_names_that_nobody_bounded_do_not_fill_the_memory():
    metrics = Metrics()
    for number in range(MAX_NAMES + 100):
        metrics.add(RunEnded(thread_id="t", run_id="r", reason=f"r{number}"))
    assert len(metrics.runs_ended) == MAX_NAMES + 1
    assert metrics.runs_ended["other"] == 100


class Counting:
    """A layer that counts what it wraps."""

    def __init__(self):
        self.wrapped = 0

    async def process(self, context, call_next):
        self.wrapped += 1
        await call_next()


@pytest.mark.spec("R-MW-8", "R-MW-6")
async def test_middleware_wraps_what_is_really_done_and_nothing_that_the_journal_gives_back():
    chat, function, agents = Counting(), Counting(), Counting()

    class Layered(Bench):
        def ports(self, made):
            async def llm(asked, meta):
                context = ChatContext(meta, request=asked)

                async def core():
                    context.response = await made.llm(asked, meta)

                await compose([chat])(context, core)
                return context.response

            async def tool(name, arguments, meta, waits):
                context = FunctionContext(meta, tool=name, arguments=arguments)

                async def core():
                    context.result = ToolResult((await made.tool(name, arguments, meta, waits)).text)

                await compose([function])(context, core)
                return context.result

            return EffectPorts(llm, tool, made.repeatable, made.publish)

    async def worker(ctx, inbox):
        await ctx.tool("write", {"of": "w"})

    async def body(ctx, inbox):
        await ctx.llm(request("one"))
        await ctx.tool("write", {"of": "a"})
        await ctx.join(await ctx.spawn("worker", []))
        await ctx.llm(request("two"))

    bench = Layered(options={"around": compose([agents])})
    await bench.run(body, worker=worker)
    assert (chat.wrapped, function.wrapped, agents.wrapped) == (2, 2, 2)
    whole = list(bench.log.records)
    lines = [number for number, record in enumerate(whole) if record.name == "m/m" and record.phase == "begun"]
    cut(bench, lines[1])
    await bench.run(body, worker=worker)
    assert bench.done == ["llm two"]
    assert (chat.wrapped, function.wrapped) == (3, 2), "only the second request was made again"
    assert agents.wrapped == 3, "the root runs again; the child had ended, so nothing of it runs"


@pytest.mark.spec("R-SUP-15", "Q-11")
async def test_anything_with_an_id_and_run_is_an_agent():
    class Plain:
        id = AgentId("plain", "1")

        async def run(self, ctx, inbox):
            return str(ctx.agent_id), ctx.meta.run_id, len(inbox)

    outcome = await hosted(Bench(), Plain())
    assert outcome.value == ["root/0", "run", 1], "as the journal holds it"


@pytest.mark.spec("R-SUP-15")
@pytest.mark.expects_log("failed")
async def test_a_bug_in_an_agent_costs_this_agent_only():
    async def broken(ctx, inbox):
        raise ZeroDivisionError

    async def body(ctx, inbox):
        return (await ctx.join(await ctx.spawn("broken", []))).code

    assert (await Bench().run(body, broken=broken)).value == "bug"
