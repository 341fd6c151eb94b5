/* Converts samples, some pixels at a time, in doubles. */
#include "codecs/convert_rows.h"

#include <string.h>

/* Pixels that are converted at a time: what they take stays in a cache. */
enum { SPAN = 1024 };

struct span_converter {
    struct image src, dst; /* some columns of the pictures */
    const struct row_colors *colors;
    double full;             /* the value of full intensity in the channels */
    double channel[5][SPAN]; /* of each: gray or R G B, then alpha */
    uint64_t clipped;        /* how many samples were outside 0 to `full` */
};

/* ---- Loading a span ------------------------------------------------------ */

static double sample(const struct image *img, unsigned plane, uint32_t y,
                     uint32_t x)
{
    const void *row = plane_row(&img->plane[plane], y);
    switch (img->cell) {
    case CELL_U8:
        return ((const uint8_t *)row)[x];
    case CELL_U16:
        return ((const uint16_t *)row)[x];
    default:
        return ((const float *)row)[x];
    }
}

static void load_palette(struct span_converter *w, uint32_t y)
{
    const uint8_t *row = plane_row(&w->src.plane[0], y);
    for (uint32_t x = 0; x < w->src.width; x++) {
        const uint8_t *entry = w->colors->palette[row[x]];
        for (unsigned c = 0; c < 3; c++)
            w->channel[c][x] = entry[c];
        /* An index past the palette is opaque black, as viewers show it. */
        w->channel[3][x] = row[x] < w->colors->ncolors ? entry[3] : 255;
    }
}

static void load_key(struct span_converter *w, uint32_t y, unsigned channels)
{
    for (uint32_t x = 0; x < w->src.width; x++) {
        bool hit = true;
        for (unsigned c = 0; c < channels; c++)
            hit = hit && sample(&w->src, c, y, x) == w->colors->key[c];
        w->channel[channels][x] = hit ? 0 : w->full;
    }
}

/* Loads a row of src into the channels. Returns how many colors it has. */
static unsigned load_row(struct span_converter *w, uint32_t y)
{
    const struct image *src = &w->src;
    if (src->color == COLOR_INDEXED) {
        load_palette(w, y);
        return 3;
    }
    for (unsigned c = 0; c < src->nplanes; c++)
        for (uint32_t x = 0; x < src->width; x++)
            w->channel[c][x] = sample(src, c, y, x);
    unsigned channels = src->nplanes - src->alpha;
    if (!src->alpha && w->colors->keyed)
        load_key(w, y, channels);
    return channels;
}

/* ---- Converting it ------------------------------------------------------- */

static void copy_channel(struct span_converter *w, unsigned to, unsigned from)
{
    memcpy(w->channel[to], w->channel[from],
           w->src.width * sizeof *w->channel[0]);
}

/* Makes gray red, green and blue; alpha moves behind them. */
static void promote_gray(struct span_converter *w)
{
    copy_channel(w, 3, 1);
    copy_channel(w, 1, 0);
    copy_channel(w, 2, 0);
}

static void lay_on_background(struct span_converter *w, unsigned channels)
{
    const uint8_t *over = w->colors->over;
    /* Behind gray a background counts by its luma, ITU-R BT.601. */
    double luma = 0.299 * over[0] + 0.587 * over[1] + 0.114 * over[2];
    for (unsigned c = 0; c < channels; c++) {
        double back = (channels == 1 ? luma : over[c]) * w->full / 255;
        for (uint32_t x = 0; x < w->src.width; x++) {
            double v = w->channel[c][x], a = w->channel[channels][x];
            w->channel[c][x] = (a * v + (w->full - a) * back) / w->full;
        }
    }
}

static void store(struct span_converter *w, const double *from, unsigned plane,
                  uint32_t y)
{
    const struct image *dst = &w->dst;
    void *row = plane_row(&dst->plane[plane], y);
    double top = dst->maxval, full = w->full;
    for (uint32_t x = 0; x < dst->width; x++) {
        double v = from[x];
        if (dst->cell == CELL_F32) {
            ((float *)row)[x] = (float)(v / full);
            continue;
        }
        if (!(v >= 0 && v <= full)) { /* NaN too */
            w->clipped++;
            v = v > full ? full : 0;
        }
        uint32_t n = (uint32_t)(v * top / full + 0.5);
        if (dst->cell == CELL_U8)
            ((uint8_t *)row)[x] = (uint8_t)n;
        else
            ((uint16_t *)row)[x] = (uint16_t)n;
    }
}

static void make_opaque(struct span_converter *w, unsigned channels)
{
    for (uint32_t x = 0; x < w->src.width; x++)
        w->channel[channels][x] = w->full;
}

static void convert_row(struct span_converter *w, uint32_t y)
{
    unsigned channels = load_row(w, y);
    if (!w->colors->transparent)
        make_opaque(w, channels);
    if (channels == 1 && w->dst.color == COLOR_RGB) {
        promote_gray(w);
        channels = 3;
    }
    if (w->colors->transparent && !w->dst.alpha)
        lay_on_background(w, channels);
    for (unsigned i = 0; i < w->dst.nplanes; i++)
        store(w, w->channel[i], i, y);
}

/* Planes without a known meaning are converted one by one, however many there
 * are. */
static void convert_other(struct span_converter *w, uint32_t y)
{
    double *row = w->channel[0];
    for (unsigned i = 0; i < w->dst.nplanes; i++) {
        for (uint32_t x = 0; x < w->src.width; x++)
            row[x] = sample(&w->src, i, y, x);
        store(w, row, i, y);
    }
}

/* Returns up to SPAN columns of a picture, from x on. */
static struct image span_of(const struct image *img, uint32_t x)
{
    struct image span = *img;
    span.width = img->width - x < SPAN ? img->width - x : SPAN;
    for (unsigned i = 0; i < span.nplanes; i++)
        span.plane[i].data += x * cell_size(span.cell);
    return span;
}

uint64_t convert_rows(const struct image *dst, const struct image *src,
                      const struct row_colors *colors)
{
    struct span_converter w = { .colors = colors };
    w.full = src->color == COLOR_INDEXED ? 255 : src->maxval ? src->maxval : 1;
    for (uint32_t x = 0; x < src->width; x += SPAN) {
        w.src = span_of(src, x);
        w.dst = span_of(dst, x);
        for (uint32_t y = 0; y < src->height; y++)
            if (src->color == COLOR_OTHER)
                convert_other(&w, y);
            else
                convert_row(&w, y);
    }
    return w.clipped;
}
