/* Files in directories that a walk did not take. Those of formats that are
 * recognized by their suffix, but not read, are listed; all others are only
 * counted. */
#ifndef CLI_SELECT_PASSED_OVER_H
#define CLI_SELECT_PASSED_OVER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/select/string_arena.h"
#include "codecs/base/err.h"
#include "codecs/foreign.h"

struct passed_file {
    const char *name;
    const struct foreign *format;
    uint16_t below; /* as in struct input */
};

/* {0} is empty. */
struct passed_over {
    struct passed_file *list;
    size_t count, capacity;
    size_t others;             /* files that are not pictures by their suffix */
    struct string_arena names; /* what list[].name points to */
};

/* Adds a file, with a copy of its name.
 * Returns 0, or -1 with the reason if there is no memory. */
int passed_over_add(struct passed_over *passed, const char *name, size_t below,
                    const struct foreign *format, struct err *err);

/* Sorts the files by their names. */
void passed_over_sort(struct passed_over *passed);

/* Prints on standard error how many files there are of each format, the most
 * frequent first, and with `others` how many are not pictures; nothing if there
 * are none. */
void passed_over_print(const struct passed_over *passed, bool others);

/* Fine on {0}, and twice. */
void passed_over_free(struct passed_over *passed);

#endif
