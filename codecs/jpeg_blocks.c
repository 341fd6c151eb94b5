/* Planes of blocks as the memory of libjpeg.
 *
 * libjpeg asks a table of functions, its memory manager, for arrays of blocks,
 * and then for some rows of one at a time; it looks into such an array nowhere
 * else. struct jvirt_barray_control is its name for one, which it declares and
 * leaves to the memory manager. */
#include "codecs/jpeg_blocks.h"

#include <string.h>

#include <jerror.h>

/* A group may begin in the last row: image_alloc() makes room for it. */
static uint32_t rows_of(const struct plane *plane)
{
    return plane->height + MAX_SAMP_FACTOR - 1;
}

static void clear_rows(struct jvirt_barray_control *array, uint32_t end)
{
    const struct plane *plane = array->plane;
    if (end <= array->cleared)
        return;
    memset(plane_row(plane, array->cleared), 0,
           (end - array->cleared) * plane->stride);
    array->cleared = end;
}

static JBLOCKARRAY access_rows(j_common_ptr cinfo,
                               struct jvirt_barray_control *array,
                               JDIMENSION start, JDIMENSION count,
                               boolean writable)
{
    uint32_t room = rows_of(array->plane);
    if (count > MAX_SAMP_FACTOR || start > room || count > room - start) {
        cinfo->err->msg_code = JERR_BAD_VIRTUAL_ACCESS;
        cinfo->err->error_exit(cinfo);
    }
    if (writable)
        clear_rows(array, start + count);
    for (JDIMENSION i = 0; i < count; i++)
        array->row[i] = plane_row(array->plane, start + i);
    return array->row;
}

void blocks_lend(struct blocks *blocks, const struct image *img,
                 j_common_ptr cinfo)
{
    for (unsigned i = 0; i < img->nplanes; i++) {
        blocks->array[i] =
            (struct jvirt_barray_control){ .plane = &img->plane[i] };
        blocks->list[i] = &blocks->array[i];
    }
    cinfo->mem->access_virt_barray = access_rows;
}

void blocks_finish(struct blocks *blocks)
{
    for (unsigned i = 0; i < BLOCKS_PLANES; i++)
        if (blocks->array[i].plane)
            clear_rows(&blocks->array[i], rows_of(blocks->array[i].plane));
}

/* T.81, F.1.2.1.1 and F.1.2.2.1: AC coefficients have up to 10 bits. So may DC
 * differences have 11, which those of 10 bits never exceed. */
bool blocks_are_standard(const struct image *img)
{
    for (unsigned i = 0; i < img->nplanes; i++)
        for (uint32_t y = 0; y < img->plane[i].height; y++) {
            const int16_t *at = plane_row(&img->plane[i], y);
            uint16_t bits = 0;
            for (uint32_t x = 0; x < img->plane[i].width; x++, at += DCTSIZE2)
                for (unsigned k = 0; k < DCTSIZE2; k++)
                    bits |= (uint16_t)(at[k] ^ (at[k] >> 15));
            if (bits > 1023)
                return false;
        }
    return true;
}
