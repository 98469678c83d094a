#include "schema.h"

// Per file: one embedded array and one row in the table. Order is the order of use.

static const char migrations_v001_ledger[] = {
#embed "migrations/v001_ledger.sql" suffix(, 0)
};

static const waybill_schema_file files[] = {
    {"migrations/v001_ledger.sql", migrations_v001_ledger},
};

waybill_schema_file waybill_schema_file_at(size_t index) {
  if (index < sizeof(files) / sizeof(files[0])) return files[index];
  return (waybill_schema_file){0, 0};
}
