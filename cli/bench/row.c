/* What is said of a row. */
#include "cli/bench/row.h"

#include <stdio.h>

static const char *const cell_names[] = {
    [CELL_U8] = "u8", [CELL_U16] = "u16", [CELL_F32] = "f32", [CELL_DCT] = "dct"
};

const char *bench_row_name(const struct bench_row *row)
{
    const struct suite_entry *e = &row->entry;
    return e->name ? e->name : xform_name(e->turn);
}

const char *bench_row_cell(const struct bench_row *row)
{
    return row->pictures ? "jpeg" : cell_names[row->entry.cell];
}

double bench_row_gbs(const struct bench_row *row)
{
    const struct suite_result *r = &row->result;
    return r->median > 0 ? (double)r->bytes / r->median * 1e-9 : 0;
}

double bench_row_copy_gbs(const struct bench_row *row)
{
    const struct suite_result *r = &row->result;
    return r->copy > 0 ? (double)r->bytes / r->copy * 1e-9 : 0;
}

double bench_row_share(const struct bench_row *row)
{
    const struct suite_result *r = &row->result;
    if (row->pictures)
        return row->share;
    return r->median > 0 ? r->copy / r->median : 0;
}

double bench_row_us(const struct bench_row *row)
{
    return row->result.median * 1e6 / row->pictures;
}

double bench_row_rate(const struct bench_row *row)
{
    return row->result.median > 0 ? row->pictures / row->result.median : 0;
}

void bench_row_title(const struct bench_row *row, char *title, size_t size)
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
    snprintf(title, size, "%s%s%s%s%s%s%s%s", bench_row_name(row), block,
             pictures, planes, threads, lanes, devices,
             e->origin == SUITE_PUBLISHED ? " *" : "");
}

void bench_row_size(const struct bench_row *row, char *text, size_t size)
{
    snprintf(text, size, "%s %u x %u", bench_row_cell(row), row->shape.width,
             row->shape.height);
}
