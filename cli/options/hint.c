/* Guesses at what was meant by a wrong word. */
#include "cli/options/hint.h"

#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/files/path.h"
#include "cli/options/spelling.h"
#include "cli/options/value.h"
#include "codecs/codec.h"
#include "codecs/foreign.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define USAGE        "gimgxf rotate90 in.png out.png"
#define ANGLES                                                                 \
    "only multiples of 90 degrees are exact: rotate90 (clockwise), "           \
    "rotate180, rotate270"

/* ---- Operations --------------------------------------------------------- */

/* What other programs call the operations, if the letters do not tell: without
 * what is neither letter nor digit. */
static const struct {
    const char *word, *op;
} operations[] = {
    { "right", "rotate90" },
    { "rotateright", "rotate90" },
    { "clockwise", "rotate90" },
    { "left", "rotate270" },
    { "rotateleft", "rotate270" },
    { "counterclockwise", "rotate270" },
    { "anticlockwise", "rotate270" },
    { "transpose1", "rotate90" },
    { "transpose2", "rotate270" },
    { "transpose3", "transverse" },
    { "horizontal", "fliph" },
    { "fliphorizontal", "fliph" },
    { "fliplr", "fliph" },
    { "vertical", "flipv" },
    { "flipvertical", "flipv" },
    { "flipud", "flipv" },
    { "autorotate", "upright" },
    { "exif", "upright" },
    { "exiftranspose", "upright" },
    { "none", "copy" },
    { "convert", "copy" },
};

static const char *const names[] = {
    "rotate90", "rotate180", "rotate270",   "transpose", "transverse",
    "fliph",    "flipv",     "mirror",      "upright",   "copy",
    "hflip",    "vflip",     "auto-orient", "identity",
};

enum { BARE = 64 };

/* Copies the letters, in lower case, and the digits. */
static void make_bare(const char *word, char text[BARE])
{
    size_t n = 0;
    for (; *word && n < BARE - 1; word++)
        if (isalnum((unsigned char)*word))
            text[n++] = (char)tolower((unsigned char)*word);
    text[n] = '\0';
}

/* Returns the operation that another program calls so, or NULL. */
static const char *alias_of(const char *word)
{
    char text[BARE];
    make_bare(word, text);
    for (size_t i = 0; i < COUNT(operations); i++)
        if (strcmp(operations[i].word, text) == 0)
            return operations[i].op;
    return NULL;
}

/* Returns the operation that turns by the angle of a word such as "90", "-90",
 * "rot90" or "90cw"; "" if none does; NULL if it is no such word. */
static const char *rotation_of(const char *word)
{
    static const char *const turns[] = { "", "rotate90", "rotate180",
                                         "rotate270" };
    char text[BARE], *end;
    make_bare(word, text);
    const char *minus = strpbrk(word, "-_");
    const bool back = minus == word || strstr(text, "ccw");
    char *digits = text + strcspn(text, "0123456789");
    const unsigned long angle = strtoul(digits, &end, 10) % 360;
    *digits = '\0';
    if (*end && strcmp(end, "cw") != 0 && strcmp(end, "ccw") != 0)
        return NULL;
    if (strncmp("rotate", text, strlen(text)) != 0 && strcmp(text, "cw") != 0 &&
        strcmp(text, "ccw") != 0)
        return NULL;
    if (angle == 0)
        return strlen(text) < 3 ? NULL : "";
    if (angle % 180 && minus && minus != word) /* a hyphen, or a minus? */
        return "";
    return angle % 90 ? "" : turns[back ? 4 - angle / 90 : angle / 90];
}

static bool is_operation(const char *name)
{
    enum xform t;
    return xform_parse(name, &t) || strcmp(name, "upright") == 0 ||
           strcmp(name, "auto-orient") == 0;
}

enum { OPERATIONS = 80 };

/* Appends the operations of a word to a list. Returns false if some are none.
 */
static bool add_operations(char list[OPERATIONS], const char *word)
{
    char *copy = strdup(word), *rest = copy, *name;
    bool all = copy && *word;
    while (all && (name = strsep(&rest, ", "))) {
        all = !*name || (is_operation(name) &&
                         strlen(list) + strlen(name) + 2 < OPERATIONS);
        if (all && *name)
            strcat(strcat(list, *list ? "," : ""), name);
    }
    free(copy);
    return all;
}

int hint_operations(const char *const *word, int n, struct err *err)
{
    char list[OPERATIONS] = "";
    int count = 0;
    while (count < n && (count == 0 || access(word[count], F_OK)) &&
           add_operations(list, word[count]))
        count++;
    if (count < 2 && (count == 0 || !strchr(word[0], ' ')))
        return 0;
    return fail(err, "operations are joined by commas without spaces: %s",
                list);
}

bool hint_is_file(const char *word)
{
    struct stat st;
    const char *suffix = path_suffix(word);
    return strchr(word, '/') || stat(word, &st) == 0 || codec_by_name(suffix) ||
           foreign_by_suffix(suffix);
}

