/* The image header of JPEG XL (ISO/IEC 18181-1, annexes B, D and E): bits, the
 * low ones of a byte first, up to the fields that say how the picture is shown.
 */
#include <string.h>

#include "codecs/jxl/bits.h"
#include "codecs/jxl/jxl.h"

/* ---- The fields, in their order -------------------------------------------*/

/* Reads one of the values that `known` has bits for. */
static uint32_t read_enum(struct jxl_bits *bits, uint64_t known, bool *good)
{
    uint32_t value = NUMBER(bits, { 0, 0 }, { 0, 1 }, { 4, 2 }, { 6, 18 });
    *good = *good && value < 64 && known >> value & 1;
    return value;
}

static uint32_t read_side(struct jxl_bits *bits, bool small)
{
    return small ? 8 * (read_bits(bits, 5) + 1)
                 : NUMBER(bits, { 9, 1 }, { 13, 1 }, { 18, 1 }, { 30, 1 });
}

static void read_size(struct jxl_bits *bits, uint32_t *width, uint32_t *height)
{
    static const uint8_t ratios[8][2] = { { 0, 1 }, { 1, 1 }, { 12, 10 },
                                          { 4, 3 }, { 3, 2 }, { 16, 9 },
                                          { 5, 4 }, { 2, 1 } };
    const bool small = read_bits(bits, 1);
    *height = read_side(bits, small);
    const uint8_t *ratio = ratios[read_bits(bits, 3)];
    *width = *ratio ? (uint32_t)((uint64_t)*height * ratio[0] / ratio[1])
                    : read_side(bits, small);
}

static void skip_preview(struct jxl_bits *bits)
{
    const bool eighths = read_bits(bits, 1);
    for (unsigned side = 0; side < 2; side++) {
        if (eighths)
            NUMBER(bits, { 0, 16 }, { 0, 32 }, { 5, 1 }, { 9, 33 });
        else
            NUMBER(bits, { 6, 1 }, { 8, 65 }, { 10, 321 }, { 12, 1345 });
        if (side == 0 && read_bits(bits, 3)) /* the ratio tells the width */
            return;
    }
}

static void skip_depth(struct jxl_bits *bits, bool *good)
{
    if (!read_bits(bits, 1)) { /* integers */
        if (NUMBER(bits, { 0, 8 }, { 0, 10 }, { 0, 12 }, { 6, 1 }) > 31)
            *good = false;
    } else {
        NUMBER(bits, { 0, 32 }, { 0, 16 }, { 0, 24 }, { 6, 1 });
        skip_bits(bits, 4); /* of the exponent */
    }
}

/* One channel beside the colors, such as alpha. */
static void skip_channel(struct jxl_bits *bits, bool *good)
{
    enum { ALPHA = 0, SPOT_COLOR = 2, FILTER_ARRAY = 5 };
    if (read_bits(bits, 1)) /* all as usual */
        return;
    const uint32_t type = read_enum(bits, 0x1807f, good);
    skip_depth(bits, good);
    NUMBER(bits, { 0, 0 }, { 0, 3 }, { 0, 4 }, { 3, 1 }); /* how coarse */
    skip_name(bits);
    if (type == FILTER_ARRAY)
        NUMBER(bits, { 0, 1 }, { 2, 0 }, { 4, 3 }, { 8, 19 });
    else
        skip_bits(bits, type == ALPHA ? 1 : type == SPOT_COLOR ? 4 * 16 : 0);
}

/* So many points of a chromaticity diagram. */
static void skip_points(struct jxl_bits *bits, unsigned count)
{
    for (unsigned i = 0; i < 2 * count; i++)
        NUMBER(bits, { 19, 0 }, { 19, 1 << 19 }, { 20, 1 << 20 },
               { 21, 1 << 21 });
}

/* Returns whether a profile follows the header. */
static bool skip_colors(struct jxl_bits *bits, bool *good)
{
    enum { GRAY = 1, XYB = 2, CUSTOM = 2 };
    if (read_bits(bits, 1)) /* sRGB */
        return false;
    const bool profile = read_bits(bits, 1);
    const uint32_t space = read_enum(bits, 0xf, good);
    if (profile)
        return true;
    if (space != XYB) {
        if (read_enum(bits, 0xc06, good) == CUSTOM) /* white point */
            skip_points(bits, 1);
        if (space != GRAY && read_enum(bits, 0xa06, good) == CUSTOM)
            skip_points(bits, 3); /* primaries */
        if (read_bits(bits, 1))
            skip_bits(bits, 24); /* gamma */
        else
            read_enum(bits, 0x72106, good); /* transfer function */
    }
    read_enum(bits, 0xf, good); /* rendering intent */
    return false;
}

