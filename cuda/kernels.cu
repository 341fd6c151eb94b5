/* The two kernels that turn planes, and their launcher.
 *
 * A turn is "transpose first, then mirror" (codecs/xform.h). So a row of src
 * either stays a row or becomes a column of dst, and that is two kernels; a
 * mirror is a row that is counted from the other end, or a vector that is
 * reversed. What a cell means does not matter, so a template on its size is
 * enough: 1, 2 or 4 bytes. cuda/tiles.h has the arithmetic.
 *
 * Nothing is computed, so the bound is memory: every byte of a plane is read
 * once and written once. Memory is moved in sectors of 32 bytes, and all that
 * is asked of a kernel is that a warp touch whole sectors on both sides.
 *
 *   rows     A warp writes 512 bytes of a row, 16 a thread, aligned. It reads
 *            as many; mirrored, up to 16 bytes from each vector of src twice,
 *            by neighbours of a warp: from L1 the second time.
 *   columns  A warp reads 128 bytes of a row of src and writes 128 of a row of
 *            dst, aligned, 4 a thread. Between the two stands the transpose: of
 *            squares of 4-byte words in registers, and of squares in the tile
 *            of shared memory, whose pitch of 33 words keeps lanes from meeting
 *            at a bank both when they put columns and when they get rows.
 *
 * Traffic beyond 1 + 1 is what the edges cost: the last sector of each row. */
#include "cuda/kernels.h"

#include "cuda/tiles.h"

/* A kernel's parameters end at 4096 bytes on every GPU and driver. */
static_assert(sizeof(struct tiles) <= 4096, "too many planes for a launch");

static __device__ uint4 load_vector(const uint8_t *at)
{
    return *reinterpret_cast<const uint4 *>(at);
}

static __device__ uint32_t load_word(const uint8_t *at)
{
    return *reinterpret_cast<const uint32_t *>(at);
}

static __device__ uint4 load_mirrored(const uint8_t *src, struct rows_part part,
                                      unsigned size)
{
    const uint4 none = make_uint4(0, 0, 0, 0);
    uint4 low = part.low ? load_vector(src + part.from - TILES_VECTOR) : none;
    uint4 high = part.shift ? load_vector(src + part.from) : none;
    uint32_t w[8] = {
        low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w
    };
    rows_mirror(w, part.shift, size);
    return make_uint4(w[0], w[1], w[2], w[3]);
}

template <unsigned SIZE>
__global__ void __launch_bounds__(TILES_THREADS)
    rows(const __grid_constant__ struct tiles tiles)
{
    const struct tiles_plane *p = tiles_find(&tiles, blockIdx.x);
    struct rows_part part =
        rows_find_part(p, tiles.t, blockIdx.x, threadIdx.x, SIZE);
    if (!part.inside)
        return;
    uint4 *to = reinterpret_cast<uint4 *>(p->dst + part.to);
    if (tiles.t & XFORM_MIRROR_X)
        *to = load_mirrored(p->src, part, SIZE);
    else
        *to = load_vector(p->src + part.from);
}

template <unsigned SIZE>
__global__ void __launch_bounds__(TILES_THREADS)
    columns(const __grid_constant__ struct tiles tiles)
{
    constexpr unsigned STEP = TILES_WORD / SIZE;
    constexpr unsigned BANDS = TILES_LANES / TILES_WARPS; /* of a warp */
    __shared__ uint32_t shared[STEP * TILES_LANES * TILES_PITCH];
    const struct tiles_plane *p = tiles_find(&tiles, blockIdx.x);
    struct columns_tile tile = columns_find_tile(p, blockIdx.x, SIZE);
    unsigned lane = threadIdx.x % TILES_LANES;
    unsigned warp = threadIdx.x / TILES_LANES;
    uint32_t w[BANDS][STEP];
    uint64_t at;

    /* All reads are under way before the first is waited for. */
#pragma unroll
    for (unsigned n = 0; n < BANDS; n++)
#pragma unroll
        for (unsigned i = 0; i < STEP; i++) {
            unsigned column = (n * TILES_WARPS + warp) * STEP + i;
            bool live = columns_read(p, tiles.t, tile, column, lane, &at);
            w[n][i] = live ? load_word(p->src + at) : 0;
        }
#pragma unroll
    for (unsigned n = 0; n < BANDS; n++) {
        square_transpose(w[n], STEP);
#pragma unroll
        for (unsigned i = 0; i < STEP; i++)
            shared[columns_put(i, lane, n * TILES_WARPS + warp)] = w[n][i];
    }
    __syncthreads();
#pragma unroll
    for (unsigned n = 0; n < BANDS * STEP; n++) {
        unsigned row = n * TILES_WARPS + warp;
        if (columns_write(p, tiles.t, tile, row, lane, &at))
            *reinterpret_cast<uint32_t *>(p->dst + at) =
                shared[columns_get(row, lane)];
    }
}

typedef void (*kernel)(struct tiles);

/* By enum cell. */
static constexpr kernel rows_of[] = { rows<1>, rows<2>, rows<4> };
static constexpr kernel columns_of[] = { columns<1>, columns<2>, columns<4> };

cudaError_t kernels_usable(void)
{
    struct cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes,
                                 reinterpret_cast<const void *>(rows<1>));
}

cudaError_t kernels_turn(const struct image *dst, const struct image *src,
                         enum xform t, cudaStream_t stream)
{
    struct tiles tiles;
    uint64_t blocks = tiles_plan(&tiles, dst, src, t);
    if (blocks > TILES_MAX)
        return cudaErrorInvalidConfiguration;
    kernel turn =
        xform_transposes(t) ? columns_of[src->cell] : rows_of[src->cell];
    turn<<<(unsigned)blocks, TILES_THREADS, 0, stream>>>(tiles);
    return cudaGetLastError();
}
