/* The kernels that turn planes, and their launchers.
 *
 * A turn is "transpose first, then mirror" (codecs/image/xform.h). So a row of
 * src either stays a row or becomes a column of dst, and that is two kernels; a
 * mirror is a row that is counted from the other end, or a vector that is
 * reversed. What a cell means does not matter, so a template on its size is
 * enough: 1, 2 or 4 bytes. tiles.h has what each thread does.
 *
 * Nothing is computed, so the bound is memory: every byte of a plane is read
 * once and written once, and the best to be had is what a copy on the device
 * reaches. Traffic beyond 1 + 1 is what the ends of rows cost, that is the rest
 * of a sector of 32 bytes. At equal traffic what counts is how long the runs of
 * bytes are that are touched at a time, on both sides, and first of all where
 * they are written.
 *
 * In `rows` a thread moves one vector of 16 bytes, for many small blocks come
 * closest to one sweep through memory. Mirrored, it reads two vectors, of which
 * a neighbour reads one as well: from L1 the second time.
 *
 * In `columns` a block moves a tile that has rows of 256 bytes both in src and
 * in dst, 16 bytes a thread and access, through squares that are transposed in
 * registers and a tile of shared memory that is free of bank conflicts.
 *
 * Shares of cudaMemcpy of the same bytes in the same run, on an H200, for
 * rotate90 of a plane of 16381 x 16411 cells of 8, 16 and 32 bits:
 *
 *     tiles of 256-byte rows, numbered along dst   0.986  0.985  0.976
 *     the same, numbered along src                 0.964  0.961  0.949
 *     tiles of 128-byte rows                       0.941  0.927  0.922
 *     tiles of 64-byte rows                        0.81   0.81   0.79
 *
 * Few vectors a thread are best, and all their reads under way before the first
 * is waited for; but blocks of 1024 threads are not:
 *
 *     vectors a thread             2      4      8
 *     f32                        0.975  0.974  0.971
 *     u16                        0.955  0.979  0.976
 *     u8                                0.974  0.977
 *
 * No hint to stores makes anything better; to loads, hints not to keep what is
 * read, in L1 or in L2, make it worse (0.95), and so do prefetches of longer
 * rows into L2. Shared memory is L1's loss, where reads wait for their data:
 * with all of it given to shared memory 0.94 is left of 0.98. Blocks that stay,
 * with the next tiles under way by cp.async or bulk copies, reach 0.96 if tiles
 * are dealt out one by one, else 0.95.
 *
 * It is not the transposing that costs: a kernel that reads and writes tiles of
 * these shapes and leaves their cells as they are is no faster, whether rows
 * have 256 bytes or 2048, and nor is a linear copy with four or eight vectors
 * a thread (0.96). With one it reaches 1.006; but a tile takes more.
 *
 * A small picture has fewer tiles than there are multiprocessors. Narrower ones
 * would be faster there, at most by some microseconds, and PCIe takes longer.
 */
#include "cuda/gpu/kernels.h"

#include "cuda/gpu/tiles.h"

/* The compiler cannot see that addresses are of global memory: it is told. */
static __device__ void assume_global(const struct tiles_plane &p)
{
    __builtin_assume(__isGlobal(p.src));
    __builtin_assume(__isGlobal(p.dst));
}

template <unsigned SIZE>
__global__ void __launch_bounds__(ROWS_THREADS) rows(struct tiles_plane p)
{
    assume_global(p);
    rows_turn(&p, blockIdx.x, threadIdx.x, SIZE);
}

template <unsigned SIZE>
__global__ void __launch_bounds__(COLUMNS_THREADS(SIZE),
                                  1024 / COLUMNS_THREADS(SIZE))
    columns(struct tiles_plane p)
{
    extern __shared__ uint4 vectors[];
    uint8_t *const shared = reinterpret_cast<uint8_t *>(vectors);
    assume_global(p);
    columns_put(&p, blockIdx.x, threadIdx.x, shared, SIZE);
    __syncthreads();
    columns_get(&p, blockIdx.x, threadIdx.x, shared, SIZE);
}

/* By whether rows become columns, and enum cell. */
static const struct {
    void (*turn)(struct tiles_plane);
    unsigned threads, shared; /* bytes */
} kernels[2][3] = {
    { { rows<1>, ROWS_THREADS, 0 },
      { rows<2>, ROWS_THREADS, 0 },
      { rows<4>, ROWS_THREADS, 0 } },
    { { columns<1>, COLUMNS_THREADS(1), COLUMNS_BYTES(1) },
      { columns<2>, COLUMNS_THREADS(2), COLUMNS_BYTES(2) },
      { columns<4>, COLUMNS_THREADS(4), COLUMNS_BYTES(4) } },
};

cudaError_t kernels_usable(void)
{
    struct cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes,
                                 reinterpret_cast<const void *>(rows<1>));
}

/* A block has 48 KiB of shared memory unless its kernel was allowed more,
 * which is asked on each device. To ask again costs 0.2 us, a launch 3. */
cudaError_t kernels_turn(const struct plane *dst, const struct plane *src,
                         enum cell cell, enum xform t, cudaStream_t stream)
{
    const auto &kernel = kernels[xform_transposes(t)][cell];
    struct tiles_plane plane;
    const uint64_t n =
        tiles_cut(&plane, dst, src, (unsigned)cell_size(cell), t);
    if (n == 0 || n > TILES_MAX)
        return cudaErrorInvalidConfiguration;
    if (kernel.shared > 48 * 1024) {
        cudaError_t status = cudaFuncSetAttribute(
            reinterpret_cast<const void *>(kernel.turn),
            cudaFuncAttributeMaxDynamicSharedMemorySize, (int)kernel.shared);
        if (status != cudaSuccess)
            return status;
    }
    kernel.turn<<<(unsigned)n, kernel.threads, kernel.shared, stream>>>(plane);
    return cudaGetLastError();
}
