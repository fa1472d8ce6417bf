-- A debate is a thread with a row here. A fork's first message has its parent in another thread: `fork_seq` is the one
-- message there that it may hang below. `head_seq` is where the next turn begins: the topic, the last message of the
-- last finished turn, or a moderator's message; what lies below it was never finished.
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

-- A finished side turn belongs to its last message, so that forks share it.
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
) STRICT;
