/* The command line. */
#include "cli/options/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options/colors.h"
#include "cli/options/hint.h"
#include "cli/select/path.h"
#include "cli/options/value.h"
#include "codecs/metadata/drop.h"
#include "cuda/backend.h"

/* The most pixels of a picture, unless --max-pixels says otherwise: more than
 * any camera has, and a PNG of a few MB that claims more is a bomb. */
enum { PIXELS_MAX = 500 * 1000 * 1000 };

/* The most threads: more than any machine has processors that this is for. */
enum { THREADS_MAX = 1024 };

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Values ------------------------------------------------------------ */

static int set_format(struct options *o, const char *value, struct err *err)
{
    o->format_name = value;
    return codec_by_name(value) ? 0 : hint_format(value, err);
}

/* Takes back --no-clobber; what is given last holds. */
static int set_force(struct options *o, const char *value, struct err *err)
{
    (void)value, (void)err;
    o->no_clobber = false;
    return 0;
}

static int set_strip(struct options *o, const char *value, struct err *err)
{
    static const char *const names[] = { "all", "metadata", "gps", "thumbnail",
                                         "xmp", "exif", "icc" };
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
    const char *at = value ? value : "metadata";
    char word[64];
    o->strip = STRIP_NOTHING;
    o->drop = 0;
    for (;; at++) {
        size_t n = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", n < 60 ? (int)n : 60, at);
        int i = value_read_choice(word, names, sizeof names / sizeof *names,
                                  err);
        if (i < 0)
            return -1;
        if (means[i].strip > o->strip)
            o->strip = means[i].strip;
        o->drop |= means[i].drop;
        at += n;
        if (*at == '\0')
            return 0;
    }
}

static int set_quality(struct options *o, const char *value, struct err *err)
{
    return value_read_int(value, 1, 100, &o->quality, err);
}

static int set_png_level(struct options *o, const char *value, struct err *err)
{
    static const char *const names[] = { "0", "1", "2",       "3",       "4",
                                         "5", "6", "7",       "8",       "9",
                                         "fast", "default", "small" };
    static const int levels[] = { LEVEL_FAST, LEVEL_DEFAULT, LEVEL_SMALL };
    enum { DIGITS = 10 };
    int i = value_read_choice(value, names, COUNT(names), err);
    if (i < 0)
        return -1;
    o->effort = 1 + (i < DIGITS ? i : levels[i - DIGITS]);
    return 0;
}

static int set_edge(struct options *o, const char *value, struct err *err)
{
    static const char *const names[] = {
        [EDGE_REENCODE] = "reencode", [EDGE_TRIM] = "trim",
        [EDGE_TAG] = "tag",           [EDGE_FAIL] = "fail",
    };
    int i = value_read_choice(value, names, COUNT(names), err);
    if (i >= 0)
        o->edge = (enum edge)i;
    return i < 0 ? -1 : 0;
}

static int set_depth(struct options *o, const char *value, struct err *err)
{
    static const char *const names[] = { "8", "16", "float" };
    static const unsigned bits[] = { 8, 16, 32 };
    int i = value_read_choice(value, names, COUNT(names), err);
    if (i >= 0)
        o->depth = bits[i];
    return i < 0 ? -1 : 0;
}

static int set_layout(struct options *o, const char *value, struct err *err)
{
    if (layout_parse(value, &o->layout))
        return 0;
    return fail(err, "'%s' is not a layout; expected auto, hwc, chw, nhw, nhwc "
                     "or nchw",
                value);
}

static int set_background(struct options *o, const char *value,
                          struct err *err)
{
    o->background = true;
    return color_parse(o->over, value, err);
}

static int set_max_pixels(struct options *o, const char *value,
                          struct err *err)
{
    return value_read_amount(value, 1000, &o->limits.pixels, err);
}

static int set_max_memory(struct options *o, const char *value,
                          struct err *err)
{
    return value_read_amount(value, 1024, &o->limits.bytes, err);
}

static int set_backend(struct options *o, const char *value, struct err *err)
{
    static const char *const names[] = { "auto", "cpu", "cuda" };
    if (strcasecmp(value, "gpu") == 0) /* which is spelled like cpu */
        return fail(err, "'%s' is not known; did you mean 'cuda'?", value);
    int i = value_read_choice(value, names, COUNT(names), err);
    if (i >= 0)
        o->backend = names[i];
    return i < 0 ? -1 : 0;
}

