#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "baseline.h"

// The same query as the ledger's own fold: all columns, by stream and revision.
static const char query[] =
    "SELECT e.position, e.event_id, e.stream, e.revision, e.kind, e.version, e.recorded_at,"
    " e.cause, e.launch, e.compensates, e.observation, e.part, e.bytes, e.attempt, e.until,"
    " e.code, e.reference, e.hash, e.name, e.payload, e.chain, s.upload"
    " FROM events AS e LEFT JOIN streams AS s ON s.stream = e.stream"
    " WHERE e.stream > 0 AND (e.position <= ?) ORDER BY e.stream, e.revision";

enum kind {
  EXPORTED, HASHED, QUEUED, OPENED, SENT, CONFIRMED, FAILED, RECEIVED, VERIFIED, COMMITTED,
  CANCELLED, DEDUPLICATED, ATTENTION, RETRIED, PAUSED, RESUMED, EXPIRED, LOST, OTHER
};

static const struct { const char *name; enum kind kind; } kinds[] = {
    {"part.sent", SENT}, {"part.confirmed", CONFIRMED}, {"upload.exported", EXPORTED},
    {"upload.hashed", HASHED}, {"upload.queued", QUEUED}, {"session.opened", OPENED},
    {"upload.received", RECEIVED}, {"upload.verified", VERIFIED}, {"upload.committed", COMMITTED},
    {"part.failed", FAILED}, {"upload.cancelled", CANCELLED},
    {"upload.deduplicated", DEDUPLICATED}, {"upload.attention_needed", ATTENTION},
    {"upload.retried", RETRIED}, {"upload.paused", PAUSED}, {"upload.resumed", RESUMED},
    {"session.expired", EXPIRED}, {"transfer.lost", LOST},
};

struct part { int64_t confirmed, attempt, not_before; bool in_flight; };

// What the events of one upload say, with the names a caller would want to see kept.
struct upload {
  char id[37], reference[129], remote[129];
  uint8_t hash[32];
  int64_t stream, revision, position, changed, total, part_size, until;
  int part_count, capacity;
  struct part *parts;
  bool has_copy, is_queued, has_session, is_received, is_committed, is_ended, is_stuck, is_paused;
};

static enum kind kind_of(sqlite3_stmt *row) {
  const char *text = (const char *)sqlite3_column_text(row, 4);
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (strcmp(kinds[i].name, text) == 0) return kinds[i].kind;
  }
  return OTHER;
}

static void keep(char *out, size_t size, sqlite3_stmt *row, int column) {
  const char *text = (const char *)sqlite3_column_text(row, column);
  size_t count = text == NULL ? 0 : (size_t)sqlite3_column_bytes(row, column);
  if (count >= size) count = size - 1;
  if (count > 0) memcpy(out, text, count);
  out[count] = 0;
}

static bool open_session(struct upload *upload, sqlite3_stmt *row) {
  int64_t size = sqlite3_column_int64(row, 12);
  if (size <= 0) return true;
  int count = (int)((upload->total + size - 1) / size);
  if (count > upload->capacity) {
    struct part *grown = realloc(upload->parts, (size_t)count * sizeof *grown);
    if (grown == NULL) return false;
    upload->parts = grown;
    upload->capacity = count;
  }
  if (count > 0) memset(upload->parts, 0, (size_t)count * sizeof *upload->parts);
  upload->part_count = count;
  upload->part_size = size;
  upload->has_session = true;
  upload->until = sqlite3_column_int64(row, 14);
  keep(upload->reference, sizeof upload->reference, row, 16);
  return true;
}

