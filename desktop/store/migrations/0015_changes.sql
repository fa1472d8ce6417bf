-- What calls changed of a person's files, so that it can be undone on a later day. The contents lie as files beside the
-- database, by their digest, so that neither its size nor its backups grow with them; kept_contents says which there are.
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
-- Paths and where links lead are bytes, because a file's name need not be text.
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
