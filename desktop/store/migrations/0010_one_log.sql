-- A run has one append-only log, `effects`; what an older one, `journal`, holds of it joins that. The old one has a
-- line for each answer of a model, each call and the end. Of a run that has lines in both, the calls stand in `effects`
-- already, and so does its end, unless nobody could write it; one that was cut off has none. Lines get new numbers in
-- the order in which things happened, the end last.
CREATE TABLE effects_in_one (
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

INSERT INTO effects_in_one
WITH told AS (
    SELECT j.run_id, j.sequence, j.kind, j.status,
        CASE j.kind WHEN 'end' THEN '' WHEN 'summary' THEN r.thread_id
            ELSE coalesce(json_extract(entry_json, '$.name'), '') END AS name,
        coalesce(json_extract(entry_json, '$.arguments_digest'), '') AS digest,
        coalesce(json_extract(entry_json, '$.result_digest'), '') AS result,
        json_extract(entry_json, '$.value') AS value,
        coalesce(json_extract(entry_json, '$.summary'), '') AS summary,
        coalesce(json_extract(entry_json, '$.ended'), r.ended_at, r.started_at) + 0.0 AS ended,
        coalesce(
            json_extract(entry_json, '$.started'), json_extract(entry_json, '$.ended'), r.ended_at, r.started_at
        ) + 0.0 AS started,
        EXISTS (SELECT 1 FROM effects e WHERE e.run_id = j.run_id) AS twice,
        r.end_reason <> 'interrupted'
            AND NOT EXISTS (SELECT 1 FROM effects e WHERE e.run_id = j.run_id AND e.kind = 'end') AS endless
    FROM journal j JOIN runs r USING (run_id)
), joining AS (
    SELECT * FROM told WHERE kind IN ('llm', 'summary') OR NOT twice OR (kind = 'end' AND endless)
), lines AS (
    SELECT run_id, sequence, agent, step, kind, name, digest, phase, at, value_json, summary, 0 AS part,
        max(at) OVER (PARTITION BY run_id ORDER BY sequence) AS moment
    FROM effects
    UNION ALL
    SELECT run_id, sequence, CASE kind WHEN 'end' THEN '' ELSE '0' END, CASE kind WHEN 'end' THEN 0 ELSE sequence END,
        kind, name, digest, status, ended,
        CASE WHEN kind = 'summary' THEN coalesce(value, '') WHEN result = '' OR kind = 'end' THEN ''
            ELSE '"sha256:' || result || '"' END,
        summary, 2, ended
    FROM joining
    UNION ALL
    SELECT run_id, sequence, '0', sequence, kind, name, digest, 'begun', started, '', '', 1, started
    FROM joining WHERE kind NOT IN ('end', 'summary')
)
SELECT run_id,
    row_number() OVER (PARTITION BY run_id ORDER BY kind = 'end', moment, sequence, part),
    agent, step, kind, name, digest, phase, at, value_json, summary
FROM lines;

DROP TABLE journal;
DROP TABLE effects;
ALTER TABLE effects_in_one RENAME TO effects;
CREATE UNIQUE INDEX effects_end_once ON effects (run_id) WHERE kind = 'end';
CREATE UNIQUE INDEX effects_return_once ON effects (run_id, agent) WHERE kind = 'return';
-- What a side of a debate was told of older messages is read by whatever run goes on; its name is the thread's id.
CREATE INDEX effects_summaries ON effects (name) WHERE kind = 'summary';
