/* The kernels that turn planes, and their launchers.
 *
 * A turn is "transpose first, then mirror" (codecs/image/xform.h). So a row of
 * src either stays a row or becomes a column of dst, and that is two kernels; a
 * mirror is a row that is counted from the other end, or a vector that is
 * reversed. What a cell means does not matter, so a template on its size is
 * enough: 1, 2 or 4 bytes. Blocks of DCT coefficients are turned inside as
 * well: they need a third kernel where they are transposed, and signs in both
 * cases. tiles.h has the index arithmetic.
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
 * In `blocks` eight threads transpose the 128 bytes of a DCT block by shuffles.
 * Tiles have rows of 256 bytes in src, of 1024 in dst: 1447 x 1453 blocks reach
 * 0.990 of cudaMemcpy; with rows of 512 in src, four vectors a thread, 0.979.
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
 * Wide tiles are few. A small picture is cut into tiles of 128-byte rows, so
 * that all multiprocessors are at work: 12 megapixels of bytes 1.18, not 1.13.
 */
#include "cuda/gpu/kernels.h"

#include "cuda/gpu/tiles.h"
#include "cuda/gpu/tiles_plan.h"

/* A kernel's parameters end at 4096 bytes on every GPU and driver. */
static_assert(sizeof(struct tiles) <= 4096, "too many planes for a launch");

/* Returns the plane that this block works on. The compiler cannot see that
 * its addresses are of global memory, so it is told. */
static __device__ struct tiles_plane find_plane(const struct tiles &tiles)
{
    const struct tiles_plane p =
        *tiles_find(tiles.plane, tiles.nplanes, blockIdx.x);
    __builtin_assume(__isGlobal(p.src));
    __builtin_assume(__isGlobal(p.dst));
    return p;
}

/* Loads a vector of memory into four words in registers. */
static __device__ void load(uint32_t w[4], const void *at)
{
    uint4 v = *static_cast<const uint4 *>(at);
    w[0] = v.x;
    w[1] = v.y;
    w[2] = v.z;
    w[3] = v.w;
}

/* Loads two of the words, from word 0 or 2 of a vector on. */
static __device__ void load_half(uint32_t w[2], const uint4 *at, unsigned word)
{
    uint2 v = reinterpret_cast<const uint2 *>(at)[word / 2];
    w[0] = v.x;
    w[1] = v.y;
}

static __device__ void load_if(bool there, uint32_t w[4], const void *at)
{
    w[0] = w[1] = w[2] = w[3] = 0;
    if (there)
        load(w, at);
}

static __device__ void store(void *at, const uint32_t w[4])
{
    *static_cast<uint4 *>(at) = make_uint4(w[0], w[1], w[2], w[3]);
}

/* ---- Rows stay rows -------------------------------------------------------*/

template <unsigned SIZE>
__global__ void __launch_bounds__(ROWS_THREADS)
    rows(const __grid_constant__ struct tiles tiles)
{
    const struct tiles_plane p = find_plane(tiles);
    struct rows_part part = rows_find_part(&p, blockIdx.x, threadIdx.x, SIZE);
    const uint8_t *from = p.src + part.from;
    uint32_t w[8];
    if (!part.inside)
        return;
    if (SIZE > TILES_VECTOR) {
        unsigned row = part.to / TILES_VECTOR % DCT_ROW;
        uint32_t signs = dct_signs(p.t, row);
        load(w, from);
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
            w[i] = word_negate(w[i], signs);
    } else if (p.t & XFORM_MIRROR_X) {
        load_if(part.low, w, from - TILES_VECTOR);
        load_if(part.shift != 0, w + 4, from);
        rows_mirror(w, part.shift, SIZE);
    } else {
        load(w, from);
    }
    store(p.dst + part.to, w);
}

/* ---- Rows become columns --------------------------------------------------*/

/* Transposes the squares in `step` rows of a vector each, and stores them as
 * pieces: piece i has words 4i and following of all squares, one after the
 * other. */
template <unsigned SIZE, unsigned W>
static __device__ void put_pieces(uint4 *shared, const uint32_t (*rows)[4],
                                  unsigned g, unsigned v)
{
    constexpr unsigned STEP = TILES_WORD / SIZE;
    uint32_t columns[4 * STEP];
#pragma unroll
    for (unsigned j = 0; j < 4; j++) {
        uint32_t *square = columns + j * STEP;
#pragma unroll
        for (unsigned i = 0; i < STEP; i++)
            square[i] = rows[i][j];
        columns_transpose_square(square, STEP);
    }
#pragma unroll
    for (unsigned i = 0; i < STEP; i++)
        store(&shared[columns_place(g, v * STEP + i, SIZE, W)],
              columns + 4 * i);
}

