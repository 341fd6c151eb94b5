/* gimgxf bench: its options, the order in which everything is run, the one loop
 * that times and checks it, and the table or JSON that it prints. */
#include "cli/bench/bench.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json/json.h"
#include "cli/options/options.h"
#include "cli/options/parser.h"
#include "cli/report/report.h"
#include "cuda/backend_choose.h"

enum {
    STATUS_DONE = 0,
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
    STATUS_DEVICE = 3
};

struct bench_opts {
    bool help, cpu, profile, json;
    const char *only;        /* NULL: not asked for */
    struct suite_shape size; /* {0}: each its own */
    int device;              /* of a GPU; -1: not asked for */
    int rounds;              /* 0: as many as are good here */
};

/* One line of the table. */
struct bench_row {
    struct suite_entry entry;
    struct suite_shape shape;
    struct suite_result result;
    bool part;                 /* of the case whose row follows */
    const char *name, *cell;   /* "rotate90", "u8" */
    char title[128], size[48]; /* what ran, and the cells and the size */
    /* 0 where nothing was timed: GB/s, and those of the baseline; what the bar
     * shows; of files microseconds of one, and how many a second. */
    struct bench_speed {
        double gbs, copy_gbs, share, us, rate;
    } speed;
};

/* Everything that was run. */
struct bench {
    struct bench_opts opts;
    char machine[400];       /* the GPU if one is used, else the CPU */
    int gpus;                /* that there are; 0 if none is used */
    struct err gpu_left_out; /* why; "" if it was not */
    struct bench_row *row;
    size_t nrows;
    unsigned wrong;     /* rows with wrong results that nobody knew of */
    char sections[160]; /* of all that could be run: "nvidia, book" */
    double sample[SUITE_TIMES][SUITE_ROUNDS]; /* of the case that runs */
};

/* ---- Options ------------------------------------------------------------- */

static int set_size(const struct parser_option *option, void *field,
                    const char *text, struct err *err)
{
    struct suite_shape *size = field;
    unsigned width, height;
    int end = 0;
    (void)option;
    if (text[strspn(text, "0123456789x")] ||
        sscanf(text, "%9ux%9u%n", &width, &height, &end) != 2 || text[end] ||
        !width || !height || width > IMAGE_DIMENSION ||
        height > IMAGE_DIMENSION)
        return fail(err, "'%s' is not a size; expected e.g. 4096x4096", text);
    *size = (struct suite_shape){ width, height };
    return 0;
}

/* As --only may name them; other parts of a name may be given, too. */
static const struct parser_choice sections[] = {
    { "nvidia", 0 }, { "book", 0 },      { "mat_transpose", 0 },
    { "others", 0 }, { "libraries", 0 }, { "gimgxf", 0 },
    { "jpeg", 0 },   { "png", 0 },       { NULL, 0 }
};

#define AT(member) .offset = offsetof(struct bench_opts, member)
static const struct parser_option options[] = {
    { 0, "only", "NAME", 1, "run what has NAME in its name or section",
      setters_text, AT(only), .choices = sections },
    { 0, "size", "WxH", 1, "run at this size, in pixels", set_size, AT(size) },
    { 0, "cpu", NULL, 1, "run the CPU beside memcpy, and no GPU", setters_true,
      AT(cpu) },
    { 0, "rounds", "N", 1, "time each N times; default 31, of the CPU 11",
      setters_number, AT(rounds), .least = 1, .most = SUITE_ROUNDS },
    { 0, "profile", NULL, 1, "launch each once and time none", setters_true,
      AT(profile) },
    { 0, "device", "N", 1, "the GPU to use, from 0", setters_number, AT(device),
      .most = INT_MAX },
    { 0, "json", NULL, 1, "print one JSON object on stdout, no table",
      setters_true, AT(json) },
    { 'h', "help", NULL, 1, "print this help", setters_true, AT(help) },
};
const struct parser_table bench_table = {
    .option = options,
    .count = sizeof options / sizeof *options,
    .allowed = 1,
};

