"""What the policy keeps: promised values, limits, persistence, the scope and the trace."""

import asyncio
import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from desktop.agents.loop.retry import RetryPolicy
from desktop.agents.skill.trace import MAX_WAITING, Delivery, TopicEvents, Trace, Whose, joined
from desktop.domain.errors import ToolFailure
from desktop.domain.runs.events import AgentTraced
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.models.scripted import ScriptedModel, calls, fails, says
from desktop.supervision.budgets import BudgetTracker
from desktop.supervision.topics import TopicListener
from tests.harness.timeouts import FOREVER_S, WAIT_S
from tests.unit.library.kit import LibraryBench
from tests.unit.pipeline.kit import FakeTool

HEAD = "---\nname: task\ndescription: A task.\n{more}metadata:\n{metadata}---\nDo it.\n"
NUMBER = "  returns:\n    type: object\n    properties: {n: {type: number}}\n    required: [n]\n"


def bench_of(tmp_path: Path, *rounds: Any, metadata: str = "  x: 1\n", more: str = "", **options: Any) -> LibraryBench:
    tmp_path.mkdir(exist_ok=True)
    model = options.pop("model", None) or ScriptedModel(rounds)
    bench = LibraryBench(tmp_path, FakeTool("look"), *options.pop("tools", ()), model=model, **options)
    bench.write("task.skill.md", HEAD.format(metadata=metadata, more=more))
    return bench


def provided(bench: LibraryBench, *directives: Any, **ends: Any) -> list[Mapping[str, Any]]:
    """A provider of the test's own that ends rounds (``text``, ``toolCalls`` …) until it is stopped; what it heard."""
    heard: list[Mapping[str, Any]] = []

    async def provider(ctx: Any, args: Any) -> Any:
        while True:
            await ctx.manager.invoke(args["hookRef"], {"type": "turn-start"})
            event = {"type": "turn-end", "result": "text", "toolCalls": 0, **ends}
            said = await ctx.manager.invoke(args["hookRef"], event)
            heard.append(said)
            if said.get("stop") or not said.get("continue"):
                return said.get("result", "text")

    bench.register("agent-mine", provider)
    return heard


# -- promised values --------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-RET-5", "R-RET-3", "R-AG-11")
async def test_a_native_finish_takes_the_schema_and_its_value_is_checked(tmp_path: Path) -> None:
    rounds = (calls("finish", {"n": "x"}), calls("finish", {"n": 3}, text="Here."), says("never asked"))
    bench = bench_of(tmp_path, *rounds, metadata=NUMBER, more='allowed-tools: "look"\n')
    assert (await bench.call("task")).result.structured == {"n": 3}
    asked = bench.model.requests
    assert [tool["name"] for tool in asked[0].tools] == ["look", "finish"]
    assert asked[0].tools[1]["parameters"]["required"] == ["n"]
    refused = asked[1].messages[-1].blocks[0]
    assert refused.is_error
    assert "n: " in refused.text
    assert len(asked) == 2


@pytest.mark.spec("R-RET-6")
async def test_a_schema_that_is_no_object_is_wrapped_and_unwrapped(tmp_path: Path) -> None:
    metadata = "  returns: {type: array, items: {type: number}}\n"
    bench = bench_of(tmp_path, calls("finish", {"value": [1, 2]}), metadata=metadata)
    assert (await bench.call("task")).result.structured == [1, 2]
    finish = bench.model.requests[0].tools[-1]
    assert finish["parameters"]["properties"]["value"]["type"] == "array"


@pytest.mark.spec("R-RET-3", "R-RET-6")
async def test_nothing_is_a_value_too_where_it_was_promised(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, calls("finish", {"value": None}), metadata="  returns: {type: 'null'}\n")
    result = (await bench.call("task")).result
    assert (result.text, result.is_error) == ("null", False)


@pytest.mark.spec("R-RET-2", "R-RET-3")
async def test_a_reminder_holds_the_schema_and_what_was_wrong(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, says("Well…"), says('{"n": "x"}'), says('{"n": 1}'), metadata=NUMBER)
    assert (await bench.call("task")).result.structured == {"n": 1}
    first, second = (bench.model.requests[at].messages[-1].text for at in (1, 2))
    assert '"required": ["n"]' in first
    assert "was not accepted" in second


