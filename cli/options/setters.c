/* Setters of options. */
#include "cli/options/parser.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/options/options.h"
#include "codecs/image/meta.h"
#include "cuda/backend.h"

/* ---- By the type of the field ------------------------------------------- */

int setters_true(const struct parser_option *option, void *field,
                 const char *text, struct err *err)
{
    (void)text, (void)err;
    *(bool *)field = !option->least;
    return 0;
}

int setters_constant(const struct parser_option *option, void *field,
                     const char *text, struct err *err)
{
    (void)text, (void)err;
    *(int *)field = option->least;
    return 0;
}

/* Reads a whole number from `least` to `most`, which are not negative. */
static int read_int(const char *text, int least, int most, int *value,
                    struct err *err)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (!*text || text[strspn(text, "-0123456789")] || *end || end == text)
        return fail(err, "'%s' is not a number; expected %d to %d", text, least,
                    most);
    if (errno || n < least || n > most)
        return fail(err, "%s is out of range; expected %d to %d", text, least,
                    most);
    *value = (int)n;
    return 0;
}

int setters_number(const struct parser_option *option, void *field,
                   const char *text, struct err *err)
{
    return read_int(text, option->least, option->most, field, err);
}

/* The locale is that of C, whose decimal point is a dot. */
int setters_seconds(const struct parser_option *option, void *field,
                    const char *text, struct err *err)
{
    const double least = 0.001, most = 1000000000;
    char *end;
    (void)option;
    const double n = strtod(text, &end);
    if (!*text || text[strspn(text, "0123456789.")] || *end)
        return fail(err, "'%s' is not a number of seconds, such as 60 or 0.5",
                    text);
    if (!(n >= least && n <= most))
        return fail(err, "%s is out of range; expected %g to %.0f", text, least,
                    most);
    *(double *)field = n;
    return 0;
}

int setters_amount(const struct parser_option *option, void *field,
                   const char *text, struct err *err)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end >= 'A' ? strchr(units, *end & ~0x20) : NULL;
    if (*text < '0' || *text > '9' || end[unit != NULL])
        return fail(err,
                    "'%s' is not a number; expected one as 500000, or "
                    "with K, M or G as 500M",
                    text);
    for (int i = unit ? (int)(unit - units) + 1 : 0; i > 0; i--)
        if (__builtin_mul_overflow(n, (unsigned)option->least, &n))
            errno = ERANGE;
    if (errno || n == 0)
        return fail(err,
                    "%s is out of range; expected 1 or more, and less "
                    "than 2^64",
                    text);
    *(uint64_t *)field = n;
    return 0;
}

/* Returns the choice that `text` names, or NULL with the reason in `err`. */
static const struct parser_choice *choose(const struct parser_choice *choices,
                                          const char *text, struct err *err)
{
    enum { CHOICES = 16 };
    const char *names[CHOICES];
    size_t n = 0;
    for (; n < CHOICES && choices[n].name; n++) {
        if (strcmp(text, choices[n].name) == 0)
            return &choices[n];
        names[n] = choices[n].name;
    }
    hint_choice(text, names, n, err);
    return NULL;
}

int setters_choice(const struct parser_option *option, void *field,
                   const char *text, struct err *err)
{
    const struct parser_choice *choice = choose(option->choices, text, err);
    if (choice)
        *(int *)field = choice->value;
    return choice ? 0 : -1;
}

/* Standard input and output are taken by results and lists. */
int setters_text(const struct parser_option *option, void *field,
                 const char *text, struct err *err)
{
    *(const char **)field = text;
    if (option->least == TEXT_NAME && !*text)
        return fail(err, "the value is empty; expected a name");
    if (option->least == TEXT_FILE && (!*text || strcmp(text, "-") == 0))
        return fail(err, "'%s' is not a file; a file that is called - is ./-",
                    text);
    if (option->least == TEXT_SUFFIX && (!*text || strchr(text, '/')))
        return fail(err,
                    "'%s' is not a suffix; expected one such as .bak, "
                    "without /",
                    text);
    return 0;
}

/* ---- Values with a form of their own ------------------------------------ */

