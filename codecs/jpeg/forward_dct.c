/* From samples to coefficients.
 *
 * When libjpeg writes several scans, it first keeps the coefficients of the
 * whole picture, in memory that is lent to it here. Each strip of rows of MCUs
 * is a picture of its own to it. It is told to write scans of DC coefficients
 * alone, which takes little time, and is stopped before it writes the end. */
#include "codecs/jpeg/forward_dct.h"

#include <stdlib.h>

#include "codecs/image/interleave.h"
#include "codecs/jpeg/codec_thread.h"
#include "codecs/jpeg/mcus.h"
#include "codecs/jpeg/raw_planes.h"

struct transformed {
    struct codec_thread worker;
    const struct transform *all;
    uint32_t first, end;  /* rows of MCUs */
    struct bytes nothing; /* what it writes, which is dropped */
};

struct transform {
    const struct jpeg_compress_struct *c;
    struct mcus m;
    struct image *coded;
    const struct image *img;
    bool stored;
    enum dead_zone zone;
    struct transformed *strip;
};

/* Coefficients that are rounded here must come in units of 1. */
static void set_steps(j_compress_ptr c)
{
    for (int i = 0; i < NUM_QUANT_TBLS; i++)
        for (int k = 0; c->quant_tbl_ptrs[i] && k < DCTSIZE2; k++)
            c->quant_tbl_ptrs[i]->quantval[k] = 1;
}

static void set_up(struct transformed *s, j_compress_ptr c)
{
    static const jpeg_scan_info dc_scans[COEFFICIENT_ARRAYS] = {
        { 1, { 0 }, 0, 0, 0, 0 },
        { 1, { 1 }, 0, 0, 0, 0 },
        { 1, { 2 }, 0, 0, 0, 0 },
        { 1, { 3 }, 0, 0, 0, 0 },
    };
    const struct mcus *m = &s->all->m;
    struct coefficient_arrays *blocks = &s->worker.blocks;
    bool last = s->end == m->rows;
    c->image_height =
        (last ? c->image_height : s->end * m->high) - s->first * m->high;
    c->scan_info = dc_scans;
    c->num_scans = c->num_components;
    c->restart_interval = 0;
    c->raw_data_in = s->all->stored;
    if (s->all->zone != DEAD_ZONE_NONE)
        set_steps(c);
    coefficient_arrays_lend_rows(blocks, s->all->coded, (j_common_ptr)c,
                                 m->down, s->first, s->end);
    for (unsigned i = 0; i < m->components; i++) /* all of it is written */
        blocks->array[i].cleared = blocks->array[i].end;
    coefficient_arrays_offer((j_common_ptr)c);
}

static bool transform_rows(void *context)
{
    struct transformed *s = context;
    const struct image *img = s->all->img;
    j_compress_ptr c = &s->worker.c;
    uint32_t first = s->first * s->all->m.high;
    set_up(s, c);
    jpeg_start_compress(c, TRUE);
    if (s->all->stored) {
        raw_planes_write(c, img, first);
        return true;
    }
    JSAMPROW row = c->mem->alloc_large((j_common_ptr)c, JPOOL_IMAGE,
                                       (size_t)img->width * img->nplanes);
    while (c->next_scanline < c->image_height) {
        interleave_join_row(img, first + c->next_scanline, row);
        jpeg_write_scanlines(c, &row, 1);
    }
    return true;
}

static void requantize_strip(const struct transformed *s)
{
    const struct transform *all = s->all;
    for (unsigned i = 0; i < all->m.components; i++) {
        int table = all->c->comp_info[i].quant_tbl_no;
        requantize_rows(&all->coded->plane[i], s->first * all->m.down[i],
                        s->end * all->m.down[i],
                        all->c->quant_tbl_ptrs[table]->quantval, all->zone);
    }
}

static void transform_strip(void *context, size_t i)
{
    const struct transform *all = context;
    struct transformed *s = &all->strip[i];
    if (codec_thread_run(&s->worker, all->c, &s->nothing, transform_rows, s) &&
        all->zone != DEAD_ZONE_NONE)
        requantize_strip(s);
}

static int transform_all(struct transform *all, struct thread_pool *pool,
                         struct err *err)
{
    uint32_t per;
    size_t count = mcus_share(&all->m, pool, &per);
    int status = 0;
    all->strip = calloc(count, sizeof *all->strip);
    if (!all->strip)
        return fail_memory(err, "no memory for the encoder");
    for (size_t i = 0; i < count; i++) {
        struct transformed *s = &all->strip[i];
        s->all = all;
        mcus_strip(&all->m, per, i, &s->first, &s->end);
    }
    thread_pool_run(pool, transform_strip, all, count);
    for (size_t i = 0; i < count; i++) {
        if (!all->strip[i].worker.done) {
            *err = all->strip[i].worker.why;
            status = -1;
        }
        bytes_free(&all->strip[i].nothing);
    }
    free(all->strip);
    return status;
}

int forward_dct_blocks(struct image *coded,
                       const struct jpeg_compress_struct *c,
                       const struct image *img, bool stored,
                       enum dead_zone zone, struct thread_pool *pool,
                       struct err *err)
{
    struct transform all = {
        .c = c, .coded = coded, .img = img, .stored = stored, .zone = zone
    };
    if (!mcus_of(&all.m, c->comp_info, c->num_components, c->image_width,
                 c->image_height))
        return fail(err, "no JPEG has %d such components", c->num_components);
    *coded = (struct image){ .cell = CELL_DCT,
                             .width = img->width,
                             .height = img->height,
                             .nplanes = all.m.components };
    mcus_shape(&all.m, coded);
    if (image_alloc(coded, mem_plain, err))
        return -1;
    if (transform_all(&all, pool, err) == 0)
        return 0;
    image_free(coded);
    return -1;
}
