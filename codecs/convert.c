/* Makes a picture fit a format that cannot hold it as it is. */
#include "codecs/convert.h"

#include <math.h>
#include <string.h>

#include "codecs/base/memory.h"

/* What the picture is to become. */
struct conversion {
    enum cell cell;
    enum color color;
    bool alpha;
    uint32_t maxval;
    const struct convert_opts *opts;
};

static bool has_key_or_alphas(const struct image *img)
{
    const struct meta *meta = img->meta;
    return meta &&
           (meta->keyed || (img->color == COLOR_INDEXED && meta->nalphas > 0));
}

static bool can(unsigned set, unsigned member)
{
    return set >> member & 1;
}

static uint32_t maxval_of(enum cell cell)
{
    return cell == CELL_U8 ? 255 : cell == CELL_U16 ? 65535 : 0;
}

/* ---- What is to be done -------------------------------------------------- */

static int plan_color(struct conversion *p, const struct image *img,
                      const struct codec *to, struct err *err)
{
    const struct capabilities *can_hold = &to->capabilities;
    bool own = codec_is_own(to, img);
    p->color = img->color;
    p->alpha = img->alpha;
    if (own && p->maxval == img->maxval)
        return 0;
    /* Palette and key are PNG's: elsewhere they are colors and alpha. */
    if (img->color == COLOR_INDEXED) {
        p->color = COLOR_RGB;
        p->maxval = maxval_of(p->cell); /* of its colors, not of an index */
    }
    p->alpha = img->alpha || has_key_or_alphas(img);
    if (p->color == COLOR_GRAY && !can(can_hold->colors, COLOR_GRAY))
        p->color = COLOR_RGB;
    if (!can(can_hold->colors, p->color))
        return fail(err, "%s cannot hold %s%s", to->title,
                    image_color_name(p->color),
                    p->color == COLOR_CMYK
                        ? "; write a JPEG, which can, or convert the picture "
                          "to RGB first"
                        : "");
    if (p->alpha && !can_hold->alpha) {
        if (!p->opts->background)
            return fail(err,
                        "%s cannot hold transparency; --background COLOR "
                        "lays it on a color",
                        to->title);
        p->alpha = false;
    }
    return 0;
}

static bool keeps_maxval(const struct image *img, const struct codec *to)
{
    uint32_t m = img->maxval;
    if (img->cell == CELL_F32 || to->capabilities.any_maxval ||
        codec_is_own(to, img))
        return true;
    if (m == 255 || m == 65535)
        return true;
    return to->capabilities.gray_bits && img->color == COLOR_GRAY &&
           !img->alpha && (m == 1 || m == 3 || m == 15);
}

/* Chooses the smallest cell of the format that holds the samples, or the one
 * that was asked for. */
static int plan_cells(struct conversion *p, const struct image *img,
                      const struct codec *to, struct err *err)
{
    unsigned depth = p->opts->depth;
    p->cell = img->cell;
    p->maxval = img->maxval;
    if (depth)
        p->cell = depth == 8 ? CELL_U8 : depth == 16 ? CELL_U16 : CELL_F32;
    while (!depth && p->cell < CELL_F32 &&
           !can(to->capabilities.cells, p->cell))
        p->cell++;
    if (!can(to->capabilities.cells, p->cell)) {
        if (depth)
            return fail(err, "%s cannot hold samples of %u bits", to->title,
                        depth);
        return fail(err,
                    "%s cannot hold samples of %u bits; --depth %d makes "
                    "them fit",
                    to->title, image_bits(img),
                    can(to->capabilities.cells, CELL_U16) ? 16 : 8);
    }
    /* An index is not a sample: its colors have 8 bits. */
    bool asked = depth && img->color != COLOR_INDEXED;
    if (asked || p->cell != img->cell || !keeps_maxval(img, to))
        p->maxval = maxval_of(p->cell);
    return 0;
}

static bool nothing_to_do(const struct conversion *p, const struct image *img)
{
    return p->cell == img->cell && p->color == img->color &&
           p->alpha == img->alpha && p->maxval == img->maxval;
}

/* ---- Doing it, a row at a time, in doubles --------------------------------
 *
 * A double holds every sample of 16 bits and every float exactly, and the
 * product of two samples of 16 bits as well: rounding is exact if the one
 * division comes last. One way serves all pairs of cells. It need not be fast:
 * pictures that keep their format never come here. */

struct row_converter {
    const struct image *src;
    struct image *dst;
    const struct conversion *plan;
    double full;        /* the value of full intensity in the channels */
    double *channel[5]; /* a row of each: gray or R G B, then alpha */
    uint64_t clipped;   /* how many samples were outside 0 to `full` */
};

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

