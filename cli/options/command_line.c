/* Reads the command line, and checks what was given together. Every message
 * says what is wrong and what to give instead. */
#include "cli/options/options.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/files/files.h"
#include "cli/files/path.h"
#include "codecs/image/meta.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_directory(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Returns whether it is a directory, or ends in a slash. */
static bool names_directory(const char *name)
{
    const size_t length = strlen(name);
    return is_directory(name) || (length && name[length - 1] == '/');
}

/* Returns the first option that was given of those in one of `groups` and in
 * none of `but_not`; or NULL. */
static const char *given_in(const struct options *opts, unsigned groups,
                            unsigned but_not)
{
    for (size_t i = 0; i < option_table.count; i++) {
        const struct parser_option *option = &option_table.option[i];
        if (opts->given >> i & 1 && option->groups & groups &&
            !(option->groups & but_not))
            return option->name;
    }
    return NULL;
}

/* ---- Options that exclude each other ------------------------------------ */

static const struct exclusion {
    const char *option;
    const char *others; /* none of these can be given with it, */
    const char *why;    /* as this says, with one of them for %s */
} exclusions[] = {
    { "lossless", "quality background",
      "--%s loses samples, which --lossless refuses; leave out one of them" },
    { "tag-only",
      "format ignore-orientation strip edge quality optimize no-restart "
      "png-level depth layout background pixels",
      "--tag-only changes the orientation and nothing else, so --%s cannot be "
      "given with it" },
    { "stack",
      "directory output in-place backup update preserve manifest resume "
      "tag-only isolate",
      "--%s: has no meaning with --stack, which makes one array of all "
      "pictures" },
    { "in-place", "directory output",
      "--in-place replaces the inputs, and --%s writes elsewhere; only one can "
      "be given" },
    { "in-place", "format",
      "--%s: with --in-place the names would be those of another format; use "
      "--directory or --output" },
    { "in-place", "no-clobber update",
      "--%s: has no meaning with --in-place, which replaces what exists" },
};

/* ---- A turn ------------------------------------------------------------- */

/* Folds "rotate90,fliph", done left to right, to one turn. `upright` adds none:
 * turns apply to the picture as it is shown. */
static int read_operation(struct options *opts, const char *list, bool served,
                          struct err *err)
{
    char *copy = strdup(list), *rest = copy, *word;
    int status = 0;
    bool alone = !strchr(list, ',');
    if (!copy)
        return fail(err, "no memory");
    opts->op = XFORM_NONE;
    opts->upright = false;
    while (status == 0 && (word = strsep(&rest, ","))) {
        enum xform t = XFORM_NONE;
        if (strcmp(word, "upright") == 0 || strcmp(word, "auto-orient") == 0) {
            if (opts->ignore_orientation)
                status = fail(err,
                              "%s: needs the orientation that "
                              "--ignore-orientation ignores",
                              word);
            opts->upright = true;
            continue;
        }
        if (!xform_parse(word, &t))
            status = hint_operation(word, alone && !served, err);
        opts->op = xform_then(opts->op, t);
    }
    opts->upright = opts->upright && opts->op == XFORM_NONE;
    opts->op_name = opts->upright ? "upright" : xform_name(opts->op);
    free(copy);
    return status;
}

/* --lossless is --edge fail. */
static int check_lossless(struct options *opts, struct err *err)
{
    if (!opts->lossless)
        return 0;
    if (option_table_given(opts, "edge") && opts->edge != EDGE_FAIL)
        return fail(err, "--lossless means --edge fail; leave out one of "
                         "--lossless and --edge");
    opts->edge = EDGE_FAIL;
    return 0;
}

/* A job of serve is no place for a command. */
static int check_turn(struct options *opts, const char *op, bool served,
                      struct err *err)
{
    if (read_operation(opts, op, served, err) || check_lossless(opts, err))
        return -1;
    for (size_t i = 0; i < COUNT(exclusions); i++) {
        const char *other = exclusions[i].others;
        if (!option_table_given(opts, exclusions[i].option))
            continue;
        for (size_t n; *other; other += n + (other[n] == ' ')) {
            char name[32];
            n = strcspn(other, " ");
            snprintf(name, sizeof name, "%.*s", (int)n, other);
            if (option_table_given(opts, name))
                return fail(err, exclusions[i].why, name);
        }
    }
    opts->forced = !opts->no_clobber && option_table_given(opts, "force");
    return opts->edge == EDGE_TAG && opts->ignore_orientation
               ? fail(err, "--edge tag sets the orientation that "
                           "--ignore-orientation leaves")
               : 0;
}

