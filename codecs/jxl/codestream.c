/* The image header that a JPEG XL codestream begins with (ISO/IEC 18181-1,
 * annexes B to E). */
#include "codecs/jxl/jxl.h"

/* ---- Bits, the low ones of a byte first -----------------------------------*/

struct jxl_bits {
    struct bytes from;
    size_t at;  /* the bit that comes next */
    bool ended; /* there were no more */
};

static bool bit_at(struct bytes bytes, size_t at)
{
    return bytes.data[at / 8] >> at % 8 & 1;
}

/* Passes so many bits, if they are there. */
static void skip_bits(struct jxl_bits *bits, uint64_t count)
{
    bits->ended = bits->ended || count > 8 * bits->from.size - bits->at;
    bits->at += bits->ended ? 0 : (size_t)count;
}

/* Reads up to 32 bits; 0 if there are not so many. */
static uint32_t read_bits(struct jxl_bits *bits, unsigned count)
{
    const size_t at = bits->at;
    uint32_t value = 0;
    skip_bits(bits, count);
    for (unsigned i = 0; i < count && !bits->ended; i++)
        value |= (uint32_t)bit_at(bits->from, at + i) << i;
    return value;
}

/* Two bits choose how a number is coded: in so many bits, 0 for none, to which
 * another number is added. */
#define NUMBER(bits, ...)                                                      \
    read_number(bits, (const uint32_t[4][2]){ __VA_ARGS__ })

static uint32_t read_number(struct jxl_bits *bits, const uint32_t code[4][2])
{
    const uint32_t *chosen = code[read_bits(bits, 2)];
    return read_bits(bits, chosen[0]) + chosen[1];
}

/* One of the values that a field may have; libjxl knows which ones these are.
 */
#define ENUM(bits) NUMBER(bits, { 0, 0 }, { 0, 1 }, { 4, 2 }, { 6, 18 })

/* A number of up to 64 bits, of which those above 36 are not read. */
static uint64_t read_long(struct jxl_bits *bits)
{
    enum { IS_LONG = 1000 };
    uint64_t value =
        NUMBER(bits, { 0, 0 }, { 4, 1 }, { 8, 17 }, { 0, IS_LONG });
    if (value < IS_LONG)
        return value;
    value = read_bits(bits, 12);
    for (unsigned shift = 12; shift < 36 && read_bits(bits, 1); shift += 8)
        value |= (uint64_t)read_bits(bits, 8) << shift;
    return value;
}

/* ---- The fields, in their order -------------------------------------------*/

static uint32_t read_side(struct jxl_bits *bits, bool small)
{
    return small ? 8 * (read_bits(bits, 5) + 1)
                 : NUMBER(bits, { 9, 1 }, { 13, 1 }, { 18, 1 }, { 30, 1 });
}

static void read_size(struct jxl_bits *bits, struct jxl_size *size)
{
    static const uint8_t ratios[8][2] = { { 0, 1 }, { 1, 1 }, { 12, 10 },
                                          { 4, 3 }, { 3, 2 }, { 16, 9 },
                                          { 5, 4 }, { 2, 1 } };
    const bool small = read_bits(bits, 1);
    size->height = read_side(bits, small);
    const uint8_t *ratio = ratios[read_bits(bits, 3)];
    size->width = *ratio
                      ? (uint32_t)((uint64_t)size->height * ratio[0] / ratio[1])
                      : read_side(bits, small);
}

static void skip_depth(struct jxl_bits *bits)
{
    if (read_bits(bits, 1)) { /* floats, with so many bits of exponent */
        NUMBER(bits, { 0, 32 }, { 0, 16 }, { 0, 24 }, { 6, 1 });
        skip_bits(bits, 4);
    } else {
        NUMBER(bits, { 0, 8 }, { 0, 10 }, { 0, 12 }, { 6, 1 });
    }
}

