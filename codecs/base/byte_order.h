/* Unsigned integers in files, in either byte order: "be" is big-endian (the
 * most significant byte comes first), "le" is little-endian. `p` points to as
 * many bytes as the integer has, and need not be aligned. */
#ifndef CODECS_BASE_BYTE_ORDER_H
#define CODECS_BASE_BYTE_ORDER_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* read_be16() to read_le64(), and write_be16() to write_le64(), which write the
 * low bits of `value`. */
#define BYTE_ORDER_READ_WRITE(order, bits, type)                               \
    static inline type read_##order##bits(const uint8_t *p)                    \
    {                                                                          \
        uint##bits##_t value;                                                  \
        memcpy(&value, p, sizeof value);                                       \
        return order##bits##toh(value);                                        \
    }                                                                          \
    static inline void write_##order##bits(uint8_t *p, type value)             \
    {                                                                          \
        uint##bits##_t bytes = hto##order##bits((uint##bits##_t)value);        \
        memcpy(p, &bytes, sizeof bytes);                                       \
    }
BYTE_ORDER_READ_WRITE(be, 16, unsigned)
BYTE_ORDER_READ_WRITE(be, 32, uint32_t)
BYTE_ORDER_READ_WRITE(be, 64, uint64_t)
BYTE_ORDER_READ_WRITE(le, 16, unsigned)
BYTE_ORDER_READ_WRITE(le, 32, uint32_t)
BYTE_ORDER_READ_WRITE(le, 64, uint64_t)

/* Reads an integer of at most 8 bytes from a file that says itself which byte
 * order it has, as TIFF does. */
static inline uint64_t read_uint(const uint8_t *p, unsigned bytes,
                                 bool big_endian)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | p[big_endian ? i : bytes - 1 - i];
    return value;
}

/* Writes the low bits of `value` as such an integer. */
static inline void write_uint(uint8_t *p, unsigned bytes, bool big_endian,
                              uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++, value >>= 8)
        p[big_endian ? bytes - 1 - i : i] = value & 0xff;
}

#endif