/* ---- One picture -------------------------------------------------------- */

/* An input and an output. */
static int check_pair(const struct options *opts, struct err *err)
{
    const char *output = opts->file[1];
    struct err why;
    if (opts->dry_run && strcmp(opts->file[0], "-") == 0)
        return fail(err, "--dry-run: standard input is read only once; name a "
                         "file");
    if (opts->preserve && strcmp(opts->file[0], "-") == 0)
        return fail(err, "--preserve: standard input has no times");
    if (opts->format_name || file_is_stream(NULL, output) ||
        codec_by_name(path_suffix(output)))
        return 0;
    hint_suffix(path_suffix(output), &why);
    return fail(err, "%s: %s", output, why.text);
}

/* The names of a turn without an option of batches. */
static int check_names(const struct options *opts, struct err *err)
{
    const char *const *file = opts->file;
    if (opts->nfiles == 0)
        return fail(err,
                    "an input and an output are missing: gimgxf %s INPUT "
                    "OUTPUT",
                    opts->op_name);
    if (is_directory(file[0]) && opts->nfiles == 2 &&
        (is_directory(file[1]) ||
         (access(file[1], F_OK) && !codec_by_name(path_suffix(file[1])))))
        return fail(err,
                    "%s is a directory; did you mean gimgxf %s -r -d %s %s?",
                    file[0], opts->op_name, file[1], file[0]);
    if (is_directory(file[0]))
        return fail(err,
                    "%s is a directory; -r takes the pictures in it, and "
                    "-d DIR says where the outputs go",
                    file[0]);
    if (opts->nfiles == 1)
        return fail(err,
                    "an output is missing: gimgxf %s %s OUTPUT, or -i to "
                    "replace the input",
                    opts->op_name, file[0]);
    if (opts->nfiles > 2)
        return fail(err,
                    "%d names: several inputs need --directory DIR, "
                    "--output NAME or --in-place",
                    opts->nfiles);
    if (names_directory(file[1]) &&
        (!is_directory(file[1]) ||
         (!opts->format_name && !codec_by_name(path_suffix(file[1])))))
        return fail(err, "%s is the name of a directory; -d %s writes into it",
                    file[1], file[1]);
    return check_pair(opts, err);
}

/* ---- Batches ------------------------------------------------------------ */

/* All outputs go into one array. A layout that counts pictures is that of the
 * array, and what is left of it that of each. */
static int check_stack(struct options *opts, struct err *err)
{
    static const enum layout of_one[LAYOUTS] = { [LAYOUT_HWC] = LAYOUT_HWC,
                                                 [LAYOUT_CHW] = LAYOUT_CHW,
                                                 [LAYOUT_NHWC] = LAYOUT_HWC,
                                                 [LAYOUT_NCHW] = LAYOUT_CHW };
    const char *format =
        opts->format_name ? opts->format_name : path_suffix(opts->stack);
    if (codec_by_name(format) != &codec_npy)
        return fail(err,
                    "--stack writes NPY, not '%s': give it a name that ends "
                    "in .npy",
                    format);
    opts->format_name = codec_npy.name;
    opts->stack_layout = opts->layout;
    opts->layout = of_one[opts->layout];
    if (!opts->fail_after)
        opts->fail_after = 1;
    return 0;
}