/* One channel beside the colors, such as alpha. */
static void skip_channel(struct jxl_bits *bits)
{
    enum { ALPHA = 0, SPOT_COLOR = 2, FILTER_ARRAY = 5 };
    if (read_bits(bits, 1)) /* all as usual */
        return;
    const uint32_t type = ENUM(bits);
    skip_depth(bits);
    NUMBER(bits, { 0, 0 }, { 0, 3 }, { 0, 4 }, { 3, 1 }); /* how coarse */
    const uint32_t name =
        NUMBER(bits, { 0, 0 }, { 4, 0 }, { 5, 16 }, { 10, 48 });
    skip_bits(bits, 8 * (uint64_t)name);
    if (type == FILTER_ARRAY)
        NUMBER(bits, { 0, 1 }, { 2, 0 }, { 4, 3 }, { 8, 19 });
    else
        skip_bits(bits, type == ALPHA ? 1 : type == SPOT_COLOR ? 4 * 16 : 0);
}

/* The white point or the primaries: one of these, or points of a chromaticity
 * diagram. */
static void skip_points(struct jxl_bits *bits, unsigned count)
{
    enum { CUSTOM = 2 };
    if (ENUM(bits) == CUSTOM)
        for (unsigned i = 0; i < 2 * count; i++)
            NUMBER(bits, { 19, 0 }, { 19, 1 << 19 }, { 20, 1 << 20 },
                   { 21, 1 << 21 });
}

static void skip_preview_side(struct jxl_bits *bits, bool by_eight)
{
    if (by_eight)
        NUMBER(bits, { 0, 16 }, { 0, 32 }, { 5, 1 }, { 9, 33 });
    else
        NUMBER(bits, { 6, 1 }, { 8, 65 }, { 10, 321 }, { 12, 1345 });
}

/* Reads the field for the orientation, and what goes with it. */
static void read_shown(struct jxl_header *header, struct jxl_bits *bits)
{
    header->at = bits->at;
    header->orientation = read_bits(bits, 3) + 1;
    header->end = bits->at;
    if (read_bits(bits, 1))
        read_size(bits, &header->shown);
    if (read_bits(bits, 1)) { /* a preview */
        const bool by_eight = read_bits(bits, 1);
        skip_preview_side(bits, by_eight);
        if (!read_bits(bits, 3)) /* the ratio of its sides */
            skip_preview_side(bits, by_eight);
    }
    if (!read_bits(bits, 1))
        return;
    /* An animation has a unit of time, and is played so often. */
    NUMBER(bits, { 0, 100 }, { 0, 1000 }, { 10, 1 }, { 30, 1 });
    NUMBER(bits, { 0, 1 }, { 0, 1001 }, { 8, 1 }, { 10, 1 });
    NUMBER(bits, { 0, 0 }, { 3, 0 }, { 16, 0 }, { 32, 0 });
    skip_bits(bits, 1);
}

/* Reads what stands behind that, or behind the flag that it is not there. */
static void read_samples(struct jxl_header *header, struct jxl_bits *bits)
{
    enum { GRAY = 1, XYB = 2 };
    enum { OPSIN = 16, UPSAMPLING_2 = 15, UPSAMPLING_4 = 55 };
    enum { UPSAMPLING_8 = 210 };
    bool profile = false;
    skip_depth(bits);
    skip_bits(bits, 1); /* 16 bits are enough for modular coding */
    uint32_t channels = NUMBER(bits, { 0, 0 }, { 0, 1 }, { 4, 2 }, { 12, 1 });
    for (; channels > 0 && !bits->ended; channels--)
        skip_channel(bits);
    const bool xyb = read_bits(bits, 1);
    if (!read_bits(bits, 1)) { /* not sRGB */
        profile = read_bits(bits, 1);
        const uint32_t space = ENUM(bits);
        if (!profile && space != XYB) {
            skip_points(bits, 1);
            if (space != GRAY)
                skip_points(bits, 3);
            if (read_bits(bits, 1))
                skip_bits(bits, 24); /* gamma */
            else
                ENUM(bits); /* transfer function */
        }
        if (!profile)
            ENUM(bits); /* rendering intent */
    }
    header->end = header->grows ? bits->at : header->end;
    if (!header->grows && !read_bits(bits, 1)) /* tone mapping */
        skip_bits(bits, 16 + 16 + 1 + 16);
    const bool extended = read_long(bits);
    if (!profile)
        return;
    struct jxl_bits behind = *bits;
    if (!read_bits(&behind, 1)) { /* factors of color or of upsampling */
        if (xyb && !read_bits(&behind, 1))
            skip_bits(&behind, 16 * OPSIN);
        const uint32_t own = read_bits(&behind, 3);
        skip_bits(&behind, own & 1 ? 16 * UPSAMPLING_2 : 0);
        skip_bits(&behind, own & 2 ? 16 * UPSAMPLING_4 : 0);
        skip_bits(&behind, own & 4 ? 16 * UPSAMPLING_8 : 0);
    }
    header->profile = extended ? UINT64_MAX : read_long(&behind);
}

