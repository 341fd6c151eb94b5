/* Runs the cases: memory, launches, times.
 *
 * A case is timed by events around one launch, or around so many that a
 * clock tick and the start of a launch do not count. cudaMemcpy of the same
 * cells takes turns with it, so that both run at the same clock rate.
 * Sources and results rotate through several pairs of buffers, so that what
 * one launch leaves in the L2 cache is of no use to the next; unless a pair
 * fits into the L2, which the result says. */
#include "cuda/bench/kernel_suite.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/backend.h"
#include "cuda/bench/batched_launch.h"
#include "cuda/bench/bus.h"
#include "cuda/bench/kernel_cases.h"
#include "cuda/bench/libraries.h"
#include "cuda/bench/nvjpeg.h"
#include "cuda/bench/times.h"
#include "cuda/bench/verify_gpu.h"
#include "cuda/gpu/gpu_check.h"

/* All pairs together are at least so many times the L2. A pair is larger
 * than the L2, or it is the only one, so that many pairs are enough. */
static constexpr unsigned TIMES_L2 = 4, PAIRS = TIMES_L2;

/* Seconds of a round, if it has more than one launch: the clock of an event
 * ticks every half a microsecond. */
static constexpr double ROUND = 0.4e-3;

static constexpr unsigned LAUNCHES = 2000; /* of a round, at most */
static constexpr unsigned GRID_Y = 65535;  /* blocks, at most */

/* The most bytes of a batch: only small pictures come in batches. */
static constexpr uint64_t MANY_BYTES = 1 << 30;

struct picture_memory {
    void *memory;
    size_t size;
    unsigned times; /* as much as is asked for */
};

struct suite_run {
    int device;
    unsigned rounds;
    uint64_t l2;
    cudaStream_t stream;
    cudaEvent_t event[3];
    unsigned long long *wrong; /* on the device */
    struct libraries *libraries;
    struct picture_memory src[PAIRS], dst[PAIRS];
    struct kernel_task task[PAIRS];
    unsigned ntasks;
    double sample[2][SUITE_ROUNDS];
};

/* ---- Pairs of pictures ----------------------------------------------------
 */

static uint64_t bytes_of(const struct kernel_case *kcase,
                         struct suite_shape shape)
{
    return (uint64_t)shape.width * shape.height * kcase->entry.nplanes *
           kcase->entry.npictures * cell_size(kcase->entry.cell);
}

/* A struct mem whose context is a struct picture_memory, which grows and is
 * given out whole. */
static void *picture_memory_alloc(void *context, size_t one)
{
    struct picture_memory *block = (struct picture_memory *)context;
    size_t size = one * block->times;
    if (size <= block->size)
        return block->memory;
    (void)cudaFree(block->memory);
    block->memory = NULL;
    block->size = 0;
    if (cudaMalloc(&block->memory, size) != cudaSuccess) {
        (void)cudaGetLastError();
        block->memory = NULL;
        return NULL;
    }
    block->size = size;
    return block->memory;
}

static void picture_memory_free(void *context, void *memory)
{
    (void)context; /* it keeps its memory for the next picture */
    (void)memory;
}

static struct mem memory_of(struct picture_memory *block, unsigned times)
{
    block->times = times;
    struct mem mem = { picture_memory_alloc, picture_memory_free, block };
    return mem;
}

/* Allocates rows without padding, as the literature has them. */
static int dense_alloc(struct image *img, struct mem mem, struct err *err)
{
    size_t stride = img->width * cell_size(img->cell);
    img->size = stride * img->height;
    img->cells = (uint8_t *)mem.alloc(mem.context, img->size);
    if (!img->cells)
        return fail(err, "no memory");
    struct plane plane = { img->cells, stride, img->width, img->height };
    img->plane[0] = plane;
    img->mem = mem;
    return 0;
}

