/* Guesses at what was meant by a wrong word: by its letters, and by a few words
 * of other programs. */
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
#include "codecs/codec.h"
#include "codecs/foreign.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define ANGLES                                                                 \
    "only multiples of 90 degrees are exact: rotate90 (clockwise), "           \
    "rotate180, rotate270"
#define COMES_FIRST                                                            \
    "an operation comes first and has no dashes: gimgxf %s INPUT OUTPUT"

/* What other programs call operations, commands and options, and the answer. */
static const struct {
    const char *word, *said;
} others[] = {
    { "left", "did you mean 'rotate270'?" },
    { "right", "did you mean 'rotate90'?" },
    { "rot90", "did you mean 'rotate90'?" }, /* numpy's */
    { "transpose=1", "did you mean 'rotate90'?" },
    { "transpose=2", "did you mean 'rotate270'?" },
    { "autorotate", "did you mean 'upright'?" },
    { "identify", "did you mean 'info'?" },
    { "version", "did you mean '--version'?" },
    { "outdir", "did you mean '--directory'?" },
    { "jobs", "did you mean '--threads'?" },
    { "gpu", "did you mean '--backend cuda'?" },
    { "silent", "did you mean '--quiet'?" },
    { "overwrite", "did you mean '--force'?" },
    { "trim", "did you mean '--edge trim'?" },
    { "perfect", "did you mean '--lossless'?" },
    { "copy", "metadata is kept unless --strip drops it" },
    { "progressive", "leave it out: a progressive JPEG stays one, and others "
                     "stay what they are" },
    { "resize", "gimgxf turns pictures and does not scale them" },
    { "crop", "gimgxf turns pictures and does not crop them" },
    { "manifest", "cat joins manifests, and --resume says what is not done" },
    { "a", "exiftran -ai is gimgxf upright -i FILE" },
    { "9", "exiftran -9i is gimgxf rotate90 -i FILE" },
};

static const char *said_of(const char *word)
{
    for (size_t i = 0; i < COUNT(others); i++)
        if (strcasecmp(others[i].word, word) == 0)
            return others[i].said;
    return NULL;
}

/* ---- Letters ------------------------------------------------------------ */

static unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

enum { LONGEST = 40, FAR = 1000 };

/* Counts the letters that have to be inserted, removed, replaced, or exchanged
 * with the next one, to make `a` of `b`; FAR for longer words than it looks at.
 * By the table of Wagner and Fischer: cost[i][j] is the distance of the first i
 * letters of a and the first j of b. */
static unsigned distance(const char *a, const char *b)
{
    unsigned cost[LONGEST + 1][LONGEST + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return FAR;
    for (size_t i = 0; i <= n; i++)
        cost[i][0] = (unsigned)i;
    for (size_t j = 0; j <= m; j++)
        cost[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            char x = lower(a[i - 1]), y = lower(b[j - 1]);
            unsigned least = cost[i - 1][j - 1] + (x != y);
            least = min(least, cost[i - 1][j] + 1);
            least = min(least, cost[i][j - 1] + 1);
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y)
                least = min(least, cost[i - 2][j - 2] + 1);
            cost[i][j] = least;
        }
    return cost[n][m];
}

/* Returns the word of n `words` that is nearest to `word`, the first of
 * several, or NULL if more than a third of its letters would be wrong. */
static const char *nearest_of(const char *word, const char *const *words,
                              size_t n)
{
    unsigned least = (unsigned)(strlen(word) < 9 ? strlen(word) / 3 : 3) + 1;
    const char *nearest = NULL;
    for (size_t i = 0; i < n; i++) {
        unsigned far = distance(word, words[i]);
        if (far < least) {
            least = far;
            nearest = words[i];
        }
    }
    return nearest;
}

/* Says that a word is not `what`, that one of n names was expected, and which
 * is `like` it, unless that is NULL. */
static int expected(const char *word, const char *what,
                    const char *const *names, size_t n, const char *like,
                    struct err *err)
{
    char list[256];
    size_t length = 0;
    for (size_t i = 0; i < n && length < sizeof list; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                   i == 0       ? ""
                                   : i + 1 == n ? " or "
                                                : ", ",
                                   names[i]);
    return fail(err, "'%s' is not %s; expected %s%s%s%s", word, what, list,
                like ? "; did you mean '" : "", like ? like : "",
                like ? "'?" : "");
}

int hint_choice(const char *word, const char *const *names, size_t n,
                struct err *err)
{
    return expected(word, "known", names, n, nearest_of(word, names, n), err);
}

/* ---- Operations --------------------------------------------------------- */

static bool is_operation(const char *name)
{
    enum xform t;
    return xform_parse(name, &t) || strcmp(name, "upright") == 0 ||
           strcmp(name, "auto-orient") == 0;
}

/* Returns whether a word is an angle, or a rotation by none that is exact:
 * "90", "r90", "rotate", "rotate45"; but not "rotat90". */
