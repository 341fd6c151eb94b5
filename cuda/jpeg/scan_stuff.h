/* The bits of turned scans as bytes with stuffing (T.81, F.1.2.3): 0 is put
 * behind each 0xff that does not begin a marker. */
#ifndef CUDA_JPEG_SCAN_STUFF_H
#define CUDA_JPEG_SCAN_STUFF_H

#include "cuda/jpeg/scan_picture.h"
#include "cuda/jpeg/scan_unstuff.h"

/* What the threads of a chunk share. */
struct stuff_chunk {
    uint32_t marker[SCAN_CHUNK / 32]; /* which bytes begin one, as bits */
    uint8_t byte[2 * SCAN_CHUNK];
};

/* Returns the first restart marker at byte `at`, or behind it. */
SCAN_INLINE uint32_t stuff_find_marker(const uint32_t *marker, uint32_t markers,
                                       uint32_t at)
{
    uint32_t low = 0, high = markers;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (marker[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

SCAN_INLINE void stuff_clear(unsigned thread, struct stuff_chunk *shared)
{
    if (thread < SCAN_CHUNK / 32)
        shared->marker[thread] = 0;
}

/* Notes which bytes begin markers. */
SCAN_INLINE void stuff_find_markers(const struct scan_params *p, uint32_t chunk,
                                    unsigned thread, struct stuff_chunk *shared)
{
    const uint32_t picture = p->to_chunk_picture[chunk];
    const struct scan_picture *pic = &p->picture[picture];
    const uint32_t markers = (pic->to_mcus - 1) / pic->restart;
    const uint32_t first = (chunk - p->to[picture].chunk) * SCAN_CHUNK;
    const uint32_t *marker = p->marker + pic->marker;
    for (uint32_t i = stuff_find_marker(marker, markers, first) + thread;
         i < markers && marker[i] < first + SCAN_CHUNK; i += SCAN_THREADS)
        scan_or(&shared->marker[(marker[i] - first) / 32],
                UINT32_C(1) << (marker[i] - first) % 32);
}

/* Bytes of a thread: all that are there, and those behind which 0 comes. */
struct stuff_bytes {
    struct scan_vector v;
    uint32_t there, stuffed; /* as bits */
};

SCAN_INLINE struct stuff_bytes stuff_read(const struct scan_params *p,
                                          uint32_t chunk, unsigned thread,
                                          const struct stuff_chunk *shared)
{
    const struct scan_output *to = &p->to[p->to_chunk_picture[chunk]];
    const uint32_t at = (chunk - to->chunk) * SCAN_CHUNK + thread * SCAN_VECTOR;
    struct stuff_bytes b = { { { 0, 0, 0, 0 } }, 0, 0 };
    if (at >= to->size)
        return b;
    b.v = *(const struct scan_vector *)(p->joined + to->word + at / 4);
    b.there =
        to->size - at >= SCAN_VECTOR ? 0xffff : (1u << (to->size - at)) - 1;
    for (unsigned i = 0; i < SCAN_VECTOR; i++)
        b.stuffed |= (uint32_t)(scan_byte(&b.v, i) == 0xff) << i;
    b.stuffed &= b.there & ~(shared->marker[thread / 2] >> thread % 2 * 16);
    return b;
}

SCAN_INLINE uint32_t stuff_count(const struct stuff_bytes *b)
{
    return scan_count(b->there) + scan_count(b->stuffed);
}

/* Puts the bytes into what the threads share, `before` bytes behind the
 * first. */
SCAN_INLINE void stuff_place(const struct stuff_bytes *b, uint32_t before,
                             struct stuff_chunk *shared)
{
    uint8_t *to = shared->byte + before;
    for (unsigned i = 0; i < SCAN_VECTOR; i++) {
        if (b->there >> i & 1)
            *to++ = (uint8_t)scan_byte(&b->v, i);
        if (b->stuffed >> i & 1)
            *to++ = 0;
    }
}

SCAN_INLINE void stuff_store(const struct scan_params *p, uint32_t chunk,
                             uint32_t size, const struct stuff_chunk *shared,
                             unsigned thread)
{
    const uint32_t picture = p->to_chunk_picture[chunk];
    scan_copy_bytes(p->output + p->status[picture].out, p->to_chunk[chunk],
                    size, shared->byte, thread);
}

/* Known is how many bytes all chunks have: room is taken for them. */
SCAN_INLINE void stuff_end(const struct scan_params *p, uint32_t picture,
                           uint32_t all, unsigned thread)
{
    if (thread)
        return;
    uint64_t room = ((uint64_t)all + 15) / 16 * 16;
    p->status[picture].out_size = all;
    p->status[picture].out = scan_add64(p->cursor, room);
}

#endif
