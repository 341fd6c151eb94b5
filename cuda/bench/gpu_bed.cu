/* The bed of a GPU: memory, rounds, and the check of every cell.
 *
 * A round has events around one launch, or around so many that a clock tick
 * and the start of a launch do not count. cudaMemcpy of the same cells takes
 * turns with it, so that both run at the same clock rate. Sources and results
 * rotate through several pairs of buffers, so that what one launch leaves in
 * the L2 cache is of no use to the next; unless a pair fits into the L2, which
 * the result says.
 *
 * A kernel of ours checks every cell of a result, by the place that its source
 * was made from. */
#include "cuda/bench/kernel_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/backend.h"
#include "cuda/bench/kernel_cases.h"
#include "cuda/bench/verify.h"
#include "cuda/gpu/gpu_memory.h"

/* All pairs together are at least so many times the L2. A pair is larger
 * than the L2, or it is the only one, so that many pairs are enough. */
static constexpr unsigned TIMES_L2 = 4, PAIRS = TIMES_L2;

/* Seconds of a round, if it has more than one launch: the clock of an event
 * ticks every half a microsecond. */
static constexpr double ROUND = 0.4e-3;

static constexpr unsigned LAUNCHES = 2000; /* of a round, at most */

struct gpu_bed {
    bool timed;
    int l2; /* bytes */
    cudaStream_t stream;
    cudaEvent_t event[3];
    unsigned long long *wrong; /* on the device */

    /* Of the case that is open. */
    struct kernel_case kcase;
    struct kernel_task task[PAIRS];
    unsigned ntasks;
    size_t bytes;  /* of the cells of a source */
    unsigned n[2]; /* launches and copies of a round */
};

/* ---- Pairs of pictures ---------------------------------------------------*/

/* A struct mem of the device. */
static void *device_alloc(void *, size_t size)
{
    void *memory = NULL;
    (void)cudaMalloc(&memory, size);
    (void)cudaGetLastError();
    return memory;
}

static void device_free(void *, void *memory)
{
    (void)cudaFree(memory);
}

/* ---- Cells ---------------------------------------------------------------*/

static constexpr unsigned THREADS = 256;
static constexpr int GARBAGE = 0xa5;

/* Returns the blocks that go over the cells of a plane. */
static unsigned grid_over(const struct plane *plane)
{
    const uint64_t cells = (uint64_t)plane->width * plane->height,
                   blocks = (cells + THREADS - 1) / THREADS;
    return blocks < 1 << 16 ? (unsigned)blocks : 1 << 16;
}

__global__ void verify_fill(struct verify_plane what)
{
    const uint32_t width = what.plane.width;
    const uint64_t cells = (uint64_t)width * what.plane.height;
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < cells; i += (uint64_t)gridDim.x * blockDim.x)
        verify_put(what, (uint32_t)(i % width), (uint32_t)(i / width));
}

/* Adds the number of cells that are not right. */
__global__ void verify_check(struct verify_plane what,
                             unsigned long long *wrong)
{
    const uint32_t width = what.plane.width;
    const uint64_t cells = (uint64_t)width * what.plane.height;
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long mine = 0;
    for (; i < cells; i += (uint64_t)gridDim.x * blockDim.x)
        mine +=
            !verify_right(what, (uint32_t)(i % width), (uint32_t)(i / width));
    if (mine)
        atomicAdd(wrong, mine);
}

/* Writes the cells of all sources, and garbage into all results. */
static int prepare(struct gpu_bed *bed, struct err *err)
{
    cudaError_t status = cudaSuccess;
    for (unsigned n = 0; n < bed->ntasks && !status; n++) {
        const struct kernel_task *task = &bed->task[n];
        const struct verify_plane what =
            verify_plane_of(&task->src, XFORM_NONE);
        verify_fill<<<grid_over(&what.plane), THREADS, 0, bed->stream>>>(what);
        status = cudaGetLastError();
        if (!status)
            status = cudaMemsetAsync(task->dst.pixels.rows.cells, GARBAGE,
                                     task->dst.pixels.rows.size, bed->stream);
    }
    return gpu_check(status, "filling", err);
}

/* ---- A case --------------------------------------------------------------*/

static bool gpu_entry(const void *, size_t i, struct suite_entry *entry)
{
    struct kernel_case kcase;
    const bool is_there = kernel_cases_get(i, &kcase);
    *entry = kcase.entry;
    return is_there;
}

