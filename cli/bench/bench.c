/* The sub-command bench: options, and what is run. */
#include "cli/bench/bench.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/hint.h"
#include "cli/options/value.h"
#include "cli/report.h"
#include "cuda/backend.h"
#include "cuda/backend_choose.h"

enum {
    STATUS_DONE = 0,
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
    STATUS_DEVICE = 3
};

/* Enough for a median that a few disturbed rounds leave alone. */
enum { GPU_ROUNDS = 31 };

/* ---- Options ------------------------------------------------------------- */

static int set_size(struct bench_opts *o, const char *value, struct err *err)
{
    char *end, *last = NULL;
    errno = 0;
    long width = strtol(value, &end, 10);
    long height = *end == 'x' ? strtol(end + 1, &last, 10) : 0;
    if (*value < '0' || *value > '9' || width < 1 || height < 1 || *last ||
        end[1] < '0' || end[1] > '9' || errno || width > IMAGE_DIMENSION ||
        height > IMAGE_DIMENSION)
        return fail(err, "'%s' is not a size; expected e.g. 4096x4096", value);
    o->size = (struct suite_shape){ (uint32_t)width, (uint32_t)height };
    return 0;
}

static int set_only(struct bench_opts *o, const char *value, struct err *err)
{
    (void)err;
    o->only = value;
    return 0;
}

static int set_svg(struct bench_opts *o, const char *value, struct err *err)
{
    if (strcmp(value, "-") == 0)
        return fail(err, "standard output is for the table");
    o->svg = value;
    return 0;
}

static int set_device(struct bench_opts *o, const char *value, struct err *err)
{
    o->devices = value;
    return options_devices(value, o->device, &o->ndevices, err);
}

static int set_rounds(struct bench_opts *o, const char *value, struct err *err)
{
    int rounds;
    if (value_read_int(value, 1, SUITE_ROUNDS, &rounds, err))
        return -1;
    o->rounds = (unsigned)rounds;
    return 0;
}

static const struct row {
    const char *name, *value; /* value NULL: it takes none, and sets a flag */
    size_t flag;
    int (*set)(struct bench_opts *o, const char *value, struct err *err);
    const char *help;
} table[] = {
#define FLAG(member)         NULL, offsetof(struct bench_opts, member), NULL
#define SET(value, function) value, 0, function
    { "only", SET("NAME", set_only), "what has NAME in its name or section" },
    { "size", SET("WxH", set_size), "at this size, in pixels" },
    { "cpu", FLAG(cpu), "the CPU beside memcpy, and no GPU" },
    { "sweep", FLAG(sweep), "shapes of blocks as well" },
    { "rounds", SET("N", set_rounds), "time each N times; 31, the CPU 11" },
    { "profile", FLAG(profile), "launch each once and time none" },
    { "device", SET("LIST", set_device), "GPUs: 0; 0,1; all" },
    { "json", FLAG(json), "one JSON object on stdout, no table" },
    { "svg", SET("FILE", set_svg), "draw a chart as well" },
    { "help", FLAG(help), "this" },
#undef FLAG
#undef SET
};
enum { OPTIONS = sizeof table / sizeof *table };

static void print_help(void)
{
    fputs("gimgxf bench [options]   time the kernels of the literature, the\n"
          "                         libraries and gimgxf, and check them\n"
          "\n",
          stdout);
    for (size_t i = 0; i < OPTIONS; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s %s", table[i].name,
                 table[i].value ? table[i].value : "");
        printf("  --%-16s %s\n", name, table[i].help);
    }
    fputs("\nGB/s count bytes read and written; the share is that of a plain\n"
          "copy of the same cells in the same run: cudaMemcpy, or memcpy.\n",
          stdout);
}

/* getopt's val of a row is its index past all letters. */
enum { FIRST_ROW = 256 };

/* What getopt did not take, or did not find a value for. */
static int refuse(int found, const char *word, const struct option *longs,
                  struct err *err)
{
    const struct row *row =
        optopt >= FIRST_ROW ? &table[optopt - FIRST_ROW] : NULL;
    if (row && found == ':')
        return fail(err, "--%s: a value is missing; expected --%s %s",
                    row->name, row->name, row->value);
    if (row)
        return fail(err, "--%s: takes no value", row->name);
    return hint_option(word, longs, err);
}