static bool evolve(struct upload *upload, sqlite3_stmt *row) {
  upload->position = sqlite3_column_int64(row, 0);
  upload->revision = sqlite3_column_int64(row, 3);
  upload->changed = sqlite3_column_int64(row, 6);
  if (upload->is_ended) return true;
  int64_t index = sqlite3_column_int64(row, 11);
  struct part *part =
      index >= 0 && index < upload->part_count ? &upload->parts[index] : NULL;
  switch (kind_of(row)) {
    case EXPORTED:
      upload->has_copy = true;
      upload->total = sqlite3_column_int64(row, 12);
      break;
    case HASHED: {
      const void *hash = sqlite3_column_blob(row, 17);
      if (hash != NULL && sqlite3_column_bytes(row, 17) == 32) memcpy(upload->hash, hash, 32);
      break;
    }
    case QUEUED: upload->is_queued = true; break;
    case OPENED: return open_session(upload, row);
    case SENT:
      if (part == NULL) break;
      part->in_flight = true;
      part->attempt = sqlite3_column_int64(row, 13);
      break;
    case CONFIRMED:
      if (part == NULL) break;
      part->in_flight = false;
      part->confirmed = sqlite3_column_int64(row, 12);
      break;
    case FAILED:
      if (part == NULL) break;
      part->in_flight = false;
      part->not_before = sqlite3_column_int64(row, 14);
      break;
    case LOST:
      if (part != NULL) part->in_flight = false;
      break;
    case RECEIVED: upload->is_received = true; break;
    case COMMITTED:
      upload->is_committed = upload->is_ended = true;
      keep(upload->remote, sizeof upload->remote, row, 16);
      break;
    case CANCELLED: case DEDUPLICATED: upload->is_ended = true; break;
    case ATTENTION: upload->is_stuck = true; break;
    case RETRIED: upload->is_stuck = upload->is_paused = false; break;
    case PAUSED: upload->is_paused = true; break;
    case RESUMED: upload->is_paused = false; break;
    case EXPIRED:
      upload->has_session = upload->is_received = false;
      upload->part_count = 0;
      break;
    case VERIFIED: case OTHER: break;
  }
  return true;
}

static void count_state(const struct upload *upload, baseline_states *states) {
  if (upload->is_committed) { states->committed++; return; }
  if (upload->is_ended) { states->ended++; return; }
  if (upload->is_stuck) { states->needs_attention++; return; }
  if (!upload->is_queued) { states->saved_locally += upload->has_copy; return; }
  int64_t confirmed = 0, in_flight = 0;
  for (int i = 0; i < upload->part_count; i++) {
    confirmed += upload->parts[i].confirmed;
    if (upload->parts[i].in_flight) in_flight += upload->part_size - upload->parts[i].confirmed;
  }
  if (upload->is_paused || (confirmed == 0 && in_flight == 0)) {
    states->queued++;
  } else if (upload->is_received || (upload->has_session && confirmed >= upload->total)) {
    states->verifying++;
  } else {
    states->sending++;
  }
}

bool baseline_fold(const char *path, baseline_states *states) {
  sqlite3 *db = NULL;
  sqlite3_stmt *row = NULL;
  memset(states, 0, sizeof *states);
  struct upload upload = {.stream = -1};
  int code = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
  if (code == SQLITE_OK) code = sqlite3_prepare_v2(db, query, -1, &row, NULL);
  if (code == SQLITE_OK) code = sqlite3_bind_int64(row, 1, INT64_MAX);
  while (code == SQLITE_OK || code == SQLITE_ROW) {
    code = sqlite3_step(row);
    if (code != SQLITE_ROW) break;
    int64_t stream = sqlite3_column_int64(row, 2);
    if (stream != upload.stream) {
      if (upload.stream >= 0) count_state(&upload, states);
      upload = (struct upload){
          .stream = stream, .parts = upload.parts, .capacity = upload.capacity};
      keep(upload.id, sizeof upload.id, row, 21);
    }
    if (!evolve(&upload, row)) break;
    states->events++;
  }
  if (upload.stream >= 0) count_state(&upload, states);
  free(upload.parts);
  sqlite3_finalize(row);
  sqlite3_close(db);
  return code == SQLITE_DONE;
}
