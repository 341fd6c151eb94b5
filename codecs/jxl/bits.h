/* The bits of a JPEG XL codestream, the low ones of a byte first, and numbers
 * of them (ISO/IEC 18181-1, annex B). */
#ifndef CODECS_JXL_BITS_H
#define CODECS_JXL_BITS_H

#include "codecs/base/bytes.h"

struct jxl_bits {
    struct bytes from;
    size_t at;  /* the bit that comes next */
    bool ended; /* there were no more */
};

/* Passes so many bits. Returns whether they are there. */
static inline bool skip_bits(struct jxl_bits *bits, size_t count)
{
    bits->ended = bits->ended || count > 8 * bits->from.size - bits->at;
    bits->at += bits->ended ? 0 : count;
    return !bits->ended;
}

static inline bool bit_at(struct bytes bytes, size_t at)
{
    return bytes.data[at / 8] >> at % 8 & 1;
}

/* Reads up to 32 bits; 0 if there are not so many. */
static inline uint32_t read_bits(struct jxl_bits *bits, unsigned count)
{
    uint32_t value = 0;
    if (skip_bits(bits, count))
        for (unsigned i = 0; i < count; i++)
            value |= (uint32_t)bit_at(bits->from, bits->at - count + i) << i;
    return value;
}

/* Two bits choose how a number is coded: in so many bits, 0 for none, to which
 * another number is added. */
struct number_code {
    uint8_t bits;
    uint32_t base;
};

#define NUMBER(bits, ...)                                                      \
    read_number(bits, (const struct number_code[]){ __VA_ARGS__ })

static inline uint32_t read_number(struct jxl_bits *bits,
                                   const struct number_code code[4])
{
    const struct number_code *chosen = &code[read_bits(bits, 2)];
    return read_bits(bits, chosen->bits) + chosen->base;
}

/* A number of up to 64 bits. */
static inline uint64_t read_long(struct jxl_bits *bits)
{
    const uint32_t chosen = read_bits(bits, 2);
    if (chosen < 3)
        return chosen == 0   ? 0
               : chosen == 1 ? 1 + read_bits(bits, 4)
                             : 17 + read_bits(bits, 8);
    uint64_t value = read_bits(bits, 12);
    for (unsigned shift = 12; read_bits(bits, 1); shift += 8) {
        if (shift == 60)
            return value | (uint64_t)read_bits(bits, 4) << shift;
        value |= (uint64_t)read_bits(bits, 8) << shift;
    }
    return value;
}

static inline void skip_name(struct jxl_bits *bits)
{
    skip_bits(bits, (size_t)8 * NUMBER(bits, { 0, 0 }, { 4, 0 }, { 5, 16 },
                                       { 10, 48 }));
}

/* Fields that are not known yet may follow others. */
static inline void skip_extensions(struct jxl_bits *bits)
{
    uint64_t all = 0, more;
    for (uint64_t known = read_long(bits); known; known &= known - 1)
        if (__builtin_add_overflow(all, read_long(bits), &more))
            bits->ended = true;
        else
            all = more;
    skip_bits(bits, all);
}

#endif
