/* Reads the command line. */
#include "cli/options/command_line.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/options/checks.h"
#include "cli/options/option_table.h"

/* The most pixels of a picture, unless --max-pixels says otherwise: more than
 * any camera has. A PNG of a few MB that claims more is a bomb. */
enum { PIXELS_MAX = 500 * 1000 * 1000 };

/* A quarter leaves room for other programs; what needs more goes through a
 * file where that can be. */
static uint64_t share_of_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || size <= 0)
        return UINT64_C(1) << 32;
    return (uint64_t)pages * (uint64_t)size / 4;
}

/* The processors that this process may run on. */
static unsigned count_processors(void)
{
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        online = CPU_COUNT(&set);
    return online < 1                    ? 1
           : online > OPTION_THREADS_MAX ? OPTION_THREADS_MAX
                                         : (unsigned)online;
}

/* Even a command line that is not understood is answered in JSON if it asks for
 * that, also behind the mistake. */
static bool wants_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

/* Writes the options that bear on what is written, in the order of the table,
 * whatever order they were given in. */
static int make_shape(struct options *opts, const struct parser_result *result,
                      struct err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < option_table.count; i++) {
        const struct parser_option *option = &option_table.option[i];
        const char *value = result->value[i];
        if (!(result->given >> i & 1) || !(option->groups & ABOUT_SHAPE))
            continue;
        n += (size_t)snprintf(opts->shape + n, sizeof opts->shape - n,
                              "%s--%s%s%s", n ? " " : "", option->name,
                              value ? "=" : "", value ? value : "");
        if (n >= sizeof opts->shape)
            return fail(err, "--%s: '%s' is too long", option->name, value);
    }
    return 0;
}

/* Reads the options; *first is the index of the first other word. */
static int read_options(struct options *opts, const struct parser_table *table,
                        int argc, char **argv, int *first, struct err *err)
{
    struct parser_result result;
    if (parser_read(table, opts, argc, argv, &result, err) ||
        make_shape(opts, &result, err))
        return -1;
    opts->given |= result.given;
    *first = result.first;
    return 0;
}

int command_line_parse(struct options *opts, int argc, char **argv,
                       struct err *err)
{
    int first;
    *opts = (struct options){
        .backend = "auto",
        .threads = count_processors(),
        .limits = { .pixels = PIXELS_MAX, .bytes = share_of_memory() },
        .json = wants_json(argc, argv),
    };
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
    return checks_words(opts, word, n, err);
}

int command_line_parse_job(struct options *opts, const struct options *base,
                           int argc, char **argv, struct err *err)
{
    struct parser_table table = option_table;
    int first;
    table.allowed = ABOUT_SHAPE | ABOUT_JOB;
    table.refusal = "not for a single job; it is for all of them";
    *opts = *base;
    if (read_options(opts, &table, argc, argv, &first, err))
        return -1;
    return checks_job(opts, (const char *const *)argv + first, argc - first,
                      err);
}
