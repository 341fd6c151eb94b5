/* Files in directories that a walk did not take: those of formats that are
 * recognized by their suffix, but not read, by name; of all others, how many. */
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
    size_t others;      /* files that are no pictures by their suffix */
    struct string_arena names; /* what list[].name points to */
};

/* Notes a file, with a copy of its name. Returns 0, or -1: no memory. */
int passed_over_add(struct passed_over *passed, const char *name, size_t below,
               const struct foreign *format, struct err *err);

/* Puts the files into the order of their names. */
void passed_over_sort(struct passed_over *passed);

/* Says on standard error how many there are of each format, the most first, or
 * nothing if there are none. `others`: and how many are no pictures. */
void passed_over_print(const struct passed_over *passed, bool others);

/* Fine on {0}, and twice. */
void passed_over_free(struct passed_over *passed);

#endif
