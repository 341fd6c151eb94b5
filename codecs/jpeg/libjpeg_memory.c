/* The memory of libjpeg, counted. */
#include "codecs/jpeg/libjpeg_memory.h"

#include <jerror.h>

#include "codecs/base/memory.h"

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
