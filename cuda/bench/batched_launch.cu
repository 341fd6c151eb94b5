/* Many pictures of one size, turned in one launch, and in a launch each. */
#include "cuda/bench/batched_launch.h"

#include <stdlib.h>

#include "cuda/gpu/kernels.h"
#include "cuda/bench/times.h"

struct many {
    struct tiles_plan plan;
    struct tiles_plane *planes, *there; /* page-locked, and on the device */
    size_t size;                        /* their bytes */
};

/* ---- The pictures of a task -----------------------------------------------
 */

/* From one to the next, in place: a struct image is large. */
static void go_on(struct image *img)
{
    img->cells += img->size;
    for (unsigned p = 0; p < img->nplanes; p++)
        img->plane[p].data += img->size;
}

static int plan(struct many *many, const struct task *task, struct err *err)
{
    struct image dst = task->dst, src = task->src;
    struct tiles_chip chip;
    if (kernel_cases_check(kernels_chip(&chip), "the device", err))
        return -1;
    many->plan = tiles_begin(src.cell, task->turn);
    for (unsigned i = 0; i < task->npictures; i++) {
        for (unsigned p = 0; p < src.nplanes; p++)
            tiles_add(&many->plan, many->planes, &dst.plane[p], &src.plane[p],
                      task->turn);
        go_on(&dst);
        go_on(&src);
    }
    tiles_number(&many->plan, many->planes, &chip);
    return kernel_cases_check(cudaMemcpyAsync(many->there, many->planes, many->size,
                                       cudaMemcpyHostToDevice, task->stream),
                       "sending the planes", err);
}

struct many *batched_launch_new(const struct task *task, struct err *err)
{
    struct many *many = (struct many *)calloc(1, sizeof *many);
    if (!many) {
        fail(err, "no memory for a plan");
        return NULL;
    }
    many->size = (size_t)task->npictures * task->src.nplanes *
                 sizeof(struct tiles_plane);
    if (kernel_cases_check(cudaMallocHost(&many->planes, many->size),
                    "page-locked memory", err) ||
        kernel_cases_check(cudaMalloc(&many->there, many->size),
                    "memory of the device", err) ||
        plan(many, task, err)) {
        batched_launch_free(many);
        return NULL;
    }
    return many;
}

void batched_launch_free(struct many *many)
{
    if (!many)
        return;
    (void)cudaFree(many->there);
    (void)cudaFreeHost(many->planes);
    free(many);
}

/* ---- Launches -------------------------------------------------------------
 */

int batched_launch_launch(const struct kernel_case *, const struct task *task, struct err *err)
{
    return kernel_cases_check(
        kernels_turn_many(&task->many->plan, task->many->there, task->stream),
        "turning many", err);
}

int batched_launch_launch_each(const struct task *task, struct err *err)
{
    struct image dst = task->dst, src = task->src;
    for (unsigned i = 0; i < task->npictures; i++) {
        if (kernel_cases_check(kernels_turn(&dst, &src, task->turn, task->stream),
                        "turning", err))
            return -1;
        go_on(&dst);
        go_on(&src);
    }
    return 0;
}

/* ---- Times ----------------------------------------------------------------
 */

static int wait_for(const struct task *task, struct err *err)
{
    return kernel_cases_check(cudaStreamSynchronize(task->stream), "turning", err);
}

/* Seconds that the host waits for all in one launch. */
static int wall_of_one(const struct task *task, double *seconds,
                       struct err *err)
{
    double begin = times_now();
    if (plan(task->many, task, err) || batched_launch_launch(NULL, task, err) ||
        wait_for(task, err))
        return -1;
    *seconds = times_now() - begin;
    return 0;
}

/* The same for a launch each, and what passes between events around them. */
static int wall_of_each(const struct task *task, const cudaEvent_t event[2],
                        double *seconds, double *between, struct err *err)
{
    float ms = 0;
    double begin = times_now();
    if (kernel_cases_check(cudaEventRecord(event[0], task->stream), "timing", err) ||
        batched_launch_launch_each(task, err) ||
        kernel_cases_check(cudaEventRecord(event[1], task->stream), "timing", err) ||
        wait_for(task, err))
        return -1;
    *seconds = times_now() - begin;
    int status = kernel_cases_check(cudaEventElapsedTime(&ms, event[0], event[1]),
                             "timing", err);
    *between = ms * 1e-3;
    return status;
}

/* The first round is not kept. */
static int time_rounds(const struct task *task, unsigned rounds,
                       const cudaEvent_t event[2], double *sample,
                       struct ladder_many *times, struct err *err)
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

int batched_launch_time(const struct task *task, unsigned rounds,
              struct ladder_many *times, struct err *err)
{
    cudaEvent_t event[2] = { NULL, NULL };
    double *sample = (double *)calloc(3 * (size_t)rounds, sizeof *sample);
    int status = sample ? 0 : fail(err, "no memory for the times");
    for (int i = 0; i < 2 && status == 0; i++)
        status =
            kernel_cases_check(cudaEventCreate(&event[i]), "making an event", err);
    if (status == 0)
        status = time_rounds(task, rounds, event, sample, times, err);
    for (int i = 0; i < 2; i++)
        if (event[i])
            (void)cudaEventDestroy(event[i]);
    free(sample);
    return status;
}
