-- The six-state view, and the two ends that leave it. Dropped and folded again, never migrated.
CREATE TABLE upload_states (
  stream INTEGER PRIMARY KEY,
  state TEXT NOT NULL,
  reason TEXT,                     -- what it waits for, or why it needs attention
  until INTEGER,
  confirmed INTEGER NOT NULL,
  in_flight INTEGER NOT NULL,
  total INTEGER NOT NULL
) STRICT;
