-- Rules as a person writes them: `pattern` in the pattern language (empty: an older rule, remembered from a request,
-- that `tool` and `constraints_json` describe), also such that ask, for all threads or for one.
CREATE TABLE rules_in_words (
    rule_id TEXT PRIMARY KEY,
    tool TEXT NOT NULL,
    constraints_json TEXT NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('allow', 'ask', 'deny')),
    origin TEXT NOT NULL,
    created_at REAL NOT NULL,
    last_used_at REAL,
    uses INTEGER NOT NULL,
    revoked_at REAL,
    pattern TEXT NOT NULL,
    thread_id TEXT NOT NULL
) STRICT;

INSERT INTO rules_in_words
SELECT rule_id, tool, constraints_json, decision, origin, created_at, last_used_at, uses, revoked_at, '', '' FROM rules;

DROP TABLE rules;

ALTER TABLE rules_in_words RENAME TO rules;

-- How often what is built in decided, which has no row in `rules`.
CREATE TABLE rule_uses (
    rule_id TEXT PRIMARY KEY,
    uses INTEGER NOT NULL,
    last_used_at REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- What the simulator replays: each different call once, as rules look at it, without secrets.
CREATE TABLE calls (
    digest TEXT PRIMARY KEY,
    tool TEXT NOT NULL,
    facts_json TEXT NOT NULL,
    times INTEGER NOT NULL,
    thread_id TEXT NOT NULL,
    at REAL NOT NULL
) STRICT;

CREATE INDEX calls_by_time ON calls (at);
