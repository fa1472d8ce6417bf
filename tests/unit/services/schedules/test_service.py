"""Jobs: due on time and once, under their own policy, with their history and a thread for each run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import AuditEntry, Decision, PermissionRequest
from desktop.domain.errors import ConfigurationError, KnownError, NotFound
from desktop.domain.jobs import Job, JobPolicy, JobRun
from desktop.domain.runs.events import ToolCallFinished
from desktop.domain.safety import SafetySettings
from desktop.models.scripted import ScriptedModel, calls, fails, says
from desktop.safety.permission.gate import PermissionGate
from desktop.services.rules.trust import TrustRules
from desktop.services.schedules.service import JobService, JobSurroundings
from desktop.services.schedules.terms import LABEL
from desktop.skills.patterns.paths import Where
from tests.harness.timeouts import WAIT_S
from tests.unit.agents.script import Hang, Script
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.kit import MODEL, World, world

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC).timestamp()
HOURLY = Job("", "Report", "Write the report.", "0 * * * *", "UTC", model=MODEL)


class Clock:
    """A clock that stands still until it is told."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


class NeverAsked:
    """A person who must not be asked."""

    def __init__(self) -> None:
        self.asked: list[PermissionRequest] = []

    async def ask(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        return Decision("allow_once", request.digest)


class Jobs:
    """A job service in a world, with its clock."""

    def __init__(self, made: World, clock: Clock, admin: list[bool]) -> None:
        self.world, self.clock, self.admin = made, clock, admin
        runtime = replace(made.runtime, spawn=made.owner.spawn)
        around = JobSurroundings(
            admin_allowed=lambda: bool(admin), default_model=lambda: MODEL, where=Where("/w", "/h"), clock=clock
        )
        self.service = JobService(runtime, made.service, around)

    async def at(self, minutes: float) -> None:
        """The clock is so many minutes after noon, and the jobs are looked at."""
        self.clock.now = NOON + minutes * 60
        await self.service._look()

    async def history(self, job: Job) -> list[tuple[str, float]]:
        """(status, minutes after noon) of a job's times, the newest first, once nothing runs."""
        async with asyncio.timeout(WAIT_S):
            while any(run.status == "running" for run in await self.service.runs(job.job_id)):
                await asyncio.sleep(0.005)
        return [(run.status, (run.planned_at - NOON) / 60) for run in await self.service.runs(job.job_id)]


@asynccontextmanager
async def jobs(
    path: Path, *answers: Any, tools: tuple[FakeTool, ...] = (), admin: bool = False, **options: Any
) -> AsyncIterator[Jobs]:
    person, clock = NeverAsked(), Clock()

    async def audit(_entry: AuditEntry) -> int:
        return 1

    gate = PermissionGate(person, TrustRules(), audit, SafetySettings)
    async with world(path, ScriptedModel(list(answers)), *tools, person=gate, **options) as made:
        found = Jobs(made, clock, [True] if admin else [])
        await found.service.open()
        yield found
    assert person.asked == []


@pytest.mark.spec("R-CRON-1", "R-CRON-6")
async def test_a_job_runs_when_it_is_due_in_a_thread_of_its_own_that_says_so(tmp_path: Path) -> None:
    async with jobs(tmp_path, says("Done."), says("Again.")) as made:
        job = await made.service.save(HOURLY)
        await made.at(59)
        assert await made.history(job) == []
        await made.at(60.2)
        await made.at(60.9)
        assert await made.history(job) == [("done", 60)]
        await made.at(120.1)
        assert await made.history(job) == [("done", 120), ("done", 60)]
        runs = await made.service.runs(job.job_id)
        threads = [await made.world.service.thread(run.thread_id) for run in runs]
        assert [(thread.label, thread.title.split(",")[0]) for thread in threads] == [(LABEL, "Report")] * 2
        shown = await made.world.service.path(threads[1].thread_id)
        assert [message.text for message in shown] == ["Write the report.", "Done."]
        row = (await made.service.jobs())[0]
        assert (row.next_at, row.failures, row.running) == (NOON + 10_800, 0, False)
        assert row.last is not None
        assert row.last.status == "done"


@pytest.mark.spec("R-CRON-1")
async def test_times_that_passed_while_the_app_was_closed_are_noted_or_made_up_for_once(tmp_path: Path) -> None:
    async with jobs(tmp_path, says("Made up for.")) as made:
        skip = await made.service.save(HOURLY)
        once = await made.service.save(replace(HOURLY, name="Once", missed="once"))
        await made.at(200)
        assert await made.history(skip) == [("missed", 180)]
        assert (await made.service.runs(skip.job_id))[0].detail == (
            "3 times passed while Assent was not running or this computer slept."
        )
        assert await made.history(once) == [("done", 180), ("missed", 120)]
        await made.at(201)
        assert len(await made.history(skip)) == 1
        await made.service.set_enabled(skip.job_id, False)
        await made.at(500)
        await made.service.set_enabled(skip.job_id, True)
        await made.at(501)
        assert len(await made.history(skip)) == 1


@pytest.mark.spec("R-CRON-1", "S-CRON-1")
async def test_a_run_that_is_still_at_work_is_not_joined_by_another_and_can_be_stopped(tmp_path: Path) -> None:
    async with world(tmp_path, Script([Hang()])) as slow:
        made = Jobs(slow, Clock(), [])
        job = await made.service.save(replace(HOURLY, name="Slow"))
        await made.at(60.1)
        await made.at(120.1)
        newest = (await made.service.runs(job.job_id))[0]
        assert (newest.status, newest.detail) == ("overrun", "The run before it was still working.")
        for minutes in (180.1, 240.1):
            await made.at(minutes)
        again = (await made.service.runs(job.job_id))[0]
        assert again == replace(newest, detail="The run before it was still working: 3 times.")
        with pytest.raises(KnownError, match="Slow is running"):
            await made.service.try_once(job.job_id)
        assert await made.service.stop(job.job_id)
        assert await made.history(job) == [("overrun", 120), ("stopped", 60)]
        assert not await made.service.stop(job.job_id)


@pytest.mark.spec("R-CRON-2", "R-CRON-3", "R-CRON-4", "C-34")
async def test_what_its_policy_does_not_list_a_job_cannot_do_and_the_model_is_told(tmp_path: Path) -> None:
    tools = (
        FakeTool("look", category=Category.READ),
        FakeTool("change", category=Category.WRITE),
        FakeTool("rule-all", category=Category.ADMIN),
    )

    async def states(name: str, policy: JobPolicy, *unoffered: str, admin: bool) -> list[str]:
        names = [tool.name.replace("-", "_") for tool in tools]
        asked = (*(calls(tool, {"path": "a"}, unoffered=tool in unoffered) for tool in names), says("Tried."))
        async with jobs(tmp_path / name, *asked, tools=tools, admin=admin) as made:
            job = await made.service.save(replace(HOURLY, policy=policy))
            thread_id = await made.service.try_once(job.job_id)
            assert (await made.history(job))[0][0] == "done"
            assert (await made.service.runs(job.job_id))[0].thread_id == thread_id
            ended = [event for event in made.world.events if isinstance(event, ToolCallFinished)]
            return [event.state for event in ended]

    both = JobPolicy(("look", "change", "rule-all"), ("rule-all",))
    no_look, any_rule = JobPolicy(("change", "look($deny)")), JobPolicy(("*", "rule-*"))
    for name in "abcdef":
        (tmp_path / name).mkdir()
    assert await states("a", JobPolicy(), "change", "rule_all", admin=True) == ["done", "denied", "denied"]
    assert await states("b", JobPolicy(("change",)), "rule_all", admin=True) == ["done", "done", "denied"]
    assert await states("f", no_look, "look", "rule_all", admin=True) == ["denied", "done", "denied"]
    assert await states("c", both, admin=False) == ["done", "done", "denied"]
    assert await states("d", both, admin=True) == ["done", "done", "done"]
    assert await states("e", any_rule, admin=True) == ["done", "denied", "denied"]


@pytest.mark.spec("R-CRON-2", "S-CRON-1")
async def test_a_job_ends_at_its_own_rounds_and_its_failures_in_a_row_are_counted(tmp_path: Path) -> None:
    look = FakeTool("look", category=Category.READ)
    looks = calls("look", {"path": "a"})
    answers = (looks, looks, fails("model.server_error", "The server is away. " * 20))
    async with jobs(tmp_path, *answers, tools=(look,)) as made:
        job = await made.service.save(replace(HOURLY, policy=JobPolicy(max_rounds=2)))
        await made.at(60.1)
        assert await made.history(job) == [("limit", 60)]
        await made.at(120.1)
        assert (await made.history(job))[0] == ("failed", 120)
        row = (await made.service.jobs())[0]
        assert row.failures == 2
        assert row.last is not None
        assert "away" in row.last.detail
        assert len(row.last.detail) == 200


@pytest.mark.spec("S-CRON-1")
async def test_a_job_is_saved_whole_or_not_at_all_and_every_problem_is_named(tmp_path: Path) -> None:
    async with jobs(tmp_path) as made:
        wrong = Job("", " ", "", "0 99 * * *", "Nowhere/At", agent="nobody", policy=JobPolicy(("bash(",), ("b*",), 0))
        paths = {problem.path for problem in await made.service.problems(wrong) if not problem.warning}
        assert paths == {
            "name",
            "message",
            "schedule",
            "zone",
            "agent",
            "policy.allowed_tools[0]",
            "policy.allow_admin[0]",
            "policy.max_rounds",
        }
        with pytest.raises(ConfigurationError, match=r"schedule.*agent.*policy"):
            await made.service.save(wrong)
        kept = await made.service.save(HOURLY)
        with pytest.raises(ConfigurationError):
            await made.service.save(replace(kept, schedule="whenever"))
        assert [row.job.schedule for row in await made.service.jobs()] == ["0 * * * *"]
        assert len(await made.service.next_times("0 9 * * mon", "Europe/Berlin", 3)) == 3


@pytest.mark.spec("R-CRON-2", "R-CRON-3")
async def test_an_entry_that_no_tool_fits_is_saved_with_a_warning_that_names_the_one_meant(tmp_path: Path) -> None:
    tools = (FakeTool("write-file", Category.WRITE), FakeTool("look"))
    async with jobs(tmp_path, tools=tools) as made:
        good = ("write-file(path=docs/*)", "lo*", "*", "bash(")
        listed = ("write_file", "WRITE-FILE(path=docs/*)", "#no-such", "zz*", *good)
        policy = JobPolicy(listed, ("write_file", "look", "b*"))
        job = replace(HOURLY, policy=policy)
        warned = {one.path.partition(".")[2]: one.text for one in await made.service.problems(job) if one.warning}
        assert warned == {
            "allowed_tools[0]": "write_file: no tool has this name; did you mean write-file?",
            "allowed_tools[1]": "WRITE-FILE(path=docs/*): no tool has this name; did you mean write-file?",
            "allowed_tools[2]": "#no-such: no tool has this tag.",
            "allowed_tools[3]": "zz*: no tool has a name like this.",
            "allow_admin[0]": "write_file: no tool has this name; did you mean write-file?",
        }
        kept = await made.service.save(replace(job, policy=JobPolicy(listed[:3])))
        assert kept.policy.allowed_tools == listed[:3]


async def test_a_deleted_job_comes_back_with_its_history_and_one_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    async with jobs(tmp_path, says("Done.")) as made:
        job = await made.service.save(HOURLY)
        await made.at(60.1)
        assert await made.history(job) == [("done", 60)]
        await made.service.delete(job.job_id)
        assert list(await made.service.jobs()) == []
        await made.at(120.1)
        await made.service.restore(job)
        assert await made.history(job) == [("done", 60)]
        for gone in (made.service.try_once("x"), made.service.delete("x"), made.service.set_enabled("x", True)):
            with pytest.raises(NotFound):
                await gone


async def test_a_run_that_a_crash_ended_is_said_to_be_interrupted_and_not_done_again(tmp_path: Path) -> None:
    async with jobs(tmp_path) as made:
        job = await made.service.save(HOURLY)
        left = JobRun("r1", job.job_id, NOON + 3600, "running", NOON + 3600)
        await made.world.store.jobs.note(run=left, seen_at=NOON + 3600)
    async with jobs(tmp_path) as again:
        await again.at(61)
        assert await again.history(job) == [("interrupted", 60)]


async def test_a_clock_that_is_set_back_does_not_hold_a_job_up(tmp_path: Path) -> None:
    async with jobs(tmp_path, says("Done.")) as made:
        job = await made.service.save(HOURLY)
        await made.at(-600)
        await made.at(-540 + 0.5)
        assert await made.history(job) == [("done", -540)]


async def test_the_keeper_wakes_for_what_is_saved_and_ends_when_it_is_cancelled(tmp_path: Path) -> None:
    async with jobs(tmp_path, says("Done.")) as made:
        keeper = made.world.owner.spawn(made.service.keep(), "jobs")
        await asyncio.sleep(0)
        made.clock.now = NOON + 3599.9
        job = await made.service.save(HOURLY)
        made.clock.now = NOON + 3600.1
        async with asyncio.timeout(WAIT_S):
            while not await made.service.runs(job.job_id):
                await asyncio.sleep(0.01)
        assert await made.history(job) == [("done", 60)]
        keeper.cancel()
        await asyncio.gather(keeper, return_exceptions=True)


@pytest.mark.parametrize("turns", range(6))
async def test_the_keeper_ends_also_when_something_is_saved_in_that_moment(tmp_path: Path, turns: int) -> None:
    """Python 3.11's ``wait_for`` loses a cancellation that comes while what it waits for comes true."""
    async with jobs(tmp_path, says("Done.")) as made:
        keeper = made.world.owner.spawn(made.service.keep(), "jobs")
        await asyncio.sleep(0.1)  # it has looked and waits
        made.service._changed.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        keeper.cancel()
        done, _ = await asyncio.wait([keeper], timeout=WAIT_S)
        assert done == {keeper}
