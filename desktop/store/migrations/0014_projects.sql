-- The folder that a thread works in, resolved when a person chose it; "" for none. Threads are listed by it.
ALTER TABLE threads ADD COLUMN project TEXT NOT NULL DEFAULT '';
