/* Reads a line of a manifest. */
#ifndef CLI_MANIFEST_MANIFEST_LINE_H
#define CLI_MANIFEST_MANIFEST_LINE_H

#include "cli/json/json_read.h"
#include "cli/manifest/manifest.h"

/* Reads a line into a record, whose strings are those of `root`. Returns 0, or
 * -1 with the reason. */
int manifest_line_read(const struct json_value *root, struct record *record,
                       struct err *err);

#endif