/* Returns the command that a word resembles, or NULL. */
static const char *command_like(const char *word)
{
    static const char *const commands[] = { "info",   "serve", "manifest",
                                            "relate", "check", "bench",
                                            "help" };
    if (strcasecmp(word, "identify") == 0)
        return "info";
    if (strcasecmp(word, "compare") == 0)
        return "relate";
    if (strcasecmp(word, "verify") == 0)
        return "check";
    if (strcasecmp(word, "version") == 0)
        return "--version";
    return spelling_nearest(word, commands, COUNT(commands));
}

int hint_operation(const char *word, bool command, struct err *err)
{
    const char *turn = rotation_of(word);
    const char *like = alias_of(word);
    if (!*word)
        return fail(err, "an operation is empty; expected e.g. rotate90 or "
                         "rotate90,fliph");
    if (!like && command && hint_is_file(word))
        return fail(err,
                    "'%s' is a file, not an operation, which comes first: "
                    "gimgxf OPERATION INPUT OUTPUT, e.g. " USAGE,
                    word);
    if (!like && turn && !*turn)
        return fail(err, "'%s' is not an operation; " ANGLES, word);
    if (!like)
        like = turn;
    if (!like && command)
        like = command_like(word);
    if (!like)
        like = spelling_nearest(word, names, COUNT(names));
    if (like)
        return fail(err, "'%s' is not an operation; did you mean '%s'?", word,
                    like);
    return fail(err,
                "'%s' is not an operation; expected rotate90, rotate180, "
                "rotate270, fliph, flipv, transpose, transverse, upright "
                "or copy",
                word);
}

/* ---- Options ------------------------------------------------------------ */

/* What other programs call their options, without what is neither letter nor
 * digit, and the answer. */
static const struct {
    const char *word, *said;
} options[] = {
    { "outdir", "did you mean '--directory'?" },
    { "outputdir", "did you mean '--directory'?" },
    { "outfile", "the output is the last name: " USAGE },
    { "input", "the input has no option: " USAGE },
    { "jobs", "did you mean '--threads'?" },
    { "workers", "did you mean '--threads'?" },
    { "gpu", "did you mean '--backend cuda'?" },
    { "cuda", "did you mean '--backend cuda'?" },
    { "compression", "did you mean '--png-level'?" },
    { "silent", "did you mean '--quiet'?" },
    { "skipexisting", "did you mean '--no-clobber'?" },
    { "overwrite", "an OUTPUT that exists is replaced without it; --in-place "
                   "replaces the inputs" },
    { "trim", "did you mean '--edge trim'?" },
    { "perfect", "did you mean '--lossless'?" },
    { "copy", "metadata is kept unless --strip drops it" },
    { "progressive", "leave it out: a progressive JPEG stays one, and others "
                     "stay what they are" },
    { "resize", "gimgxf turns pictures and does not scale them" },
    { "crop", "gimgxf turns pictures and does not crop them" },
    { "a", "exiftran -ai is gimgxf upright -i FILE" },
    { "9", "exiftran -9i is gimgxf rotate90 -i FILE" },
    { "1", "exiftran -1i is gimgxf rotate180 -i FILE" },
    { "2", "exiftran -2i is gimgxf rotate270 -i FILE" },
};

/* Copies the name out of "--name=value" or "-name". */
static void name_of(const char *word, char *name, size_t size)
{
    word += strspn(word, "-");
    snprintf(name, size, "%.*s", (int)strcspn(word, "="), word);
}

static const char *said_of(const char *name)
{
    char text[BARE];
    make_bare(name, text);
    for (size_t i = 0; i < COUNT(options); i++)
        if (strcmp(options[i].word, text) == 0)
            return options[i].said;
    return NULL;
}

enum { LONGS = 64 };

static size_t list_longs(const struct option *longs, const char *list[LONGS])
{
    size_t n = 0;
    for (; n < LONGS && longs[n].name; n++)
        list[n] = longs[n].name;
    return n;
}

static bool is_long(const char *name, const struct option *longs)
{
    while (longs->name && strcmp(longs->name, name) != 0)
        longs++;
    return longs->name != NULL;
}

bool hint_is_word(const char *word, const struct option *longs)
{
    char name[64];
    name_of(word, name, sizeof name);
    return word[0] == '-' && word[1] != '-' && strlen(name) > 1 &&
           (rotation_of(word) ||
            (strlen(name) > 2 && (is_long(name, longs) || is_operation(name) ||
                                  alias_of(name) || said_of(name))));
}

/* Refuses "--no": "could be --no-clobber or --no-restart". Returns 0 if
 * fewer than two options begin so. */
