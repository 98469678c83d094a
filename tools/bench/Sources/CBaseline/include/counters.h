#pragma once
#include <stdbool.h>
#include <stdint.h>

// Counts of this process. The functions of the C library and of SQLite that are counted are
// defined in the executable, which comes before every shared library: all calls of Swift's
// runtime, of SQLite and of our code pass them, and each is counted exactly once.

typedef struct {
  int64_t allocations;  // malloc, calloc, realloc, aligned_alloc, posix_memalign
  int64_t syncs;        // fsync, fdatasync
  int64_t prepares;     // sqlite3_prepare_v2, _v3, and sqlite3_exec, which prepares
  int64_t commits;      // write transactions that were committed on any connection
} counters;

// Starts counting from nothing. Connections opened after the first start are watched for commits.
void counters_start(void);
// Stops counting and gives the counts.
counters counters_stop(void);
// Whether counting works on this system.
bool counters_are_exact(void);
// Has every connection that is opened from now on watched for commits.
void counters_watch_connections(void);

// The most memory this process has held so far, in bytes (VmHWM on Linux).
int64_t peak_memory_bytes(void);
