-- The activity log becomes a chain that only grows: `line` is an entry, or what came of one, as JSON in one canonical
-- form; `hash` is its link, sha256(hash of the line before || sha256(line)), all in hex (desktop/domain/audit_chain.py).
-- The other columns are read off `line`, for filters. audit_adopted, audit_start and audit_link are functions of
-- desktop/store/audit_rows.py. Old entries enter the chain as `adopted`: nothing vouches for them before today.
CREATE TABLE audit_chained (
    seq INTEGER PRIMARY KEY,
    line TEXT NOT NULL,
    hash TEXT NOT NULL,
    kind TEXT NOT NULL GENERATED ALWAYS AS (json_extract(line, '$.kind')) STORED,
    at REAL NOT NULL GENERATED ALWAYS AS (json_extract(line, '$.at')) STORED,
    of INTEGER GENERATED ALWAYS AS (json_extract(line, '$.of')) STORED,
    thread_id TEXT GENERATED ALWAYS AS (json_extract(line, '$.thread')) STORED,
    tool TEXT GENERATED ALWAYS AS (json_extract(line, '$.tool')) STORED,
    category TEXT GENERATED ALWAYS AS (json_extract(line, '$.category')) STORED,
    decision TEXT GENERATED ALWAYS AS (json_extract(line, '$.decision')) STORED,
    decided_by TEXT GENERATED ALWAYS AS (json_extract(line, '$.by')) STORED
) STRICT;

WITH RECURSIVE chained (seq, old, line, hash) AS (
    SELECT 0, -9223372036854775808, '', NULL
    UNION ALL
    SELECT chained.seq + 1, a.seq, a.line, audit_link(chained.hash, a.line)
    FROM chained JOIN (
        SELECT seq, audit_adopted(
            at, run_id, thread_id, call_id, chain_json, tool, category, decision, decided_by, digest, summary,
            paths_json, outcome, extra_json
        ) AS line FROM audit
    ) AS a ON a.seq = (SELECT min(audit.seq) FROM audit WHERE audit.seq > chained.old)
)
INSERT INTO audit_chained (seq, line, hash) SELECT seq, line, hash FROM chained WHERE seq > 0;

INSERT INTO audit_chained (seq, line, hash)
SELECT made.seq, made.line, audit_link((SELECT hash FROM audit_chained ORDER BY seq DESC LIMIT 1), made.line)
FROM (
    SELECT count(*) + 1 AS seq, audit_start((julianday('now') - 2440587.5) * 86400.0, count(*)) AS line
    FROM audit_chained
) AS made;

DROP TABLE audit;

ALTER TABLE audit_chained RENAME TO audit;

CREATE UNIQUE INDEX audit_outcomes ON audit (of) WHERE of IS NOT NULL;
CREATE INDEX audit_by_thread ON audit (thread_id, seq) WHERE thread_id IS NOT NULL;

CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'the activity log is never changed');
END;

CREATE TRIGGER audit_is_never_cut BEFORE DELETE ON audit BEGIN
    SELECT RAISE(ABORT, 'nothing is removed from the activity log');
END;

-- Also against INSERT OR REPLACE, which removes rows without asking the trigger above.
CREATE TRIGGER audit_only_grows BEFORE INSERT ON audit
WHEN new.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM audit) BEGIN
    SELECT RAISE(ABORT, 'the activity log only grows at its end');
END;
