-- What the messages of a run do not say: what agents did that worked for its calls, and the retries. One row is a
-- batch of entries as JSON (desktop/domain/traces.py), texts joined and secrets redacted; it goes with its run.
CREATE TABLE traces (
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    entries_json TEXT NOT NULL,
    PRIMARY KEY (run_id, sequence)
) STRICT;
