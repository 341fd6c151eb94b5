/* The kernels that turn scans: what the threads of scan_stuff.h and its
 * neighbours do, and the barriers in between.
 *
 * Blocks of threads work on one picture each. Whether it is refused is asked
 * once for a block, as another one may refuse it at any time. */
#include "cuda/jpeg/scan_kernels.h"

#include "cuda/jpeg/scan_encode.h"
#include "cuda/jpeg/scan_stuff.h"
#include "cuda/jpeg/scan_tile.h"

#define PARAMS      const __grid_constant__ struct scan_params p
#define KERNEL      static __global__ void __launch_bounds__(SCAN_THREADS)
#define TILE_KERNEL static __global__ void __launch_bounds__(SCAN_TILE)

enum { WARP = 32, WARPS = SCAN_THREADS / WARP };

/* Whether thread 0 says so. */
static __device__ bool all_leave(bool leave)
{
    return __syncthreads_or(threadIdx.x == 0 && leave);
}

/* ---- Sums over the threads of a block ------------------------------------*/

template <class T> static __device__ T shuffle_up(T item, unsigned lanes)
{
    union {
        T item;
        uint32_t word[sizeof(T) / 4];
    } all;
    all.item = item;
    for (unsigned i = 0; i < sizeof(T) / 4; i++)
        all.word[i] = __shfl_up_sync(0xffffffff, all.word[i], lanes);
    return all.item;
}

/* Returns the sum of the items of all threads before; *sum is that of all.
 * `none` is the item that adds nothing. */
template <class T, T add(T, T)>
static __device__ T sum_before(T item, T none, T *sum)
{
    __shared__ T of_warp[WARPS];
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for (unsigned d = 1; d < WARP; d *= 2) {
        T other = shuffle_up(item, d);
        if (lane >= d)
            item = add(other, item);
    }
    T before = shuffle_up(item, 1);
    if (lane == 0)
        before = none;
    if (lane == WARP - 1)
        of_warp[warp] = item;
    __syncthreads();
    T all = none;
    for (unsigned i = 0; i < WARPS; i++) {
        if (i == warp)
            before = add(all, before);
        all = add(all, of_warp[i]);
    }
    __syncthreads();
    *sum = all;
    return before;
}

static __device__ uint32_t plus(uint32_t a, uint32_t b)
{
    return a + b;
}

static __device__ scan_bytes plus(scan_bytes a, scan_bytes b)
{
    return unstuff_add(a, b);
}

static __device__ scan_counts plus(scan_counts a, scan_counts b)
{
    return scan_counts_add(a, b);
}

static __device__ scan_bits plus(scan_bits a, scan_bits b)
{
    return scan_bits_add(a, b);
}

template <class T> static __device__ T nothing()
{
    return T{};
}

template <class T> static __device__ T sum_threads(T item, T *sum)
{
    return sum_before<T, plus>(item, nothing<T>(), sum);
}

/* Replaces n items by the sums of all before each. Returns the sum of all. */
template <class T, class Get, class Put>
static __device__ T sum_items(uint32_t n, Get get, Put put)
{
    T before = nothing<T>(), sum;
    for (uint32_t first = 0; first < n; first += SCAN_THREADS) {
        const uint32_t i = first + threadIdx.x;
        T item = sum_threads(i < n ? get(i) : nothing<T>(), &sum);
        if (i < n)
            put(i, plus(before, item));
        before = plus(before, sum);
    }
    return before;
}

/* ---- Bytes without stuffing ----------------------------------------------*/

KERNEL unstuff_count_chunk(PARAMS)
{
    scan_bytes sum;
    unstuff_bytes b = unstuff_read(&p, blockIdx.x, threadIdx.x);
    sum_threads(unstuff_count(&b), &sum);
    if (threadIdx.x == 0)
        p.chunk[blockIdx.x] = sum;
}

KERNEL unstuff_sum(PARAMS)
{
    const scan_picture *pic = &p.picture[blockIdx.x];
    scan_bytes *chunk = p.chunk + pic->chunk;
    scan_bytes all = sum_items<scan_bytes>(
        pic->chunks, [=](uint32_t i) { return chunk[i]; },
        [=](uint32_t i, scan_bytes before) { chunk[i] = before; });
    unstuff_end(&p, blockIdx.x, all, threadIdx.x);
}

