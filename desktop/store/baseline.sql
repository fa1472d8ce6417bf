-- What a new database is made of: the schema after migration 20, at once. Newer migrations follow it.
-- `python -m tests.harness.baseline` writes this file; a test holds that it says what the migrations say.
PRAGMA user_version = 20;
CREATE TABLE threads (
    seq INTEGER PRIMARY KEY,
    thread_id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    titled_by TEXT NOT NULL CHECK (titled_by IN ('none', 'auto', 'person')),
    label TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    pinned INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    state TEXT NOT NULL CHECK (state IN ('', 'running', 'interrupted', 'failed')),
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    deleted_at REAL,
    active_leaf INTEGER REFERENCES messages (seq) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    cost_usd REAL
, archived INTEGER NOT NULL DEFAULT 0, project TEXT NOT NULL DEFAULT '', mode TEXT NOT NULL DEFAULT '', written_tokens INTEGER NOT NULL DEFAULT 0, saved_usd REAL DEFAULT 0.0) STRICT;
CREATE INDEX threads_by_leaf ON threads (active_leaf) WHERE active_leaf IS NOT NULL;
CREATE TABLE messages (
    seq INTEGER PRIMARY KEY,
    message_id TEXT NOT NULL UNIQUE,
    thread_id TEXT NOT NULL REFERENCES threads (thread_id) ON DELETE CASCADE,
    parent_seq INTEGER REFERENCES messages (seq) DEFERRABLE INITIALLY DEFERRED,
    active_child INTEGER,
    role TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),
    status TEXT NOT NULL CHECK (status IN ('open', 'complete', 'interrupted')),
    side TEXT NOT NULL,
    author TEXT NOT NULL,
    model TEXT NOT NULL,
    run_id TEXT NOT NULL,
    round_number INTEGER NOT NULL,
    stop_reason TEXT,
    elapsed_ms INTEGER NOT NULL,
    created_at REAL NOT NULL,
    input_tokens INTEGER,
    output_tokens INTEGER,
    reasoning_tokens INTEGER,
    cached_tokens INTEGER,
    cost_usd REAL
, written_tokens INTEGER DEFAULT 0, saved_usd REAL DEFAULT 0.0) STRICT;
CREATE INDEX messages_by_parent ON messages (thread_id, parent_seq, seq);
CREATE INDEX messages_children ON messages (parent_seq) WHERE parent_seq IS NOT NULL;
CREATE INDEX messages_open ON messages (seq) WHERE status = 'open';
CREATE TABLE blocks (
    message_seq INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    fields_json TEXT NOT NULL,
    PRIMARY KEY (message_seq, position)
) STRICT;
CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL REFERENCES threads (thread_id) ON DELETE CASCADE,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    started_at REAL NOT NULL,
    ended_at REAL,
    end_reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    cost_usd REAL,
    extra_json TEXT NOT NULL
