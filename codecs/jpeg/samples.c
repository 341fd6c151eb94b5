/* Samples from blocks of coefficients, and back. */
#include "codecs/jpeg/samples.h"

#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/jpeg/entropy/block_visitor.h"
#include "codecs/jpeg/requantize.h"

enum { SIDE = 8, CELLS = 64 };

struct dct_rounding samples_rounding(const uint16_t step[CELLS], bool dead_zone)
{
    struct dct_rounding rounding = { .least = { 0 } };
    for (unsigned k = 0; k < CELLS; k++) {
        rounding.step[k] = requantize_step(step[k], UINT16_MAX);
        if (dead_zone)
            rounding.least[k] = requantize_least(k, rounding.step[k]);
    }
    return rounding;
}

/* ---- One block ------------------------------------------------------------*/

static void decode_block(const struct samples *s, uint32_t x, uint32_t y,
                         int16_t block[CELLS])
{
    uint8_t last[CELLS], *to = plane_row(&s->plane, SIDE * (size_t)y);
    uint32_t rows = s->plane.height - SIDE * y;
    to += SIDE * (size_t)x;
    if (s->transposed)
        dct_transpose(block);
    if (rows >= SIDE) {
        dct_inverse(to, s->plane.stride, block, s->step);
        return;
    }
    dct_inverse(last, SIDE, block, s->step);
    for (uint32_t i = 0; i < rows; i++, to += s->plane.stride)
        memcpy(to, last + (size_t)SIDE * i, SIDE);
}

/* Returns the samples of a block. If it is not whole, it is made so in `last`.
 */
static const uint8_t *block_samples(const struct plane *plane, uint32_t x,
                                    uint32_t y, uint8_t last[CELLS],
                                    size_t *stride)
{
    const uint32_t width = plane->width - SIDE * x,
                   height = plane->height - SIDE * y;
    const uint8_t *from =
        (uint8_t *)plane_row(plane, SIDE * (size_t)y) + SIDE * (size_t)x;
    *stride = plane->stride;
    if (width >= SIDE && height >= SIDE)
        return from;
    for (uint32_t i = 0; i < CELLS; i++) {
        const uint32_t row = i / SIDE, column = i % SIDE;
        last[i] = from[*stride * (row < height ? row : height - 1) +
                       (column < width ? column : width - 1)];
    }
    *stride = SIDE;
    return last;
}

static void encode_block(const struct samples *s, uint32_t x, uint32_t y,
                         int16_t block[CELLS])
{
    uint8_t last[CELLS];
    size_t stride;
    const uint8_t *from = block_samples(&s->plane, x, y, last, &stride);
    dct_forward(block, from, stride, &s->rounding);
    if (s->transposed)
        dct_transpose(block);
}

/* ---- All blocks -----------------------------------------------------------*/

typedef void compute_block(const struct samples *s, uint32_t x, uint32_t y,
                           int16_t block[CELLS]);

/* What is done with the blocks of a plane. */
struct plane_work {
    const struct plane *plane;
    const struct samples *samples;
    compute_block *compute;
};

static void compute_row(void *context, size_t y)
{
    const struct plane_work *work = context;
    int16_t *block = (int16_t *)plane_row(work->plane, y);
    for (uint32_t x = 0; x < work->plane->width; x++, block += CELLS)
        work->compute(work->samples, x, (uint32_t)y, block);
}

/* What is done with the blocks of a scan: its components are samples[i]. */
struct scan_work {
    const struct samples *samples[ENTROPY_COMPONENTS];
    compute_block *compute;
};

static void visit(void *context, unsigned c, uint32_t x, uint32_t y,
                  int16_t block[CELLS])
{
    const struct scan_work *work = context;
    work->compute(work->samples[c], x, y, block);
}

