#pragma once
#include <sqlite3.h>  // Apple systems have it in their SDK, under the same name.

// What Swift cannot import: variadic calls and the casts behind SQLITE_TRANSIENT.

static inline int waybill_db_config(sqlite3 *db, int operation, int on) {
  return sqlite3_db_config(db, operation, on, (int *)0);
}

static inline int waybill_bind_text(sqlite3_stmt *s, int i, const char *text, int count) {
  return sqlite3_bind_text(s, i, text, count, SQLITE_TRANSIENT);
}

static inline int waybill_bind_blob(sqlite3_stmt *s, int i, const void *bytes, int count) {
  return sqlite3_bind_blob(s, i, bytes, count, SQLITE_TRANSIENT);
}
