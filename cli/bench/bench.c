/* gimgxf bench: its options, and the order in which everything is run. */
#include "cli/bench/bench.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/parser.h"
#include "cli/options/setters.h"
#include "cli/report/report.h"
#include "cuda/backend.h"
#include "cuda/backend_choose.h"

enum {
    STATUS_DONE = 0,
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
    STATUS_DEVICE = 3
};

/* Enough that a few disturbed rounds do not move the median. */
enum { GPU_ROUNDS = 31 };

/* ---- Options ------------------------------------------------------------- */

static int set_size(const struct parser_option *option, void *field,
                    const char *text, struct err *err)
{
    struct suite_shape *size = field;
    char *end, *last = NULL;
    (void)option;
    errno = 0;
    long width = strtol(text, &end, 10);
    long height = *end == 'x' ? strtol(end + 1, &last, 10) : 0;
    if (*text < '0' || *text > '9' || width < 1 || height < 1 || *last ||
        end[1] < '0' || end[1] > '9' || errno || width > IMAGE_DIMENSION ||
        height > IMAGE_DIMENSION)
        return fail(err, "'%s' is not a size; expected e.g. 4096x4096", text);
    *size = (struct suite_shape){ (uint32_t)width, (uint32_t)height };
    return 0;
}

#define AT(member) .offset = offsetof(struct bench_opts, member)
static const struct parser_option options[] = {
    { 0, "only", "NAME", 1, "run what has NAME in its name or section",
      setters_text, AT(only) },
    { 0, "size", "WxH", 1, "run at this size, in pixels", set_size, AT(size) },
    { 0, "cpu", NULL, 1, "run the CPU beside memcpy, and no GPU", setters_true,
      AT(cpu) },
    { 0, "sweep", NULL, 1, "try shapes of blocks as well", setters_true,
      AT(sweep) },
    { 0, "rounds", "N", 1, "time each N times; default 31, of the CPU 11",
      setters_number, AT(rounds), .least = 1, .most = SUITE_ROUNDS },
    { 0, "profile", NULL, 1, "launch each once and time none", setters_true,
      AT(profile) },
    { 0, "device", "LIST", 1, "the GPUs to use: 0; 0,1; all", setters_devices,
      AT(devices) },
    { 0, "json", NULL, 1, "print one JSON object on stdout, no table",
      setters_true, AT(json) },
    { 0, "svg", "FILE", 1, "draw a chart as well", setters_file, AT(svg) },
    { 'h', "help", NULL, 1, "print this help", setters_true, AT(help) },
};
static const struct parser_table table = {
    .option = options,
    .count = sizeof options / sizeof *options,
    .allowed = 1,
};

void bench_help(void)
{
    puts("gimgxf bench [options]   time the kernels of the literature, the\n"
         "                         libraries and gimgxf, and check them\n");
    parser_help(&table, 1);
    puts("\nGB/s count bytes read and written; the share is that of a plain\n"
         "copy of the same cells in the same run: cudaMemcpy, or memcpy.\n"
         "More: man gimgxf-bench");
}

static int parse(struct bench_opts *o, int argc, char **argv, struct err *err)
{
    struct parser_result result;
    *o = (struct bench_opts){ 0 };
    if (parser_read(&table, o, argc, argv, &result, err))
        return -1;
    if (result.first < argc)
        return fail(err, "bench takes no files: '%s'", argv[result.first]);
    if (o->cpu && o->devices.count)
        return fail(err, "--device: --cpu uses no GPU");
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

/* Runs the sweep as well if nothing else has the name that was asked for. */
static int run_gpu(struct bench *bench, const struct kernel_suite *suite,
                   struct suite_run *run, struct err *err)
{
    const struct bench_opts *o = &bench->opts;
    if (run_entries(bench, suite, run, err) ||
        bench_stream(bench, suite, o->devices.number, o->devices.count, err) ||
        bench_jpeg(bench, suite, err))
        return -1;
    if (bench->nrows || bench->opts.sweep)
        return 0;
    bench->opts.sweep = true;
    return run_entries(bench, suite, run, err);
}

/* Writes "nvidia, book" and so on. */
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
        snprintf(text + n, size - n, "%s, %s", bench_stream_section,
                 bench_jpeg_section);
}

static void name_machine(struct bench *bench, const struct suite_machine *m)
{
    bench->gpus = m->devices;
    snprintf(bench->machine, sizeof bench->machine,
             "%s, sm %s, %u multiprocessors, L2 %.0f MB, memory %.0f GB, "
             "CUDA %d.%d, driver for %d.%d",
             m->name, m->compute, m->multiprocessors, (double)m->l2 / 1e6,
             (double)m->memory / 1e9, m->runtime / 1000, m->runtime % 1000 / 10,
             m->driver / 1000, m->driver % 1000 / 10);
}

/* Turns "all", or no list, into numbers, and checks that all devices exist. */
static int name_devices(struct device_list *list, int count, struct err *err)
{
    bool all = list->count == (unsigned)LANE_ALL_DEVICES;
    if (all)
        list->count =
            count < OPTIONS_DEVICES ? (unsigned)count : OPTIONS_DEVICES;
    else if (list->count == 0)
        list->count = 1; /* the first */
    for (unsigned i = 0; i < list->count; i++) {
        if (all)
            list->number[i] = (int)i;
        if (list->number[i] >= count)
            return fail(err, "CUDA device %d not found; %d found, from 0 on",
                        list->number[i], count);
    }
    return 0;
}

/* Opens the first of the devices, which runs kernels. Returns NULL if there
 * is none, with the reason in bench->gpu_left_out. */
static struct suite_run *open_gpu(struct bench *bench,
                                  const struct kernel_suite *suite)
{
    struct bench_opts *o = &bench->opts;
    struct suite_opts opts = { o->devices.number[0], o->profile  ? 0
                                                     : o->rounds ? o->rounds
                                                                 : GPU_ROUNDS };
    struct suite_machine machine;
    struct suite_run *run = NULL;
    if (!suite)
        fail(&bench->gpu_left_out, "this build has no CUDA");
    else if (o->cpu)
        fail(&bench->gpu_left_out, "as asked for");
    else if (suite->open(&run, &opts, &machine, &bench->gpu_left_out) == 0) {
        name_machine(bench, &machine);
        if (name_devices(&o->devices, machine.devices, &bench->gpu_left_out)) {
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
    return bench_cpu(bench, err) || bench_jpeg(bench, NULL, err) ? -1 : 0;
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

static int report_nothing(const struct bench *bench,
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
    if (!run && bench->opts.devices.text) {
        struct err text;
        fail(&text, "--device %s: %s", bench->opts.devices.text,
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
        return report_nothing(bench, run ? suite : NULL);
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
        bench_help();
        return STATUS_DONE;
    }
    int status = run_all(&bench);
    free(bench.row);
    return status;
}