/* "0", "0,1", "all". */
int options_devices(const char *value, int device[OPTIONS_DEVICES],
                    unsigned *ndevices, struct err *err)
{
    const char *at = value;
    unsigned count = 0;
    *ndevices = (unsigned)LANE_ALL_DEVICES;
    if (strcmp(value, "all") == 0)
        return 0;
    while (*at >= '0' && *at <= '9' && count < OPTIONS_DEVICES) {
        char *end;
        unsigned long n = strtoul(at, &end, 10);
        if (n > 1023)
            break;
        for (unsigned i = 0; i < count; i++)
            if (device[i] == (int)n)
                return fail(err, "'%s' names a GPU twice", value);
        device[count++] = (int)n;
        *ndevices = count;
        if (*end == '\0')
            return 0;
        at = end + (*end == ',');
    }
    return fail(err, "'%s' is not a list of GPUs; expected numbers as "
                     "in 0 or 0,1, or all", value);
}

static int set_device(struct options *o, const char *value, struct err *err)
{
    return options_devices(value, o->device, &o->ndevices, err);
}

static int set_max_vram(struct options *o, const char *value, struct err *err)
{
    return value_read_amount(value, 1024, &o->vram, err);
}

static int set_threads(struct options *o, const char *value, struct err *err)
{
    int n;
    if (value_read_int(value, 1, THREADS_MAX, &n, err))
        return -1;
    o->threads = (unsigned)n;
    return 0;
}

static int set_files_from(struct options *o, const char *value, struct err *err)
{
    (void)err;
    o->files_from = value;
    return 0;
}

static int add_glob(struct globs *globs, const char *value, struct err *err)
{
    if (globs->count == OPTIONS_GLOBS)
        return fail(err, "there are more than %d patterns",
                    (int)OPTIONS_GLOBS);
    globs->glob[globs->count++] = value;
    return 0;
}

static int set_include(struct options *o, const char *value, struct err *err)
{
    return add_glob(&o->include, value, err);
}

static int set_exclude(struct options *o, const char *value, struct err *err)
{
    return add_glob(&o->exclude, value, err);
}

static int set_directory(struct options *o, const char *value, struct err *err)
{
    o->directory = value;
    return *value ? 0 : fail(err, "the value is empty; expected a name");
}

static int set_root(struct options *o, const char *value, struct err *err)
{
    o->root = value;
    return *value ? 0 : fail(err, "the value is empty; expected a name");
}

static int set_output(struct options *o, const char *value, struct err *err)
{
    o->output = value;
    return *value ? 0 : fail(err, "the value is empty; expected a name");
}

static int set_backup(struct options *o, const char *value, struct err *err)
{
    o->backup = value;
    if (!*value || strchr(value, '/'))
        return fail(err, "'%s' is not a suffix; expected one as .bak, "
                         "without /",
                    value);
    return 0;
}

/* Results and lists have the standard streams for themselves. */
static int check_file(const char *value, struct err *err)
{
    return *value && strcmp(value, "-") != 0
               ? 0
               : fail(err, "'%s' is not a file; one that is called - "
                           "is ./-", value);
}

static int set_fail_fast(struct options *o, const char *value, struct err *err)
{
    (void)value, (void)err;
    o->fail_after = 1;
    return 0;
}

static int set_fail_after(struct options *o, const char *value,
                          struct err *err)
{
    int n;
    if (value_read_int(value, 1, INT_MAX, &n, err))
        return -1;
    o->fail_after = (unsigned)n;
    return 0;
}

static int set_manifest(struct options *o, const char *value, struct err *err)
{
    o->manifest = value;
    return check_file(value, err);
}

static int set_resume(struct options *o, const char *value, struct err *err)
{
    o->resume = value;
    return check_file(value, err);
}

/* "3/8". */
static int set_shard(struct options *o, const char *value, struct err *err)
{
    char first[16] = "";
    const char *slash = strchr(value, '/');
    int k, n;
    if (slash && (size_t)(slash - value) < sizeof first)
        memcpy(first, value, (size_t)(slash - value));
    if (!slash || value_read_int(slash + 1, 1, INT_MAX, &n, err) ||
        value_read_int(first, 1, n, &k, err))
        return fail(err, "'%s' is not a share; expected K/N with K from 1 "
                         "to N, e.g. 3/8", value);
    o->shard = (unsigned)k;
    o->shards = (unsigned)n;
    return 0;
}

static int set_help(struct options *o, const char *value, struct err *err)
{
    (void)value, (void)err;
    o->command = COMMAND_HELP;
    return 0;
}

static int set_version(struct options *o, const char *value, struct err *err)
{
    (void)value, (void)err;
    o->command = COMMAND_VERSION;
    return 0;
}

/* ---- The table --------------------------------------------------------- */

/* What an option is about. */
enum option_scope {
    ABOUT_SHAPE = 1, /* what is written; part of options.shape */
    ABOUT_JOB = 2,   /* one picture, but not what is written */
    ABOUT_RUN = 4,   /* the whole run */
    ABOUT_LIST = 8,  /* which files a batch takes, and what it writes them to */
    FOR_INFO = 16,   /* info heeds it, too */
    FOR_MANIFEST = 32, /* and manifest */
};

