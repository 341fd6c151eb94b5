/* The template of the names of outputs, as --output takes it: text, and fields
 * in braces that stand for what an input is called. */
#ifndef CLI_SELECT_NAME_TEMPLATE_H
#define CLI_SELECT_NAME_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/select/path.h"
#include "codecs/base/err.h"

enum field {
    FIELD_TEXT, /* no field: as it is */
    FIELD_DIR,
    FIELD_STEM,
    FIELD_EXT,
    FIELD_OP,
    FIELD_NUMBER,
};

enum { TEMPLATE_PARTS = 64 };

struct name_template {
    struct template_part {
        enum field field;
        const char *text; /* FIELD_TEXT: not ended by a NUL */
        size_t length;
        unsigned digits; /* FIELD_NUMBER: padded to so many */
    } part[TEMPLATE_PARTS];
    size_t count;
};

/* What the fields stand for. */
struct subject {
    const char *name; /* of the input */
    const char *op;
    const char *format; /* that the suffix is to name; NULL: it stays */
    size_t number;
};

/* Reads a template, whose text must outlive it. */
int name_template_parse(struct name_template *t, const char *text,
                        struct err *err);

/* The text before the first field up to its last slash, without it unless it is
 * the root. False: there is none. */
bool name_template_folder(const struct name_template *t, struct path_text *folder);

/* Whether a field is part of it. */
bool name_template_has(const struct name_template *t, enum field field);

/* Appends what the template stands for. */
void name_template_expand(const struct name_template *t,
                          const struct subject *subject, struct path_text *name);

#endif