static int check_batch(struct options *opts, struct err *err)
{
    const bool named = opts->directory || opts->output;
    opts->command = COMMAND_BATCH;
    if (opts->stack && check_stack(opts, err))
        return -1;
    if (!opts->stack && !opts->in_place && opts->backup)
        return fail(err, "--backup: needs --in-place");
    if (opts->output && !opts->directory && names_directory(opts->output))
        return fail(err,
                    "--output: %s is the name of a directory; did you mean "
                    "-d %s?",
                    opts->output, opts->output);
    if (!opts->stack && !opts->in_place && !named)
        return opts->nfiles == 2 && !opts->recursive && !opts->files_from &&
                       access(opts->file[1], F_OK) != 0
                   ? fail(err, "--%s is for batches: use -o %s",
                          given_in(opts, ABOUT_LIST, 0), opts->file[1])
                   : fail(err, "a batch needs --directory DIR, --output NAME, "
                               "--in-place or --stack FILE");
    if (opts->nul && !opts->files_from)
        return fail(err, "--null: needs --files-from");
    if (opts->nfiles == 0 && !opts->files_from)
        return fail(err, "an input is missing: name files, with -r "
                         "directories, or --files-from a list");
    if (opts->resume && !opts->manifest)
        opts->manifest = opts->resume;
    for (int i = 0; i < opts->nfiles; i++)
        if (strcmp(opts->file[i], "-") == 0)
            return fail(err, "a batch does not read standard input; a file "
                             "that is called - is ./-");
    return 0;
}

/* ---- Commands ----------------------------------------------------------- */

/* Those that are no turn. What they refuse of the options of batches, and what
 * files they need, is said so. */
static const struct {
    const char *name;
    enum command command;
    unsigned takes; /* options of these groups, and of ABOUT_RUN */
    const char *no_lists, *needs;
} commands[] = {
#define LISTS                                                                  \
    " writes no pictures; of the options of batches it takes --recursive, "    \
    "--files-from, --null, --include and --exclude"
    { "info", COMMAND_INFO, FOR_INFO, "info" LISTS,
      "info needs the name of a file" },
    { "check", COMMAND_CHECK, FOR_CHECK, "check" LISTS,
      "check needs the name of a file" },
    { "relate", COMMAND_RELATE, FOR_RELATE, NULL,
      "relate needs two pictures: gimgxf relate A B" },
    { "serve", COMMAND_SERVE, FOR_SERVE,
      "the jobs of serve name their files themselves; no option of batches but "
      "--null can be given",
      "serve reads its jobs from standard input: gimgxf serve -" },
#undef LISTS
};

static int check_command(struct options *opts, size_t i, struct err *err)
{
    const unsigned takes = commands[i].takes;
    const bool serves = commands[i].command == COMMAND_SERVE;
    const bool lists = commands[i].no_lists &&
                       given_in(opts, ABOUT_LIST | ABOUT_DRY_RUN, takes);
    const bool fine = serves
                          ? opts->nfiles == 1 && strcmp(opts->file[0], "-") == 0
                      : commands[i].command == COMMAND_RELATE
                          ? opts->nfiles == 2
                          : opts->nfiles || opts->files_from;
    opts->command = commands[i].command;
    /* An option of batches may be why there are no files. */
    if (lists && (fine || !serves))
        return fail(err, "%s", commands[i].no_lists);
    if (!fine)
        return fail(err, "%s", commands[i].needs);
    if (serves)
        return check_lossless(opts, err);
    /* Options of the whole run are all taken, so that an alias of the shell can
     * have them. */
    const char *name = given_in(opts, ABOUT_ALL, takes | ABOUT_RUN);
    return name ? fail(err,
                       "--%s: gimgxf %s writes no pictures, so the option "
                       "changes nothing",
                       name, commands[i].name)
                : 0;
}

/* Checks the words that are not options: a command or an operation, in word[0],
 * and what follows. Sets the command, the operation and the files of `opts`. */
static int check_words(struct options *opts, const char *const *word, int n,
                       struct err *err)
{
    if (n == 0)
        return fail(err, "an operation is missing: gimgxf OPERATION INPUT "
                         "OUTPUT, e.g. gimgxf rotate90 in.png out.png; see "
                         "--help");
    opts->file = word + 1;
    opts->nfiles = n - 1;
    if (opts->root && strcmp(word[0], "serve") != 0)
        return fail(err, "--root is for serve; the outputs of a batch stay "
                         "below its --directory");
    for (size_t i = 0; i < COUNT(commands); i++)
        if (strcmp(word[0], commands[i].name) == 0)
            return check_command(opts, i, err);
    if (strcmp(word[0], "bench") == 0)
        return fail(err, "the options of bench follow it: gimgxf bench "
                         "[options]");
    if (check_turn(opts, word[0], false, err))
        return -1;
    return given_in(opts, ABOUT_LIST, 0) ? check_batch(opts, err)
                                         : check_names(opts, err);
}

