/* From coefficients to the samples of pixels, some rows at a time, so that what
 * is computed of a component is still in a cache when it becomes pixels. */
#include "codecs/jpeg/read_sequential.h"

#include <stdatomic.h>
#include <string.h>

#include "codecs/base/page_cache.h"
#include "codecs/image/interleave.h"
#include "codecs/jpeg/dct.h"
#include "codecs/jpeg/entropy/huffman_table.h"

enum { SIDE = 8, STEP = 32 /* rows of pixels at a time */ };

/* A component: where its blocks are, and what becomes of them. */
struct source {
    const struct sequential_scan *scan;
    unsigned c; /* which component of the scan */
    const uint16_t *step;
    struct upsampling upsampling;
};

struct picture {
    const struct row_sink *rows;
    uint32_t width;
    unsigned components;
    struct source source[ENTROPY_COMPONENTS];
    bool to_rgb;
    atomic_bool inexact, failed;
    struct err err; /* of whoever failed first */
};

/* Some rows of the blocks of a component, as samples. */
struct window {
    const struct source *source;
    struct picture *picture;
    uint8_t *samples;
    size_t stride;
    uint32_t begin, end; /* rows of blocks */
    uint16_t *pixels;    /* one row */
};

/* What a thread computes a band with. */
struct band_memory {
    struct window window[ENTROPY_COMPONENTS];
    uint16_t *scratch;
    uint8_t *memory; /* all of these */
};

/* ---- Rows ---------------------------------------------------------------- */

/* Two pixels beside each other as one number. */
ENTROPY_INLINE uint16_t pair(uint32_t even, uint32_t odd)
{
    return (uint16_t)(interleave_big_endian() ? even << 8 | odd
                                              : even | odd << 8);
}

/* Writes row y of a component to w->pixels, one byte a pixel; that has room for
 * one more. The rows of samples near it are in the window. `scratch` has room
 * for two numbers more than these. */
FOR_EACH_CPU static void upsample_row(const struct window *w, uint32_t y,
                                      uint16_t *scratch)
{
    const struct upsampling u = w->source->upsampling;
    const uint32_t width = w->picture->width, count = (width + 1) / 2,
                   first = SIDE * w->begin;
    const uint8_t *at = w->samples + w->stride * (y / u.down - first),
                  *near = at;
    uint16_t *column = scratch + 1, *pairs = w->pixels;
    uint8_t *row = (uint8_t *)pairs;
    if (u.smooth_y)
        near = w->samples + w->stride * (upsample_near(y, u.height) - first);
    if (!u.smooth_x) {
        if (u.smooth_y)
            for (uint32_t x = 0; x < width; x++)
                row[x] = upsample_down(upsample_mix(at[x], near[x]), y);
        else if (u.across == 2)
            for (uint32_t x = 0; x < count; x++)
                pairs[x] = pair(at[x], at[x]);
        else
            for (uint32_t x = 0; x < width; x++)
                row[x] = at[x / u.across];
        return;
    }
    for (uint32_t x = 0; x < u.width; x++)
        column[x] = u.smooth_y ? (uint16_t)upsample_mix(at[x], near[x]) : at[x];
    column[-1] = column[0];
    column[u.width] = column[u.width - 1];
    if (u.smooth_y)
        for (uint32_t x = 0; x < count; x++, column++)
            pairs[x] = pair(upsample_both(column[0], column[-1], 0),
                            upsample_both(column[0], column[1], 1));
    else
        for (uint32_t x = 0; x < count; x++, column++)
            pairs[x] = pair(upsample_across(column[0], column[-1], 0),
                            upsample_across(column[0], column[1], 1));
}

/* Converts a row of Y, Cb and Cr to R, G and B. */
FOR_EACH_CPU static void to_rgb(uint8_t *const rgb[3],
                                const uint8_t *const ycc[3], uint32_t width)
{
    const uint8_t *y = ycc[0], *cb = ycc[1], *cr = ycc[2];
    uint8_t *red = rgb[0], *green = rgb[1], *blue = rgb[2];
    for (uint32_t x = 0; x < width; x++)
        red[x] = ycc_red(y[x], cr[x]);
    for (uint32_t x = 0; x < width; x++)
        green[x] = ycc_green(y[x], cb[x], cr[x]);
    for (uint32_t x = 0; x < width; x++)
        blue[x] = ycc_blue(y[x], cb[x]);
}

/* ---- Pictures ------------------------------------------------------------ */

bool pixels_upsampling(struct upsampling *u, const struct sequential *s,
                       unsigned i)
{
    const struct sampling own = { s->component[i].across,
                                  s->component[i].down };
    struct sampling most;
    entropy_most(s->component, s->components, &most.across, &most.down);
    return upsample_set(u, s->width, s->height, own, most);
}

bool pixels_suit(const struct sequential *s)
{
    struct upsampling u;
    bool suit = true;
    for (unsigned i = 0; i < s->components; i++)
        suit = pixels_upsampling(&u, s, i) && suit;
    return suit;
}

static void put_samples(void *context, unsigned c, uint32_t x, uint32_t y,
                        int16_t block[64])
{
    const struct window *w = context;
    uint8_t *to = w->samples + w->stride * SIDE * (y - w->begin) + SIDE * x;
    (void)c;
    if (!dct_inverse(to, w->stride, block, w->source->step))
        atomic_store(&w->picture->inexact, true);
}