void bench_help(void)
{
    puts("gimgxf bench [options]   time the kernels of the literature, the\n"
         "                         libraries and gimgxf, and check them\n");
    parser_help(&bench_table, 1);
    puts("\nGB/s count bytes read and written; the share is that of a plain\n"
         "copy of the same cells in the same run: cudaMemcpy, or memcpy.\n"
         "More: man gimgxf-bench");
}

static int parse(struct bench_opts *o, int argc, char **argv, struct err *err)
{
    struct parser_result result;
    *o = (struct bench_opts){ .device = -1 };
    if (parser_read(&bench_table, o, argc, argv, &result, err))
        return -1;
    if (result.first < argc)
        return fail(err, "bench takes no files: '%s'", argv[result.first]);
    if (o->cpu && o->device >= 0)
        return fail(err, "--device: --cpu uses no GPU");
    return 0;
}

/* ---- The table ----------------------------------------------------------- */

enum { BAR = 24 }; /* characters for a share of 1 */

static void put_result(const struct bench_row *row)
{
    const struct suite_result *r = &row->result;
    const struct bench_speed *s = &row->speed;
    const int n = (int)(s->share * BAR + 0.5);
    if (r->times.median <= 0)
        printf(" %s", r->wrong ? "" : "right");
    else if (r->files)
        printf(" %9.2f us %8.0f/s", s->us, s->rate);
    else
        printf(" %7.1f", s->gbs);
    if (s->share > 0)
        printf(" %6.3f ", s->share);
    const int end = n < BAR ? BAR : n < BAR + 6 ? n : BAR + 6;
    for (int i = 0; s->share > 0 && i < end; i++)
        putchar(i >= n ? '.' : i < BAR ? '#' : '+');
    if (r->banks.put)
        printf("  banks %u, %u", r->banks.put, r->banks.get);
    if (r->in_l2)
        printf("  in L2");
    if (r->wrong)
        printf("  %s: %llu of %llu %s",
               row->entry.wrong ? "wrong, as known" : "WRONG",
               (unsigned long long)r->wrong, (unsigned long long)r->cells,
               r->files ? "files" : "cells");
    else if (row->entry.wrong)
        printf("  right, though said to be wrong");
}

static void show_row(const struct bench *bench, const struct bench_row *row)
{
    const char *source = row->entry.section->source;
    if (bench->nrows == 1)
        printf("%s\n"
               "GB/s read and written, and the share of a plain copy of the "
               "same cells;\n"
               "of files microseconds and files a second.\n"
               "* as published; banks: the most lanes at one, putting and "
               "getting.\n",
               bench->machine);
    if (bench->nrows == 1 ||
        strcmp(bench->row[bench->nrows - 2].entry.section->source, source) != 0)
        printf("\n%s\n", source);
    printf("  %-36s %-19s", row->title, row->size);
    if (row->result.left_out)
        printf(" left out: %s", row->result.left_out);
    else
        put_result(row);
    putchar('\n');
    fflush(stdout);
}

/* ---- JSON ---------------------------------------------------------------- */

/* Writes a number that is left out where there is none. */
static void json_some(struct json_writer *json, const char *key, double value)
{
    if (value > 0)
        json_number(json, key, value);
}

