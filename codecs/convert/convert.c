/* Makes a picture fit a format that cannot hold it as it is. */
#include "codecs/convert/convert.h"

#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/image/rows.h"
#include "codecs/image/scan_turner.h"

/* Converts samples, some pixels at a time, in doubles.
 *
 * A double holds every sample of 16 bits and every float exactly, and the
 * product of two samples of 16 bits as well: rounding is exact if the one
 * division comes last. One way serves all pairs of cells. It need not be fast:
 * pictures that keep their format never come here. */

/* What transparency is when it has no channel, and what it is laid on. */
struct row_colors {
    unsigned ncolors; /* the palette of COLOR_INDEXED */
    uint8_t palette[256][4];
    bool transparent; /* by an alpha channel, the palette or the key */
    bool keyed;       /* cells equal to `key` are transparent */
    uint16_t key[3];
    uint8_t over[3]; /* red, green and blue, behind what dst has no alpha for */
};

/* Pixels that are converted at a time: what they take stays in a cache. */
enum { SPAN = 1024 };

struct span_converter {
    struct image src, dst; /* some columns of the pictures */
    const struct row_colors *colors;
    double full;             /* the value of full intensity in the channels */
    double channel[5][SPAN]; /* of each: gray or R G B, then alpha */
    uint64_t clipped;        /* how many samples were outside 0 to `full` */
};

/* Loads a row of a plane of src into a channel. */
static void load(struct span_converter *w, unsigned channel, unsigned plane,
                 uint32_t y)
{
    const void *row = plane_row(&w->src.plane[plane], y);
    double *to = w->channel[channel];
    for (uint32_t x = 0; x < w->src.width; x++)
        to[x] = w->src.cell == CELL_U8    ? ((const uint8_t *)row)[x]
                : w->src.cell == CELL_U16 ? ((const uint16_t *)row)[x]
                                          : (double)((const float *)row)[x];
}

/* Loads a row of src into the channels, with alpha behind the colors. Returns
 * how many colors it has. */
