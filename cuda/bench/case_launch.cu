/* How cases are launched. */
#include "cuda/bench/case_launch.h"

#include "cuda/gpu/gpu_check.h"
#include "cuda/gpu/kernels.h"

static unsigned blocks_over(unsigned cells, unsigned tile)
{
    return cells / tile + (cells % tile != 0);
}

static int launch_matrix(const struct kernel_case *kcase,
                         const struct kernel_task *task, dim3 grid, dim3 block,
                         struct err *err)
{
    kcase->kernel<<<grid, block, kcase->shared, task->stream>>>(
        reinterpret_cast<float *>(task->dst.plane[0].data),
        reinterpret_cast<const float *>(task->src.plane[0].data),
        (int)task->src.width, (int)task->src.height);
    return gpu_check(cudaGetLastError(), kcase->entry.name, err);
}

int case_launch_tiles(const struct kernel_case *kcase,
                      const struct kernel_task *task, struct err *err)
{
    const struct image *over = kcase->over_result ? &task->dst : &task->src;
    dim3 grid(blocks_over(over->width, kcase->tile_x),
              blocks_over(over->height, kcase->tile_y));
    dim3 block(kcase->entry.block_x, kcase->entry.block_y);
    return launch_matrix(kcase, task, grid, block, err);
}

int case_launch_rows(const struct kernel_case *kcase,
                     const struct kernel_task *task, struct err *err)
{
    unsigned threads =
        kcase->entry.block_x ? kcase->entry.block_x : task->src.width;
    return launch_matrix(kcase, task, dim3(task->src.height), dim3(threads),
                         err);
}

int case_launch_copy(const struct kernel_case *kcase,
                     const struct kernel_task *task, struct err *err)
{
    return gpu_check(cudaMemcpyAsync(task->dst.cells, task->src.cells,
                                     task->src.size, cudaMemcpyDeviceToDevice,
                                     task->stream),
                     kcase->entry.name, err);
}

int case_launch_ours(const struct kernel_case *, const struct kernel_task *task,
                     struct err *err)
{
    return gpu_check(
        kernels_turn(&task->dst, &task->src, task->turn, task->stream),
        "turning", err);
}
