"""A provider of one's own has the same limits whether it works for a called skill or for the agent of a chat."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.definitions import AgentDefinition, SideDefinition
from desktop.domain.errors import ToolFailure
from desktop.domain.messages import ReasoningBlock
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.services.definitions.book import AgentBook
from desktop.skills.resolution.programmatic import RegisterToolOptions
from tests.unit.services.kit import World, agent, world
from tests.unit.services.turns.test_own_provider import skills

FREE = {"type": "object", "additionalProperties": True}
ASK = {"messages": [{"role": "user", "text": "x"}]}
WHERE = pytest.mark.parametrize("where", ["chat", "called skill"])


@asynccontextmanager
async def worked_on(
    tmp_path: Path, where: str, provider: Any, answers: list[Any], model: str, **options: Any
) -> AsyncIterator[tuple[World, ScriptedModel]]:
    """The skill ``helper``, by which the agent of a chat works, or which that calls."""
    top = AgentBook(
        {"assistant": AgentDefinition("assistant", SideDefinition("", prompt_text="Call.", allowed_tools="helper"))}
    )
    played = ScriptedModel(answers if where == "chat" else [calls("helper", {}), *answers])
    book = agent(prompt="helper") if where == "chat" else top
    async with world(
        tmp_path, played, roots=skills(tmp_path / "mine", model=model), agents=book, supervised=True, **options
    ) as w:
        w.skills.fabric.register_tool(
            RegisterToolOptions("agent-mine", provider, "x", params=FREE, visibility="hidden", category="read")
        )
        yield w, played


@WHERE
@pytest.mark.parametrize("tells", [("turn-start", "ask", "turn-end"), ("ask",), ("turn-start",), ("ask", "turn-end")])
@pytest.mark.spec("D-10", "R-LIM-1", "R-PRV-1")
async def test_a_provider_that_heeds_nothing_has_no_more_rounds_than_the_prompt_gives(
    tmp_path: Path, where: str, tells: tuple[str, ...]
) -> None:
    refused: list[ToolFailure] = []

    async def provider(ctx: Any, args: Any) -> str:
        for _ in range(20):
            for kind in tells:
                event = {"type": kind, "result": "last", "toolCalls": 1}
                try:
                    await ctx.manager.invoke(*(("model-ask", ASK) if kind == "ask" else (args["hookRef"], event)))
                except ToolFailure as failure:
                    refused.append(failure)
        return "its own"

    answers = [says("r")] * 40
    async with worked_on(tmp_path, where, provider, answers, "{agent: agent-mine, maxTurns: 2}") as (w, model):
        await w.ask(await w.thread(), "go")
        asked = [one for one in model.requests if one.messages[-1].text == "x"]
        assert len(asked) == (2 if "ask" in tells else 0)
        assert "maxTurns 2 (set by the skill helper)" in str(refused[0])
        assert refused[0].code == "limit"


@WHERE
@pytest.mark.spec("D-10", "R-SUP-7")
async def test_what_a_provider_used_by_itself_counts_and_what_it_asked_of_the_runs_model_counts_once(
    tmp_path: Path, where: str
) -> None:
    used = {"inputTokens": 50_000, "outputTokens": 7}

    async def provider(ctx: Any, args: Any) -> str:
        for asks in (True, False):
            await ctx.manager.invoke(args["hookRef"], {"type": "turn-start"})
            if asks:
                await ctx.manager.invoke("model-ask", ASK)
            event = {"type": "turn-end", "result": "text", "toolCalls": 1, "usage": used}
            await ctx.manager.invoke(args["hookRef"], event)
        return "over"

    budget = ExecutionBudget(max_tokens=1_000_000)
    async with worked_on(tmp_path, where, provider, [says("r"), says("end")], "{agent: agent-mine}", budget=budget) as (
        w,
        _model,
    ):
        await w.ask(await w.thread(), "go")
        spent = [node.input_tokens for event in w.events for node in getattr(event, "nodes", ()) if node.path == "0"]
        assert 50_000 <= spent[-1] < 100_000, "of the first round that is counted which the model told"


@WHERE
@pytest.mark.spec("D-10", "R-CTX-2", "R-CTX-7")
async def test_what_a_provider_asks_stays_within_the_window_of_the_model(tmp_path: Path, where: str) -> None:
    turns = [
        {"role": role, "text": f"{role} {number} " + "word " * 400}
        for number in range(20)
        for role in ("user", "assistant")
    ]
    failed: list[str] = []

    async def provider(ctx: Any, _args: Any) -> str:
        await ctx.manager.invoke("model-ask", {"messages": [*turns, {"role": "user", "text": "x"}]})
        try:
            await ctx.manager.invoke("model-ask", {"messages": [{"role": "user", "text": "word " * 40_000}]})
        except ToolFailure as failure:
            failed.append(failure.code)
        return "over"

    window = {"context_window": lambda _model: 8_000}
    async with worked_on(tmp_path, where, provider, [says("r"), says("end")], "{agent: agent-mine}", **window) as (
        w,
        m,
    ):
        await w.ask(await w.thread(), "go")
        (asked,) = [one for one in m.requests if one.messages[-1].text == "x"]
        assert 2 < len(asked.messages) < 20
        assert asked.messages[-2].text.startswith("assistant 19")
        assert failed == ["model.context_too_long"]


@WHERE
@pytest.mark.spec("D-10", "R-SUP-7")
async def test_a_provider_that_does_not_heed_the_end_of_the_budget_is_ended_where_it_stands(
    tmp_path: Path, where: str
) -> None:
    async def provider(ctx: Any, args: Any) -> None:
        used = {"inputTokens": 90_000, "outputTokens": 0}
        event = {"type": "turn-end", "result": "So far.", "toolCalls": 1, "usage": used}
        await ctx.manager.invoke(args["hookRef"], event)
        await asyncio.sleep(3_600)

    budget = ExecutionBudget(max_tokens=80_000)
    async with worked_on(tmp_path, where, provider, [says("end")], "{agent: agent-mine}", budget=budget) as (w, _):
        await w.ask(await w.thread(), "go")
        (end,) = w.ends()
        assert end.reason == "budget"
        assert "max_tokens 80,000" in end.detail or "max_tokens 80000" in end.detail


@WHERE
@pytest.mark.spec("R-MOD-4")
async def test_what_the_model_thought_goes_back_with_the_calls_that_a_provider_makes_for_it(
    tmp_path: Path, where: str
) -> None:
    given: list[Any] = []

    async def provider(ctx: Any, _args: Any) -> str:
        said = await ctx.manager.invoke("model-ask", ASK)
        given.append(said)
        made = {"role": "assistant", "text": said["text"], "calls": said["calls"]}
        result = {"role": "tool", "callId": said["calls"][0]["id"], "tool": "look", "text": "seen"}
        await ctx.manager.invoke("model-ask", {"messages": [*ASK["messages"], made, result]})
        altered = {**made, "calls": [{**said["calls"][0], "args": {"at": "elsewhere"}}]}
        await ctx.manager.invoke("model-ask", {"messages": [*ASK["messages"], altered, result]})
        return "over"

    thinks = [
        {"reasoning": "I look."},
        {"sealed": "SEALED"},
        {"text": "So."},
        *calls("look", {"at": "it"}, call_id="c1", unoffered=True),
    ]
    answers = [thinks, says("first"), says("second"), says("end")]
    async with worked_on(tmp_path, where, provider, answers, "{agent: agent-mine}") as (w, model):
        await w.ask(await w.thread(), "go")
        asked = [one for one in model.requests if one.messages[0].text == "x" and len(one.messages) == 3]
    thoughts = [[block for block in one.messages[1].blocks if isinstance(block, ReasoningBlock)] for one in asked]
    assert [[(block.text, block.sealed) for block in found] for found in thoughts] == [[("I look.", "SEALED")], []]
    assert "SEALED" not in str(given), "no skill reads it"
