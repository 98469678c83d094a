-- The ledger's own stream, folded. Dropped and folded again, never migrated.
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
