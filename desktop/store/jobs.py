"""Scheduled jobs and their runs (domain/jobs.py)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from desktop.domain.errors import NotFound
from desktop.domain.jobs import MAX_SNIPPET, Job, JobPolicy, JobRun
from desktop.store.rows import clean, to_json
from desktop.store.worker import StoreThread

KEPT_RUNS = 1_000
"""Rows of a job's history; the oldest go first. The threads of its runs stay."""
INTERRUPTED = "Assent ended before the run did."
UNREADABLE = "A job that cannot be read"
"""The name of one whose row says nothing: it can be deleted, or set up again."""
_JOB = "job_id, job_json, enabled, seen_at"
_RUN = "job_run_id, job_id, planned_at, status, started_at, ended_at, thread_id, run_id, detail, tried"
_WORDS = ("name", "message", "schedule", "zone", "agent", "model", "missed", "project")


class JobRepository:
    """Every change is committed when its call returns. Raises NotFound for a job that does not exist."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    async def put(self, *, job: Job) -> None:
        """Add it, or replace the one with its id; one that was deleted is there again."""
        values = (job.job_id, to_json(_plain(job)), int(job.enabled), job.seen_at, job.created_at)

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO jobs (job_id, job_json, enabled, seen_at, created_at) VALUES (?,?,?,?,?) ON CONFLICT "
                "(job_id) DO UPDATE SET job_json = excluded.job_json, enabled = excluded.enabled, seen_at = "
                "excluded.seen_at, deleted_at = NULL",
                values,
            )

        await self._thread.write(work, durable=True)

    async def list_all(self) -> list[Job]:
        """All that are not deleted, the oldest first."""

        def work(connection: sqlite3.Connection) -> list[Job]:
            rows = connection.execute(f"SELECT {_JOB} FROM jobs WHERE deleted_at IS NULL ORDER BY created_at, job_id")
            return [_job(*row) for row in rows]

        return await self._thread.read(work)

    async def everything(self) -> list[Job]:
        """All that are kept, deleted ones too."""
        query = f"SELECT {_JOB} FROM jobs"
        return await self._thread.read(lambda connection: [_job(*row) for row in connection.execute(query)])

    async def get(self, *, job_id: str) -> Job | None:
        """A job that is not deleted, as it is now."""
        query = f"SELECT {_JOB} FROM jobs WHERE job_id = ? AND deleted_at IS NULL"
        rows = await self._thread.read(lambda connection: connection.execute(query, (job_id,)).fetchall())
        return _job(*rows[0]) if rows else None

    async def reword(self, *, job: Job) -> None:
        """Keep other words of a job, deleted or not, and nothing else."""
        await self._one("UPDATE jobs SET job_json = ? WHERE job_id = ?", to_json(_plain(job)), job.job_id)

    async def delete(self, *, job_id: str, at: float) -> None:
        """Out of the list; ``put`` brings it back with its history."""
        await self._one("UPDATE jobs SET deleted_at = ? WHERE job_id = ? AND deleted_at IS NULL", at, job_id)

    async def set_enabled(self, *, job_id: str, enabled: bool, seen_at: float) -> None:
        """Pause it, or let it go on from ``seen_at``: what passed meanwhile is not missed."""
        update = "UPDATE jobs SET enabled = ?, seen_at = ? WHERE job_id = ?"
        await self._one(update, int(enabled), seen_at, job_id)

    async def note(self, *, run: JobRun, seen_at: float | None = None) -> None:
        """Add a row of history or replace it; ``seen_at``: the job's times up to then are dealt with, in one step."""
        values = (
            run.job_run_id,
            run.job_id,
            run.planned_at,
            run.status,
            run.started_at,
            run.ended_at,
            run.thread_id,
            run.run_id,
            clean(run.detail)[:MAX_SNIPPET],
            int(run.tried),
        )

        def work(connection: sqlite3.Connection) -> None:
            if connection.execute("SELECT 1 FROM jobs WHERE job_id = ?", (run.job_id,)).fetchone() is None:
                raise NotFound("That job no longer exists.")
            connection.execute(
                f"INSERT INTO job_runs ({_RUN}) VALUES (?,?,?,?,?,?,?,?,?,?) ON CONFLICT (job_run_id) DO UPDATE SET "
                "status = excluded.status, started_at = excluded.started_at, ended_at = excluded.ended_at, "
                "thread_id = excluded.thread_id, run_id = excluded.run_id, detail = excluded.detail",
                values,
            )
            if seen_at is not None:
                connection.execute("UPDATE jobs SET seen_at = ? WHERE job_id = ?", (seen_at, run.job_id))
            connection.execute(
                "DELETE FROM job_runs WHERE job_id = ? AND seq <= (SELECT seq FROM job_runs WHERE job_id = ? "
                "ORDER BY seq DESC LIMIT 1 OFFSET ?)",
                (run.job_id, run.job_id, KEPT_RUNS),
            )

        await self._thread.write(work, durable=True)

    async def seen(self, *, job_id: str, at: float) -> None:
        """Note that the job's times up to ``at`` have been dealt with."""
        await self._one("UPDATE jobs SET seen_at = ? WHERE job_id = ?", at, job_id)

    async def runs(self, *, job_id: str, limit: int) -> list[JobRun]:
        """The runs of a job, the newest first."""
        query = f"SELECT {_RUN} FROM job_runs WHERE job_id = ? ORDER BY seq DESC LIMIT ?"
        return await self._thread.read(lambda connection: _runs(connection.execute(query, (job_id, limit)).fetchall()))

    async def of_thread(self, *, thread_id: str) -> Job | None:
        """The job that ran in this thread, also one that is deleted; None: none did, or it is gone for good."""
        query = (
            "SELECT j.job_id, j.job_json, j.enabled, j.seen_at FROM job_runs r JOIN jobs j ON j.job_id = r.job_id "
            "WHERE r.thread_id = ? ORDER BY r.seq DESC LIMIT 1"
        )
        rows = await self._thread.read(lambda connection: connection.execute(query, (thread_id,)).fetchall())
        return _job(*rows[0]) if rows else None

    async def latest(self) -> Mapping[str, Sequence[JobRun]]:
        """The last runs of every job, the newest first: up to 20 each, enough to say how many failed in a row."""
        query = (
            f"SELECT {_RUN} FROM (SELECT *, row_number() OVER (PARTITION BY job_id ORDER BY seq DESC) AS place "
            "FROM job_runs) WHERE place <= 20 ORDER BY job_id, place"
        )
        found: dict[str, list[JobRun]] = {}
        for run in await self._thread.read(lambda connection: _runs(connection.execute(query).fetchall())):
            found.setdefault(run.job_id, []).append(run)
        return found

    async def close_open(self) -> int:
        """What the last process left running ended with it, nobody knows when; how many."""
        update = "UPDATE job_runs SET status = 'interrupted', detail = ? WHERE status = 'running'"
        return await self._thread.write(lambda connection: connection.execute(update, (INTERRUPTED,)).rowcount)

    async def _one(self, statement: str, *values: Any) -> None:
        def work(connection: sqlite3.Connection) -> None:
            if connection.execute(statement, values).rowcount != 1:
                raise NotFound("That job no longer exists.")

        await self._thread.write(work, durable=True)


