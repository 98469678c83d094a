-- Sessions the server has open for us. Dropped and folded again, never migrated.
CREATE TABLE sessions (
  stream INTEGER PRIMARY KEY,
  reference TEXT NOT NULL,
  part_size INTEGER NOT NULL,
  part_count INTEGER NOT NULL,
  expires INTEGER,
  opened INTEGER NOT NULL          -- position of session.opened
) STRICT;
