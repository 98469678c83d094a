-- Which upload holds which bytes: one live row a hash. Dropped and folded again, never migrated.
CREATE TABLE content_index (
  hash BLOB PRIMARY KEY,
  stream INTEGER NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;
