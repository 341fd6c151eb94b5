/* What bench prints: a table with bars, JSON, and a chart. */
#include "cli/bench/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files/file_write.h"
#include "cli/json/json.h"

static const struct {
    const char *form, *title, *color;
} origins[] = {
    [SUITE_PUBLISHED] = { "published", "as published", "#b4bfca" },
    [SUITE_MEANT] = { "meant", "as meant", "#6f8fb0" },
    [SUITE_LIBRARY] = { "library", "library", "#d9a441" },
    [SUITE_OURS] = { "gimgxf", "gimgxf", "#2a9d6e" },
};
enum { ORIGINS = sizeof origins / sizeof origins[0] };

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
        printf(" %9.2f us %8.0f/s %6.3f ", s->us, s->rate, s->share);
    else
        printf(" %7.1f %6.3f ", s->gbs, s->share);
    const int end = n < BAR ? BAR : n < BAR + 6 ? n : BAR + 6;
    for (int i = 0; r->times.median > 0 && i < end; i++)
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
               "of JPEG files microseconds, files a second, and a share.\n"
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

static void json_result(struct json_writer *json, const struct bench_row *row)
{
    const struct suite_result *r = &row->result;
    json_number(json, "bytes", (double)r->bytes);
    json_bool(json, "in_l2", r->in_l2);
    if (r->times.median > 0) {
        json_open(json, "seconds", '{');
        json_number(json, "median", r->times.median);
        json_number(json, "min", r->times.min);
        json_number(json, "max", r->times.max);
        json_number(json, "copy", r->times.copy);
        json_close(json, '}');
        json_number(json, "rounds", r->times.rounds);
        json_number(json, "launches", r->launches);
        json_number(json, "gbs", row->speed.gbs);
        json_number(json, "copy_gbs", row->speed.copy_gbs);
        json_some(json, "us_a_picture", row->speed.us);
        json_some(json, "pictures_a_second", row->speed.rate);
        json_number(json, "share", row->speed.share);
    }
    json_number(json, "cells", (double)r->cells);
    json_number(json, "wrong", (double)r->wrong);
    json_bool(json, "known_wrong", row->entry.wrong);
}

