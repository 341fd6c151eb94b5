/* Chroma in full resolution along an axis.
 *
 * A sample of chroma at half the resolution lies between two pixels. If their
 * number is odd, the last sample has only one of them; after a mirror it would
 * be the first, which has two, and all would be off by half a sample. */
#include "codecs/jpeg/chroma.h"

#include "codecs/jpeg/parameters.h"

static bool is_half(int factor, int most)
{
    return 2 * factor == most;
}

/* libjpeg does not smooth a component of so few columns. */
enum { NARROW = 2 };

/* Whether libjpeg smooths a component to show it. */
static bool is_smooth(j_decompress_ptr d, const jpeg_component_info *info)
{
    bool down = is_half(info->v_samp_factor, d->max_v_samp_factor);
    if (is_half(info->h_samp_factor, d->max_h_samp_factor))
        return (down || info->v_samp_factor == d->max_v_samp_factor) &&
               info->downsampled_width > NARROW;
    return down && info->h_samp_factor == d->max_h_samp_factor;
}

/* Whether libjpeg might smooth a component in one of these cases and not in the
 * other: as it is, and turned or in full resolution along one axis. */
static bool may_differ(j_decompress_ptr d, const jpeg_component_info *info)
{
    bool full = info->h_samp_factor == d->max_h_samp_factor &&
                info->v_samp_factor == d->max_v_samp_factor;
    return !full && (!is_smooth(d, info) || info->downsampled_height <= NARROW);
}

void chroma_choose(j_decompress_ptr d, uint32_t width, uint32_t height,
                   enum xform t, bool *across, bool *down)
{
    struct stream_info info;
    parameters_alignments(&info, d);
    const struct alignment *alignment = &info.alignment[REPRESENTATION_PLANES];
    info.width = width;
    info.height = height;
    bool moved = !stream_info_can_turn(&info, REPRESENTATION_COEFFICIENTS, t);
    *across = moved && width % alignment->x != 0;
    *down = moved && height % alignment->y != 0;
    for (int i = 0; i < d->num_components; i++)
        if ((*across || *down) && may_differ(d, &d->comp_info[i]))
            *across = *down = true;
}

/* An axis has `count` samples, `factor` of them for each `most` pixels. */
struct axis {
    uint32_t count;
    int factor, most;
    bool smooth;
};

/* The positions of the two samples that pixel `i` is made of. */
struct near {
    uint32_t at, next;
};

/* A smooth pixel is 3/4 of its sample and 1/4 of the neighbor; another is its
 * sample alone. No position is above `i`, so that a row can be filled in place
 * from its end. */
static struct near near_of(const struct axis *axis, uint32_t i)
{
    struct near near;
    near.at =
        (uint32_t)((uint64_t)i * (uint32_t)axis->factor / (uint32_t)axis->most);
    near.at = near.at < axis->count ? near.at : axis->count - 1;
    near.next = near.at;
    if (axis->smooth && i % 2 && near.at + 1 < axis->count)
        near.next++;
    if (axis->smooth && i % 2 == 0 && near.at > 0)
        near.next--;
    return near;
}

static uint8_t mix(unsigned at, unsigned next, uint32_t i)
{
    return (uint8_t)((3 * at + next + 1 + i % 2) / 4);
}

static void fill_row(uint8_t *row, uint32_t width, const struct axis *axis)
{
    for (uint32_t i = width; i-- > 0;) {
        struct near near = near_of(axis, i);
        row[i] = mix(row[near.at], row[near.next], i);
    }
}

static void fill_columns(const struct plane *plane, const struct axis *axis)
{
    for (uint32_t y = plane->height; y-- > 0;) {
        struct near near = near_of(axis, y);
        const uint8_t *at = plane_row(plane, near.at);
        const uint8_t *next = plane_row(plane, near.next);
        uint8_t *row = plane_row(plane, y);
        for (uint32_t x = 0; x < plane->width; x++)
            row[x] = mix(at[x], next[x], y);
    }
}

void chroma_fill(j_decompress_ptr d, const struct image *img)
{
    for (unsigned i = 0; i < img->nplanes; i++) {
        const struct plane *plane = &img->plane[i];
        const jpeg_component_info *info = &d->comp_info[i];
        bool smooth = is_smooth(d, info);
        const struct axis x = { info->downsampled_width, info->h_samp_factor,
                                d->max_h_samp_factor, smooth };
        const struct axis y = { info->downsampled_height, info->v_samp_factor,
                                d->max_v_samp_factor, smooth };
        for (uint32_t row = 0; row < y.count && x.count < plane->width; row++)
            fill_row(plane_row(plane, row), plane->width, &x);
        if (y.count < plane->height)
            fill_columns(plane, &y);
    }
}