static int make_pair(struct suite_run *run, const struct kernel_case *kcase,
                     struct suite_shape shape, unsigned i, struct err *err)
{
    struct kernel_task *task = &run->task[i];
    bool across = xform_transposes(kcase->entry.turn);
    unsigned npictures = kcase->entry.npictures;
    struct mem src = memory_of(&run->src[i], npictures);
    struct mem dst = memory_of(&run->dst[i], npictures);
    memset(task, 0, sizeof *task);
    task->npictures = npictures;
    task->turn = kcase->entry.turn;
    task->stream = run->stream;
    task->libraries = run->libraries;
    task->src.cell = task->dst.cell = kcase->entry.cell;
    task->src.nplanes = task->dst.nplanes = kcase->entry.nplanes;
    task->src.width = shape.width;
    task->src.height = shape.height;
    if (kcase->entry.origin == SUITE_OURS)
        return image_alloc(&task->src, src, err) ||
                       image_like(&task->dst, &task->src, task->turn, dst, err)
                   ? -1
                   : 0;
    task->dst.width = across ? shape.height : shape.width;
    task->dst.height = across ? shape.width : shape.height;
    return dense_alloc(&task->src, src, err) ||
                   dense_alloc(&task->dst, dst, err)
               ? -1
               : 0;
}

static int prepare(struct suite_run *run, struct err *err)
{
    for (unsigned i = 0; i < run->ntasks; i++)
        if (verify_gpu_fill(&run->task[i], err))
            return -1;
    return 0;
}

/* ---- Timing ---------------------------------------------------------------
 */

static int copy_cells(struct suite_run *run, const struct kernel_task *task,
                      uint64_t bytes, struct err *err)
{
    return gpu_check(cudaMemcpyAsync(task->dst.cells, task->src.cells, bytes,
                                     cudaMemcpyDeviceToDevice, run->stream),
                     "copying", err);
}

/* Enqueues the launches and the copies of one round, between events, and
 * waits for them. Sets seconds[] to the time of one launch and of one copy. */
static int one_round(struct suite_run *run, const struct kernel_case *kcase,
                     uint64_t bytes, const unsigned n[2], double seconds[2],
                     struct err *err)
{
    float ms[2] = { 0, 0 };
    cudaError_t status = cudaEventRecord(run->event[0], run->stream);
    for (unsigned i = 0; i < n[0]; i++)
        if (kcase->launch(kcase, &run->task[i % run->ntasks], err))
            return -1;
    if (!status)
        status = cudaEventRecord(run->event[1], run->stream);
    for (unsigned i = 0; i < n[1]; i++)
        if (copy_cells(run, &run->task[i % run->ntasks], bytes, err))
            return -1;
    if (!status)
        status = cudaEventRecord(run->event[2], run->stream);
    if (!status)
        status = cudaEventSynchronize(run->event[2]);
    for (int i = 0; i < 2 && !status; i++)
        status = cudaEventElapsedTime(&ms[i], run->event[i], run->event[i + 1]);
    for (int i = 0; i < 2; i++)
        seconds[i] = ms[i] * 1e-3 / n[i];
    return gpu_check(status, "timing", err);
}

static unsigned launches_for(double seconds, unsigned ntasks)
{
    double n = seconds > 0 ? ROUND / seconds : LAUNCHES;
    unsigned launches = n < 1 ? 1 : n > LAUNCHES ? LAUNCHES : (unsigned)n;
    /* All pairs, so that a round begins with what it did not use last. */
    return launches + (ntasks - launches % ntasks) % ntasks;
}

/* All pairs are used once before the first round counts. */
static int time_rounds(struct suite_run *run, const struct kernel_case *kcase,
                       uint64_t bytes, struct suite_result *result,
                       struct err *err)
{
    unsigned n[2] = { run->ntasks, run->ntasks }, rounds = run->rounds;
    double seconds[2];
    for (int warm = 0; warm < 2; warm++)
        if (one_round(run, kcase, bytes, n, seconds, err))
            return -1;
    for (int i = 0; i < 2; i++)
        n[i] = launches_for(seconds[i], run->ntasks);
    for (unsigned r = 0; r < rounds; r++) {
        if (one_round(run, kcase, bytes, n, seconds, err))
            return -1;
        run->sample[0][r] = seconds[0];
        run->sample[1][r] = seconds[1];
    }
    result->median = times_median(run->sample[0], rounds);
    result->min = run->sample[0][0];
    result->max = run->sample[0][rounds - 1];
    result->copy = times_median(run->sample[1], rounds);
    result->rounds = rounds;
    result->launches = n[0];
    return 0;
}

/* ---- A step ---------------------------------------------------------------
 */

