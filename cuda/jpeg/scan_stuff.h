/* Bytes of a scan without stuffing (T.81, B.1.1.5 and F.1.2.3), and the bits of
 * turned scans as bytes with it: 0 is put behind each 0xff that does not begin
 * a marker.
 *
 * Each byte can be judged by its neighbours. One behind 0xff is no data: it is
 * 0, or a marker, or fills the room before a marker. 0xff is data only before
 * 0. Behind the last byte there is a marker. */
#ifndef CUDA_JPEG_SCAN_STUFF_H
#define CUDA_JPEG_SCAN_STUFF_H

#include "cuda/jpeg/scan_picture.h"

/* ---- Without stuffing ---------------------------------------------------- */

/* What the threads of a chunk share: its bytes without stuffing. */
struct unstuff_shared {
    uint8_t byte[SCAN_CHUNK];
};

/* What the bytes of a thread are, as bits. */
struct unstuff_bytes {
    struct scan_vector v;
    uint32_t data, markers;
    bool bad;
};

/* Judges the bytes from `at` on. */
SCAN_INLINE struct unstuff_bytes unstuff_judge(const uint8_t *raw, uint32_t at,
                                               uint32_t size)
{
    struct unstuff_bytes b = { { { 0, 0, 0, 0 } }, 0, 0, false };
    uint32_t ff = 0, zero = 0, restart = 0, there = 0;
    if (at >= size)
        return b;
    b.v = *(const struct scan_vector *)(raw + at);
    for (unsigned i = 0; i < SCAN_VECTOR; i++) {
        unsigned byte = scan_byte(&b.v, i);
        ff |= (uint32_t)(byte == 0xff) << i;
        zero |= (uint32_t)(byte == 0) << i;
        restart |= (uint32_t)((byte & 0xf8) == 0xd0) << i;
    }
    there = size - at >= SCAN_VECTOR ? 0xffff : (1u << (size - at)) - 1;
    /* Bit i of these: the byte before byte i, two before, and behind it. */
    uint32_t one = at && raw[at - 1] == 0xff;
    uint32_t two = at && raw[at - 2] == 0xff;
    uint32_t next = at + SCAN_VECTOR < size && raw[at + SCAN_VECTOR] == 0;
    uint32_t before = ff << 1 | one, twice = ff << 2 | one << 1 | two;
    uint32_t behind = (zero & there) >> 1 | next << (SCAN_VECTOR - 1);
    b.data = there & ~before & (~ff | behind);
    b.markers = there & before & restart;
    b.bad = (there & before & ~ff & ~restart & ~(zero & ~twice)) != 0;
    return b;
}

SCAN_INLINE struct scan_bytes unstuff_count(const struct unstuff_bytes *b)
{
    struct scan_bytes sum = { word_count(b->data), word_count(b->markers) };
    return sum;
}

SCAN_INLINE struct scan_bytes unstuff_add(struct scan_bytes a,
                                          struct scan_bytes b)
{
    struct scan_bytes sum = { a.bytes + b.bytes, a.markers + b.markers };
    return sum;
}

/* What a thread of a chunk does first. */
SCAN_INLINE struct unstuff_bytes unstuff_read(const struct scan_params *p,
                                              const struct scan_picture *pic,
                                              uint32_t chunk, unsigned thread)
{
    uint32_t at = (chunk - pic->chunk) * SCAN_CHUNK + thread * SCAN_VECTOR;
    return unstuff_judge(p->input + pic->input, at, pic->raw_size);
}

/* What stands before a chunk is known: notes where intervals begin, and puts
 * the bytes into the memory that the chunk's threads share, where they are
 * `before` the thread's own. */
SCAN_INLINE void unstuff_place(const struct scan_params *p, uint32_t picture,
                               uint32_t chunk, const struct unstuff_bytes *b,
                               struct scan_bytes before, uint8_t *shared)
{
    const struct scan_picture *pic = &p->picture[picture];
    struct scan_bytes first = p->chunk[chunk];
    uint32_t to = before.bytes, n = first.markers + before.markers;
    for (unsigned i = 0; i < SCAN_VECTOR; i++) {
        unsigned byte = scan_byte(&b->v, i);
        if (b->data >> i & 1)
            shared[to++] = (uint8_t)byte;
        if (b->markers >> i & 1) {
            if (n + 1 >= pic->intervals || (byte & 7) != (n & 7))
                scan_refuse(p, picture);
            else
                p->start[pic->start + n + 1] = first.bytes + to;
            n++;
        }
    }
    if (b->bad)
        scan_refuse(p, picture);
}

/* Copies those bytes to their place: whole words but at both ends. `to` is a
 * multiple of 4, `from` the place of the first byte behind it. */
SCAN_INLINE void scan_copy_bytes(uint8_t *to, uint32_t from, uint32_t size,
                                 const uint8_t *shared, unsigned thread)
{
    uint32_t skip = from % 4, end = skip + size;
    to += from - skip;
    for (uint32_t at = thread * 4; at < end; at += SCAN_THREADS * 4) {
        if (at >= skip && at + 4 <= end) {
            const uint8_t *s = shared + (at - skip);
            *(uint32_t *)(to + at) =
                scan_le32(s[0] | (uint32_t)s[1] << 8 | (uint32_t)s[2] << 16 |
                          (uint32_t)s[3] << 24);
            continue;
        }
        for (uint32_t i = at; i < at + 4; i++)
            if (i >= skip && i < end)
                to[i] = shared[i - skip];
    }
}

/* ---- With stuffing ------------------------------------------------------- */

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

/* Notes which bytes begin markers. */
SCAN_INLINE void stuff_find_markers(const struct scan_params *p,
                                    uint32_t picture, uint32_t chunk,
                                    unsigned thread, struct stuff_chunk *shared)
{
    const struct scan_picture *pic = &p->picture[picture];
    const uint32_t markers = (pic->to_mcus - 1) / pic->restart;
    const uint32_t first = (chunk - p->to[picture].chunk) * SCAN_CHUNK;
    const uint32_t *marker = p->marker + pic->marker;
    for (uint32_t i = stuff_find_marker(marker, markers, first) + thread;
         i < markers && marker[i] < first + SCAN_CHUNK; i += SCAN_THREADS)
        word_or(&shared->marker[(marker[i] - first) / 32],
                UINT32_C(1) << (marker[i] - first) % 32);
}

/* Bytes of a thread: all that are there, and those behind which 0 comes. */
struct stuff_bytes {
    struct scan_vector v;
    uint32_t there, stuffed; /* as bits */
};

SCAN_INLINE struct stuff_bytes stuff_read(const struct scan_params *p,
                                          const struct scan_output *to,
                                          uint32_t chunk, unsigned thread,
                                          const struct stuff_chunk *shared)
{
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
    return word_count(b->there) + word_count(b->stuffed);
}

#endif
