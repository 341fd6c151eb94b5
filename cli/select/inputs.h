/* The inputs of a batch, and the directories in which they were found. */
#ifndef CLI_SELECT_INPUTS_H
#define CLI_SELECT_INPUTS_H

#include "cli/files/resolve.h"
#include "cli/options/options.h"
#include "cli/select/passed_over.h"
#include "cli/select/string_arena.h"
#include "codecs/base/bytes.h"

struct input {
    const char *name;
    struct root *root; /* the directory where it was found, and to which it is
                          confined; NULL: it was named by the user */
    uint32_t number;   /* among all, from 1 */
    uint16_t below;    /* where the part of the name begins that is relative to
                          that directory; 0: it was named by the user */
    bool directory;    /* it is a directory that cannot be read */
};

/* A temporary file that was found on a walk. */
struct left_file {
    const char *name;
    struct root *root; /* where it was found */
};

struct walked; /* a directory that was walked */

/* {0} is empty. */
struct inputs {
    struct input *list;
    uint32_t count, capacity;
    struct string_arena names; /* what list[].name points to */
    struct walked *walked;     /* what list[].root points to */
    unsigned nwalked;
    struct bytes left; /* of struct left_file */
    size_t seen;       /* files that were named or found, inputs and others */
    bool none;         /* gather_inputs() found no input at all */
    struct passed_over passed; /* files beside the inputs in directories */
};

/* Appends an input, with a copy of its name, and numbers it.
 * Returns 0, or -1 with the reason. */
int inputs_add(struct inputs *inputs, const struct input *input,
               struct err *err);

/* Opens a directory that is about to be walked, and to which everything found
 * in it is confined. It is closed with the inputs. On failure it returns NULL,
 * with the reason. */
struct root *inputs_open_walked(struct inputs *inputs, const char *name,
                                enum root_links links, struct err *err);

/* Notes a temporary file, unless there is no memory. */
void inputs_note_left(struct inputs *inputs, const char *name,
                      struct root *root);

/* Fine on {0}, and twice. */
void inputs_free(struct inputs *inputs);

#endif