/* Loads four pieces, one below the other in src, or the half of each that
 * begins with word `row` % 4. Their words are a matrix, whose columns are
 * the vectors of dst in row `row` of the tile and in those below. */
template <unsigned SIZE, unsigned W, unsigned ROWS>
static __device__ void get_vectors(const uint4 *shared, uint32_t (*rows)[4],
                                   unsigned v, unsigned row)
{
    static_assert(ROWS == 2 || ROWS == 4, "a half, or the whole");
#pragma unroll
    for (unsigned j = 0; j < 4; j++) {
        uint32_t piece[4];
        unsigned place = columns_place(4 * v + j, row / 4, SIZE, W);
        if (ROWS == 4)
            load(piece, &shared[place]);
        else
            load_half(piece, &shared[place], row % 4);
#pragma unroll
        for (unsigned i = 0; i < ROWS; i++)
            rows[i][j] = piece[i];
    }
}

/* A thread moves EACH vectors. It reads column v of the tile in src, in
 * every ABREAST-th group of `step` rows, and writes column v of the tile in
 * dst, in every ABREAST-th group of ROWS rows. All reads are under way
 * before the first is waited for. */
template <unsigned SIZE, unsigned W, unsigned EACH>
__global__ void __launch_bounds__(COLUMNS_THREADS(SIZE, W, EACH),
                                  1024 / COLUMNS_THREADS(SIZE, W, EACH))
    columns(const __grid_constant__ struct tiles tiles)
{
    constexpr unsigned STEP = TILES_WORD / SIZE;
    constexpr unsigned ABREAST = COLUMNS_THREADS(SIZE, W, EACH) / W;
    constexpr unsigned ROWS = EACH < 4 ? EACH : 4;
    extern __shared__ uint4 shared[];
    const struct tiles_plane p = find_plane(tiles);
    struct columns_tile tile = columns_find_tile(&p, blockIdx.x, SIZE, W);
    unsigned v = threadIdx.x % W, first = threadIdx.x / W;
    uint32_t w[EACH][4];
    uint64_t at;

#pragma unroll
    for (unsigned n = 0; n < EACH; n++) {
        unsigned g = first + n / STEP * ABREAST;
        bool live = columns_read(&p, tile, g * STEP + n % STEP, v, SIZE, &at);
        load_if(live, w[n], p.src + at);
    }
#pragma unroll
    for (unsigned n = 0; n < EACH; n += STEP)
        put_pieces<SIZE, W>(shared, &w[n], first + n / STEP * ABREAST, v);
    __syncthreads();
#pragma unroll
    for (unsigned n = 0; n < EACH; n += ROWS) {
        unsigned row = (first + n / ROWS * ABREAST) * ROWS;
        get_vectors<SIZE, W, ROWS>(shared, w, v, row);
#pragma unroll
        for (unsigned i = 0; i < ROWS; i++)
            if (columns_write(&p, tile, row + i, v, SIZE, &at))
                store(p.dst + at, w[i]);
    }
}

/* ---- DCT blocks become columns --------------------------------------------*/

static __device__ void transpose_block(uint32_t w[4], unsigned lane)
{
#pragma unroll
    for (unsigned bit = 1; bit < DCT_ROW; bit *= 2) {
        uint32_t moved[2];
        dct_give(w, lane, bit, moved);
#pragma unroll
        for (unsigned i = 0; i < 2; i++)
            moved[i] = __shfl_xor_sync(0xffffffff, moved[i], bit);
        dct_take(w, lane, bit, moved);
    }
}

__global__ void __launch_bounds__(DCT_THREADS)
    blocks(const __grid_constant__ struct tiles tiles)
{
    const struct tiles_plane p = find_plane(tiles);
    struct columns_tile tile = dct_find_tile(&p, blockIdx.x);
    unsigned lane = threadIdx.x % DCT_ROW;
    uint32_t x = tile.x + threadIdx.x / DCT_ROW;
    uint32_t signs = dct_signs(p.t, lane);
    uint32_t w[DCT_DOWN][4];
    uint64_t from, to;

#pragma unroll
    for (unsigned n = 0; n < DCT_DOWN; n++) {
        bool live = dct_find(&p, x, tile.c + n, lane, &from, &to);
        load_if(live, w[n], p.src + from);
    }
#pragma unroll
    for (unsigned n = 0; n < DCT_DOWN; n++) {
        transpose_block(w[n], lane);
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
            w[n][i] = word_negate(w[n][i], signs);
        if (dct_find(&p, x, tile.c + n, lane, &from, &to))
            store(p.dst + to, w[n]);
    }
}

