/* Names the output of each input, by names alone. */
#ifndef CLI_SELECT_OUTPUTS_H
#define CLI_SELECT_OUTPUTS_H

#include "cli/select/inputs.h"
#include "cli/select/name_template.h"

struct outputs {
    const struct options *opts;
    struct name_template template;
    bool has_folder;         /* all outputs are in the directory */
    struct path_text folder; /* of this name, */
    size_t start;            /* and so long are the names of outputs up to it */
};

/* Reads the options.
 * Returns 0, or -1 with the reason. */
int outputs_init(struct outputs *outputs, const struct options *opts,
                 struct err *err);

/* Names the output of an input. It fails if the name tells no format, is too
 * long, cannot be that of a file, or leaves the directory by "..". Returns 0,
 * or -1 with the reason. */
int outputs_name(const struct outputs *outputs, const struct input *input,
                 struct path_text *name, struct err *err);

/* A name as messages show it: a very long one without its beginning. */
struct shown {
    char text[260];
};
struct shown outputs_show(const char *name);

#endif
