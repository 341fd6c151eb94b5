/* Strips of rows of MCUs coded on several threads.
 *
 * Each strip is coded by an encoder of libjpeg as a picture of its own. Where a
 * restart marker stands between two strips, that is all. Elsewhere a strip must
 * continue the DC coefficients of the one before it, and begin at any bit of a
 * byte. So it gets two more rows of MCUs, whose blocks are flat. The one before
 * it brings the DC coefficients to their values, in steps that have codes; the
 * bits of flat blocks can be counted, and are cut off. The one behind it is
 * there since a scan is filled up with ones, which could be taken for a part of
 * its last code: the end of a flat block's code is known. */
#include "codecs/jpeg/strips.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/jpeg/codec_thread.h"
#include "codecs/jpeg/parameters.h"
#include "codecs/jpeg/splice.h"

enum {
    SYMBOL_END = 0, /* the rest of the AC coefficients are 0 */
    BYTES_EACH = 8, /* reserved for a block; most take less */
    SLACK = 4096,   /* for the headers */
};

/* The codes of a row of flat MCUs. */
struct flat {
    uint64_t bits;
    unsigned ones; /* at its end */
};

struct coded_strip {
    struct codec_thread worker;
    const struct strips *all;
    uint32_t first, end; /* rows of MCUs */
    struct bytes file; /* all that libjpeg writes, and its entropy-coded data */
    size_t at, size;
    /* Without restart markers between strips: the DC coefficients before it and
     * its last ones, the flat rows made of them, its bits, and those of the
     * strip before, whose last `phase` bits begin the first byte. */
    int dc_before[COEFFICIENT_ARRAYS], dc_last[COEFFICIENT_ARRAYS];
    struct flat lead, trail;
    struct bit_span bits;
    const struct bit_span *before;
    unsigned phase;
    uint8_t *to; /* where its bytes go */
};

struct strips {
    const struct jpeg_compress_struct *c;
    const struct mcus *m;
    const struct image *img;
    struct coded_strip *strip;
    size_t count;
};

bool strips_suit(struct mcus *m, const struct jpeg_compress_struct *c)
{
    const jpeg_scan_info *scan = c->scan_info;
    if (c->arith_code || (scan && (c->num_scans != 1 || scan->Ss != 0 ||
                                   scan->Se != DCTSIZE2 - 1 ||
                                   scan->comps_in_scan != c->num_components)))
        return false;
    return mcus_of(m, c->comp_info, c->num_components, c->image_width,
                   c->image_height, c->restart_interval) &&
           mcus_blocks(m) <= C_MAX_BLOCKS_IN_MCU;
}

/* ---- Flat blocks ------------------------------------------------------- */

/* Returns the length of the code of a symbol, and the code in *code; 0 if it
 * has none (T.81, annex C). */
static unsigned code_of(const JHUFF_TBL *table, unsigned symbol, unsigned *code)
{
    unsigned next = 0, at = 0;
    for (unsigned length = 1; length <= 16; length++, next <<= 1)
        for (unsigned i = 0; i < table->bits[length]; i++, next++, at++)
            if (at < 256 && table->huffval[at] == symbol) {
                *code = next;
                return length;
            }
    return 0;
}

static const JHUFF_TBL *dc_table(const struct strips *all, unsigned i)
{
    return all->c->dc_huff_tbl_ptrs[all->c->comp_info[i].dc_tbl_no];
}

static const JHUFF_TBL *ac_table(const struct strips *all, unsigned i)
{
    return all->c->ac_huff_tbl_ptrs[all->c->comp_info[i].ac_tbl_no];
}

/* Returns the first step of a DC coefficient towards a value that is `left`
 * away; 0 if there is none. Tables made for a smooth picture have codes for few
 * sizes. The largest of these that is not too long is taken, or else one that
 * is, for which there is another one back. */
static int next_step(const JHUFF_TBL *table, int left)
{
    const unsigned bits = bits_of(left);
    const int sign = left < 0 ? -1 : 1;
    unsigned code;
    if (code_of(table, bits, &code))
        return left;
    for (unsigned less = bits; --less > 0;)
        if (code_of(table, less, &code))
            return sign * ((1 << less) - 1);
    for (unsigned more = bits + 1; more <= DC_BITS; more++)
        if (code_of(table, more, &code))
            return left + sign * (1 << (more - 1));
    return 0;
}

/* Measures a flat row whose DC coefficients begin `left` away from their
 * values, and get there by one step in each MCU. Returns false if they do not
 * get there, or a symbol has no code. */