/* Enqueues the launches and the copies of one round, between events, and
 * waits for them. Sets seconds[] to the time of one launch and of one copy. */
static int gpu_round(void *context, double *seconds, struct err *err)
{
    struct gpu_bed *bed = (struct gpu_bed *)context;
    cudaError_t status = cudaEventRecord(bed->event[0], bed->stream);
    for (unsigned i = 0; i < bed->n[0]; i++)
        if (kernel_cases_launch(&bed->kcase, &bed->task[i % bed->ntasks], err))
            return -1;
    if (!status)
        status = cudaEventRecord(bed->event[1], bed->stream);
    for (unsigned i = 0; i < bed->n[1] && !status; i++) {
        const struct kernel_task *task = &bed->task[i % bed->ntasks];
        status = cudaMemcpyAsync(task->dst.pixels.rows.cells,
                                 task->src.pixels.rows.cells, bed->bytes,
                                 cudaMemcpyDeviceToDevice, bed->stream);
    }
    if (!status)
        status = cudaEventRecord(bed->event[2], bed->stream);
    if (!status)
        status = cudaEventSynchronize(bed->event[2]);
    for (int i = 0; i < 2 && !status; i++) {
        float ms = 0;
        status = cudaEventElapsedTime(&ms, bed->event[i], bed->event[i + 1]);
        seconds[i] = ms * 1e-3 / bed->n[i];
    }
    return gpu_check(status, "timing", err);
}

/* Uses all pairs before the first round counts, and chooses how many launches a
 * round has: all pairs as often, so that it begins with what it did not use
 * last. */
static int warm_up(struct gpu_bed *bed, struct err *err)
{
    double seconds[SUITE_TIMES];
    bed->n[0] = bed->n[1] = bed->ntasks;
    if (prepare(bed, err) || gpu_round(bed, seconds, err) ||
        gpu_round(bed, seconds, err))
        return -1;
    for (int i = 0; i < 2; i++) {
        const double n = seconds[i] > 0 ? ROUND / seconds[i] : LAUNCHES;
        bed->n[i] = n < 1 ? 1 : n > LAUNCHES ? LAUNCHES : (unsigned)n;
        bed->n[i] += (bed->ntasks - bed->n[i] % bed->ntasks) % bed->ntasks;
    }
    return 0;
}

static int gpu_open(void *context, size_t number, struct suite_shape shape,
                    struct suite_result *result, struct err *err)
{
    struct gpu_bed *bed = (struct gpu_bed *)context;
    struct kernel_case *kcase = &bed->kcase;
    (void)kernel_cases_get(number, kcase);
    const struct suite_work *work = &kcase->entry.work;
    result->banks = kcase->banks;
    bed->ntasks = 0;
    result->left_out = kernel_cases_undefined(kcase, shape);
    if (!result->left_out)
        result->left_out = libraries_lack(kcase->launch);
    if (result->left_out)
        return 0;
    bed->bytes = (size_t)shape.width * shape.height * cell_size(work->cell);
    const uint64_t pair = 2 * (uint64_t)bed->bytes;
    result->bytes = pair;
    result->in_l2 = pair <= (uint64_t)bed->l2;
    uint64_t n = 1;
    if (bed->timed && !result->in_l2)
        n = (TIMES_L2 * (uint64_t)bed->l2 + pair - 1) / pair;
    n = n > PAIRS ? PAIRS : n < 2 && bed->timed && !result->in_l2 ? 2 : n;
    const struct mem mem = { device_alloc, device_free, NULL };
    while (bed->ntasks < n) {
        struct kernel_task *task = &bed->task[bed->ntasks++];
        memset(task, 0, sizeof *task);
        task->stream = bed->stream;
        task->src.cell = work->cell;
        task->src.nplanes = 1;
        task->src.width = shape.width;
        task->src.height = shape.height;
        if (image_alloc(&task->src, mem, err) ||
            image_like(&task->dst, &task->src, work->turn, mem, err)) {
            result->left_out = "more than the device has free";
            return 0;
        }
        /* Kernels of others take rows without padding. */
        for (struct image *img : { &task->src, &task->dst })
            if (kcase->entry.origin != SUITE_OURS)
                img->plane[0].stride =
                    img->plane[0].width * cell_size(work->cell);
    }
    if (bed->timed && warm_up(bed, err))
        return -1;
    result->launches = bed->n[0];
    return 0;
}

/* Launches once more to verify: the timed results have been overwritten by
 * copies. */
