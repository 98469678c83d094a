-- State of the reference server: who may find which session, part and photo.
-- The bytes lie in files/; a row is committed only after the bytes it speaks of are synced.

CREATE TABLE photos (
  photo         INTEGER PRIMARY KEY AUTOINCREMENT,
  photo_id      TEXT    NOT NULL UNIQUE,
  account       TEXT    NOT NULL,
  sha256        BLOB    NOT NULL CHECK (length(sha256) = 32),
  byte_count    INTEGER NOT NULL CHECK (byte_count >= 0),
  file_name     TEXT,                       -- for people; never builds a path
  version       INTEGER NOT NULL CHECK (version >= 1),
  file          TEXT    NOT NULL UNIQUE,    -- below files/, named by us
  committed_at  INTEGER NOT NULL,           -- microseconds since 1970
  UNIQUE (account, sha256)                  -- one photo for each content of an account
) STRICT;

CREATE TABLE sessions (
  session          INTEGER PRIMARY KEY AUTOINCREMENT,
  upload_id        TEXT    NOT NULL UNIQUE,  -- also the name below files/ while open
  account          TEXT    NOT NULL,
  idempotency_key  TEXT,                     -- null: none was sent, or its session expired
  sha256           BLOB    NOT NULL CHECK (length(sha256) = 32),
  byte_count       INTEGER NOT NULL CHECK (byte_count >= 0),
  part_size_bytes  INTEGER NOT NULL CHECK (part_size_bytes > 0),
  part_count       INTEGER NOT NULL CHECK (part_count BETWEEN 0 AND 10000),
  file_name        TEXT,
  is_automatic     INTEGER NOT NULL CHECK (is_automatic IN (0, 1)),
  state            TEXT    NOT NULL CHECK (state IN ('open', 'committed', 'expired')),
  expires_at       INTEGER NOT NULL,         -- microseconds since 1970
  photo            INTEGER REFERENCES photos (photo),
  CHECK ((state = 'committed') = (photo IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX sessions_by_key ON sessions (account, idempotency_key)
  WHERE idempotency_key IS NOT NULL;
CREATE INDEX open_sessions ON sessions (account) WHERE state = 'open';
CREATE INDEX open_sessions_by_expiry ON sessions (expires_at) WHERE state = 'open';
CREATE INDEX ended_sessions_by_expiry ON sessions (expires_at) WHERE state <> 'open';

CREATE TABLE parts (
  session  INTEGER NOT NULL REFERENCES sessions (session) ON DELETE CASCADE,
  part     INTEGER NOT NULL CHECK (part >= 0),
  sha256   BLOB    NOT NULL CHECK (length(sha256) = 32),
  PRIMARY KEY (session, part)
) STRICT, WITHOUT ROWID;

PRAGMA application_id = 0x57425352;  -- "WBSR"
PRAGMA user_version = 1;