KERNEL unstuff_chunk(PARAMS)
{
    __shared__ uint8_t shared[SCAN_CHUNK];
    scan_bytes sum;
    if (all_leave(scan_is_out(&p, p.chunk_picture[blockIdx.x])))
        return;
    unstuff_bytes b = unstuff_read(&p, blockIdx.x, threadIdx.x);
    scan_bytes before = sum_threads(unstuff_count(&b), &sum);
    unstuff_place(&p, blockIdx.x, &b, before, shared);
    __syncthreads();
    unstuff_store(&p, blockIdx.x, sum.bytes, shared, threadIdx.x);
}

/* ---- Decoding ------------------------------------------------------------*/

TILE_KERNEL seek_tile(PARAMS)
{
    extern __shared__ uint16_t codes[];
    __shared__ scan_tile shared;
    if (all_leave(scan_is_out(&p, p.tile_picture[blockIdx.x])))
        return;
    scan_stage(&p, blockIdx.x, threadIdx.x, &shared, codes);
    __syncthreads();
    const scan_text text = scan_staged(&p, blockIdx.x, &shared, codes);
    scan_seeker seeker =
        scan_guess(&p, blockIdx.x, threadIdx.x, &text, &shared);
    __syncthreads();
    for (unsigned round = 0; round < SCAN_ROUNDS; round++) {
        scan_compare(&seeker, threadIdx.x, &shared);
        __syncthreads();
        /* The first threads do what all have found, so that no warp is kept
         * busy by one of its threads. */
        const unsigned n = shared.corrections;
        const bool busy = threadIdx.x < n;
        const uint64_t entry = busy ? scan_corrected(&shared, threadIdx.x) : 0;
        const unsigned thread = busy ? shared.corrected[threadIdx.x] : 0;
        __syncthreads();
        if (n == 0)
            break;
        if (threadIdx.x == 0)
            shared.corrections = 0;
        if (busy)
            scan_find(&p, blockIdx.x, &text, thread, entry, &shared);
        __syncthreads();
    }
}

static __global__ void __launch_bounds__(SCAN_JOIN_THREADS) join_tiles(PARAMS)
{
    const uint32_t tile = blockIdx.x * SCAN_JOIN_THREADS + threadIdx.x;
    if (tile < p.tiles)
        scan_join(&p, tile);
}

KERNEL counts_sum(PARAMS)
{
    const uint32_t picture = blockIdx.x;
    if (all_leave(scan_is_out(&p, picture)))
        return;
    scan_subsequence *s = p.subsequence + p.picture[picture].subsequence;
    sum_items<scan_counts>(
        scan_subsequences(p.status[picture].size),
        [&](uint32_t i) { return scan_counts_get(&p, picture, i); },
        [=](uint32_t i, scan_counts before) { s[i].counts = before; });
}

TILE_KERNEL write_tile(PARAMS)
{
    extern __shared__ uint16_t codes[];
    __shared__ scan_tile shared;
    if (all_leave(scan_is_out(&p, p.tile_picture[blockIdx.x])))
        return;
    scan_stage(&p, blockIdx.x, threadIdx.x, &shared, codes);
    __syncthreads();
    const scan_text text = scan_staged(&p, blockIdx.x, &shared, codes);
    scan_write(&p, blockIdx.x, threadIdx.x, &text);
}

/* ---- Components that go through samples ----------------------------------*/

static __device__ bool is_out(const scan_params *p, uint32_t component)
{
    return scan_is_out(p, p->samples.component[component].picture);
}

KERNEL decode_samples(PARAMS)
{
    __shared__ samples_shared shared;
    if (all_leave(is_out(&p, p.samples.tile_component[blockIdx.x])))
        return;
    const samples_place at =
        samples_find_from(&p.samples, blockIdx.x, threadIdx.x);
    samples_load(&p.samples, &at, &shared);
    __syncthreads();
    samples_inverse_column(&at, &shared);
    __syncthreads();
    const bool agree = samples_store(&p.samples, &at, &shared);
    if (!agree || !samples_agree(&at, &shared))
        scan_refuse(&p, at.c->picture);
}

