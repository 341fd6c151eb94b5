/* Which turn makes one picture another. */
#include "codecs/compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "codecs/base/account.h"
#include "codecs/convert/convert.h"
#include "codecs/image/meta.h"
#include "codecs/jpeg/jpeg.h"

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

/* Compares n samples of row y, from column x on. Most are the same. */
static void compare_samples(struct plane_pair *p, uint32_t x, uint32_t y,
                            uint32_t n)
{
    const ptrdiff_t size = (ptrdiff_t)cell_size(p->cell),
                    stride = (ptrdiff_t)p->a->stride,
                    along = xform_transposes(p->t) ? stride : size,
                    step = p->t & XFORM_MIRROR_X ? -along : along;
    const uint8_t *a = plane_cell(p->a, (size_t)size, p->t, x, y),
                  *b = (uint8_t *)plane_row(p->b, y) + x * size;
    struct difference *d = p->difference;
    double square = 0;
    if (is_equal_run(p->cell, a, step, b, n))
        return;
    /* What is not a number is as far from any number as can be. */
    for (uint32_t i = x; i < x + n; i++, a += step, b += size) {
        if (memcmp(a, b, (size_t)size) == 0)
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

/* In squares, so that both planes are read from a cache. Stops at the first
 * difference unless all are to be counted. Of blocks notes only that they
 * differ: how far, the samples say. */
static void compare_planes(struct plane_pair *p, bool count)
{
    enum { SIDE = 64 };
    const uint32_t width = p->b->width, height = p->b->height;
    const size_t size = cell_size(p->cell);
    for (uint32_t top = 0; top < height; top += SIDE)
        for (uint32_t left = 0; left < width; left += SIDE)
            for (uint32_t y = top; y < top + SIDE && y < height; y++) {
                if (!count && p->difference->differing)
                    return;
                const uint32_t n = width - left < SIDE ? width - left : SIDE;
                if (p->cell != CELL_DCT)
                    compare_samples(p, left, y, n);
                for (uint32_t x = left; p->cell == CELL_DCT && x < left + n;
                     x++)
                    p->difference->differing += !is_equal_block(
                        p, plane_cell(p->a, size, p->t, x, y),
                        plane_cell(p->b, size, XFORM_NONE, x, y));
            }
}

/* ---- Two pictures -------------------------------------------------------- */

/* Returns whether samples mean the same in both, also those of a palette or a
 * key. */
static bool are_alike(const struct image *a, const struct image *b)
{
    const struct meta *am = a->meta, *bm = b->meta;
    const bool keyed = am && am->keyed;
    if (a->cell != b->cell || a->nplanes != b->nplanes ||
        a->maxval != b->maxval || a->color != b->color || a->alpha != b->alpha)
        return false;
    if (a->color == COLOR_INDEXED &&
        (am->ncolors != bm->ncolors ||
         memcmp(am->palette, bm->palette, sizeof am->palette) != 0))
        return false;
    return keyed == (bm && bm->keyed) &&
           (!keyed ||
            memcmp(am->key, bm->key, a->nplanes * sizeof *am->key) == 0);
}

static bool do_fit(const struct image *a, const struct image *b, enum xform t)
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

static bool compare(struct difference *d, const struct image *a,
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

/* ---- Two decoded pictures ------------------------------------------------ */

/* Finds the turns that make them the same; or, where none does, with `far` the
 * one that comes closest: also where samples of both are infinitely far off, or
 * only zeros differ. */
static int relate(struct relation *relation, const struct image pair[2],
                  unsigned turns, bool far, const struct account *account,
                  struct err *err)
{
    const struct image *a = &pair[0], *b = &pair[1];
    const enum xform down = xform_inverse(xform_from_exif(a->orientation)),
                     up = xform_from_exif(b->orientation);
    struct difference d, *least = &relation->far;
    bool any = false;
    for (int i = 0; i < (far ? 2 : 1) * XFORM_COUNT; i++) {
        const enum xform t = (enum xform)(i % XFORM_COUNT),
                         as_shown = xform_then(xform_then(down, t), up);
        const bool nearest = i >= XFORM_COUNT;
        if (nearest && relation->same)
            break;
        if (account_check_time(account, err))
            return -1;
        if (!(turns >> as_shown & 1) || !do_fit(a, b, t))
            continue;
        relation->fits = true;
        if (nearest) {
            compare(&d, a, b, t, true);
            if (!any || d.square < least->square ||
                (d.square == least->square && d.differing < least->differing)) {
                *least = d;
                relation->nearest = as_shown;
            }
            any = true;
            continue;
        }
        if (compare(&d, a, b, t, false))
            relation->same |= 1u << as_shown;
        if (a->cell == CELL_DCT && d.luma)
            relation->luma = true;
    }
    return 0;
}

/* ---- Two files ----------------------------------------------------------- */

/* What is related. */
struct relating {
    const struct coded_picture *coded[2];
    unsigned turns;
    struct load_opts load;
    const struct convert_opts *convert;
};

/* Decodes both. On failure there is nothing to free. */
static int decode(struct image pair[2], struct relation *relation,
                  const struct relating *r, enum representation representation,
                  struct err *err)
{
    pair[0] = pair[1] = (struct image){ .meta = NULL };
    for (unsigned i = 0; i < 2; i++) {
        const struct coded_picture *coded = r->coded[i];
        const struct decode_plan plan = { .representation = representation,
                                          .width = coded->width,
                                          .height = coded->height };
        struct load_opts load = r->load;
        load.layout = coded->layout;
        relation->undecoded = i + 1;
        if (codec_decode_file(coded->codec, &pair[i], coded->file, &load, &plan,
                              err)) {
            image_free(&pair[0]);
            return -1;
        }
        if (coded->as_stored)
            pair[i].orientation = 1;
    }
    relation->undecoded = 0;
    return 0;
}

/* Makes what is transparent black: of a GIF nobody sees another color. */
static void hide_colors(struct image *img)
{
    for (uint32_t y = 0; y < img->height; y++)
        for (unsigned c = 0; c + 1 < img->nplanes; c++) {
            const uint8_t *alpha = plane_row(&img->plane[img->nplanes - 1], y);
            uint8_t *row = plane_row(&img->plane[c], y);
            for (uint32_t x = 0; x < img->width; x++)
                row[x] = alpha[x] ? row[x] : 0;
        }
}

/* Makes them comparable. A gray picture that is written as PPM becomes one of
 * three equal channels. */
static int make_alike(struct relation *relation, struct image pair[2],
                      const struct relating *r, struct err *err)
{
    struct image *a = &pair[0], *b = &pair[1];
    struct warnings unheard = { 0 };
    const struct convert_opts alike = { .limits = &r->load.limits,
                                        .mem = mem_plain,
                                        .warnings = &unheard };
    bool converted;
    if (r->convert &&
        convert_to_fit(a, r->coded[1]->codec, r->convert, &converted, err))
        return -1;
    if (r->convert && a->color == COLOR_GRAY && b->color == COLOR_RGB &&
        !a->alpha) {
        a->color = COLOR_RGB;
        a->nplanes = 3;
        a->plane[1] = a->plane[2] = a->plane[0];
    }
    if (r->convert && r->coded[1]->codec == &codec_gif) { /* as it shows it */
        const int status = convert_to_same(a, b, &alike, err);
        if (status == 0 && a->alpha) {
            hide_colors(a);
            hide_colors(b);
        }
        return status;
    }
    relation->unlike = !are_alike(a, b);
    return relation->unlike ? convert_to_same(a, b, &alike, err) : 0;
}

static int relate_samples(struct relation *relation, struct relating *r,
                          struct err *err)
{
    const struct codec *codec = r->coded[0]->codec;
    struct image pair[2];
    r->load.portable =
        r->convert || codec != r->coded[1]->codec || codec->lossy;
    if (decode(pair, relation, r, REPRESENTATION_SAMPLES, err))
        return -1;
    int status = make_alike(relation, pair, r, err);
    const unsigned i = pair[0].meta->animation.frames <= 1;
    const bool first = pair[i].meta->animation.frames > 1 &&
                       (!r->load.portable || r->coded[i]->codec != &codec_png);
    if (status == 0 && first)
        warn(r->load.warnings,
             "of an animation in %s only the first frames are compared",
             r->coded[i]->codec->title);
    const bool paged = pair[0].meta->paged || pair[1].meta->paged;
    if (status == 0 && paged && !r->load.portable)
        warn(r->load.warnings, "of a TIFF only the first pages are compared");
    if (status == 0)
        status =
            relate(relation, pair, r->turns, true, r->load.limits.account, err);
    relation->frames = first;
    relation->pages = paged;
    image_free(&pair[0]);
    image_free(&pair[1]);
    return status;
}

int relate_pictures(struct relation *relation,
                    const struct coded_picture pair[2], unsigned turns,
                    const struct load_opts *opts,
                    const struct convert_opts *convert, struct err *err)
{
    struct relating r = { .coded = { &pair[0], &pair[1] },
                          .turns = turns,
                          .load = *opts,
                          .convert = convert };
    r.load.libraries = true;
    r.load.mem = mem_plain;
    *relation = (struct relation){ .same = 0 };
    if (pair[0].codec == &codec_jpeg && pair[1].codec == &codec_jpeg &&
        !convert) {
        struct image is[2];
        if (decode(is, relation, &r, REPRESENTATION_COEFFICIENTS, err))
            return -1;
        const int status =
            are_alike(&is[0], &is[1])
                ? relate(relation, is, turns, false, opts->limits.account, err)
                : 0;
        image_free(&is[0]);
        image_free(&is[1]);
        relation->coefficients = true;
        if (status || relation->same)
            return status;
        *relation = (struct relation){ .luma = relation->luma };
    }
    return relate_samples(relation, &r, err);
}