static int gpu_check_result(void *context, struct suite_result *result,
                            struct err *err)
{
    struct gpu_bed *bed = (struct gpu_bed *)context;
    if (prepare(bed, err))
        return -1;
    for (unsigned i = 0; i < bed->ntasks; i++)
        if (kernel_cases_launch(&bed->kcase, &bed->task[i], err))
            return -1;
    unsigned long long found = 0;
    cudaError_t status =
        cudaMemsetAsync(bed->wrong, 0, sizeof *bed->wrong, bed->stream);
    for (unsigned i = 0; i < bed->ntasks && !status; i++) {
        const struct verify_plane what =
            verify_plane_of(&bed->task[i].dst, bed->kcase.entry.work.turn);
        verify_check<<<grid_over(&what.plane), THREADS, 0, bed->stream>>>(
            what, bed->wrong);
        status = cudaGetLastError();
        result->cells += (uint64_t)what.plane.width * what.plane.height;
    }
    if (!status)
        status = cudaMemcpyAsync(&found, bed->wrong, sizeof found,
                                 cudaMemcpyDeviceToHost, bed->stream);
    if (!status)
        status = cudaStreamSynchronize(bed->stream);
    result->wrong = found;
    return gpu_check(status, "checking", err);
}

static void gpu_close(void *context)
{
    struct gpu_bed *bed = (struct gpu_bed *)context;
    for (unsigned i = 0; i < bed->ntasks; i++) {
        image_free(&bed->task[i].src);
        image_free(&bed->task[i].dst);
    }
    bed->ntasks = 0;
}

/* ---- The device ----------------------------------------------------------*/

static int describe(int device, int *count, char text[400], struct err *err)
{
    struct cudaDeviceProp p;
    int driver, runtime;
    if (backend_cuda.probe(err) ||
        gpu_check(cudaGetDeviceCount(count), "no CUDA device", err))
        return -1;
    if (device < 0 || device >= *count)
        return fail(err, "CUDA device %d not found; %d found, from 0 on",
                    device, *count);
    if (gpu_check(cudaGetDeviceProperties(&p, device), "the device", err) ||
        gpu_check(cudaDriverGetVersion(&driver), "the driver", err) ||
        gpu_check(cudaRuntimeGetVersion(&runtime), "the runtime", err))
        return -1;
    snprintf(text, 400,
             "%s, sm %d.%d, %d multiprocessors, L2 %.0f MB, memory %.0f GB, "
             "CUDA %d.%d, driver for %d.%d",
             p.name, p.major, p.minor, p.multiProcessorCount,
             (double)p.l2CacheSize / 1e6, (double)p.totalGlobalMem / 1e9,
             runtime / 1000, runtime % 1000 / 10, driver / 1000,
             driver % 1000 / 10);
    return 0;
}

static void gpu_end(void *context)
{
    struct gpu_bed *bed = (struct gpu_bed *)context;
    for (int i = 0; i < 3; i++)
        if (bed->event[i])
            (void)cudaEventDestroy(bed->event[i]);
    (void)cudaFree(bed->wrong);
    if (bed->stream)
        (void)cudaStreamDestroy(bed->stream);
    (void)cudaGetLastError();
    free(bed);
}

static void *gpu_begin(const struct suite_place *place, struct err *err)
{
    struct gpu_bed *bed = (struct gpu_bed *)calloc(1, sizeof *bed);
    if (!bed) {
        fail(err, "no memory");
        return NULL;
    }
    bed->timed = place->timed;
    cudaError_t status = cudaSetDevice(place->device);
    if (!status)
        status = cudaDeviceGetAttribute(&bed->l2, cudaDevAttrL2CacheSize,
                                        place->device);
    if (!status)
        status = cudaStreamCreateWithFlags(&bed->stream, cudaStreamNonBlocking);
    if (!status)
        status = cudaMalloc(&bed->wrong, sizeof *bed->wrong);
    for (int i = 0; i < 3 && !status; i++)
        status = cudaEventCreate(&bed->event[i]);
    if (gpu_check(status, "using the device", err) == 0)
        return bed;
    gpu_end(bed);
    return NULL;
}

/* Enough rounds that a few disturbed ones do not move the median. */
const struct kernel_suite kernel_suite_cuda = {
    { 31, gpu_begin, gpu_end, gpu_entry, gpu_open, gpu_round, gpu_check_result,
      gpu_close },
    describe,
};
