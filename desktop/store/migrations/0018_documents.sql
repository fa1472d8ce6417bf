-- Documents that people attached lie as files beside the database, by their digest. Which of them are still needed is
-- asked at each start and after a thread is gone: not by looking at every block of every message.
CREATE INDEX blocks_documents ON blocks (message_seq) WHERE kind = 'document';
