#include "schema.h"

// Per file: one embedded array and one row in the table. Order is the order of use.

static const char migrations_v001_ledger[] = {
#embed "migrations/v001_ledger.sql" suffix(, 0)
};
static const char migrations_v002_retention[] = {
#embed "migrations/v002_retention.sql" suffix(, 0)
};
static const char projections_queue[] = {
#embed "projections/queue.sql" suffix(, 0)
};
static const char projections_upload_states[] = {
#embed "projections/upload_states.sql" suffix(, 0)
};
static const char projections_content_index[] = {
#embed "projections/content_index.sql" suffix(, 0)
};
static const char projections_work[] = {
#embed "projections/work.sql" suffix(, 0)
};
static const char projections_sessions[] = {
#embed "projections/sessions.sql" suffix(, 0)
};
static const char projections_ledger_state[] = {
#embed "projections/ledger_state.sql" suffix(, 0)
};

static const char server_v001[] = {
#embed "server/v001.sql" suffix(, 0)
};

static const waybill_schema_file files[] = {
    {"migrations/v001_ledger.sql", migrations_v001_ledger},
    {"migrations/v002_retention.sql", migrations_v002_retention},
    {"projections/queue.sql", projections_queue},
    {"projections/upload_states.sql", projections_upload_states},
    {"projections/content_index.sql", projections_content_index},
    {"projections/work.sql", projections_work},
    {"projections/sessions.sql", projections_sessions},
    {"projections/ledger_state.sql", projections_ledger_state},
    {"server/v001.sql", server_v001},
};

waybill_schema_file waybill_schema_file_at(size_t index) {
  if (index < sizeof(files) / sizeof(files[0])) return files[index];
  return (waybill_schema_file){0, 0};
}
