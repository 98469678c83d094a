-- The whole schema of ledger format 2, for reading. Recorded by SchemaTests.

CREATE TABLE streams (
  stream INTEGER PRIMARY KEY AUTOINCREMENT,
  upload TEXT NOT NULL UNIQUE CHECK (length(upload) = 36)
) STRICT;
CREATE TABLE events (
  position INTEGER PRIMARY KEY AUTOINCREMENT,        -- place in the ledger, no holes
  event_id BLOB NOT NULL CHECK (length(event_id) = 16),   -- UUIDv7
  stream INTEGER NOT NULL,
  revision INTEGER NOT NULL CHECK (revision >= 1),   -- place in the stream, no holes
  kind TEXT NOT NULL,
  version INTEGER NOT NULL,                          -- shape of the fields of this kind
  recorded_at INTEGER NOT NULL,                      -- microseconds UTC; order is position alone
  cause TEXT NOT NULL,
  launch INTEGER NOT NULL,
  compensates INTEGER,                               -- position of the event this one corrects
  observation TEXT,                                  -- key of the claim this one came from
  part INTEGER,
  bytes INTEGER,
  attempt INTEGER,
  until INTEGER,                                     -- microseconds UTC
  code TEXT,
  reference TEXT,
  hash BLOB CHECK (hash IS NULL OR length(hash) = 32),
  name BLOB,                                         -- a person's file name, byte for byte
  payload TEXT,                                      -- JSON object with the rare rest
  chain BLOB NOT NULL CHECK (length(chain) = 32)     -- SHA-256(previous chain, canonical bytes)
) STRICT;
CREATE UNIQUE INDEX events_by_id ON events (event_id);
CREATE UNIQUE INDEX events_by_stream ON events (stream, revision);
CREATE UNIQUE INDEX events_by_observation ON events (stream, observation)
  WHERE observation IS NOT NULL;
CREATE TRIGGER events_never_update BEFORE UPDATE ON events BEGIN
  SELECT RAISE(ABORT, 'events are append-only: an event is never updated');
END;
CREATE TRIGGER streams_never_update BEFORE UPDATE ON streams BEGIN
  SELECT RAISE(ABORT, 'streams are append-only: a stream is never updated');
END;
CREATE TRIGGER streams_never_delete BEFORE DELETE ON streams BEGIN
  SELECT RAISE(ABORT, 'streams are append-only: a stream is never deleted');
END;
CREATE TRIGGER streams_never_replace BEFORE INSERT ON streams
WHEN EXISTS (SELECT 1 FROM streams WHERE stream = new.stream)
  OR EXISTS (SELECT 1 FROM streams WHERE upload = new.upload)
BEGIN
  SELECT RAISE(ABORT, 'streams are append-only: a stream is never replaced');
END;
CREATE TABLE projections (
  name TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  position INTEGER NOT NULL
, launch INTEGER) STRICT;
CREATE TABLE progress (
  stream INTEGER NOT NULL,
  part INTEGER NOT NULL,
  sent INTEGER NOT NULL,
  PRIMARY KEY (stream, part)
) STRICT, WITHOUT ROWID;
CREATE VIEW event_log AS
SELECT e.position, s.upload, e.revision, e.kind,
  strftime('%Y-%m-%dT%H:%M:%fZ', e.recorded_at / 1000000.0, 'unixepoch') AS time,
  e.cause, e.launch, e.compensates, e.part, e.bytes, e.attempt,
  strftime('%Y-%m-%dT%H:%M:%fZ', e.until / 1000000.0, 'unixepoch') AS until,
  e.code, e.reference, lower(hex(e.hash)) AS hash, CAST(e.name AS TEXT) AS name, e.payload
FROM events AS e LEFT JOIN streams AS s ON s.stream = e.stream;
CREATE TABLE archived_ranges (
  first INTEGER PRIMARY KEY,
  last INTEGER NOT NULL CHECK (last >= first),
  chain BLOB NOT NULL CHECK (length(chain) = 32),
  recorded INTEGER NOT NULL      -- position of the ledger.archived or ledger.purged
) STRICT;
CREATE INDEX archived_ranges_by_event ON archived_ranges (recorded, first);
CREATE TABLE archived_streams (
  stream INTEGER PRIMARY KEY,
  removed INTEGER NOT NULL CHECK (removed >= 1),   -- how many of its events left the log
  archived INTEGER NOT NULL                        -- position of the ledger.archived of its segment
) STRICT;
CREATE INDEX archived_streams_by_segment ON archived_streams (archived);
CREATE TRIGGER archived_ranges_never_update BEFORE UPDATE ON archived_ranges BEGIN
  SELECT RAISE(ABORT, 'archived ranges are append-only: a range is never updated');
