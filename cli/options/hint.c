/* Guesses at what was meant by a wrong word: by its letters, and by a few words
 * of other programs. */
#include "cli/options/hint.h"

#include <ctype.h>
#include <getopt.h>
#include <limits.h>
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

enum { LONGEST = 40 };

/* Counts the letters that have to be inserted, removed, replaced, or exchanged
 * with the next one, to make `a` of `b`, which are no longer than that. By the
 * table of Wagner and Fischer: cost[i][j] is the distance of the first i
 * letters of a and the first j of b. */
static unsigned distance(const char *a, const char *b)
{
    unsigned cost[LONGEST + 1][LONGEST + 1];
    const size_t n = strlen(a), m = strlen(b);
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                cost[i][j] = (unsigned)(i + j);
                continue;
            }
            const int x = tolower((unsigned char)a[i - 1]);
            const int y = tolower((unsigned char)b[j - 1]);
            const bool exchanged = i > 1 && j > 1 &&
                                   x == tolower((unsigned char)b[j - 2]) &&
                                   tolower((unsigned char)a[i - 2]) == y;
            const unsigned steps[] = {
                cost[i - 1][j - 1] + (x != y),
                cost[i - 1][j] + 1,
                cost[i][j - 1] + 1,
                exchanged ? cost[i - 2][j - 2] + 1 : UINT_MAX,
            };
            cost[i][j] = steps[0];
            for (size_t k = 1; k < COUNT(steps); k++)
                if (steps[k] < cost[i][j])
                    cost[i][j] = steps[k];
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
    for (size_t i = 0; i < n && strlen(word) <= LONGEST; i++) {
        const unsigned far = distance(word, words[i]);
        nearest = far < least ? words[i] : nearest;
        least = far < least ? far : least;
    }
    return nearest;
}

/* Joins words, each behind `lead`: "a, b or c". */
static void join(char text[512], const char *lead, const char *const *words,
                 size_t n)
{
    size_t length = 0;
    *text = '\0';
    for (size_t i = 0; i < n && length < 512; i++)
        length += (size_t)snprintf(text + length, 512 - length, "%s%s%s",
                                   i == 0       ? ""
                                   : i + 1 == n ? " or "
                                                : ", ",
                                   lead, words[i]);
}

/* Says that a word is not `what`, that one of n names was expected, and which
 * is `like` it, unless that is NULL. */
static int expected(const char *word, const char *what,
                    const char *const *names, size_t n, const char *like,
                    struct err *err)
{
    char list[512];
    join(list, "", names, n);
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

const struct hint_word hint_words[] = {
    { "rotate90", "a quarter turn clockwise" },
    { "rotate180", "half a turn" },
    { "rotate270", "a quarter turn counterclockwise" },
    { "transpose", "mirror at the diagonal from the top left" },
    { "transverse", "mirror at the diagonal from the top right" },
    { "fliph", "exchange left and right" },
    { "flipv", "exchange top and bottom" },
    { "upright", "as the orientation tag asks" },
    { "copy", "no turn" },
    { "cw", "rotate90" },
    { "ccw", "rotate270" },
    { "mirror", "fliph" },
    { "flop", "fliph" },
    { "hflip", "fliph" },
    { "flip", "flipv" },
    { "vflip", "flipv" },
    { "auto-orient", "upright" },
    { "identity", "copy" },
    { "info", "describe pictures" },
    { "check", "find damaged pictures" },
    { "relate", "find the turn between two pictures" },
    { "serve", "do jobs from standard input" },
    { "bench", "time and check the kernels" },
    { "help", "how to use gimgxf, or a command" },
    { NULL, NULL },
};

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

bool hint_is_file(const char *word)
{
    struct stat st;
    const char *suffix = path_suffix(word);
    return strchr(word, '/') || stat(word, &st) == 0 || codec_by_name(suffix) ||
           foreign_by_suffix(suffix);
}

int hint_operations(const char *const *word, int n, struct err *err)
{
    char first[32];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(word[0], ", "), word[0]);
    const bool follows = n > 1 && (*word[1] == ',' || is_operation(word[1])) &&
                         access(word[1], F_OK) != 0;
    if (!is_operation(first) || (!follows && !strchr(word[0], ' ')))
        return 0;
    return fail(err, "operations are joined by commas without spaces, such as "
                     "rotate180,flip");
}

int hint_operation(const char *word, bool command, struct err *err)
{
    const char *names[COUNT(hint_words)], *said = said_of(word);
    size_t n = 0;
    while (command ? hint_words[n].name != NULL : n < HINT_OPERATIONS) {
        names[n] = hint_words[n].name;
        n++;
    }
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
    const char *near = nearest_of(word, names, n);
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

enum { NAME = 64, OPTIONS = 64 }; /* bytes of a name; names, at most */

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
    const size_t length = strcspn(word, "=");
    const char *names[OPTIONS];
    char list[512];
    size_t n = 0;
    if (length < 3 || word[1] != '-')
        return 0;
    for (; longs->name; longs++)
        if (strncmp(longs->name, word + 2, length - 2) == 0)
            names[n++] = longs->name;
    if (n < 2)
        return 0;
    join(list, "--", names, n);
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
    const char *list[OPTIONS], *near;
    char name[NAME];
    struct err hint;
    size_t n = 0;
    int length = (int)strcspn(word, "=");
    name_of(word, name);
    if (letter && !hint_is_word(word, longs))
        return refuse_letter(letter, word, err);
    if (refuse_ambiguous(word, longs, err))
        return -1;
    for (; longs[n].name; n++)
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
