/* The part of bench that needs no GPU: the CPU stage beside memcpy, and the
 * two loops with which every text on the transpose begins. */
#include "cli/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codecs/base/thread_pool.h"
#include "cuda/backend.h"
#include "cuda/bench/times.h"
#include "cuda/bench/verify.h"

/* Each round takes some 10 ms, longer than what disturbs it. */
enum { CPU_ROUNDS = 11 };

static const char source_ours[] = "gimgxf, on the CPU";
static const char source_loops[] = "Two loops, on the CPU";

/* Planes of a little more than 64 MiB, which no cache holds. Their sides are
 * multiples of nothing. */
static const struct plane_kind {
    enum cell cell;
    struct suite_shape shape;
} kinds[] = {
    { CELL_U8, { 8209, 8191 } },
    { CELL_U16, { 5801, 5791 } },
    { CELL_F32, { 4099, 4111 } },
    { CELL_DCT, { 725, 727 } },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* As struct backend has it. */
typedef int (*turner)(struct lane *lane, struct image *dst,
                      const struct image *src, enum xform t,
                      struct thread_pool *pool, struct err *err);

/* The planes and threads with which one size of cells is turned. */
struct bed {
    struct lane *lane;
    struct image src, dst;
    uint64_t bytes; /* of the cells */
    bool filled;    /* src is */
    unsigned threads;
    struct thread_pool *pool; /* of these threads: they turn and copy */
};

/* ---- Two loops ----------------------------------------------------------- */

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

static int two_loops(struct lane *lane, struct image *dst,
                     const struct image *src, enum xform t,
                     struct thread_pool *pool, struct err *err)
{
    const struct plane *d = &dst->plane[0], *s = &src->plane[0];
    (void)lane, (void)t, (void)pool, (void)err;
    if (src->cell == CELL_U8)
        transpose_by_cells(d, s, sizeof(uint8_t));
    else if (src->cell == CELL_U16)
        transpose_by_cells(d, s, sizeof(uint16_t));
    else
        transpose_by_cells(d, s, sizeof(float));
    return 0;
}

/* ---- Checking ------------------------------------------------------------ */

static struct verify_plane verified(const struct image *img, enum xform t)
{
    return (struct verify_plane){ .cell = img->cell,
                                  .t = t,
                                  .size = (uint32_t)cell_size(img->cell) };
}

/* Called when the first turn is wanted: to fill takes as long as some turns. */
static void fill(struct bed *bed)
{
    if (!bed->filled)
        verify_fill_plane(&bed->src.plane[0], verified(&bed->src, XFORM_NONE));
    bed->filled = true;
}

/* ---- Timing -------------------------------------------------------------- */

static void copy_part(void *context, size_t i)
{
    const struct bed *bed = context;
    uint64_t n = bed->threads, begin = bed->bytes * i / n;
    memcpy(bed->dst.cells + begin, bed->src.cells + begin,
           bed->bytes * (i + 1) / n - begin);
}

static void copy(struct bed *bed)
{
    thread_pool_run(bed->pool, copy_part, bed, bed->threads);
}

/* Times turns and copies alternately. The first round, in which memory is
 * mapped, does not count. */
static int time_rounds(struct bed *bed, turner turn, enum xform t,
                       struct suite_result *result, struct err *err)
{
    unsigned n = result->rounds;
    double *sample = calloc(2 * (size_t)n, sizeof *sample);
    if (!sample)
        return fail(err, "no memory for the times");
    for (unsigned r = 0; r <= n; r++) {
        double begin = now();
        if (turn(bed->lane, &bed->dst, &bed->src, t, bed->pool, err)) {
            free(sample);
            return -1;
        }
        double middle = now();
        copy(bed);
        double end = now();
        sample[r ? r - 1 : 0] = middle - begin;
        sample[n + (r ? r - 1 : 0)] = end - middle;
    }
    result->median = times_median(sample, n);
    result->min = sample[0];
    result->max = sample[n - 1];
    result->copy = times_median(sample + n, n);
    result->launches = 1;
    free(sample);
    return 0;
}

/* Times, and then turns once more, over garbage, to verify: the last copy
 * has overwritten the result. */
static int measure(struct bed *bed, turner turn, enum xform t,
                   struct suite_result *result, struct err *err)
{
    result->bytes = 2 * bed->bytes;
    result->cells = (uint64_t)bed->src.width * bed->src.height;
    if (result->rounds && time_rounds(bed, turn, t, result, err))
        return -1;
    memset(bed->dst.cells, 0xa5, bed->dst.size);
    if (turn(bed->lane, &bed->dst, &bed->src, t, bed->pool, err))
        return -1;
    result->wrong =
        verify_count_wrong(&bed->dst.plane[0], verified(&bed->dst, t));
    return 0;
}

static int run_turn(struct bench *bench, struct bed *bed,
                    const struct suite_entry *entry, turner turn,
                    struct err *err)
{
    struct bench_row row = { .entry = *entry,
                             .shape = { bed->src.width, bed->src.height },
                             .threads = bed->threads };
    if (!bench->opts.profile)
        row.result.rounds =
            bench->opts.rounds ? bench->opts.rounds : CPU_ROUNDS;
    fill(bed);
    if (image_like(&bed->dst, &bed->src, entry->turn, bed->src.mem, err) ||
        measure(bed, turn, entry->turn, &row.result, err)) {
        image_free(&bed->dst);
        return -1;
    }
    image_free(&bed->dst);
    return bench_add(bench, &row, err);
}

/* ---- What is run --------------------------------------------------------- */

static struct suite_entry entry_for(const struct plane_kind *kind, enum xform t)
{
    return (struct suite_entry){ .section = "gimgxf",
                                 .source = source_ours,
                                 .origin = SUITE_OURS,
                                 .cell = kind->cell,
                                 .turn = t,
                                 .nplanes = 1,
                                 .npictures = 1 };
}

static struct suite_entry entry_for_loops(const struct plane_kind *kind)
{
    struct suite_entry entry = entry_for(kind, XFORM_TRANSPOSE);
    entry.section = "loops";
    entry.source = source_loops;
    entry.name = "transpose";
    entry.origin = SUITE_MEANT;
    return entry;
}

/* Runs what a section has for cells of this kind. */
typedef int (*runner)(struct bench *bench, struct bed *bed,
                      const struct plane_kind *kind, struct err *err);

static int run_loops(struct bench *bench, struct bed *bed,
                     const struct plane_kind *kind, struct err *err)
{
    struct suite_entry entry = entry_for_loops(kind);
    if (kind->cell == CELL_DCT || !bench_wants(bench, &entry))
        return 0;
    return run_turn(bench, bed, &entry, two_loops, err);
}

static int run_turns(struct bench *bench, struct bed *bed,
                     const struct plane_kind *kind, struct err *err)
{
    for (int t = 0; t < XFORM_COUNT; t++) {
        struct suite_entry entry = entry_for(kind, (enum xform)t);
        if (bench_wants(bench, &entry) &&
            run_turn(bench, bed, &entry, backend_cpu.apply, err))
            return -1;
    }
    return 0;
}

/* Fails if two planes would take more than 3/4 of the machine's memory. */
static int check_room(const struct image *img, struct err *err)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    struct limits limits = { .pixels = UINT64_MAX, .bytes = UINT64_MAX };
    struct err why;
    if (pages > 0 && size > 0)
        limits.bytes = (uint64_t)pages * (uint64_t)size / 4 * 3;
    if (image_check(img->width, img->height, img->nplanes, img->cell, &limits,
                    &why))
        return fail(err,
                    "--size: %u x %u cells of %zu bytes do not fit into "
                    "memory twice",
                    img->width, img->height, cell_size(img->cell));
    return 0;
}

