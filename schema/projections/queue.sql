-- What an app lists, one row an upload. Dropped and folded again, never migrated.
CREATE TABLE queue (
  stream INTEGER PRIMARY KEY,
  added INTEGER NOT NULL,          -- position of the first event: the order of adding
  name BLOB NOT NULL,
  bytes INTEGER NOT NULL,
  confirmed INTEGER NOT NULL,
  in_flight INTEGER NOT NULL,
  state TEXT NOT NULL,             -- queued, uploading, waiting, done, failed, cancelled
  reason TEXT,
  until INTEGER,
  remote_id TEXT
) STRICT;
CREATE INDEX queue_by_adding ON queue (added);
