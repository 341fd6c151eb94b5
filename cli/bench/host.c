/* The bed of what is in the host's memory. Planes that the CPU turns, beside
 * memcpy; and the two loops with which every text on the transpose begins. Or
 * pictures that go through the stage as a batch does, to GPUs and back: several
 * lanes, each with a thread of its own, keep both directions of the bus and the
 * kernels busy at once; plain copies both ways are the baseline. */
#include "cli/bench/bench.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codecs/base/clock.h"
#include "codecs/base/thread_pool.h"
#include "cuda/backend.h"
#include "cuda/backend_choose.h"
#include "cuda/bench/verify.h"

enum {
    PICTURES = 64,  /* of a round, for each device; the first is alone on its
                       way in and the last on its way out, which should not
                       count for much */
    LANES_MOST = 8, /* of a device */
    WORKERS = OPTIONS_DEVICES * LANES_MOST,
};

struct host_worker {
    struct lane *lane;
    struct image src, dst;
    uint64_t wrong;
    bool failed;
    struct err err;
};

struct host_bed {
    struct suite_place place; /* without a device the CPU turns */
    const struct backend *backend;

    /* Of the case that is open. */
    struct suite_entry entry;
    struct suite_bus *bus;
    struct host_worker worker[WORKERS];
    unsigned nworkers;
    struct thread_pool *pool;
    unsigned pictures;     /* of a round */
    atomic_uint next;      /* picture */
    uint64_t bytes, cells; /* of a picture */
};

/* ---- Cases --------------------------------------------------------------- */

/* Planes of a little more than 64 MiB, which no cache holds. Their sides are
 * multiples of nothing. */
static const struct suite_shape kinds[][2] = {
    [CELL_U8] = { { 8209, 8191 } },
    [CELL_U16] = { { 5801, 5791 } },
    [CELL_F32] = { { 4099, 4111 } },
    [CELL_DCT] = { { 725, 727 } },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };
static const struct suite_shape camera[] = { { 4000, 3000 }, { 0 } };

static const struct suite_section
    loops = { "loops", "Two loops, on the CPU", NULL },
    gimgxf = { "gimgxf", "gimgxf, on the CPU", NULL },
    stream = { "stream",
               "A stream of pictures: GB/s each way; share of copies both ways",
               camera };

static bool stream_entry(unsigned devices, size_t i, struct suite_entry *e)
{
    static const unsigned lanes[] = { 1, 2, 3, 4, 6, LANES_MOST, 0 };
    const bool turns = i < sizeof lanes / sizeof *lanes - 1;
    *e = (struct suite_entry){
        .section = &stream,
        .name = turns ? NULL : "plain copies",
        .origin = turns ? SUITE_OURS : SUITE_LIBRARY,
        .work = { CELL_U8, turns ? XFORM_ROTATE_90 : XFORM_NONE, 3 },
        .by = { .devices = devices, .lanes = turns ? lanes[i] : 0 },
        .shapes = camera
    };
    return i < sizeof lanes / sizeof *lanes;
}

static bool host_entry(const void *context, size_t i, struct suite_entry *e)
{
    const struct host_bed *bed = context;
    const unsigned all = bench_processors();
    if (bed->place.ndevices)
        return stream_entry(bed->place.ndevices, i, e);
    const bool loop = i < CELL_F32 + 1; /* a kind each */
    const size_t n =
        loop ? i * XFORM_COUNT + XFORM_TRANSPOSE : i - (CELL_F32 + 1);
    const bool alone = n < KINDS * XFORM_COUNT;
    const enum cell cell = (enum cell)(n / XFORM_COUNT % KINDS);
    *e = (struct suite_entry){ .section = loop ? &loops : &gimgxf,
                               .origin = loop ? SUITE_MEANT : SUITE_OURS,
                               .work = { cell, (enum xform)(n % XFORM_COUNT),
                                         1 },
                               .by = { .threads = alone ? 1 : all },
                               .shapes = kinds[cell] };
    return alone || (all > 1 && n < 2 * KINDS * XFORM_COUNT);
}