static void json_row(struct json_writer *json, const struct bench_row *row)
{
    static const char *const forms[] = { [SUITE_PUBLISHED] = "published",
                                         [SUITE_MEANT] = "meant",
                                         [SUITE_LIBRARY] = "library",
                                         [SUITE_OURS] = "gimgxf" };
    const struct suite_entry *e = &row->entry;
    const struct suite_result *r = &row->result;
    json_open(json, NULL, '{');
    json_string(json, "section", e->section->name);
    json_string(json, "source", e->section->source);
    json_string(json, "name", row->name);
    json_string(json, "form", forms[e->origin]);
    json_string(json, "note", e->note);
    json_string(json, "turn", xform_name(e->work.turn));
    json_string(json, "cell", row->cell);
    json_number(json, "width", row->shape.width);
    json_number(json, "height", row->shape.height);
    json_some(json, "block_x", e->by.block_x);
    json_some(json, "block_y", e->by.block_y);
    json_some(json, "threads", e->by.threads);
    json_some(json, "banks_put", r->banks.put);
    json_some(json, "banks_get", r->banks.get);
    json_string(json, "left_out", r->left_out);
    if (r->left_out) {
        json_close(json, '}');
        return;
    }
    json_number(json, "bytes", (double)r->bytes);
    json_bool(json, "in_l2", r->in_l2);
    if (r->times.median > 0) {
        json_open(json, "seconds", '{');
        json_number(json, "median", r->times.median);
        json_number(json, "min", r->times.min);
        json_number(json, "max", r->times.max);
        json_some(json, "copy", r->times.copy);
        json_close(json, '}');
        json_number(json, "rounds", r->times.rounds);
        json_number(json, "launches", r->launches);
        json_number(json, "gbs", row->speed.gbs);
        json_some(json, "copy_gbs", row->speed.copy_gbs);
        json_some(json, "us_a_picture", row->speed.us);
        json_some(json, "pictures_a_second", row->speed.rate);
        json_some(json, "share", row->speed.share);
    }
    json_number(json, "cells", (double)r->cells);
    json_number(json, "wrong", (double)r->wrong);
    json_bool(json, "known_wrong", row->entry.wrong);
    json_close(json, '}');
}

static void show_json(const struct bench *bench)
{
    struct json_writer json = { .out = stdout };
    json_open(&json, NULL, '{');
    json_string(&json, "machine", bench->machine);
    json_number(&json, "gpus", bench->gpus);
    json_string(&json, "gpu_left_out",
                *bench->gpu_left_out.text ? bench->gpu_left_out.text : NULL);
    json_open(&json, "results", '[');
    for (size_t i = 0; i < bench->nrows; i++)
        json_row(&json, &bench->row[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    putchar('\n');
}

/* ---- Rows ---------------------------------------------------------------- */

static void describe_row(struct bench_row *row)
{
    static const char *const cells[] = {
        [CELL_U8] = "u8", [CELL_U16] = "u16", [CELL_F32] = "f32"
    };
    const struct suite_entry *e = &row->entry;
    const struct suite_result *r = &row->result;
    const struct suite_times *t = &r->times;
    const struct { /* ", 3 threads", unless there are fewer */
        unsigned n, least;
        const char *what;
    } counts[] = {
        { row->part ? 0 : r->files, 1, "file" },
        { e->by.threads, 2, "thread" },
    };
    char *end = row->title, *last = row->title + sizeof row->title;
    row->cell = r->files ? e->section->name : cells[e->work.cell];
    snprintf(row->size, sizeof row->size, "%s %u x %u", row->cell,
             row->shape.width, row->shape.height);
    end += sprintf(end, "%.60s", row->name);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].n >= counts[i].least && end < last - 24)
            end += snprintf(end, 24, ", %u %s%s", counts[i].n, counts[i].what,
                            counts[i].n > 1 ? "s" : "");
    if (e->origin == SUITE_PUBLISHED)
        strcpy(end, " *");
    if (t->median > 0)
        row->speed = (struct bench_speed){
            .gbs = (double)r->bytes / t->median * 1e-9,
            .copy_gbs = t->copy > 0 ? (double)r->bytes / t->copy * 1e-9 : 0,
            .share = row->part ? t->median / t->copy : t->copy / t->median,
            .us = r->files ? t->median * 1e6 / r->files : 0,
            .rate = r->files / t->median,
        };
}

/* Appends a row, counts it if it is wrong, and prints it unless JSON was
 * asked for. */