@pytest.mark.spec("R-RET-4", "R-LIM-5")
async def test_reminders_use_up_rounds_and_at_the_limit_there_is_no_free_text(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, *[says("words")] * 5, metadata=f"{NUMBER}  model: {{maxTurns: 2}}\n")
    outcome = await bench.call("task")
    assert outcome.result.is_error
    assert "no valid result" in outcome.result.text
    assert "maxTurns 2 (set by the skill task)" in outcome.result.text
    assert "words" not in outcome.result.text
    assert len(bench.model.requests) == 2


@pytest.mark.spec("R-RET-7", "R-LIM-7")
@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        (f"{NUMBER}  model: {{persistent: true}}\n", "persistent and returns"),
        ("  model: {maxTurns: 0}\n", "maxTurns"),
        ("  model: {maxTurns: true}\n", "maxTurns"),
        ("  model: {maxTurns: -1}\n", "maxTurns"),
        ("  model: {maxTurns: .nan}\n", "maxTurns"),
        ("  model: {maxTurns: 2.5}\n", "maxTurns"),
        ("  model: {maxSteps: '3'}\n", "maxSteps"),
        ("  model: {persistent: 1}\n", "persistent"),
        ("  model: {toolMode: native}\n", "toolMode"),
        ("  model: {agent: ../x}\n", "model.agent"),
        ("  model: {toolMode: code}\n", "code sandbox"),
    ],
)
async def test_settings_that_make_no_sense_are_told_before_the_first_round(
    tmp_path: Path, metadata: str, words: str
) -> None:
    bench = bench_of(tmp_path, says("never"), metadata=metadata)
    outcome = await bench.call("task")
    assert outcome.result.is_error
    assert words in outcome.result.text
    assert not bench.model.requests


@pytest.mark.spec("R-RET-8")
async def test_a_schema_may_be_found_in_the_context(tmp_path: Path) -> None:
    metadata = "  params: {type: object, additionalProperties: true}\n  returns: {$resolve: args.shape}\n"
    bench = bench_of(tmp_path, calls("finish", {"a": 1}), calls("finish", {"b": 2}), metadata=metadata)
    shape = {"type": "object", "required": ["b"]}
    assert (await bench.call("task", {"shape": shape})).result.structured == {"b": 2}
    static = bench_of(tmp_path / "s", calls("finish", {"value": "any"}), metadata=metadata)
    assert (await static.call("task", {"shape": None})).result.text == "any"


@pytest.mark.spec("R-AG-11")
async def test_finish_comes_before_a_stop_and_a_stop_before_the_text(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, metadata="  model: {agent: agent-mine, maxTurns: 1}\n")
    provided(bench, toolCalls=1)
    assert (await bench.call("task")).result.text == "text"

    async def finishes(ctx: Any, args: Any) -> Any:
        ctx.envelope.parent.manager.finish({"v": 1})
        return "other text"

    bench.register("agent-mine", finishes)
    assert (await bench.call("task")).result.structured == {"v": 1}


# -- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-LIM-2", "R-LIM-3", "R-LIM-1")
async def test_the_policys_thirty_rounds_reach_the_provider_and_a_last_text_is_a_normal_end(tmp_path: Path) -> None:
    look = calls("look", {"path": "a"})
    bench = bench_of(tmp_path, *[look] * 29, says("at last"))
    assert (await bench.call("task")).result.text == "at last"
    assert len(bench.model.requests) == 30
    over = bench_of(tmp_path / "b", *[look] * 40, metadata="  model: {maxSteps: 99}\n")
    outcome = await over.call("task")
    assert len(over.model.requests) == 30
    assert "maxTurns 30 (set by the agent's default)" in outcome.result.text


