"""Whose runs threads are: read beside them, for the list and the head of a job's thread (R-CRON-6); and which of them
are old."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from desktop.domain.threads import JOB_LABEL, ThreadJob, ThreadRecord

_JOBS = (
    "SELECT job_id, CASE WHEN json_valid(job_json) THEN json_extract(job_json, '$.name') END, deleted_at IS NOT NULL, "
    "CASE WHEN json_valid(job_json) THEN json_extract(job_json, '$.policy.at_edge') END FROM jobs"
)
_UNTOUCHED = (
    "SELECT t.thread_id, t.title, r.planned_at FROM job_runs r JOIN threads t ON t.thread_id = r.thread_id "
    "WHERE r.job_id = ? AND r.status <> 'running' AND t.label = ? AND t.deleted_at IS NULL AND NOT t.pinned "
    "AND t.state IN ('', 'failed') "
    "AND (SELECT count(*) FROM messages m WHERE m.thread_id = t.thread_id AND m.role = 'user') <= 1 "
    "AND NOT EXISTS (SELECT 1 FROM drafts d WHERE d.thread_id = t.thread_id) "
    "AND NOT EXISTS (SELECT 1 FROM queue q WHERE q.thread_id = t.thread_id) ORDER BY r.seq DESC"
)
"""Threads of a job that no person wrote in, pinned, or has a draft in; the newest first."""
TITLE_TIME = "%d %b %H:%M"
"""What a job's thread is called ends with the time that it was due: one that ends otherwise was renamed."""
_GONE = ThreadJob("", "", "", deleted=True)


def with_jobs(connection: sqlite3.Connection, threads: Sequence[ThreadRecord]) -> list[ThreadRecord]:
    """The same threads, those of jobs with their job; where its history is gone nothing is known of it."""
    labelled = {thread.thread_id for thread in threads if thread.label == JOB_LABEL}
    if not labelled:
        return list(threads)
    jobs = {
        job_id: (str(name or ""), bool(deleted), edge == 1) for job_id, name, deleted, edge in connection.execute(_JOBS)
    }
    one = next(iter(labelled)) if len(labelled) == 1 else ""
    condition = "thread_id = ?" if one else "thread_id <> ?"
    runs = connection.execute(f"SELECT thread_id, job_id, status FROM job_runs WHERE {condition} ORDER BY seq", (one,))
    found = {
        thread_id: ThreadJob(job_id, jobs[job_id][0], status, *jobs[job_id][1:])
        for thread_id, job_id, status in runs
        if thread_id in labelled and job_id in jobs
    }
    return [
        replace(thread, job=found.get(thread.thread_id, _GONE)) if thread.thread_id in labelled else thread
        for thread in threads
    ]


MOST_AT_ONCE = 200


def old_of_job(connection: sqlite3.Connection, job_id: str, keep: int) -> list[str]:
    """The threads of a job's runs, at most so many, that nobody has touched, without the newest ``keep``: no message of
    a person, not pinned, not renamed, nothing begun in them, and none that could go on."""
    found = [
        thread_id
        for thread_id, title, planned in connection.execute(_UNTOUCHED, (job_id, JOB_LABEL))
        if title.endswith(f", {datetime.fromtimestamp(planned).strftime(TITLE_TIME)}")
    ]
    return found[keep : keep + MOST_AT_ONCE]