static const char *undefined(const struct kernel_case *kcase,
                             struct suite_shape shape)
{
    uint64_t down = kcase->over_result ? shape.width : shape.height;
    if (shape.width == 0 || shape.height == 0 || shape.width > INT_MAX ||
        shape.height > INT_MAX)
        return "not a valid size";
    if (kcase->entry.npictures > 1 && bytes_of(kcase, shape) > MANY_BYTES)
        return "for small pictures only";
    if (kcase->entry.origin == SUITE_OURS)
        return NULL;
    if ((uint64_t)shape.width * shape.height > INT_MAX)
        return "it counts cells with 31 bits";
    if (kcase->square && shape.width != shape.height)
        return "for squares only";
    if ((kcase->whole_x && shape.width % kcase->whole_x) ||
        (kcase->whole_y && shape.height % kcase->whole_y))
        return "for whole blocks only";
    if (kcase->widest && shape.width > kcase->widest)
        return "its rows are at most as long as a block has threads";
    if (kcase->tile_y && down > (uint64_t)GRID_Y * kcase->tile_y)
        return "a grid ends at 65535 blocks in y";
    return NULL;
}

/* Returns 1 if a pair fits into the L2; else as many pairs as are TIMES_L2
 * times as large together. */
static unsigned pairs_for(const struct suite_run *run, uint64_t pair)
{
    if (run->rounds == 0 || pair <= run->l2)
        return 1;
    uint64_t n = (TIMES_L2 * run->l2 + pair - 1) / pair;
    return n < 2 ? 2 : n > PAIRS ? PAIRS : (unsigned)n;
}

static int make_pairs(struct suite_run *run, const struct kernel_case *kcase,
                      struct suite_shape shape, struct suite_result *result)
{
    struct err err;
    uint64_t pair = 2 * bytes_of(kcase, shape);
    run->ntasks = pairs_for(run, pair);
    result->in_l2 = pair <= run->l2;
    for (unsigned i = 0; i < run->ntasks; i++)
        if (make_pair(run, kcase, shape, i, &err)) {
            snprintf(result->left_out, sizeof result->left_out,
                     "%u times %.1f GB are more than the device has free",
                     run->ntasks, (double)pair / 1e9);
            return -1;
        }
    return 0;
}

static int check_pairs(struct suite_run *run, struct suite_result *result,
                       struct err *err)
{
    for (unsigned i = 0; i < run->ntasks; i++)
        if (verify_gpu_check(&run->task[i], run->wrong, &result->wrong,
                             &result->cells, err))
            return -1;
    return 0;
}

/* Times, and then launches once more to verify: the timed results have been
 * overwritten by copies. */
static int run_pairs(struct suite_run *run, const struct kernel_case *kcase,
                     uint64_t bytes, struct suite_result *result,
                     struct err *err)
{
    if (prepare(run, err) ||
        (run->rounds &&
         (time_rounds(run, kcase, bytes, result, err) || prepare(run, err))))
        return -1;
    for (unsigned k = 0; k < run->ntasks; k++)
        if (kcase->launch(kcase, &run->task[k], err))
            return -1;
    return check_pairs(run, result, err);
}

/* Times and verifies a launch for each picture of a batch. A profiler must
 * see one launch, so then this does nothing. */
static int run_each(struct suite_run *run, struct suite_result *result,
                    struct err *err)
{
    if (run->rounds == 0)
        return 0;
    if (batched_launch_time(&run->task[0], run->rounds, &result->batch, err) ||
        prepare(run, err))
        return -1;
    for (unsigned k = 0; k < run->ntasks; k++)
        if (batched_launch_each(&run->task[k], err))
            return -1;
    return check_pairs(run, result, err);
}

static int run_batch(struct suite_run *run, const struct kernel_case *kcase,
                     uint64_t bytes, struct suite_result *result,
                     struct err *err)
{
    int status = 0;
    for (unsigned i = 0; i < run->ntasks && status == 0; i++) {
        run->task[i].plan = batched_launch_new(&run->task[i], err);
        status = run->task[i].plan ? 0 : -1;
    }
    if (status == 0 && (run_pairs(run, kcase, bytes, result, err) ||
                        run_each(run, result, err)))
        status = -1;
    for (unsigned i = 0; i < run->ntasks; i++)
        batched_launch_free(run->task[i].plan);
    return status;
}

