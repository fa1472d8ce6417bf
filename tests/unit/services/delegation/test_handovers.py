"""Conversations that are handed over: one budget and one job for all who answer the same message."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import AuditEntry
from desktop.domain.errors import KnownError
from desktop.domain.jobs import JobPolicy
from desktop.domain.runs.events import RunEnded, ToolCallFinished
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.safety import SafetySettings
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.safety.permission.gate import PermissionGate
from desktop.services.chats.active_run import MAX_HANDOVERS
from desktop.services.rules.trust import TrustRules
from tests.harness.timeouts import WAIT_S
from tests.unit.agents.script import Hang, Script, call
from tests.unit.agents.script import calls as asks
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.delegation.test_tools import BOSS, HELPER, House, house, one
from tests.unit.services.schedules.test_service import HOURLY, Clock, Jobs
from tests.unit.services.turns.test_unattended import NeverAsked

TO = {BOSS: "helper_agent", HELPER: "boss_agent"}
NAMES = ("helper-agent", "boss-agent")
USED = {"usage": {"input": 4000, "output": 10, "cost": 0.4}}


def back_and_forth(count: int, used: dict[str, Any] = USED) -> list[list[dict[str, Any]]]:
    """Rounds in which each gives the conversation to the other."""
    return [[*calls(TO[BOSS if at % 2 == 0 else HELPER], {"message": "Yours."}), used] for at in range(count)]


@asynccontextmanager
async def two(path: Path, model: Any, *tools: FakeTool, **options: Any) -> AsyncIterator[tuple[House, Jobs]]:
    """Two agents that take conversations over, with jobs; nobody is ever asked."""
    person = NeverAsked()

    async def audit(_entry: AuditEntry) -> int:
        return 1

    gate = PermissionGate(person, TrustRules(), audit, lambda: SafetySettings(str(path)))
    agents = (one(BOSS, "boss", handoff="transfer"), one(HELPER, "helper", handoff="transfer"))
    skills = {"boss": "metadata: {category: read}", "helper": "metadata: {category: read}"}
    async with house(path, model, *agents, tools=tools, skills=skills, person=gate, **options) as h:
        yield h, Jobs(h.world, Clock(), [])
    assert person.asked == []


@pytest.mark.spec("R-CRON-2", "R-SUP-8", "R-LIM-5")
@pytest.mark.parametrize(
    ("policy", "runs", "named", "reason"),
    [
        (JobPolicy(NAMES, max_rounds=3), 3, "max_rounds 3 (set by the job Report)", "global_limit"),
        (JobPolicy(NAMES, max_rounds=20, max_tokens=5000), 2, "max_tokens 5000 (set by the job Report)", "budget"),
        (JobPolicy(NAMES, max_rounds=20, max_cost=0.5), 2, "max_cost_usd 0.5 (set by the job Report)", "budget"),
        (JobPolicy(NAMES, max_rounds=20), 4, "max_tokens 13000 (set by the run's budget)", "budget"),
    ],
)
async def test_a_job_that_is_handed_to_and_fro_ends_at_its_own_limits_which_are_named(
    tmp_path: Path, policy: JobPolicy, runs: int, named: str, reason: str
) -> None:
    model = ScriptedModel([*back_and_forth(20), says("End.")])
    async with two(tmp_path, model, budget=ExecutionBudget(max_tokens=13_000)) as (h, made):
        job = await made.service.save(replace(HOURLY, agent=BOSS, policy=policy))
        thread_id = await made.service.try_once(job.job_id)
        assert [status for status, _ in await made.history(job)] == ["limit"]
        assert len(model.requests) == runs
        assert [end.reason for end in h.world.ends()] == ["response"] * runs + [reason]
        assert named in h.world.ends()[-1].limit
        assert named in (await made.service.runs(job.job_id))[0].detail
        shown = await h.world.service.path(thread_id)
        assert named in [block.text for block in shown[-1].blocks if block.kind == "notice"][-1]


@pytest.mark.spec("R-CRON-1", "R-CRON-6")
async def test_a_job_runs_until_the_last_of_those_it_was_handed_to_is_done_and_can_be_stopped_there(
    tmp_path: Path,
) -> None:
    model = Script(asks(call("1", "helper_agent", message="Yours.")), [Hang()])
    async with two(tmp_path, model) as (h, made):
        job = await made.service.save(replace(HOURLY, agent=BOSS, policy=JobPolicy(NAMES)))
        thread_id = await made.service.try_once(job.job_id)
        await h.world.until(RunEnded)
        for _ in range(10):
            await asyncio.sleep(0)
        assert (await made.service.jobs())[0].running
        with pytest.raises(KnownError, match="Report is running"):
            await made.service.try_once(job.job_id)
        await made.service.delete(job.job_id)
        assert await h.world.service.wait(thread_id)
        assert [end.reason for end in h.world.ends()] == ["response", "cancelled"]
        assert [status for status, _ in await made.history(job)] == ["stopped"]


@pytest.mark.spec("R-CRON-1", "R-CRON-3")
async def test_who_takes_a_jobs_conversation_over_is_bound_by_its_policy_where_a_person_would_be_asked(
    tmp_path: Path,
) -> None:
    change = FakeTool("change", category=Category.WRITE)
    model = ScriptedModel([*back_and_forth(1), calls("change", {"path": "a"}), says("No."), says("End.")])
    async with two(tmp_path, model, change) as (h, made):
        job = await made.service.save(replace(HOURLY, agent=BOSS, policy=JobPolicy(("*",))))
        await made.service.try_once(job.job_id)
        assert [status for status, _ in await made.history(job)] == ["done"]
        assert change.calls == []
        states = [(event.tool, event.code) for event in h.world.events if isinstance(event, ToolCallFinished)]
        assert states[-1] == ("change", "denied.permission")


@pytest.mark.spec("R-LIM-1", "R-AAT-8")
async def test_a_conversation_goes_round_only_so_often_for_one_message_and_the_last_one_answers(tmp_path: Path) -> None:
    model = ScriptedModel([*back_and_forth(MAX_HANDOVERS + 1, {"usage": {"input": 1, "output": 1}}), says("Mine.")])
    async with two(tmp_path, model) as (h, _):
        thread_id = await h.world.thread(agent=BOSS)
        await h.world.service.send(thread_id, "Who?")
        shown = await h.world.settled(thread_id)
        assert (shown[-1].text, len(h.world.ends())) == ("Mine.", MAX_HANDOVERS + 1)
        refused = [block for message in shown for block in message.blocks if block.kind == "tool_result"][-1]
        assert refused.facts["code"] == "denied.limit"
        assert h.world.live._trees == {}


@pytest.mark.spec("R-SUP-8", "R-SUP-11", "S-AAT-1")
async def test_time_and_rounds_of_who_handed_over_count_for_who_goes_on(tmp_path: Path) -> None:
    looks = [calls("look", {"path": "a"})] * 2
    rounds = [*looks, *back_and_forth(1), *looks, says("End.")]
    async with two(tmp_path, ScriptedModel(rounds), FakeTool("look"), budget=ExecutionBudget(max_rounds=4)) as (h, _):
        thread_id = await h.world.thread(agent=BOSS)
        await h.world.service.send(thread_id, "Who?")
        await h.world.settled(thread_id)
        assert h.world.ends()[-1].limit == "max_rounds 4 (set by the run's budget)"
    (tmp_path / "b").mkdir()
    look = FakeTool("look", body=lambda _args, _context: asyncio.sleep(0.3))
    slow = Script(asks(call("0", "look", path="a")), asks(call("1", "helper_agent", message="Yours.")), [Hang()])
    async with two(tmp_path / "b", slow, look, budget=ExecutionBudget(deadline_s=60.0)) as (h, _):
        thread_id = await h.world.thread(agent=BOSS)
        await h.world.service.send(thread_id, "Who?")
        await h.world.until(RunEnded)
        async with asyncio.timeout(WAIT_S):
            while not h.world.live._trees:
                await asyncio.sleep(0.005)
        (tree,) = h.world.live._trees.values()
        left, timer = tree.root.budget.time_left_s, tree.root.timer
        assert left is not None
        assert timer is not None
        assert left < 59.8  # the time of the one before it is gone
        assert timer.when() - asyncio.get_running_loop().time() == pytest.approx(left, abs=0.15)
        await h.world.service.stop(thread_id)
        assert await h.world.service.wait(thread_id, 30)