KERNEL make_units(PARAMS)
{
    __shared__ samples_shared shared;
    if (all_leave(is_out(&p, p.samples.unit_tile_component[blockIdx.x])))
        return;
    const samples_place at =
        samples_find_unit(&p.samples, blockIdx.x, threadIdx.x);
    samples_forward_row(&p.samples, &at, &shared);
    __syncthreads();
    samples_store_units(&p.samples, &at, &shared);
}

static __device__ uint64_t plus(uint64_t a, uint64_t b)
{
    return a + b;
}

KERNEL find_cap(PARAMS)
{
    const samples_component *c = &p.samples.component[blockIdx.x];
    uint64_t error;
    if (all_leave(is_out(&p, blockIdx.x)))
        return;
    samples_search search = samples_search_begin(c);
    while (!search.done) {
        sum_threads(samples_error(&p.samples, c, search.cap, threadIdx.x,
                                  SAMPLES_THREADS),
                    &error);
        samples_search_next(&search, c, error);
    }
    if (threadIdx.x == 0)
        p.samples.cap[blockIdx.x] = search.cap;
}

KERNEL make_blocks(PARAMS)
{
    __shared__ samples_shared shared;
    const uint32_t component = p.samples.to_tile_component[blockIdx.x];
    if (all_leave(is_out(&p, component)))
        return;
    const samples_place at =
        samples_find_to(&p.samples, blockIdx.x, threadIdx.x);
    samples_forward_row(&p.samples, &at, &shared);
    __syncthreads();
    samples_round(&p.samples, &at, &shared);
    __syncthreads();
    samples_mark(&at, &shared);
    __syncthreads();
    if (!samples_put(&p.samples, &at, &shared))
        scan_refuse(&p, p.samples.component[component].picture);
}

KERNEL make_pixels(PARAMS)
{
    __shared__ pixels_shared shared;
    const pixels_picture *of =
        &p.pixels.picture[p.pixels.tile_picture[blockIdx.x]];
    const array_place at = array_find(&of->array, blockIdx.x);
    if (all_leave(scan_is_out(&p, of->picture)))
        return;
    pixels_load(&p.samples, of, &at, threadIdx.x, &shared);
    __syncthreads();
    array_store(p.pixels.out, &at, threadIdx.x, shared.plane, false);
}

/* ---- Encoding ------------------------------------------------------------*/

KERNEL measure_tile(PARAMS)
{
    __shared__ scan_coder shared;
    scan_bits sum;
    if (all_leave(scan_is_not_coded(&p, p.to_tile_picture[blockIdx.x])))
        return;
    scan_load_coder(&p, blockIdx.x, threadIdx.x, p.again, &shared);
    __syncthreads();
    sum_threads(scan_measure(&p, blockIdx.x, threadIdx.x, &shared), &sum);
    if (threadIdx.x == 0)
        p.to_tile[blockIdx.x] = sum;
}

KERNEL bits_sum(PARAMS)
{
    const scan_picture *pic = &p.picture[blockIdx.x];
    scan_bits *tile = p.to_tile + pic->to_tile;
    if (all_leave(scan_is_not_coded(&p, blockIdx.x)))
        return;
    scan_bits all = sum_items<scan_bits>(
        pic->to_tiles, [=](uint32_t i) { return tile[i]; },
        [=](uint32_t i, scan_bits before) { tile[i] = before; });
    scan_bits_finish(&p, blockIdx.x, all, threadIdx.x);
}

KERNEL count_tile(PARAMS)
{
    __shared__ scan_coder shared;
    __shared__ uint32_t counts[SCAN_SYMBOLS];
    const uint64_t picture = p.to_tile_picture[blockIdx.x];
    if (all_leave(scan_is_not_coded(&p, (uint32_t)picture)))
        return;
    scan_load_coder(&p, blockIdx.x, threadIdx.x, false, &shared);
    for (unsigned i = threadIdx.x; i < SCAN_SYMBOLS; i += SCAN_THREADS)
        counts[i] = 0;
    __syncthreads();
    scan_count_block(&p, blockIdx.x, threadIdx.x, &shared, counts);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < SCAN_SYMBOLS; i += SCAN_THREADS)
        if (counts[i])
            scan_add(&p.histogram[picture * SCAN_SYMBOLS + i], counts[i]);
}

