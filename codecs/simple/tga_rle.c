/* The packets of a run-length coded TGA. */
#include "codecs/simple/tga.h"

#include <string.h>

enum { RUN = 128, MOST = 128 };

/* ---- Reading ------------------------------------------------------------- */

size_t tga_rle_packets_end(struct bytes file, size_t at, uint64_t n,
                           size_t pixel)
{
    while (n > 0 && at < file.size) {
        size_t count = 1 + (file.data[at] & (RUN - 1));
        at += 1 + (file.data[at] & RUN ? 1 : count) * pixel;
        n = n > count ? n - count : 0;
    }
    return n > 0 ? SIZE_MAX : at;
}

static void take(struct tga_packets *p, uint8_t *to, size_t size)
{
    size_t left = (size_t)(p->end - p->at);
    size_t there = left < size ? left : size;
    memcpy(to, p->at, there);
    memset(to + there, 0, size - there);
    p->at += there;
}

static void open_packet(struct tga_packets *p)
{
    uint8_t lead = 0;
    take(p, &lead, 1);
    p->left = 1 + (lead & (RUN - 1));
    p->run = lead & RUN;
    if (p->run)
        take(p, p->repeated, p->pixel);
}

/* Doubles what is there until it is enough. */
static void repeat(uint8_t *to, const uint8_t *pixel, size_t size, size_t all)
{
    memcpy(to, pixel, size);
    for (size_t done = size; done < all; done *= 2)
        memcpy(to + done, to, done < all - done ? done : all - done);
}

void tga_rle_unpack(struct tga_packets *p, uint8_t *to, uint32_t n)
{
    while (n > 0) {
        if (p->left == 0)
            open_packet(p);
        uint32_t count = p->left < n ? p->left : n;
        if (p->run)
            repeat(to, p->repeated, p->pixel, count * p->pixel);
        else
            take(p, to, count * p->pixel);
        to += count * p->pixel;
        p->left -= count;
        n -= count;
    }
}

/* ---- Writing ------------------------------------------------------------- */

/* A run of 2 single bytes saves nothing, and may cost another packet. */
static uint32_t worthwhile(size_t pixel)
{
    return pixel == 1 ? 3 : 2;
}

/* How many pixels from `x` on are the same, up to what a packet takes. */
static inline uint32_t run_at(const uint8_t *row, uint32_t x, uint32_t n,
                              size_t pixel)
{
    const uint8_t *first = row + x * pixel;
    uint32_t most = n - x < MOST ? n - x : MOST, count = 1;
    while (count < most && memcmp(first, first + count * pixel, pixel) == 0)
        count++;
    return count;
}

/* Compiled for each size of a pixel, so that comparing one is a load or two. */
static inline __attribute__((always_inline)) size_t
pack(uint8_t *to, const uint8_t *row, uint32_t n, size_t pixel)
{
    uint8_t *begin = to;
    uint32_t x = 0, literal = 0; /* pixels before x that are not put yet */
    while (x < n || literal) {
        uint32_t run = x < n ? run_at(row, x, n, pixel) : 0;
        bool worth = run >= worthwhile(pixel);
        if (literal && (worth || run == 0 || literal == MOST)) {
            *to++ = (uint8_t)(literal - 1);
            memcpy(to, row + (x - literal) * pixel, literal * pixel);
            to += literal * pixel;
            literal = 0;
        }
        if (worth) {
            *to++ = (uint8_t)(RUN | (run - 1));
            memcpy(to, row + x * pixel, pixel);
            to += pixel;
            x += run;
        } else if (run) {
            literal++;
            x++;
        }
    }
    return (size_t)(to - begin);
}

size_t tga_rle_pack(uint8_t *to, const uint8_t *row, uint32_t n, size_t pixel)
{
    switch (pixel) {
    case 1:
        return pack(to, row, n, 1);
    case 2:
        return pack(to, row, n, 2);
    case 3:
        return pack(to, row, n, 3);
    default:
        return pack(to, row, n, 4);
    }
}

size_t tga_rle_packed_most(uint32_t n, size_t pixel)
{
    return n * pixel + (n + MOST - 1) / MOST;
}
