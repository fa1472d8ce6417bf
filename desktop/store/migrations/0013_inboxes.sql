-- What is posted to the inbox of an agent waits here, too: ``inbox`` names it ("" for what a person has written in the
-- thread), and with the end of ``run_id`` it goes.
ALTER TABLE queue ADD COLUMN inbox TEXT NOT NULL DEFAULT '';
ALTER TABLE queue ADD COLUMN run_id TEXT NOT NULL DEFAULT '';
CREATE INDEX queue_by_inbox ON queue (inbox, seq) WHERE inbox <> '';
CREATE INDEX queue_by_run ON queue (run_id) WHERE run_id <> '';