/* Has the samples for the pixels of these rows in the window, where the first
 * may be already. */
static void show_rows(struct window *w, uint32_t begin, uint32_t end)
{
    const struct upsampling *u = &w->source->upsampling;
    const struct block_visitor visitor = { .visit = put_samples, .context = w };
    const size_t row = w->stride * SIDE;
    uint32_t first = begin / u->down, last = (end - 1) / u->down;
    if (u->smooth_y && first > 0)
        first--;
    if (u->smooth_y && last + 1 < u->height)
        last++;
    first /= SIDE;
    const uint32_t kept = w->end > first ? w->end - first : 0;
    if (kept)
        memmove(w->samples, w->samples + row * (first - w->begin), row * kept);
    w->begin = first;
    w->end = last / SIDE + 1;
    for (uint32_t y = first + kept; y < w->end; y++)
        sequential_show_row(w->source->scan, w->source->c, y, &visitor);
}

/* A window has the rows for STEP rows of pixels, and one beside them on each
 * side. */
static int allocate(struct band_memory *worker, struct picture *p,
                    struct err *err)
{
    size_t at[ENTROPY_COMPONENTS], pixels = 2 * ((size_t)p->width / 2 + 1);
    size_t size = 0;
    for (unsigned i = 0; i < p->components; i++) {
        const struct source *source = &p->source[i];
        size_t columns = source->scan->coding.component[source->c].columns;
        struct window *w = &worker->window[i];
        *w = (struct window){ .source = source, .picture = p };
        w->stride = SIDE * columns;
        at[i] = size;
        size += w->stride * SIDE * (STEP / SIDE + 3) + 256;
    }
    worker->memory =
        page_cache_alloc(size + (p->components + 1) * (pixels + 256) + 512);
    if (!worker->memory)
        return fail_memory(err, "no memory for the decoder");
    uint8_t *rows = worker->memory + size / 2 * 2;
    for (unsigned i = 0; i < p->components; i++) {
        worker->window[i].samples = worker->memory + at[i];
        worker->window[i].pixels = (uint16_t *)(rows + i * pixels);
    }
    worker->scratch = (uint16_t *)(rows + p->components * pixels);
    return 0;
}

static int read_rows(struct picture *p, struct row_sink *band, uint32_t begin,
                     uint32_t end, struct err *err)
{
    struct band_memory worker;
    int status = 0;
    if (allocate(&worker, p, err))
        return -1;
    for (uint32_t y = begin; y < end && status == 0;) {
        uint32_t next = y + STEP - y % STEP < end ? y + STEP - y % STEP : end;
        for (unsigned i = 0; i < p->components; i++)
            show_rows(&worker.window[i], y, next);
        for (; y < next && status == 0; y++) {
            uint32_t at;
            const struct image *to = row_sink_at(band, y, &at);
            const uint8_t *from[ENTROPY_COMPONENTS];
            uint8_t *row[ENTROPY_COMPONENTS];
            for (unsigned i = 0; i < p->components; i++) {
                const struct window *w = &worker.window[i];
                const struct upsampling *u = &w->source->upsampling;
                row[i] = plane_row(&to->plane[i], at);
                if (u->across == 1 && u->down == 1) {
                    from[i] = w->samples + w->stride * (y - SIDE * w->begin);
                } else {
                    upsample_row(w, y, worker.scratch);
                    from[i] = (const uint8_t *)w->pixels;
                }
            }
            if (p->to_rgb)
                to_rgb(row, from, p->width);
            for (unsigned i = 0; !p->to_rgb && i < p->components; i++)
                memcpy(row[i], from[i], p->width);
            status = row_sink_done(band, y, err);
        }
    }
    page_cache_free(worker.memory);
    return status;
}

static void read_band(void *context, size_t i)
{
    struct picture *p = context;
    struct row_sink band;
    uint32_t begin, end;
    struct err err;
    if (atomic_load(&p->inexact) || atomic_load(&p->failed))
        return;
    int status = row_sink_open_band(&band, p->rows, i, &begin, &end, &err);
    if (status == 0) {
        status = read_rows(p, &band, begin, end, &err);
        row_sink_close(&band);
    }
    if (status && !atomic_exchange(&p->failed, true))
        p->err = err;
}

int pixels_read(const struct row_sink *rows, const struct sequential *s,
                bool to_rgb, bool *exact, struct thread_pool *pool,
                struct err *err)
{
    struct picture p = { .rows = rows,
                         .width = s->width,
                         .components = s->components,
                         .to_rgb = to_rgb && s->components == 3 };
    for (unsigned n = 0; n < s->scans; n++)
        for (unsigned c = 0; c < s->scan[n].coding.components; c++) {
            const unsigned i = s->scan[n].component[c];
            struct source *source = &p.source[i];
            source->scan = &s->scan[n];
            source->c = c;
            source->step = s->steps[s->component[i].quantization];
            pixels_upsampling(&source->upsampling, s, i);
        }
    thread_pool_run(pool, read_band, &p, row_sink_bands(rows));
    *exact = !atomic_load(&p.inexact);
    if (!atomic_load(&p.failed))
        return 0;
    *err = p.err;
    return -1;
}
