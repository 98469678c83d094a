-- Uploads with something left to do, in the order of doing. Dropped and folded again.
CREATE TABLE work (
  stream INTEGER PRIMARY KEY,
  priority INTEGER NOT NULL,
  added INTEGER NOT NULL,
  not_before INTEGER NOT NULL      -- microseconds UTC; 0 when nothing holds it up
) STRICT;
CREATE INDEX work_in_order ON work (priority DESC, added);