static bool is_angle(const char *word)
{
    const size_t n = strcspn(word, "0123456789");
    return (word[n] && n < 2) ||
           (strncasecmp(word, "rot", 3) == 0 &&
            (!word[n] || strtoul(word + n, NULL, 10) % 90));
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

int hint_operation(const char *word, bool command, struct err *err)
{
    static const char *const names[] = {
        "rotate90", "rotate180", "rotate270",   "transpose", "transverse",
        "fliph",    "flipv",     "mirror",      "upright",   "copy",
        "hflip",    "vflip",     "auto-orient", "identity",  "info",
        "serve",    "relate",    "check",       "bench",     "help",
    };
    enum { COMMANDS = 6 }; /* at the end */
    const char *said = said_of(word);
    if (!*word)
        return fail(err, "an operation is empty; expected e.g. rotate90 or "
                         "rotate90,fliph");
    if (!said && command && hint_is_file(word))
        return fail(err,
                    "'%s' is a file, not an operation, which comes first: "
                    "gimgxf OPERATION INPUT OUTPUT, e.g. gimgxf rotate90 "
                    "in.png out.png",
                    word);
    if (said || is_angle(word))
        return fail(err, "'%s' is not an operation; %s", word,
                    said ? said : ANGLES);
    const char *near =
        nearest_of(word, names, COUNT(names) - (command ? 0 : COMMANDS));
    if (near)
        return fail(err, "'%s' is not an operation; did you mean '%s'?", word,
                    near);
    return fail(err,
                "'%s' is not an operation; expected rotate90, rotate180, "
                "rotate270, fliph, flipv, transpose, transverse, upright "
                "or copy",
                word);
}

/* ---- Options ------------------------------------------------------------ */

enum { NAME = 64 };

/* Copies the name out of "--name=value" or "-name". */
static void name_of(const char *word, char name[NAME])
{
    word += strspn(word, "-");
    snprintf(name, NAME, "%.*s", (int)strcspn(word, "="), word);
}

static bool is_long(const char *name, const struct option *longs)
{
    while (longs->name && strcmp(longs->name, name) != 0)
        longs++;
    return longs->name != NULL;
}

bool hint_is_word(const char *word, const struct option *longs)
{
    char name[NAME];
    name_of(word, name);
    return word[0] == '-' && word[1] != '-' && strlen(name) > 2 &&
           (is_long(name, longs) || is_operation(name) || said_of(name) ||
            strncasecmp(name, "rot", 3) == 0);
}

/* Refuses "--no": "could be --no-clobber or --no-restart". Returns 0 if
 * fewer than two options begin so. */
static int refuse_ambiguous(const char *word, const struct option *longs,
                            struct err *err)
{
    size_t length = strcspn(word, "="), left = 0, n = 0;
    char list[512] = "";
    if (length < 3 || word[1] != '-')
        return 0;
    for (const struct option *o = longs; o->name; o++)
        left += strncmp(o->name, word + 2, length - 2) == 0;
    if (left < 2)
        return 0;
    for (const struct option *o = longs; o->name && n < sizeof list; o++)
        if (strncmp(o->name, word + 2, length - 2) == 0) {
            left--;
            n += (size_t)snprintf(list + n, sizeof list - n, "--%s%s", o->name,
                                  left > 1   ? ", "
                                  : left > 0 ? " or "
                                             : "");
        }
    return fail(err, "%.*s: could be %s", (int)length, word, list);
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

int hint_option(const char *word, char letter, const struct option *longs,
                struct err *err)
{
    enum { LONGS = 64 };
    const char *list[LONGS], *near;
    char name[NAME];
    struct err hint;
    size_t n = 0;
    int length = (int)strcspn(word, "=");
    name_of(word, name);
    if (letter && !hint_is_word(word, longs))
        return refuse_letter(letter, word, err);
    if (refuse_ambiguous(word, longs, err))
        return -1;
    for (; n < LONGS && longs[n].name; n++)
        list[n] = longs[n].name;
    if (is_long(name, longs))
        fail(&hint, "a long option has two dashes: --%s", name);
    else if (said_of(name))
        fail(&hint, "%s", said_of(name));
    else if (is_operation(name) || is_angle(name))
        fail(&hint, COMES_FIRST, is_operation(name) ? name : "rotate90");
    else if ((near = nearest_of(name, list, n)))
        fail(&hint, "did you mean '--%s'?", near);
    else
        fail(&hint, "see --help");
    return fail(err, "unknown option '%.*s'; %s", length, word, hint.text);
}

/* ---- Formats ------------------------------------------------------------ */

static const char *suffix_like(const char *word)
{
    const char *nearest[CODECS_MAX];
    size_t n = 0;
    if (strlen(word) < 2)
        return NULL;
    for (size_t i = 0; codecs[i]; i++) {
        size_t count = 0;
        while (codecs[i]->suffixes[count])
            count++;
        const char *one = nearest_of(word, codecs[i]->suffixes, count);
        if (one)
            nearest[n++] = one;
    }
    return nearest_of(word, nearest, n);
}

int hint_format(const char *name, struct err *err)
{
    const struct foreign *foreign = foreign_by_suffix(name);
    const char *names[CODECS_MAX];
    size_t n = 0;
    if (foreign)
        return foreign_refuse_output(foreign, err);
    for (; codecs[n]; n++)
        names[n] = codecs[n]->name;
    return expected(name, "a format", names, n, suffix_like(name), err);
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
