/* Two pictures, cell by cell. */
#include "codecs/compare.h"

#include <math.h>
#include <string.h>

#include "codecs/image/meta.h"
#include "codecs/jpeg/steps.h"

/* ---- Two planes, cell by cell -------------------------------------------- */

/* What is compared: a plane of a, turned by t, with that of b. */
struct plane_pair {
    const struct plane *a, *b;
    enum cell cell;
    enum xform t;
    double scale;            /* what a difference of 1 is */
    struct turned_block was; /* where cells are blocks: those of a, */
    const uint16_t *steps;   /* and the steps of those of b */
    struct difference *difference;
};

static inline double sample(enum cell cell, const uint8_t *at)
{
    uint16_t word;
    float real;
    if (cell == CELL_U8)
        return *at;
    if (cell == CELL_F32) {
        memcpy(&real, at, sizeof real);
        return (double)real;
    }
    memcpy(&word, at, sizeof word);
    return word;
}

static bool is_equal_block(const struct plane_pair *p, const int16_t *a,
                           const int16_t *b)
{
    const struct turned_block *was = &p->was;
    int32_t differ = 0;
    for (unsigned i = 0; i < 64; i++)
        differ |= (b[i] * p->steps[i]) ^ (a[was->from[i]] * was->factor[i]);
    return differ == 0;
}

/* Returns whether n cells at `b` are those at `a`, `step` bytes apart. */
static bool is_equal_run(enum cell cell, const uint8_t *a, ptrdiff_t step,
                         const uint8_t *b, uint32_t n)
{
    const size_t size = cell_size(cell);
    uint32_t differ = 0;
    if (step == (ptrdiff_t)size)
        return memcmp(a, b, n * size) == 0;
    if (size == 1) {
        for (uint32_t i = 0; i < n; i++)
            differ |= a[(ptrdiff_t)i * step] ^ b[i];
        return differ == 0;
    }
    for (uint32_t i = 0; i < n && !differ; i++)
        differ = memcmp(a + (ptrdiff_t)i * step, b + i * size, size) != 0;
    return differ == 0;
}

/* Counts what differs in n cells at `b`, from column x of row y on, from those
 * at `a`. What is not a number is as far from any number as can be. */
static void count_run(struct plane_pair *p, const uint8_t *a, ptrdiff_t step,
                      const uint8_t *b, uint32_t x, uint32_t y, uint32_t n)
{
    struct difference *d = p->difference;
    const size_t size = cell_size(p->cell);
    double square = 0;
    for (uint32_t i = x; i < x + n; i++, a += step, b += size) {
        if (memcmp(a, b, size) == 0)
            continue; /* also where they are not numbers */
        const double off = sample(p->cell, a) - sample(p->cell, b);
        const bool first = d->differing == 0;
        square += isnan(off) ? INFINITY : off * off;
        d->left = first || i < d->left ? i : d->left;
        d->top = first || y < d->top ? y : d->top;
        d->right = first || i >= d->right ? i + 1 : d->right;
        d->bottom = first || y >= d->bottom ? y + 1 : d->bottom;
        d->differing++;
    }
    d->square += square * p->scale * p->scale;
}

/* Compares n samples of row y, from column x on. Most are the same. */
static void compare_samples(struct plane_pair *p, uint32_t x, uint32_t y,
                            uint32_t n)
{
    const ptrdiff_t size = (ptrdiff_t)cell_size(p->cell),
                    stride = (ptrdiff_t)p->a->stride,
                    along = xform_transposes(p->t) ? stride : size,
                    step = p->t & XFORM_MIRROR_X ? -along : along;
    uint32_t sx, sy;
    xform_source(p->t, p->b->width, p->b->height, x, y, &sx, &sy);
    const uint8_t *a = (uint8_t *)plane_row(p->a, sy) + sx * size,
                  *b = (uint8_t *)plane_row(p->b, y) + x * size;
    if (is_equal_run(p->cell, a, step, b, n))
        return;
    count_run(p, a, step, b, x, y, n);
}