KERNEL emit_tile(PARAMS)
{
    __shared__ scan_coder shared;
    const uint32_t flags = p.status[p.to_tile_picture[blockIdx.x]].flags;
    scan_bits sum;
    if (flags & SCAN_OUT)
        return;
    scan_load_coder(&p, blockIdx.x, threadIdx.x, flags & SCAN_LACKS, &shared);
    scan_bits before =
        sum_threads(scan_measured(&p, blockIdx.x, threadIdx.x), &sum);
    scan_emit(&p, blockIdx.x, threadIdx.x,
              scan_bits_add(p.to_tile[blockIdx.x], before), &shared);
}

/* ---- Bytes with stuffing -------------------------------------------------*/

static __device__ void find_markers(const scan_params *p, stuff_chunk *shared)
{
    stuff_clear(threadIdx.x, shared);
    __syncthreads();
    stuff_find_markers(p, blockIdx.x, threadIdx.x, shared);
    __syncthreads();
}

KERNEL stuff_count_chunk(PARAMS)
{
    __shared__ stuff_chunk shared;
    uint32_t sum;
    find_markers(&p, &shared);
    stuff_bytes b = stuff_read(&p, blockIdx.x, threadIdx.x, &shared);
    sum_threads(stuff_count(&b), &sum);
    if (threadIdx.x == 0)
        p.to_chunk[blockIdx.x] = sum;
}

KERNEL stuff_sum(PARAMS)
{
    uint32_t *chunk = p.to_chunk + p.to[blockIdx.x].chunk;
    if (all_leave(scan_is_out(&p, blockIdx.x)))
        return;
    uint32_t all = sum_items<uint32_t>(
        p.to[blockIdx.x].chunks, [=](uint32_t i) { return chunk[i]; },
        [=](uint32_t i, uint32_t before) { chunk[i] = before; });
    stuff_end(&p, blockIdx.x, all, threadIdx.x);
}

KERNEL stuff_chunk_bytes(PARAMS)
{
    __shared__ stuff_chunk shared;
    uint32_t sum;
    find_markers(&p, &shared);
    stuff_bytes b = stuff_read(&p, blockIdx.x, threadIdx.x, &shared);
    uint32_t before = sum_threads(stuff_count(&b), &sum);
    stuff_place(&b, before, &shared);
    __syncthreads();
    stuff_store(&p, blockIdx.x, sum, &shared, threadIdx.x);
}

/* ---- Launchers -----------------------------------------------------------*/

static void (*const kernels[SCAN_KERNELS])(scan_params) = {
    unstuff_count_chunk, unstuff_sum, unstuff_chunk,     seek_tile,
    join_tiles,          counts_sum,  write_tile,        decode_samples,
    make_units,          find_cap,    make_blocks,       make_pixels,
    measure_tile,        bits_sum,    count_tile,        emit_tile,
    stuff_count_chunk,   stuff_sum,   stuff_chunk_bytes,
};

/* The tables for decoding may be more than the shared memory that a kernel has
 * unless it was allowed more, on each device: to ask again costs little. */
cudaError_t scan_kernels_launch(unsigned kernel, uint32_t blocks,
                                uint32_t codes, const void *params,
                                cudaStream_t stream)
{
    const bool decodes = kernel == SCAN_SEEK || kernel == SCAN_WRITE;
    const unsigned threads = decodes               ? SCAN_TILE
                             : kernel == SCAN_JOIN ? SCAN_JOIN_THREADS
                                                   : SCAN_THREADS;
    cudaError_t status = cudaSuccess;
    if (decodes)
        status = cudaFuncSetAttribute(
            kernels[kernel], cudaFuncAttributeMaxDynamicSharedMemorySize,
            SCAN_CODES * sizeof(uint16_t));
    if (status != cudaSuccess)
        return status;
    kernels[kernel]<<<blocks, threads, decodes ? codes * sizeof(uint16_t) : 0,
                      stream>>>(*(const struct scan_params *)params);
    return cudaGetLastError();
}