static int parse(struct bench_opts *o, int argc, char **argv, struct err *err)
{
    struct option longs[OPTIONS + 1] = { { 0 } };
    int found;
    for (size_t i = 0; i < OPTIONS; i++)
        longs[i] = (struct option){
            .name = table[i].name,
            .has_arg = table[i].value ? required_argument : no_argument,
            .val = FIRST_ROW + (int)i,
        };
    *o = (struct bench_opts){ 0 };
    opterr = 0;
    while ((found = getopt_long(argc, argv, ":h", longs, NULL)) != -1) {
        const struct row *row =
            found >= FIRST_ROW ? &table[found - FIRST_ROW] : NULL;
        struct err why;
        if (found == 'h')
            o->help = true;
        else if (!row)
            return refuse(found, argv[optind - 1], longs, err);
        else if (!row->set)
            *(bool *)((char *)o + row->flag) = true;
        else if (row->set(o, optarg, &why))
            return fail(err, "--%s: %s", row->name, why.text);
    }
    if (optind < argc)
        return fail(err, "bench takes no files: '%s'", argv[optind]);
    if (o->cpu && o->ndevices)
        return fail(err, "--device: --cpu uses none");
    if (o->svg && o->profile)
        return fail(err, "--svg: --profile times nothing");
    return 0;
}

/* ---- Rows ---------------------------------------------------------------- */

bool bench_wants(const struct bench *bench, const struct suite_entry *entry)
{
    const char *only = bench->opts.only;
    const char *name = entry->name ? entry->name : xform_name(entry->turn);
    return !only || strcasestr(name, only) || strcasestr(entry->source, only) ||
           strcasestr(entry->section, only);
}

struct suite_shape bench_shape(const struct bench *bench,
                                const struct suite_entry *entry,
                                struct suite_shape shape)
{
    struct suite_shape size = bench->opts.size;
    if (size.width == 0)
        return shape;
    if (entry->cell == CELL_DCT) { /* the blocks of such a picture */
        size.width = size.width / 8 + (size.width % 8 != 0);
        size.height = size.height / 8 + (size.height % 8 != 0);
    }
    return size;
}

int bench_add(struct bench *bench, const struct bench_row *row, struct err *err)
{
    size_t size = (bench->nrows + 1) * sizeof *bench->row;
    struct bench_row *rows = realloc(bench->row, size);
    if (!rows)
        return fail(err, "no memory for the results");
    bench->row = rows;
    bench->row[bench->nrows++] = *row;
    if (row->result.wrong && !row->entry.wrong)
        bench->wrong++;
    if (!bench->opts.json)
        bench_show_row(bench, row);
    return 0;
}

/* ---- The GPU ------------------------------------------------------------- */

static int run_entry(struct bench *bench, const struct kernel_suite *suite,
                     struct suite_run *run, size_t i, struct err *err)
{
    const struct suite_entry *entry = suite->entry(i);
    struct err why;
    for (int s = 0; s < SUITE_SHAPES && entry->shape[s].width; s++) {
        struct bench_row row = {
            .entry = *entry,
            .shape = bench_shape(bench, entry, entry->shape[s]),
            .banks = suite->banks(i),
        };
        if (suite->measure(run, i, row.shape, &row.result, &why))
            return fail(err, "%s: %s",
                        entry->name ? entry->name : xform_name(entry->turn),
                        why.text);
        if (bench_add(bench, &row, err))
            return -1;
        if (bench->opts.size.width)
            break; /* all would be the same */
    }
    return 0;
}

static int run_entries(struct bench *bench, const struct kernel_suite *suite,
                       struct suite_run *run, struct err *err)
{
    for (size_t i = 0; i < suite->count(); i++) {
        const struct suite_entry *entry = suite->entry(i);
        if ((bench->opts.sweep || !entry->sweep) && bench_wants(bench, entry) &&
            run_entry(bench, suite, run, i, err))
            return -1;
    }
    return 0;
}

/* Whoever names what the sweep alone has need not ask for the sweep as well. */
static int run_gpu(struct bench *bench, const struct kernel_suite *suite,
                   struct suite_run *run, struct err *err)
{
    const struct bench_opts *o = &bench->opts;
    if (run_entries(bench, suite, run, err) ||
        bench_stream(bench, suite, o->device, o->ndevices, err))
        return -1;
    if (bench->nrows || bench->opts.sweep)
        return 0;
    bench->opts.sweep = true;
    return run_entries(bench, suite, run, err);
}

/* "nvidia, book" and so on. */
static void list_sections(const struct kernel_suite *suite, char *text,
                          size_t size)
{
    const char *last = "";
    size_t n = 0;
    for (size_t i = 0; i < suite->count() && n < size; i++) {
        const char *section = suite->entry(i)->section;
        if (strcmp(section, last) != 0)
            n += (size_t)snprintf(text + n, size - n, "%s, ", section);
        last = section;
    }
    if (n < size)
        snprintf(text + n, size - n, "%s", bench_stream_section);
}

