"""Agent providers: replaceable, told plain data, heard by a hook whose directives they follow."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from desktop.agents.loop.summarising import SYSTEM
from desktop.agents.loop.window import SUMMARY_HEAD
from desktop.domain.approval.judgement import Category
from desktop.domain.models import ModelRequest
from desktop.models.scripted import ScriptedModel, calls, fails, says
from desktop.pipeline.results import NestedFailure
from tests.harness.timeouts import FOREVER_S, WAIT_S
from tests.unit.agents.script import Script, call
from tests.unit.agents.script import calls as ask
from tests.unit.agents.script import says as reply
from tests.unit.agents.test_rounds import valid
from tests.unit.library.kit import LibraryBench
from tests.unit.pipeline.kit import FakeTool, Person

HEAD = "---\nname: task\ndescription: A task.\n{more}metadata:\n  model: {model}\n---\nDo it.\n"


def bench_of(tmp_path: Path, *rounds: Any, model: str = "{}", more: str = "", **options: Any) -> LibraryBench:
    tmp_path.mkdir(exist_ok=True)
    tools = (FakeTool("look"), FakeTool("write-file", Category.WRITE))
    bench = LibraryBench(tmp_path, *tools, model=ScriptedModel(rounds), **options)
    bench.write("task.skill.md", HEAD.format(model=model, more=more))
    return bench


LOOK = [{"name": "look", "description": "looks", "parameters": {"type": "object"}}]


class Driver:
    """A policy of its own around the bundled provider: notes every event and gives the directives of ``answer``."""

    def __init__(self, bench: LibraryBench, answer: Any = None, *, hooked: bool = True, **given: Any) -> None:
        self.events: list[dict[str, Any]] = []
        self.made: list[Mapping[str, Any]] = []
        self._answer, self._hooked, self._given = answer, hooked, given
        bench.register("driver", self._drive)

    async def _drive(self, ctx: Any, _args: Any) -> Any:
        skills = ctx.globals["skills"]
        refs = {"invokeRef": skills.hand_out("agent-invoke", self._invoke)}
        if self._hooked:
            refs["hookRef"] = skills.hand_out("agent-hook", self._hook)
        given = {"prompt": "You are it.", "tools": LOOK, **refs, **self._given}
        return await ctx.manager.invoke("agent-litellm", given)

    async def _hook(self, _ctx: Any, event: Mapping[str, Any]) -> Any:
        self.events.append(dict(event))
        return self._answer(event) if self._answer else None

    async def _invoke(self, _ctx: Any, args: Mapping[str, Any]) -> Any:
        self.made.append(dict(args))
        return {"ok": True, "text": "seen"}

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]


# -- which provider, and what it gets --------------------------------------------------------------------------------


@pytest.mark.spec("R-AG-2", "R-AG-3", "R-AG-4", "R-PRV-1")
async def test_the_named_provider_gets_plain_data_and_its_value_is_the_result(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, model="{agent: agent-mine}", more='allowed-tools: "look agent-mine"\n')
    given: list[Any] = []

    async def provider(_ctx: Any, args: Any) -> Any:
        given.append(dict(args))
        return "mine"

    bench.register("agent-mine", provider)
    assert (await bench.call("task")).result.text == "mine"
    args = json.loads(json.dumps(given[0]))
    assert args == given[0]
    assert [args["prompt"].splitlines()[0], args["userMessage"], args["skillName"]] == [
        "Do it.",
        "Execute the task.",
        "task",
    ]
    assert args["config"]["maxTurns"] == 30
    assert [tool["name"] for tool in args["tools"]] == ["look"]
    assert not bench.model.requests


@pytest.mark.spec("R-AG-3")
async def test_a_provider_that_comes_earlier_shadows_the_bundled_one(tmp_path: Path) -> None:
    bench = bench_of(tmp_path)

    async def provider(_ctx: Any, _args: Any) -> Any:
        return "shadow"

    bench.register("agent-litellm", provider)
    assert (await bench.call("task")).result.text == "shadow"


async def test_a_provider_that_is_not_there_is_named(tmp_path: Path) -> None:
    outcome = await bench_of(tmp_path, model="{agent: agent-none}").call("task")
    assert outcome.result.is_error
    assert "agent-none (model.agent)" in outcome.result.text


@pytest.mark.spec("R-AG-7")
async def test_agent_and_providers_are_never_shown_and_are_called_only_when_named(tmp_path: Path) -> None:
    demo = calls("agent_demo", {}, unoffered=True)
    bench = bench_of(tmp_path, calls("skill_list", {"includeHidden": True}), demo, says("end"))
    await bench.call("task")
    listed, refused = (bench.model.requests[at].messages[-1].blocks[0] for at in (1, 2))
    assert "agent" not in {row["name"] for row in json.loads(listed.text)}
    assert refused.is_error
    named = bench_of(tmp_path / "b", calls("agent_demo", {}), says("end"), more='allowed-tools: "agent-demo"\n')
    await named.call("task", allowed="task agent-demo")
    block = named.model.requests[1].messages[-1].blocks[0]
    assert "not an AI" in block.text


# -- refs -------------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-AG-9", "R-PRV-11")
@pytest.mark.parametrize("ends", ["well", "badly", "stopped"])
async def test_refs_serve_their_provider_until_its_agent_has_ended_however_it_did(tmp_path: Path, ends: str) -> None:
    bench = bench_of(tmp_path, model="{agent: agent-mine}")
    look = bench.world.table.find("look")
    kept: list[Any] = []

    async def use(ctx: Any, args: Any) -> list[Any]:
        called = await ctx.manager.invoke(args["invokeRef"], {"tool": "look", "args": {"path": "a"}})
        return [called, await ctx.manager.invoke(args["hookRef"], {"type": "turn-start"})]

    async def provider(ctx: Any, args: Any) -> Any:
        kept.extend((ctx, dict(args)))
        assert (await use(ctx, args))[0]["ok"]
        if ends == "badly":
            raise RuntimeError("broken")
        if ends == "stopped":
            bench.token.cancel("stop")
            await asyncio.sleep(FOREVER_S)
        return "x"

    bench.register("agent-mine", provider)
    outcome = await bench.call("task")
    assert outcome.state == {"well": "done", "badly": "failed", "stopped": "aborted"}[ends]
    assert bench.fabric.globals.tools.handed == {}
    ctx, args = kept
    for ref in (args["invokeRef"], args["hookRef"]):
        with pytest.raises(NestedFailure) as caught:
            await ctx.manager.invoke(ref, {"tool": "look", "args": {"path": "again"}, "type": "turn-start"})
        assert caught.value.code == "not_found"
        assert (await bench.call(ref)).result.code == "not_found"
    assert look.calls == [{"path": "a"}]


@pytest.mark.spec("R-PRV-11")
async def test_agents_at_work_at_once_have_refs_of_their_own_and_cannot_use_each_others(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, model="{agent: agent-mine}")
    refs: list[str] = []
    both = asyncio.Event()
    answers: list[str] = []

    async def provider(ctx: Any, args: Any) -> Any:
        refs.append(args["hookRef"])
        if len(refs) == 2:
            both.set()
        await both.wait()
        other = next(ref for ref in refs if ref != args["hookRef"])
        await ctx.manager.invoke(args["hookRef"], {"type": "turn-start", "turnNumber": 1})
        try:
            await ctx.manager.invoke(other, {"type": "turn-start", "turnNumber": 1})
        except Exception as error:  # noqa: BLE001 - which one is what is looked at
            answers.append(getattr(error, "code", "?"))
        return "done"

    bench.register("agent-mine", provider)
    await asyncio.gather(bench.call("task"), bench.call("task"))
    assert len(set(refs)) == 2
    assert answers == ["not_found", "not_found"]


@pytest.mark.spec("R-PRV-11", "R-AG-7")
async def test_a_model_that_knows_a_ref_cannot_use_it(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, model="{agent: agent-mine}", more='allowed-tools: "*"\n')
    seen: list[Any] = []

    async def provider(ctx: Any, args: Any) -> Any:
        for ref in (args["hookRef"], args["invokeRef"], args["hookRef"].replace("-", "_")):
            seen.append(await ctx.manager.invoke(args["invokeRef"], {"tool": ref, "args": {"type": "turn-end"}}))
        return "done"

    bench.register("agent-mine", provider)
    assert (await bench.call("task")).result.text == "done"
    assert [(one["ok"], one["code"]) for one in seen] == [(False, "not_found")] * 3


# -- the bundled provider ---------------------------------------------------------------------------------------------


@pytest.mark.spec("R-PRV-2", "R-TRC-3", "R-PRV-10")
async def test_a_text_is_told_while_it_still_comes_and_nothing_after_the_stop(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, [{"reasoning": "hm"}, {"text": "half "}, {"text": "a word"}, {"hang": True}])
    half = asyncio.Event()
    driver = Driver(bench, lambda event: half.set() if event["type"] == "message" else None)
    work = asyncio.create_task(bench.call("driver"))
    async with asyncio.timeout(WAIT_S):
        await half.wait()
    assert not work.done()
    told = [("turn-start", None), ("reasoning", "hm"), ("message", "half a word")]
    assert [(event["type"], event.get("text")) for event in driver.events] == told
    bench.token.cancel("stop")
    assert (await work).result.is_error
    assert len(driver.events) == len(told)


@pytest.mark.spec("R-PRV-2", "R-PRV-3", "R-PRV-4")
async def test_every_event_comes_in_causal_order(tmp_path: Path) -> None:
    rounds = ([{"reasoning": "hm"}, *calls("look", {"path": "a"}, text="I look.")], says("Done.", pieces=3))
    bench = bench_of(tmp_path, *rounds)
    driver = Driver(bench)
    assert (await bench.call("driver")).result.text == "I look.\n\nDone."
    deduped = [kind for at, kind in enumerate(driver.types) if at == 0 or driver.types[at - 1] != kind]
    assert deduped == [
        "turn-start",
        "reasoning",
        "message",
        "tool-call",
        "tool-result",
        "turn-end",
        "turn-start",
        "message",
        "turn-end",
    ]
    text = "".join(e["text"] for e in driver.events if e["type"] == "message")
    assert text == "I look.Done."
    ends = [e for e in driver.events if e["type"] == "turn-end"]
    results = [(1, 1, "I look."), (2, 0, "I look.\n\nDone.")]
    assert [(e["turnNumber"], e["toolCalls"], e["result"]) for e in ends] == results
    told = [e for e in driver.events if e["type"] in ("tool-call", "tool-result")]
    assert [e["callId"] for e in told] == [told[0]["callId"]] * 2
    assert [told[1]["result"], told[1]["isError"]] == ["seen", False]
    assert driver.made == [{"tool": "look", "args": {"path": "a"}, "callId": told[0]["callId"], "problem": ""}]


@pytest.mark.spec("R-PRV-5", "R-PRV-6")
async def test_a_denied_call_is_an_error_with_the_reason_and_the_loop_goes_on(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, calls("look", {"path": "a"}), says("fine"))
    said = {"deny": "not today", "allow": True, "odd": 1}
    driver = Driver(bench, lambda e: said if e["type"] == "tool-call" else None)
    assert (await bench.call("driver")).result.text == "fine"
    block = bench.model.requests[1].messages[-1].blocks[0]
    assert (block.is_error, block.text) == (True, "not today")
    assert driver.made == []


@pytest.mark.spec("R-PRV-6")
@pytest.mark.parametrize(
    ("directive", "result", "asked"),
    [
        ({"stop": True, "result": "enough", "continue": True}, "enough", 1),
        ({"stop": True}, "first", 1),
        ({"unknown": 1}, "first", 1),
        ({"allow": True}, "first", 1),
        ("not a directive", "first", 1),
    ],
)
async def test_what_the_hook_says_at_the_end_of_a_round(
    tmp_path: Path, directive: Any, result: str, asked: int
) -> None:
    bench = bench_of(tmp_path, says("first"), says("second"))
    Driver(bench, lambda e: directive if e["type"] == "turn-end" else None)
    assert (await bench.call("driver")).result.text == result
    assert len(bench.model.requests) == asked


@pytest.mark.spec("R-PRV-2", "R-PRV-6")
@pytest.mark.spec("C-12")
@pytest.mark.parametrize(("message", "heard"), [("Again, please.", "Again, please."), (None, "Continue.")])
async def test_continue_asks_again_with_its_message(tmp_path: Path, message: str | None, heard: str) -> None:
    bench = bench_of(tmp_path, says("first"), says("second"))
    said = iter([{"continue": True, **({"message": message} if message else {})}, None])
    driver = Driver(bench, lambda e: next(said) if e["type"] == "turn-end" else None)
    assert (await bench.call("driver")).result.text == "second"  # the text since the last continue (C-12)
    assert bench.model.requests[1].messages[-1].text == heard
    assert driver.events[-1]["result"] == "second"


@pytest.mark.spec("R-AG-11", "R-PRV-4")
async def test_the_texts_of_rounds_are_paragraphs_of_one_result(tmp_path: Path) -> None:
    rounds = (calls("look", {"path": "a"}, text="Let me look."), calls("look", {"path": "b"}), says("It is empty."))
    bench = bench_of(tmp_path, *rounds, more="allowed-tools: look\n")
    assert (await bench.call("task")).result.text == "Let me look.\n\nIt is empty."


@pytest.mark.spec("R-PRV-7")
@pytest.mark.expects_log("the hook of an agent failed")
async def test_a_hook_that_raises_says_nothing_and_a_call_it_cannot_judge_is_denied(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, calls("look", {"path": "a"}), says("fine"))

    def broken(_event: Any) -> None:
        raise RuntimeError("hook")

    driver = Driver(bench, broken)
    assert (await bench.call("driver")).result.text == "fine"
    assert driver.made == []
    assert bench.model.requests[1].messages[-1].blocks[0].is_error


@pytest.mark.spec("R-PRV-8")
async def test_without_a_hook_it_is_a_plain_loop(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, calls("look", {"path": "a"}), says("fine"))
    driver = Driver(bench, hooked=False)
    assert (await bench.call("driver")).result.text == "fine"
    assert len(driver.made) == 1


@pytest.mark.spec("R-PRV-2", "R-PRV-6")
@pytest.mark.parametrize(
    ("directive", "result"),
    [({"continue": True}, "later"), ({"stop": True, "result": "given up"}, "given up"), (None, "The key is wrong.")],
)
async def test_a_failure_of_the_model_is_judged_by_the_hook(tmp_path: Path, directive: Any, result: str) -> None:
    bench = bench_of(tmp_path, fails("model.key_refused", "The key is wrong."), says("later"))
    driver = Driver(bench, lambda e: directive if e["type"] == "error" else None)
    outcome = await bench.call("driver")
    assert result in outcome.result.text
    told = next(e for e in driver.events if e["type"] == "error")
    assert (told["attempt"], told["code"], told["transient"]) == (1, "model.key_refused", False)


@pytest.mark.spec("R-PRV-10", "R-AG-12")
async def test_stopping_the_run_ends_a_request_in_flight(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, [{"text": "…"}, {"hang": True}])
    Driver(bench)
    task = asyncio.ensure_future(bench.call("driver"))
    while not bench.model.requests:
        await asyncio.sleep(0)
    bench.token.cancel("stop")
    assert (await asyncio.wait_for(task, WAIT_S)).state == "aborted"
    await bench.owner.close()


async def test_earlier_messages_are_part_of_the_request(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, says("yes"))
    Driver(bench, history=[{"role": "user", "text": "before"}, {"role": "assistant", "text": "was"}, {"role": "odd"}])
    await bench.call("driver")
    assert [m.text for m in bench.model.requests[0].messages] == ["before", "was", "Execute the task."]


# -- the provider without a model -------------------------------------------------------------------------------------


@pytest.mark.spec("R-PRV-9")
async def test_the_demo_provider_plays_its_script_offline_and_says_what_it_is(tmp_path: Path) -> None:
    script = '[{text: "I look. ", tool: look, args: {path: a}}, {text: "It said: {heard}"}]'
    bench = bench_of(tmp_path, model=f"{{agent: agent-demo, script: {script}}}", more='allowed-tools: "look"\n')
    assert (await bench.call("task")).result.text == "I look. It said: did look"
    assert not bench.model.requests
    plain = bench_of(tmp_path / "b", model="{agent: agent-demo}")
    assert "not an AI" in (await plain.call("task")).result.text


@pytest.mark.spec("R-PRV-9", "R-AG-5")
async def test_the_demo_provider_gets_no_further_than_any_other(tmp_path: Path) -> None:
    script = "[{tool: write-file, args: {path: a}}, {text: '{heard}'}]"
    head = {"model": f"{{agent: agent-demo, script: {script}}}", "more": 'allowed-tools: "write-file"\n'}
    asked = bench_of(tmp_path, person=Person("deny"), **head)
    assert "denied" in (await asked.call("task")).result.text
    narrow = bench_of(tmp_path / "b", person=Person("allow_once"), **head)
    assert "not among the tools" in (await narrow.call("task", allowed="task")).result.text


@pytest.mark.spec("R-CTX-5", "R-CTX-6", "R-CTX-9", "R-SUP-7", "S-AG-2")
@pytest.mark.parametrize("edits", [False, True])
async def test_an_agent_of_many_rounds_that_nobody_stores_has_its_older_rounds_summarised(
    tmp_path: Path, edits: bool
) -> None:
    rounds: list[ModelRequest] = []
    summaries: list[ModelRequest] = []

    def answer(request: ModelRequest) -> Any:
        if request.system == SYSTEM:
            summaries.append(request)
            return reply("Much was looked at.")
        rounds.append(request)
        return reply("Done.") if len(rounds) == 24 else ask(call(f"c{len(rounds)}", "look", path="p"))

    async def invoke(_ctx: Any, _args: Any) -> Any:
        return {"ok": True, "text": f"seen {len(rounds)} " + "x" * 2_000}

    bench = LibraryBench(tmp_path, FakeTool("look"), model=Script(last=answer))  # type: ignore[arg-type]
    bench.lent = {"summaries": lambda: True, "context_window": lambda _ref: 6_000}
    driver = Driver(bench, config={"maxTurns": 30, "contextEdit": edits}, userMessage="Look at all.")
    driver._invoke = invoke  # type: ignore[method-assign]
    assert (await bench.call("driver")).result.text == "Done."
    sent = ["".join(m.text for m in request.messages) for request in rounds]
    assert {text.count("Look at all.") for text in sent} == {1}
    assert all(valid(request.messages) for request in rounds)
    assert 2 <= len(summaries) <= 10
    assert "Much was looked at." in sent[-1]
    assert {text.count(SUMMARY_HEAD) for text in sent} == {0, 1}
    told = ["".join(m.text for m in request.messages) for request in summaries]
    assert [SUMMARY_HEAD in text for text in told] == [False] + [edits] * (len(told) - 1), "a message like the others"
    assert bench.budget.used.input_tokens == 100 * (len(rounds) + len(summaries))
    assert bench.budget.rounds == len(rounds)
