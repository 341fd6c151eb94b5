/* This room holds the commands that say something of files and write none:
 * check, info, relate, and version.
 *
 * Here is what info and check do alike: something with every file that the
 * options name, on several threads, reported in order. */
#ifndef CLI_COMMANDS_EACH_INPUT_H
#define CLI_COMMANDS_EACH_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/options/options.h"

struct root;

/* What a task begins with. */
struct each_input {
    const char *name;
    struct root *root; /* in which it was found, or NULL */
};

struct each_input_work {
    size_t task_size; /* bytes of a task, zeros behind its struct each_input */
    void (*work)(void *context, void *task);   /* by any thread */
    void (*report)(void *context, void *task); /* in order, one at a time; ends
                                                  the task */
    void *context;
};

/* Does the work for every file. Returns false, with a message on stderr, if it
 * cannot be done or if there is no file. */
bool each_input(const struct options *opts, const struct each_input_work *work);

#endif
