/* Numbers in bytes, the high one first, wherever they stand. */
#ifndef CODECS_BASE_BIG_ENDIAN_H
#define CODECS_BASE_BIG_ENDIAN_H

#include <stdint.h>

static inline unsigned big16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static inline uint32_t big32(const uint8_t *p)
{
    return (uint32_t)big16(p) << 16 | big16(p + 2);
}

static inline void put_big32(uint8_t *p, uint32_t value)
{
    for (int i = 3; i >= 0; i--, value >>= 8)
        p[i] = value & 255;
}

#endif
