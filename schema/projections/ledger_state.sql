-- The ledger's own stream, folded. Dropped and folded again, never migrated.
CREATE TABLE ledger_state (
  stream INTEGER PRIMARY KEY CHECK (stream = 0),   -- the ledger's own stream: one row
  revision INTEGER NOT NULL,       -- up to which the stream is folded
  launch INTEGER,                  -- the newest generation
  network TEXT NOT NULL,
  credentials TEXT NOT NULL,
  sealed INTEGER NOT NULL,
  tail_lost INTEGER                -- position of the event that says so; null once reconciled
) STRICT;
