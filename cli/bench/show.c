/* What bench prints: a table with bars, JSON, a chart. */
#include "cli/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files/file_write.h"
#include "cli/json/json_write.h"

static const char *const cell_names[] = {
    [CELL_U8] = "u8", [CELL_U16] = "u16", [CELL_F32] = "f32", [CELL_DCT] = "dct"
};
static const char *const origin_names[] = {
    [SUITE_PUBLISHED] = "published",
    [SUITE_MEANT] = "meant",
    [SUITE_LIBRARY] = "library",
    [SUITE_OURS] = "gimgxf",
};

/* ---- What is said of a row ----------------------------------------------- */

static const char *name_of(const struct suite_entry *entry)
{
    return entry->name ? entry->name : xform_name(entry->turn);
}

static double gbs_of(const struct suite_result *r)
{
    return r->median > 0 ? (double)r->bytes / r->median * 1e-9 : 0;
}

static double copy_gbs_of(const struct suite_result *r)
{
    return r->copy > 0 ? (double)r->bytes / r->copy * 1e-9 : 0;
}

static double share_of(const struct bench_row *row)
{
    const struct suite_result *r = &row->result;
    if (row->pictures)
        return row->share;
    return r->median > 0 ? r->copy / r->median : 0;
}

/* Microseconds, and how many a second. */
static double us_of(const struct bench_row *row)
{
    return row->result.median * 1e6 / row->pictures;
}

static double rate_of(const struct bench_row *row)
{
    return row->result.median > 0 ? row->pictures / row->result.median : 0;
}

/* Writes what a row ran, for one line of a table or a chart. */
static void title_of(const struct bench_row *row, char *title, size_t size)
{
    const struct suite_entry *e = &row->entry;
    char block[32] = "", planes[32] = "", threads[32] = "", pictures[32] = "";
    char lanes[32] = "", devices[32] = "";
    if (e->sweep)
        snprintf(block, sizeof block, ", %u x %u", e->block_x, e->block_y);
    if (e->nplanes > 1)
        snprintf(planes, sizeof planes, ", %u planes", e->nplanes);
    if (e->npictures > 1)
        snprintf(pictures, sizeof pictures, ", %u pictures", e->npictures);
    if (row->lanes)
        snprintf(lanes, sizeof lanes, ", %u lane%s", row->lanes,
                 row->lanes > 1 ? "s" : "");
    if (row->devices > 1)
        snprintf(devices, sizeof devices, ", %u GPUs", row->devices);
    if (row->threads > 1)
        snprintf(threads, sizeof threads, ", %u threads", row->threads);
    snprintf(title, size, "%s%s%s%s%s%s%s%s", name_of(e), block, pictures,
             planes, threads, lanes, devices,
             e->origin == SUITE_PUBLISHED ? " *" : "");
}

static void size_of(const struct bench_row *row, char *text, size_t size)
{
    snprintf(text, size, "%s %u x %u",
             row->pictures ? "JPEG" : cell_names[row->entry.cell],
             row->shape.width, row->shape.height);
}

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
    title_of(row, title, sizeof title);
    size_of(row, size, sizeof size);
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
                printf(" %9.2f us %8.0f/s", us_of(row), rate_of(row));
            else
                printf(" %7.1f", gbs_of(r));
            printf(" %6.3f ", share_of(row));
            put_bar(share_of(row));
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
    json_number(json, "gbs", gbs_of(r));
    if (row->pictures) {
        json_number(json, "us_a_picture", us_of(row));
        json_number(json, "pictures_a_second", rate_of(row));
    } else {
        json_number(json, "copy_gbs", copy_gbs_of(r));
    }
    json_number(json, "share", share_of(row));
}