@pytest.mark.spec("R-LIM-4", "R-LIM-8", "C-17")
async def test_calls_beyond_the_limit_are_errors_and_then_the_agent_fails(tmp_path: Path) -> None:
    rounds = [calls("look", {"path": "a"}), calls("look", {"odd": 1}), calls("look", {"path": "b"}), says("never")]
    bench = bench_of(tmp_path, *rounds, metadata="  model: {maxSteps: 2}\n")
    outcome = await bench.call("task")
    assert outcome.result.code == "limit"
    assert "maxSteps 2 (set by the skill task)" in outcome.result.text
    assert len(bench.model.requests) == 3  # the third round's call was refused: invalid ones count too


@pytest.mark.spec("R-LIM-4")
async def test_whoever_finishes_in_the_round_of_the_last_call_has_not_failed(tmp_path: Path) -> None:
    both = [*calls("finish", {"n": 1}), *calls("look", {"path": "a"})]
    bench = bench_of(tmp_path, both, metadata=f"{NUMBER}  model: {{maxSteps: 1}}\n")
    assert (await bench.call("task")).result.structured == {"n": 1}


@pytest.mark.spec("R-SUP-7")
async def test_what_a_provider_of_its_own_uses_counts_against_the_budget(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, metadata="  model: {agent: agent-mine, persistent: true}\n")
    bench.budget = BudgetTracker(ExecutionBudget(max_tokens=30), where="the Run panel")
    heard = provided(bench, toolCalls=1, usage={"inputTokens": 3, "outputTokens": 7})
    outcome = await bench.call("task")
    assert outcome.result.code == "limit.budget"
    assert "max_tokens 30" in outcome.result.text
    assert (bench.budget.rounds, bench.budget.used.input_tokens, bench.budget.used.output_tokens) == (3, 9, 21)
    assert heard == [{"continue": True}, {"continue": True}, {"stop": True}]
    told = next(e for e in bench.events if isinstance(e, AgentTraced) and e.type == "agent-complete").data
    assert (told["status"], told["limit"]) == ("budget", "max_tokens 30 (set by the Run panel)")


@pytest.mark.spec("R-LIM-5", "R-PER-1", "R-DSC-9")
async def test_an_agent_that_is_called_through_skill_invoke_has_no_time_limit_but_its_own(tmp_path: Path) -> None:
    async def slow(*_: Any) -> str:
        await asyncio.sleep(1.4)
        return "slow"

    rounds = (calls("slow", {"path": "a"}), says("inner"))
    bench = bench_of(tmp_path, *rounds, tools=(FakeTool("slow", body=slow, timeout_s=30),))
    bench.seconds = 1.0
    outcome = await bench.call("skill-invoke", {"ref": "task"})
    assert outcome.result.text == "inner"


@pytest.mark.spec("R-SUP-7")
async def test_a_provider_that_does_not_heed_the_end_of_the_budget_is_ended_where_it_stands(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, metadata="  model: {agent: agent-mine}\n")
    bench.budget = BudgetTracker(ExecutionBudget(max_tokens=5))

    async def provider(ctx: Any, args: Any) -> Any:
        event = {"type": "turn-end", "result": "text", "toolCalls": 1, "usage": {"inputTokens": 5, "outputTokens": 0}}
        await ctx.manager.invoke(args["hookRef"], event)
        await asyncio.sleep(FOREVER_S)

    bench.register("agent-mine", provider)
    outcome = await asyncio.wait_for(bench.call("task"), WAIT_S)
    assert outcome.result.code == "limit.budget"


@pytest.mark.spec("R-LIM-5", "R-TRC-4")
async def test_an_agent_that_a_time_limit_ends_says_which_and_who_set_it(tmp_path: Path) -> None:
    for seconds in (0.3, 1.5, 7.5, 37.5):  # longer where a busy machine has not begun the agent by then
        bench = bench_of(tmp_path, {"when": "", "steps": [{"hang": True}]})
        bench.seconds = seconds
        bench.register("around", lambda ctx, _args: ctx.manager.invoke("task", {}))
        outcome = await bench.call("around")
        told = [e.data for e in bench.events if isinstance(e, AgentTraced) and e.type == "agent-complete"]
        if told:
            break
    assert f"the time limit of {seconds:g} s (set by the settings)" in outcome.result.text
    assert told[0]["status"] == "aborted"
    assert told[0]["error"] == f"around reached the time limit of {seconds:g} s (set by the settings)"