static void tell_machine(struct bench *bench, const struct suite_machine *m)
{
    bench->gpus = m->devices;
    snprintf(bench->machine, sizeof bench->machine,
             "%s, sm %s, %u multiprocessors, L2 %.0f MB, memory %.0f GB, "
             "CUDA %d.%d, driver for %d.%d",
             m->name, m->compute, m->multiprocessors, (double)m->l2 / 1e6,
             (double)m->memory / 1e9, m->runtime / 1000, m->runtime % 1000 / 10,
             m->driver / 1000, m->driver % 1000 / 10);
}

/* All devices as numbers, and whether they are there. */
static int name_devices(struct bench_opts *o, int count, struct err *err)
{
    bool all = o->ndevices == (unsigned)LANE_ALL_DEVICES;
    if (all)
        o->ndevices =
            count < OPTIONS_DEVICES ? (unsigned)count : OPTIONS_DEVICES;
    else if (o->ndevices == 0)
        o->ndevices = 1; /* the first */
    for (unsigned i = 0; i < o->ndevices; i++) {
        if (all)
            o->device[i] = (int)i;
        if (o->device[i] >= count)
            return fail(err, "there is no CUDA device %d: %d found, from 0 on",
                        o->device[i], count);
    }
    return 0;
}

/* The first of the devices runs kernels. */
static struct suite_run *open_gpu(struct bench *bench,
                                   const struct kernel_suite *suite)
{
    struct bench_opts *o = &bench->opts;
    struct suite_opts opts = { o->device[0], o->profile  ? 0
                                              : o->rounds ? o->rounds
                                                          : GPU_ROUNDS };
    struct suite_machine machine;
    struct suite_run *run = NULL;
    if (!suite)
        fail(&bench->gpu_left_out, "this build has no CUDA");
    else if (o->cpu)
        fail(&bench->gpu_left_out, "as asked for");
    else if (suite->open(&run, &opts, &machine, &bench->gpu_left_out) == 0) {
        tell_machine(bench, &machine);
        if (name_devices(o, machine.devices, &bench->gpu_left_out)) {
            suite->close(run);
            run = NULL;
        }
    }
    return run;
}

/* ---- All ----------------------------------------------------------------- */

static int run_cpu(struct bench *bench, struct err *err)
{
    const struct bench_opts *o = &bench->opts;
    struct err text;
    if (!o->cpu) {
        fail(&text, "the GPU part is left out: %s", bench->gpu_left_out.text);
        report_error(NULL, text.text);
    }
    return bench_cpu(bench, err);
}

static int finish(const struct bench *bench, struct err *err)
{
    if (bench->opts.json)
        bench_show_json(bench);
    if (bench->opts.svg && bench_show_svg(bench, err))
        return -1;
    if (bench->wrong)
        return fail(err, "%u of %zu results are wrong", bench->wrong,
                    bench->nrows);
    return 0;
}

static int tell_of_nothing(const struct bench *bench,
                           const struct kernel_suite *suite)
{
    struct err text;
    char sections[128];
    if (suite)
        list_sections(suite, sections, sizeof sections);
    fail(&text,
         "--only: nothing that runs here is called '%s'; the sections are %s",
         bench->opts.only, suite ? sections : bench_cpu_sections);
    report_error(NULL, text.text);
    return STATUS_USAGE;
}

static int run_all(struct bench *bench)
{
    const struct kernel_suite *suite = backend_choose_suite();
    struct suite_run *run = open_gpu(bench, suite);
    struct err err;
    if (!run && bench->opts.devices) {
        struct err text;
        fail(&text, "--device %s: %s", bench->opts.devices,
             bench->gpu_left_out.text);
        report_error(NULL, text.text);
        return STATUS_DEVICE;
    }
    int failed = run ? run_gpu(bench, suite, run, &err) : run_cpu(bench, &err);
    if (run)
        suite->close(run);
    if (failed)
        report_error(NULL, err.text);
    else if (bench->nrows == 0 && bench->opts.only)
        return tell_of_nothing(bench, run ? suite : NULL);
    if (finish(bench, &err)) { /* with what there is */
        report_error(NULL, err.text);
        failed = -1;
    }
    return failed ? STATUS_FAILED : STATUS_DONE;
}

int bench_main(int argc, char **argv)
{
    struct bench bench = { 0 };
    struct err err;
    if (parse(&bench.opts, argc, argv, &err)) {
        report_error(NULL, err.text);
        return STATUS_USAGE;
    }
    if (bench.opts.help) {
        print_help();
        return STATUS_DONE;
    }
    int status = run_all(&bench);
    free(bench.row);
    return status;
}