static const struct row {
    char letter; /* 0: it has none */
    const char *name;
    const char *value; /* NULL: it takes none; "[=x]": it may take one */
    unsigned scope;    /* of enum option_scope, or-ed */
    /* What it does: sets a flag, at this offset, or what this function says. */
    size_t flag;
    int (*set)(struct options *o, const char *value, struct err *err);
    const char *help;
} table[] = {
#define FLAG(member) offsetof(struct options, member), NULL
#define SET(function) 0, function
    { 0, "format", "NAME", ABOUT_SHAPE, SET(set_format),
      "write this format, whatever OUTPUT is called" },
    { 'n', "no-clobber", NULL, ABOUT_JOB, FLAG(no_clobber),
      "leave an OUTPUT that exists alone" },
    { 'f', "force", NULL, ABOUT_JOB, SET(set_force),
      "replace it: takes back --no-clobber" },
    { 'p', "preserve", NULL, ABOUT_JOB, FLAG(preserve),
      "give OUTPUT mode, owner and times of INPUT" },
    { 0, "ignore-orientation", NULL, ABOUT_SHAPE, FLAG(ignore_orientation),
      "turn the pixels as stored, leave the tag" },
    { 0, "tag-only", NULL, ABOUT_SHAPE, FLAG(tag_only),
      "set the orientation tag, move no pixel" },
    { 0, "strip", "[=LIST]", ABOUT_SHAPE, SET(set_strip),
      "drop metadata, all, gps, thumbnail, xmp, exif, icc" },
    { 0, "edge", "WAY", ABOUT_SHAPE, SET(set_edge),
      "of a JPEG's odd sizes: reencode, trim, tag, fail" },
    { 0, "lossless", NULL, ABOUT_SHAPE, FLAG(lossless),
      "fail rather than lose samples; as --edge fail" },
    { 0, "quality", "N", ABOUT_SHAPE, SET(set_quality),
      "encode a JPEG anew, 1 to 100" },
    { 0, "optimize", NULL, ABOUT_SHAPE, FLAG(optimize),
      "make a JPEG as small as it gets" },
    { 0, "no-restart", NULL, ABOUT_SHAPE, FLAG(no_restart),
      "write a JPEG without restart markers" },
    { 0, "png-level", "LEVEL", ABOUT_SHAPE, SET(set_png_level),
      "fast, default or small; or 0 to 9" },
    { 0, "depth", "N", ABOUT_SHAPE, SET(set_depth),
      "make samples 8, 16 or float" },
    { 0, "layout", "AXES", ABOUT_SHAPE | FOR_INFO, SET(set_layout),
      "of arrays: hwc, chw, nhw, nhwc, nchw or auto" },
    { 0, "background", "COLOR", ABOUT_SHAPE, SET(set_background),
      "a name of CSS, #RRGGBB or #RGB below transparency" },
    { 0, "tolerant", NULL, ABOUT_SHAPE | FOR_INFO, FLAG(tolerant),
      "take what can be read of a damaged file" },
    { 'd', "directory", "DIR", ABOUT_LIST, SET(set_directory),
      "write all INPUTs below DIR" },
    { 'o', "output", "NAME", ABOUT_LIST, SET(set_output),
      "to {dir} {stem} {ext} {op} {n}, put together" },
    { 'i', "in-place", NULL, ABOUT_LIST, FLAG(in_place), "replace each INPUT" },
    { 0, "backup", "SUFFIX", ABOUT_LIST, SET(set_backup),
      "and keep the old one, with this behind its name" },
    { 'r', "recursive", NULL, ABOUT_LIST | FOR_INFO, FLAG(recursive),
      "take the pictures in directories too" },
    { 0, "files-from", "FILE", ABOUT_LIST | FOR_INFO, SET(set_files_from),
      "take the INPUTs that FILE, or -, lists" },
    { '0', "null", NULL, ABOUT_LIST | FOR_INFO, FLAG(nul),
      "where NUL ends a name" },
    { 0, "include", "GLOB", ABOUT_LIST | FOR_INFO, SET(set_include),
      "take only names like this; may be repeated" },
    { 0, "exclude", "GLOB", ABOUT_LIST | FOR_INFO, SET(set_exclude),
      "take none like this; may be repeated" },
    { 'u', "update", NULL, ABOUT_LIST, FLAG(update),
      "leave an output alone that is newer" },
    { 0, "dry-run", NULL, ABOUT_LIST, FLAG(dry_run),
      "print what would be done" },
    { 0, "fail-fast", NULL, ABOUT_LIST, SET(set_fail_fast),
      "end at the first file that fails" },
    { 0, "fail-after", "N", ABOUT_LIST, SET(set_fail_after),
      "end when N files have failed" },
    { 0, "manifest", "FILE", ABOUT_LIST, SET(set_manifest),
      "note in FILE what became of each file" },
    { 0, "resume", "FILE", ABOUT_LIST, SET(set_resume),
      "leave out what this manifest has as done, go on" },
    { 0, "shard", "K/N", ABOUT_LIST, SET(set_shard),
      "take the K-th of N shares of the files" },
    { 0, "max-pixels", "N", ABOUT_JOB, SET(set_max_pixels),
      "refuse larger pictures; 500M if not given" },
    { 0, "max-memory", "N", ABOUT_RUN, SET(set_max_memory),
      "and those that need more; 3/4 of the machine's" },
    { 0, "root", "DIR", ABOUT_RUN, SET(set_root),
      "the files of serve are all below DIR" },
    { 0, "backend", "NAME", ABOUT_RUN, SET(set_backend), "auto, cpu or cuda" },
    { 0, "device", "LIST", ABOUT_RUN, SET(set_device),
      "the GPUs to use: 0; 0,1; all" },
    { 0, "max-vram", "N", ABOUT_RUN, SET(set_max_vram),
      "of a GPU's memory; larger pictures go in pieces" },
    { 'j', "threads", "N", ABOUT_RUN | FOR_INFO, SET(set_threads),
      "keep N processors busy; all if not given" },
    { 'q', "quiet", NULL, ABOUT_RUN | FOR_INFO, FLAG(quiet), "no warnings" },
    { 'v', "verbose", NULL, ABOUT_RUN | FOR_INFO, FLAG(verbose),
      "say what was done, how, and how long" },
    { 0, "json", NULL, ABOUT_RUN | FOR_INFO | FOR_MANIFEST, FLAG(json),
      "the same as one JSON object on stdout" },
    { 0, "csv", NULL, ABOUT_RUN | FOR_INFO, FLAG(csv),
      "info: a table for spreadsheets" },
    { 'h', "help", NULL, ABOUT_RUN | FOR_INFO | FOR_MANIFEST, SET(set_help),
      "this" },
    { 0, "version", NULL, ABOUT_RUN | FOR_INFO | FOR_MANIFEST, SET(set_version),
      "version" },
#undef FLAG
#undef SET
};
enum { ROWS = sizeof table / sizeof *table };
_Static_assert(ROWS <= 64, "struct options.given has a bit for each");