@pytest.mark.spec("R-LIM-1", "R-LIM-5", "R-PRV-1")
@pytest.mark.parametrize("tells", [("turn-start", "ask", "turn-end"), ("ask",), ("turn-start",), ("ask", "turn-end")])
async def test_a_provider_that_heeds_nothing_has_no_more_rounds_than_the_policy_gives(
    tmp_path: Path, tells: tuple[str, ...]
) -> None:
    bench = bench_of(tmp_path, *[says("r")] * 50, metadata="  model: {agent: agent-mine, maxTurns: 2}\n")
    refused: list[ToolFailure] = []

    async def provider(ctx: Any, args: Any) -> str:
        for _ in range(40):
            for kind in tells:
                event = {"type": kind, "result": "last", "toolCalls": 1}
                ask = {"messages": [{"role": "user", "text": "x"}]}
                try:
                    await ctx.manager.invoke(*(("model-ask", ask) if kind == "ask" else (args["hookRef"], event)))
                except ToolFailure as failure:
                    refused.append(failure)
        if len(tells) > 2:
            raise refused[0]
        return "its own"

    bench.register("agent-mine", provider)
    outcome = await bench.call("task")
    assert outcome.result.text == ("last" if len(tells) > 2 else "its own")
    assert len(bench.model.requests) == (2 if "ask" in tells else 0)
    assert "maxTurns 2 (set by the skill task)" in str(refused[0])
    assert refused[0].code == "limit"
    told = next(e for e in bench.events if isinstance(e, AgentTraced) and e.type == "agent-complete").data
    assert (told["status"], told["rounds"], told["limit"]) == ("limit", 2, "maxTurns 2 (set by the skill task)")


@pytest.mark.spec("R-LIM-6")
async def test_what_a_tool_asks_a_model_is_no_round_of_the_agent_that_called_it(tmp_path: Path) -> None:
    ask = {"messages": [{"role": "user", "text": "x"}]}
    bench = bench_of(tmp_path, *[says("r")] * 50, metadata="  model: {agent: agent-mine, maxTurns: 1}\n")
    bench.register("asks", lambda ctx, _args: ctx.manager.invoke("model-ask", ask))

    async def provider(ctx: Any, args: Any) -> list[bool]:
        made = [await ctx.manager.invoke(args["invokeRef"], {"tool": "asks", "args": {}}) for _ in range(5)]
        return [one["ok"] for one in made]

    bench.register("agent-mine", provider)
    assert (await bench.call("task")).result.structured == [True] * 5


# -- persistent agents ------------------------------------------------------------------------------------------------

PERSISTENT = "  model: {persistent: true}\n"


@pytest.mark.spec("R-PER-1", "R-PER-2", "R-PER-6", "R-AG-6")
async def test_a_persistent_agent_goes_on_beyond_thirty_and_waits_for_input_instead_of_spinning(tmp_path: Path) -> None:
    look = calls("look", {"path": "a"})
    bench = bench_of(tmp_path, *[look] * 35, says("What next?"), says("Thanks."), metadata=PERSISTENT)
    task = asyncio.ensure_future(bench.call("task"))
    while len(bench.model.requests) < 36:
        await asyncio.sleep(0)
    for _ in range(50):
        await asyncio.sleep(0)
    assert len(bench.model.requests) == 36
    complete = next(e for e in bench.events if isinstance(e, AgentTraced))
    await bench.world.topics.post(f"inbox.{complete.context_id}", "More, please.")
    while len(bench.model.requests) < 37:
        await asyncio.sleep(0)
    assert bench.model.requests[36].messages[-1].text == "More, please."
    bench.token.cancel("stop")
    assert (await asyncio.wait_for(task, WAIT_S)).state == "aborted"


