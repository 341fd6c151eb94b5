/* What bench prints: a table with bars, or JSON. */
#include "cli/bench/bench.h"

#include <stdio.h>
#include <string.h>

#include "cli/json/json.h"

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

void bench_show_row(const struct bench *bench, const struct bench_row *row)
{
    const char *source = row->entry.section->source;
    if (bench->nrows == 1)
        printf("%s\n"
               "GB/s read and written, and the share of a plain copy of the "
               "same cells;\n"
               "of JPEG files microseconds and files a second.\n"
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
    json_number(json, "planes", e->work.nplanes);
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

void bench_show_json(const struct bench *bench)
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
