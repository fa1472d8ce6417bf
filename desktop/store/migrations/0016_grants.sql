-- What a person allowed for so many calls, until a time, up to so many bytes. A use is counted before its call runs, so
-- that no crash makes a grant larger than it was. Ended ones are kept for a while, to say what became of them.
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