static bool measure_flat(struct flat *flat, const struct strips *all,
                         const int left[COEFFICIENT_ARRAYS])
{
    const struct mcus *m = all->m;
    flat->bits = 0;
    for (unsigned i = 0; i < m->components; i++) {
        const JHUFF_TBL *dc = dc_table(all, i);
        uint64_t blocks = (uint64_t)m->columns * m->across[i] * m->down[i];
        unsigned code, steps = 0;
        for (int rest = left[i], step; rest; rest -= step, steps++) {
            step = steps < m->columns ? next_step(dc, rest) : 0;
            if (!step)
                return false;
            flat->bits += code_of(dc, bits_of(step), &code) + bits_of(step);
        }
        unsigned same = code_of(dc, 0, &code);
        unsigned end = code_of(ac_table(all, i), SYMBOL_END, &code);
        if (!same || !end)
            return false;
        flat->bits += (blocks - steps) * same + blocks * end;
        for (flat->ones = 0; code >> flat->ones & 1; flat->ones++)
            ;
    }
    return true;
}

/* Returns false if the strip cannot be coded by itself. */
static bool plan_strip(struct coded_strip *s)
{
    static const int nothing[COEFFICIENT_ARRAYS];
    const struct strips *all = s->all;
    if (all->m->restart)
        return true;
    if (s->first)
        mcus_predict(all->m, all->img, s->first, s->dc_before);
    mcus_predict(all->m, all->img, s->end, s->dc_last);
    return (!s->first || measure_flat(&s->lead, all, s->dc_before)) &&
           measure_flat(&s->trail, all, nothing);
}

/* ---- Coding ------------------------------------------------------------ */

static JBLOCKROW flat_row(struct coded_strip *s, const struct plane *plane,
                          int dc)
{
    j_common_ptr cinfo = (j_common_ptr)&s->worker.c;
    size_t count = (size_t)plane->width + MAX_SAMP_FACTOR - 1;
    JBLOCKROW row =
        cinfo->mem->alloc_large(cinfo, JPOOL_IMAGE, count * sizeof *row);
    memset(row, 0, count * sizeof *row);
    for (size_t x = 0; x < count; x++)
        row[x][0] = (JCOEF)dc;
    return row;
}

/* Makes the row that measure_flat() has measured. */
static JBLOCKROW lead_row(struct coded_strip *s, unsigned i)
{
    const struct strips *all = s->all;
    const uint32_t across = all->m->across[i];
    const struct plane *plane = &all->img->plane[i];
    JBLOCKROW row = flat_row(s, plane, s->dc_before[i]);
    int dc = 0;
    for (uint32_t x = 0; dc != s->dc_before[i] && x < plane->width; x++) {
        if (x % across == 0)
            dc += next_step(dc_table(all, i), s->dc_before[i] - dc);
        row[x][0] = (JCOEF)dc;
    }
    return row;
}

/* Makes the rows of the last MCUs below the picture, which libjpeg would add by
 * itself if they were the last: they repeat the DC coefficient before them. */
static JBLOCKROW row_below(struct coded_strip *s, const struct plane *plane,
                           uint32_t across)
{
    JBLOCKROW row = flat_row(s, plane, 0);
    const JBLOCK *last = plane_row(plane, plane->height - 1);
    for (uint32_t x = 0; x < plane->width; x++) {
        uint32_t end = x - x % across + across;
        row[x][0] = last[(end < plane->width ? end : plane->width) - 1][0];
    }
    return row;
}

static void add_flat_rows(struct coded_strip *s)
{
    const struct mcus *m = s->all->m;
    for (unsigned i = 0; i < m->components; i++) {
        const struct plane *plane = &s->all->img->plane[i];
        struct jvirt_barray_control *array = &s->worker.blocks.array[i];
        if (s->first) {
            array->lead = m->down[i];
            array->before = lead_row(s, i);
        }
        if (array->end > plane->height)
            array->below = row_below(s, plane, m->across[i]);
        array->behind = flat_row(s, plane, s->dc_last[i]);
    }
}

/* Finds the bits that are the strip's own. */
static bool cut_flat_rows(struct coded_strip *s)
{
    uint8_t *data = s->file.data + s->at;
    s->size = splice_unstuff(data, s->size);
    uint64_t end = 8 * (uint64_t)s->size;
    unsigned ones = 0;
    while (ones < end && data[(end - 1 - ones) / 8] >> ones % 8 & 1)
        ones++;
    if (ones < s->trail.ones || ones - s->trail.ones > 7 ||
        s->lead.bits + s->trail.bits + 8 + ones > end)
        return false;
    s->bits = (struct bit_span){ data, s->lead.bits,
                                 end - (ones - s->trail.ones) - s->trail.bits };
    return true;
}