/* Notes only that blocks differ: how far, the samples say. */
static void compare_blocks(struct plane_pair *p, uint32_t x, uint32_t y,
                           uint32_t n)
{
    for (uint32_t i = x; i < x + n; i++) {
        uint32_t sx, sy;
        xform_source(p->t, p->b->width, p->b->height, i, y, &sx, &sy);
        p->difference->differing += !is_equal_block(
            p, (const int16_t *)plane_row(p->a, sy) + 64 * (size_t)sx,
            (const int16_t *)plane_row(p->b, y) + 64 * (size_t)i);
    }
}

/* In squares, so that both planes are read from a cache. Stops at the first
 * difference unless all are to be counted. */
static void compare_planes(struct plane_pair *p, bool count)
{
    enum { SIDE = 64 };
    const uint32_t width = p->b->width, height = p->b->height;
    for (uint32_t top = 0; top < height; top += SIDE)
        for (uint32_t left = 0; left < width; left += SIDE)
            for (uint32_t y = top; y < top + SIDE && y < height; y++) {
                if (!count && p->difference->differing)
                    return;
                const uint32_t n = width - left < SIDE ? width - left : SIDE;
                if (p->cell == CELL_DCT)
                    compare_blocks(p, left, y, n);
                else
                    compare_samples(p, left, y, n);
            }
}

/* ---- Two pictures -------------------------------------------------------- */

static bool same_palette(const struct image *a, const struct image *b)
{
    return a->meta->ncolors == b->meta->ncolors &&
           memcmp(a->meta->palette, b->meta->palette,
                  sizeof a->meta->palette) == 0;
}

/* Returns whether the same samples are transparent: those of a key. */
static bool same_key(const struct image *a, const struct image *b)
{
    const bool keyed[] = { a->meta && a->meta->keyed,
                           b->meta && b->meta->keyed };
    return keyed[0] == keyed[1] &&
           (!keyed[0] || memcmp(a->meta->key, b->meta->key,
                                a->nplanes * sizeof *a->meta->key) == 0);
}

bool pictures_are_alike(const struct image *a, const struct image *b)
{
    return a->cell == b->cell && a->nplanes == b->nplanes &&
           a->maxval == b->maxval && a->color == b->color &&
           a->alpha == b->alpha && same_key(a, b) &&
           (a->color != COLOR_INDEXED || same_palette(a, b));
}

bool pictures_fit(const struct image *a, const struct image *b, enum xform t)
{
    const bool exchanged = xform_transposes(t);
    bool fit = b->width == (exchanged ? a->height : a->width) &&
               b->height == (exchanged ? a->width : a->height);
    for (unsigned i = 0; i < a->nplanes; i++) {
        const struct plane *pa = &a->plane[i], *pb = &b->plane[i];
        fit = fit && pb->width == (exchanged ? pa->height : pa->width) &&
              pb->height == (exchanged ? pa->width : pa->height);
    }
    return fit;
}

bool pictures_compare(struct difference *d, const struct image *a,
                      const struct image *b, enum xform t, bool count)
{
    *d = (struct difference){ .luma = true };
    for (unsigned i = 0; i < b->nplanes; i++) {
        const struct plane *plane = &b->plane[i];
        struct plane_pair pair = {
            .a = &a->plane[i],
            .b = plane,
            .cell = b->cell,
            .t = t,
            .scale = b->maxval ? 1.0 / b->maxval : 1,
            .difference = d,
        };
        if (b->cell == CELL_DCT) {
            pair.was = steps_turn(steps_of(a, i), t);
            pair.steps = steps_of(b, i);
        }
        d->cells += (uint64_t)plane->width * plane->height;
        compare_planes(&pair, count);
        if (i == 0)
            d->luma = d->differing == 0;
    }
    return d->differing == 0;
}

double difference_psnr(const struct difference *d)
{
    return d->differing ? 10 * log10((double)d->cells / d->square) : INFINITY;
}
