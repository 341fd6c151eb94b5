/* What each input becomes, as far as names alone tell. */
#ifndef CLI_SELECT_OUTPUTS_H
#define CLI_SELECT_OUTPUTS_H

#include "cli/select/inputs.h"
#include "cli/select/name_template.h"

struct outputs {
    const struct options *opts;
    struct name_template template;
    bool has_folder;    /* outputs stay in a folder: */
    struct path_text folder; /* this one */
    size_t start;       /* where what is below it begins in an output */
};

/* Reads the options. */
int outputs_init(struct outputs *outputs, const struct options *opts,
                 struct err *err);

/* Names the output of an input. It fails for a name that says no format, that
 * is too long or no file's, or that leaves the folder by "..". */
int outputs_name(const struct outputs *outputs, const struct input *input,
                 struct path_text *name, struct err *err);

/* A name as messages have it: one that is very long without its beginning. */
struct shown {
    char text[260];
};
struct shown show(const char *name);

#endif
