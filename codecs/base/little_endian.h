/* Numbers with the low byte first. */
#ifndef CODECS_BASE_LITTLE_ENDIAN_H
#define CODECS_BASE_LITTLE_ENDIAN_H

#include <stdint.h>

static inline unsigned little16(const uint8_t *p)
{
    return p[0] | (unsigned)p[1] << 8;
}

static inline uint32_t little32(const uint8_t *p)
{
    return little16(p) | (uint32_t)little16(p + 2) << 16;
}

static inline uint64_t little64(const uint8_t *p)
{
    return little32(p) | (uint64_t)little32(p + 4) << 32;
}

static inline void put_little16(uint8_t *p, unsigned n)
{
    p[0] = n & 255;
    p[1] = n >> 8 & 255;
}

static inline void put_little32(uint8_t *p, uint32_t n)
{
    put_little16(p, n & 65535);
    put_little16(p + 2, n >> 16);
}

static inline void put_little64(uint8_t *p, uint64_t n)
{
    put_little32(p, n & UINT32_MAX);
    put_little32(p + 4, (uint32_t)(n >> 32));
}

#endif