END;
CREATE TRIGGER archived_ranges_never_delete BEFORE DELETE ON archived_ranges BEGIN
  SELECT RAISE(ABORT, 'archived ranges are append-only: a range is never deleted');
END;
CREATE TRIGGER archived_ranges_never_overlap BEFORE INSERT ON archived_ranges
WHEN new.last >= coalesce(
    (SELECT first FROM archived_ranges WHERE first >= new.first ORDER BY first LIMIT 1),
    new.last + 1)
  OR new.first <= coalesce(
    (SELECT last FROM archived_ranges WHERE first <= new.first ORDER BY first DESC LIMIT 1), 0)
BEGIN
  SELECT RAISE(ABORT, 'archived ranges are append-only: a range overlaps another');
END;
CREATE TRIGGER events_never_delete BEFORE DELETE ON events
WHEN old.position > coalesce(
  (SELECT last FROM archived_ranges WHERE first <= old.position ORDER BY first DESC LIMIT 1), 0)
BEGIN
  SELECT RAISE(ABORT, 'events are append-only: an event is never deleted');
END;
CREATE TRIGGER events_never_replace BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events WHERE position = new.position)
  OR EXISTS (SELECT 1 FROM events WHERE event_id = new.event_id)
  OR EXISTS (SELECT 1 FROM events WHERE stream = new.stream AND revision = new.revision)
  OR EXISTS (SELECT 1 FROM events WHERE stream = new.stream AND observation = new.observation
             AND new.observation IS NOT NULL)
  OR new.position BETWEEN 1 AND coalesce(
    (SELECT last FROM archived_ranges WHERE first <= new.position ORDER BY first DESC LIMIT 1), 0)
BEGIN
  SELECT RAISE(ABORT, 'events are append-only: an event is never replaced');
END;
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
CREATE TABLE upload_states (
  stream INTEGER PRIMARY KEY,
  state TEXT NOT NULL,
  reason TEXT,                     -- what it waits for, or why it needs attention
  until INTEGER,
  confirmed INTEGER NOT NULL,
  in_flight INTEGER NOT NULL,
  total INTEGER NOT NULL
) STRICT;
CREATE TABLE content_index (
  hash BLOB PRIMARY KEY,
  stream INTEGER NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;
CREATE TABLE work (
  stream INTEGER PRIMARY KEY,
  priority INTEGER NOT NULL,
  added INTEGER NOT NULL,
  not_before INTEGER NOT NULL      -- microseconds UTC; 0 when nothing holds it up
) STRICT;
CREATE INDEX work_in_order ON work (priority DESC, added);
CREATE TABLE sessions (
  stream INTEGER PRIMARY KEY,
  reference TEXT NOT NULL,
  part_size INTEGER NOT NULL,
  part_count INTEGER NOT NULL,
  expires INTEGER,
  opened INTEGER NOT NULL          -- position of session.opened
) STRICT;
CREATE TABLE ledger_state (
  stream INTEGER PRIMARY KEY CHECK (stream = 0),   -- the ledger's own stream: one row
  revision INTEGER NOT NULL,       -- up to which the stream is folded
  launch INTEGER,                  -- the newest generation
  network TEXT NOT NULL,           -- whether the server is in reach
  credentials TEXT NOT NULL,
  sealed INTEGER NOT NULL,         -- 1 signed out, copies kept; 2 and discarded
  tail_lost INTEGER,               -- position of the event that says so; null once reconciled
  held TEXT,                       -- what a rule of the person holds everything up for
  held_until INTEGER,              -- until when, where that is known
  link TEXT NOT NULL,              -- what the device said of itself then; null is not known
  metered INTEGER,
  low_data INTEGER,
  power TEXT NOT NULL,
  battery_saver INTEGER,
  account_salt TEXT,               -- whose it is, told again by its name only
  account TEXT
) STRICT;
