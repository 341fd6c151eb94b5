/* Packets of a run-length coded TGA. */
#include "codecs/simple/tga.h"

#include <string.h>

enum { RUN = 128, MOST = 128 };

/* ---- Reading ------------------------------------------------------------- */

size_t tga_rle_end(struct bytes file, size_t at, uint64_t n, size_t pixel)
{
    while (n > 0 && at < file.size) {
        size_t count = 1 + (file.data[at] & (RUN - 1));
        at += 1 + (file.data[at] & RUN ? 1 : count) * pixel;
        n = n > count ? n - count : 0;
    }
    return n > 0 ? SIZE_MAX : at;
}

static void read(struct tga_rle_reader *r, uint8_t *to, size_t size)
{
    size_t left = (size_t)(r->end - r->at);
    size_t there = left < size ? left : size;
    memcpy(to, r->at, there);
    memset(to + there, 0, size - there);
    r->at += there;
}

static void open_packet(struct tga_rle_reader *r)
{
    uint8_t lead = 0;
    read(r, &lead, 1);
    r->left = 1 + (lead & (RUN - 1));
    r->run = lead & RUN;
    if (r->run)
        read(r, r->repeated, r->pixel);
}

/* Doubles what is written until it is enough. */
static void repeat(uint8_t *to, const uint8_t *pixel, size_t size, size_t all)
{
    memcpy(to, pixel, size);
    for (size_t done = size; done < all; done *= 2)
        memcpy(to + done, to, done < all - done ? done : all - done);
}

void tga_rle_unpack(struct tga_rle_reader *r, uint8_t *to, uint32_t n)
{
    while (n > 0) {
        if (r->left == 0)
            open_packet(r);
        uint32_t count = r->left < n ? r->left : n;
        if (r->run)
            repeat(to, r->repeated, r->pixel, count * r->pixel);
        else
            read(r, to, count * r->pixel);
        to += count * r->pixel;
        r->left -= count;
        n -= count;
    }
}

/* ---- Writing ------------------------------------------------------------- */

/* Counts the equal pixels from `x` on, up to what a packet holds. */
static inline uint32_t run_at(const uint8_t *row, uint32_t x, uint32_t n,
                              size_t pixel)
{
    const uint8_t *first = row + x * pixel;
    uint32_t most = n - x < MOST ? n - x : MOST, count = 1;
    while (count < most && memcmp(first, first + count * pixel, pixel) == 0)
        count++;
    return count;
}

/* Compiled for each size of a pixel, so that comparing one takes a load or two.
 */
static inline __attribute__((always_inline)) size_t
pack(uint8_t *to, const uint8_t *row, uint32_t n, size_t pixel)
{
    /* The shortest run that saves bytes: one of 2 single bytes saves nothing
     * and may cost another packet. */
    const uint32_t worthwhile = pixel == 1 ? 3 : 2;
    uint8_t *begin = to;
    uint32_t x = 0, literal = 0; /* pixels before x that are not written yet */
    while (x < n || literal) {
        uint32_t run = x < n ? run_at(row, x, n, pixel) : 0;
        bool worth = run >= worthwhile;
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
    return pixel == 1   ? pack(to, row, n, 1)
           : pixel == 2 ? pack(to, row, n, 2)
           : pixel == 3 ? pack(to, row, n, 3)
                        : pack(to, row, n, 4);
}

size_t tga_rle_most(uint32_t n, size_t pixel)
{
    return n * pixel + (n + MOST - 1) / MOST;
}
