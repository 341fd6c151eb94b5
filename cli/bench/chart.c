/* The chart of bench. */
#include "cli/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench/row.h"
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
    if (row->part)
        snprintf(number, sizeof number, "%.2f us", bench_row_us(row));
    else
        snprintf(number, sizeof number, row->pictures ? "%.0f/s" : "%.0f",
                 row->pictures ? bench_row_rate(row) : bench_row_gbs(row));
    put_text(out, x + 56, y, style, number);
    snprintf(number, sizeof number, "%.3f", bench_row_share(row));
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
    bench_row_title(row, title, sizeof title);
    bench_row_size(row, size, sizeof size);
    put_text(out, MARGIN, y + 16, "font-size=\"15\" fill=\"#222222\"", title);
    put_text(out, LEFT - 12, y + 16,
             "font-size=\"12\" fill=\"#777777\" text-anchor=\"end\"", size);
    draw_bar(out, 1, y, "#f1f3f5", "");
    draw_bar(out, bench_row_share(row), y, origin_colors[row->entry.origin],
             row->result.wrong ? edge : "");
    draw_numbers(out, row, y + 16);
}

/* Whether all rows are of files: there is no plain copy beside them. */
static bool is_of_pictures(const struct bench *bench)
{
    bool all = bench->nrows > 0;
    for (size_t i = 0; all && i < bench->nrows; i++)
        all = bench->row[i].pictures > 0;
    return all;
}

static void draw_legend(FILE *out, const struct bench *bench, double width)
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
             is_of_pictures(bench)
                 ? "microseconds a file, or files a second; share"
                 : "GB/s read and written, share of a plain copy");
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
             is_of_pictures(bench) ? "Turning JPEG files as they are coded"
                                   : "Turning pictures at the speed of memory");
    put_text(out, MARGIN, 66, "font-size=\"13\" fill=\"#777777\"",
             bench->machine);
    draw_legend(out, bench, width);
    draw_rows(out, bench);
    if (!is_of_pictures(bench))
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
