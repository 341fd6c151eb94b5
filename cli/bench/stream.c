/* The section "stream" of bench: takes pictures through the stage as a batch
 * does, from the host's memory to the GPUs and back. Several lanes, each with a
 * thread of its own, keep both directions of the bus and the kernels busy at
 * once. Plain copies both ways, in turns with the pictures, are the baseline.
 */
#include "cli/bench/bench.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/base/thread_pool.h"
#include "cuda/backend.h"
#include "cuda/backend_choose.h"
#include "cuda/bench/times.h"
#include "cuda/bench/verify.h"

enum {
    STREAM_ROUNDS = 11,
    PICTURES = 64,  /* of a round, for each device; the first is alone on its
                       way in and the last on its way out, which should not
                       count for much */
    LANES_MOST = 8, /* of a device */
};
static const unsigned lane_counts[] = { 1, 2, 3, 4, 6, LANES_MOST };

/* 12 megapixels. */
static const struct suite_shape camera = { 4000, 3000 };

const char bench_stream_section[] = "stream";
static const char source[] =
    "A stream of pictures: GB/s each way; share of the slower of two ways";

struct stream_worker {
    struct lane *lane;
    struct image src, dst;
    uint64_t wrong;
    bool failed;
    struct err err;
};

struct traffic {
    const struct backend *backend;
    const struct kernel_suite *suite;
    struct suite_bus *bus;
    struct thread_pool *pool;
    unsigned ndevices, nworkers; /* that there are */
    struct stream_worker worker[OPTIONS_DEVICES * LANES_MOST];
    unsigned busy; /* workers that take part */
    unsigned pictures;
    atomic_uint next;
    uint64_t bytes; /* of the cells of a picture */
};

/* ---- Workers --------------------------------------------------------------*/

/* Each worker has cells of its own, so that pictures cannot be exchanged. */
static struct verify_plane verified(const struct traffic *t,
                                    const struct stream_worker *w,
                                    const struct image *img, unsigned plane)
{
    unsigned before = (unsigned)(w - t->worker) * img->nplanes;
    return (struct verify_plane){ .cell = img->cell,
                                  .number = before + plane,
                                  .t = img->turned,
                                  .size = (uint32_t)cell_size(img->cell) };
}

static void fill(void *context, size_t i)
{
    struct traffic *t = context;
    struct stream_worker *w = &t->worker[i];
    for (unsigned p = 0; p < w->src.nplanes; p++)
        verify_fill_plane(&w->src.plane[p], verified(t, w, &w->src, p));
}

static void turn_once(struct traffic *t, struct stream_worker *w)
{
    if (!w->failed && t->backend->apply(w->lane, &w->dst, &w->src,
                                        w->dst.turned, NULL, &w->err))
        w->failed = true;
}

/* A worker that is free takes the next picture. */
static void turn_some(void *context, size_t i)
{
    struct traffic *t = context;
    while (atomic_fetch_add(&t->next, 1) < t->pictures)
        turn_once(t, &t->worker[i]);
}

/* Turns once more, over garbage, and counts wrong cells. */
static void check(void *context, size_t i)
{
    struct traffic *t = context;
    struct stream_worker *w = &t->worker[i];
    memset(w->dst.cells, 0xa5, w->dst.size);
    turn_once(t, w);
    w->wrong = 0;
    for (unsigned p = 0; p < w->dst.nplanes; p++)
        w->wrong +=
            verify_count_wrong(&w->dst.plane[p], verified(t, w, &w->dst, p));
}

static int on_workers(struct traffic *t, void (*work)(void *context, size_t i),
                      struct err *err)
{
    atomic_store(&t->next, 0);
    thread_pool_run(t->pool, work, t, t->busy);
    for (unsigned i = 0; i < t->busy; i++)
        if (t->worker[i].failed)
            return fail(err, "%s", t->worker[i].err.text);
    return 0;
}