@pytest.mark.spec("R-PER-6")
async def test_what_arrives_while_a_persistent_agent_works_is_its_next_input(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, says("unused"), metadata="  model: {persistent: true, agent: agent-mine}\n")

    async def provider(ctx: Any, args: Any) -> list[str]:
        topics, heard = bench.world.topics, []
        inbox = next(f"inbox.{e.context_id}" for e in bench.events if isinstance(e, AgentTraced))
        await topics.post(inbox, "first")
        for number in range(2):
            await ctx.manager.invoke(args["hookRef"], {"type": "turn-start"})
            if not number:
                await topics.post(inbox, "second")
            said = await ctx.manager.invoke(args["hookRef"], {"type": "turn-end", "result": "text"})
            heard.append(said["message"])
        return heard

    bench.register("agent-mine", provider)
    assert (await asyncio.wait_for(bench.call("task"), WAIT_S)).result.structured == ["first", "second"]
    assert not bench.world.topics._subscriptions


@pytest.mark.spec("R-PER-3")
async def test_errors_are_waited_out_longer_and_longer_and_a_success_starts_anew(tmp_path: Path) -> None:
    slept: list[float] = []
    down = fails("model.unreachable", "down")
    rounds = (*[down] * 7, calls("look", {"path": "a"}), down, {"when": "", "steps": [{"hang": True}]})
    bench = bench_of(tmp_path, *rounds, metadata=PERSISTENT)

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    bench.lent = {"sleep": sleep, "retry": _never()}
    task = asyncio.ensure_future(bench.call("task"))
    while len(bench.model.requests) < 10:
        await asyncio.sleep(0)
    assert slept == [1, 2, 4, 8, 16, 30, 30, 1]
    bench.token.cancel("stop")
    await asyncio.wait_for(task, WAIT_S)


