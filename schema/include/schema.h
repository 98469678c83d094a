#pragma once
#include <stddef.h>

/// One file of this folder, as it was when the package was built.
typedef struct {
  const char *name;
  const char *text;
} waybill_schema_file;

/// The embedded file at an index, in the order in which the files are used; a null name at the end.
waybill_schema_file waybill_schema_file_at(size_t index);
