/* Guesses at what was meant by a wrong word. */
#include "cli/options/hint.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/files/path.h"
#include "cli/options/spelling.h"
#include "cli/options/value.h"
#include "codecs/codec.h"
#include "codecs/foreign.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define USAGE        "gimgxf rotate90 in.png out.png"

/* ---- Operations --------------------------------------------------------- */

/* What other programs call the operations. If a word may mean either of two,
 * both are named. */
static const struct alias {
    const char *word, *op;
    const char *more; /* what stands behind the operation */
} operations[] = {
    { "90", "rotate90", "" },
    { "+90", "rotate90", "" },
    { "180", "rotate180", "" },
    { "-180", "rotate180", "" },
    { "270", "rotate270", "" },
    { "-90", "rotate270", "" },
    { "-270", "rotate90", "" },
    { "0", "copy", "" },
    { "360", "copy", "" },
    { "rotate", "rotate90", ", 'rotate180' or 'rotate270'" },
    { "rot", "rotate90", ", 'rotate180' or 'rotate270'" },
    { "turn", "rotate90", ", 'rotate180' or 'rotate270'" },
    { "rotate-90", "rotate90", " (clockwise) or 'rotate270'" },
    { "rotate-180", "rotate180", "" },
    { "rotate-270", "rotate270", " (clockwise) or 'rotate90'" },
    { "rotate_90", "rotate90", " (clockwise) or 'rotate270'" },
    { "rotate_180", "rotate180", "" },
    { "rotate_270", "rotate270", " (clockwise) or 'rotate90'" },
    { "rot90", "rotate90", " (clockwise) or 'rotate270'" },
    { "rot180", "rotate180", "" },
    { "rot270", "rotate270", " (clockwise) or 'rotate90'" },
    { "r90", "rotate90", "" },
    { "r180", "rotate180", "" },
    { "r270", "rotate270", "" },
    { "90cw", "rotate90", "" },
    { "90ccw", "rotate270", "" },
    { "cw90", "rotate90", "" },
    { "ccw90", "rotate270", "" },
    { "right", "rotate90", "" },
    { "left", "rotate270", "" },
    { "rotate-right", "rotate90", "" },
    { "rotate-left", "rotate270", "" },
    { "rotateright", "rotate90", "" },
    { "rotateleft", "rotate270", "" },
    { "clockwise", "rotate90", "" },
    { "counterclockwise", "rotate270", "" },
    { "anticlockwise", "rotate270", "" },
    { "upside-down", "rotate180", "" },
    { "horizontal", "fliph", "" },
    { "flip-h", "fliph", "" },
    { "flip_h", "fliph", "" },
    { "flip-horizontal", "fliph", "" },
    { "flip_horizontal", "fliph", "" },
    { "fliphorizontal", "fliph", "" },
    { "flip_left_right", "fliph", "" },
    { "fliplr", "fliph", "" },
    { "mirror-horizontal", "fliph", "" },
    { "mirror-x", "fliph", "" },
    { "vertical", "flipv", "" },
    { "flip-v", "flipv", "" },
    { "flip_v", "flipv", "" },
    { "flip-vertical", "flipv", "" },
    { "flip_vertical", "flipv", "" },
    { "flipvertical", "flipv", "" },
    { "flip_top_bottom", "flipv", "" },
    { "flipud", "flipv", "" },
    { "mirror-vertical", "flipv", "" },
    { "mirror-y", "flipv", "" },
    { "transpose=0", "transpose", "" },
    { "transpose=1", "rotate90", "" },
    { "transpose=2", "rotate270", "" },
    { "transpose=3", "transverse", "" },
    { "autorotate", "upright", "" },
    { "auto-rotate", "upright", "" },
    { "auto_rotate", "upright", "" },
    { "autorot", "upright", "" },
    { "autoorient", "upright", "" },
    { "auto_orient", "upright", "" },
    { "auto", "upright", "" },
    { "orient", "upright", "" },
    { "exif", "upright", "" },
    { "exif_transpose", "upright", "" },
    { "exif-transpose", "upright", "" },
    { "exif-rotate", "upright", "" },
    { "normalize", "upright", "" },
    { "none", "copy", "" },
    { "noop", "copy", "" },
    { "convert", "copy", "" },
};

static const char *const names[] = {
    "rotate90", "rotate180", "rotate270",   "transpose", "transverse",
    "fliph",    "flipv",     "mirror",      "upright",   "copy",
    "hflip",    "vflip",     "auto-orient", "identity",
};

static const struct alias *alias_of(const char *word)
{
    for (size_t i = 0; i < COUNT(operations); i++)
        if (strcasecmp(operations[i].word, word) == 0)
            return &operations[i];
    return NULL;
}

static bool is_file(const char *word)
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
    if (strcasecmp(word, "identify") == 0 || strcasecmp(word, "show") == 0)
        return "info";
    if (strcasecmp(word, "compare") == 0)
        return "relate";
    if (strcasecmp(word, "verify") == 0 || strcasecmp(word, "test") == 0)
        return "check";
    if (strcasecmp(word, "version") == 0)
        return "--version";
    return spelling_nearest(word, commands, COUNT(commands));
}

