"""Code mode in a chat: chosen for an agent, one sandbox a run, and its calls through every gate."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import ConfigurationError
from desktop.domain.runs.events import ToolCallFinished, ToolCallStarted
from desktop.domain.tools import ToolResult
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.pipeline.skills.code_mode import result_in
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.services.turns.agent_choices import ToolModes
from desktop.skills.catalogue.roots import SearchRoot
from desktop.workers.js_code.engine import JsEngine, WorkerSpec
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.services.cut_off import cut_off, line
from tests.unit.services.debates.kit import FREE, answering, debate_world, setup
from tests.unit.services.delegation.test_tools import prompts
from tests.unit.services.kit import ROOT, agent, world


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[JsEngine]:
    (tmp_path / "empty").mkdir()
    found = JsEngine(lambda: WorkerSpec(str(tmp_path / "empty"), *code_sandbox_profile()))
    yield found
    await found.close()


def runs(code: str) -> list[Any]:
    return calls("invoke", {"code": code})


@pytest.mark.spec("R-COD-11", "D-10")
async def test_what_a_prompt_gives_as_memory_is_there_for_the_first_code_of_a_chat(
    tmp_path: Path, engine: JsEngine
) -> None:
    (tmp_path / "mine").mkdir()
    head = "---\nname: keeper\ndescription: x\nmetadata:\n  model: {toolMode: code, memory: {n: 41}}\n---\nHelp.\n"
    (tmp_path / "mine" / "keeper.skill.md").write_text(head)
    roots = (SearchRoot(str(tmp_path / "mine"), "mine"), SearchRoot(str(ROOT / "skills"), "library"))
    model = ScriptedModel([runs("memory.n += 1; return memory.n"), says("x"), runs("return memory.n"), says("y")])
    async with world(tmp_path, model, code=engine, roots=roots, agents=agent(prompt="keeper")) as w:
        thread = await w.thread()
        for wanted in (42, 41):
            records = await w.ask(thread, "go")
            assert json.loads(records[-2].blocks[0].text)["value"] == wanted


@pytest.mark.spec("R-COD-1", "R-COD-10")
async def test_in_pure_code_mode_nothing_else_is_a_tool_and_the_sandbox_ends_with_the_run(
    tmp_path: Path, engine: JsEngine
) -> None:
    model = ScriptedModel([runs("return 1"), calls("read-file", {"path": "a"}, unoffered=True), says("No.")])
    tool = FakeTool("read-file", body=lambda *_: "text")
    async with world(tmp_path, model, tool, code=engine, tool_mode=lambda _agent: "code") as w:
        results = [m.blocks[0] for m in await w.ask(await w.thread(), "read it") if m.role == "tool"]
        assert [result.is_error for result in results] == [False, True]
        assert tool.calls == []
        assert not engine._live, "no process of the run is left"


@pytest.mark.spec("R-COD-1", "R-COD-10", "R-COD-18")
async def test_an_agent_set_to_code_has_one_tool_and_its_memory_lasts_for_the_run(
    tmp_path: Path, engine: JsEngine
) -> None:
    first = runs("memory.n = await ctx.manager.invoke('read-file', {path: 'a'}); return memory.n")
    model = ScriptedModel(
        [first, runs("return memory.n + '!'"), says("Read."), runs("return typeof memory.n"), says("x")]
    )
    tool = FakeTool("read-file", body=lambda *_: "text")
    async with world(tmp_path, model, tool, code=engine, tool_mode=lambda _agent: "code") as w:
        thread = await w.thread()
        messages = await w.ask(thread, "read it")
        assert [t["name"] for t in model.requests[0].tools] == ["invoke"]
        assert "ctx.manager.invoke" in model.requests[0].system
        values = [json.loads(m.blocks[0].text)["value"] for m in messages if m.role == "tool"]
        assert values == ["text", "text!"]
        shown = [(e.tool, type(e).__name__) for e in w.events if isinstance(e, (ToolCallStarted, ToolCallFinished))]
        assert set(shown) == {("invoke", "ToolCallStarted"), ("invoke", "ToolCallFinished")}
        again = await w.ask(thread, "again")
        assert json.loads(again[-2].blocks[0].text)["value"] == "undefined"


@pytest.mark.spec("C-10")
@pytest.mark.parametrize(
    ("chosen", "written", "names"),
    [
        ("", "", {"read_file"}),
        ("", "code", {"invoke"}),
        ("", "both", {"invoke", "read_file"}),
        ("direct", "code", {"read_file"}),
        ("code", "direct", {"invoke"}),
    ],
)
async def test_what_a_person_chose_counts_else_the_prompt_and_else_tools_are_called_one_by_one(
    tmp_path: Path, engine: JsEngine, chosen: str, written: str, names: set[str]
) -> None:
    head = f"metadata: {{model: {{toolMode: {written}}}}}" if written else ""
    options: dict[str, Any] = {"code": engine, "tool_mode": lambda _agent: chosen, "agents": agent(prompt="free")}
    options["roots"] = (prompts(tmp_path / "s", free=head),)
    model = ScriptedModel([says("Hello.")])
    async with world(tmp_path, model, FakeTool("read-file"), **options) as w:
        await w.ask(await w.thread(), "hello")
        assert {tool["name"] for tool in model.requests[0].tools} & {"invoke", "read_file"} == names


@pytest.mark.spec("R-COD-6", "R-PRM-1", "C-10")
async def test_a_write_in_code_is_asked_about_with_its_line_on_the_card_of_the_code(
    tmp_path: Path, engine: JsEngine
) -> None:
    person = Person("allow_once")
    code = "const a = 1;\nreturn await ctx.manager.invoke('write-file', {path: 'a'});"
    model = ScriptedModel([runs(code), says("Written.")])
    tool = FakeTool("write-file", Category.WRITE)
    async with world(tmp_path, model, tool, person=person, code=engine, tool_mode=lambda _agent: "both") as w:
        await w.ask(await w.thread(), "write it")
        assert [request.tool for request in person.asked] == ["write-file"]
        assert tool.calls == [{"path": "a"}]
        started = [e for e in w.events if isinstance(e, ToolCallStarted)]
        assert [(e.tool, bool(e.parent_call_id)) for e in started] == [("invoke", False), ("write_file", True)]


async def test_finish_in_code_ends_the_run_after_its_round(tmp_path: Path, engine: JsEngine) -> None:
    model = ScriptedModel([runs("await ctx.manager.finish({done: 7}); return 8"), says("never asked")])
    async with world(tmp_path, model, code=engine, tool_mode=lambda _agent: "code") as w:
        messages = await w.ask(await w.thread(), "do it")
        assert len(model.requests) == 1
        shown = messages[-1].blocks[0]
        assert json.loads(shown.text) == {"ok": True, "value": 8, "finished": True, "result": {"done": 7}, "stdout": ""}
        finished = next(e for e in w.events if isinstance(e, ToolCallFinished))
        assert (finished.facts["finished"], result_in(finished.text)) == (True, '{"done": 7}')


@pytest.mark.spec("R-COD-13", "R-JRN-2")
async def test_code_that_finished_ends_the_run_that_was_cut_off_after_it(tmp_path: Path, engine: JsEngine) -> None:
    model = ScriptedModel([says("never asked")])
    async with world(tmp_path, model, code=engine, tool_mode=lambda _agent: "code", supervised=True) as w:
        value = {"text": "{}", "structured": {"ok": True, "result": {"done": 7}}, "facts": {"finished": True}}
        lines = [line(1, "c1", "invoke", "begun"), line(2, "c1", "invoke", "completed", value=json.dumps(value))]
        thread = await cut_off(w, [("c1", "invoke")], lines)
        await w.service.continue_answer(thread)
        await w.settled(thread)
        assert (model.requests, w.ends()[-1].reason) == ([], "stop_tool")


@pytest.mark.spec("C-10")
async def test_what_was_chosen_for_an_agent_lasts_and_can_be_taken_back(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([])) as w:
        modes = ToolModes(w.store.state)
        await modes.choose("assistant", "code")
        with pytest.raises(ConfigurationError):
            await modes.choose("assistant", "native")
    async with world(tmp_path, ScriptedModel([])) as w:
        modes = ToolModes(w.store.state)
        await modes.load()
        assert (modes.of("assistant"), modes.of("other")) == ("code", "")
        await modes.choose("assistant", "")
        assert modes.of("assistant") == ""


@pytest.mark.spec("R-SES-10", "R-SES-11", "R-COD-6")
@pytest.mark.parametrize("mode", ["both", "code"])
async def test_a_stop_tool_that_code_calls_ends_the_turn_and_one_that_fails_there_does_not(
    tmp_path: Path, engine: JsEngine, mode: str
) -> None:
    call = "await ctx.manager.invoke('{0}', {{intent: 'bill'}});"
    caught = "try {{ await ctx.manager.invoke('{0}', {{}}); }} catch (e) {{ return 'no'; }}"
    model = ScriptedModel(
        [
            runs(caught.format("classify")),
            runs(call.format("classify") + "throw new Error('after it');"),
            runs(call.format("look")),
            runs(call.format("close")),
        ]
    )
    tried: list[int] = []

    def classify(*_: Any) -> ToolResult:
        tried.append(1)
        return ToolResult("no", is_error=True) if len(tried) == 1 else ToolResult("yes")

    tools = (FakeTool("classify", params=FREE, body=classify), answering("look"), answering("close"))
    side = {"stop_tool": "classify", "stop_property": "intent"}
    options: dict[str, Any] = {"code": engine, "tool_mode": lambda _agent: mode}
    async with debate_world(tmp_path, model, *tools, allowed="classify look close", **options) as w:
        made = setup(a=side, b={"end_session_tool": "close"})
        assert [p for p in await w.debates.problems(made) if not p.warning] == []
        thread, state = await w.run(made)
        turns = await w.debates.turns(thread)
        assert [(t.ended_by, t.outcome, t.rounds) for t in turns] == [
            ("stop_tool", "bill", 2),
            ("end_session_tool", "", 2),
        ]
        assert state.end_reason == "end_session_tool"


@pytest.mark.spec("R-INV-15")
async def test_code_of_a_chat_activates_what_was_opened_and_sets_nothing_else(tmp_path: Path, engine: JsEngine) -> None:
    keys = [{"model": {"agent": "agent-demo"}}, {"returns": {}}, {"delegate": "x"}, {"retry": {"attempts": 2}}]
    code = (
        f"const out = []; for (const frontmatter of {json.dumps(keys)})"
        "try { out.push(await ctx.manager.invoke('look', {path: 'a'}, {frontmatter})) } catch (e) { out.push(e.code) }"
        "return out"
    )
    tries: list[int] = []

    def shaky(*_: Any) -> ToolResult:
        tries.append(1)
        return ToolResult("not yet", is_error=True) if len(tries) == 1 else ToolResult("seen")

    model = ScriptedModel([runs(code), says("Done.")])
    options: dict[str, Any] = {"code": engine, "tool_mode": lambda _agent: "code", "agents": agent(prompt="free")}
    roots = (prompts(tmp_path / "s", free=""), SearchRoot(str(ROOT / "skills"), "library"))
    async with world(tmp_path, model, FakeTool("look", body=shaky), roots=roots, **options) as w:
        shown = await w.ask(await w.thread(), "look")
        assert json.loads(shown[-2].blocks[0].text)["value"] == [*["denied.untrusted_ref"] * 3, "seen"]
        section = model.requests[0].system.partition("# Middleware")[2]
        named = [line[3:] for line in section.splitlines() if line.startswith("## ")]
        assert named == ["cache", "retry", "session", "timeout"]