unsigned bench_processors(void)
{
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    return all > 1 ? (unsigned)all : 1;
}

/* ---- Turning ------------------------------------------------------------- */

/* Inlined where `size` is a constant, so that a cell is one load and one store.
 */
static inline __attribute__((always_inline)) void
transpose_by_cells(const struct plane *d, const struct plane *s, size_t size)
{
    for (size_t y = 0; y < s->height; y++)
        for (size_t x = 0; x < s->width; x++)
            memcpy(d->data + x * d->stride + y * size,
                   s->data + y * s->stride + x * size, size);
}

static void turn_once(struct host_bed *bed, struct host_worker *w)
{
    const struct plane *d = &w->dst.plane[0], *s = &w->src.plane[0];
    if (bed->entry.section != &loops)
        w->failed =
            w->failed ||
            bed->backend->apply(w->lane, &w->dst, &w->src, bed->entry.work.turn,
                                bed->bus ? NULL : bed->pool, &w->err);
    else if (w->src.cell == CELL_U8)
        transpose_by_cells(d, s, sizeof(uint8_t));
    else if (w->src.cell == CELL_U16)
        transpose_by_cells(d, s, sizeof(uint16_t));
    else
        transpose_by_cells(d, s, sizeof(float));
}

/* A worker that is free takes the next picture. */
static void turn_some(void *context, size_t i)
{
    struct host_bed *bed = context;
    while (atomic_fetch_add(&bed->next, 1) < bed->pictures)
        turn_once(bed, &bed->worker[i]);
}

static int turn_all(struct host_bed *bed, struct err *err)
{
    atomic_store(&bed->next, 0);
    if (bed->bus)
        thread_pool_run(bed->pool, turn_some, bed, bed->nworkers);
    else
        turn_once(bed, &bed->worker[0]); /* which has the threads */
    for (unsigned i = 0; i < bed->nworkers; i++)
        if (bed->worker[i].failed)
            return fail(err, "%s", bed->worker[i].err.text);
    return 0;
}

static void copy_part(void *context, size_t i)
{
    const struct host_bed *bed = context;
    const struct host_worker *w = &bed->worker[0];
    const uint64_t n = bed->entry.by.threads, begin = bed->bytes * i / n;
    memcpy(w->dst.pixels.rows.cells + begin, w->src.pixels.rows.cells + begin,
           bed->bytes * (i + 1) / n - begin);
}

static int host_round(void *context, double *seconds, struct err *err)
{
    struct host_bed *bed = context;
    if (bed->bus && bed->place.suite->bus_measure(bed->bus, &seconds[1], err))
        return -1;
    const double begin = now();
    if (turn_all(bed, err))
        return -1;
    const double end = now();
    seconds[0] = bed->nworkers ? (end - begin) / bed->pictures : seconds[1];
    if (bed->bus)
        return 0;
    thread_pool_run(bed->pool, copy_part, bed, bed->entry.by.threads);
    seconds[1] = now() - end;
    return 0;
}

/* ---- Checking ------------------------------------------------------------ */

/* Each worker has cells of its own, so that pictures cannot be exchanged. */
static unsigned first_plane(const struct host_bed *bed, size_t i)
{
    return (unsigned)i * bed->entry.work.nplanes;
}

static void fill(void *context, size_t i)
{
    const struct host_bed *bed = context;
    verify_fill_image(&bed->worker[i].src, first_plane(bed, i));
}

static void check_worker(void *context, size_t i)
{
    struct host_bed *bed = context;
    struct host_worker *w = &bed->worker[i];
    memset(w->dst.pixels.rows.cells, 0xa5, w->dst.pixels.rows.size);
    turn_once(bed, w);
    w->wrong =
        verify_count_wrong(&w->dst, first_plane(bed, i), bed->entry.work.turn);
}

