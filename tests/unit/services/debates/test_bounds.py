"""What bounds a debate as a whole: turns, cost and tokens, also those of turns that broke off."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from desktop.domain.errors import BudgetExhausted, ConfigurationError
from desktop.domain.models import ModelRef
from desktop.models.scripted import ScriptedModel, fails
from desktop.services.debates.ends import LAST_TURN
from desktop.services.debates.state import load
from tests.unit.agents.script import Script
from tests.unit.agents.script import says as speaks
from tests.unit.services.debates.kit import answering, debate_world, setup


@pytest.mark.spec("R-SUP-7", "R-SES-18")
async def test_turns_that_broke_off_count_for_the_bounds_too(tmp_path: Path) -> None:
    broken = [
        [{"call": {"tool": "look_up", "arguments": {}}}, {"usage": {"input": 300, "cost": 0.3}}],
        fails("model.auth", "no"),
    ]
    unknown = [{"text": "a1"}, {"usage": {"input": 10}}]
    model = ScriptedModel([unknown, *broken, *broken, *broken])
    async with debate_world(tmp_path, model, answering("look-up"), allowed='"look-up"') as w:
        thread, state = await w.run(setup(max_turns=20, max_cost=0.5))
        assert (state.status, state.end_reason, state.turn) == ("paused", "error", 1)
        ended = await w.go_on(thread)
        assert (ended.status, ended.end_reason) == ("ended", "budget")
        assert len(model.requests) == 4
        other = await w.debates.fork(thread, 1, setup(max_turns=20, max_cost=0.5))
        assert (await w.store.debates.used(thread_id=other)).cost_usd == 0.0
        assert (await w.store.debates.used(thread_id=thread)).input_tokens == 610


@pytest.mark.spec("R-SES-14", "R-SES-15", "R-LIM-1")
async def test_a_debate_without_a_number_ends_after_fifty_turns_and_none_has_more_than_250(tmp_path: Path) -> None:
    model = Script(last=speaks("words"))
    async with debate_world(tmp_path, model) as w:
        thread, state = await w.run(setup(max_turns=None))
        assert (state.status, state.end_reason, state.turn) == ("ended", "max_session_turns", 50)
        assert state.meters["a"].round_limit == 0
        assert [s.meters["a"].round_limit for s in w.told() if s.turn == 1][1] == 50
        assert LAST_TURN not in model.requests[47].instructions
        assert all(LAST_TURN in asked.note for asked in model.requests[48:])
        for number in (251, 10**9, 0, -1, True):
            with pytest.raises(ConfigurationError):
                await w.debates.extend(thread, max_turns=number)
        stored = await load(w.store, thread)
        assert replace(stored.setup, max_turns=10_000).turn_limit == 250
        with pytest.raises(ConfigurationError, match="at most 250"):
            await w.debates.create(setup(max_turns=251))


@pytest.mark.spec("R-SUP-7", "R-DEF-14")
async def test_an_end_by_cost_that_may_never_come_is_a_warning(tmp_path: Path) -> None:
    def priced(ref: ModelRef) -> bool:
        return ref.connection_id != "dear"

    async with debate_world(tmp_path, ScriptedModel([]), priced=priced) as w:
        assert await w.debates.problems(setup(max_cost=1.0)) == []
        assert await w.debates.problems(setup(b={"model": "dear/m"})) == []
        (told,) = await w.debates.problems(setup(max_cost=1.0, a={"model": "dear/m"}, b={"model": "dear/m"}))
        assert (told.path, told.code, told.warning, told.text.count("dear/m")) == ("maxCost", "cost.unknown", True, 1)
        assert await w.debates.create(setup(max_cost=1.0, b={"model": "dear/m"}))


@pytest.mark.spec("R-SUP-7", "R-SUP-8")
async def test_the_judge_is_asked_within_what_the_debate_has_left(tmp_path: Path) -> None:
    used = [{"text": "a1"}, {"usage": {"input": 300, "output": 5, "cost": 0.1}}]
    model = ScriptedModel([used, used])
    async with debate_world(tmp_path, model) as w:
        thread, state = await w.run(setup(max_turns=9, max_tokens=500))
        assert (state.end_reason, len(model.requests)) == ("budget", 2)
        with pytest.raises(BudgetExhausted, match="set by the debate"):
            await w.debates.judge(thread, "test/judge")
        assert len(model.requests) == 2
