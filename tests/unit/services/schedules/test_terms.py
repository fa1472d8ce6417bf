"""A job's answer that a person goes on with: what bound the job binds that, too; only what had begun is asked about."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import AuditEntry, Decision, PermissionRequest
from desktop.domain.jobs import JobPolicy, JobRun
from desktop.domain.messages import TextBlock
from desktop.domain.runs.effects import call_key
from desktop.domain.runs.events import ToolCallFinished
from desktop.domain.safety import SafetySettings
from desktop.domain.threads import MessageRecord, RunRecord
from desktop.models.scripted import ScriptedModel, calls, fails, says
from desktop.recovery.words import SAID_DONE
from desktop.safety.permission.gate import PermissionGate
from desktop.services.rules.trust import TrustRules
from desktop.services.schedules.terms import LABEL
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.cut_off import ANSWER, RUN, WRITE, cut_off, line, results
from tests.unit.services.kit import MODEL, world
from tests.unit.services.schedules.test_service import HOURLY, Clock, Jobs, jobs

LOOK, CHANGE = calls("look", {"path": "a"}), calls("change", {"path": "a"}, unoffered=True)


def tools() -> tuple[FakeTool, ...]:
    return FakeTool("look"), FakeTool("change", Category.WRITE)


@pytest.mark.spec("R-CRON-1", "R-CRON-2", "R-CRON-3")
@pytest.mark.parametrize("way", ["continue", "retry", "regenerate"])
async def test_who_goes_on_with_a_jobs_answer_is_bound_by_the_jobs_policy(tmp_path: Path, way: str) -> None:
    answers = (fails("model.server_error", "away"), CHANGE, LOOK, LOOK, LOOK)
    async with jobs(tmp_path, *answers, tools=tools()) as made:
        job = await made.service.save(replace(HOURLY, policy=JobPolicy(max_rounds=2, max_tokens=100_000)))
        thread = await made.service.try_once(job.job_id)
        assert (await made.history(job))[0][0] == "failed"
        service = made.world.service
        if way == "continue":
            await service.continue_answer(thread)
        elif way == "retry":
            await service.retry(thread)
        else:
            await service.regenerate((await service.path(thread))[-1].message_id)
        await made.world.settled(thread)
        states = [(e.tool, e.state) for e in made.world.events if isinstance(e, ToolCallFinished)]
        assert states == [("change", "denied"), ("look", "done")]
        assert made.world.ends()[-1].reason == "limit"


@pytest.mark.spec("R-CRON-1")
async def test_what_a_person_writes_in_a_jobs_thread_is_theirs(tmp_path: Path) -> None:
    """Also the job's message, said differently."""
    async with jobs(tmp_path, says("Done."), LOOK, LOOK, says("Seen."), LOOK, says("Again."), tools=tools()) as made:
        job = await made.service.save(replace(HOURLY, policy=JobPolicy(max_rounds=1)))
        thread = await made.service.try_once(job.job_id)
        await made.history(job)
        asked = (await made.world.service.path(thread))[0]
        assert (await made.world.ask(thread, "look twice"))[-1].text == "Seen."
        await made.world.service.edit(asked.message_id, "look once")
        assert (await made.world.settled(thread))[-1].text == "Again."


@pytest.mark.spec("R-CRON-1", "R-JRN-2", "R-PRM-4")
async def test_of_a_jobs_write_that_may_have_been_done_the_person_who_goes_on_is_asked(tmp_path: Path) -> None:
    asked: list[PermissionRequest] = []

    class EffectRequest:
        async def ask(self, request: PermissionRequest) -> Decision:
            asked.append(request)
            return Decision("done", request.digest)

    async def audit(_entry: AuditEntry) -> int:
        return 1

    write = FakeTool(WRITE, Category.WRITE)
    gate = PermissionGate(EffectRequest(), TrustRules(), audit, lambda: SafetySettings("/w"))
    model = ScriptedModel([calls("write_file", {"path": "new"}), says("ok")])
    async with world(tmp_path, model, write, person=gate, supervised=True) as w:
        made = Jobs(w, Clock(), [])
        job = await made.service.save(replace(HOURLY, policy=JobPolicy((WRITE,))))
        thread = await cut_off(w, [("c1", WRITE), ("c2", WRITE)], [line(1, "c1", WRITE, "begun")])
        await w.store.threads.set_label(thread_id=thread, label=LABEL)
        run = JobRun("r1", job.job_id, time.time(), "interrupted", thread_id=thread, run_id=RUN)
        await w.store.jobs.note(run=run)
        await made.service.delete(job.job_id)
        await w.service.continue_answer(thread)
        shown = results(await w.settled(thread))
        assert [request.unknown != "" for request in asked] == [True]
        assert (shown["c1"], shown["c2"]) == (SAID_DONE, "did write-file")
        assert write.calls == [{"path": "c2"}, {"path": "new"}]


@pytest.mark.spec("R-CRON-2")
async def test_a_jobs_thread_whose_job_is_gone_for_good_only_reads(tmp_path: Path) -> None:
    answers = (fails("model.server_error", "away"), CHANGE, LOOK, says("ok"))
    async with jobs(tmp_path, *answers, tools=tools()) as made:
        thread = await made.world.thread()
        await made.world.store.threads.set_label(thread_id=thread, label=LABEL)
        await made.world.ask(thread, "as a job asked")
        await made.world.service.retry(thread)
        await made.world.settled(thread)
        states = [(e.tool, e.state) for e in made.world.events if isinstance(e, ToolCallFinished)]
        assert states == [("change", "denied"), ("look", "done")]


@pytest.mark.spec("R-CRON-1", "R-AAT-4")
async def test_an_agent_that_a_job_called_is_bound_by_the_jobs_policy_when_a_person_goes_on_with_it(
    tmp_path: Path,
) -> None:
    """Where a person says something else in its thread, that is theirs."""
    answers = (CHANGE, LOOK, says("ok"), calls("change", {"path": "a"}), says("changed"))
    async with jobs(tmp_path, *answers, tools=tools()) as made:
        w, store = made.world, made.world.store
        job = await made.service.save(replace(HOURLY, policy=JobPolicy(("look",))))
        root = await cut_off(w, [("c1", "helper")], [])
        await store.threads.set_label(thread_id=root, label=LABEL)
        run = JobRun("r1", job.job_id, time.time(), "interrupted", thread_id=root, run_id=RUN)
        await store.jobs.note(run=run)
        child = await w.thread()
        await store.runs.start(record=RunRecord("below", child, 2.0, "assistant", MODEL))
        await store.called.add(run_id="below", tree_run_id=RUN, call_key=call_key(ANSWER, "c1"))
        await store.messages.add(record=MessageRecord("task", child, None, "user", (TextBlock("help"),), 2.0))
        await store.runs.end(run_id="below", reason="interrupted", at=3.0)
        await w.service.continue_answer(child)
        await w.settled(child)
        await w.ask(child, "do it")
        states = [(e.tool, e.state) for e in w.events if isinstance(e, ToolCallFinished)]
        assert states == [("change", "denied"), ("look", "done"), ("change", "failed")], "nobody is there to ask, here"
