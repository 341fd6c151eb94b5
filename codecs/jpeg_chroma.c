/* Chroma in full resolution along an axis.
 *
 * A sample of chroma at half the resolution lies between two pixels. If their
 * number is odd, the last sample lies between the last one and none, and after a
 * mirror it would be the first, half a sample off. */
#include "codecs/jpeg_chroma.h"

#include "codecs/jpeg_coding.h"

void chroma_choose(j_decompress_ptr d, uint32_t width, uint32_t height,
                   enum xform t, bool *across, bool *down)
{
    struct coded coded;
    coding_grains(&coded, d);
    const struct grain *grain = &coded.grain[FORM_PLANES];
    *across = xform_reverses_x(t) && width % grain->x != 0;
    *down = xform_reverses_y(t) && height % grain->y != 0;
}

/* Where the samples around number `i` of a full row are among `count` of them,
 * `factor` of which are stored for each `most` pixels. */
struct near {
    uint32_t at, next;
};

/* At half the resolution a pixel takes 3/4 of its sample and 1/4 of the next
 * one to it; else all of its sample. Neither comes after number `i`, so that
 * from the last one on all can be done in place. */
static struct near near_of(uint32_t i, uint32_t count, int factor, int most)
{
    struct near near;
    near.at = (uint32_t)((uint64_t)i * (uint32_t)factor / (uint32_t)most);
    near.at = near.at < count ? near.at : count - 1;
    near.next = near.at;
    if (2 * factor != most)
        return near;
    if (i % 2 && near.at + 1 < count)
        near.next++;
    if (i % 2 == 0 && near.at > 0)
        near.next--;
    return near;
}

static uint8_t mix(unsigned at, unsigned next, uint32_t i)
{
    return (uint8_t)((3 * at + next + 1 + i % 2) / 4);
}

static void fill_row(uint8_t *row, uint32_t width, uint32_t stored, int factor,
                     int most)
{
    for (uint32_t i = width; i-- > 0;) {
        struct near near = near_of(i, stored, factor, most);
        row[i] = mix(row[near.at], row[near.next], i);
    }
}

static void fill_column(const struct plane *plane, uint32_t stored, int factor,
                        int most)
{
    for (uint32_t y = plane->height; y-- > 0;) {
        struct near near = near_of(y, stored, factor, most);
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
        uint32_t width = info->downsampled_width;
        uint32_t height = info->downsampled_height;
        for (uint32_t y = 0; y < height && width < plane->width; y++)
            fill_row(plane_row(plane, y), plane->width, width,
                     info->h_samp_factor, d->max_h_samp_factor);
        if (height < plane->height)
            fill_column(plane, height, info->v_samp_factor,
                        d->max_v_samp_factor);
    }
}
