/* libjpeg's arrays of blocks, and errors. */
#include "codecs/jpeg/libjpeg.h"

#include <jerror.h>

/* ---- Arrays of blocks ---------------------------------------------------- */

/* A group may begin in the last row: image_alloc() makes room for it. */
static JBLOCKARRAY access_rows(j_common_ptr cinfo,
                               struct jvirt_barray_control *array,
                               JDIMENSION start, JDIMENSION count,
                               boolean writable)
{
    const uint32_t rows = array->plane->height + MAX_SAMP_FACTOR - 1;
    (void)writable;
    if (count > MAX_SAMP_FACTOR || start > rows || count > rows - start) {
        cinfo->err->msg_code = JERR_BAD_VIRTUAL_ACCESS;
        cinfo->err->error_exit(cinfo);
    }
    for (JDIMENSION i = 0; i < count; i++)
        array->row[i] = plane_row(array->plane, start + i);
    return array->row;
}

void libjpeg_arrays_lend(struct libjpeg_arrays *blocks, const struct image *img,
                         j_common_ptr cinfo)
{
    for (unsigned i = 0; i < img->nplanes; i++) {
        blocks->array[i] =
            (struct jvirt_barray_control){ .plane = &img->plane[i] };
        blocks->list[i] = &blocks->array[i];
    }
    cinfo->mem->access_virt_barray = access_rows;
}

/* libjpeg asks for the components in order, and for no more than the header
 * announces, unless a damaged file has misled it. */
static jvirt_barray_ptr lend_next(j_common_ptr cinfo, int pool, boolean zero,
                                  JDIMENSION across, JDIMENSION down,
                                  JDIMENSION at_once)
{
    struct libjpeg_arrays *blocks = cinfo->client_data;
    (void)pool, (void)zero, (void)across, (void)down, (void)at_once;
    if (blocks->lent == LIBJPEG_ARRAYS || !blocks->list[blocks->lent]) {
        cinfo->err->msg_code = JERR_BAD_VIRTUAL_ACCESS;
        cinfo->err->error_exit(cinfo);
    }
    return blocks->list[blocks->lent++];
}

void libjpeg_arrays_offer(j_common_ptr cinfo)
{
    cinfo->mem->request_virt_barray = lend_next;
}

/* ---- Errors ---------------------------------------------------- */

void libjpeg_describe_error(j_common_ptr cinfo, struct err *err)
{
    char text[JMSG_LENGTH_MAX];
    cinfo->err->format_message(cinfo, text);
    if (cinfo->err->msg_code == JERR_OUT_OF_MEMORY)
        fail_memory(err, "%s", text);
    else
        fail(err, "%s", text);
}
