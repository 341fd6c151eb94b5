/* Planes of blocks as the memory of libjpeg.
 *
 * libjpeg asks a table of functions, its memory manager, for arrays of blocks,
 * and then for a few rows of one at a time; it sees the blocks in no other way.
 * It declares struct jvirt_barray_control for such an array and leaves the
 * definition to the memory manager. */
#include "codecs/jpeg/coefficient_arrays.h"

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

static JBLOCKROW row_at(const struct jvirt_barray_control *array, uint32_t row)
{
    if (row < array->lead)
        return array->before;
    uint32_t y = array->first + (row - array->lead);
    if (y >= array->end)
        return array->behind;
    if (y >= array->plane->height && array->below)
        return array->below;
    return plane_row(array->plane, y);
}

static JBLOCKARRAY access_rows(j_common_ptr cinfo,
                               struct jvirt_barray_control *array,
                               JDIMENSION start, JDIMENSION count,
                               boolean writable)
{
    uint32_t rows = array->lead + (array->end - array->first);
    if (count > MAX_SAMP_FACTOR ||
        (!array->behind && (start > rows || count > rows - start))) {
        cinfo->err->msg_code = JERR_BAD_VIRTUAL_ACCESS;
        cinfo->err->error_exit(cinfo);
    }
    if (writable) /* where rows are written, there are none before them */
        clear_rows(array, array->first +
                              (start + count < rows ? start + count : rows));
    for (JDIMENSION i = 0; i < count; i++)
        array->row[i] = row_at(array, start + i);
    return array->row;
}

static void lend(struct coefficient_arrays *blocks, unsigned i,
                 const struct plane *plane, uint32_t first, uint32_t end)
{
    blocks->array[i] = (struct jvirt_barray_control){
        .plane = plane, .first = first, .end = end, .cleared = first
    };
    blocks->list[i] = &blocks->array[i];
}

void coefficient_arrays_lend(struct coefficient_arrays *blocks,
                             const struct image *img, j_common_ptr cinfo)
{
    for (unsigned i = 0; i < img->nplanes; i++)
        lend(blocks, i, &img->plane[i], 0, rows_of(&img->plane[i]));
    cinfo->mem->access_virt_barray = access_rows;
}

void coefficient_arrays_lend_rows(struct coefficient_arrays *blocks,
                                  const struct image *img, j_common_ptr cinfo,
                                  const uint32_t down[COEFFICIENT_ARRAYS],
                                  uint32_t first, uint32_t end)
{
    for (unsigned i = 0; i < img->nplanes; i++)
        lend(blocks, i, &img->plane[i], first * down[i], end * down[i]);
    cinfo->mem->access_virt_barray = access_rows;
}

/* libjpeg asks for the components in order, and for no more than the header
 * announces, unless a damaged file has misled it. */
static jvirt_barray_ptr lend_next(j_common_ptr cinfo, int pool, boolean zero,
                                  JDIMENSION across, JDIMENSION down,
                                  JDIMENSION at_once)
{
    struct coefficient_arrays *blocks = cinfo->client_data;
    (void)pool, (void)zero, (void)across, (void)down, (void)at_once;
    if (blocks->lent == COEFFICIENT_ARRAYS || !blocks->list[blocks->lent]) {
        cinfo->err->msg_code = JERR_BAD_VIRTUAL_ACCESS;
        cinfo->err->error_exit(cinfo);
    }
    return blocks->list[blocks->lent++];
}

void coefficient_arrays_offer(j_common_ptr cinfo)
{
    cinfo->mem->request_virt_barray = lend_next;
}

void coefficient_arrays_finish(struct coefficient_arrays *blocks)
{
    for (unsigned i = 0; i < COEFFICIENT_ARRAYS; i++)
        if (blocks->array[i].plane)
            clear_rows(&blocks->array[i], rows_of(blocks->array[i].plane));
}