static void json_row(struct json_writer *json, const struct bench_row *row)
{
    const struct suite_entry *e = &row->entry;
    const struct suite_result *r = &row->result;
    json_open(json, NULL, '{');
    json_string(json, "section", e->section);
    json_string(json, "source", e->source);
    json_string(json, "name", name_of(e));
    json_string(json, "form", origin_names[e->origin]);
    json_text(json, "note", e->note);
    json_string(json, "turn", xform_name(e->turn));
    json_string(json, "cell", row->pictures ? "jpeg" : cell_names[e->cell]);
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

/* ---- The chart ----------------------------------------------------------- */

/* Pixels: a line of text and its bar, the title of a source, and columns. */
enum {
    LINE = 24,
    GROUP = 44,
    TOP = 118,
    LEFT = 500,  /* where bars begin */
    UNIT = 480,  /* a share of 1 */
    RIGHT = 260, /* for what stands behind the longest bar */
    MARGIN = 32,
};
/* Longer bars are cut off; the number beside them is right. */
static const double SHARE_MAX = 1.15;

static const char *const origin_colors[] = {
    [SUITE_PUBLISHED] = "#b4bfca",
    [SUITE_MEANT] = "#6f8fb0",
    [SUITE_LIBRARY] = "#d9a441",
    [SUITE_OURS] = "#2a9d6e",
};
static const char *const origin_titles[] = {
    [SUITE_PUBLISHED] = "as published",
    [SUITE_MEANT] = "as meant",
    [SUITE_LIBRARY] = "library",
    [SUITE_OURS] = "gimgxf",
};
enum { ORIGINS = sizeof origin_titles / sizeof origin_titles[0] };

static bool has_bar(const struct bench_row *row)
{
    return !row->result.left_out[0] && row->result.median > 0;
}

static void put_xml(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if ((unsigned char)*text >= ' ' && (unsigned char)*text < 0x7f)
            putc(*text, out);
        else
            putc('?', out);
}

static void put_text(FILE *out, double x, double y, const char *style,
                     const char *text)
{
    fprintf(out, "<text x=\"%.0f\" y=\"%.0f\" %s>", x, y, style);
    put_xml(out, text);
    fputs("</text>\n", out);
}

/* Numbers stand in columns behind the longest bar. */
static void draw_numbers(FILE *out, const struct bench_row *row, double y)
{
    static const char *const style =
        "font-size=\"13\" fill=\"#222222\" text-anchor=\"end\"";
    const struct suite_result *r = &row->result;
    double x = LEFT + UNIT * SHARE_MAX;
    char number[32];
    snprintf(number, sizeof number, row->pictures ? "%.0f/s" : "%.0f",
             row->pictures ? rate_of(row) : gbs_of(r));
    put_text(out, x + 56, y, style, number);
    snprintf(number, sizeof number, "%.3f", share_of(row));
    put_text(out, x + 112, y, style, number);
    if (r->wrong)
        put_text(out, x + 126, y, "font-size=\"13\" fill=\"#c0392b\"",
                 "wrong result");
    else if (r->in_l2)
        put_text(out, x + 126, y, "font-size=\"13\" fill=\"#777777\"", "in L2");
}

static void draw_bar(FILE *out, double share, double y, const char *color,
                     const char *more)
{
    double shown = share < SHARE_MAX ? share : SHARE_MAX;
    fprintf(out,
            "<rect x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" "
            "fill=\"%s\"%s/>\n",
            LEFT, y + 3, shown * UNIT, LINE - 6, color, more);
}

static void draw_row(FILE *out, const struct bench_row *row, double y)
{
    const char *edge = " stroke=\"#c0392b\" stroke-dasharray=\"4 3\"";
    char title[128], size[48];
    title_of(row, title, sizeof title);
    size_of(row, size, sizeof size);
    put_text(out, MARGIN, y + 16, "font-size=\"15\" fill=\"#222222\"", title);
    put_text(out, LEFT - 12, y + 16,
             "font-size=\"12\" fill=\"#777777\" text-anchor=\"end\"", size);
    draw_bar(out, 1, y, "#f1f3f5", "");
    draw_bar(out, share_of(row), y, origin_colors[row->entry.origin],
             row->result.wrong ? edge : "");
    draw_numbers(out, row, y + 16);
}

static void draw_legend(FILE *out, double width)
{
    double x = MARGIN;
    for (int i = 0; i < ORIGINS; i++) {
        fprintf(out,
                "<rect x=\"%.0f\" y=\"80\" width=\"14\" height=\"14\" "
                "fill=\"%s\"/>\n",
                x, origin_colors[i]);
        put_text(out, x + 20, 92, "font-size=\"13\" fill=\"#222222\"",
                 origin_titles[i]);
        x += 120;
    }
    put_text(out, width - MARGIN, 92,
             "font-size=\"13\" fill=\"#777777\" text-anchor=\"end\"",
             "GB/s read and written, share of a plain copy");
}

/* Draws the line of a share of 1 through all bars. */
static void draw_copy_line(FILE *out, double height)
{
    double x = LEFT + UNIT;
    fprintf(out,
            "<line x1=\"%.0f\" y1=\"%d\" x2=\"%.0f\" y2=\"%.0f\" "
            "stroke=\"#222222\" stroke-width=\"1.5\" "
            "stroke-dasharray=\"2 3\"/>\n",
            x, TOP + 4, x, height - MARGIN);
    put_text(out, x, TOP,
             "font-size=\"12\" fill=\"#222222\" "
             "text-anchor=\"middle\"",
             "plain copy");
}

/* Returns where row i goes: below the title of its source if it is the
 * first. */
static double place_row(const struct bench *bench, size_t i, size_t previous,
                        double y)
{
    bool first =
        previous == bench->nrows ||
        strcmp(bench->row[previous].entry.source, bench->row[i].entry.source);
    return first ? y + GROUP : y;
}

/* Draws the rows, or nothing if `out` is NULL. Returns how far down they
 * reach. */
static double draw_rows(FILE *out, const struct bench *bench)
{
    double y = TOP;
    size_t previous = bench->nrows;
    for (size_t i = 0; i < bench->nrows; i++) {
        const struct bench_row *row = &bench->row[i];
        if (!has_bar(row))
            continue;
        double place = place_row(bench, i, previous, y);
        if (out && place > y)
            put_text(out, MARGIN, place - 10,
                     "font-size=\"17\" font-weight=\"bold\" fill=\"#222222\"",
                     row->entry.source);
        if (out)
            draw_row(out, row, place);
        previous = i;
        y = place + LINE;
    }
    return y;
}

static void draw(FILE *out, const struct bench *bench)
{
    double width = LEFT + UNIT * SHARE_MAX + RIGHT;
    double height = draw_rows(NULL, bench) + 2 * MARGIN;
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
            "width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"Helvetica, Arial, sans-serif\" stroke=\"none\">\n"
            "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#ffffff\"/>\n",
            width, height, width, height, width, height);
    put_text(out, MARGIN, 44,
             "font-size=\"26\" font-weight=\"bold\" fill=\"#222222\"",
             "Turning pictures at the speed of memory");
    put_text(out, MARGIN, 66, "font-size=\"13\" fill=\"#777777\"",
             bench->machine);
    draw_legend(out, width);
    draw_rows(out, bench);
    draw_copy_line(out, height);
    fputs("</svg>\n", out);
}

int bench_show_svg(const struct bench *bench, struct err *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct write_opts opts = { .mode = 0666 };
    struct err why;
    if (!out)
        return fail(err, "no memory for the chart");
    draw(out, bench);
    if (fclose(out)) {
        free(text);
        return fail(err, "no memory for the chart");
    }
    struct bytes file = { .data = (uint8_t *)text, .size = size };
    int status = 0;
    if (file_write(bench->opts.svg, file, &opts, &why) == WRITTEN_NOT)
        status = fail(err, "%s: %s", bench->opts.svg, why.text);
    free(text);
    return status;
}