static int run_kind(struct bench *bench, const struct plane_kind *kind,
                    unsigned threads, runner run, struct err *err)
{
    const struct lane_opts opts = { 0 };
    struct suite_entry entry = entry_for(kind, XFORM_NONE);
    struct suite_shape shape = bench_shape(bench, &entry, kind->shape);
    struct bed bed = { .threads = threads };
    bed.src = (struct image){ .cell = kind->cell,
                              .width = shape.width,
                              .height = shape.height,
                              .nplanes = 1 };
    bed.bytes = (uint64_t)shape.width * shape.height * cell_size(kind->cell);
    if (check_room(&bed.src, err) || backend_cpu.open(&bed.lane, &opts, err))
        return -1;
    bed.pool = thread_pool_open(threads);
    if (!bed.pool) {
        backend_cpu.close(bed.lane);
        return fail(err, "no memory for threads");
    }
    int status = image_alloc(&bed.src, backend_cpu.memory(bed.lane), err);
    if (status == 0)
        status = run(bench, &bed, kind, err);
    image_free(&bed.src);
    thread_pool_close(bed.pool);
    backend_cpu.close(bed.lane);
    return status;
}

unsigned bench_processors(void)
{
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    return all > 1 ? (unsigned)all : 1;
}

/* Writes the model of the processor, from /proc/cpuinfo, and how many there
 * are. */
static void name_machine(char *name, size_t size)
{
    char line[256] = "", *model = NULL;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !model && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0)
            model = strchr(line, ':');
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
    snprintf(name, size, "%s, %u processors", model ? model + 2 : "a CPU",
             bench_processors());
}

static int run_kinds(struct bench *bench, unsigned threads, runner run,
                     struct err *err)
{
    for (size_t i = 0; i < KINDS; i++)
        if (run_kind(bench, &kinds[i], threads, run, err))
            return -1;
    return 0;
}

const char bench_cpu_sections[] = "loops, gimgxf";

int bench_cpu(struct bench *bench, struct err *err)
{
    const unsigned all = bench_processors();
    name_machine(bench->machine, sizeof bench->machine);
    if (run_kinds(bench, 1, run_loops, err) ||
        run_kinds(bench, 1, run_turns, err))
        return -1;
    return all > 1 ? run_kinds(bench, all, run_turns, err) : 0;
}
