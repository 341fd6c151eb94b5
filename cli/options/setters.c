/* Setters of options. */
#include "cli/options/setters.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/options/colors.h"
#include "cli/options/hint.h"
#include "cli/options/options.h"
#include "cli/options/value.h"
#include "codecs/image/meta.h"
#include "cuda/backend.h"

/* ---- By the type of the field ------------------------------------------- */

int setters_true(const struct parser_option *option, void *field,
                 const char *text, struct err *err)
{
    (void)option, (void)text, (void)err;
    *(bool *)field = true;
    return 0;
}

int setters_false(const struct parser_option *option, void *field,
                  const char *text, struct err *err)
{
    (void)option, (void)text, (void)err;
    *(bool *)field = false;
    return 0;
}

int setters_constant(const struct parser_option *option, void *field,
                     const char *text, struct err *err)
{
    (void)text, (void)err;
    *(int *)field = option->least;
    return 0;
}

int setters_number(const struct parser_option *option, void *field,
                   const char *text, struct err *err)
{
    return value_read_int(text, option->least, option->most, field, err);
}

int setters_seconds(const struct parser_option *option, void *field,
                    const char *text, struct err *err)
{
    (void)option;
    return value_read_seconds(text, field, err);
}

int setters_amount(const struct parser_option *option, void *field,
                   const char *text, struct err *err)
{
    return value_read_amount(text, (unsigned)option->least, field, err);
}

/* Returns the choice that `text` names, or NULL with the reason in `err`. */
static const struct parser_choice *choose(const struct parser_choice *choices,
                                          const char *text, struct err *err)
{
    enum { CHOICES = 16 };
    const char *names[CHOICES];
    size_t n = 0;
    for (; n < CHOICES && choices[n].name; n++)
        names[n] = choices[n].name;
    int i = value_read_choice(text, names, n, err);
    return i < 0 ? NULL : &choices[i];
}

int setters_choice(const struct parser_option *option, void *field,
                   const char *text, struct err *err)
{
    const struct parser_choice *choice = choose(option->choices, text, err);
    if (choice)
        *(int *)field = choice->value;
    return choice ? 0 : -1;
}

int setters_text(const struct parser_option *option, void *field,
                 const char *text, struct err *err)
{
    (void)option, (void)err;
    *(const char **)field = text;
    return 0;
}

int setters_name(const struct parser_option *option, void *field,
                 const char *text, struct err *err)
{
    setters_text(option, field, text, err);
    return *text ? 0 : fail(err, "the value is empty; expected a name");
}

/* Standard input and output are taken by results and lists. */
int setters_file(const struct parser_option *option, void *field,
                 const char *text, struct err *err)
{
    setters_text(option, field, text, err);
    return *text && strcmp(text, "-") != 0
               ? 0
               : fail(err, "'%s' is not a file; a file that is called - is ./-",
                      text);
}

int setters_suffix(const struct parser_option *option, void *field,
                   const char *text, struct err *err)
{
    setters_text(option, field, text, err);
    return *text && !strchr(text, '/')
               ? 0
               : fail(err,
                      "'%s' is not a suffix; expected one such as .bak, "
                      "without /",
                      text);
}

/* ---- Values with a form of their own ------------------------------------ */

int setters_format(const struct parser_option *option, void *field,
                   const char *text, struct err *err)
{
    setters_text(option, field, text, err);
    return codec_by_name(text) ? 0 : hint_format(text, err);
}

int setters_backend(const struct parser_option *option, void *field,
                    const char *text, struct err *err)
{
    if (strcasecmp(text, "gpu") == 0) /* by its letters it is nearer to cpu */
        return fail(err, "'%s' is not known; did you mean 'cuda'?", text);
    const struct parser_choice *choice = choose(option->choices, text, err);
    if (choice)
        *(const char **)field = choice->name;
    return choice ? 0 : -1;
}

