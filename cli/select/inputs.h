/* The inputs of a batch, and the directories in which they were found. */
#ifndef CLI_SELECT_INPUTS_H
#define CLI_SELECT_INPUTS_H

#include "cli/select/string_arena.h"
#include "cli/options/options.h"
#include "cli/select/passed_over.h"
#include "cli/files/resolve.h"

struct input {
    const char *name;
    struct root *root; /* the directory in which it was found, and to which it
                          is confined; NULL: it was named */
    uint32_t number; /* among all, from 1 */
    uint16_t below;  /* where the part of the name begins that stands below the
                        directory in which it was found; 0: it was named */
    bool directory;  /* that cannot be read: opening it says why */
};

struct left_file {
    struct left_file *next;
    const char *name;
    struct root *root; /* in which it was met */
};

struct walked; /* a directory that was named, and walked */

/* {0} is empty. */
struct inputs {
    struct input *list;
    uint32_t count, capacity;
    struct string_arena names; /* what list[].name points to */
    struct walked *walked; /* what list[].root points to */
    unsigned nwalked;
    struct left_file *left; /* temporary files that were met on a walk */
    size_t seen; /* files that were named or met, be they inputs or not */
    bool none;   /* gather_inputs() found no input at all */
    struct passed_over passed; /* what stands beside them in directories */
};

/* Appends one, with a copy of its name; its number is given to it. */
int inputs_add(struct inputs *inputs, const struct input *input,
               struct err *err);

/* Opens a directory that is to be walked, and that all found in it is confined
 * to. It is closed with the inputs.
 * Returns NULL, with the reason, on failure. */
struct root *inputs_open_walked(struct inputs *inputs, const char *name,
                                enum root_links links, struct err *err);

/* Notes a temporary file. Without memory it is not noted. */
void inputs_note_left(struct inputs *inputs, const char *name,
                      struct root *root);

/* Fine on {0}, and twice. */
void inputs_free(struct inputs *inputs);

#endif