static int host_check(void *context, struct suite_result *result,
                      struct err *err)
{
    struct host_bed *bed = context;
    if (bed->bus)
        thread_pool_run(bed->pool, check_worker, bed, bed->nworkers);
    else
        check_worker(bed, 0); /* which has the threads */
    for (unsigned i = 0; i < bed->nworkers; i++) {
        const struct host_worker *w = &bed->worker[i];
        if (w->failed)
            return fail(err, "%s", w->err.text);
        result->wrong += w->wrong;
        result->cells += bed->cells;
    }
    return 0;
}

/* ---- Opening ------------------------------------------------------------- */

/* Workers are dealt out to the devices in turn, so that the first n of them are
 * on all devices. */
static int open_worker(struct host_bed *bed, struct suite_shape shape,
                       struct err *err)
{
    const struct suite_work *work = &bed->entry.work;
    const struct suite_place *place = &bed->place;
    struct host_worker *w = &bed->worker[bed->nworkers];
    struct lane_opts opts = { 0 };
    if (place->ndevices) {
        opts.device = &place->device[bed->nworkers % place->ndevices];
        opts.ndevices = 1;
    }
    if (bed->backend->open(&w->lane, &opts, err))
        return -1;
    bed->nworkers++;
    struct mem mem = bed->backend->memory(w->lane);
    w->src = (struct image){ .cell = work->cell,
                             .nplanes = work->nplanes,
                             .width = shape.width,
                             .height = shape.height };
    if (image_alloc(&w->src, mem, err))
        return -1;
    return image_like(&w->dst, &w->src, work->turn, mem, err);
}

static int host_open(void *context, size_t number, struct suite_shape shape,
                     struct suite_result *result, struct err *err)
{
    struct host_bed *bed = context;
    const struct suite_entry *e = &bed->entry;
    const unsigned devices = bed->place.ndevices;
    (void)host_entry(bed, number, &bed->entry);
    const size_t cell = cell_size(e->work.cell);
    bed->cells = (uint64_t)shape.width * shape.height * e->work.nplanes;
    bed->bytes = bed->cells * cell;
    const unsigned workers = devices ? e->by.lanes * devices : 1;
    bed->pictures = devices ? PICTURES * devices : 1;
    result->bytes = devices ? bed->bytes : 2 * bed->bytes;
    result->launches = bed->pictures;
    const double room =
        (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (2.0 * (double)bed->bytes > room / 4 * 3)
        return fail(err,
                    "--size: %u x %u cells of %zu bytes do not fit into "
                    "memory twice",
                    shape.width, shape.height, cell);
    const unsigned threads = devices ? workers : e->by.threads;
    bed->pool = thread_pool_open(threads ? threads : 1);
    if (!bed->pool)
        return fail(err, "no memory for threads");
    while (bed->nworkers < workers)
        if (open_worker(bed, shape, err))
            return -1;
    thread_pool_run(bed->pool, fill, bed, bed->nworkers);
    return devices ? bed->place.suite->bus_open(&bed->bus, &bed->place,
                                                bed->bytes, err)
                   : 0;
}

static void host_close(void *context)
{
    struct host_bed *bed = context;
    for (unsigned i = 0; i < bed->nworkers; i++) {
        struct host_worker *w = &bed->worker[i];
        image_free(&w->src);
        image_free(&w->dst);
        bed->backend->close(w->lane);
        *w = (struct host_worker){ 0 };
    }
    bed->nworkers = 0;
    if (bed->bus)
        bed->place.suite->bus_close(bed->bus);
    bed->bus = NULL;
    thread_pool_close(bed->pool);
    bed->pool = NULL;
}

static void *host_begin(const struct suite_place *place, struct err *err)
{
    struct host_bed *bed = calloc(1, sizeof *bed);
    if (!bed) {
        fail(err, "no memory");
        return NULL;
    }
    bed->place = *place;
    bed->backend = place->ndevices ? backend_choose("cuda", err) : &backend_cpu;
    if (bed->backend)
        return bed;
    free(bed);
    return NULL;
}

/* Each round takes some 10 ms and more, longer than what disturbs it. */
const struct suite_bed_type bench_host_bed = {
    11,        host_begin, free,       host_entry,
    host_open, host_round, host_check, host_close,
};
