/* Unsigned integers in files, in either byte order: "be" is big-endian (the
 * most significant byte comes first), "le" is little-endian. `p` points to as
 * many bytes as the integer has, and need not be aligned. */
#ifndef CODECS_BASE_BYTE_ORDER_H
#define CODECS_BASE_BYTE_ORDER_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline unsigned read_be16(const uint8_t *p)
{
    uint16_t value;
    memcpy(&value, p, sizeof value);
    return be16toh(value);
}

static inline uint32_t read_be32(const uint8_t *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return be32toh(value);
}

static inline uint64_t read_be64(const uint8_t *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof value);
    return be64toh(value);
}

static inline unsigned read_le16(const uint8_t *p)
{
    uint16_t value;
    memcpy(&value, p, sizeof value);
    return le16toh(value);
}

static inline uint32_t read_le32(const uint8_t *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return le32toh(value);
}

static inline uint64_t read_le64(const uint8_t *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof value);
    return le64toh(value);
}

/* Each writes the low bits of `value`. */

static inline void write_be16(uint8_t *p, unsigned value)
{
    uint16_t bytes = htobe16((uint16_t)value);
    memcpy(p, &bytes, sizeof bytes);
}

static inline void write_be32(uint8_t *p, uint32_t value)
{
    uint32_t bytes = htobe32(value);
    memcpy(p, &bytes, sizeof bytes);
}

static inline void write_be64(uint8_t *p, uint64_t value)
{
    uint64_t bytes = htobe64(value);
    memcpy(p, &bytes, sizeof bytes);
}

static inline void write_le16(uint8_t *p, unsigned value)
{
    uint16_t bytes = htole16((uint16_t)value);
    memcpy(p, &bytes, sizeof bytes);
}

static inline void write_le32(uint8_t *p, uint32_t value)
{
    uint32_t bytes = htole32(value);
    memcpy(p, &bytes, sizeof bytes);
}

static inline void write_le64(uint8_t *p, uint64_t value)
{
    uint64_t bytes = htole64(value);
    memcpy(p, &bytes, sizeof bytes);
}

/* Reads an integer of at most 4 bytes from a file that says itself which byte
 * order it has, as TIFF does. */
static inline uint32_t read_uint(const uint8_t *p, unsigned bytes,
                                 bool big_endian)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | p[big_endian ? i : bytes - 1 - i];
    return value;
}

/* Writes the low bits of `value` as such an integer. */
static inline void write_uint(uint8_t *p, unsigned bytes, bool big_endian,
                              uint32_t value)
{
    for (unsigned i = 0; i < bytes; i++, value >>= 8)
        p[big_endian ? bytes - 1 - i : i] = value & 0xff;
}

#endif