static bool code_rows(void *context)
{
    struct coded_strip *s = context;
    j_compress_ptr c = &s->worker.c;
    const struct mcus *m = s->all->m;
    const struct image *img = s->all->img;
    uint32_t rows = s->end - s->first;
    size_t blocks = (size_t)rows * m->columns * mcus_blocks(m);
    coefficient_arrays_lend_rows(&s->worker.blocks, img, (j_common_ptr)c,
                                 m->down, s->first, s->end);
    if (!m->restart) {
        add_flat_rows(s);
        c->image_height = (rows + 1 + (s->first > 0)) * m->high;
    } else if (s->end < m->rows) {
        c->image_height = rows * m->high;
    } else {
        c->image_height -= s->first * m->high;
    }
    if (!bytes_reserve(&s->file, SLACK + blocks * BYTES_EACH))
        return false;
    codec_thread_size(c);
    jpeg_write_coefficients(c, s->worker.blocks.list);
    jpeg_finish_compress(c);
    s->at = parameters_find_data(s->file.data, s->file.size);
    if (!s->at)
        return false;
    s->size = s->file.size - s->at - 2; /* EOI */
    if (!bytes_reserve(&s->file, 8))    /* which splice() may read */
        return false;
    if (!m->restart)
        return cut_flat_rows(s);
    splice_number_restarts(s->file.data + s->at, s->size,
                           mcus_restarts(m, s->first));
    return true;
}

static void code_strip(void *context, size_t i)
{
    const struct strips *all = context;
    struct coded_strip *s = &all->strip[i];
    codec_thread_run(&s->worker, all->c, &s->file, code_rows, s);
}

static bool all_done(const struct strips *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (!all->strip[i].worker.done)
            return false;
    return true;
}

struct strips *strips_code(const struct jpeg_compress_struct *c,
                           const struct mcus *m, const struct image *img,
                           struct thread_pool *pool)
{
    uint32_t per;
    size_t count = mcus_share(m, pool, &per);
    struct strips *all =
        count < 2 || c->optimize_coding ? NULL : calloc(1, sizeof *all);
    if (!all)
        return NULL;
    *all = (struct strips){ c, m, img, .count = count };
    all->strip = calloc(count, sizeof *all->strip);
    bool possible = all->strip != NULL;
    for (size_t i = 0; possible && i < count; i++) {
        struct coded_strip *s = &all->strip[i];
        s->all = all;
        mcus_strip(m, per, i, &s->first, &s->end);
        possible = plan_strip(s);
    }
    if (possible)
        thread_pool_run(pool, code_strip, all, count);
    if (possible && all_done(all))
        return all;
    strips_free(all);
    return NULL;
}

void strips_free(struct strips *all)
{
    if (!all)
        return;
    for (size_t i = 0; all->strip && i < all->count; i++)
        bytes_free(&all->strip[i].file);
    free(all->strip);
    free(all);
}

/* ---- Joining ----------------------------------------------------------- */

static void measure_strip(void *context, size_t i)
{
    const struct strips *all = context;
    struct coded_strip *s = &all->strip[i];
    s->size = splice_size(s->bits, s->before, s->phase, i + 1 == all->count);
}

static void splice_strip(void *context, size_t i)
{
    const struct strips *all = context;
    const struct coded_strip *s = &all->strip[i];
    splice(s->to, s->bits, s->before, s->phase, i + 1 == all->count);
}

static bool join_bits(struct strips *all, struct bytes *file,
                      struct thread_pool *pool)
{
    uint64_t bits = 0;
    size_t size = 0;
    for (size_t i = 0; i < all->count; i++) {
        struct coded_strip *s = &all->strip[i];
        s->phase = bits % 8;
        s->before = i ? &all->strip[i - 1].bits : NULL;
        bits += s->bits.to - s->bits.from;
    }
    thread_pool_run(pool, measure_strip, all, all->count);
    for (size_t i = 0; i < all->count; i++)
        size += all->strip[i].size;
    if (!bytes_reserve(file, size))
        return false;
    for (size_t i = 0; i < all->count; i++) {
        all->strip[i].to = file->data + file->size;
        file->size += all->strip[i].size;
    }
    thread_pool_run(pool, splice_strip, all, all->count);
    return true;
}

static bool join_restarts(const struct strips *all, struct bytes *file)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct coded_strip *s = &all->strip[i];
        uint64_t number = mcus_restarts(all->m, s->first) + 7;
        const uint8_t marker[2] = { 0xff, (uint8_t)(JPEG_RST0 + number % 8) };
        if ((i && !bytes_append(file, marker, sizeof marker)) ||
            !bytes_append(file, s->file.data + s->at, s->size))
            return false;
    }
    return true;
}

bool strips_join(struct strips *all, struct bytes *file,
                 struct thread_pool *pool)
{
    return all->m->restart ? join_restarts(all, file)
                           : join_bits(all, file, pool);
}
