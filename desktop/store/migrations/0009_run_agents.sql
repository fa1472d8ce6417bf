-- The agents of runs as they were last told, for the Run panel after a restart: a row when one begins, when it ends, and
-- now and then between, so that a run that was killed shows how far it came. Of a thread only the last run's stay.
CREATE TABLE run_agents (
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    started_at REAL NOT NULL,
    facts_json TEXT NOT NULL,
    PRIMARY KEY (run_id, path)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_agents_of_thread ON run_agents (thread_id);
