-- What stands over a thread's transcript when a model reads it: a summary of everything up to a message, and pinned
-- messages. The transcript itself never changes; these rows go with their thread.
CREATE TABLE context_overlays (
    thread_id TEXT PRIMARY KEY REFERENCES threads (thread_id) ON DELETE CASCADE,
    summary TEXT NOT NULL,
    upto_message_id TEXT NOT NULL,
    summarised INTEGER NOT NULL,
    pins_json TEXT NOT NULL,
    off INTEGER NOT NULL CHECK (off IN (0, 1))
) STRICT, WITHOUT ROWID;
