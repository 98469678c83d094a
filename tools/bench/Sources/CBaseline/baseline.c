#include "baseline.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct baseline {
  sqlite3 *db;
  sqlite3_stmt *begin, *commit, *insert, *stream, *state;
  int64_t position;
};

// The settings of the ledger's writer. It checkpoints at 4 MiB of log, which is 1,024 pages.
static const char settings[] =
    "PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON; PRAGMA cell_size_check = ON;"
    "PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; PRAGMA journal_mode = WAL;"
    "PRAGMA wal_autocheckpoint = 1024; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;"
    "PRAGMA checkpoint_fullfsync = ON; PRAGMA secure_delete = ON;"
    "PRAGMA journal_size_limit = 4194304";

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
  sqlite3_stmt *statement = NULL;
  sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
  return statement;
}

static bool run(sqlite3_stmt *statement) {
  int code = sqlite3_step(statement);
  sqlite3_reset(statement);
  return code == SQLITE_DONE || code == SQLITE_ROW;
}

baseline *baseline_open(const char *path) {
  baseline *base = calloc(1, sizeof *base);
  if (base == NULL) return NULL;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (sqlite3_open_v2(path, &base->db, flags, NULL) == SQLITE_OK &&
      sqlite3_exec(base->db, settings, NULL, NULL, NULL) == SQLITE_OK) {
    base->begin = prepare(base->db, "BEGIN IMMEDIATE");
    base->commit = prepare(base->db, "COMMIT");
    base->insert = prepare(
        base->db,
        "INSERT INTO events (position, event_id, stream, revision, kind, version, recorded_at,"
        " cause, launch, compensates, observation, part, bytes, attempt, until, code, reference,"
        " hash, name, payload, chain)"
        " VALUES (?, ?, ?, ?, ?, 1, ?, ?, 1, NULL, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    base->stream = prepare(base->db, "INSERT INTO streams (upload) VALUES (?)");
    base->state = prepare(
        base->db,
        "INSERT INTO upload_states (stream, state, reason, until, confirmed, in_flight, total)"
        " VALUES (?, ?, NULL, NULL, ?, 0, ?) ON CONFLICT (stream) DO UPDATE SET"
        " state = excluded.state, reason = excluded.reason, until = excluded.until,"
        " confirmed = excluded.confirmed, in_flight = excluded.in_flight,"
        " total = excluded.total");
    sqlite3_stmt *last = prepare(base->db, "SELECT max(position) FROM events");
    if (last != NULL && sqlite3_step(last) == SQLITE_ROW) {
      base->position = sqlite3_column_int64(last, 0);
    }
    sqlite3_finalize(last);
  }
  if (base->state == NULL || base->insert == NULL) {
    baseline_close(base);
    return NULL;
  }
  return base;
}

void baseline_close(baseline *base) {
  sqlite3_finalize(base->begin);
  sqlite3_finalize(base->commit);
  sqlite3_finalize(base->insert);
  sqlite3_finalize(base->stream);
  sqlite3_finalize(base->state);
  sqlite3_close(base->db);
  free(base);
}

const char *baseline_error(const baseline *base) { return sqlite3_errmsg(base->db); }

int64_t baseline_add_stream(baseline *base, const char *upload) {
  sqlite3_bind_text(base->stream, 1, upload, 36, SQLITE_STATIC);
  return run(base->stream) ? sqlite3_last_insert_rowid(base->db) : -1;
}

bool baseline_begin(baseline *base) { return run(base->begin); }
bool baseline_commit(baseline *base) { return run(base->commit); }

static void bind_integer(
    sqlite3_stmt *statement, int index, const baseline_event *event, uint32_t bit, int64_t value) {
  if (event->present & bit) {
    sqlite3_bind_int64(statement, index, value);
  } else {
    sqlite3_bind_null(statement, index);
  }
}

// Eight bytes of time and eight that are as good as random, as in a UUIDv7.
static void event_id(uint8_t out[16], int64_t time, int64_t position) {
  uint64_t high = (uint64_t)time / 1000 << 16 | 0x7000 | ((uint64_t)position & 0xfff);
  uint64_t low = (uint64_t)position * 0x9e3779b97f4a7c15 | 0x8000000000000000;
  for (int i = 0; i < 8; i++) {
    out[i] = (uint8_t)(high >> (56 - 8 * i));
    out[8 + i] = (uint8_t)(low >> (56 - 8 * i));
  }
}

bool baseline_insert(baseline *base, const baseline_event *event) {
  sqlite3_stmt *insert = base->insert;
  int64_t position = ++base->position;
  uint8_t id[16], chain[32] = {0};
  event_id(id, event->recorded_at, position);
  memcpy(chain, id, sizeof id);
  sqlite3_bind_int64(insert, 1, position);
  sqlite3_bind_blob(insert, 2, id, 16, SQLITE_STATIC);
  sqlite3_bind_int64(insert, 3, event->stream);
  sqlite3_bind_int64(insert, 4, event->revision);
  sqlite3_bind_text(insert, 5, event->kind, -1, SQLITE_STATIC);
  sqlite3_bind_int64(insert, 6, event->recorded_at);
  sqlite3_bind_text(insert, 7, event->cause, -1, SQLITE_STATIC);
  bind_integer(insert, 8, event, BASELINE_PART, event->part);
  bind_integer(insert, 9, event, BASELINE_BYTES, event->bytes);
  bind_integer(insert, 10, event, BASELINE_ATTEMPT, event->attempt);
  bind_integer(insert, 11, event, BASELINE_UNTIL, event->until);
  sqlite3_bind_text(insert, 12, event->code, -1, SQLITE_STATIC);
  sqlite3_bind_text(insert, 13, event->reference, -1, SQLITE_STATIC);
  sqlite3_bind_blob(insert, 14, event->hash, 32, SQLITE_STATIC);
  sqlite3_bind_blob(insert, 15, event->name, event->name_count, SQLITE_STATIC);
  sqlite3_bind_text(insert, 16, event->payload, -1, SQLITE_STATIC);
  sqlite3_bind_blob(insert, 17, chain, 32, SQLITE_STATIC);
  return run(insert);
}

bool baseline_put_state(
    baseline *base, int64_t stream, const char *state, int64_t confirmed, int64_t total) {
  sqlite3_bind_int64(base->state, 1, stream);
  sqlite3_bind_text(base->state, 2, state, -1, SQLITE_STATIC);
  sqlite3_bind_int64(base->state, 3, confirmed);
  sqlite3_bind_int64(base->state, 4, total);
  return run(base->state);
}

const char *baseline_sqlite_version(void) { return sqlite3_libversion(); }