/* ---- Opening --------------------------------------------------------------*/

static int open_worker(struct traffic *t, struct stream_worker *w,
                       const int *device, const struct suite_entry *entry,
                       struct suite_shape shape, struct err *err)
{
    struct lane_opts opts = { .device = device, .ndevices = 1 };
    if (t->backend->open(&w->lane, &opts, err))
        return -1;
    struct mem mem = t->backend->memory(w->lane);
    w->src = (struct image){ .cell = entry->cell,
                             .nplanes = entry->nplanes,
                             .width = shape.width,
                             .height = shape.height };
    return image_alloc(&w->src, mem, err) ||
                   image_like(&w->dst, &w->src, entry->turn, mem, err)
               ? -1
               : 0;
}

static void close_traffic(struct traffic *t)
{
    for (unsigned i = 0; i < t->nworkers; i++) {
        image_free(&t->worker[i].src);
        image_free(&t->worker[i].dst);
        t->backend->close(t->worker[i].lane);
    }
    thread_pool_close(t->pool);
    t->suite->bus_close(t->bus);
}

/* Workers are dealt out to the devices in turn, so that the first n of them are
 * on all devices. */
static int open_traffic(struct traffic *t, const int *device,
                        const struct suite_entry *entry,
                        struct suite_shape shape, struct err *err)
{
    unsigned n = t->ndevices * LANES_MOST;
    t->bytes = (uint64_t)shape.width * shape.height * entry->nplanes *
               cell_size(entry->cell);
    if (t->suite->bus_open(&t->bus, device, t->ndevices, t->bytes, err))
        return -1;
    t->pool = thread_pool_open(n);
    if (!t->pool)
        return fail(err, "no memory for threads");
    while (t->nworkers < n) {
        struct stream_worker *w = &t->worker[t->nworkers];
        if (open_worker(t, w, &device[t->nworkers % t->ndevices], entry, shape,
                        err)) {
            t->nworkers += w->lane != NULL;
            return -1;
        }
        t->nworkers++;
    }
    t->busy = n;
    return on_workers(t, fill, err);
}

/* ---- Timing ---------------------------------------------------------------*/

/* Seconds for the bytes of one picture: turned; and copied each way and by the
 * slower way. */
struct timings {
    double turn[SUITE_ROUNDS], slower[SUITE_ROUNDS], way[2][SUITE_ROUNDS];
};

static int measure_bus(struct traffic *t, struct timings *s, unsigned r,
                       struct err *err)
{
    double rate[2];
    if (t->suite->bus_measure(t->bus, rate, err))
        return -1;
    for (int w = 0; w < 2; w++)
        s->way[w][r] = (double)t->bytes / rate[w];
    s->slower[r] = s->way[rate[1] < rate[0]][r];
    return 0;
}

static int measure_turns(struct traffic *t, struct timings *s, unsigned r,
                         struct err *err)
{
    double begin = now();
    if (on_workers(t, turn_some, err))
        return -1;
    s->turn[r] = (now() - begin) / t->pictures;
    return 0;
}

/* The first round, in which memory is allocated, does not count. */
static int time_rounds(struct traffic *t, struct timings *s,
                       struct suite_result *result, struct err *err)
{
    unsigned n = result->rounds;
    for (unsigned i = 0; i <= n; i++) {
        unsigned r = i ? i - 1 : 0;
        if (measure_bus(t, s, r, err) || measure_turns(t, s, r, err))
            return -1;
    }
    result->median = times_median(s->turn, n);
    result->min = s->turn[0];
    result->max = s->turn[n - 1];
    result->copy = times_median(s->slower, n);
    result->launches = t->pictures;
    result->bytes = t->bytes;
    return 0;
}

/* ---- Rows -----------------------------------------------------------------*/

