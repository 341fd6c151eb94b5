/* Verification on the GPU.
 *
 * A kernel of ours checks every cell of a result, by the place that its source
 * was made from. Small results are checked by the host as well, which also
 * checks the kernel. */
#include "cuda/bench/verify_gpu.h"

#include <stdlib.h>

#include "cuda/bench/verify.h"
#include "cuda/gpu/gpu_check.h"

static constexpr unsigned THREADS = 256;
static constexpr uint64_t HOST_CELLS = 1 << 20; /* the host checks no more */
static constexpr int GARBAGE = 0xa5;

/* ---- Cells ------------------------------------------------------------------
 */

/* The same plane of all pictures of a task. */
struct planes {
    struct plane first;
    unsigned npictures;
    size_t apart; /* bytes from one picture to the next */
    struct verify_plane what;
    unsigned nplanes; /* what the plane's number goes up by */
};

/* Cell i of them all: the plane that it is in, and its place there. */
struct cell_place {
    struct plane plane;
    struct verify_plane what;
    uint32_t x, y;
};

static __device__ struct cell_place find_place(const struct planes &planes,
                                               uint64_t i)
{
    uint32_t width = planes.first.width;
    uint64_t cells = (uint64_t)width * planes.first.height;
    unsigned picture = (unsigned)(i / cells);
    struct cell_place p = { planes.first, planes.what, (uint32_t)(i % width),
                            (uint32_t)(i % cells / width) };
    p.plane.data += picture * planes.apart;
    p.what.number += picture * planes.nplanes;
    return p;
}

static __host__ __device__ uint64_t count_cells(const struct planes &planes)
{
    return (uint64_t)planes.first.width * planes.first.height *
           planes.npictures;
}

__global__ void verify_fill(struct planes planes)
{
    uint64_t cells = count_cells(planes);
    uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < cells; i += step) {
        struct cell_place p = find_place(planes, i);
        uint8_t *at =
            p.plane.data + p.y * p.plane.stride + (size_t)p.x * p.what.size;
        verify_put(at, p.what, p.x, p.y);
    }
}

/* Adds the number of cells that are not right. */
__global__ void verify_check(struct planes planes, unsigned long long *wrong)
{
    uint64_t cells = count_cells(planes);
    uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long mine = 0;
    for (; i < cells; i += step) {
        struct cell_place p = find_place(planes, i);
        mine += !verify_right(&p.plane, p.what, p.x, p.y);
    }
    if (mine)
        atomicAdd(wrong, mine);
}

static unsigned grid_over(const struct planes &planes)
{
    uint64_t cells = count_cells(planes);
    uint64_t blocks = (cells + THREADS - 1) / THREADS;
    return blocks < 1 << 16 ? (unsigned)blocks : 1 << 16;
}

static struct verify_plane plane_of(const struct kernel_task *task,
                                    unsigned number)
{
    enum cell cell = task->src.cell;
    struct verify_plane what = { cell, number, (unsigned)task->turn,
                                 (uint32_t)cell_size(cell) };
    return what;
}

/* Plane p of all pictures, before the turn or after it. */
static struct planes planes_of(const struct kernel_task *task,
                               const struct image *img, unsigned p)
{
    struct planes planes = { img->plane[p], task->npictures, img->size,
                             plane_of(task, p), img->nplanes };
    return planes;
}

int verify_gpu_fill(const struct kernel_task *task, struct err *err)
{
    for (unsigned p = 0; p < task->src.nplanes; p++) {
        struct planes planes = planes_of(task, &task->src, p);
        verify_fill<<<grid_over(planes), THREADS, 0, task->stream>>>(planes);
    }
    if (gpu_check(cudaGetLastError(), "filling", err))
        return -1;
    return gpu_check(cudaMemsetAsync(task->dst.cells, GARBAGE,
                                     task->dst.size * task->npictures,
                                     task->stream),
                     "filling", err);
}

/* ---- Checking -------------------------------------------------------------
 */

static uint64_t wrong_on_host(const struct kernel_task *task,
                              const uint8_t *cells)
{
    const struct image *dst = &task->dst;
    uint64_t wrong = 0;
    for (unsigned i = 0; i < task->npictures * dst->nplanes; i++) {
        struct plane plane = dst->plane[i % dst->nplanes];
        plane.data = (uint8_t *)cells + (plane.data - dst->cells) +
                     i / dst->nplanes * dst->size;
        wrong += verify_count_wrong(&plane, plane_of(task, i));
    }
    return wrong;
}

/* Fails unless the host finds as many wrong cells as the device did. */
static int check_check(const struct kernel_task *task, uint64_t wrong,
                       struct err *err)
{
    size_t size = task->dst.size * task->npictures;
    uint8_t *cells = (uint8_t *)malloc(size);
    if (!cells)
        return fail(err, "no memory to check a result");
    int status =
        gpu_check(cudaMemcpyAsync(cells, task->dst.cells, size,
                                  cudaMemcpyDeviceToHost, task->stream),
                  "copying a result", err);
    if (status == 0)
        status = gpu_check(cudaStreamSynchronize(task->stream),
                           "copying a result", err);
    uint64_t here = status ? 0 : wrong_on_host(task, cells);
    free(cells);
    if (status == 0 && here != wrong)
        return fail(err,
                    "the check itself is wrong: %llu cells are wrong on the "
                    "device, %llu on the host",
                    (unsigned long long)wrong, (unsigned long long)here);
    return status;
}

int verify_gpu_check(const struct kernel_task *task,
                     unsigned long long *counter, uint64_t *wrong,
                     uint64_t *cells, struct err *err)
{
    unsigned long long found = 0;
    uint64_t count = 0;
    cudaError_t status =
        cudaMemsetAsync(counter, 0, sizeof *counter, task->stream);
    for (unsigned p = 0; p < task->dst.nplanes && !status; p++) {
        struct planes planes = planes_of(task, &task->dst, p);
        verify_check<<<grid_over(planes), THREADS, 0, task->stream>>>(planes,
                                                                      counter);
        status = cudaGetLastError();
        count += count_cells(planes);
    }
    if (!status)
        status = cudaMemcpyAsync(&found, counter, sizeof found,
                                 cudaMemcpyDeviceToHost, task->stream);
    if (!status)
        status = cudaStreamSynchronize(task->stream);
    if (gpu_check(status, "checking", err))
        return -1;
    *wrong += found;
    *cells += count;
    return count <= HOST_CELLS ? check_check(task, found, err) : 0;
}