static int refuse_ambiguous(const char *word, const struct option *longs,
                            struct err *err)
{
    size_t length = strcspn(word, "="), count = 0, left, n = 0;
    char list[512] = "";
    if (length < 3 || word[1] != '-')
        return 0;
    for (const struct option *o = longs; o->name; o++)
        count += strncmp(o->name, word + 2, length - 2) == 0;
    if (count < 2)
        return 0;
    left = count;
    for (const struct option *o = longs; o->name && n < sizeof list; o++) {
        if (strncmp(o->name, word + 2, length - 2) != 0)
            continue;
        const char *before = left == count ? "" : left == 1 ? " or " : ", ";
        n += (size_t)snprintf(list + n, sizeof list - n, "%s--%s", before,
                              o->name);
        left--;
    }
    return fail(err, "%.*s: could be %s", (int)length, word, list);
}

/* Returns the operation that an option, with or without the word that follows,
 * is in other programs: "-90", "-rotate 90", "-flip horizontal". "": none turns
 * so; NULL: it is no operation. */
static const char *operation_of(const char *word, const char *name,
                                const char *next)
{
    const char *turn = rotation_of(isdigit((unsigned char)*name) ? word : name);
    const char *own = is_operation(name) ? name : turn ? turn : alias_of(name);
    turn = own && next ? rotation_of(next) : NULL;
    const char *with = own && next && !turn ? alias_of(next) : turn;
    return with ? with : own;
}

/* Writes the hint for an option that does not exist. Returns false if there is
 * none. */
static bool option_like(const char *word, const char *next,
                        const struct option *longs, struct err *hint)
{
    const char *list[LONGS];
    char name[64];
    name_of(word, name, sizeof name);
    const char *said = said_of(name), *op = operation_of(word, name, next);
    const char *near = spelling_nearest(name, list, list_longs(longs, list));
    if (!op && !near)
        op = spelling_nearest(name, names, COUNT(names));
    if (said)
        fail(hint, "%s", said);
    else if (op && *op)
        fail(hint,
             "an operation comes first and has no dashes: gimgxf %s INPUT "
             "OUTPUT",
             op);
    else if (op)
        fail(hint, "%s", ANGLES);
    else if (near)
        fail(hint, "did you mean '--%s'?", near);
    return said || op || near;
}

/* Refuses a letter, which may follow others in a word. */
static int refuse_letter(char letter, const char *word, struct err *err)
{
    const char name[] = { letter, '\0' };
    const bool first = word[1] == letter || word[1] == 'i';
    const char *said = first ? said_of(name) : NULL;
    if (word[1] == 'i' && word[2] == letter && !isalnum((unsigned char)letter))
        return fail(err,
                    "unknown option '%s'; -i takes no suffix; did you mean "
                    "'-i --backup %s'?",
                    word, word + 2);
    return fail(err, "unknown option '-%c'; %s", letter,
                said ? said : "see --help");
}

int hint_option(const char *word, const char *next, char letter,
                const struct option *longs, struct err *err)
{
    char name[64];
    struct err hint;
    int length = (int)strcspn(word, "=");
    name_of(word, name, sizeof name);
    if (letter && !hint_is_word(word, longs))
        return refuse_letter(letter, word, err);
    if (refuse_ambiguous(word, longs, err))
        return -1;
    if (is_long(name, longs))
        return fail(err,
                    "unknown option '%.*s'; a long option has two dashes: "
                    "--%s",
                    length, word, name);
    if (!option_like(word, next, longs, &hint))
        fail(&hint, "see --help");
    return fail(err, "unknown option '%.*s'; %s", length, word, hint.text);
}

/* ---- Formats ------------------------------------------------------------ */

static const char *suffix_like(const char *word)
{
    const char *nearest[CODECS];
    size_t n = 0;
    if (strlen(word) < 2)
        return NULL;
    for (size_t i = 0; i < CODECS; i++) {
        size_t count = 0;
        while (codecs[i]->suffixes[count])
            count++;
        const char *one = spelling_nearest(word, codecs[i]->suffixes, count);
        if (one)
            nearest[n++] = one;
    }
    return spelling_nearest(word, nearest, n);
}

int hint_format(const char *name, struct err *err)
{
    const struct foreign *foreign = foreign_by_suffix(name);
    const char *like = suffix_like(name);
    const char *codec_names[CODECS];
    char list[256];
    if (foreign)
        return foreign_refuse_output(foreign, err);
    for (size_t i = 0; i < CODECS; i++)
        codec_names[i] = codecs[i]->name;
    value_list_names(list, sizeof list, codec_names, CODECS);
    return fail(err, "'%s' is not a format; expected %s%s%s%s", name, list,
                like ? "; did you mean '" : "", like ? like : "",
                like ? "'?" : "");
}

int hint_output(const char *output, struct err *err)
{
    const char *suffix = path_suffix(output);
    const struct foreign *foreign = foreign_by_suffix(suffix);
    const char *like = suffix_like(suffix);
    if (foreign)
        return foreign_refuse_output(foreign, err);
    if (like)
        return fail(err,
                    "'.%s' is not a format; did you mean '.%s'? (--format "
                    "names one, too)",
                    suffix, like);
    return fail(err, "the name does not say which format to write; give it a "
                     "suffix such as .png or .jpg, or --format NAME");
}