static void json_row(struct json_writer *json, const struct bench_row *row)
{
    const struct suite_entry *e = &row->entry;
    json_open(json, NULL, '{');
    json_string(json, "section", e->section->name);
    json_string(json, "source", e->section->source);
    json_string(json, "name", row->name);
    json_string(json, "form", origins[e->origin].form);
    json_string(json, "note", e->note);
    json_string(json, "turn", xform_name(e->work.turn));
    json_string(json, "cell", row->cell);
    json_number(json, "width", row->shape.width);
    json_number(json, "height", row->shape.height);
    json_number(json, "planes", e->work.nplanes);
    json_number(json, "pictures", e->work.npictures);
    json_some(json, "block_x", e->by.block_x);
    json_some(json, "block_y", e->by.block_y);
    json_some(json, "threads", e->by.threads);
    json_some(json, "devices", e->by.devices);
    json_some(json, "lanes", e->by.lanes);
    json_some(json, "banks_put", row->result.banks.put);
    json_some(json, "banks_get", row->result.banks.get);
    json_string(json, "left_out", row->result.left_out);
    if (!row->result.left_out)
        json_result(json, row);
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
static const double WIDTH = LEFT + UNIT * 1.15 + RIGHT;

/* Writes text of at most 400 characters. */
__attribute__((format(printf, 5, 6))) static void
put_text(FILE *out, double x, double y, const char *class, const char *format,
         ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(out, "<text x=\"%.0f\" y=\"%.0f\" class=\"%s\">", x, y, class);
    for (const char *c = text; *c; c++)
        if (*c == '&' || *c == '<' || *c == '>')
            fprintf(out, "&#%d;", *c);
        else
            putc(*c >= ' ' && *c < 0x7f ? *c : '?', out);
    fputs("</text>\n", out);
}

static void put_bar(FILE *out, double share, double y, const char *color,
                    const char *more)
{
    fprintf(out,
            "<rect x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" "
            "fill=\"%s\"%s/>\n",
            LEFT, y + 3, (share < SHARE_MAX ? share : SHARE_MAX) * UNIT,
            LINE - 6, color, more);
}

/* Numbers stand in columns behind the longest bar. */
static void draw_row(FILE *out, const struct bench_row *row, double y)
{
    const struct suite_result *r = &row->result;
    const double x = LEFT + UNIT * SHARE_MAX;
    put_text(out, MARGIN, y + 16, "name", "%s", row->title);
    put_text(out, LEFT - 12, y + 16, "size", "%s", row->size);
    put_bar(out, 1, y, "#f1f3f5", "");
    put_bar(out, row->speed.share, y, origins[row->entry.origin].color,
            r->wrong ? " stroke=\"#c0392b\" stroke-dasharray=\"4 3\"" : "");
    if (row->part)
        put_text(out, x + 56, y + 16, "number", "%.2f us", row->speed.us);
    else
        put_text(out, x + 56, y + 16, "number", r->files ? "%.0f/s" : "%.0f",
                 r->files ? row->speed.rate : row->speed.gbs);
    put_text(out, x + 112, y + 16, "number", "%.3f", row->speed.share);
    if (r->wrong || r->in_l2)
        put_text(out, x + 126, y + 16, r->wrong ? "wrong" : "gray",
                 r->wrong ? "wrong result" : "in L2");
}

/* Returns whether this row is drawn, and moves `y` below the title of its
 * source if that is not the source of the rows before. */
static bool is_drawn(const struct bench_row *row, const char **source,
                     double *y)
{
    const char *of = row->entry.section->source;
    if (row->result.times.median <= 0)
        return false;
    *y += strcmp(*source, of) != 0 ? GROUP : 0;
    *source = of;
    return true;
}

static void draw(FILE *out, const struct bench *bench)
{
    /* Files have no plain copy beside them. */
    bool files = bench->nrows > 0;
    double height = TOP + 2 * MARGIN, y = TOP;
    const char *source = "", *last = "";
    for (size_t i = 0; i < bench->nrows; i++) {
        const struct bench_row *row = &bench->row[i];
        files = files && strcmp(row->entry.section->name, "jpeg") == 0;
        height += is_drawn(row, &source, &height) ? LINE : 0;
    }
    fprintf(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
        "width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
        "font-family=\"Helvetica, Arial, sans-serif\" stroke=\"none\">\n"
        "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#ffffff\"/>\n"
        "<style>text{font-size:13px;fill:#222}"
        ".title{font-size:26px}.source{font-size:17px}.name{font-size:15px}"
        ".title,.source{font-weight:bold}.size,.copy{font-size:12px}"
        ".gray,.size{fill:#777}.wrong{fill:#c0392b}.copy{text-anchor:middle}"
        ".number,.size,.end{text-anchor:end}</style>\n",
        WIDTH, height, WIDTH, height, WIDTH, height);
    put_text(out, MARGIN, 44, "title", "%s",
             files ? "Turning JPEG files as they are coded"
                   : "Turning pictures at the speed of memory");
    put_text(out, MARGIN, 66, "gray", "%s", bench->machine);
    for (int i = 0; i < ORIGINS; i++) {
        fprintf(out,
                "<rect x=\"%d\" y=\"80\" width=\"14\" height=\"14\" "
                "fill=\"%s\"/>\n",
                MARGIN + i * 120, origins[i].color);
        put_text(out, MARGIN + i * 120 + 20, 92, "legend", "%s",
                 origins[i].title);
    }
    put_text(out, WIDTH - MARGIN, 92, "gray end", "%s",
             files ? "microseconds a file, or files a second; share"
                   : "GB/s read and written, share of a plain copy");
    for (size_t i = 0; i < bench->nrows; i++) {
        const double above = y;
        if (!is_drawn(&bench->row[i], &last, &y))
            continue;
        if (y > above)
            put_text(out, MARGIN, y - 10, "source", "%s", last);
        draw_row(out, &bench->row[i], y);
        y += LINE;
    }
    if (!files) { /* the line of a share of 1 through all bars */
        fprintf(out,
                "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%.0f\" "
                "stroke=\"#222222\" stroke-width=\"1.5\" "
                "stroke-dasharray=\"2 3\"/>\n",
                LEFT + UNIT, TOP + 4, LEFT + UNIT, height - MARGIN);
        put_text(out, LEFT + UNIT, TOP, "copy", "plain copy");
    }
    fputs("</svg>\n", out);
}

int bench_show_svg(const struct bench *bench, struct err *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct write_opts opts = { .mode = 0666 };
    struct err why;
    int status = 0;
    if (out)
        draw(out, bench);
    if (!out || fclose(out))
        status = fail(err, "no memory for the chart");
    struct bytes file = { .data = (uint8_t *)text, .size = size };
    if (!status &&
        file_write(bench->opts.svg, file, &opts, &why) == WRITTEN_NOT)
        status = fail(err, "%s: %s", bench->opts.svg, why.text);
    free(text);
    return status;
}
