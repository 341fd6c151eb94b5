/* Many pictures of one size, turned in one launch, and in a launch each. */
#include "cuda/bench/batched_launch.h"

#include <stdlib.h>

#include "cuda/bench/times.h"
#include "cuda/gpu/gpu_check.h"
#include "cuda/gpu/kernels.h"

struct batch_plan {
    struct tiles_plan tiles;
    struct tiles_plane *planes,
        *device_planes; /* page-locked, and on the device */
    size_t size;        /* their bytes */
};

/* ---- The pictures of a task -----------------------------------------------
 */

/* Moves on to the next picture, in place: a struct image is large. */
static void go_on(struct image *img)
{
    img->cells += img->size;
    for (unsigned p = 0; p < img->nplanes; p++)
        img->plane[p].data += img->size;
}

static int make_plan(struct batch_plan *plan, const struct kernel_task *task,
                     struct err *err)
{
    struct image dst = task->dst, src = task->src;
    struct tiles_chip chip;
    if (gpu_check(kernels_chip(&chip), "the device", err))
        return -1;
    plan->tiles = tiles_plan_begin(src.cell, task->turn);
    for (unsigned i = 0; i < task->npictures; i++) {
        for (unsigned p = 0; p < src.nplanes; p++)
            tiles_plan_add(&plan->tiles, plan->planes, &dst.plane[p],
                           &src.plane[p], task->turn);
        go_on(&dst);
        go_on(&src);
    }
    tiles_plan_number(&plan->tiles, plan->planes, &chip);
    return gpu_check(cudaMemcpyAsync(plan->device_planes, plan->planes,
                                     plan->size, cudaMemcpyHostToDevice,
                                     task->stream),
                     "sending the planes", err);
}

struct batch_plan *batched_launch_new(const struct kernel_task *task,
                                      struct err *err)
{
    struct batch_plan *plan = (struct batch_plan *)calloc(1, sizeof *plan);
    if (!plan) {
        fail(err, "no memory for a plan");
        return NULL;
    }
    plan->size = (size_t)task->npictures * task->src.nplanes *
                 sizeof(struct tiles_plane);
    if (gpu_check(cudaMallocHost(&plan->planes, plan->size),
                  "page-locked memory", err) ||
        gpu_check(cudaMalloc(&plan->device_planes, plan->size),
                  "memory of the device", err) ||
        make_plan(plan, task, err)) {
        batched_launch_free(plan);
        return NULL;
    }
    return plan;
}

void batched_launch_free(struct batch_plan *plan)
{
    if (!plan)
        return;
    (void)cudaFree(plan->device_planes);
    (void)cudaFreeHost(plan->planes);
    free(plan);
}

/* ---- Launches -------------------------------------------------------------
 */

int batched_launch_run(const struct kernel_case *,
                       const struct kernel_task *task, struct err *err)
{
    return gpu_check(kernels_turn_batch(&task->plan->tiles,
                                        task->plan->device_planes,
                                        task->stream),
                     "turning a batch", err);
}

int batched_launch_each(const struct kernel_task *task, struct err *err)
{
    struct image dst = task->dst, src = task->src;
    for (unsigned i = 0; i < task->npictures; i++) {
        if (gpu_check(kernels_turn(&dst, &src, task->turn, task->stream),
                      "turning", err))
            return -1;
        go_on(&dst);
        go_on(&src);
    }
    return 0;
}

/* ---- Times ----------------------------------------------------------------
 */

static int wait_for(const struct kernel_task *task, struct err *err)
{
    return gpu_check(cudaStreamSynchronize(task->stream), "turning", err);
}

/* Measures how long the host waits for all pictures in one launch. */
static int wall_of_one(const struct kernel_task *task, double *seconds,
                       struct err *err)
{
    double begin = now();
    if (make_plan(task->plan, task, err) ||
        batched_launch_run(NULL, task, err) || wait_for(task, err))
        return -1;
    *seconds = now() - begin;
    return 0;
}

/* The same for a launch each; and the time between events around them. */
static int wall_of_each(const struct kernel_task *task,
                        const cudaEvent_t event[2], double *seconds,
                        double *between, struct err *err)
{
    float ms = 0;
    double begin = now();
    if (gpu_check(cudaEventRecord(event[0], task->stream), "timing", err) ||
        batched_launch_each(task, err) ||
        gpu_check(cudaEventRecord(event[1], task->stream), "timing", err) ||
        wait_for(task, err))
        return -1;
    *seconds = now() - begin;
    int status =
        gpu_check(cudaEventElapsedTime(&ms, event[0], event[1]), "timing", err);
    *between = ms * 1e-3;
    return status;
}

/* The first round does not count. */
static int time_rounds(const struct kernel_task *task, unsigned rounds,
                       const cudaEvent_t event[2], double *sample,
                       struct suite_batch *times, struct err *err)
{
    double *wall = sample, *wall_each = sample + rounds;
    double *each = sample + 2 * (size_t)rounds;
    for (unsigned r = 0; r <= rounds; r++) {
        unsigned i = r ? r - 1 : 0;
        if (wall_of_one(task, &wall[i], err) ||
            wall_of_each(task, event, &wall_each[i], &each[i], err))
            return -1;
    }
    times->wall = times_median(wall, rounds);
    times->wall_each = times_median(wall_each, rounds);
    times->each = times_median(each, rounds);
    return 0;
}

int batched_launch_time(const struct kernel_task *task, unsigned rounds,
                        struct suite_batch *times, struct err *err)
{
    cudaEvent_t event[2] = { NULL, NULL };
    double *sample = (double *)calloc(3 * (size_t)rounds, sizeof *sample);
    int status = sample ? 0 : fail(err, "no memory for the times");
    for (int i = 0; i < 2 && status == 0; i++)
        status = gpu_check(cudaEventCreate(&event[i]), "making an event", err);
    if (status == 0)
        status = time_rounds(task, rounds, event, sample, times, err);
    for (int i = 0; i < 2; i++)
        if (event[i])
            (void)cudaEventDestroy(event[i]);
    free(sample);
    return status;
}
