/* Chroma in full resolution along an axis.
 *
 * A sample of chroma at half the resolution lies between two pixels. If their
 * number is odd, the last sample has only one of them; after a mirror it would
 * be the first, which has two, and all would be off by half a sample. */
#include "codecs/jpeg/chroma.h"

#include "codecs/jpeg/arithmetic.h"
#include "codecs/jpeg/parameters.h"
#include "codecs/jpeg/upsample.h"

/* Whether libjpeg smooths a component to show it. */
static bool is_smooth(j_decompress_ptr d, const jpeg_component_info *info)
{
    struct upsampling u;
    return upsample_set(&u, d->image_width, d->image_height,
                        (unsigned)info->h_samp_factor,
                        (unsigned)info->v_samp_factor,
                        (unsigned)d->max_h_samp_factor,
                        (unsigned)d->max_v_samp_factor) &&
           upsample_is_smooth(&u);
}

/* Whether libjpeg might smooth a component in one of these cases and not in the
 * other: as it is, and turned or in full resolution along one axis. */
static bool may_differ(j_decompress_ptr d, const jpeg_component_info *info)
{
    bool full = info->h_samp_factor == d->max_h_samp_factor &&
                info->v_samp_factor == d->max_v_samp_factor;
    return !full &&
           (!is_smooth(d, info) || info->downsampled_height <= UPSAMPLE_NARROW);
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

static void fill_row(uint8_t *row, uint32_t width,
                     const struct chroma_axis *axis)
{
    for (uint32_t i = width; i-- > 0;)
        row[i] =
            chroma_mix(row[chroma_at(axis, i)], row[chroma_next(axis, i)], i);
}

static void fill_columns(const struct plane *plane,
                         const struct chroma_axis *axis)
{
    for (uint32_t y = plane->height; y-- > 0;) {
        const uint8_t *at = plane_row(plane, chroma_at(axis, y));
        const uint8_t *next = plane_row(plane, chroma_next(axis, y));
        uint8_t *row = plane_row(plane, y);
        for (uint32_t x = 0; x < plane->width; x++)
            row[x] = chroma_mix(at[x], next[x], y);
    }
}

void chroma_fill(j_decompress_ptr d, const struct image *img)
{
    for (unsigned i = 0; i < img->nplanes; i++) {
        const struct plane *plane = &img->plane[i];
        const jpeg_component_info *info = &d->comp_info[i];
        bool smooth = is_smooth(d, info);
        const struct chroma_axis x = { info->downsampled_width,
                                       (uint32_t)info->h_samp_factor,
                                       (uint32_t)d->max_h_samp_factor, smooth };
        const struct chroma_axis y = { info->downsampled_height,
                                       (uint32_t)info->v_samp_factor,
                                       (uint32_t)d->max_v_samp_factor, smooth };
        for (uint32_t row = 0; row < y.count && x.count < plane->width; row++)
            fill_row(plane_row(plane, row), plane->width, &x);
        if (y.count < plane->height)
            fill_columns(plane, &y);
    }
}
