"""A call through ``skill_invoke``, or made in code, is the call itself wherever an agent works: in a chat, in a job,
for a caller, with a provider of one's own."""

from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.jobs import JobPolicy
from desktop.domain.messages import ToolResultBlock
from desktop.domain.runs.events import ToolCallFinished
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.services.turns.unattended import terms_of
from desktop.skills.patterns.paths import Where
from desktop.workers.js_code.engine import JsEngine
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.debates.kit import answering
from tests.unit.services.delegation.test_called_through_another import WAYS, modes, through
from tests.unit.services.delegation.test_tools import BOSS, HELPER, house, one
from tests.unit.services.kit import agent, world
from tests.unit.services.turns.test_own_provider import opened, skills

LISTED = "allowed-tools: '*'"
CLOSE = {"stop_tool": "classify", "stop_property": "intent"}


@WAYS
@pytest.mark.parametrize("name", ["stop_tool", "end_session_tool"])
@pytest.mark.spec("R-SES-9", "R-SES-11")
async def test_it_ends_the_turn_of_a_chat(tmp_path: Path, engine: JsEngine, ask: Any, name: str) -> None:
    model = ScriptedModel([ask("classify", intent="bill"), says("never asked")])
    side = CLOSE if name == "stop_tool" else {"end_session_tool": "classify"}
    options = {"agents": agent(**side), "code": engine, **modes(ask)}
    async with world(tmp_path, model, answering("classify"), **options) as w:
        await w.ask(await w.thread(), "go")
        assert [end.reason for end in w.ends()] == [name]
        assert len(model.requests) == 1


@WAYS
@pytest.mark.spec("R-SES-9", "R-AAT-3")
async def test_it_ends_an_agent_that_was_called_and_its_property_is_the_answer(
    tmp_path: Path, engine: JsEngine, ask: Any
) -> None:
    boss, helper = one(BOSS, "boss"), one(HELPER, "helper", **CLOSE)
    asked = calls("helper_agent", {"message": "Sort it."})
    model = ScriptedModel([asked, ask("classify", intent="bill"), says("Boss done.")])
    mode = {"tool_mode": lambda name: "direct" if ask is through or name == BOSS else "code"}
    found = {"boss": "", "helper": LISTED}
    tools = (answering("classify"),)
    async with house(tmp_path, model, boss, helper, tools=tools, skills=found, code=engine, **mode) as h:
        _, (result,) = await h.ask()
        assert (result.text, len(model.requests)) == ("bill", 3)


@WAYS
@pytest.mark.spec("R-SES-9", "R-CRON-3", "R-CRON-4")
async def test_it_ends_a_job_whose_list_is_about_the_call_itself(tmp_path: Path, engine: JsEngine, ask: Any) -> None:
    model = ScriptedModel([ask("write-file", path="b"), ask("classify", intent="bill"), says("never asked")])
    write = FakeTool("write-file", Category.WRITE)
    listed = ("classify", "skill-invoke", "agent-code")
    terms = terms_of(JobPolicy(allowed_tools=listed), ExecutionBudget(), lambda: False, Where())
    options = {"agents": agent(**CLOSE), "code": engine, **modes(ask)}
    async with world(tmp_path, model, answering("classify"), write, **options) as w:
        await w.service.run_job(thread := await w.thread(), "go", terms)
        await w.settled(thread)
        assert [end.reason for end in w.ends()] == ["stop_tool"]
        assert write.calls == [], "what the list does not name is done in no way"


PASSES_ON = """
    await tell(type="turn-start", turnNumber=1)
    await ctx.manager.invoke(args["invokeRef"], CALL)
    said = await tell(type="turn-end", result="", turnNumber=1, toolCalls=1)
    assert said.get("stop"), said
    return "over"
"""
NATIVE = '{"tool": "skill_invoke", "args": {"ref": "look", "args": {"path": "a"}}}'
CODE = "{\"code\": \"return await ctx.manager.invoke('look', {path: 'a'});\"}"


@pytest.mark.parametrize("call", [NATIVE, CODE])
@pytest.mark.spec("R-SES-9", "R-PRV-3")
async def test_it_ends_the_turn_that_a_provider_of_ones_own_works_in(
    tmp_path: Path, confinement: Any, engine: JsEngine, call: str
) -> None:
    roots = skills(tmp_path / "mine", PASSES_ON.replace("CALL", call))
    text = (tmp_path / "mine" / "helper.skill.md").read_text()
    (tmp_path / "mine" / "helper.skill.md").write_text(
        text.replace("allowed-tools: look", "allowed-tools: skill-invoke look")
    )
    side = agent(prompt="helper", stop_tool="look", stop_property="path")
    mode = {"tool_mode": lambda _agent: "both", "code": engine}
    async with opened(tmp_path, confinement, ScriptedModel([]), roots, agents=side, **mode) as w:
        records = await w.ask(await w.thread(), "go")
        assert [end.reason for end in w.ends()] == ["stop_tool"]
        (result,) = [block for record in records for block in record.blocks if isinstance(block, ToolResultBlock)]
        assert not result.is_error
        shown = [event.tool for event in w.events if isinstance(event, ToolCallFinished)]
        assert shown == ["look" if call is NATIVE else "invoke"]
