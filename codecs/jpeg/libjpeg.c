/* libjpeg's memory, arrays of blocks and errors. */
#include "codecs/jpeg/libjpeg.h"

#include <stdio.h>
#include <string.h>

#include <jerror.h>

#include "codecs/base/memory.h"

/* ---- Memory -------------------------------------------------------------- */

static struct libjpeg_memory *memory_of(j_common_ptr cinfo)
{
    return (struct libjpeg_memory *)cinfo->err;
}

/* Counts `rows` of `n` units of so many bytes, and a pointer to each row. */
static void count(j_common_ptr cinfo, int pool, size_t rows, size_t n,
                  size_t unit)
{
    size_t row, all;
    if (__builtin_mul_overflow(n, unit, &row) ||
        __builtin_add_overflow(row, sizeof(void *), &row) ||
        __builtin_mul_overflow(rows, row, &all) || !memory_take(all)) {
        cinfo->err->msg_code = JERR_OUT_OF_MEMORY;
        cinfo->err->msg_parm.i[0] = 0;
        cinfo->err->error_exit(cinfo);
    } else if (pool >= 0 && pool < JPOOL_NUMPOOLS) {
        memory_of(cinfo)->taken[pool] += all;
    }
}

static void *alloc_small(j_common_ptr cinfo, int pool, size_t size)
{
    count(cinfo, pool, 1, size, 1);
    return memory_of(cinfo)->own.alloc_small(cinfo, pool, size);
}

static void *alloc_large(j_common_ptr cinfo, int pool, size_t size)
{
    count(cinfo, pool, 1, size, 1);
    return memory_of(cinfo)->own.alloc_large(cinfo, pool, size);
}

static JSAMPARRAY alloc_samples(j_common_ptr cinfo, int pool, JDIMENSION n,
                                JDIMENSION rows)
{
    count(cinfo, pool, rows, n, sizeof(JSAMPLE));
    return memory_of(cinfo)->own.alloc_sarray(cinfo, pool, n, rows);
}

static JBLOCKARRAY alloc_blocks(j_common_ptr cinfo, int pool, JDIMENSION n,
                                JDIMENSION rows)
{
    count(cinfo, pool, rows, n, sizeof(JBLOCK));
    return memory_of(cinfo)->own.alloc_barray(cinfo, pool, n, rows);
}

/* An array that could be in a file is in memory here: libjpeg-turbo has no
 * backing store. */
static jvirt_sarray_ptr request_samples(j_common_ptr cinfo, int pool,
                                        boolean zero, JDIMENSION n,
                                        JDIMENSION rows, JDIMENSION at_once)
{
    count(cinfo, pool, rows, n, sizeof(JSAMPLE));
    return memory_of(cinfo)->own.request_virt_sarray(cinfo, pool, zero, n, rows,
                                                     at_once);
}

static jvirt_barray_ptr request_blocks(j_common_ptr cinfo, int pool,
                                       boolean zero, JDIMENSION n,
                                       JDIMENSION rows, JDIMENSION at_once)
{
    count(cinfo, pool, rows, n, sizeof(JBLOCK));
    return memory_of(cinfo)->own.request_virt_barray(cinfo, pool, zero, n, rows,
                                                     at_once);
}

static void free_pool(j_common_ptr cinfo, int pool)
{
    struct libjpeg_memory *memory = memory_of(cinfo);
    memory->own.free_pool(cinfo, pool);
    memory_give(memory->taken[pool]);
    memory->taken[pool] = 0;
}

void libjpeg_memory_count(struct libjpeg_memory *memory, j_common_ptr cinfo)
{
    struct jpeg_memory_mgr *mem = cinfo->mem;
    memory->own = *mem;
    mem->alloc_small = alloc_small;
    mem->alloc_large = alloc_large;
    mem->alloc_sarray = alloc_samples;
    mem->alloc_barray = alloc_blocks;
    mem->request_virt_sarray = request_samples;
    mem->request_virt_barray = request_blocks;
    mem->free_pool = free_pool;
}

void libjpeg_memory_end(struct libjpeg_memory *memory, j_common_ptr cinfo)
{
    jpeg_destroy(cinfo); /* fine on {0} */
    for (int i = 0; i < JPOOL_NUMPOOLS; i++)
        memory_give(memory->taken[i]);
    *memory = (struct libjpeg_memory){ .own.max_memory_to_use = 0 };
}

/* ---- Arrays of blocks ---------------------------------------------------- */

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
    uint32_t rows = rows_of(array->plane);
    if (count > MAX_SAMP_FACTOR || start > rows || count > rows - start) {
        cinfo->err->msg_code = JERR_BAD_VIRTUAL_ACCESS;
        cinfo->err->error_exit(cinfo);
    }
    if (writable)
        clear_rows(array, start + count);
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

void libjpeg_arrays_finish(struct libjpeg_arrays *blocks)
{
    for (unsigned i = 0; i < LIBJPEG_ARRAYS; i++)
        if (blocks->array[i].plane)
            clear_rows(&blocks->array[i], rows_of(blocks->array[i].plane));
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