/* ---- Launchers ------------------------------------------------------------*/

typedef void (*kernel)(struct tiles);

struct choice {
    kernel turn;
    unsigned threads;
    unsigned shared; /* bytes */
};

template <unsigned SIZE, unsigned W, unsigned EACH>
static constexpr struct choice columns_choice()
{
    return { columns<SIZE, W, EACH>, COLUMNS_THREADS(SIZE, W, EACH),
             COLUMNS_BYTES(SIZE, W) };
}

/* By enum cell. */
static constexpr struct choice rows_of[] = {
    { rows<1>, ROWS_THREADS, 0 },
    { rows<2>, ROWS_THREADS, 0 },
    { rows<4>, ROWS_THREADS, 0 },
    { rows<128>, ROWS_THREADS, 0 },
};
static constexpr struct choice wide_columns_of[] = {
    columns_choice<1, COLUMNS_WIDE, COLUMNS_WIDE_EACH(1)>(),
    columns_choice<2, COLUMNS_WIDE, COLUMNS_WIDE_EACH(2)>(),
    columns_choice<4, COLUMNS_WIDE, COLUMNS_WIDE_EACH(4)>(),
    { blocks, DCT_THREADS, 0 },
};
static constexpr struct choice narrow_columns_of[] = {
    columns_choice<1, COLUMNS_NARROW, COLUMNS_NARROW_EACH>(),
    columns_choice<2, COLUMNS_NARROW, COLUMNS_NARROW_EACH>(),
    columns_choice<4, COLUMNS_NARROW, COLUMNS_NARROW_EACH>(),
    { blocks, DCT_THREADS, 0 },
};

static const struct choice *choose(const struct tiles_plan *plan)
{
    if (!plan->columns)
        return &rows_of[plan->cell];
    if (plan->vectors == COLUMNS_WIDE)
        return &wide_columns_of[plan->cell];
    return &narrow_columns_of[plan->cell];
}

/* A block has 48 KiB of shared memory unless its kernel was allowed more,
 * which is asked on each device. To ask again costs 0.2 us, a launch 3. */
static cudaError_t launch(const struct tiles_plan *plan,
                          const struct tiles *tiles, cudaStream_t stream)
{
    const struct choice *choice = choose(plan);
    if (plan->ntiles == 0 || plan->ntiles > TILES_MAX)
        return cudaErrorInvalidConfiguration;
    if (choice->shared > 48 * 1024) {
        cudaError_t status = cudaFuncSetAttribute(
            reinterpret_cast<const void *>(choice->turn),
            cudaFuncAttributeMaxDynamicSharedMemorySize, (int)choice->shared);
        if (status != cudaSuccess)
            return status;
    }
    choice->turn<<<(unsigned)plan->ntiles, choice->threads, choice->shared,
                   stream>>>(*tiles);
    return cudaGetLastError();
}

cudaError_t kernels_usable(void)
{
    struct cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes,
                                 reinterpret_cast<const void *>(rows<1>));
}

/* All three calls take 0.1 us together, so their results are not kept. */
static cudaError_t describe_chip(struct tiles_chip *chip)
{
    int device = 0, multiprocessors = 0, block = 0, all = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&multiprocessors,
                                        cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(
            &block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(
            &all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
    chip->multiprocessors = (unsigned)multiprocessors;
    chip->shared_block = (size_t)block;
    chip->shared_all = (size_t)all;
    return status;
}

cudaError_t kernels_turn(const struct image *dst, const struct image *src,
                         enum xform t, cudaStream_t stream)
{
    struct tiles tiles;
    struct tiles_chip chip;
    struct tiles_plan plan = tiles_plan_begin(src->cell, t);
    cudaError_t status = describe_chip(&chip);
    if (status != cudaSuccess)
        return status;
    for (unsigned i = 0; i < src->nplanes; i++)
        tiles_plan_add(&plan, tiles.plane, &dst->plane[i], &src->plane[i], t);
    tiles_plan_number(&plan, tiles.plane, &chip);
    tiles.nplanes = plan.nplanes;
    return launch(&plan, &tiles, stream);
}
