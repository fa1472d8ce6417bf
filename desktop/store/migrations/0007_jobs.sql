-- Scheduled jobs and what became of each of their times. A deleted job stays until it is purged, so that it can be
-- restored with its history; the threads of its runs are ordinary threads.
CREATE TABLE jobs (
    job_id TEXT PRIMARY KEY,
    job_json TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    seen_at REAL NOT NULL,
    created_at REAL NOT NULL,
    deleted_at REAL
) STRICT, WITHOUT ROWID;

CREATE TABLE job_runs (
    seq INTEGER PRIMARY KEY,
    job_run_id TEXT NOT NULL UNIQUE,
    job_id TEXT NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    planned_at REAL NOT NULL,
    started_at REAL NOT NULL,
    ended_at REAL NOT NULL,
    status TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    detail TEXT NOT NULL,
    tried INTEGER NOT NULL
) STRICT;

CREATE INDEX job_runs_of_job ON job_runs (job_id, seq);