static struct suite_entry entry_of_turn(void)
{
    return (struct suite_entry){ .section = bench_stream_section,
                                 .source = source,
                                 .origin = SUITE_OURS,
                                 .cell = CELL_U8,
                                 .turn = XFORM_ROTATE_90,
                                 .nplanes = 3,
                                 .npictures = 1,
                                 .shape = { camera } };
}

static struct suite_entry entry_of_way(int way)
{
    struct suite_entry entry = entry_of_turn();
    entry.name = way ? "plain copies out" : "plain copies in";
    entry.origin = SUITE_LIBRARY;
    entry.turn = XFORM_NONE;
    return entry;
}

static int add_turn(struct bench *bench, struct traffic *t, unsigned lanes,
                    const struct bench_row *like, struct timings *s,
                    struct err *err)
{
    struct bench_row row = *like;
    row.entry = entry_of_turn();
    row.lanes = lanes;
    t->busy = lanes * t->ndevices;
    t->pictures = PICTURES * t->ndevices;
    if (time_rounds(t, s, &row.result, err) || on_workers(t, check, err))
        return -1;
    for (unsigned i = 0; i < t->busy; i++) {
        row.result.wrong += t->worker[i].wrong;
        row.result.cells += t->bytes / cell_size(row.entry.cell);
    }
    return bench_add(bench, &row, err);
}

/* The plain copies that were timed beside the last turn. */
static int add_way(struct bench *bench, const struct traffic *t, int way,
                   const struct bench_row *like, struct timings *s,
                   struct err *err)
{
    struct bench_row row = *like;
    struct suite_result *r = &row.result;
    row.entry = entry_of_way(way);
    r->median = times_median(s->way[way], r->rounds);
    r->min = s->way[way][0];
    r->max = s->way[way][r->rounds - 1];
    r->copy = times_median(s->slower, r->rounds);
    r->launches = 1;
    r->bytes = t->bytes;
    return bench_add(bench, &row, err);
}

static int run_rows(struct bench *bench, struct traffic *t,
                    const struct bench_row *like, struct timings *s,
                    struct err *err)
{
    for (size_t i = 0; i < sizeof lane_counts / sizeof *lane_counts; i++)
        if (add_turn(bench, t, lane_counts[i], like, s, err))
            return -1;
    return add_way(bench, t, 0, like, s, err) ||
                   add_way(bench, t, 1, like, s, err)
               ? -1
               : 0;
}

static int run_on(struct bench *bench, struct traffic *t, const int *device,
                  unsigned ndevices, struct timings *s, struct err *err)
{
    struct suite_entry entry = entry_of_turn();
    struct bench_row like = { .devices = ndevices,
                              .shape = bench_shape(bench, &entry, camera) };
    like.result.rounds =
        bench->opts.rounds ? bench->opts.rounds : STREAM_ROUNDS;
    memset(t->worker, 0, sizeof t->worker);
    t->nworkers = 0;
    t->ndevices = ndevices;
    int status = open_traffic(t, device, &entry, like.shape, err);
    if (status == 0)
        status = run_rows(bench, t, &like, s, err);
    close_traffic(t);
    t->bus = NULL;
    t->pool = NULL;
    return status;
}

int bench_stream(struct bench *bench, const struct kernel_suite *suite,
                 const int *device, unsigned ndevices, struct err *err)
{
    struct suite_entry entry = entry_of_turn();
    if (bench->opts.profile || !bench_wants(bench, &entry))
        return 0;
    struct traffic *t = calloc(1, sizeof *t);
    struct timings *s = calloc(1, sizeof *s);
    int status = t && s ? 0 : fail(err, "no memory");
    if (status == 0) {
        t->suite = suite;
        t->backend = backend_choose("cuda", err);
        status = t->backend ? run_on(bench, t, device, 1, s, err) : -1;
    }
    if (status == 0 && ndevices > 1)
        status = run_on(bench, t, device, ndevices, s, err);
    free(s);
    free(t);
    return status;
}