int setters_format(const struct parser_option *option, void *field,
                   const char *text, struct err *err)
{
    (void)option;
    *(const char **)field = text;
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

/* Each word of the list drops something, or sets how much is stripped. */
int setters_strip(const struct parser_option *option, void *field,
                  const char *text, struct err *err)
{
    struct options *opts = field;
    const char *at = text ? text : "metadata";
    enum strip strip = STRIP_NOTHING;
    unsigned drop = 0;
    for (;; at++) {
        char word[64];
        size_t n = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", n < 60 ? (int)n : 60, at);
        const struct parser_choice *choice = choose(option->choices, word, err);
        if (!choice)
            return -1;
        if (choice - option->choices >= 2)
            drop |= (unsigned)choice->value;
        else if ((enum strip)choice->value > strip)
            strip = (enum strip)choice->value;
        at += n;
        if (*at == '\0')
            break;
    }
    opts->strip = strip;
    opts->drop = drop;
    return 0;
}

/* The colors of CSS (CSS Color Module Level 4, 6.1), each name followed by its
 * six digits and by a blank. */
static const char colors[] =
    "aliceblue f0f8ff antiquewhite faebd7 aqua 00ffff aquamarine 7fffd4 "
    "azure f0ffff beige f5f5dc bisque ffe4c4 black 000000 "
    "blanchedalmond ffebcd blue 0000ff blueviolet 8a2be2 brown a52a2a "
    "burlywood deb887 cadetblue 5f9ea0 chartreuse 7fff00 chocolate d2691e "
    "coral ff7f50 cornflowerblue 6495ed cornsilk fff8dc crimson dc143c "
    "cyan 00ffff darkblue 00008b darkcyan 008b8b darkgoldenrod b8860b "
    "darkgray a9a9a9 darkgreen 006400 darkgrey a9a9a9 darkkhaki bdb76b "
    "darkmagenta 8b008b darkolivegreen 556b2f darkorange ff8c00 "
    "darkorchid 9932cc darkred 8b0000 darksalmon e9967a darkseagreen 8fbc8f "
    "darkslateblue 483d8b darkslategray 2f4f4f darkslategrey 2f4f4f "
    "darkturquoise 00ced1 darkviolet 9400d3 deeppink ff1493 "
    "deepskyblue 00bfff dimgray 696969 dimgrey 696969 dodgerblue 1e90ff "
    "firebrick b22222 floralwhite fffaf0 forestgreen 228b22 fuchsia ff00ff "
    "gainsboro dcdcdc ghostwhite f8f8ff gold ffd700 goldenrod daa520 "
    "gray 808080 green 008000 greenyellow adff2f grey 808080 honeydew f0fff0 "
    "hotpink ff69b4 indianred cd5c5c indigo 4b0082 ivory fffff0 khaki f0e68c "
    "lavender e6e6fa lavenderblush fff0f5 lawngreen 7cfc00 "
    "lemonchiffon fffacd lightblue add8e6 lightcoral f08080 lightcyan e0ffff "
    "lightgoldenrodyellow fafad2 lightgray d3d3d3 lightgreen 90ee90 "
    "lightgrey d3d3d3 lightpink ffb6c1 lightsalmon ffa07a "
    "lightseagreen 20b2aa lightskyblue 87cefa lightslategray 778899 "
    "lightslategrey 778899 lightsteelblue b0c4de lightyellow ffffe0 "
    "lime 00ff00 limegreen 32cd32 linen faf0e6 magenta ff00ff maroon 800000 "
    "mediumaquamarine 66cdaa mediumblue 0000cd mediumorchid ba55d3 "
    "mediumpurple 9370db mediumseagreen 3cb371 mediumslateblue 7b68ee "
    "mediumspringgreen 00fa9a mediumturquoise 48d1cc mediumvioletred c71585 "
    "midnightblue 191970 mintcream f5fffa mistyrose ffe4e1 moccasin ffe4b5 "
    "navajowhite ffdead navy 000080 oldlace fdf5e6 olive 808000 "
    "olivedrab 6b8e23 orange ffa500 orangered ff4500 orchid da70d6 "
    "palegoldenrod eee8aa palegreen 98fb98 paleturquoise afeeee "
    "palevioletred db7093 papayawhip ffefd5 peachpuff ffdab9 peru cd853f "
    "pink ffc0cb plum dda0dd powderblue b0e0e6 purple 800080 "
    "rebeccapurple 663399 red ff0000 rosybrown bc8f8f royalblue 4169e1 "
    "saddlebrown 8b4513 salmon fa8072 sandybrown f4a460 seagreen 2e8b57 "
    "seashell fff5ee sienna a0522d silver c0c0c0 skyblue 87ceeb "
    "slateblue 6a5acd slategray 708090 slategrey 708090 snow fffafa "
    "springgreen 00ff7f steelblue 4682b4 tan d2b48c teal 008080 "
    "thistle d8bfd8 tomato ff6347 turquoise 40e0d0 violet ee82ee "
    "wheat f5deb3 white ffffff whitesmoke f5f5f5 yellow ffff00 "
    "yellowgreen 9acd32 ";

/* The # before digits may be left out, of which three stand for two each. */
int setters_background(const struct parser_option *option, void *field,
                       const char *text, struct err *err)
{
    struct options *opts = field;
    const size_t length = strlen(text);
    const char *at = colors, *digits = text + (*text == '#');
    const size_t n = strspn(digits, "0123456789abcdefABCDEF");
    (void)option;
    while (*at &&
           (strcspn(at, " ") != length || strncasecmp(at, text, length) != 0))
        at += strcspn(at, " ") + sizeof "f0f8ff" + 1;
    if (!*at && (digits[n] || (n != 3 && n != 6)))
        return fail(err,
                    "'%s' is not a color; expected a name of CSS such as "
                    "white, #RRGGBB or #RGB",
                    text);
    const uint32_t rgb =
        (uint32_t)strtoul(*at ? at + length : digits, NULL, 16);
    const bool three = !*at && n == 3;
    opts->background = true;
    for (int i = 0; i < 3; i++)
        opts->over[i] = three ? (rgb >> (8 - 4 * i) & 15) * 0x11
                              : rgb >> (16 - 8 * i) & 255;
    return 0;
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
    if (!slash || read_int(slash + 1, 1, INT_MAX, &n, err) ||
        read_int(first, 1, n, &k, err))
        return fail(err,
                    "'%s' is not a share; expected K/N with K from 1 "
                    "to N, e.g. 3/8",
                    text);
    opts->shard = (unsigned)k;
    opts->shards = (unsigned)n;
    return 0;
}