static bool value_may_lack(const struct row *row)
{
    return row->value && row->value[0] == '[';
}

static void print_row(const struct row *row)
{
    char name[40];
    snprintf(name, sizeof name, "%s%s%s", row->name,
             row->value && !value_may_lack(row) ? " " : "",
             row->value ? row->value : "");
    if (row->letter)
        printf("  -%c, --%-20s %s\n", row->letter, name, row->help);
    else
        printf("      --%-20s %s\n", name, row->help);
}

void options_help(void)
{
    fputs("gimgxf OP[,OP...] [options] INPUT OUTPUT   turn a picture\n"
          "gimgxf OP[,OP...] [options] -d DIR | -o NAME | -i INPUT...   turn many\n"
          "gimgxf manifest merge|check FILE...        what became of them\n"
          "gimgxf serve [options] -                   turn what stdin asks for\n"
          "gimgxf info [options] FILE...              say what they are\n"
          "gimgxf bench [options]                     measure; has its own --help\n"
          "\n"
          "OP: rotate90 (cw)  rotate180  rotate270 (ccw)  transpose\n"
          "    fliph (flop, hflip, mirror)  flipv (flip, vflip)  transverse\n"
          "    upright (auto-orient)  copy (identity)\n"
          "INPUT and OUTPUT may be - for stdin and stdout. Formats:\n"
          "png jpeg bmp tga hdr pnm (pbm pgm ppm) pam pfm npy npz\n"
          "\n",
          stdout);
    for (size_t i = 0; i < ROWS; i++)
        print_row(&table[i]);
    fputs("Exit status: 0 done, 1 failed, 2 wrong usage, 3 no device. "
          "More: man gimgxf\n",
          stdout);
}

/* Whether an option of the whole run changes nothing in serve. */
static bool is_idle_in_serve(const struct row *row)
{
    static const char *const idle[] = { "quiet", "verbose", "json", "csv" };
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        if (strcmp(row->name, idle[i]) == 0)
            return true;
    return false;
}

