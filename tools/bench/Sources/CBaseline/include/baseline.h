#pragma once
#include <stdbool.h>
#include <stdint.h>

// What a careful C programmer writes on the same tables: the measure for the ledger.

// One event as its columns. Text ends in a zero byte; what is null is NULL in the table, and an
// integer is NULL unless its bit is set in `present`.
typedef struct {
  int64_t stream, revision, recorded_at;
  int64_t part, bytes, attempt, until;
  uint32_t present;
  const char *_Nullable kind, *_Nullable cause;
  const char *_Nullable code, *_Nullable reference, *_Nullable payload;
  const uint8_t *_Nullable hash, *_Nullable name;
  int32_t name_count;
} baseline_event;

enum { BASELINE_PART = 1, BASELINE_BYTES = 2, BASELINE_ATTEMPT = 4, BASELINE_UNTIL = 8 };

typedef struct baseline baseline;

// Opens the database of a ledger nobody else has open, with the settings the ledger's writer has.
baseline *_Nullable baseline_open(const char *_Nonnull path);
void baseline_close(baseline *_Nonnull base);
const char *_Nonnull baseline_error(const baseline *_Nonnull base);

// Adds the row of an upload, outside or inside a transaction, and gives its key; -1 on failure.
int64_t baseline_add_stream(baseline *_Nonnull base, const char *_Nonnull upload);

bool baseline_begin(baseline *_Nonnull base);
bool baseline_insert(baseline *_Nonnull base, const baseline_event *_Nonnull event);
// Writes the one state row of an upload.
bool baseline_put_state(
    baseline *_Nonnull base, int64_t stream, const char *_Nonnull state, int64_t confirmed,
    int64_t total);
bool baseline_commit(baseline *_Nonnull base);

// How many uploads stand where, by a fold of the whole log over the columns the ledger reads.
typedef struct {
  int64_t events, saved_locally, queued, sending, verifying, committed, needs_attention, ended;
} baseline_states;

bool baseline_fold(const char *_Nonnull path, baseline_states *_Nonnull states);

// The version of the SQLite library in this process.
const char *_Nonnull baseline_sqlite_version(void);
