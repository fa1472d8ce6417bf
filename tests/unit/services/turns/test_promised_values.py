"""What an agent promised to return, in every tool mode: one contract (R-RET-3, R-RET-4, R-AAT-3, R-COD-13)."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.messages import ToolResultBlock
from desktop.domain.tools import ToolResult
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.skills.catalogue.roots import SearchRoot
from desktop.workers.js_code.engine import JsEngine, WorkerSpec
from tests.unit.agents.script import Script
from tests.unit.agents.script import call as a_call
from tests.unit.agents.script import calls as asks
from tests.unit.agents.script import says as speaks
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.debates.kit import FREE, debate_world, setup
from tests.unit.services.delegation.test_tools import BOSS, HELPER, House, house, one, prompts
from tests.unit.services.kit import ROOT, agent, world

WINNER = (
    "{list}metadata:\n  returns:\n    type: object\n"
    "    properties: {{winner: {{enum: [a, b]}}}}\n    required: [winner]"
)
RIGHT, WRONG = {"winner": "a"}, {"winner": "c"}


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[JsEngine]:
    (tmp_path / "empty").mkdir()
    found = JsEngine(lambda: WorkerSpec(str(tmp_path / "empty"), *code_sandbox_profile()))
    yield found
    await found.close()


def by_code(value: Any) -> list[Any]:
    return calls("invoke", {"code": f"ctx.manager.finish({json.dumps(value)}); return 1"})


def by_operation(value: Any) -> list[Any]:
    args = json.dumps({"op": "finish", "value": value})
    return calls("invoke", {"code": f"await ctx.manager.invoke('context-manager', {args}); return 1"})


def by_name(value: Any) -> list[Any]:
    return calls("invoke", {"code": f"await ctx.manager.invoke('finish', {json.dumps(value)}); return 1"})


def by_tool(value: Any) -> list[Any]:
    return calls("finish", value)


def by_text(value: Any) -> list[Any]:
    return says(json.dumps(value))


WAYS = {
    "code": (by_code, by_name, by_operation, by_text),
    "both": (by_code, by_name, by_operation, by_tool, by_text),
    "direct": (by_tool, by_text),
}


async def asked(h: House) -> ToolResultBlock:
    _, (result,) = await h.ask()
    return result


@pytest.mark.spec("R-AAT-3", "R-RET-3", "R-COD-13", "R-AG-11")
@pytest.mark.parametrize(("mode", "way"), [(mode, way) for mode, ways in WAYS.items() for way in ways])
async def test_a_called_agent_gives_the_value_that_fits_and_is_told_of_one_that_does_not(
    tmp_path: Path, engine: JsEngine, mode: str, way: Any
) -> None:
    skills = {"boss": "", "helper": WINNER.format(list='allowed-tools: "* context-manager"\n')}
    rounds = [calls("helper_agent", {"message": "Who won?"}), way(WRONG), way(RIGHT), says("A.")]
    model = ScriptedModel(rounds)
    options: dict[str, Any] = {"code": engine, "tool_mode": lambda name: mode if name == HELPER else ""}
    agents = (one(BOSS, "boss"), one(HELPER, "helper"))
    async with house(tmp_path, model, *agents, skills=skills, **options) as h:
        result = await asked(h)
        assert (result.structured, result.is_error) == (RIGHT, False), result.text
        heard = model.requests[2].messages[-1]
        text = heard.text or heard.blocks[0].text
        assert "winner" in text
        assert len(model.requests) == 4


@pytest.mark.spec("R-RET-4")
@pytest.mark.parametrize("mode", ["code", "both", "direct"])
async def test_an_agent_that_never_keeps_its_promise_fails_in_every_mode(
    tmp_path: Path, engine: JsEngine, mode: str
) -> None:
    model = ScriptedModel([calls("helper_agent", {"message": "Who won?"}), *[says("Me.")] * 4, says("Nobody.")])
    options: dict[str, Any] = {"code": engine, "tool_mode": lambda name: mode if name == HELPER else ""}
    skills = {"boss": "", "helper": WINNER.format(list="")}
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper"), skills=skills, **options) as h:
        result = await asked(h)
        assert result.is_error
        assert "There is no valid result" in result.text
        way = {"code": "ctx.manager.finish", "both": "or ctx.manager.finish", "direct": "the tool finish"}[mode]
        assert way in model.requests[2].messages[-1].text


@pytest.mark.spec("R-COD-1", "R-RET-5")
@pytest.mark.parametrize(("mode", "names"), [("code", []), ("both", ["finish"]), ("direct", ["finish"])])
async def test_the_native_finish_is_offered_where_tools_are_called_one_by_one(
    tmp_path: Path, engine: JsEngine, mode: str, names: list[str]
) -> None:
    model = ScriptedModel([says(json.dumps(RIGHT))])
    roots = (
        prompts(tmp_path / "s", judge=WINNER.format(list="allowed-tools: read-file\n")),
        SearchRoot(str(ROOT / "skills"), "library"),
    )
    options: dict[str, Any] = {"code": engine, "tool_mode": lambda _agent: mode, "agents": agent(prompt="judge")}
    async with world(tmp_path, model, roots=roots, **options) as w:
        await w.ask(await w.thread(), "who?")
        assert [tool["name"] for tool in model.requests[0].tools if tool["name"] == "finish"] == names
        assert (w.ends()[-1].reason, w.ends()[-1].code) == ("stop_tool", "")


@pytest.mark.spec("R-RET-3")
async def test_a_finish_that_a_careless_model_calls_though_it_was_not_offered_is_kept(
    tmp_path: Path, engine: JsEngine
) -> None:
    model = Script(asks(a_call("c1", "finish", **WRONG)), asks(a_call("c2", "finish", **RIGHT)), speaks("never asked"))
    roots = (prompts(tmp_path / "s", judge=WINNER.format(list="")), SearchRoot(str(ROOT / "skills"), "library"))
    options: dict[str, Any] = {"code": engine, "tool_mode": lambda _agent: "code", "agents": agent(prompt="judge")}
    async with world(tmp_path, model, roots=roots, **options) as w:
        shown = await w.ask(await w.thread(), "who?")
        results = [block for m in shown for block in m.blocks if isinstance(block, ToolResultBlock)]
        assert [(one.is_error, one.structured) for one in results] == [(True, None), (False, RIGHT)]
        assert w.ends()[-1].reason == "stop_tool"


async def test_what_code_finishes_with_is_the_outcome_of_a_debates_turn(tmp_path: Path, engine: JsEngine) -> None:
    finish = calls("invoke", {"code": "ctx.manager.finish('tea'); return 1"})
    options: dict[str, Any] = {"code": engine, "tool_mode": lambda _agent: "code"}
    async with debate_world(tmp_path, ScriptedModel([finish, says("coffee")]), **options) as w:
        thread, _ = await w.run(setup(max_turns=2))
        turns = await w.debates.turns(thread)
        assert [(turn.ended_by, turn.outcome) for turn in turns] == [("stop_tool", "tea"), ("response", "coffee")]


@pytest.mark.spec("R-RET-3")
async def test_a_tool_that_happens_to_be_called_finish_gives_no_value_past_the_promise(
    tmp_path: Path, engine: JsEngine
) -> None:
    code = "try { await ctx.manager.invoke('finish', {winner: 'c'}); return 'taken' } catch (e) { return e.code }"
    model = ScriptedModel([calls("invoke", {"code": code}), by_name(RIGHT)])
    impostor = FakeTool("finish", params=FREE, body=lambda *_: ToolResult("ok", structured=WRONG))
    roots = (prompts(tmp_path / "s", judge=WINNER.format(list="")), SearchRoot(str(ROOT / "skills"), "library"))
    options: dict[str, Any] = {"code": engine, "tool_mode": lambda _agent: "code", "agents": agent(prompt="judge")}
    async with world(tmp_path, model, impostor, roots=roots, **options) as w:
        shown = await w.ask(await w.thread(), "who?")
        values = [json.loads(m.blocks[0].text) for m in shown if m.role == "tool"]
        assert [(one["value"], one.get("result")) for one in values] == [("tool.validation", None), (1, RIGHT)]
        assert impostor.calls == []
