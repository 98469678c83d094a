-- Format 2: ended uploads leave the log, into a trace segment or for good; and a derived table says
-- who keeps it up, instead of how far at every commit.

-- Positions that are no longer in the log, in runs without a hole. The chain value of a run's last
-- event carries the chain across it. The event that records a run holds a digest over all of its
-- runs, so that a hole is as much part of the chained log as an event.
CREATE TABLE archived_ranges (
  first INTEGER PRIMARY KEY,
  last INTEGER NOT NULL CHECK (last >= first),
  chain BLOB NOT NULL CHECK (length(chain) = 32),
  recorded INTEGER NOT NULL      -- position of the ledger.archived or ledger.purged
) STRICT;
CREATE INDEX archived_ranges_by_event ON archived_ranges (recorded, first);

-- Streams whose beginning is in a segment. What ended them, and all that came after, is still in
-- the log: it says that the bytes are stored, and where.
CREATE TABLE archived_streams (
  stream INTEGER PRIMARY KEY,
  removed INTEGER NOT NULL CHECK (removed >= 1),   -- how many of its events left the log
  archived INTEGER NOT NULL                        -- position of the ledger.archived of its segment
) STRICT;
CREATE INDEX archived_streams_by_segment ON archived_streams (archived);

-- A range is written once, before its events go, and overlaps no other.
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

-- An event leaves the log only when its position is in an archived range, and then its position is
-- not given again.
DROP TRIGGER events_never_delete;
CREATE TRIGGER events_never_delete BEFORE DELETE ON events
WHEN old.position > coalesce(
  (SELECT last FROM archived_ranges WHERE first <= old.position ORDER BY first DESC LIMIT 1), 0)
BEGIN
  SELECT RAISE(ABORT, 'events are append-only: an event is never deleted');
END;

DROP TRIGGER events_never_replace;
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

-- The launch that keeps a derived table up: it writes the rows in every transaction that appends,
-- so a table is as new as the log while the newest event is of that launch.
ALTER TABLE projections ADD COLUMN launch INTEGER;