static void load_palette(struct row_converter *w, uint32_t y)
{
    const struct image *img = w->src;
    const uint8_t *row = plane_row(&img->plane[0], y);
    for (uint32_t x = 0; x < img->width; x++) {
        const uint8_t *entry = img->meta->palette[row[x]];
        for (unsigned c = 0; c < 3; c++)
            w->channel[c][x] = entry[c];
        /* An index past the palette is opaque black, as viewers show it. */
        w->channel[3][x] = row[x] < img->meta->ncolors ? entry[3] : 255;
    }
}

static void load_key(struct row_converter *w, uint32_t y, unsigned colors)
{
    for (uint32_t x = 0; x < w->src->width; x++) {
        bool hit = true;
        for (unsigned c = 0; c < colors; c++)
            hit = hit && sample(w->src, c, y, x) == w->src->meta->key[c];
        w->channel[colors][x] = hit ? 0 : w->full;
    }
}

/* Loads a row of src into the channels. Returns how many colors it has. */
static unsigned load_row(struct row_converter *w, uint32_t y)
{
    const struct image *img = w->src;
    if (img->color == COLOR_INDEXED) {
        load_palette(w, y);
        return 3;
    }
    for (unsigned c = 0; c < img->nplanes; c++)
        for (uint32_t x = 0; x < img->width; x++)
            w->channel[c][x] = sample(img, c, y, x);
    unsigned colors = img->nplanes - img->alpha;
    if (!img->alpha && img->meta && img->meta->keyed)
        load_key(w, y, colors);
    return colors;
}

static void copy_row(struct row_converter *w, unsigned to, unsigned from)
{
    memcpy(w->channel[to], w->channel[from],
           w->src->width * sizeof *w->channel[0]);
}

/* Makes gray red, green and blue; alpha moves behind them. */
static void promote_gray(struct row_converter *w)
{
    copy_row(w, 3, 1);
    copy_row(w, 1, 0);
    copy_row(w, 2, 0);
}

static void lay_on_background(struct row_converter *w, unsigned colors)
{
    const uint8_t *over = w->plan->opts->over;
    /* Behind gray a background counts by its luma, ITU-R BT.601. */
    double luma = 0.299 * over[0] + 0.587 * over[1] + 0.114 * over[2];
    for (unsigned c = 0; c < colors; c++) {
        double back = (colors == 1 ? luma : over[c]) * w->full / 255;
        for (uint32_t x = 0; x < w->src->width; x++) {
            double v = w->channel[c][x], a = w->channel[colors][x];
            w->channel[c][x] = (a * v + (w->full - a) * back) / w->full;
        }
    }
}

static void store(struct row_converter *w, const double *from, unsigned plane,
                  uint32_t y)
{
    void *row = plane_row(&w->dst->plane[plane], y);
    double top = w->dst->maxval, full = w->full;
    for (uint32_t x = 0; x < w->dst->width; x++) {
        double v = from[x];
        if (w->dst->cell == CELL_F32) {
            ((float *)row)[x] = (float)(v / full);
            continue;
        }
        if (!(v >= 0 && v <= full)) { /* NaN too */
            w->clipped++;
            v = v > full ? full : 0;
        }
        uint32_t n = (uint32_t)(v * top / full + 0.5);
        if (w->dst->cell == CELL_U8)
            ((uint8_t *)row)[x] = (uint8_t)n;
        else
            ((uint16_t *)row)[x] = (uint16_t)n;
    }
}

static void convert_row(struct row_converter *w, uint32_t y)
{
    unsigned colors = load_row(w, y);
    bool transparent = w->src->alpha || has_key_or_alphas(w->src);
    if (colors == 1 && w->plan->color == COLOR_RGB) {
        promote_gray(w);
        colors = 3;
    }
    if (transparent && !w->plan->alpha)
        lay_on_background(w, colors);
    for (unsigned i = 0; i < w->dst->nplanes; i++)
        store(w, w->channel[i], i, y);
}

/* Planes without a known meaning are converted one by one, however many there
 * are. */
static void convert_other(struct row_converter *w, uint32_t y)
{
    double *row = w->channel[0];
    for (unsigned i = 0; i < w->dst->nplanes; i++) {
        for (uint32_t x = 0; x < w->src->width; x++)
            row[x] = sample(w->src, i, y, x);
        store(w, row, i, y);
    }
}

