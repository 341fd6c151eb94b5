/* What the threads of a block do, written once for a GPU and for the host.
 *
 * A function of a block is called by all of its threads together. A PHASE is
 * what they do side by side, between two barriers: on the host it is a loop
 * over them. What a thread knows of others, or keeps for them, is in memory
 * that the block shares; what it keeps for itself from one phase to another, in
 * an array of PHASE_OWN items, of which PHASE_ITEM is its own. What is read
 * between phases, by all threads, is written only in phases: so all take the
 * same way. */
#ifndef CUDA_GPU_PHASES_H
#define CUDA_GPU_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define PHASE_FN static __host__ __device__ __forceinline__
#else
#define PHASE_FN static inline
#endif

#ifdef __CUDA_ARCH__
static __device__ inline bool phase_border(unsigned threads, bool begins)
{
    if (threads <= 32) /* they are a warp */
        __syncwarp();
    else
        __syncthreads();
    return begins;
}
#define PHASE(t, threads)                                                      \
    for (unsigned t = threadIdx.x, t##_on = phase_border(threads, true);       \
         t##_on; t##_on = phase_border(threads, false))
#define PHASE_OWN(threads) 1
#define PHASE_ITEM(t)      ((t)*0)
#define PHASE_UNROLL       _Pragma("unroll")
/* Whether it is so for the first thread: others may ask when it has changed. */
#define PHASE_ALL(so)    __syncthreads_or(threadIdx.x == 0 && (so))
#define PHASE_MAX(to, n) (void)atomicMax(to, n)
#define PHASE_MIN(to, n) (void)atomicMin(to, n)
/* Each thread of a warp, all of which come here, has bit t of the word set. */
#define PHASE_VOTE(to, bit, t)                                                 \
    do {                                                                       \
        const uint32_t votes = __ballot_sync(UINT32_MAX, bit);                 \
        if ((t) == 0)                                                          \
            *(to) = votes;                                                     \
    } while (0)
#else
#define PHASE(t, threads)  for (unsigned t = 0; t < (threads); t++)
#define PHASE_OWN(threads) (threads)
#define PHASE_ITEM(t)      (t)
#define PHASE_UNROLL
#define PHASE_ALL(so)    (so)
#define PHASE_MAX(to, n) (void)(*(to) = *(to) > (n) ? *(to) : (n))
#define PHASE_MIN(to, n) (void)(*(to) = *(to) < (n) ? *(to) : (n))
#define PHASE_VOTE(to, bit, t)                                                 \
    (void)(*(to) = (*(to) & ~(1u << (t))) | (uint32_t)(bit) << (t))
#endif

/* What a block shares that shares nothing. */
struct phase_nothing {
    uint8_t nothing;
};

/* Returns which of so many items block n works on: the last one before which
 * there are at most n blocks. `before` is that number in the first item, of so
 * many bytes each. */
PHASE_FN uint32_t phase_find(const uint32_t *before, size_t each,
                             uint32_t items, uint32_t n)
{
    uint32_t low = 0, high = items;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (*(const uint32_t *)((const uint8_t *)before + middle * each) <= n)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- Sums ---------------------------------------------------------------- */

/* PHASE_SUM(type, add, own, sum) replaces the items of PHASE_SUMMED threads by
 * the sums of all before each, and sets *sum to that of all, on every thread.
 * An item of zeros adds nothing. */
enum { PHASE_SUMMED = 256 };

#ifdef __CUDA_ARCH__
template <class T> static __device__ T phase_shuffle_up(T item, unsigned lanes)
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

template <class T, T add(T, T)> static __device__ void phase_sum(T *own, T *sum)
{
    enum { WARP = 32, WARPS = PHASE_SUMMED / WARP };
    __shared__ T of_warp[WARPS];
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    T item = *own;
    for (unsigned d = 1; d < WARP; d *= 2) {
        T other = phase_shuffle_up(item, d);
        if (lane >= d)
            item = add(other, item);
    }
    T before = phase_shuffle_up(item, 1);
    if (lane == 0)
        before = T{};
    if (lane == WARP - 1)
        of_warp[warp] = item;
    __syncthreads();
    T all = T{};
    for (unsigned i = 0; i < WARPS; i++) {
        if (i == warp)
            before = add(all, before);
        all = add(all, of_warp[i]);
    }
    __syncthreads();
    *own = before;
    *sum = all;
}
#define PHASE_SUM(type, add, own, sum) phase_sum<type, add>(own, sum)
#else
#define PHASE_SUM(type, add, own, sum)                                         \
    do {                                                                       \
        type summed, summand;                                                  \
        memset(&summed, 0, sizeof summed);                                     \
        PHASE(i, PHASE_SUMMED)                                                 \
        {                                                                      \
            summand = (own)[i];                                                \
            (own)[i] = summed;                                                 \
            summed = add(summed, summand);                                     \
        }                                                                      \
        *(sum) = summed;                                                       \
    } while (0)
#endif

PHASE_FN uint32_t phase_plus(uint32_t a, uint32_t b)
{
    return a + b;
}

PHASE_FN uint64_t phase_plus64(uint64_t a, uint64_t b)
{
    return a + b;
}

/* ---- Words, by the instructions that the GPU has for them ---------------- */

/* Other threads do the same to this word at the same time. */
PHASE_FN void word_or(uint32_t *word, uint32_t bits)
{
#ifdef __CUDA_ARCH__
    atomicOr(word, bits);
#else
    *word |= bits;
#endif
}

/* Returns what it was before. */
PHASE_FN uint32_t word_add(uint32_t *word, uint32_t n)
{
#ifdef __CUDA_ARCH__
    return atomicAdd(word, n);
#else
    return (*word += n) - n;
#endif
}

PHASE_FN uint64_t word_add64(uint64_t *word, uint64_t n)
{
#ifdef __CUDA_ARCH__
    return atomicAdd(reinterpret_cast<unsigned long long *>(word), n);
#else
    return (*word += n) - n;
#endif
}

PHASE_FN uint32_t word_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Returns how many bits are set. */
PHASE_FN uint32_t word_count(uint64_t word)
{
#ifdef __CUDA_ARCH__
    return (uint32_t)__popcll((long long)word);
#else
    return (uint32_t)__builtin_popcountll(word);
#endif
}

/* Returns the place of the lowest bit, and of the highest, of a word that is
 * not 0. */
PHASE_FN uint32_t word_lowest(uint64_t word)
{
#ifdef __CUDA_ARCH__
    return (uint32_t)__ffsll((long long)word) - 1;
#else
    return (uint32_t)__builtin_ctzll(word);
#endif
}

PHASE_FN uint32_t word_highest(uint32_t word)
{
#ifdef __CUDA_ARCH__
    return 31 - (uint32_t)__clz((int)word);
#else
    return 31 - (uint32_t)__builtin_clz(word);
#endif
}

/* Returns the bits in the opposite order. */
PHASE_FN uint64_t word_mirror(uint64_t word)
{
#ifdef __CUDA_ARCH__
    return __brevll(word);
#else
    word = (word >> 1 & 0x5555555555555555) | (word & 0x5555555555555555) << 1;
    word = (word >> 2 & 0x3333333333333333) | (word & 0x3333333333333333) << 2;
    word = (word >> 4 & 0x0f0f0f0f0f0f0f0f) | (word & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(word);
#endif
}

#endif
