/* The chart of bench. */
#include "cli/bench/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files/file_write.h"

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

static const struct {
    const char *color, *title;
} origins[] = {
    [SUITE_PUBLISHED] = { "#b4bfca", "as published" },
    [SUITE_MEANT] = { "#6f8fb0", "as meant" },
    [SUITE_LIBRARY] = { "#d9a441", "library" },
    [SUITE_OURS] = { "#2a9d6e", "gimgxf" },
};
enum { ORIGINS = sizeof origins / sizeof origins[0] };

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
    const char *edge = " stroke=\"#c0392b\" stroke-dasharray=\"4 3\"";
    const double x = LEFT + UNIT * SHARE_MAX;
    put_text(out, MARGIN, y + 16, "name", "%s", row->title);
    put_text(out, LEFT - 12, y + 16, "size", "%s", row->size);
    put_bar(out, 1, y, "#f1f3f5", "");
    put_bar(out, row->share, y, origins[row->entry.origin].color,
            r->wrong ? edge : "");
    if (row->part)
        put_text(out, x + 56, y + 16, "number", "%.2f us", row->us);
    else if (r->files)
        put_text(out, x + 56, y + 16, "number", "%.0f/s", row->rate);
    else
        put_text(out, x + 56, y + 16, "number", "%.0f", row->gbs);
    put_text(out, x + 112, y + 16, "number", "%.3f", row->share);
    if (r->wrong)
        put_text(out, x + 126, y + 16, "wrong", "wrong result");
    else if (r->in_l2)
        put_text(out, x + 126, y + 16, "gray", "in L2");
}

/* Draws the rows that were timed, or nothing if `out` is NULL. Returns how far
 * down they reach; sets whether all are of files, which have no plain copy
 * beside them. */
static double draw_rows(FILE *out, const struct bench *bench, bool *files)
{
    double y = TOP;
    const char *source = "";
    *files = bench->nrows > 0;
    for (size_t i = 0; i < bench->nrows; i++) {
        const struct bench_row *row = &bench->row[i];
        const char *of = row->entry.section->source;
        *files = *files && strcmp(row->entry.section->name, "jpeg") == 0;
        if (row->result.median <= 0)
            continue;
        if (strcmp(source, of) != 0) {
            y += GROUP;
            if (out)
                put_text(out, MARGIN, y - 10, "source", "%s", of);
        }
        if (out)
            draw_row(out, row, y);
        source = of;
        y += LINE;
    }
    return y;
}

static void draw(FILE *out, const struct bench *bench)
{
    bool files;
    const double height = draw_rows(NULL, bench, &files) + 2 * MARGIN;
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
    (void)draw_rows(out, bench, &files);
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
