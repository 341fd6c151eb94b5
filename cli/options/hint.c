/* Guesses at what was meant by a wrong word: by its letters, and by a few words
 * of other programs. */
#include "cli/options/parser.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/files/path.h"
#include "codecs/codec.h"
#include "codecs/foreign.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* What other programs call operations, commands and options, and the answer. */
static const struct {
    const char *word, *said;
} others[] = {
    { "left", "did you mean 'rotate270'?" },
    { "right", "did you mean 'rotate90'?" },
    { "rot90", "did you mean 'rotate90'?" },
    { "rotate", "write rotate90 (clockwise), rotate180 or rotate270 first, "
                "without a dash" },
    { "rotate-90", "did you mean 'rotate270'?" },
    { "flip", "write fliph (left and right change places) or flipv first, "
              "without a dash" },
    { "transpose=1", "did you mean 'rotate90'?" },
    { "transpose=2", "did you mean 'rotate270'?" },
    { "autorotate", "did you mean 'upright'?" },
    { "identify", "did you mean 'info'?" },
    { "version", "did you mean '--version'?" },
    { "outfile", "write -o NAME, or the name behind that of the input" },
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
};

const char *hint_said_of(const char *word)
{
    const size_t n = strcspn(word, "=");
    for (size_t i = 0; i < COUNT(others); i++)
        if (strcasecmp(others[i].word, word) == 0 ||
            (strncasecmp(others[i].word, word, n) == 0 && !others[i].word[n]))
            return others[i].said;
    return NULL;
}

/* ---- Letters ------------------------------------------------------------ */

enum { LONGEST = 40 };

/* The word nearest to another one, the first of several. */
struct nearest {
    const char *to, *word; /* NULL: none is near */
    unsigned far;
};

/* Begins without a word: none is near of which more than a third of the letters
 * would be wrong. */
static struct nearest nearest_to(const char *word)
{
    const size_t length = strlen(word);
    return (struct nearest){
        .to = word,
        .far = length > LONGEST ? 0
               : length < 9     ? (unsigned)length / 3 + 1
                                : 4,
    };
}

/* Counts the letters that have to be inserted, removed, replaced, or exchanged
 * with the next one, to make one word of the other. By the table of Wagner and
 * Fischer: cost[i][j] is the distance of the first i letters of a and the first
 * j of b. */
static void look_at(struct nearest *nearest, const char *b)
{
    unsigned cost[LONGEST + 1][LONGEST + 1];
    const char *a = nearest->to;
    const size_t n = strlen(a), m = strlen(b);
    for (size_t i = 0; nearest->far && i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            unsigned least = (unsigned)(i + j);
            if (i && j) {
                least = cost[i - 1][j - 1] +
                        (strncasecmp(a + i - 1, b + j - 1, 1) != 0);
                if (cost[i - 1][j] < least)
                    least = cost[i - 1][j] + 1;
                if (cost[i][j - 1] < least)
                    least = cost[i][j - 1] + 1;
            }
            if (i > 1 && j > 1 && strncasecmp(a + i - 2, b + j - 1, 1) == 0 &&
                strncasecmp(a + i - 1, b + j - 2, 1) == 0 &&
                cost[i - 2][j - 2] < least)
                least = cost[i - 2][j - 2] + 1;
            cost[i][j] = least;
        }
    if (nearest->far && cost[n][m] < nearest->far) {
        nearest->word = b;
        nearest->far = cost[n][m];
    }
}

/* Adds to a list of words, "a, b or c". */
static void list_add(struct err *list, bool first, bool last, const char *word)
{
    const size_t n = first ? 0 : strlen(list->text);
    snprintf(list->text + n, sizeof list->text - n, "%s%s",
             first  ? ""
             : last ? " or "
                    : ", ",
             word);
}

int hint_choice(const char *word, const char *const *names, size_t n,
                struct err *err)
{
    struct nearest like = nearest_to(word);
    struct err list;
    for (size_t i = 0; i < n; i++) {
        list_add(&list, i == 0, i + 1 == n, names[i]);
        look_at(&like, names[i]);
    }
    return fail(err, "'%s' is not known; expected %s%s%s%s", word, list.text,
                like.word ? "; did you mean '" : "", like.word ? like.word : "",
                like.word ? "'?" : "");
}

/* ---- Operations --------------------------------------------------------- */

/* What stands first on the command line. */
static const char *const words[] = {
    "rotate90", "rotate180", "rotate270",   "transpose", "transverse",
    "fliph",    "flipv",     "upright",     "copy",      "cw",
    "ccw",      "mirror",    "flop",        "flip",      "hflip",
    "vflip",    "identity",  "auto-orient", "info",      "check",
    "relate",   "serve",     "bench",       "help",
};
enum { OPERATIONS = 18, WORDS = COUNT(words) }; /* commands follow operations */