static int compute_scan(struct sequential_scan *scan,
                        const struct samples *samples, bool encodes,
                        struct thread_pool *pool, struct err *err)
{
    struct scan_work work = { .compute =
                                  encodes ? encode_block : decode_block };
    struct block_visitor visitor = { .visit = visit, .context = &work };
    bool any = false;
    for (unsigned i = 0; i < scan->coding.components; i++) {
        work.samples[i] = &samples[scan->component[i]];
        visitor.wants[i] = work.samples[i]->wanted;
        any = any || visitor.wants[i];
    }
    if (any && encodes)
        return block_visitor_replace(&scan->blocks, &scan->coding, &visitor,
                                     pool, err);
    if (any)
        block_visitor_show(&scan->blocks, &scan->coding, &visitor, pool);
    return 0;
}

static int compute(const struct samples *samples,
                   const struct block_holder *blocks, bool encodes,
                   struct thread_pool *pool, struct err *err)
{
    const struct image *planes = blocks->planes;
    int status = 0;
    const bool in_planes = planes && planes->cells;
    for (unsigned i = 0; in_planes && i < planes->nplanes; i++) {
        struct plane_work work = { &planes->plane[i], &samples[i],
                                   encodes ? encode_block : decode_block };
        if (samples[i].wanted)
            thread_pool_run(pool, compute_row, &work, work.plane->height);
    }
    for (unsigned i = 0; !in_planes && status == 0 && i < blocks->coded->scans;
         i++)
        status =
            compute_scan(&blocks->coded->scan[i], samples, encodes, pool, err);
    return status;
}

void samples_decode(const struct samples *samples,
                    const struct block_holder *from, struct thread_pool *pool)
{
    compute(samples, from, false, pool, NULL);
}

int samples_encode(const struct samples *samples, const struct block_holder *to,
                   struct thread_pool *pool, struct err *err)
{
    return compute(samples, to, true, pool, err);
}

/* ---- Steps ----------------------------------------------------------------*/

/* Some blocks of a component, which stand for all. */
struct sampled {
    int16_t *block;
    size_t count;
    const uint16_t *step;
    uint64_t limit; /* of their error */
};

static uint64_t error_of(const struct sampled *s, unsigned cap)
{
    uint16_t step[CELLS];
    uint64_t error = 0;
    for (int k = 0; k < CELLS; k++)
        step[k] = requantize_step(s->step[k], cap);
    const struct dct_rounding rounding = samples_rounding(step, true);
    for (size_t i = 0; i < s->count; i++)
        error += dct_rounding_error(s->block + CELLS * i, &rounding);
    return error;
}

static unsigned search(const struct sampled *s)
{
    unsigned low = REQUANTIZE_FINE, high = 1;
    for (int k = 0; k < CELLS; k++)
        high = s->step[k] > high ? s->step[k] : high;
    if (high <= low || error_of(s, high) <= s->limit * 7 / 5)
        return high;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        *(error_of(s, middle) <= s->limit ? &low : &high) = middle;
    }
    return low;
}

unsigned samples_find_cap(const struct plane *plane, const uint16_t step[CELLS],
                          unsigned number)
{
    const uint32_t columns = entropy_divide_up(plane->width, SIDE),
                   rows = entropy_divide_up(plane->height, SIDE);
    struct sampled s = { .step = step };
    uint32_t n = 1;
    while ((uint64_t)entropy_divide_up(columns, n) *
               entropy_divide_up(rows, n) >
           REQUANTIZE_SAMPLES)
        n *= 2;
    s.block = memory_alloc(sizeof *s.block * CELLS * REQUANTIZE_SAMPLES);
    if (!s.block)
        return 0;
    for (uint32_t y = 0; y < rows; y += n)
        for (uint32_t x = 0; x < columns; x += n) {
            uint8_t last[CELLS];
            size_t stride;
            const uint8_t *from = block_samples(plane, x, y, last, &stride);
            dct_forward_units(s.block + CELLS * s.count++, from, stride);
        }
    s.limit = requantize_error_limit(number, s.count);
    const unsigned cap = search(&s);
    memory_free(s.block);
    return cap;
}