/* ---- The whole ---------------------------------------------------------- */

/* The most pixels of a picture, unless --max-pixels says otherwise: more than
 * any camera has. A PNG of a few MB that claims more is a bomb. */
enum { PIXELS_MAX = 500 * 1000 * 1000 };

/* Reads the options; *first is the index of the first other word. Those that
 * bear on what is written are the shape, in the order of the table, whatever
 * order they were given in. */
static int read_options(struct options *opts, const struct parser_table *table,
                        int argc, char **argv, int *first, struct err *err)
{
    struct parser_result result;
    size_t n = 0;
    if (parser_read(table, opts, argc, argv, &result, err))
        return -1;
    for (size_t i = 0; i < table->count; i++) {
        const struct parser_option *option = &table->option[i];
        const char *value = result.value[i];
        if (!(result.given >> i & 1) || !(option->groups & ABOUT_SHAPE))
            continue;
        n += (size_t)snprintf(opts->shape + n, sizeof opts->shape - n,
                              "%s--%s%s%s", n ? " " : "", option->name,
                              value ? "=" : "", value ? value : "");
        if (n >= sizeof opts->shape)
            return fail(err, "--%s: '%s' is too long", option->name, value);
    }
    opts->given |= result.given;
    *first = result.first;
    return 0;
}

int command_line_parse(struct options *opts, int argc, char **argv,
                       struct err *err)
{
    int first;
    /* The processors that this process may run on. */
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        online = CPU_COUNT(&set);
    /* A quarter of all memory leaves room for other programs; what needs more
     * goes through a file where that can be. */
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    const uint64_t memory = pages > 0 && size > 0
                                ? (uint64_t)pages * (uint64_t)size / 4
                                : UINT64_C(1) << 32;
    *opts = (struct options){
        .backend = "auto",
        .threads = online < 1                    ? 1
                   : online > OPTION_THREADS_MAX ? OPTION_THREADS_MAX
                                                 : (unsigned)online,
        .limits = { .pixels = PIXELS_MAX, .bytes = memory },
    };
    /* Even a command line that is not understood is answered in JSON if it asks
     * for that, also behind the mistake. */
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        opts->json = opts->json || strcmp(argv[i], "--json") == 0;
    if (read_options(opts, &option_table, argc, argv, &first, err))
        return -1;
    const char **word = (const char **)argv + first;
    int n = argc - first;
    if (n == 3 && (strcmp(word[2], "/dev/stdout") == 0 ||
                   strcmp(word[2], "/dev/fd/1") == 0))
        word[2] = "-"; /* and is reported, and refused to a terminal, as that */
    bool help = opts->command == COMMAND_HELP;
    if (opts->command == COMMAND_VERSION)
        return 0;
    if (help || (n > 0 && strcmp(word[0], "help") == 0)) {
        opts->command = COMMAND_HELP;
        opts->file = word + !help; /* what is wanted help for, if anything */
        opts->nfiles = n - !help;
        return 0;
    }
    if (opts->devices.count && strcmp(opts->backend, "cpu") == 0)
        return fail(err, "--device: --backend cpu has no devices");
    return check_words(opts, word, n, err);
}

int command_line_parse_job(struct options *opts, const struct options *base,
                           int argc, char **argv, struct err *err)
{
    struct parser_table table = option_table;
    int first;
    table.allowed = ABOUT_SHAPE | ABOUT_JOB;
    table.refusal = "not for a single job; gimgxf serve --help lists what is";
    *opts = *base;
    if (read_options(opts, &table, argc, argv, &first, err))
        return -1;
    const int n = argc - first;
    const char *const *word = (const char *const *)argv + first;
    if (n != 3)
        return fail(err, "a job needs an operation, an input and an output");
    opts->command = COMMAND_TURN;
    opts->file = word + 1;
    opts->nfiles = 2;
    return check_turn(opts, word[0], true, err) || check_pair(opts, err) ? -1
                                                                         : 0;
}