static unsigned load_row(struct span_converter *w, uint32_t y)
{
    const struct image *src = &w->src;
    const struct row_colors *colors = w->colors;
    const bool indexed = src->color == COLOR_INDEXED;
    const unsigned channels = indexed ? 3 : src->nplanes - src->alpha;
    const uint8_t *row = plane_row(&src->plane[0], y);
    for (unsigned c = 0; c < src->nplanes && !indexed; c++)
        load(w, c, c, y);
    for (uint32_t x = 0; x < src->width; x++) {
        bool hit = true;
        if (indexed) {
            const uint8_t *entry = colors->palette[row[x]];
            for (unsigned c = 0; c < 3; c++)
                w->channel[c][x] = entry[c];
            /* An index past the palette is opaque black, as viewers show it. */
            w->channel[3][x] = row[x] < colors->ncolors ? entry[3] : 255;
        } else if (!src->alpha && colors->keyed) {
            for (unsigned c = 0; c < channels; c++)
                hit = hit && w->channel[c][x] == colors->key[c];
            w->channel[channels][x] = hit ? 0 : w->full;
        }
        if (!colors->transparent)
            w->channel[channels][x] = w->full;
    }
    return channels;
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

/* Stores a channel as a row of a plane of dst. */
static void store(struct span_converter *w, unsigned channel, unsigned plane,
                  uint32_t y)
{
    const struct image *dst = &w->dst;
    const double top = dst->maxval, full = w->full, *from = w->channel[channel];
    void *row = plane_row(&dst->plane[plane], y);
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

/* Returns up to SPAN columns of a picture, from x on. */
static struct image span_of(const struct image *img, uint32_t x)
{
    struct image span = *img;
    span.width = img->width - x < SPAN ? img->width - x : SPAN;
    for (unsigned i = 0; i < span.nplanes; i++)
        span.plane[i].data += x * cell_size(span.cell);
    return span;
}

/* Converts all pixels of src, which has any cells but CELL_DCT, to those of
 * dst, of the same size: gray to gray or RGB, a palette to RGB, alpha to alpha
 * or to nothing, what has none to opaque alpha, and COLOR_OTHER, planes without
 * a known meaning, however many there are, to the same. Returns how many
 * samples were below 0 or above full intensity, and are clipped. */
static uint64_t convert_rows(const struct image *dst, const struct image *src,
                             const struct row_colors *colors)
{
    struct span_converter w = { .colors = colors };
    const bool other = src->color == COLOR_OTHER;
    w.full = src->color == COLOR_INDEXED ? 255 : src->maxval ? src->maxval : 1;
    for (uint32_t x = 0; x < src->width; x += SPAN) {
        w.src = span_of(src, x);
        w.dst = span_of(dst, x);
        const size_t size = w.src.width * sizeof *w.channel[0];
        for (uint32_t y = 0; y < src->height; y++) {
            unsigned channels = other ? 0 : load_row(&w, y);
            if (channels == 1 && dst->color == COLOR_RGB) {
                memcpy(w.channel[3], w.channel[1], size); /* alpha */
                memcpy(w.channel[1], w.channel[0], size);
                memcpy(w.channel[2], w.channel[0], size);
                channels = 3;
            }
            if (!other && colors->transparent && !dst->alpha)
                lay_on_background(&w, channels);
            for (unsigned i = 0; i < dst->nplanes; i++) {
                if (other)
                    load(&w, 0, i, y);
                store(&w, other ? 0 : i, i, y);
            }
        }
    }
    return w.clipped;
}

/* ---- What is to be done -------------------------------------------------- */

/* What the picture is to become. */
struct conversion {
    enum cell cell;
    enum color color;
    bool alpha;
    bool laid; /* what is transparent, on the background */
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
        p->laid = true;
    }
    return 0;
}

/* Chooses the smallest cell of the format that holds the samples, or the one
 * that was asked for. */
static int plan_cells(struct conversion *p, const struct image *img,
                      const struct codec *to, struct err *err)
{
    const unsigned depth = p->opts->depth;
    const uint32_t m = img->maxval;
    const bool keeps_maxval =
        img->cell == CELL_F32 || to->capabilities.any_maxval ||
        codec_is_own(to, img) || m == 255 || m == 65535 ||
        (to->capabilities.gray_bits && img->color == COLOR_GRAY &&
         !img->alpha && (m == 1 || m == 3 || m == 15));
    p->cell = img->cell;
    p->maxval = m;
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
    if (asked || p->cell != img->cell || !keeps_maxval)
        p->maxval = maxval_of(p->cell);
    return 0;
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

/* Returns a picture without cells of what img is to become. */
static struct image shape_of(const struct image *img,
                             const struct conversion *plan)
{
    struct image made = image_kind(img);
    made.cell = plan->cell;
    made.color = plan->color;
    made.alpha = plan->alpha;
    made.maxval = plan->maxval;
    if (plan->color != COLOR_OTHER)
        made.nplanes = (plan->color == COLOR_GRAY ? 1 : 3) + plan->alpha;
    return made;
}

static struct row_colors colors_of(const struct image *img,
                                   const struct conversion *plan)
{
    const struct meta *meta = img->meta;
    struct row_colors colors = { .transparent =
                                     img->alpha || has_key_or_alphas(img) };
    memcpy(colors.over, plan->opts->over, sizeof colors.over);
    if (!meta)
        return colors;
    colors.ncolors = meta->ncolors;
    memcpy(colors.palette, meta->palette, sizeof colors.palette);
    colors.keyed = meta->keyed;
    memcpy(colors.key, meta->key, sizeof colors.key);
    return colors;
}

static void warn_of_clipped(uint64_t clipped, const struct conversion *plan)
{
    if (clipped)
        warn(plan->opts->warnings,
             "%llu samples were below 0 or above 1 and are clipped",
             (unsigned long long)clipped);
}

/* A device has converted the samples that it has made. */
static int relabel(struct image *img, const struct conversion *plan,
                   struct err *err)
{
    struct image made = shape_of(img, plan);
    struct limits limits = { 0 };
    if (plan->opts->limits) {
        limits = *plan->opts->limits;
        limits.reserve = NULL;
        if (image_check(made.width, made.height, made.nplanes, made.cell,
                        &limits, err))
            return -1;
    }
    made.pixels = img->pixels;
    image_take_meta(&made, img);
    drop_sample_blocks(made.meta, plan->opts);
    *img = made;
    scan_turner_take_samples(img);
    return 0;
}

/* ---- Through a file: when rows are read ---------------------------------- */

struct converter {
    struct row_colors colors;
    uint64_t clipped; /* samples, whenever they were read */
};

static void convert_band(void *converter, const struct image *to,
                         const struct image *from)
{
    struct converter *c = converter;
    c->clipped += convert_rows(to, from, &c->colors);
}

/* Lets rows be converted when they are read. Only floats can be out of range:
 * they are read once more, so that what is said of them comes when it does for
 * a picture in memory. */
static int convert_bands(struct image *img, const struct conversion *plan,
                         struct err *err)
{
    struct image made = shape_of(img, plan);
    struct bands *bands = img->pixels.bands;
    made.pixels = img->pixels;
    if (!row_source_fits(&made))
        return fail(err,
                    "rows of %u pixels are converted in memory; a larger "
                    "--max-memory allows that",
                    img->width);
    struct converter *c = memory_alloc_zeroed(1, sizeof *c);
    if (!c)
        return fail_memory(err, "no memory to convert samples");
    c->colors = colors_of(img, plan);
    bands->convert = convert_band;
    bands->converter = c;
    if (bands->kind.cell == CELL_F32 && made.cell != CELL_F32) {
        struct row_source rows = row_source_open(&made, NULL);
        int status = 0;
        for (uint32_t y = 0; y < made.height && status == 0; y++)
            status = row_source_reach(&rows, y, err);
        row_source_close(&rows);
        warn_of_clipped(c->clipped, plan);
        if (status)
            return -1;
    }
    image_take_meta(&made, img);
    drop_sample_blocks(made.meta, plan->opts);
    *img = made;
    return 0;
}

/* ---- Either -------------------------------------------------------------- */

static bool nothing_to_do(const struct conversion *p, const struct image *img)
{
    return p->cell == img->cell && p->color == img->color &&
           p->alpha == img->alpha && p->maxval == img->maxval && !p->laid;
}

static int convert(struct image *img, const struct conversion *plan,
                   struct err *err)
{
    if (nothing_to_do(plan, img))
        return 0;
    if (img->pixels.kind == PIXELS_DEVICE &&
        img->pixels.device.cell == plan->cell &&
        img->pixels.device.color == plan->color &&
        img->pixels.device.alpha == plan->alpha)
        return relabel(img, plan, err);
    if (image_has_bands(img))
        return convert_bands(img, plan, err);
    struct image made = shape_of(img, plan);
    const struct row_colors colors = colors_of(img, plan);
    const struct limits *limits = plan->opts->limits;
    if ((limits && image_check(made.width, made.height, made.nplanes, made.cell,
                               limits, err)) ||
        image_alloc(&made, plan->opts->mem, err))
        return -1;
    warn_of_clipped(convert_rows(&made, img, &colors), plan);
    image_take_meta(&made, img);
    drop_sample_blocks(made.meta, plan->opts);
    image_free(img);
    *img = made;
    return 0;
}

/* ---- Two pictures alike -------------------------------------------------- */

int convert_to_same(struct image *a, struct image *b,
                    const struct convert_opts *opts, struct err *err)
{
    const struct image *pair[] = { a, b };
    struct conversion plan = { .opts = opts };
    enum color colors[2];
    uint32_t maxval[2];
    for (int i = 0; i < 2; i++) {
        const bool indexed = pair[i]->color == COLOR_INDEXED;
        colors[i] = indexed ? COLOR_RGB : pair[i]->color;
        maxval[i] = indexed ? 255 : pair[i]->maxval;
        plan.alpha = plan.alpha || pair[i]->alpha || has_key_or_alphas(pair[i]);
    }
    for (int i = 0; i < 2; i++)
        if (colors[i] != COLOR_GRAY && colors[i] != COLOR_RGB)
            return fail(err,
                        "their samples cannot be compared: %s of %u bits, and "
                        "%s of %u",
                        image_color_name(a->color), image_bits(a),
                        image_color_name(b->color), image_bits(b));
    plan.color = colors[0] == colors[1] ? colors[0] : COLOR_RGB;
    plan.cell = a->cell > b->cell ? a->cell : b->cell;
    plan.maxval = maxval[0] == maxval[1] ? maxval[0] : maxval_of(plan.cell);
    return convert(a, &plan, err) || convert(b, &plan, err) ? -1 : 0;
}

/* ---- To a format --------------------------------------------------------- */

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
    if (convert(img, &plan, err))
        return -1;
    /* Gray that became RGB has a profile of another color space (ICC.1, 7.2.8).
     */
    struct bytes *icc = img->meta ? &img->meta->icc : NULL;
    if (icc && icc->size >= 20 && !codec_is_own(to, img) &&
        memcmp(icc->data + 16, img->color == COLOR_GRAY ? "GRAY" : "RGB ", 4)) {
        warn(opts->warnings,
             "the ICC profile is for %.4s data, so it is not kept",
             (const char *)icc->data + 16);
        bytes_free(icc);
    }
    return 0;
}