static int add_row(struct bench *bench, struct bench_row *row, struct err *err)
{
    size_t size = (bench->nrows + 1) * sizeof *bench->row;
    struct bench_row *rows = realloc(bench->row, size);
    if (!rows)
        return fail(err, "no memory for the results");
    describe_row(row);
    bench->row = rows;
    bench->row[bench->nrows++] = *row;
    if (row->result.wrong && !row->entry.wrong)
        bench->wrong++;
    if (!bench->opts.json)
        show_row(bench, row);
    return 0;
}

/* ---- The loop ------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Runs the rounds of a case that is open, and checks it. The first round, in
 * which memory is taken, does not count. */
static int run_rounds(struct bench *bench, const struct suite_bed_type *type,
                      void *bed, struct suite_result *r, struct err *err)
{
    const unsigned rounds = r->times.rounds;
    for (unsigned n = 0; rounds && n <= rounds; n++) {
        double seconds[SUITE_TIMES] = { 0 };
        if (type->round(bed, seconds, err))
            return -1;
        for (unsigned t = 0; t < SUITE_TIMES; t++)
            bench->sample[t][n ? n - 1 : 0] = seconds[t];
    }
    for (unsigned t = 0; t < SUITE_TIMES; t++)
        qsort(bench->sample[t], rounds, sizeof(double), by_value);
    return type->check(bed, r, err);
}

/* Sets what was timed, of a case or a part of it. */
static void set_times(const struct bench *bench, unsigned t,
                      struct suite_times *times, double copy)
{
    const double *sample = bench->sample[t];
    times->median = sample[times->rounds / 2];
    times->min = sample[0];
    times->max = sample[times->rounds - 1];
    times->copy = copy;
}

/* Adds rows of the parts of a case that took any time, and one of it. */
static int add_rows(struct bench *bench, struct bench_row *row, struct err *err)
{
    struct suite_times *times = &row->result.times;
    const char *const *parts = row->entry.parts;
    if (times->rounds)
        set_times(bench, 0, times, bench->sample[1][times->rounds / 2]);
    for (unsigned k = 0; times->rounds && parts && parts[k]; k++) {
        struct bench_row part = *row;
        part.name = parts[k];
        part.part = true;
        part.result.cells = part.result.wrong = 0;
        set_times(bench, 2 + k, &part.result.times, times->median);
        if (part.result.times.median > 0 && add_row(bench, &part, err))
            return -1;
    }
    return add_row(bench, row, err);
}

static int run_case(struct bench *bench, const struct suite_bed_type *type,
                    void *bed, size_t i, struct bench_row *row, struct err *err)
{
    const struct bench_opts *o = &bench->opts;
    struct suite_result *r = &row->result;
    struct err why;
    int status = type->open(bed, i, row->shape, r, &why);
    if (!o->profile && !r->left_out)
        r->times.rounds = o->rounds ? (unsigned)o->rounds : type->rounds;
    if (status == 0 && !r->left_out)
        status = run_rounds(bench, type, bed, r, &why);
    type->close(bed);
    if (status)
        return fail(err, "%s: %s", row->name, why.text);
    return add_rows(bench, row, err);
}

/* Returns whether --only lets this case run, and notes its section. */
static bool is_wanted(struct bench *bench, const struct suite_entry *e,
                      const char *name)
{
    const char *only = bench->opts.only, *section = e->section->name;
    const size_t n = strlen(bench->sections);
    if (!strstr(bench->sections, section))
        snprintf(bench->sections + n, sizeof bench->sections - n, "%s%s",
                 n ? ", " : "", section);
    return !only || strcasestr(name, only) || strcasestr(section, only) ||
           strcasestr(e->section->source, only);
}

