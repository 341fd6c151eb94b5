/* Samples as a JPEG file stores them, a row of MCUs at a time. */
#include "codecs/jpeg/raw_planes.h"

#include <string.h>

/* The rows of each component in one row of MCUs. */
struct mcu_rows {
    JSAMPROW row[MAX_COMPONENTS][MAX_SAMP_FACTOR * DCTSIZE];
    JSAMPARRAY component[MAX_COMPONENTS];
};

/* Memory for rows below the picture. */
static JSAMPROW make_scratch(j_decompress_ptr d, const struct image *img)
{
    size_t most = 0;
    for (unsigned i = 0; i < img->nplanes; i++)
        if (img->plane[i].stride > most)
            most = img->plane[i].stride;
    return d->mem->alloc_large((j_common_ptr)d, JPOOL_IMAGE, most);
}

/* A whole number of blocks fits between one row and the next, since 256 is a
 * multiple of 8. */
void raw_planes_read(j_decompress_ptr d, const struct image *img,
                     uint32_t first, uint32_t end)
{
    JDIMENSION lines = (JDIMENSION)d->max_v_samp_factor * DCTSIZE;
    JSAMPROW scratch = make_scratch(d, img);
    struct mcu_rows rows;
    while (d->output_scanline < d->output_height) {
        for (unsigned i = 0; i < img->nplanes; i++) {
            const struct plane *plane = &img->plane[i];
            unsigned n = (unsigned)d->comp_info[i].v_samp_factor * DCTSIZE;
            uint32_t at = first + d->output_scanline, y = at / lines * n;
            for (unsigned k = 0; k < n; k++, y++)
                rows.row[i][k] = at < end && y < plane->height
                                     ? plane_row(plane, y)
                                     : scratch;
            rows.component[i] = rows.row[i];
        }
        jpeg_read_raw_data(d, rows.component, lines);
    }
}

void raw_planes_write(j_compress_ptr c, const struct image *img, uint32_t first)
{
    JDIMENSION lines = (JDIMENSION)c->max_v_samp_factor * DCTSIZE;
    struct mcu_rows rows;
    while (c->next_scanline < c->image_height) {
        for (unsigned i = 0; i < img->nplanes; i++) {
            const struct plane *plane = &img->plane[i];
            const jpeg_component_info *info = &c->comp_info[i];
            size_t room = (size_t)info->width_in_blocks * DCTSIZE;
            unsigned n = (unsigned)info->v_samp_factor * DCTSIZE;
            uint32_t y = (first + c->next_scanline) / lines * n;
            for (unsigned k = 0; k < n; k++, y++) {
                uint32_t last = plane->height - 1;
                JSAMPROW row = plane_row(plane, y < last ? y : last);
                memset(row + plane->width, row[plane->width - 1],
                       room - plane->width);
                rows.row[i][k] = row;
            }
            rows.component[i] = rows.row[i];
        }
        jpeg_write_raw_data(c, rows.component, lines);
    }
}