static int convert(struct image *dst, const struct image *src,
                   const struct conversion *plan, struct err *err)
{
    struct row_converter w = { .src = src, .dst = dst, .plan = plan };
    w.full = src->color == COLOR_INDEXED ? 255 : src->maxval ? src->maxval : 1;
    const size_t channels = 5 * sizeof(double);
    memory_plan(src->width * channels);
    double *rows = memory_alloc_zeroed(src->width, channels);
    if (!rows) {
        memory_unplan(src->width * channels);
        return fail_memory(err, "no memory for a row");
    }
    for (unsigned c = 0; c < 5; c++)
        w.channel[c] = rows + (size_t)c * src->width;
    for (uint32_t y = 0; y < src->height; y++) {
        if (src->color == COLOR_OTHER)
            convert_other(&w, y);
        else
            convert_row(&w, y);
    }
    memory_free(rows);
    memory_unplan(src->width * channels);
    if (w.clipped)
        warn(plan->opts->warnings,
             "%llu samples were below 0 or above 1 and are clipped",
             (unsigned long long)w.clipped);
    return 0;
}

/* Drops an ICC profile of another color space (ICC.1, 7.2.8): gray that became
 * RGB has another one. */
static void drop_foreign_profile(struct image *img,
                                 const struct convert_opts *opts)
{
    struct meta *meta = img->meta;
    const char *want = img->color == COLOR_GRAY ? "GRAY" : "RGB ";
    if (!meta || meta->icc.size < 20 ||
        memcmp(meta->icc.data + 16, want, 4) == 0)
        return;
    warn(opts->warnings, "the ICC profile is for %.4s data, so it is not kept",
         (const char *)meta->icc.data + 16);
    bytes_free(&meta->icc);
}

/* Drops the blocks that describe the samples as they were. Transparency has
 * become an alpha channel; a warning names the others. */
static void drop_sample_blocks(struct meta *meta,
                               const struct convert_opts *opts)
{
    for (size_t i = 0; meta && i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        block->dropped = block->samples;
        if (block->samples && !block->portable)
            warn(opts->warnings,
                 "%s is about the samples as they were, so it "
                 "is not kept",
                 block->name);
    }
    if (!meta)
        return;
    meta_remove_dropped(meta);
    meta->ncolors = meta->nalphas = 0;
    meta->keyed = false;
}

static unsigned planes_of(const struct conversion *plan,
                          const struct image *img)
{
    if (plan->color == COLOR_OTHER)
        return img->nplanes;
    return (plan->color == COLOR_GRAY ? 1 : 3) + plan->alpha;
}

/* Samples that were made elsewhere have been converted there. */
static int relabel(struct image *img, const struct conversion *plan,
                   struct err *err)
{
    struct limits limits = { 0 };
    if (plan->opts->limits) {
        limits = *plan->opts->limits;
        limits.reserve = NULL;
        if (image_check(img->width, img->height, img->nplanes, plan->cell,
                        &limits, err))
            return -1;
    }
    img->cell = plan->cell;
    img->maxval = plan->maxval;
    drop_sample_blocks(img->meta, plan->opts);
    return 0;
}

static bool is_made_so(const struct image *img, const struct conversion *plan)
{
    return img->made.bytes && img->made.cell == plan->cell &&
           img->color == plan->color && img->alpha == plan->alpha;
}

static int make(struct image *img, const struct conversion *plan,
                struct err *err)
{
    struct image made = {
        .cell = plan->cell,
        .color = plan->color,
        .alpha = plan->alpha,
        .width = img->width,
        .height = img->height,
        .maxval = plan->maxval,
        .nplanes = planes_of(plan, img),
        .orientation = img->orientation,
        .turned = img->turned,
        .untrimmed_width = img->untrimmed_width,
        .untrimmed_height = img->untrimmed_height,
    };
    const struct limits *limits = plan->opts->limits;
    if (img->store)
        return fail(err, "samples are converted in memory; a larger "
                         "--max-memory allows that");
    if ((limits && image_check(made.width, made.height, made.nplanes, made.cell,
                               limits, err)) ||
        image_alloc(&made, plan->opts->mem, err))
        return -1;
    if (convert(&made, img, plan, err)) {
        image_free(&made);
        return -1;
    }
    image_take_meta(&made, img);
    drop_sample_blocks(made.meta, plan->opts);
    image_free(img);
    *img = made;
    return 0;
}

int convert_to_fit(struct image *img, const struct codec *to,
                   const struct convert_opts *opts, bool *converted,
                   struct err *err)
{
    struct conversion plan = { .opts = opts };
    /* A codec can write what it reads, also what no other format holds. */
    *converted = false;
    if (codec_is_own(to, img) && !opts->depth)
        return 0;
    if (plan_cells(&plan, img, to, err) || plan_color(&plan, img, to, err))
        return -1;
    *converted = !nothing_to_do(&plan, img);
    if (*converted && (is_made_so(img, &plan) ? relabel(img, &plan, err)
                                              : make(img, &plan, err)))
        return -1;
    if (!codec_is_own(to, img))
        drop_foreign_profile(img, opts);
    return 0;
}
