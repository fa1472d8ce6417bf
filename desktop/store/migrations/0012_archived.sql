-- Threads that a person has put out of the list: they are found under Archived, and by search.
ALTER TABLE threads ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