/* Its options are those of single jobs and of the whole run. */
void options_help_serve(void)
{
    const struct row *nul = NULL;
    fputs("gimgxf serve [options] -   turn what standard input asks for\n"
          "\n"
          "A job is one JSON object in a line:\n"
          "    {\"id\": 7, \"op\": \"rotate90\", \"input\": \"a.png\", "
          "\"output\": \"b.jpg\",\n"
          "     \"options\": {\"quality\": 90, \"strip\": true}}\n"
          "The answer is one, too, with \"status\": \"done\", \"skipped\" or "
          "\"failed\".\n"
          "\n"
          "A job may have these options; given here, they hold for all jobs:\n",
          stdout);
    for (size_t i = 0; i < ROWS; i++) {
        if (table[i].scope & (ABOUT_SHAPE | ABOUT_JOB))
            print_row(&table[i]);
        if (strcmp(table[i].name, "null") == 0)
            nul = &table[i];
    }
    puts("\nThese are for all jobs together:");
    printf("  -%c, --%-20s %s\n", nul->letter, nul->name, "NUL ends a job");
    for (size_t i = 0; i < ROWS; i++)
        if (table[i].scope & ABOUT_RUN && !is_idle_in_serve(&table[i]))
            print_row(&table[i]);
    fputs("\nExit status: 0 all were done, 1 some failed, 2 wrong usage, 3 no "
          "such device.\n"
          "All of it: man gimgxf\n",
          stdout);
}

static void print_rows(unsigned scopes)
{
    for (size_t i = 0; i < ROWS; i++)
        if (table[i].scope & scopes)
            print_row(&table[i]);
}

void options_help_info(void)
{
    puts("gimgxf info [options] FILE...   say what pictures are, by their "
         "headers\n");
    print_rows(FOR_INFO);
    puts(
        "\nExit status: 0 all were described, 1 some failed or none was found, "
        "2 wrong\nusage. More: man gimgxf");
}

void options_help_manifest(void)
{
    puts("gimgxf manifest merge MANIFEST...   join those of several shares\n"
         "gimgxf manifest check MANIFEST...   compare them with the files\n");
    print_rows(FOR_MANIFEST);
    puts("\nExit status: 0 all is well, 1 a file failed or is lost, 2 wrong "
         "usage.\nMore: man gimgxf");
}

/* ---- Parsing ----------------------------------------------------------- */

/* getopt's own tables, made of ours: val is the row's index past all letters. */
enum { FIRST_ROW = 256 };

static void make_tables(struct option *longs, char *letters)
{
    *letters++ = ':'; /* tell a missing value from an unknown option */
    for (size_t i = 0; i < ROWS; i++) {
        const struct row *row = &table[i];
        longs[i] = (struct option){
            .name = row->name,
            .has_arg = !row->value           ? no_argument
                       : value_may_lack(row) ? optional_argument
                                             : required_argument,
            .val = FIRST_ROW + (int)i,
        };
        if (row->letter) {
            *letters++ = row->letter;
            if (row->value)
                *letters++ = ':';
        }
    }
    longs[ROWS] = (struct option){ 0 };
    *letters = '\0';
}

static const struct row *row_of(int found)
{
    for (size_t i = 0; i < ROWS; i++)
        if (found == FIRST_ROW + (int)i ||
            (found && found == table[i].letter))
            return &table[i];
    return NULL;
}

/* The word that a letter with one dash stands in, while getopt is at it. */
static const char *word_of_letter(int letter, char **argv)
{
    const char *now = argv[optind], *before = argv[optind - 1];
    bool here = now && now[0] == '-' && now[1] != '-' && strchr(now, letter);
    return here ? now : before;
}

/* What getopt did not take, or did not find a value for: by optopt. */
static int refuse_word(int found, char **argv, const struct option *longs,
                       struct err *err)
{
    const struct row *row = row_of(optopt);
    const char *word = argv[optind - 1];
    char letter[] = { '-', (char)optopt, '\0' };
    if (row && found == ':')
        return fail(err, "--%s: a value is missing; expected --%s %s (%s)",
                    row->name, row->name, row->value, row->help);
    if (row)
        return fail(err, "--%s: takes no value, but '%s' was given", row->name,
                    word + strcspn(word, "=") + 1);
    if (optopt)
        word = word_of_letter(optopt, argv);
    return hint_option(optopt && !hint_is_word(word, longs) ? letter : word,
                       longs, err);
}

/* Which options were given, and with what value, for `shape`. */
struct given {
    bool is[ROWS];
    const char *value[ROWS];
};

/* Those that bear on what is written, in the order of the table, whatever order
 * they were given in. */
static int make_shape(struct options *opts, const struct given *given,
                      struct err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const char *value = given->value[i];
        if (!given->is[i] || !(table[i].scope & ABOUT_SHAPE))
            continue;
        n += (size_t)snprintf(opts->shape + n, sizeof opts->shape - n,
                              "%s--%s%s%s", n ? " " : "", table[i].name,
                              value ? "=" : "", value ? value : "");
        if (n >= sizeof opts->shape)
            return fail(err, "--%s: '%s' is too long", table[i].name, value);
    }
    return 0;
}

