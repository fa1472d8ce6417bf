-- Runs of agents that were called as tools: in whose run's log their effects stand, and which call they answer, so that
-- an agent that was cut off is found again when its caller goes on, and its own thread finds what it had done.
CREATE TABLE called_runs (
    run_id TEXT NOT NULL PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE,
    tree_run_id TEXT NOT NULL,
    call_key TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX called_runs_of_tree ON called_runs (tree_run_id);
CREATE INDEX called_runs_of_call ON called_runs (call_key);
