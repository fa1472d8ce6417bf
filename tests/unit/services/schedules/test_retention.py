"""How many threads of a job's runs stay."""

import asyncio
import sqlite3
from datetime import datetime
from pathlib import Path

import pytest

from desktop.domain.jobs import KEPT_THREADS
from desktop.models.scripted import says
from tests.harness.timeouts import WAIT_S
from tests.unit.services.schedules.test_service import HOURLY, NOON, jobs

_THREAD = (
    "INSERT INTO threads (thread_id, title, created_at, updated_at, agent, model, pinned, titled_by, label, state, "
    "input_tokens, output_tokens, reasoning_tokens, cached_tokens, cost_usd) "
    "VALUES (?, ?, 1, 1, 'assistant', '', ?, 'person', 'job', '', 0, 0, 0, 0, 0)"
)
_RUN = (
    "INSERT INTO job_runs (job_run_id, job_id, planned_at, started_at, ended_at, status, thread_id, run_id, detail, "
    "tried) VALUES (?, ?, ?, 1, 1, 'done', ?, '', '', 0)"
)


@pytest.mark.spec("R-CRON-6")
async def test_after_a_run_the_oldest_thread_that_nobody_touched_goes_and_its_row_of_history_stays(
    tmp_path: Path,
) -> None:
    async with jobs(tmp_path, says("Done.")) as made:
        job = await made.service.save(HOURLY)
        before = [(f"t{at}", NOON - (KEPT_THREADS + 1 - at) * 3600) for at in range(KEPT_THREADS + 1)]
        with sqlite3.connect(tmp_path / "assent.db") as store:
            named = [(name, f"Report, {datetime.fromtimestamp(at):%d %b %H:%M}", name == "t0") for name, at in before]
            store.executemany(_THREAD, named)
            store.executemany(_RUN, [(f"r{name}", job.job_id, planned, name) for name, planned in before])
        store.close()
        await made.at(60.1)
        assert (await made.history(job))[0] == ("done", 60)
        async with asyncio.timeout(WAIT_S):
            while all(run.thread_id for run in await made.service.runs(job.job_id, 500)):
                await asyncio.sleep(0.005)
        listed = {thread.thread_id for thread in await made.world.service.threads()}
        runs = await made.service.runs(job.job_id, 500)
        assert len(listed) == KEPT_THREADS + 1
        assert "t0" in listed, "it is pinned"
        assert "t1" not in listed
        assert [run.job_run_id for run in runs if not run.thread_id] == ["rt1"]
        assert len(runs) == KEPT_THREADS + 2