int setters_devices(const struct parser_option *option, void *field,
                    const char *text, struct err *err)
{
    struct device_list *list = field;
    const char *at = text;
    (void)option;
    *list = (struct device_list){ .count = (unsigned)LANE_ALL_DEVICES,
                                  .text = text };
    if (strcmp(text, "all") == 0)
        return 0;
    list->count = 0;
    while (*at >= '0' && *at <= '9' && list->count < OPTIONS_DEVICES) {
        char *end;
        unsigned long n = strtoul(at, &end, 10);
        if (n > 1023)
            break;
        for (unsigned i = 0; i < list->count; i++)
            if (list->number[i] == (int)n)
                return fail(err, "'%s' names a GPU twice", text);
        list->number[list->count++] = (int)n;
        if (*end == '\0')
            return 0;
        at = end + (*end == ',');
    }
    return fail(err,
                "'%s' is not a list of GPUs; expected numbers as "
                "in 0 or 0,1, or all",
                text);
}

int setters_glob(const struct parser_option *option, void *field,
                 const char *text, struct err *err)
{
    struct globs *globs = field;
    (void)option;
    if (globs->count == OPTIONS_GLOBS)
        return fail(err, "more than %d patterns were given",
                    (int)OPTIONS_GLOBS);
    globs->glob[globs->count++] = text;
    return 0;
}

int setters_layout(const struct parser_option *option, void *field,
                   const char *text, struct err *err)
{
    (void)option;
    if (layout_parse(text, field))
        return 0;
    return fail(err,
                "'%s' is not a layout; expected auto, hwc, chw, nhw, nhwc "
                "or nchw",
                text);
}

/* Each word of the list drops something, or sets how much is stripped. */
int setters_strip(const struct parser_option *option, void *field,
                  const char *text, struct err *err)
{
    static const struct {
        enum strip strip;
        unsigned drop;
    } means[] = { { STRIP_ALL, 0 },
                  { STRIP_METADATA, 0 },
                  { STRIP_NOTHING, DROP_GPS },
                  { STRIP_NOTHING, DROP_THUMBNAIL },
                  { STRIP_NOTHING, DROP_XMP },
                  { STRIP_NOTHING, DROP_EXIF },
                  { STRIP_NOTHING, DROP_ICC } };
    static const char *const names[] = { "all", "metadata", "gps", "thumbnail",
                                         "xmp", "exif",     "icc" };
    struct options *opts = field;
    const char *at = text ? text : "metadata";
    enum strip strip = STRIP_NOTHING;
    unsigned drop = 0;
    (void)option;
    for (;; at++) {
        char word[64];
        size_t n = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", n < 60 ? (int)n : 60, at);
        int i =
            value_read_choice(word, names, sizeof names / sizeof *names, err);
        if (i < 0)
            return -1;
        if (means[i].strip > strip)
            strip = means[i].strip;
        drop |= means[i].drop;
        at += n;
        if (*at == '\0')
            break;
    }
    opts->strip = strip;
    opts->drop = drop;
    return 0;
}

int setters_background(const struct parser_option *option, void *field,
                       const char *text, struct err *err)
{
    struct options *opts = field;
    (void)option;
    opts->background = true;
    return colors_parse(opts->over, text, err);
}

int setters_shard(const struct parser_option *option, void *field,
                  const char *text, struct err *err)
{
    struct options *opts = field;
    char first[16] = "";
    const char *slash = strchr(text, '/');
    int k, n;
    (void)option;
    if (slash && (size_t)(slash - text) < sizeof first)
        memcpy(first, text, (size_t)(slash - text));
    if (!slash || value_read_int(slash + 1, 1, INT_MAX, &n, err) ||
        value_read_int(first, 1, n, &k, err))
        return fail(err,
                    "'%s' is not a share; expected K/N with K from 1 "
                    "to N, e.g. 3/8",
                    text);
    opts->shard = (unsigned)k;
    opts->shards = (unsigned)n;
    return 0;
}
