/* The template of the names of outputs, as --output takes it: text, and fields
 * in braces that stand for parts of an input's name. */
#ifndef CLI_SELECT_NAME_TEMPLATE_H
#define CLI_SELECT_NAME_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/files/path.h"
#include "cli/options/options.h"
#include "codecs/base/err.h"

enum template_field {
    FIELD_TEXT, /* not a field: text to be copied */
    FIELD_DIR,
    FIELD_STEM,
    FIELD_EXT,
    FIELD_OP,
    FIELD_NUMBER,
};

enum { TEMPLATE_PARTS = 64 };

struct name_template {
    struct template_part {
        enum template_field field;
        const char *text; /* FIELD_TEXT: not ended by a NUL */
        size_t length;
        unsigned digits; /* FIELD_NUMBER: padded to so many */
    } part[TEMPLATE_PARTS];
    size_t count;
};

/* Parses a template, whose text must outlive it.
 * Returns 0, or -1 with the reason. */
int name_template_parse(struct name_template *t, const char *text,
                        struct err *err);

/* Finds the directory that all names are in: the text before the first field up
 * to its last slash. Returns false if there is none. */
bool name_template_folder(const struct name_template *t,
                          struct path_text *folder);

/* Returns whether the template has a field. */
bool name_template_has(const struct name_template *t,
                       enum template_field field);

/* Appends the name that an input becomes; `number` is its own. If the options
 * name a format, the suffix must name it, too. */
void name_template_expand(const struct name_template *t,
                          const struct options *opts, const char *input,
                          size_t number, struct path_text *name);

#endif
