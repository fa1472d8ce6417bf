"""Jobs on bad days: rows and zones that cannot be read, long rests, deletion at the wrong moment, a full house."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.definitions import AgentDefinition, SideDefinition
from desktop.domain.errors import ConfigurationError, KnownError, NotFound
from desktop.domain.jobs import JobPolicy, JobRun
from desktop.domain.runs.events import MessageOpened, RunWaiting, ToolCallFinished
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.models.scripted import calls, fails, says
from desktop.services.definitions.book import AgentBook
from desktop.services.schedules.service import MAX_JOBS
from desktop.store.jobs import INTERRUPTED, KEPT_RUNS, UNREADABLE
from desktop.supervision.tasks import RunSlots
from tests.harness.definitions import load_agents
from tests.harness.timeouts import WAIT_S
from tests.unit.agents.script import Hang, Script
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.kit import ROOT, world
from tests.unit.services.schedules.test_service import HOURLY, NOON, Clock, Jobs, jobs

DAY = 24 * 60
SECRET = "sk-live-0123456789abcdef"


def sql(path: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(path / "assent.db") as connection:
        connection.execute(statement, values)
    connection.close()


@asynccontextmanager
async def slow(path: Path, runs: int, slots: int = 4) -> AsyncIterator[Jobs]:
    """Jobs whose model never answers."""
    async with world(path, Script(*[[Hang()]] * runs), slots=RunSlots(slots), supervised=True) as made:
        yield Jobs(made, Clock(), [])


@pytest.mark.parametrize(
    "text",
    [
        '{"job_id": "%s"}',
        "not json",
        "[]",
        '{"job_id":"other","name":"n","message":"m","schedule":"* * * * *"}',
        '{"job_id":"%s","name":5,"message":"m","schedule":"0 * * * *","zone":"UTC"}',
        '{"job_id":"%s","name":"n","message":"m","schedule":"0 * * * *","policy":{"max_rounds":"x"}}',
        '{"job_id":"%s","name":"n","message":"m","schedule":"0 * * * *","policy":{"allow_admin":null}}',
    ],
)
async def test_a_row_that_makes_no_job_costs_that_job_alone_and_can_be_deleted(tmp_path: Path, text: str) -> None:
    async with jobs(tmp_path, says("Done.")) as made:
        bad = await made.service.save(replace(HOURLY, name="Bad"))
        good = await made.service.save(replace(HOURLY, name="Good"))
        words = text.replace("%s", bad.job_id)
        sql(tmp_path, "UPDATE jobs SET job_json = ? WHERE job_id = ?", words, bad.job_id)
        await made.at(60.1)
        assert await made.history(good) == [("done", 60)]
        rows = {row.job.job_id: row for row in await made.service.jobs()}
        lost = rows[bad.job_id]
        assert (lost.job.name, lost.job.enabled, lost.next_at, bool(lost.problem)) == (UNREADABLE, False, None, True)
        assert (rows[good.job_id].problem, rows[good.job_id].next_ahead_s) == ("", 0)
        with pytest.raises(KnownError, match="Nothing can be read"):
            await made.service.try_once(bad.job_id)
        await made.service.delete(bad.job_id)
        assert [row.job.name for row in await made.service.jobs()] == ["Good"]


async def test_a_job_that_cannot_be_carried_out_says_why_and_holds_no_other_up(tmp_path: Path) -> None:
    async with jobs(tmp_path, says("Done.")) as made:
        kept = [await made.service.save(replace(HOURLY, name=name)) for name in ("zone", "list", "good")]
        await made.world.store.jobs.put(job=replace(kept[0], zone="No/Where"))
        await made.world.store.jobs.put(job=replace(kept[1], policy=JobPolicy(("bash(",))))
        await made.at(60.1)
        await made.at(60.2)
        assert [await made.history(job) for job in kept] == [[], [("failed", 60)], [("done", 60)]]
        rows = {row.job.name: row for row in await made.service.jobs()}
        zone, listed = rows["zone"], rows["list"]
        assert (zone.problem, zone.next_at) == ("There is no time zone 'No/Where'. Such as Europe/Berlin.", None)
        assert listed.last is not None
        assert listed.last.detail


@pytest.mark.expects_log("jobs could not be looked at")
async def test_the_keeper_goes_on_after_the_store_has_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with jobs(tmp_path, says("Done.")) as made:
        job = await made.service.save(HOURLY)
        made.clock.now = NOON + 3600.1
        sql(tmp_path, "ALTER TABLE jobs RENAME TO gone")
        keeper = made.world.owner.spawn(made.service.keep(), "jobs")
        async with asyncio.timeout(WAIT_S):
            while "jobs could not be looked at" not in caplog.text and not keeper.done():
                await asyncio.sleep(0.01)
        sql(tmp_path, "ALTER TABLE gone RENAME TO jobs")
        made.service._tell()
        async with asyncio.timeout(WAIT_S):
            while not await made.service.runs(job.job_id):
                await asyncio.sleep(0.01)
        assert await made.history(job) == [("done", 60)]
        keeper.cancel()
        await asyncio.gather(keeper, return_exceptions=True)


@pytest.mark.spec("R-CRON-1")
async def test_after_a_month_closed_a_job_of_every_minute_runs_once_and_notes_the_rest_in_one_row(
    tmp_path: Path,
) -> None:
    async with jobs(tmp_path, says("Made up for."), says("Too many.")) as made:
        once = await made.service.save(replace(HOURLY, schedule="* * * * *", missed="once"))
        skip = await made.service.save(replace(HOURLY, schedule="* * * * *"))
        for looks in range(3):
            await made.at(30 * DAY + 2.5 / 60 + looks / 100)
        assert await made.history(once) == [("done", 30 * DAY), ("missed", 30 * DAY - 1)]
        assert await made.history(skip) == [("done", 30 * DAY), ("missed", 30 * DAY - 1)]
        words = (await made.service.runs(once.job_id))[1].detail
        assert words == "More than 1,000 times passed while Assent was not running or this computer slept."


async def test_a_crash_leaves_a_reason_and_no_time_that_nobody_knows(tmp_path: Path) -> None:
    async with jobs(tmp_path) as made:
        job = await made.service.save(HOURLY)
        await made.world.store.jobs.note(run=JobRun("r1", job.job_id, NOON, "running", NOON + 1, thread_id="t1"))
        await made.service.open()
        run = (await made.service.runs(job.job_id))[0]
        assert (run.status, run.detail, run.ended_at) == ("interrupted", INTERRUPTED, 0)


@pytest.mark.spec("R-CRON-1", "R-CAN-10")
async def test_a_job_that_is_deleted_or_stopped_while_it_begins_does_not_run(tmp_path: Path) -> None:
    """At every point of its beginning."""
    async with slow(tmp_path, 60, 60) as made:
        for turns in range(0, 40, 3):
            job = await made.service.save(HOURLY)
            begins = asyncio.ensure_future(made.service.try_once(job.job_id))
            for _ in range(turns):
                await asyncio.sleep(0.0005)
            await made.service.delete(job.job_id)
            await asyncio.gather(begins, return_exceptions=True)
            async with asyncio.timeout(WAIT_S):
                while made.world.service.running():
                    await asyncio.sleep(0.005)
            assert {status for status, _ in await made.history(job)} <= {"stopped"}
            await made.service.restore(job)
            assert not (await made.service.jobs())[-1].running
            await made.service.delete(job.job_id)
        gone = await made.service.save(HOURLY)
        made.service._runs.deleted(gone.job_id)  # as it is between the word and the store's knowing it
        with pytest.raises(NotFound):
            await made.service.try_once(gone.job_id)
        await made.service.delete(gone.job_id)
        other = await made.service.save(HOURLY)
        await made.service.save(replace(other, policy=JobPolicy(max_rounds=1)))
        made.clock.now = NOON + 3600.1
        assert await made.service._looked(other) == 0  # as it was a moment ago: it is looked at again
        await made.service.delete(other.job_id)
        made.clock.now = NOON
        stale = await made.service.save(HOURLY)
        made.clock.now = NOON + 3600.1
        look = asyncio.ensure_future(made.service._look())
        await asyncio.sleep(0)
        await made.service.delete(stale.job_id)
        await look
        assert made.world.service.running() == ()


@pytest.mark.spec("R-SUP-14", "R-CRON-1")
async def test_jobs_leave_a_place_for_a_person_and_those_that_wait_say_so(tmp_path: Path) -> None:
    async with slow(tmp_path, 8) as made:
        for name in "abcdef":
            await made.service.save(replace(HOURLY, name=name))
        await made.at(60.1)
        events = made.world.events
        await made.world.until(MessageOpened, 3)
        async with asyncio.timeout(WAIT_S):
            while sum(row.waiting for row in await made.service.jobs()) != 3:
                await asyncio.sleep(0.01)
        assert [row.running for row in await made.service.jobs()] == [True] * 6
        thread_id = await made.world.thread()
        await made.world.service.send(thread_id, "Hello?")
        await made.world.until(MessageOpened, 4)
        opened = [event.thread_id for event in events if isinstance(event, MessageOpened)]
        assert opened[-1] == thread_id
        waited = [event.thread_id for event in events if isinstance(event, RunWaiting) and event.waiting]
        assert thread_id not in waited
        at_work = [row.job.job_id for row in await made.service.jobs() if not row.waiting]
        for job_id in at_work[:2]:  # one makes room for the next person, the other for the next job
            await made.service.stop(job_id)
        await made.world.until(MessageOpened, 5)
        assert sum(row.waiting for row in await made.service.jobs()) == 2
        assert [event.waiting for event in events if isinstance(event, RunWaiting)].count(False) == 1


@pytest.mark.spec("R-CRON-2", "R-LIM-5", "R-SUP-11")
@pytest.mark.parametrize(
    ("policy", "named"),
    [
        (JobPolicy(max_rounds=2), "max_rounds 2 (set by the job Report)"),
        (JobPolicy(max_tokens=30), "max_tokens 30 (set by the job Report)"),
        (JobPolicy(max_cost=0.5), "max_cost_usd 0.5 (set by the job Report)"),
        (JobPolicy(), "max_tokens 90 (set by the run's budget)"),
        (JobPolicy(max_tokens=200), "max_tokens 90 (set by the run's budget)"),
    ],
)
async def test_a_limit_of_a_job_ends_its_run_and_is_named_as_the_jobs(
    tmp_path: Path, policy: JobPolicy, named: str
) -> None:
    look = FakeTool("look", category=Category.READ)
    answers = [[*calls("look", {"path": "a"}), {"usage": {"input": 30, "output": 1, "cost": 0.6}}]] * 9
    async with jobs(tmp_path, *answers, says("Done."), tools=(look,), budget=ExecutionBudget(max_tokens=90)) as made:
        job = await made.service.save(replace(HOURLY, policy=policy))
        await made.at(60.1)
        assert await made.history(job) == [("limit", 60)]
        assert named in (await made.service.runs(job.job_id))[0].detail


@pytest.mark.spec("R-CRON-2", "R-SUP-11")
async def test_a_jobs_deadline_ends_its_run_in_the_middle_of_an_answer(tmp_path: Path) -> None:
    async with slow(tmp_path, 1) as made:
        job = await made.service.save(replace(HOURLY, policy=JobPolicy(deadline_s=0.2)))
        await made.at(60.1)
        assert await made.history(job) == [("limit", 60)]
        assert "deadline_s 0.2 (set by the job Report)" in (await made.service.runs(job.job_id))[0].detail


@pytest.mark.spec("R-CRON-2", "R-CRON-3")
@pytest.mark.parametrize(
    ("tool", "listed", "code"),
    [
        ("look", ("listen", "skill-*"), ""),
        ("look", ("listen", "look($deny)"), "denied.allowed_tools"),
        ("change", ("listen", "skill-*"), "denied.allowed_tools"),
        ("change", ("change",), ""),
    ],
)
async def test_a_job_reads_unlisted_and_does_what_its_list_names(
    tmp_path: Path, tool: str, listed: tuple[str, ...], code: str
) -> None:
    categories = {"look": Category.READ, "listen": Category.READ, "change": Category.WRITE}
    tools = tuple(FakeTool(name, category=category) for name, category in categories.items())
    async with jobs(tmp_path, calls(tool, {"path": "a"}, unoffered=bool(code)), says("Done."), tools=tools) as made:
        job = await made.service.save(replace(HOURLY, policy=JobPolicy(listed)))
        await made.at(60.1)
        assert await made.history(job) == [("done", 60)]
        codes = [event.code for event in made.world.events if isinstance(event, ToolCallFinished)]
        assert codes == [code]  # what is denied never comes to the gate that asks a person elsewhere


@pytest.mark.spec("R-SEC-1")
async def test_a_key_that_comes_into_the_keyring_later_goes_out_of_jobs_and_of_what_they_say(tmp_path: Path) -> None:
    known: list[str] = []

    def mask(text: str) -> str:
        return text.replace(SECRET, "[REDACTED]") if known else text

    refused = fails("model.bad_request", f"{'x' * 185} {SECRET} is no key.")
    async with jobs(tmp_path, refused, mask=mask) as made:
        job = await made.service.save(replace(HOURLY, message=f"Use {SECRET}."))
        deleted = await made.service.save(replace(HOURLY, name=f"Old {SECRET}"))
        await made.service.delete(deleted.job_id)
        known.append(SECRET)
        await made.at(60.1)
        assert await made.history(job) == [("failed", 60)]
        detail = (await made.service.runs(job.job_id))[0].detail
        assert "sk-live" not in detail
        assert len(detail) == 200
        assert [row.job.message for row in await made.service.jobs()] == ["Use [REDACTED]."]
        saved = await made.service.save(replace(HOURLY, message=f"And {SECRET}."))
        assert saved.message == "And [REDACTED]."
    with sqlite3.connect(tmp_path / "assent.db") as connection:
        assert not connection.execute("SELECT 1 FROM jobs WHERE job_json LIKE ?", (f"%{SECRET}%",)).fetchall()
    connection.close()


async def test_there_are_only_so_many_jobs_and_only_so_many_rows_of_history(tmp_path: Path) -> None:
    async with jobs(tmp_path) as made:
        job = await made.service.save(HOURLY)
        statement = (
            "INSERT INTO jobs SELECT 'j' || value, job_json, 0, seen_at, created_at, NULL FROM jobs, json_each(?)"
        )
        sql(tmp_path, statement, str(list(range(MAX_JOBS - 1))))
        with pytest.raises(ConfigurationError, match=f"There are {MAX_JOBS} jobs"):
            await made.service.save(HOURLY)
        await made.service.save(job)
        rows = "INSERT INTO job_runs SELECT value, 'h' || value, ?, ?, 0, 0, 'done', '', '', '', 0 FROM json_each(?)"
        sql(tmp_path, rows, job.job_id, NOON, str(list(range(1, KEPT_RUNS + 3))))
        await made.world.store.jobs.note(run=JobRun("last", job.job_id, NOON, "missed"))
        kept = await made.service.runs(job.job_id, 5000)
        assert (len(kept), kept[0].job_run_id, kept[-1].job_run_id) == (KEPT_RUNS, "last", "h4")


async def test_names_that_are_too_long_and_agents_of_two_sides_are_refused_in_their_own_fields(tmp_path: Path) -> None:
    side = SideDefinition(prompt="assistant")
    book = load_agents(ROOT / "resources/agents")
    agents = AgentBook({**book.agents, "two_agent": AgentDefinition("two_agent", side, type="dual_ai", side_b=side)})
    async with jobs(tmp_path, agents=agents) as made:
        wrong = replace(HOURLY, name="n" * 201, message="m" * 20_001, agent="two_agent")
        found = {problem.path: problem.text for problem in await made.service.problems(wrong)}
        assert set(found) == {"name", "message", "agent"}
        assert ("200" in found["name"], "20,000" in found["message"]) == (True, True)
        assert await made.service.problems(HOURLY) == []
        assert HOURLY.policy.max_rounds == 10
        assert await made.service.ahead("Asia/Tokyo", [NOON]) == [9 * 3600]
        await made.service.save(replace(HOURLY, schedule="0 9 * * *", zone="Asia/Tokyo"))
        assert (await made.service.jobs())[0].next_ahead_s == 9 * 3600