def _plain(job: Job) -> dict[str, Any]:
    plain = asdict(job)
    return {name: value for name, value in plain.items() if name not in ("enabled", "seen_at")}


def _job(job_id: str, text: str, enabled: int, seen_at: float) -> Job:
    """What another version wrote and this one does not know is left out. A row that makes no job costs only that one:
    it has no schedule, and rests."""
    try:
        plain = json.loads(text)
        policy = {key: value for key, value in plain.pop("policy", {}).items() if key in JobPolicy.__dataclass_fields__}
        for name in ("allowed_tools", "allow_admin"):
            if isinstance(policy.get(name), list):
                policy[name] = tuple(policy[name])
        known = {key: value for key, value in plain.items() if key in Job.__dataclass_fields__}
        job = Job(**known, policy=JobPolicy(**policy), enabled=bool(enabled), seen_at=seen_at)
        if job.job_id == job_id and _sound(job):
            return job
    except (TypeError, ValueError, AttributeError):
        pass
    return Job(job_id, UNREADABLE, "", "", enabled=False, seen_at=seen_at)


def _sound(job: Job) -> bool:
    """Whether everything in it is of the kind that it is said to be."""
    policy = job.policy
    words = [*(getattr(job, name) for name in _WORDS), *(policy.allowed_tools or ()), *policy.allow_admin]
    limits = (policy.max_rounds, policy.max_tokens or 1, policy.max_cost or 1, policy.deadline_s or 1, job.created_at)
    lists = isinstance(policy.allowed_tools, tuple | None) and isinstance(policy.allow_admin, tuple)
    lists = lists and isinstance(job.settings, dict)
    kinds = all(isinstance(number, int | float) and not isinstance(number, bool) for number in limits)
    return lists and kinds and isinstance(policy.at_edge, bool) and all(isinstance(word, str) for word in words)


def _runs(rows: Sequence[tuple[Any, ...]]) -> list[JobRun]:
    return [replace(JobRun(*row), tried=bool(row[-1])) for row in rows]
