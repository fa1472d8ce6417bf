"""``skill_invoke(ref, …)``, and a call made in code, is a call of ``ref``: whatever that call ends, asks or counts."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.messages import NoticeBlock, ToolCallBlock
from desktop.domain.runs.events import RunEnded, ToolCallFinished, ToolCallStarted
from desktop.models.outgoing import parts
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.skills.catalogue.roots import SearchRoot
from desktop.workers.js_code.engine import JsEngine, WorkerSpec
from tests.unit.library.kit import LibraryBench
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.services.debates.kit import answering, debate_world, prompt, setup
from tests.unit.services.delegation.test_tools import BOSS, HELPER, house, one
from tests.unit.services.kit import ROOT, World, agent, world


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[JsEngine]:
    (tmp_path / "empty").mkdir()
    found = JsEngine(lambda: WorkerSpec(str(tmp_path / "empty"), *code_sandbox_profile()))
    yield found
    await found.close()


def through(ref: str, **arguments: Any) -> list[Any]:
    return calls("skill_invoke", {"ref": ref, "args": arguments})


def code(name: str, arguments: dict[str, Any]) -> list[Any]:
    return calls("invoke", {"code": f"return await ctx.manager.invoke('{name}', {json.dumps(arguments)});"})


def in_code(ref: str, **arguments: Any) -> list[Any]:
    return code(ref, arguments)


def through_in_code(ref: str, **arguments: Any) -> list[Any]:
    return code("skill-invoke", {"ref": ref, "args": arguments})


def modes(ask: Any) -> dict[str, Any]:
    return {"tool_mode": lambda _agent: "direct" if ask is through else "code"}


def events(w: World, kind: type) -> list[Any]:
    return [event for event in w.events if isinstance(event, kind)]


WAYS = pytest.mark.parametrize("ask", [through, in_code, through_in_code])


@WAYS
@pytest.mark.spec("R-SES-9", "R-SES-11")
async def test_stop_tools_and_end_session_tools_end_turn_and_debate(tmp_path: Path, engine: JsEngine, ask: Any) -> None:
    model = ScriptedModel([ask("classify", intent="bill"), ask("close"), says("never asked")])
    tools = (answering("classify"), answering("close"))
    async with debate_world(tmp_path, model, *tools, allowed='"*"', code=engine, **modes(ask)) as w:
        side = {"stop_tool": "classify", "stop_property": "intent"}
        thread, state = await w.run(setup(a=side, b={"end_session_tool": "close"}))
        ended = [(turn.ended_by, turn.outcome) for turn in await w.debates.turns(thread)]
        assert ended == [("stop_tool", "bill"), ("end_session_tool", "")]
        assert (state.status, state.end_reason, len(model.requests)) == ("ended", "end_session_tool", 2)


@WAYS
@pytest.mark.spec("R-AAT-2")
async def test_a_conversation_is_handed_over(tmp_path: Path, engine: JsEngine, ask: Any) -> None:
    helper = one(HELPER, "helper", handoff="transfer")
    model = ScriptedModel([ask("helper-agent", message="Yours."), says("Noon.")])
    mode = {"tool_mode": lambda name: "direct" if ask is through or name == HELPER else "code"}
    async with house(tmp_path, model, one(BOSS, "boss"), helper, code=engine, **mode) as h:
        thread, _ = await h.ask("When is high tide?")
        await h.world.until(RunEnded, 2)
        shown = await h.world.settled(thread)
        assert (await h.world.service.thread(thread)).agent == HELPER
        assert [b.code for m in shown for b in m.blocks if isinstance(b, NoticeBlock)] == ["agent.handoff"]
        assert shown[-1].text == "Noon."
        assert await h.children() == []


async def test_an_agent_that_a_skill_calls_in_code_takes_nothing_over(tmp_path: Path, engine: JsEngine) -> None:
    helper = one(HELPER, "helper", handoff="transfer")
    model = ScriptedModel(
        [
            calls("skill_invoke", {"ref": "other"}),
            in_code("helper-agent", message="Yours."),
            says("I answer."),
            says("inner"),
            says("outer"),
        ]
    )
    other = "allowed-tools: '*'\nmetadata: {model: {toolMode: code}}"
    skills = {"boss": "", "helper": "metadata: {category: read}", "other": other}
    async with house(tmp_path, model, one(BOSS, "boss"), helper, code=engine, skills=skills) as h:
        thread, (result,) = await h.ask()
        assert (result.text, (await h.world.service.thread(thread)).agent) == ("inner", BOSS)
        assert len(await h.children()) == 1


@pytest.mark.spec("R-PRM-1", "R-RET-5")
async def test_a_person_is_asked_about_the_tool_itself_and_one_call_is_counted_and_shown(tmp_path: Path) -> None:
    person, write = Person("allow_once"), FakeTool("write-file", Category.WRITE)
    model = ScriptedModel([through("write_file", path="a"), says("Written.")])
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        shown = await w.ask(await w.thread(), "write")
        assert [(one.tool, one.arguments) for one in person.asked] == [("write-file", {"path": "a"})]
        assert write.calls == [{"path": "a"}]
        assert [e.tool for e in events(w, ToolCallStarted)] == ["write_file"]
        assert [(e.tool, e.state) for e in events(w, ToolCallFinished)] == [("write_file", "done")]
        (call,) = [block for m in shown for block in m.blocks if isinstance(block, ToolCallBlock)]
        assert (call.tool, call.arguments, call.via) == ("write_file", {"path": "a"}, "skill_invoke")


async def test_the_model_gets_back_the_call_that_it_made(tmp_path: Path) -> None:
    model = ScriptedModel([through("read-file", path="a"), says("Read.")])
    async with world(tmp_path, model, FakeTool()) as w:
        await w.ask(await w.thread(), "read")
        sent = [one[1] for one in parts(model.requests[1].messages) if one[0] == "b"]
        assert {
            "kind": "tool_call",
            "call_id": "call-1",
            "tool": "skill_invoke",
            "arguments": {"ref": "read-file", "args": {"path": "a"}},
        } in sent


@pytest.mark.spec("R-RET-5")
async def test_a_promised_value_can_be_given_through_it(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    returns = "{type: object, properties: {n: {type: number}}, required: [n]}"
    text = f"---\nname: task\ndescription: x\nmetadata:\n  returns: {returns}\n---\nDo.\n"
    (tmp_path / "s" / "task.skill.md").write_text(text)
    roots = (SearchRoot(str(tmp_path / "s"), "mine"), SearchRoot(str(ROOT / "skills"), "library"))
    model = ScriptedModel([through("finish", n="x"), through("finish", n=3), says("never asked")])
    async with world(tmp_path, model, agents=agent(prompt="task"), roots=roots) as w:
        await w.ask(await w.thread(), "go")
        states = [(event.tool, event.state) for event in events(w, ToolCallFinished)]
        assert (states, len(model.requests)) == ([("finish", "failed"), ("finish", "done")], 2)


@pytest.mark.spec("R-PAT-5", "R-DSC-8")
@pytest.mark.parametrize(
    ("allowed", "made"),
    [
        ("* ", True),
        ("skill-invoke look", True),
        ("look", False),
        ("* skill-invoke($deny)", False),
        ("* skill-invoke(ref=look)", True),
        ("* skill-invoke(ref=other)", False),
        ("skill-invoke", False),
    ],
)
async def test_both_what_passes_on_and_what_is_called_have_to_be_allowed(
    tmp_path: Path, allowed: str, made: bool
) -> None:
    look = FakeTool("look")
    bench = LibraryBench(tmp_path, look)
    outcome = await bench.call("skill_invoke", {"ref": "look", "args": {"path": "a"}}, allowed=allowed)
    assert (not outcome.result.is_error, bool(look.calls)) == (made, made)


@pytest.mark.parametrize(
    "given", [{"ref": "look", "args": "x"}, {"ref": 3}, {}, {"ref": "look", "frontmatter": {}}, {"args": {}}]
)
async def test_what_is_not_well_formed_is_refused_before_anything_is_called(
    tmp_path: Path, given: dict[str, Any]
) -> None:
    look = FakeTool("look")
    outcome = await LibraryBench(tmp_path, look).call("skill_invoke", given)
    assert (outcome.result.is_error, outcome.result.code, look.calls) == (True, "tool.validation", [])


@pytest.mark.spec("R-TRC-1", "R-LIM-4")
async def test_of_a_called_skill_one_call_is_counted_and_the_trace_names_the_tool(tmp_path: Path) -> None:
    look = FakeTool("look")
    twice = [
        through("look", path="a"),
        calls("skill_invoke", {"ref": "skill-invoke", "args": {"ref": "look", "args": {"path": "b"}}}),
        says("done"),
    ]
    bench = LibraryBench(tmp_path, look, model=ScriptedModel(twice))
    bench.write("task.skill.md", "---\nname: task\ndescription: x\nmetadata: {model: {maxSteps: 2}}\n---\nDo.\n")
    traces: list[Any] = []

    async def around(ctx: Any, _args: Any) -> None:
        await ctx.manager.next()
        traces.extend(ctx.envelope.target.locals["agent"]["trace"])

    bench.register("around", around, role="middleware", params={"type": "object"})
    text = "---\nname: task\ndescription: x\nmetadata: {model: {maxSteps: 2}, around: {}}\n---\nDo.\n"
    bench.write("task.skill.md", text)
    outcome = await bench.call("task")
    assert (outcome.result.text, look.calls) == ("done", [{"path": "a"}, {"path": "b"}])
    assert [(one["tool"], one["args"]) for one in outcome.facts["nested"]] == [("look", "a"), ("look", "b")]
    told = [(one["type"], one["tool"], one["args"]) for one in traces if one["type"] in ("tool-call", "tool-result")]
    assert told == [(kind, "look", {"path": path}) for path in "ab" for kind in ("tool-call", "tool-result")]


async def test_a_side_that_may_find_its_tools_ends_the_session_with_one_that_it_was_not_shown(tmp_path: Path) -> None:
    def finder(folder: Path) -> None:
        prompt(folder, "con", '"*"')

    (tmp_path / "prompts").mkdir()
    finder(tmp_path / "prompts")
    model = ScriptedModel([says("a"), through("accept", reason="fine"), says("never asked")])
    async with debate_world(tmp_path, model) as w:
        _, state = await w.run(setup(b={"end_session_tool": "accept"}))
        assert "accept" not in [tool["name"] for tool in model.requests[1].tools]
        assert state.end_reason == "end_session_tool"