/* Runs all cases of a bed. */
static int run_bed(struct bench *bench, const struct suite_bed_type *type,
                   struct err *err)
{
    const struct suite_place place = {
        .device = bench->opts.device > 0 ? bench->opts.device : 0,
        .timed = !bench->opts.profile,
    };
    const struct suite_shape size = bench->opts.size;
    struct suite_entry e;
    void *bed = type->begin(&place, err);
    int status = bed ? 0 : -1;
    for (size_t i = 0; status == 0 && type->entry(bed, i, &e); i++) {
        const char *name = e.name ? e.name : xform_name(e.work.turn);
        const struct suite_shape *shape = e.shapes;
        if (!is_wanted(bench, &e, name))
            continue;
        do { /* with --size all would be the same */
            struct bench_row row = { .entry = e, .name = name };
            row.shape = size.width ? size : *shape;
            status = run_case(bench, type, bed, i, &row, err);
        } while (status == 0 && !size.width && (++shape)->width);
        if (status == 0 && e.note && !bench->opts.json)
            printf("    * %s\n", e.note);
    }
    if (bed)
        type->end(bed);
    return status;
}

/* ---- What is run --------------------------------------------------------- */

/* Names the machine. Returns what runs on the GPU; or NULL, with the reason in
 * bench->gpu_left_out. */
static const struct kernel_suite *find_gpu(struct bench *bench)
{
    char line[256] = "", *model = NULL;
    const struct kernel_suite *suite = backend_choose_suite();
    const int device = bench->opts.device > 0 ? bench->opts.device : 0;
    struct err *why = &bench->gpu_left_out;
    int lacks = 0;
    if (!suite)
        lacks = fail(why, "this build has no CUDA");
    else if (bench->opts.cpu)
        lacks = fail(why, "as asked for");
    else
        lacks = suite->describe(device, &bench->gpus, bench->machine, why);
    if (!lacks)
        return suite;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !model && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0)
            model = strchr(line, ':');
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
    snprintf(bench->machine, sizeof bench->machine, "%s, %u processors",
             model ? model + 2 : "a CPU", bench_processors());
    bench->gpus = 0;
    return NULL;
}

static int run_all(struct bench *bench)
{
    struct bench_opts *o = &bench->opts;
    const struct kernel_suite *suite = find_gpu(bench);
    struct err err, text;
    if (!suite && o->device >= 0) {
        fail(&text, "--device %d: %s", o->device, bench->gpu_left_out.text);
        report_error(NULL, text.text);
        return STATUS_DEVICE;
    }
    if (!suite && !o->cpu) {
        fail(&text, "the GPU part is left out: %s", bench->gpu_left_out.text);
        report_error(NULL, text.text);
    }
    int failed = run_bed(bench, suite ? &suite->bed : &bench_host_bed, &err);
    if (!failed && !o->cpu && !o->profile)
        failed = run_bed(bench, &bench_jpeg_bed, &err) ||
                 run_bed(bench, &bench_png_bed, &err);
    if (failed) {
        report_error(NULL, err.text);
    } else if (bench->nrows == 0 && o->only) {
        fail(&text,
             "--only: nothing that runs here is called '%s'; the sections are "
             "%s",
             o->only, bench->sections);
        report_error(NULL, text.text);
        return STATUS_USAGE;
    }
    if (o->json) /* with what there is */
        show_json(bench);
    if (bench->wrong) {
        fail(&text, "%u of %zu results are wrong", bench->wrong, bench->nrows);
        report_error(NULL, text.text);
    }
    return failed || bench->wrong ? STATUS_FAILED : STATUS_DONE;
}

int bench_main(int argc, char **argv)
{
    struct bench *bench = calloc(1, sizeof *bench);
    struct err err;
    int status = STATUS_DONE;
    if (!bench || parse(&bench->opts, argc, argv, &err)) {
        report_error(NULL, bench ? err.text : "no memory");
        status = bench ? STATUS_USAGE : STATUS_FAILED;
    } else if (bench->opts.help) {
        bench_help();
    } else {
        status = run_all(bench);
    }
    if (bench)
        free(bench->row);
    free(bench);
    return status;
}
