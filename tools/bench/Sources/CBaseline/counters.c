#define _GNU_SOURCE
#include "counters.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static atomic_bool counting;
static atomic_llong allocations, syncs, prepares, commits;

static inline void count(atomic_llong *what) {
  if (atomic_load_explicit(&counting, memory_order_relaxed)) {
    atomic_fetch_add_explicit(what, 1, memory_order_relaxed);
  }
}

void counters_start(void) {
  allocations = syncs = prepares = commits = 0;
  counting = true;
}

counters counters_stop(void) {
  counting = false;
  return (counters){allocations, syncs, prepares, commits};
}

static int count_commit(void *unused) {
  count(&commits);
  return 0;
}

static int watch(sqlite3 *db, char **error, const void *routines) {
  sqlite3_commit_hook(db, count_commit, NULL);
  return SQLITE_OK;
}

void counters_watch_connections(void) {
  sqlite3_auto_extension((void (*)(void))watch);
}

#if defined(__GLIBC__)
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

bool counters_are_exact(void) { return true; }

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
  count(&allocations);
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count(&allocations);
  return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
  count(&allocations);
  return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count(&allocations);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
  count(&allocations);
  void *memory = __libc_memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *out = memory;
  return 0;
}

int fsync(int descriptor) {
  count(&syncs);
  return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
  count(&syncs);
  return (int)syscall(SYS_fdatasync, descriptor);
}

typedef int prepare_function(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
typedef int prepare_function_v3(
    sqlite3 *, const char *, int, unsigned int, sqlite3_stmt **, const char **);
typedef int exec_function(
    sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *, char **);

int sqlite3_prepare_v2(
    sqlite3 *db, const char *sql, int length, sqlite3_stmt **out, const char **tail) {
  static prepare_function *real;
  if (real == NULL) real = (prepare_function *)dlsym(RTLD_NEXT, "sqlite3_prepare_v2");
  count(&prepares);
  return real(db, sql, length, out, tail);
}

int sqlite3_prepare_v3(
    sqlite3 *db, const char *sql, int length, unsigned int flags, sqlite3_stmt **out,
    const char **tail) {
  static prepare_function_v3 *real;
  if (real == NULL) real = (prepare_function_v3 *)dlsym(RTLD_NEXT, "sqlite3_prepare_v3");
  count(&prepares);
  return real(db, sql, length, flags, out, tail);
}

int sqlite3_exec(
    sqlite3 *db, const char *sql, int (*each)(void *, int, char **, char **), void *context,
    char **message) {
  static exec_function *real;
  if (real == NULL) real = (exec_function *)dlsym(RTLD_NEXT, "sqlite3_exec");
  count(&prepares);
  return real(db, sql, each, context, message);
}

int64_t peak_memory_bytes(void) {
  // Not ru_maxrss: a child starts with the figure of the process that started it.
  FILE *status = fopen("/proc/self/status", "r");
  if (status == NULL) return -1;
  char line[256];
  long long kibibytes = -1;
  while (fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "VmHWM: %lld kB", &kibibytes) == 1) break;
  }
  fclose(status);
  return kibibytes * 1024;
}

#else

bool counters_are_exact(void) { return false; }

int64_t peak_memory_bytes(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : -1;
}

#endif