@pytest.mark.spec("R-PER-4")
async def test_a_wait_after_an_error_ends_at_once_when_it_is_stopped(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, fails("model.unreachable", "down"), metadata=PERSISTENT)
    waiting = asyncio.Event()

    async def sleep(_seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    bench.lent = {"sleep": sleep, "retry": _never()}
    task = asyncio.ensure_future(bench.call("task"))
    await asyncio.wait_for(waiting.wait(), WAIT_S)
    bench.token.cancel("stop")
    assert (await asyncio.wait_for(task, WAIT_S)).state == "aborted"


@pytest.mark.spec("R-PER-5")
@pytest.mark.parametrize("code", ["model.key_refused", "model.bad_request", "model.unknown"])
async def test_what_cannot_get_better_is_not_tried_again(tmp_path: Path, code: str) -> None:
    bench = bench_of(tmp_path, fails(code, "No."), says("never"), metadata=PERSISTENT)
    outcome = await bench.call("task")
    assert (outcome.result.code, len(bench.model.requests)) == (code, 1)


@pytest.mark.spec("R-PER-2")
async def test_a_persistent_agent_keeps_a_limit_on_calls_that_it_was_given(tmp_path: Path) -> None:
    look = calls("look", {"path": "a"})
    bench = bench_of(tmp_path, *[look] * 9, metadata="  model: {persistent: true, maxSteps: 3}\n")
    assert "maxSteps 3" in (await bench.call("task")).result.text
    assert len(bench.model.requests) == 4


def _never() -> Any:
    return RetryPolicy(retries=0)


# -- scope, trace, topics ---------------------------------------------------------------------------------------------


@pytest.mark.spec("R-AG-6", "R-TRC-5")
async def test_its_calls_see_whose_they_are_and_nested_agents_see_who_is_above(tmp_path: Path) -> None:
    through = {ref: calls("skill_invoke", {"ref": ref}) for ref in ("inner", "note")}
    rounds = (through["inner"], through["note"], says("in"), through["note"], says("out"))
    bench = bench_of(tmp_path, *rounds)
    bench.write("inner.skill.md", "---\nname: inner\ndescription: x\n---\nInner.\n")
    scopes: list[Any] = []

    async def note(ctx: Any, _args: Any) -> Any:
        scopes.append(dict(ctx.nonlocals["agent"]))
        return "noted"

    bench.register("note", note)
    await bench.call("task")
    inner, outer = scopes
    assert inner["ancestorContextId"] == outer["contextId"] != inner["contextId"]
    assert outer["ancestorContextId"] == ""


@pytest.mark.spec("R-TRC-1", "R-TRC-2")
async def test_middleware_after_the_agent_reads_the_whole_trace_in_order(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, calls("look", {"path": "a"}, text="Hm."), says("Done."), metadata="  watch: true\n")
    seen: list[Any] = []

    async def watch(ctx: Any, _args: Any) -> Any:
        value = await ctx.manager.next()
        seen.extend(ctx.envelope.target.locals["agent"]["trace"])
        return value

    bench.register("watch", watch, role="middleware")
    begun = time.time()
    await bench.call("task")
    assert [entry["type"] for entry in seen] == [
        "turn-start",
        "message",
        "tool-call",
        "tool-result",
        "turn-end",
        "turn-start",
        "message",
        "turn-end",
    ]
    times = [begun, *(entry["timestamp"] for entry in seen), time.time()]
    assert times == sorted(times)
    assert [seen[2]["tool"], seen[2]["args"], seen[3]["result"]] == ["look", {"path": "a"}, "did look"]
    json.dumps(seen)


@pytest.mark.spec("R-TRC-1")
async def test_a_provider_says_what_happened_and_not_when(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, metadata="  model: {agent: agent-mine}\n  watch: true\n")
    provided(bench, timestamp=1, toolCalls=0)
    seen: list[Any] = []

    async def watch(ctx: Any, _args: Any) -> Any:
        value = await ctx.manager.next()
        seen.extend(ctx.envelope.target.locals["agent"]["trace"])
        return value

    bench.register("watch", watch, role="middleware")
    begun = time.time()
    await bench.call("task")
    assert [entry["type"] for entry in seen] == ["turn-start", "turn-end"]
    assert all(begun <= entry["timestamp"] <= time.time() for entry in seen)


PUBLISHED = {"message": "agent-message", "error": "agent-error", "reasoning": "", "retry": ""}


def published(event: AgentTraced) -> str:
    """Under which name topics are told of it; "": they are not."""
    if event.type == "tool-result" and event.data["isError"]:
        return "tool-error"
    return PUBLISHED.get(event.type, event.type)


@pytest.mark.spec("R-TRC-3", "R-TRC-4", "R-TRC-5", "R-TRC-6", "R-TRC-8")
async def test_topics_hear_of_an_agent_and_of_those_below_it_in_envelopes(tmp_path: Path) -> None:
    rounds = (
        [{"reasoning": "hm"}, *calls("look", {"path": "a"}, text="Hm.")],
        calls("look", {"odd": 1}),
        calls("skill_invoke", {"ref": "task"}),
        says("From below."),
        says("Done."),
    )
    bench = bench_of(tmp_path, *rounds)

    async def start(ctx: Any, _args: Any) -> Any:
        ctx.nonlocals["rootContextId"] = "the root"
        return await ctx.manager.invoke("agent", {"prompt": "Go.", "events": "mine", "name": "first"})

    bench.register("start", start)
    assert (await bench.call("start")).result.text == "Hm.\n\nDone."
    told = [event for event in bench.events if isinstance(event, AgentTraced)]
    first, below = dict.fromkeys(event.context_id for event in told)
    assert {(event.run_id, event.context_id, event.ancestor_context_id, event.agent) for event in told} == {
        ("run", first, "", "first"),
        ("run", below, first, "task"),
    }
    for context in (first, below):
        own = [event for event in told if event.context_id == context]
        assert [event.sequence for event in own] == list(range(1, len(own) + 1))
        assert [own[0].type, own[-1].type] == ["agent-start", "agent-complete"]
    kinds = [published(event) for event in told if published(event)]
    assert kinds.count("agent-start") == kinds.count("agent-complete") == 2
    for topic in ("mine", "run.run"):
        heard = [event.data for event in bench.world.topics._topics[topic].events]
        assert [one["type"] for one in heard] == kinds
        assert {"turn-start", "turn-end", "tool-call", "tool-result", "tool-error", "agent-message"} < set(kinds)
        assert len({one["id"] for one in heard}) == len(heard)
        for one, event in zip(heard, filter(published, told), strict=True):
            assert set(one) == {"id", "topic", "type", "source", "data", "timestamp", "rootContextId"}
            assert re.fullmatch("[0-9a-f]{8}", one["id"])
            assert (one["topic"], one["source"], one["rootContextId"]) == (topic, event.agent, "the root")
            assert one["timestamp"] == event.at
            assert one["data"] == {
                **event.data,
                "runId": "run",
                "contextId": event.context_id,
                "ancestorContextId": event.ancestor_context_id,
                "agent": event.agent,
                "sequence": event.sequence,
            }


@pytest.mark.spec("R-TRC-3", "R-TRC-4")
async def test_the_end_is_told_also_when_it_failed_and_an_error_is_an_agent_error(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, fails("model.key_refused", "No."))
    await bench.call("task")
    told = [event for event in bench.events if isinstance(event, AgentTraced)]
    assert [told[0].type, told[-1].type, told[-1].data["status"]] == ["agent-start", "agent-complete", "failed"]
    heard = [event.data["type"] for event in bench.world.topics._topics["run.run"].events]
    assert heard == ["agent-start", "turn-start", "agent-error", "agent-complete"]


@pytest.mark.spec("R-TRC-9", "R-SEC-4")
async def test_trace_and_events_are_bounded_copies_without_secrets(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, calls("look", {"path": "sk-secret " + "x" * 200_000}), says("Done."))
    bench.lent = {"redact": lambda text: text.replace("sk-secret", "[REDACTED]")}
    await bench.call("task")
    told = [event for event in bench.events if isinstance(event, AgentTraced)]
    text = json.dumps([dict(event.data) for event in told])
    assert "sk-secret" not in text
    assert "[REDACTED]" in text
    assert all(len(json.dumps(dict(event.data))) < 40_000 for event in told)


@pytest.mark.spec("R-TRC-7")
async def test_a_listener_that_is_slow_or_raises_changes_nothing_and_only_pieces_of_text_are_dropped() -> None:
    heard: list[Mapping[str, Any]] = []
    go = asyncio.Event()

    async def listen(_one: TopicListener, event: Mapping[str, Any]) -> None:
        await go.wait()
        heard.append(event)
        raise ToolFailure("a listener of no use")

    tasks: list[asyncio.Task[None]] = []

    def spawn(work: Any, name: str) -> asyncio.Task[None]:
        tasks.append(asyncio.get_running_loop().create_task(work, name=name))
        return tasks[-1]

    delivery = Delivery(listen, spawn)
    one = TopicListener("s", "t", "run", "ref")
    for number in range(MAX_WAITING * 2):
        delta = number % 2 == 0
        delivery.put(one, {"number": number, "data": {"data": {"delta": delta}}})
    go.set()
    await asyncio.gather(*tasks)
    kept = [event["number"] for event in heard]
    assert kept == sorted(kept)
    assert [number for number in range(MAX_WAITING * 2) if number % 2] == [n for n in kept if n % 2]


@pytest.mark.spec("R-TRC-7", "R-TRC-1", "Q-14")
def test_a_long_trace_keeps_its_texts_whole_and_stays_bounded() -> None:
    whose = Whose(thread_id="t", run_id="r", call_id="c", context_id="x", ancestor="", agent="a")
    told: list[Any] = []
    trace = Trace(TopicEvents(whose, None), told.append, lambda text: text)
    for number in range(20_000):
        trace.record("message", {"text": "a", "delta": True})
        assert number > 50 or [entry["text"] for entry in trace.entries] == ["a"] * (number + 1), "put together later"
    assert len(trace.entries) <= 5_001
    assert sum(len(entry["text"]) for entry in trace.entries) == 20_000
    assert len(told) == 20_000
    assert joined([{"type": "message", "text": "a", "delta": True}, {"type": "turn-end"}])[1] == {"type": "turn-end"}
