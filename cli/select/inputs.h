/* The inputs of a batch, and the directories in which they were found. */
#ifndef CLI_SELECT_INPUTS_H
#define CLI_SELECT_INPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/files/path.h"
#include "cli/files/resolve.h"
#include "cli/options/options.h"
#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/foreign.h"

/* Files of formats that are known by their suffix and not read. */
struct passed_over {
    struct {
        const struct foreign *format;
        size_t files;
    } kind[64]; /* more than there are */
    unsigned kinds;
};

struct input {
    const char *name;
    struct root *root; /* the directory where it was found, and to which it is
                          confined; NULL: it was named by the user */
    uint16_t below;    /* where the part of the name begins that is relative to
                          that directory; 0: it was named by the user */
    bool directory;    /* it is a directory that cannot be read */
};

struct walked; /* a directory that was walked */

/* {0} is empty. */
struct inputs {
    struct input *list; /* in `memory` */
    uint32_t count;
    struct bytes memory;
    struct string_arena names; /* what list[].name points to */
    struct walked *walked;     /* what list[].root points to */
    unsigned nwalked;
    size_t seen; /* files that were named or found, inputs and others */
    bool none;   /* inputs_gather() found no input at all */
    struct passed_over passed; /* files in directories */
};

/* Appends an input, with a copy of its name. Returns 0, or -1 with the reason.
 */
int inputs_add(struct inputs *inputs, const struct input *input,
               struct err *err);

/* Fine on {0}, and twice. */
void inputs_free(struct inputs *inputs);

/* ---- Finding them ----
 *
 * Inputs are those on the command line, those of a list,
 * and those in directories, which --include and --exclude choose. */

/* Appends all inputs that the options name. `folder` is the directory where
 * outputs go, which no walk enters, or NULL. Returns 0, or -1 with the reason;
 * the caller frees the inputs after both. */
int inputs_gather(struct inputs *inputs, const struct options *opts,
                  const char *folder, struct err *err);

/* Returns 0 if inputs_gather() found an input. Otherwise it returns -1 with a
 * reason that says among how many files, and whether patterns left nothing. */
int inputs_check_found(const struct inputs *inputs, const struct options *opts,
                       struct err *err);

#endif
