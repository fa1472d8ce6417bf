-- Which version of a file a thread has read: an edit is made against that one and no other, also after a restart. The
-- bytes are kept to say what changed since; not those of files that hold keys.
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