, written_tokens INTEGER NOT NULL DEFAULT 0, saved_usd REAL DEFAULT 0.0) STRICT;
CREATE INDEX runs_by_thread ON runs (thread_id, started_at);
CREATE INDEX runs_unfinished ON runs (run_id) WHERE ended_at IS NULL;
CREATE TABLE drafts (
    thread_id TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    attachments_json TEXT NOT NULL,
    updated_at REAL NOT NULL
) STRICT;
CREATE TABLE queue (
    seq INTEGER PRIMARY KEY,
    queue_id TEXT NOT NULL UNIQUE,
    thread_id TEXT NOT NULL REFERENCES threads (thread_id) ON DELETE CASCADE,
    text TEXT NOT NULL,
    attachments_json TEXT NOT NULL,
    created_at REAL NOT NULL
, inbox TEXT NOT NULL DEFAULT '', run_id TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX queue_by_thread ON queue (thread_id, seq);
CREATE TABLE state (
    key TEXT PRIMARY KEY,
    value_json TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE message_search USING fts5 (body, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');
CREATE VIRTUAL TABLE title_search USING fts5 (body, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');
CREATE TRIGGER messages_leave_search AFTER DELETE ON messages BEGIN
    DELETE FROM message_search WHERE rowid = old.seq;
END;
CREATE TRIGGER threads_leave_search AFTER DELETE ON threads BEGIN
    DELETE FROM title_search WHERE rowid = old.seq;
    DELETE FROM drafts WHERE thread_id = old.thread_id;
END;
CREATE TABLE "rules" (
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
CREATE TABLE rule_uses (
    rule_id TEXT PRIMARY KEY,
    uses INTEGER NOT NULL,
    last_used_at REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE calls (
    digest TEXT PRIMARY KEY,
    tool TEXT NOT NULL,
    facts_json TEXT NOT NULL,
    times INTEGER NOT NULL,
    thread_id TEXT NOT NULL,
    at REAL NOT NULL
) STRICT;
CREATE INDEX calls_by_time ON calls (at);
CREATE TABLE "audit" (
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
CREATE UNIQUE INDEX audit_outcomes ON audit (of) WHERE of IS NOT NULL;
CREATE INDEX audit_by_thread ON audit (thread_id, seq) WHERE thread_id IS NOT NULL;
CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'the activity log is never changed');
END;
CREATE TRIGGER audit_is_never_cut BEFORE DELETE ON audit BEGIN
    SELECT RAISE(ABORT, 'nothing is removed from the activity log');
END;
CREATE TRIGGER audit_only_grows BEFORE INSERT ON audit
WHEN new.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM audit) BEGIN
    SELECT RAISE(ABORT, 'the activity log only grows at its end');
END;
CREATE TABLE traces (
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    entries_json TEXT NOT NULL,
    PRIMARY KEY (run_id, sequence)
) STRICT;
CREATE TABLE debates (
    thread_id TEXT PRIMARY KEY REFERENCES threads (thread_id) ON DELETE CASCADE,
    setup_json TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('ready', 'running', 'pausing', 'paused', 'ended')),
    end_reason TEXT NOT NULL,
    end_detail TEXT NOT NULL,
    verdict_json TEXT NOT NULL,
    forked_from TEXT NOT NULL,
    forked_at INTEGER NOT NULL,
    fork_seq INTEGER REFERENCES messages (seq) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    head_seq INTEGER REFERENCES messages (seq) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE INDEX debates_by_fork ON debates (fork_seq) WHERE fork_seq IS NOT NULL;
CREATE INDEX debates_by_head ON debates (head_seq) WHERE head_seq IS NOT NULL;
CREATE INDEX debates_by_origin ON debates (forked_from);
CREATE TABLE side_turns (
    last_seq INTEGER PRIMARY KEY REFERENCES messages (seq) ON DELETE CASCADE,
    first_message_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    side TEXT NOT NULL CHECK (side IN ('a', 'b')),
    outcome TEXT NOT NULL,
    ended_by TEXT NOT NULL,
    rounds INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    started_at REAL NOT NULL,
    ended_at REAL NOT NULL,
    model TEXT NOT NULL,
    run_id TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    cost_usd REAL
, written_tokens INTEGER NOT NULL DEFAULT 0, saved_usd REAL DEFAULT 0.0) STRICT;
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
CREATE TABLE context_overlays (
    thread_id TEXT PRIMARY KEY REFERENCES threads (thread_id) ON DELETE CASCADE,
    summary TEXT NOT NULL,
    upto_message_id TEXT NOT NULL,
    summarised INTEGER NOT NULL,
    pins_json TEXT NOT NULL,
    off INTEGER NOT NULL CHECK (off IN (0, 1))
) STRICT, WITHOUT ROWID;
CREATE TABLE run_agents (
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    started_at REAL NOT NULL,
    facts_json TEXT NOT NULL,
    PRIMARY KEY (run_id, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_agents_of_thread ON run_agents (thread_id);
CREATE TABLE "effects" (
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
CREATE INDEX effects_summaries ON effects (name) WHERE kind = 'summary';
CREATE TABLE called_runs (
    run_id TEXT NOT NULL PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE,
    tree_run_id TEXT NOT NULL,
    call_key TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX called_runs_of_tree ON called_runs (tree_run_id);
CREATE INDEX called_runs_of_call ON called_runs (call_key);
CREATE INDEX queue_by_inbox ON queue (inbox, seq) WHERE inbox <> '';
CREATE INDEX queue_by_run ON queue (run_id) WHERE run_id <> '';
CREATE TABLE changes (
    seq INTEGER PRIMARY KEY,
    change_id TEXT NOT NULL UNIQUE,
    thread_id TEXT REFERENCES threads (thread_id) ON DELETE CASCADE,
    at REAL NOT NULL,
    phase TEXT NOT NULL,
    kept INTEGER NOT NULL,
    undoes_json TEXT NOT NULL,
    origin_json TEXT NOT NULL
) STRICT;
CREATE INDEX changes_by_thread ON changes (thread_id, seq);
CREATE INDEX changes_begun ON changes (seq) WHERE phase = 'begun';
CREATE INDEX changes_kept ON changes (at) WHERE kept = 1;
CREATE TABLE changed_files (
    change_seq INTEGER NOT NULL REFERENCES changes (seq) ON DELETE CASCADE,
    path BLOB NOT NULL,
    before_digest TEXT NOT NULL,
    before_json TEXT NOT NULL,
    after_digest TEXT NOT NULL,
    after_json TEXT NOT NULL,
    renamed_from BLOB NOT NULL,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    not_kept TEXT NOT NULL,
    PRIMARY KEY (change_seq, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX changed_files_by_path ON changed_files (path, change_seq);
CREATE INDEX changed_files_before ON changed_files (before_digest) WHERE before_digest <> '';
CREATE INDEX changed_files_after ON changed_files (after_digest) WHERE after_digest <> '';
CREATE TABLE kept_contents (
    digest TEXT PRIMARY KEY,
    stored INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE grants (
    grant_id TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL,
    seen_in TEXT NOT NULL,
    project TEXT NOT NULL,
    tool TEXT NOT NULL,
    how TEXT NOT NULL,
    created_at REAL NOT NULL,
    pattern TEXT NOT NULL,
    calls INTEGER NOT NULL,
    until REAL NOT NULL,
    most_bytes INTEGER,
    used_calls INTEGER NOT NULL,
    used_bytes INTEGER NOT NULL,
    latest_at REAL NOT NULL,
    ended TEXT NOT NULL,
    ended_at REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER grants_go_with_their_thread AFTER DELETE ON threads BEGIN
    DELETE FROM grants WHERE seen_in = OLD.thread_id OR thread_id = OLD.thread_id;
END;
CREATE INDEX blocks_documents ON blocks (message_seq) WHERE kind = 'document';
CREATE TABLE reads (
    thread_id TEXT NOT NULL,
    path TEXT NOT NULL,
    was_read INTEGER NOT NULL,
    digest TEXT NOT NULL,
    size INTEGER NOT NULL,
    at REAL NOT NULL,
    packed BLOB NOT NULL,
    seen_at REAL NOT NULL,
    PRIMARY KEY (thread_id, path)
) STRICT;
CREATE TRIGGER reads_go_with_their_thread AFTER DELETE ON threads BEGIN
    DELETE FROM reads WHERE thread_id = OLD.thread_id;
END;
INSERT INTO audit (seq, line, hash)
SELECT 1, line, audit_link(NULL, line)
FROM (SELECT audit_start((julianday('now') - 2440587.5) * 86400.0, 0) AS line);
