-- Whether calls of a thread ask each time ('') or only at the edge of its folder ('edge'). A person chooses it for each.
ALTER TABLE threads ADD COLUMN mode TEXT NOT NULL DEFAULT '';