bool hint_is_file(const char *word)
{
    struct stat st;
    const char *suffix = path_suffix(word);
    return strchr(word, '/') || stat(word, &st) == 0 || codec_by_name(suffix) ||
           foreign_by_suffix(suffix);
}

int hint_operation(const char *word, bool command, struct err *err)
{
    struct nearest like = nearest_to(word);
    /* An angle, or a rotation by none that is exact: "90", "r90", "rotate45";
     * but not "rotat90". */
    const size_t n = strcspn(word, "0123456789");
    const bool angle = word[n] && (n < 2 || (strncasecmp(word, "rot", 3) == 0 &&
                                             strtoul(word + n, NULL, 10) % 90));
    const char *said = angle ? "only rotate90 (clockwise), rotate180 "
                               "and rotate270 are exact"
                             : hint_said_of(word);
    if (!*word)
        return fail(err, "an operation is empty; they are joined by commas "
                         "without spaces, such as rotate180,flip");
    if (!said && command && hint_is_file(word))
        return fail(err,
                    "'%s' is a file, not an operation, which comes first: "
                    "gimgxf OPERATION INPUT OUTPUT, e.g. gimgxf rotate90 "
                    "in.png out.png",
                    word);
    if (said)
        return fail(err, "'%s' is not an operation; %s", word, said);
    for (int i = 0; i < (command ? WORDS : OPERATIONS); i++)
        look_at(&like, words[i]);
    if (like.word)
        return fail(err, "'%s' is not an operation; did you mean '%s'?", word,
                    like.word);
    return fail(err,
                "'%s' is not an operation; expected rotate90, rotate180, "
                "rotate270, fliph, flipv, transpose, transverse, upright "
                "or copy",
                word);
}

/* ---- Options ------------------------------------------------------------ */

int hint_option(const char *word, const struct parser_table *table,
                struct err *err)
{
    const int length = (int)strcspn(word, "=");
    const int dashes = (int)strspn(word, "-");
    char name[64];
    snprintf(name, sizeof name, "%.*s", length - dashes, word + dashes);
    struct nearest like = nearest_to(name);
    struct err list;
    unsigned begin = 0; /* so many options begin so */
    bool exists = false, operation = false;
    for (size_t i = 0; i < table->count; i++) {
        const char *other = table->option[i].name;
        look_at(&like, other);
        exists = exists || strcmp(other, name) == 0;
        if (dashes == 2 && strncmp(other, name, strlen(name)) == 0)
            list_add(&list, begin++ == 0, false, other);
    }
    for (size_t i = 0; i < OPERATIONS; i++)
        operation = operation || strcmp(words[i], name) == 0;
    if (begin > 1)
        return fail(err, "%.*s: could be one of %s", length, word, list.text);
#define UNKNOWN "unknown option '%.*s'; "
    if (exists)
        return fail(err, UNKNOWN "a long option has two dashes: --%s", length,
                    word, name);
    if (hint_said_of(name))
        return fail(err, UNKNOWN "%s", length, word, hint_said_of(name));
    if (operation)
        return fail(err,
                    UNKNOWN "an operation comes first and has no dashes: "
                            "gimgxf %s INPUT OUTPUT",
                    length, word, name);
    if (like.word && dashes == 2)
        return fail(err, UNKNOWN "did you mean '--%s'?", length, word,
                    like.word);
    return fail(err, UNKNOWN "see --help", length, word);
#undef UNKNOWN
}

/* ---- Formats ------------------------------------------------------------ */

/* Says what format was probably meant. Returns false if that is not known. */
static bool explain_format(const char *name, struct err *err)
{
    const struct foreign *foreign = foreign_by_suffix(name);
    struct nearest like = nearest_to(name);
    if (foreign) {
        foreign_refuse_output(foreign, err);
        return true;
    }
    for (size_t i = 0; codecs[i] && strlen(name) > 1; i++)
        for (size_t k = 0; codecs[i]->suffixes[k]; k++)
            look_at(&like, codecs[i]->suffixes[k]);
    if (like.word)
        fail(err, "'%s' is not a format; did you mean '%s'?", name, like.word);
    return like.word;
}

int hint_format(const char *name, struct err *err)
{
    return explain_format(name, err)
               ? -1
               : fail(err, "'%s' is not a format; see --help", name);
}

int hint_suffix(const char *suffix, struct err *err)
{
    if (explain_format(suffix, err))
        return -1;
    return fail(err, "the name does not say which format to write; give it a "
                     "suffix such as .png or .jpg, or --format NAME");
}