int jxl_header_read(struct jxl_header *header, struct bytes stream,
                    struct err *err)
{
    struct jxl_bits bits = { .from = stream };
    *header = (struct jxl_header){ .orientation = 1 };
    if (read_bits(&bits, 16) != 0x0aff)
        return fail(err, "its codestream does not begin with an image header");
    read_size(&bits, &header->stored);
    header->at = bits.at;
    if (read_bits(&bits, 1)) {
        header->grows = JXL_GROWS_ALL;
        header->end = bits.at;
    } else {
        header->at = bits.at;
        header->grows = read_bits(&bits, 1) ? 0 : JXL_GROWS;
        if (!header->grows)
            read_shown(header, &bits);
        read_samples(header, &bits);
    }
    return bits.ended ? fail(err, "its image header is cut short") : 0;
}

/* ---- Written --------------------------------------------------------------*/

static void set_bits(struct bytes to, size_t at, unsigned count, uint64_t value)
{
    for (unsigned i = 0; i < count; i++, at++)
        to.data[at / 8] = (uint8_t)((to.data[at / 8] & ~(1u << at % 8)) |
                                    (value >> i & 1) << at % 8);
}

/* Puts room for so many between the bits, of which the last ones go. */
static void insert_bits(struct bytes to, size_t at, unsigned count)
{
    for (size_t i = 8 * to.size; i-- > at + count;)
        set_bits(to, i, 1, bit_at(to, i - count));
}

/* Without the field, 56 bits are more: the flag that it is there, then the
 * field and three flags that others are not; and, before what comes next, the
 * tone mapping with the values that it has anyway, of which 255 nits are
 * 0x5bf8. Or 24 bits take the place of one that stands for all of them: these
 * fields; 8 bits a sample, said in the longest way; 16 bits are enough; no more
 * channels; XYB, sRGB and the usual tone mapping; no extensions. */
int jxl_header_set(struct jxl_patch *patch, struct bytes stream,
                   const struct jxl_header *header, unsigned orientation,
                   struct err *err)
{
    static const uint8_t zeros[JXL_GROWS];
    const uint64_t value = orientation - 1;
    struct bytes *made = &patch->made;
    patch->was = (header->end + 7) / 8;
    *made = (struct bytes){ 0 };
    if (!bytes_append(made, stream.data, patch->was) ||
        !bytes_append(made, zeros, header->grows))
        return fail_memory(err, "no memory for the image header");
    if (header->grows == JXL_GROWS_ALL) {
        insert_bits(*made, header->at, 24);
        set_bits(*made, header->at, 25,
                 2 | value << 2 | 3 << 9 | 7 << 11 | 1 << 17 | 7 << 20);
    } else if (header->grows) {
        insert_bits(*made, header->end, 50);
        set_bits(*made, header->end, 50, 0x5bf8 << 1);
        insert_bits(*made, header->at, 6);
        set_bits(*made, header->at, 7, 1 | value << 1);
    } else {
        set_bits(*made, header->at, 3, value);
    }
    return 0;
}