static int cuda_measure(struct suite_run *run, size_t i,
                        struct suite_shape shape, struct suite_result *result,
                        struct err *err)
{
    const struct kernel_case *kcase = kernel_cases_get(i);
    memset(result, 0, sizeof *result);
    const char *why = undefined(kcase, shape);
    if (!why)
        why = libraries_lack(run->libraries, kcase->needs);
    if (why)
        snprintf(result->left_out, sizeof result->left_out, "%s", why);
    if (why || make_pairs(run, kcase, shape, result))
        return 0;
    uint64_t bytes = bytes_of(kcase, shape);
    result->bytes = 2 * bytes;
    return kcase->entry.npictures > 1
               ? run_batch(run, kcase, bytes, result, err)
               : run_pairs(run, kcase, bytes, result, err);
}

/* ---- The device -----------------------------------------------------------
 */

static int describe(int device, struct suite_machine *machine, struct err *err)
{
    struct cudaDeviceProp p;
    memset(machine, 0, sizeof *machine);
    if (gpu_check(cudaGetDeviceProperties(&p, device), "the device", err) ||
        gpu_check(cudaDriverGetVersion(&machine->driver), "the driver", err) ||
        gpu_check(cudaRuntimeGetVersion(&machine->runtime), "the runtime", err))
        return -1;
    snprintf(machine->name, sizeof machine->name, "%s", p.name);
    snprintf(machine->compute, sizeof machine->compute, "%d.%d", p.major,
             p.minor);
    machine->multiprocessors = (unsigned)p.multiProcessorCount;
    machine->l2 = (uint64_t)p.l2CacheSize;
    machine->memory = p.totalGlobalMem;
    return 0;
}

static int start(struct suite_run *run, struct suite_machine *machine,
                 struct err *err)
{
    int count = 0;
    if (backend_cuda.probe(err) ||
        gpu_check(cudaGetDeviceCount(&count), "no CUDA device", err))
        return -1;
    if (run->device < 0 || run->device >= count)
        return fail(err, "CUDA device %d not found; %d found, from 0 on",
                    run->device, count);
    if (gpu_check(cudaSetDevice(run->device), "choosing the device", err) ||
        describe(run->device, machine, err) ||
        gpu_check(
            cudaStreamCreateWithFlags(&run->stream, cudaStreamNonBlocking),
            "making a stream", err) ||
        gpu_check(cudaMalloc(&run->wrong, sizeof *run->wrong),
                  "memory of the device", err))
        return -1;
    for (int i = 0; i < 3; i++)
        if (gpu_check(cudaEventCreate(&run->event[i]), "making an event", err))
            return -1;
    machine->devices = count;
    run->l2 = machine->l2;
    run->libraries = libraries_new();
    return run->libraries ? 0 : fail(err, "no memory");
}

static void cuda_close(struct suite_run *run)
{
    if (!run)
        return;
    libraries_free(run->libraries);
    for (unsigned i = 0; i < PAIRS; i++) {
        (void)cudaFree(run->src[i].memory);
        (void)cudaFree(run->dst[i].memory);
    }
    for (int i = 0; i < 3; i++)
        if (run->event[i])
            (void)cudaEventDestroy(run->event[i]);
    (void)cudaFree(run->wrong);
    if (run->stream)
        (void)cudaStreamDestroy(run->stream);
    (void)cudaGetLastError();
    free(run);
}

static int cuda_open(struct suite_run **run, const struct suite_opts *opts,
                     struct suite_machine *machine, struct err *err)
{
    *run = (struct suite_run *)calloc(1, sizeof **run);
    if (!*run)
        return fail(err, "no memory");
    (*run)->device = opts->device;
    (*run)->rounds = opts->rounds;
    if (start(*run, machine, err) == 0)
        return 0;
    cuda_close(*run);
    *run = NULL;
    return -1;
}

static const struct suite_entry *cuda_entry(size_t i)
{
    return &kernel_cases_get(i)->entry;
}

const struct kernel_suite kernel_suite_cuda = {
    kernel_cases_count, cuda_entry, kernel_cases_banks, cuda_open, cuda_measure,
    cuda_close,         bus_open,   bus_measure,        bus_close,
    nvjpeg_time,
};
