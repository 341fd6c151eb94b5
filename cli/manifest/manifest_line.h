/* Reads a line of a manifest. */
#ifndef CLI_MANIFEST_MANIFEST_LINE_H
#define CLI_MANIFEST_MANIFEST_LINE_H

#include "cli/json/json_read.h"
#include "cli/manifest/facts.h"

/* Reads a line: the names of the job and the error into `record`, whose strings
 * are those of `root`, all else into `facts`. Returns 0, or -1 with the reason.
 */
int manifest_line_read(const struct json_value *root, struct record *record,
                       struct facts *facts, struct err *err);

#endif
