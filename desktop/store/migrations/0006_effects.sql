-- The journal of effects (desktop/domain/effects.py): append-only, a line before an effect is done and one with its
-- outcome. A run that was cut off goes on from it. It goes with its run. Rows of values this size are cheaper to append
-- with a rowid (20 us a commit instead of 40).
CREATE TABLE effects (
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    agent TEXT NOT NULL,
    step INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    phase TEXT NOT NULL,
    at REAL NOT NULL,
    value_json TEXT NOT NULL,
    summary TEXT NOT NULL,
    PRIMARY KEY (run_id, sequence)
) STRICT;

CREATE UNIQUE INDEX effects_end_once ON effects (run_id) WHERE kind = 'end';
CREATE UNIQUE INDEX effects_return_once ON effects (run_id, agent) WHERE kind = 'return';
