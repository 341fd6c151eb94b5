/* Makes a picture fit a format that cannot hold it as it is. */
#include "codecs/convert.h"

#include <stdatomic.h>
#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/convert_rows.h"
#include "codecs/image/cell_store.h"

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
        p->laid = true;
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
           p->alpha == img->alpha && p->maxval == img->maxval && !p->laid;
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

/* Returns a picture without cells of what img is to become. */
static struct image shape_of(const struct image *img,
                             const struct conversion *plan)
{
    return (struct image){
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

/* ---- In memory ----------------------------------------------------------- */

static int make(struct image *img, const struct conversion *plan,
                struct err *err)
{
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

/* ---- Through a file: when rows are read ---------------------------------- */

struct converting_view {
    struct cell_view view; /* first: this is what the picture holds */
    struct row_colors colors;
    atomic_ullong clipped; /* samples, whenever they were read */
};

static void convert_view(struct cell_view *view, const struct image *to,
                         const struct image *from)
{
    struct converting_view *v = (struct converting_view *)view;
    atomic_fetch_add(&v->clipped, convert_rows(to, from, &v->colors));
}

/* Only floats can be out of range. They are read once more, so that what is
 * said of them comes when it does for a picture in memory. */
static int count_clipped(const struct image *img, const struct conversion *plan,
                         struct err *err)
{
    const struct converting_view *v = (const struct converting_view *)img->view;
    struct row_source rows = row_source_open(img, NULL);
    int status = 0;
    if (v->view.stored.cell != CELL_F32 || img->cell == CELL_F32)
        return 0;
    for (uint32_t y = 0; y < img->height && status == 0; y++)
        status = row_source_reach(&rows, y, err);
    row_source_close(&rows);
    warn_of_clipped(atomic_load(&v->clipped), plan);
    return status;
}

/* Lets rows be converted when they are read. */
static int make_view(struct image *img, const struct conversion *plan,
                     struct err *err)
{
    struct image made = shape_of(img, plan);
    struct converting_view *v;
    made.store = img->store;
    if (!cell_store_fits(&made))
        return fail(err,
                    "rows of %u pixels are converted in memory; a larger "
                    "--max-memory allows that",
                    img->width);
    v = memory_alloc_zeroed(1, sizeof *v);
    if (!v)
        return fail_memory(err, "no memory to convert samples");
    v->view = (struct cell_view){ *img, convert_view };
    v->view.stored.meta = NULL;
    v->colors = colors_of(img, plan);
    made.mem = img->mem;
    made.view = &v->view;
    if (count_clipped(&made, plan, err)) {
        memory_free(v);
        return -1;
    }
    made.meta = img->meta;
    drop_sample_blocks(made.meta, plan->opts);
    *img = made;
    return 0;
}

/* ---- Either -------------------------------------------------------------- */

static int convert(struct image *img, const struct conversion *plan,
                   struct err *err)
{
    if (is_made_so(img, plan))
        return relabel(img, plan, err);
    return img->store ? make_view(img, plan, err) : make(img, plan, err);
}

/* ---- Two pictures alike -------------------------------------------------- */

static enum color without_palette(const struct image *img)
{
    return img->color == COLOR_INDEXED ? COLOR_RGB : img->color;
}

static uint32_t sample_maxval(const struct image *img)
{
    return img->color == COLOR_INDEXED ? 255 : img->maxval;
}

/* Plans what both are to be; their order is no matter. */
static int plan_same(struct conversion *p, const struct image *a,
                     const struct image *b, struct err *err)
{
    const enum color colors[] = { without_palette(a), without_palette(b) };
    const uint32_t maxval = sample_maxval(a);
    for (int i = 0; i < 2; i++)
        if (colors[i] != COLOR_GRAY && colors[i] != COLOR_RGB)
            return fail(err,
                        "their samples cannot be compared: %s of %u bits, and "
                        "%s of %u",
                        image_color_name(a->color), image_bits(a),
                        image_color_name(b->color), image_bits(b));
    p->color = colors[0] == colors[1] ? colors[0] : COLOR_RGB;
    p->alpha =
        a->alpha || b->alpha || has_key_or_alphas(a) || has_key_or_alphas(b);
    p->cell = a->cell > b->cell ? a->cell : b->cell;
    p->maxval = sample_maxval(b) == maxval ? maxval : maxval_of(p->cell);
    return 0;
}

int convert_to_same(struct image *a, struct image *b,
                    const struct convert_opts *opts, struct err *err)
{
    struct conversion plan = { .opts = opts };
    if (plan_same(&plan, a, b, err) ||
        (!nothing_to_do(&plan, a) && convert(a, &plan, err)))
        return -1;
    return nothing_to_do(&plan, b) ? 0 : convert(b, &plan, err);
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
    if (*converted && convert(img, &plan, err))
        return -1;
    if (!codec_is_own(to, img))
        drop_foreign_profile(img, opts);
    return 0;
}
