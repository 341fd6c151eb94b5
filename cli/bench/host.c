/* The bed of the CPU: planes in the host's memory that gimgxf turns, beside
 * memcpy. */
#include "cli/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codecs/base/clock.h"
#include "codecs/base/thread_pool.h"
#include "cuda/backend.h"
#include "cuda/bench/verify.h"

struct host_bed {
    /* Of the case that is open. */
    struct suite_entry entry;
    struct image src, dst;
    struct lane *lane;
    struct thread_pool *pool;
    uint64_t bytes; /* of the source */
};

/* ---- Cases --------------------------------------------------------------- */

/* Planes of a little more than 64 MiB, which no cache holds. Their sides are
 * multiples of nothing. */
static const struct suite_shape kinds[][2] = {
    [CELL_U8] = { { 8209, 8191 } },
    [CELL_U16] = { { 5801, 5791 } },
    [CELL_F32] = { { 4099, 4111 } },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const struct suite_section gimgxf = { "gimgxf", "gimgxf, on the CPU",
                                             NULL };

/* Every turn of every kind by one thread, then by one for each processor. */
static bool host_entry(const void *bed, size_t i, struct suite_entry *e)
{
    const unsigned all = bench_processors();
    const bool alone = i < KINDS * XFORM_COUNT;
    const enum cell cell = (enum cell)(i / XFORM_COUNT % KINDS);
    (void)bed;
    *e = (struct suite_entry){ .section = &gimgxf,
                               .origin = SUITE_OURS,
                               .work = { cell, (enum xform)(i % XFORM_COUNT) },
                               .by = { .threads = alone ? 1 : all },
                               .shapes = kinds[cell] };
    return alone || (all > 1 && i < 2 * KINDS * XFORM_COUNT);
}

unsigned bench_processors(void)
{
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    return all > 1 ? (unsigned)all : 1;
}

/* ---- Rounds -------------------------------------------------------------- */

static int turn_once(struct host_bed *bed, struct err *err)
{
    return backend_cpu.apply(bed->lane, &bed->dst, &bed->src,
                             bed->entry.work.turn, bed->pool, err);
}

static void copy_part(void *context, size_t i)
{
    const struct host_bed *bed = context;
    const uint64_t n = bed->entry.by.threads, begin = bed->bytes * i / n;
    memcpy(bed->dst.pixels.rows.cells + begin,
           bed->src.pixels.rows.cells + begin,
           bed->bytes * (i + 1) / n - begin);
}

static int host_round(void *context, double *seconds, struct err *err)
{
    struct host_bed *bed = context;
    const double begin = now();
    if (turn_once(bed, err))
        return -1;
    const double end = now();
    thread_pool_run(bed->pool, copy_part, bed, bed->entry.by.threads);
    seconds[0] = end - begin;
    seconds[1] = now() - end;
    return 0;
}

static int host_check(void *context, struct suite_result *result,
                      struct err *err)
{
    struct host_bed *bed = context;
    const struct plane *made = &bed->dst.plane[0];
    memset(bed->dst.pixels.rows.cells, 0xa5, bed->dst.pixels.rows.size);
    if (turn_once(bed, err))
        return -1;
    result->cells = (uint64_t)made->width * made->height;
    result->wrong = verify_count_wrong(&bed->dst, bed->entry.work.turn);
    return 0;
}

/* ---- Opening ------------------------------------------------------------- */

static int host_open(void *context, size_t number, struct suite_shape shape,
                     struct suite_result *result, struct err *err)
{
    struct host_bed *bed = context;
    const struct suite_work *work = &bed->entry.work;
    const struct lane_opts opts = { 0 };
    (void)host_entry(bed, number, &bed->entry);
    const size_t cell = cell_size(work->cell);
    bed->bytes = (uint64_t)shape.width * shape.height * cell;
    result->bytes = 2 * bed->bytes;
    result->launches = 1;
    const double room =
        (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (2.0 * (double)bed->bytes > room / 4 * 3)
        return fail(err,
                    "--size: %u x %u cells of %zu bytes do not fit into "
                    "memory twice",
                    shape.width, shape.height, cell);
    bed->pool = thread_pool_open(bed->entry.by.threads);
    if (!bed->pool)
        return fail(err, "no memory for threads");
    if (backend_cpu.open(&bed->lane, &opts, err))
        return -1;
    bed->src = (struct image){ .cell = work->cell,
                               .nplanes = 1,
                               .width = shape.width,
                               .height = shape.height };
    const struct mem mem = backend_cpu.memory(bed->lane);
    if (image_alloc(&bed->src, mem, err) ||
        image_like(&bed->dst, &bed->src, work->turn, mem, err))
        return -1;
    verify_fill_image(&bed->src);
    return 0;
}

static void host_close(void *context)
{
    struct host_bed *bed = context;
    image_free(&bed->src);
    image_free(&bed->dst);
    if (bed->lane)
        backend_cpu.close(bed->lane);
    thread_pool_close(bed->pool);
    *bed = (struct host_bed){ .bytes = 0 };
}

static void *host_begin(const struct suite_place *place, struct err *err)
{
    struct host_bed *bed = calloc(1, sizeof *bed);
    (void)place;
    if (!bed)
        fail(err, "no memory");
    return bed;
}

/* Each round takes some 10 ms and more, longer than what disturbs it. */
const struct suite_bed_type bench_host_bed = {
    11,        host_begin, free,       host_entry,
    host_open, host_round, host_check, host_close,
};
