-- Of the input of a model request: how much was written to the provider's cache, and what the cache saved of the cost,
-- in dollars (NULL: unknown). What was read from the cache stands in cached_tokens.
ALTER TABLE threads ADD COLUMN written_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE threads ADD COLUMN saved_usd REAL DEFAULT 0.0;
ALTER TABLE messages ADD COLUMN written_tokens INTEGER DEFAULT 0;
ALTER TABLE messages ADD COLUMN saved_usd REAL DEFAULT 0.0;
ALTER TABLE runs ADD COLUMN written_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN saved_usd REAL DEFAULT 0.0;
ALTER TABLE side_turns ADD COLUMN written_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE side_turns ADD COLUMN saved_usd REAL DEFAULT 0.0;