static void read_fields(struct jxl_header *header, struct jxl_bits *bits)
{
    header->at = bits->at;
    header->orientation = read_bits(bits, 3) + 1;
    if (read_bits(bits, 1))
        read_size(bits, &header->shown_width, &header->shown_height);
    header->frames.unknown = read_bits(bits, 1);
    if (header->frames.unknown)
        skip_preview(bits);
    header->frames.animated = read_bits(bits, 1);
    if (!header->frames.animated)
        return;
    /* The unit of time, and how often it is played. */
    NUMBER(bits, { 0, 100 }, { 0, 1000 }, { 10, 1 }, { 30, 1 });
    NUMBER(bits, { 0, 1 }, { 0, 1001 }, { 8, 1 }, { 10, 1 });
    NUMBER(bits, { 0, 0 }, { 3, 0 }, { 16, 0 }, { 32, 0 });
    header->frames.timed = read_bits(bits, 1);
}

int jxl_header_read(struct jxl_header *header, struct bytes head,
                    struct err *err)
{
    struct jxl_bits bits = { .from = head };
    bool good = true;
    struct jxl_frames *frames = &header->frames;
    *header =
        (struct jxl_header){ .orientation = 1, .frames = { .xyb = true } };
    if (read_bits(&bits, 16) != 0x0aff)
        return fail(err, "its codestream does not begin with an image header");
    read_size(&bits, &header->width, &header->height);
    header->at = bits.at;
    header->all_default = read_bits(&bits, 1);
    if (!header->all_default) {
        header->at = bits.at;
        header->has_field = read_bits(&bits, 1);
        if (header->has_field)
            read_fields(header, &bits);
        skip_depth(&bits, &good);
        skip_bits(&bits, 1); /* 16 bits are enough for modular coding */
        uint32_t channels =
            NUMBER(&bits, { 0, 0 }, { 0, 1 }, { 4, 2 }, { 12, 1 });
        frames->channels = channels;
        for (; channels > 0 && good && !bits.ended; channels--)
            skip_channel(&bits, &good);
        frames->xyb = read_bits(&bits, 1);
        frames->unknown |= skip_colors(&bits, &good);
        header->tone_at = bits.at;
        if (header->has_field && !read_bits(&bits, 1))
            skip_bits(&bits, 16 + 16 + 1 + 16);
        skip_extensions(&bits);
    }
    frames->at = bits.at;
    if (bits.ended)
        return fail(err, "its image header is cut short");
    return good ? 0 : fail(err, "its image header is malformed");
}

/* ---- Written --------------------------------------------------------------*/

/* Sets bits that are 0, and moves *at behind them. */
static void write_bits(uint8_t *to, size_t *at, unsigned count, uint64_t value)
{
    for (unsigned i = 0; i < count; i++, ++*at)
        to[*at / 8] |= (uint8_t)((value >> i & 1) << *at % 8);
}

/* Without the field, 56 bits are more: the flag that it is there, then the
 * field and three flags that others are not; and, before what comes next, the
 * tone mapping with the values that it has anyway, of which 255 nits are
 * 0x5bf8. Or 24 bits take the place of one that stands for all of them: these
 * fields; 8 bits a sample, said in the longest way; 16 bits are enough; no more
 * channels; XYB, sRGB and the usual tone mapping; no extensions. */
int jxl_header_set(struct bytes *made, size_t *was, struct bytes head,
                   const struct jxl_header *header, unsigned orientation,
                   struct err *err)
{
    const bool all = header->all_default, has = header->has_field;
    const uint64_t value = orientation - 1;
    const size_t field = header->at + (has ? 3 : 1),
                 end = has || all ? field : header->tone_at;
    *was = (end + 7) / 8;
    const size_t size = *was + (has ? 0 : all ? 3 : 7);
    if (!bytes_reserve(made, size))
        return fail_memory(err, "no memory for the image header");
    uint8_t *to = made->data + made->size;
    size_t from = 0, at = 0;
    memset(to, 0, size);
    made->size += size;
    for (; from < header->at; from++)
        write_bits(to, &at, 1, bit_at(head, from));
    if (has)
        write_bits(to, &at, 3, value);
    else if (all)
        write_bits(to, &at, 25,
                   2 | value << 2 | 3 << 9 | 7 << 11 | 1 << 17 | 7 << 20);
    else
        write_bits(to, &at, 7, 1 | value << 1);
    for (from = field; from < end; from++)
        write_bits(to, &at, 1, bit_at(head, from));
    if (!has && !all)
        write_bits(to, &at, 50, 0x5bf8 << 1);
    for (; from < 8 * *was; from++)
        write_bits(to, &at, 1, bit_at(head, from));
    return 0;
}
