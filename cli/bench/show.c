/* What bench prints: a table with bars, and JSON. */
#include "cli/bench/bench.h"

#include <stdio.h>
#include <string.h>

#include "cli/bench/row.h"
#include "cli/json/json.h"

static const char *const origin_names[] = {
    [SUITE_PUBLISHED] = "published",
    [SUITE_MEANT] = "meant",
    [SUITE_LIBRARY] = "library",
    [SUITE_OURS] = "gimgxf",
};

/* ---- The table ----------------------------------------------------------- */

enum { BAR = 24 }; /* characters for a share of 1 */

static void put_bar(double share)
{
    int n = (int)(share * BAR + 0.5);
    for (int i = 0; i < (n > BAR ? n < BAR + 6 ? n : BAR + 6 : BAR); i++)
        putchar(i < n ? (i < BAR ? '#' : '+') : '.');
}

static void put_remarks(const struct bench_row *row)
{
    const struct suite_result *r = &row->result;
    if (row->banks.put)
        printf("  banks %u, %u", row->banks.put, row->banks.get);
    if (r->in_l2)
        printf("  in L2");
    if (r->batch.each > 0)
        printf("  a launch each: %.1f x the GPU time, %.1f x the wall time",
               r->batch.each / r->median, r->batch.wall_each / r->batch.wall);
    if (r->wrong)
        printf("  %s: %llu of %llu %s",
               row->entry.wrong ? "wrong, as known" : "WRONG",
               (unsigned long long)r->wrong, (unsigned long long)r->cells,
               row->pictures ? "files" : "cells");
    else if (row->entry.wrong)
        printf("  right, though said to be wrong");
}

static bool first_of_source(const struct bench *bench,
                            const struct bench_row *row)
{
    size_t n = bench->nrows;
    return n < 2 || strcmp(bench->row[n - 2].entry.source, row->entry.source);
}

/* Returns whether no other size of the same entry follows. */
static bool last_of_entry(const struct bench *bench,
                          const struct bench_row *row)
{
    const struct suite_shape *shape = row->entry.shape;
    size_t n = 0;
    while (n + 1 < SUITE_SHAPES && shape[n + 1].width)
        n++;
    return bench->opts.size.width || (row->shape.width == shape[n].width &&
                                      row->shape.height == shape[n].height);
}

static void show_machine(const struct bench *bench)
{
    printf(
        "%s\nGB/s read and written, and the share of a plain copy of the same "
        "cells;\nof JPEG files microseconds, files a second, and a share.\n* "
        "as "
        "published; banks: the most lanes at one, putting and getting.\n",
        bench->machine);
}

void bench_show_row(const struct bench *bench, const struct bench_row *row)
{
    const struct suite_result *r = &row->result;
    char title[128], size[48];
    bench_row_title(row, title, sizeof title);
    bench_row_size(row, size, sizeof size);
    if (bench->nrows == 1)
        show_machine(bench);
    if (first_of_source(bench, row))
        printf("\n%s\n", row->entry.source);
    printf("  %-36s %-19s", title, size);
    if (r->left_out[0]) {
        printf(" left out: %s\n", r->left_out);
    } else {
        if (r->median > 0) {
            if (row->pictures)
                printf(" %9.2f us %8.0f/s", bench_row_us(row),
                       bench_row_rate(row));
            else
                printf(" %7.1f", bench_row_gbs(row));
            printf(" %6.3f ", bench_row_share(row));
            put_bar(bench_row_share(row));
        } else {
            printf(" %s", r->wrong ? "" : "right");
        }
        put_remarks(row);
        putchar('\n');
    }
    if (row->entry.note && last_of_entry(bench, row))
        printf("    * %s\n", row->entry.note);
    fflush(stdout);
}

/* ---- JSON ---------------------------------------------------------------- */

static void json_text(struct json_writer *json, const char *key,
                      const char *text)
{
    if (text && *text)
        json_string(json, key, text);
    else
        json_string(json, key, NULL);
}

static void json_times(struct json_writer *json, const struct bench_row *row)
{
    const struct suite_result *r = &row->result;
    json_open(json, "seconds", '{');
    json_number(json, "median", r->median);
    json_number(json, "min", r->min);
    json_number(json, "max", r->max);
    json_number(json, "copy", r->copy);
    if (r->batch.each > 0) {
        json_number(json, "each", r->batch.each);
        json_number(json, "wall", r->batch.wall);
        json_number(json, "wall_each", r->batch.wall_each);
    }
    json_close(json, '}');
    json_number(json, "rounds", r->rounds);
    json_number(json, "launches", r->launches);
    json_number(json, "gbs", bench_row_gbs(row));
    if (row->pictures) {
        json_number(json, "us_a_picture", bench_row_us(row));
        json_number(json, "pictures_a_second", bench_row_rate(row));
    } else {
        json_number(json, "copy_gbs", bench_row_copy_gbs(row));
    }
    json_number(json, "share", bench_row_share(row));
}

static void json_row(struct json_writer *json, const struct bench_row *row)
{
    const struct suite_entry *e = &row->entry;
    const struct suite_result *r = &row->result;
    json_open(json, NULL, '{');
    json_string(json, "section", e->section);
    json_string(json, "source", e->source);
    json_string(json, "name", bench_row_name(row));
    json_string(json, "form", origin_names[e->origin]);
    json_text(json, "note", e->note);
    json_string(json, "turn", xform_name(e->turn));
    json_string(json, "cell", bench_row_cell(row));
    json_number(json, "width", row->shape.width);
    json_number(json, "height", row->shape.height);
    json_number(json, "planes", e->nplanes);
    json_number(json, "pictures", e->npictures);
    if (e->block_x) {
        json_number(json, "block_x", e->block_x);
        json_number(json, "block_y", e->block_y);
    }
    if (row->threads)
        json_number(json, "threads", row->threads);
    if (row->devices)
        json_number(json, "devices", row->devices);
    if (row->lanes)
        json_number(json, "lanes", row->lanes);
    if (row->banks.put) {
        json_number(json, "banks_put", row->banks.put);
        json_number(json, "banks_get", row->banks.get);
    }
    json_text(json, "left_out", r->left_out);
    if (!r->left_out[0]) {
        json_number(json, "bytes", (double)r->bytes);
        json_bool(json, "in_l2", r->in_l2);
        if (r->median > 0)
            json_times(json, row);
        json_number(json, "cells", (double)r->cells);
        json_number(json, "wrong", (double)r->wrong);
        json_bool(json, "known_wrong", e->wrong);
    }
    json_close(json, '}');
}

void bench_show_json(const struct bench *bench)
{
    struct json_writer json = { .out = stdout };
    json_open(&json, NULL, '{');
    json_string(&json, "machine", bench->machine);
    json_number(&json, "gpus", bench->gpus);
    json_text(&json, "gpu_left_out", bench->gpu_left_out.text);
    json_open(&json, "results", '[');
    for (size_t i = 0; i < bench->nrows; i++)
        json_row(&json, &bench->row[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    putchar('\n');
}
