-- The first schema. Times are seconds since the epoch; *_json columns hold JSON; ids are opaque text.
-- A message's long texts live in `blocks.text`, out of the JSON, so that a 5 MB result is read without parsing it.

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
) STRICT;

CREATE INDEX threads_by_leaf ON threads (active_leaf) WHERE active_leaf IS NOT NULL;

-- A tree: edit, regenerate and branch add siblings and move threads.active_leaf; nothing is overwritten.
-- active_child remembers which way was shown last. parent_seq does not cascade: a path is longer than SQLite's
-- recursion of triggers; a thread's messages go together with the thread.
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
) STRICT;

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
) STRICT;

CREATE INDEX runs_by_thread ON runs (thread_id, started_at);
CREATE INDEX runs_unfinished ON runs (run_id) WHERE ended_at IS NULL;

CREATE TABLE journal (
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    entry_json TEXT NOT NULL,
    PRIMARY KEY (run_id, sequence)
) STRICT;

CREATE UNIQUE INDEX journal_ends_once ON journal (run_id) WHERE kind = 'end';

-- What was allowed or denied outlives the thread it happened in, so nothing here points at threads or runs.
CREATE TABLE audit (
    seq INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    run_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    category TEXT NOT NULL,
    decision TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    digest TEXT NOT NULL,
    summary TEXT NOT NULL,
    outcome TEXT NOT NULL,
    chain_json TEXT NOT NULL,
    paths_json TEXT NOT NULL,
    extra_json TEXT NOT NULL
) STRICT;

CREATE INDEX audit_by_thread ON audit (thread_id, seq);
CREATE INDEX audit_by_call ON audit (call_id);

CREATE TABLE rules (
    rule_id TEXT PRIMARY KEY,
    tool TEXT NOT NULL,
    constraints_json TEXT NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('allow', 'deny')),
    origin TEXT NOT NULL,
    created_at REAL NOT NULL,
    last_used_at REAL,
    uses INTEGER NOT NULL,
    revoked_at REAL
) STRICT;

-- The draft of a chat that does not exist yet has the key ''.
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
) STRICT;

CREATE INDEX queue_by_thread ON queue (thread_id, seq);

CREATE TABLE state (
    key TEXT PRIMARY KEY,
    value_json TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- rowid = messages.seq and threads.seq. The text comes from desktop/store/search_text.py, which parts scripts
-- written without spaces, so it is kept by code in the same transaction as the message, and by triggers for deletes.
CREATE VIRTUAL TABLE message_search USING fts5 (body, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');
CREATE VIRTUAL TABLE title_search USING fts5 (body, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');

CREATE TRIGGER messages_leave_search AFTER DELETE ON messages BEGIN
    DELETE FROM message_search WHERE rowid = old.seq;
END;

CREATE TRIGGER threads_leave_search AFTER DELETE ON threads BEGIN
    DELETE FROM title_search WHERE rowid = old.seq;
    DELETE FROM drafts WHERE thread_id = old.thread_id;
END;