int hint_operation(const char *word, bool command, struct err *err)
{
    const struct alias *alias = alias_of(word);
    const char *like = command ? command_like(word) : NULL;
    if (!*word)
        return fail(err, "an operation is empty; expected e.g. rotate90 or "
                         "rotate90,fliph");
    if (alias)
        return fail(err, "'%s' is not an operation; did you mean '%s'%s?", word,
                    alias->op, alias->more);
    if (is_file(word) && command)
        return fail(err,
                    "'%s' is a file, not an operation, which comes first: "
                    "gimgxf OPERATION INPUT OUTPUT, e.g. " USAGE,
                    word);
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

/* What other programs call their options, and the answer. */
static const struct {
    const char *word, *said;
} options[] = {
    { "outdir", "did you mean '--directory'?" },
    { "out-dir", "did you mean '--directory'?" },
    { "output-dir", "did you mean '--directory'?" },
    { "output-directory", "did you mean '--directory'?" },
    { "outfile", "the output is the last name: " USAGE },
    { "output-file", "the output is the last name: " USAGE },
    { "input", "the input has no option: " USAGE },
    { "jobs", "did you mean '--threads'?" },
    { "workers", "did you mean '--threads'?" },
    { "parallel", "did you mean '--threads'?" },
    { "gpu", "did you mean '--backend cuda'?" },
    { "cuda", "did you mean '--backend cuda'?" },
    { "cpu", "did you mean '--backend cpu'?" },
    { "compression", "did you mean '--png-level'?" },
    { "compression-level", "did you mean '--png-level'?" },
    { "level", "did you mean '--png-level'?" },
    { "silent", "did you mean '--quiet'?" },
    { "simulate", "did you mean '--dry-run'?" },
    { "just-print", "did you mean '--dry-run'?" },
    { "skip-existing", "did you mean '--no-clobber'?" },
    { "no-overwrite", "did you mean '--no-clobber'?" },
    { "overwrite", "an OUTPUT that exists is replaced without it; --in-place "
                   "replaces the inputs" },
    { "replace", "did you mean '--in-place'?" },
    { "type", "did you mean '--format'?" },
    { "bits", "did you mean '--depth'?" },
    { "trim", "did you mean '--edge trim'?" },
    { "perfect", "did you mean '--edge fail'?" },
    { "copy-all", "metadata is kept unless --strip is given" },
    { "resize", "gimgxf turns pictures and does not scale them" },
    { "scale", "gimgxf turns pictures and does not scale them" },
    { "crop", "gimgxf turns pictures and does not crop them" },
};

/* Copies the name out of "--name=value" or "-name". */
static void name_of(const char *word, char *name, size_t size)
{
    word += strspn(word, "-");
    snprintf(name, size, "%.*s", (int)strcspn(word, "="), word);
}

static const char *said_of(const char *name)
{
    for (size_t i = 0; i < COUNT(options); i++)
        if (strcasecmp(options[i].word, name) == 0)
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

static bool is_operation(const char *name)
{
    enum xform t;
    return xform_parse(name, &t) || strcmp(name, "upright") == 0 ||
           strcmp(name, "auto-orient") == 0;
}

bool hint_is_word(const char *word, const struct option *longs)
{
    char name[64];
    name_of(word, name, sizeof name);
    if (word[0] != '-' || word[1] == '-')
        return false;
    return alias_of(word) ||
           (strlen(name) > 2 && (is_long(name, longs) || is_operation(name) ||
                                 alias_of(name) || said_of(name)));
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

/* Returns the hint for an option that does not exist, or NULL. */
static const char *option_like(const char *name, const struct option *longs,
                               char *text, size_t size)
{
    const char *list[LONGS];
    const char *said = said_of(name);
    const struct alias *alias = alias_of(name);
    const char *near = spelling_nearest(name, list, list_longs(longs, list));
    const char *op = is_operation(name) ? name : alias ? alias->op : NULL;
    if (said)
        return said;
    if (!op && !near)
        op = spelling_nearest(name, names, COUNT(names));
    if (op)
        snprintf(text, size,
                 "an operation comes first and has no dashes: gimgxf %s INPUT "
                 "OUTPUT",
                 op);
    else if (near)
        snprintf(text, size, "did you mean '--%s'?", near);
    return op || near ? text : NULL;
}

int hint_option(const char *word, const struct option *longs, struct err *err)
{
    char name[64], text[256];
    const struct alias *turn = alias_of(word);
    const char *said = NULL;
    int length = (int)strcspn(word, "=");
    name_of(word, name, sizeof name);
    if (refuse_ambiguous(word, longs, err))
        return -1;
    if (turn)
        return fail(err,
                    "unknown option '%s'; did you mean the operation "
                    "'%s'?",
                    word, turn->op);
    if (is_long(name, longs))
        return fail(err,
                    "unknown option '%.*s'; a long option has two dashes: "
                    "--%s",
                    length, word, name);
    if (strlen(name) > 1)
        said = option_like(name, longs, text, sizeof text);
    return fail(err, "unknown option '%.*s'; %s", length, word,
                said ? said : "--help lists all");
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