/* `scopes`: of the options that may be given. */
static int take_options(struct options *opts, int argc, char **argv,
                        unsigned scopes, struct err *err)
{
    struct option longs[ROWS + 1];
    char letters[2 * ROWS + 2];
    struct given given = { 0 };
    int found;

    make_tables(longs, letters);
    opterr = 0;
    optind = 0; /* from the start: this is not the first time, perhaps */
    while ((found = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        const struct row *row = row_of(found);
        struct err why;
        if (!row)
            return refuse_word(found, argv, longs, err);
        if (found < FIRST_ROW && optarg != argv[optind - 1] &&
            hint_is_word(word_of_letter(found, argv), longs))
            return hint_option(word_of_letter(found, argv), longs, err);
        if (!(row->scope & scopes))
            return fail(err, "--%s: not for a single job; it is for all of them",
                        row->name);
        given.is[row - table] = true;
        opts->given |= UINT64_C(1) << (row - table);
        given.value[row - table] = optarg;
        if (!row->set)
            *(bool *)((char *)opts + row->flag) = true;
        else if (row->set(opts, optarg, &why))
            return fail(err, "--%s: %s", row->name, why.text);
    }
    return make_shape(opts, &given, err);
}

/* "rotate90,fliph": done left to right, folded to one. On the picture as shown,
 * which is what counts, `upright` has nothing to do. */
static int parse_op(struct options *opts, const char *list, struct err *err)
{
    char *copy = strdup(list), *rest = copy, *word;
    int status = 0;
    bool only_upright = true, alone = !strchr(list, ',');
    if (!copy)
        return fail(err, "no memory");
    opts->op = XFORM_NONE;
    while (status == 0 && (word = strsep(&rest, ","))) {
        enum xform t = XFORM_NONE;
        if (strcmp(word, "upright") == 0 || strcmp(word, "auto-orient") == 0) {
            if (opts->ignore_orientation)
                status = fail(err, "%s: needs the orientation that "
                                   "--ignore-orientation ignores",
                              word);
            continue;
        }
        only_upright = false;
        if (!xform_parse(word, &t))
            status = hint_operation(word, alone, err);
        opts->op = xform_then(opts->op, t);
    }
    opts->op_name = only_upright ? "upright" : xform_name(opts->op);
    free(copy);
    return status;
}

static bool is_directory(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 && S_ISDIR(st.st_mode);
}

static int check_output(const struct options *opts, struct err *err)
{
    const char *output = opts->file[1];
    struct err why;
    if (opts->format_name || strcmp(output, "-") == 0 ||
        codec_by_name(path_suffix(output)))
        return 0;
    hint_output(output, &why);
    return fail(err, "%s: %s", output, why.text);
}

/* An input and an output, in options of a single job. */
static int check_single(const struct options *opts, struct err *err)
{
    if (opts->dry_run && strcmp(opts->file[0], "-") == 0)
        return fail(err, "--dry-run: standard input is read only once; name a "
                         "file");
    if (opts->preserve && strcmp(opts->file[0], "-") == 0)
        return fail(err, "--preserve: standard input has no times");
    return check_output(opts, err);
}

/* "-q 90", which is --quiet and a name. */
static int check_quiet(const struct options *opts, struct err *err)
{
    for (int i = 0; opts->quiet && i < opts->nfiles; i++) {
        const char *name = opts->file[i];
        if (*name && !name[strspn(name, "0123456789")] &&
            access(name, F_OK) != 0)
            return fail(err,
                        "'%s' is not a file; -q is --quiet, and the "
                        "quality of a JPEG is --quality %s",
                        name, name);
    }
    return 0;
}

/* The names on the command line, where no option of batches is. */
static int check_names(const struct options *opts, struct err *err)
{
    const char *const *file = opts->file;
    if (opts->nfiles == 0)
        return fail(err, "an input and an output are missing: gimgxf %s INPUT "
                         "OUTPUT",
                    opts->op_name);
    if (is_directory(file[0]))
        return fail(err, "%s is a directory; -r takes the pictures in it, and "
                         "-d DIR says where the outputs go",
                    file[0]);
    if (opts->nfiles == 1)
        return fail(err, "an output is missing: gimgxf %s %s OUTPUT, or -i to "
                         "replace the input",
                    opts->op_name, file[0]);
    if (opts->nfiles > 2)
        return fail(err, "%d names: several inputs need --directory DIR, "
                         "--output NAME or --in-place",
                    opts->nfiles);
    size_t length = strlen(file[1]);
    if (length > 1 && file[1][length - 1] == '/' && !is_directory(file[1]))
        return fail(err,
                    "%s ends in a slash, as a directory does; -d %.*s "
                    "writes into it",
                    file[1], (int)length - 1, file[1]);
    if (!opts->format_name && !codec_by_name(path_suffix(file[1])) &&
        is_directory(file[1]))
        return fail(err, "%s is a directory; -d %s writes into it", file[1],
                    file[1]);
    return check_single(opts, err);
}

/* Whether an option was given that says so. */
static bool is_batch(const struct options *opts)
{
    return opts->directory || opts->output || opts->in_place ||
           opts->recursive || opts->files_from || opts->nul ||
           opts->include.count || opts->exclude.count || opts->update ||
           opts->fail_after || opts->manifest || opts->resume ||
           opts->shards || opts->backup;
}

/* The first option of batches that was given. */
static const char *batch_option(const struct options *opts)
{
    for (size_t i = 0; i < ROWS; i++)
        if (opts->given >> i & 1 && table[i].scope & ABOUT_LIST)
            return table[i].name;
    return "output";
}

/* It says by itself what --edge says, and not another thing. */
static int check_lossless(struct options *opts, struct err *err)
{
    static const char *const names[] = { "quality", "background" };
    if (!opts->lossless)
        return 0;
    if (options_given(opts, "edge") && opts->edge != EDGE_FAIL)
        return fail(err, "--lossless means --edge fail; leave out one of "
                         "--lossless and --edge");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (options_given(opts, names[i]))
            return fail(err,
                        "--%s loses samples, which --lossless refuses; "
                        "leave out one of them",
                        names[i]);
    opts->edge = EDGE_FAIL;
    return 0;
}

static int check_serve(struct options *opts, const char *const *word,
                       struct err *err)
{
    opts->command = COMMAND_SERVE;
    if (opts->nfiles != 1 || strcmp(word[1], "-") != 0)
        return fail(err, "serve reads its jobs from standard input: gimgxf "
                         "serve -");
    bool nul = opts->nul;
    opts->nul = false;
    if (is_batch(opts) || opts->dry_run)
        return fail(err, "the jobs of serve name their files themselves; no "
                         "option of batches but --null can be given");
    opts->nul = nul;
    return check_lossless(opts, err);
}

static int check_batch(struct options *opts, struct err *err)
{
    opts->command = COMMAND_BATCH;
    if (opts->in_place && (opts->directory || opts->output))
        return fail(err, "--in-place replaces the inputs, and --%s writes "
                         "elsewhere; only one can be given",
                    opts->directory ? "directory" : "output");
    if (!opts->in_place && !opts->directory && !opts->output &&
        opts->nfiles == 2 && !opts->recursive && !opts->files_from &&
        access(opts->file[1], F_OK) != 0)
        return fail(err, "--%s is for batches: use -o %s", batch_option(opts),
                    opts->file[1]);
    if (!opts->in_place && !opts->directory && !opts->output)
        return fail(err, "it is not said where the outputs go: --directory "
                         "DIR, --output NAME or --in-place is missing");
    if (opts->in_place && opts->format_name)
        return fail(err, "--format: with --in-place the names would be those "
                         "of another format; use --directory or --output");
    if (opts->in_place && (opts->no_clobber || opts->update))
        return fail(err, "--%s: has no meaning with --in-place, which "
                         "replaces what exists",
                    opts->update ? "update" : "no-clobber");
    if (opts->backup && !opts->in_place)
        return fail(err, "--backup: needs --in-place");
    if (opts->nul && !opts->files_from)
        return fail(err, "--null: needs --files-from");
    if (opts->nfiles == 0 && !opts->files_from)
        return fail(err, "an input is missing: name files, with -r "
                         "directories, or --files-from a list");
    if (opts->resume && !opts->manifest)
        opts->manifest = opts->resume;
    for (int i = 0; i < opts->nfiles; i++)
        if (strcmp(opts->file[i], "-") == 0)
            return fail(err, "a batch does not read standard input; a file that "
                             "is called - is ./-");
    return 0;
}

/* With --tag-only nothing but the orientation changes. */
static int check_tag_only(const struct options *opts, struct err *err)
{
    static const char *const others[] = {
        "format", "ignore-orientation", "strip", "edge", "quality", "optimize",
        "no-restart", "png-level", "depth", "layout", "background",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (opts->tag_only && options_given(opts, others[i]))
            return fail(err, "--tag-only changes the orientation and nothing "
                             "else, so --%s cannot be given with it",
                        others[i]);
    return 0;
}

static int check_turn(struct options *opts, const char *op, struct err *err)
{
    if (parse_op(opts, op, err) || check_lossless(opts, err) ||
        check_tag_only(opts, err))
        return -1;
    if (opts->edge == EDGE_TAG && opts->ignore_orientation)
        return fail(err, "--edge tag sets the orientation that "
                         "--ignore-orientation leaves");
    if (opts->edge == EDGE_TAG && (opts->strip || opts->drop & DROP_EXIF))
        return fail(err, "--strip drops the orientation that --edge tag sets");
    return 0;
}

/* Refuses options that a sub-command does not heed. Those of the whole run it
 * takes all, so that an alias can have them. */
static int check_scope(const struct options *opts, const char *what,
                       unsigned scopes, struct err *err)
{
    for (size_t i = 0; i < ROWS; i++)
        if (opts->given >> i & 1 && !(table[i].scope & (scopes | ABOUT_RUN)))
            return fail(err, "--%s: gimgxf %s, so the option changes nothing",
                        table[i].name, what);
    return 0;
}

/* Which files are described is said as for a batch; nothing is written. */
static int check_info(struct options *opts, struct err *err)
{
    opts->command = COMMAND_INFO;
    if (opts->directory || opts->output || opts->in_place || opts->update ||
        opts->dry_run || opts->fail_after || opts->manifest || opts->resume ||
        opts->shards || opts->backup)
        return fail(err, "info writes no pictures; of the options of batches "
                         "it takes --recursive, --files-from, --null, "
                         "--include and --exclude");
    if (opts->json && opts->csv)
        return fail(err, "--json and --csv are two ways to print the same; "
                         "give one of them");
    if (opts->nfiles == 0 && !opts->files_from)
        return fail(err, "info needs the name of a file");
    return check_scope(opts, "info writes no pictures", FOR_INFO, err);
}

static int check_manifest(struct options *opts, struct err *err)
{
    opts->command = COMMAND_MANIFEST;
    return check_scope(opts, "manifest turns no pictures", FOR_MANIFEST, err);
}

/* The help of a sub-command, or all of it. */
static enum command help_of(const char *word)
{
    return strcmp(word, "serve") == 0      ? COMMAND_HELP_SERVE
           : strcmp(word, "info") == 0     ? COMMAND_HELP_INFO
           : strcmp(word, "manifest") == 0 ? COMMAND_HELP_MANIFEST
                                           : COMMAND_HELP;
}

static int check_words(struct options *opts, const char *const *word, int n,
                       struct err *err)
{
    if (n == 0)
        return fail(err, "an operation is missing: gimgxf OPERATION INPUT "
                         "OUTPUT, e.g. gimgxf rotate90 in.png out.png; --help "
                         "lists all");
    opts->file = word + 1;
    opts->nfiles = n - 1;
    if (opts->root && strcmp(word[0], "serve") != 0)
        return fail(err, "--root is for serve; the outputs of a batch stay below "
                         "its --directory");
    if (strcmp(word[0], "help") == 0) {
        opts->command = help_of(n > 1 ? word[1] : "");
        return 0;
    }
    if (strcmp(word[0], "info") == 0) {
        return check_info(opts, err);
    }
    if (opts->csv)
        return fail(err, "--csv is for gimgxf info");
    if (strcmp(word[0], "manifest") == 0)
        return check_manifest(opts, err);
    if (strcmp(word[0], "serve") == 0)
        return check_serve(opts, word, err);
    if (check_turn(opts, word[0], err) || check_quiet(opts, err))
        return -1;
    return is_batch(opts) ? check_batch(opts, err) : check_names(opts, err);
}

static uint64_t most_of_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || size <= 0)
        return UINT64_C(1) << 32;
    return (uint64_t)pages * (uint64_t)size / 4 * 3;
}

