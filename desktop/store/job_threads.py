"""Whose runs threads are: read beside them, for the list and the head of a job's thread (R-CRON-6)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from desktop.domain.threads import JOB_LABEL, ThreadJob, ThreadRecord

_JOBS = (
    "SELECT job_id, CASE WHEN json_valid(job_json) THEN json_extract(job_json, '$.name') END, deleted_at IS NOT NULL "
    "FROM jobs"
)
_GONE = ThreadJob("", "", "", deleted=True)


def with_jobs(connection: sqlite3.Connection, threads: Sequence[ThreadRecord]) -> list[ThreadRecord]:
    """The same threads, those of jobs with their job; where its history is gone nothing is known of it."""
    labelled = {thread.thread_id for thread in threads if thread.label == JOB_LABEL}
    if not labelled:
        return list(threads)
    jobs = {job_id: (str(name or ""), bool(deleted)) for job_id, name, deleted in connection.execute(_JOBS)}
    one = next(iter(labelled)) if len(labelled) == 1 else None
    runs = connection.execute(
        "SELECT thread_id, job_id, status FROM job_runs WHERE thread_id = coalesce(?, thread_id) ORDER BY seq", (one,)
    )
    found = {
        thread_id: ThreadJob(job_id, jobs[job_id][0], status, jobs[job_id][1])
        for thread_id, job_id, status in runs if thread_id in labelled and job_id in jobs
    }  # fmt: skip
    return [
        replace(thread, job=found.get(thread.thread_id, _GONE)) if thread.thread_id in labelled else thread
        for thread in threads
    ]