/* The processors that this process may run on. */
static unsigned count_processors(void)
{
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        online = CPU_COUNT(&set);
    return online < 1             ? 1
           : online > THREADS_MAX ? THREADS_MAX
                                  : (unsigned)online;
}

/* Even of a call that is not understood; it may be wrong before --json. */
static bool wants_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

int options_parse(struct options *opts, int argc, char **argv, struct err *err)
{
    *opts = (struct options){
        .backend = "auto",
        .threads = count_processors(),
        .limits = { .pixels = PIXELS_MAX, .bytes = most_of_memory() },
        .json = wants_json(argc, argv),
    };
    if (take_options(opts, argc, argv, ~0u, err))
        return -1;
    if (opts->command == COMMAND_HELP) {
        opts->command = help_of(optind < argc ? argv[optind] : "");
        return 0;
    }
    if (opts->command == COMMAND_VERSION)
        return 0;
    if (opts->ndevices && strcmp(opts->backend, "cpu") == 0)
        return fail(err, "--device: --backend cpu has no devices");
    return check_words(opts, (const char *const *)argv + optind, argc - optind,
                       err);
}

int options_parse_job(struct options *opts, const struct options *base,
                      int argc, char **argv, struct err *err)
{
    *opts = *base;
    opts->command = COMMAND_TURN;
    if (take_options(opts, argc, argv, ABOUT_SHAPE | ABOUT_JOB, err))
        return -1;
    if (argc - optind != 3)
        return fail(err, "a job needs an operation, an input and an output");
    opts->file = (const char *const *)argv + optind + 1;
    opts->nfiles = 2;
    return check_turn(opts, argv[optind], err) ? -1 : check_single(opts, err);
}

bool options_given(const struct options *opts, const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(table[i].name, name) == 0)
            return opts->given >> i & 1;
    return false;
}
