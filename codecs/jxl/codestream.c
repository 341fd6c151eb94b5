/* The beginning of a JPEG XL codestream (ISO/IEC 18181-1, annexes B to F): the
 * image header, up to the fields that say how the picture is shown, and the
 * headers of frames, which tell where a bare codestream ends. */
#include <string.h>

#include "codecs/jxl/jxl.h"

/* ---- Bits, the low ones of a byte first -----------------------------------*/

struct jxl_bits {
    struct bytes from;
    size_t at;      /* the bit that comes next */
    bool ended;     /* there were no more */
    bool malformed; /* a number that was read has no meaning */
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
struct number_code {
    uint8_t bits;
    uint32_t base;
};

#define NUMBER(bits, ...)                                                      \
    read_number(bits, (const struct number_code[]){ __VA_ARGS__ })

static uint32_t read_number(struct jxl_bits *bits,
                            const struct number_code code[4])
{
    const struct number_code *chosen = &code[read_bits(bits, 2)];
    return read_bits(bits, chosen->bits) + chosen->base;
}

/* A number of up to 64 bits; UINT32_MAX: it is above 272. */
static uint32_t read_long(struct jxl_bits *bits)
{
    return NUMBER(bits, { 0, 0 }, { 4, 1 }, { 8, 17 }, { 0, UINT32_MAX });
}

/* Reads one of the values that `known` has bits for. */
static uint32_t read_enum(struct jxl_bits *bits, uint64_t known)
{
    uint32_t value = NUMBER(bits, { 0, 0 }, { 0, 1 }, { 4, 2 }, { 6, 18 });
    bits->malformed |= value > 63 || !(known >> value & 1);
    return value;
}

static void skip_name(struct jxl_bits *bits)
{
    skip_bits(bits, 8 * (uint64_t)NUMBER(bits, { 0, 0 }, { 4, 0 }, { 5, 16 },
                                         { 10, 48 }));
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
        bits->malformed |=
            NUMBER(bits, { 0, 8 }, { 0, 10 }, { 0, 12 }, { 6, 1 }) > 31;
    }
}

/* One channel beside the colors, such as alpha. */
static void skip_channel(struct jxl_bits *bits)
{
    enum { ALPHA = 0, SPOT_COLOR = 2, FILTER_ARRAY = 5 };
    if (read_bits(bits, 1)) /* all as usual */
        return;
    const uint32_t type = read_enum(bits, 0x1807f);
    skip_depth(bits);
    NUMBER(bits, { 0, 0 }, { 0, 3 }, { 0, 4 }, { 3, 1 }); /* how coarse */
    skip_name(bits);
    if (type == FILTER_ARRAY)
        NUMBER(bits, { 0, 1 }, { 2, 0 }, { 4, 3 }, { 8, 19 });
    else
        skip_bits(bits, type == ALPHA ? 1 : type == SPOT_COLOR ? 4 * 16 : 0);
}

/* The white point or the primaries: one of these, or points of a chromaticity
 * diagram. */
static void skip_points(struct jxl_bits *bits, uint64_t known, unsigned count)
{
    enum { CUSTOM = 2 };
    if (read_enum(bits, known) == CUSTOM)
        for (unsigned i = 0; i < 2 * count; i++)
            NUMBER(bits, { 19, 0 }, { 19, 1 << 19 }, { 20, 1 << 20 },
                   { 21, 1 << 21 });
}

/* Returns whether a profile follows the header. */
static bool skip_colors(struct jxl_bits *bits)
{
    enum { GRAY = 1, XYB = 2 };
    if (read_bits(bits, 1)) /* sRGB */
        return false;
    const bool profile = read_bits(bits, 1);
    const uint32_t space = read_enum(bits, 0xf);
    if (profile)
        return true;
    if (space != XYB) {
        skip_points(bits, 0xc06, 1);
        if (space != GRAY)
            skip_points(bits, 0xa06, 3);
        if (read_bits(bits, 1))
            skip_bits(bits, 24); /* gamma */
        else
            read_enum(bits, 0x72106); /* transfer function */
    }
    read_enum(bits, 0xf); /* rendering intent */
    return false;
}

/* Reads the field for the orientation, and what goes with it. */
static void read_shown(struct jxl_header *header, struct jxl_bits *bits)
{
    header->orientation = read_bits(bits, 3) + 1;
    header->end = bits->at;
    if (read_bits(bits, 1))
        read_size(bits, &header->shown);
    header->unknown = read_bits(bits, 1); /* a preview */
    header->animated = read_bits(bits, 1);
    if (header->unknown || !header->animated)
        return;
    /* The unit of time, and how often it is played. */
    NUMBER(bits, { 0, 100 }, { 0, 1000 }, { 10, 1 }, { 30, 1 });
    NUMBER(bits, { 0, 1 }, { 0, 1001 }, { 8, 1 }, { 10, 1 });
    NUMBER(bits, { 0, 0 }, { 3, 0 }, { 16, 0 }, { 32, 0 });
    header->timed = read_bits(bits, 1);
}

/* Reads what stands behind that, or behind the flag that it is not there. */
static void read_samples(struct jxl_header *header, struct jxl_bits *bits)
{
    skip_depth(bits);
    skip_bits(bits, 1); /* 16 bits are enough for modular coding */
    header->channels = NUMBER(bits, { 0, 0 }, { 0, 1 }, { 4, 2 }, { 12, 1 });
    for (uint32_t i = 0;
         i < header->channels && !bits->malformed && !bits->ended; i++)
        skip_channel(bits);
    header->xyb = read_bits(bits, 1);
    header->unknown = skip_colors(bits);
    header->end = header->grows ? bits->at : header->end;
    if (!header->grows && !read_bits(bits, 1)) /* tone mapping */
        skip_bits(bits, 16 + 16 + 1 + 16);
    header->unknown |= read_long(bits) > 0; /* extensions */
}

/* ---- Frames ---------------------------------------------------------------*/

static uint32_t read_length(struct jxl_bits *bits)
{
    return NUMBER(bits, { 8, 0 }, { 11, 256 }, { 14, 2304 }, { 30, 18688 });
}

/* Reads where a frame begins; the lowest bit is the sign. */
static int64_t read_origin(struct jxl_bits *bits)
{
    const uint32_t number = read_length(bits);
    return number & 1 ? -(int64_t)(number / 2) - 1 : number / 2;
}

/* Returns whether the colors, or a channel, replace those of earlier frames. */
static bool skip_blending(struct jxl_bits *bits, bool placed, uint32_t channels)
{
    enum { REPLACE, ADD, BLEND, WEIGHTED_ADD, MULTIPLY };
    const unsigned mode =
        NUMBER(bits, { 0, REPLACE }, { 0, ADD }, { 0, BLEND }, { 2, 3 });
    const bool by_alpha =
        channels > 0 && (mode == BLEND || mode == WEIGHTED_ADD);
    if (by_alpha)
        NUMBER(bits, { 0, 0 }, { 0, 1 }, { 0, 2 }, { 3, 3 });
    skip_bits(bits, by_alpha || mode == MULTIPLY);
    skip_bits(bits, mode != REPLACE || placed ? 2 : 0);
    return mode == REPLACE;
}

/* Passes how a frame goes with others: blending, time, what is kept of it.
 * Returns whether it is the last one. */
static bool skip_relations(struct jxl_bits *bits,
                           const struct jxl_header *header, bool shown,
                           bool placed)
{
    bool replaces = false, last = false;
    uint32_t duration = 0;
    if (shown) {
        replaces = skip_blending(bits, placed, header->channels);
        for (uint32_t i = 0; i < header->channels && !bits->ended; i++)
            skip_blending(bits, placed, header->channels);
        if (header->animated)
            duration = NUMBER(bits, { 0, 0 }, { 0, 1 }, { 8, 0 }, { 32, 0 });
        skip_bits(bits, header->timed ? 32 : 0);
        last = read_bits(bits, 1);
    }
    const bool kept = !last && (read_bits(bits, 2) || duration == 0);
    if (!shown || (kept && replaces && !placed))
        skip_bits(bits, 1); /* before its colors are transformed */
    skip_name(bits);
    return last;
}

/* Returns whether filters are as usual, but for how often they are used. */
static bool skip_filters(struct jxl_bits *bits, bool modular)
{
    if (read_bits(bits, 1))
        return true;
    bool custom = read_bits(bits, 1) && read_bits(bits, 1);
    if (read_bits(bits, 2)) {
        for (unsigned i = modular; i < 3 && !custom; i++)
            custom = read_bits(bits, 1);
        skip_bits(bits, modular ? 16 : 0);
    }
    return !custom && read_long(bits) == 0;
}

static uint64_t divided(uint64_t number, uint64_t by)
{
    return (number + by - 1) / by;
}

/* Reads the header of a frame. Returns how many sections its samples are in; 0
 * where it has what encoders use on request alone: low frequencies in a frame
 * of their own, several passes, YCbCr, filters with other weights. */
static uint64_t read_frame(struct jxl_bits *bits,
                           const struct jxl_header *header, bool *last)
{
    enum { REGULAR, LOW_FREQUENCY, REFERENCE, SKIP_PROGRESSIVE }; /* kinds */
    enum { USES_LOW_FREQUENCY = 32 };                             /* a flag */
    uint64_t width = header->stored.width, height = header->stored.height;
    uint64_t side = 256;
    *last = true;
    if (!read_bits(bits, 1)) { /* not all is as usual */
        const unsigned kind = read_bits(bits, 2);
        const bool modular = read_bits(bits, 1), shown = kind != REFERENCE;
        bool placed = false;
        if (kind == LOW_FREQUENCY || read_long(bits) & USES_LOW_FREQUENCY ||
            (!header->xyb && read_bits(bits, 1)))
            return 0;
        const unsigned scaling = read_bits(bits, 2);
        skip_bits(bits, 2 * header->channels);
        side = modular ? 128u << read_bits(bits, 2) : side;
        skip_bits(bits, header->xyb && !modular ? 6 : 0);
        if (shown && read_bits(bits, 2))
            return 0;
        if (read_bits(bits, 1)) {
            const int64_t x = shown ? read_origin(bits) : 0;
            const int64_t y = shown ? read_origin(bits) : 0;
            const uint32_t w = read_length(bits), h = read_length(bits);
            placed = shown && (x > 0 || y > 0 || x + w < (int64_t)width ||
                               y + h < (int64_t)height);
            width = w;
            height = h;
        }
        *last = skip_relations(bits, header, shown, placed);
        width = divided(width, 1u << scaling);
        height = divided(height, 1u << scaling);
        if (!skip_filters(bits, modular) || read_long(bits))
            return 0;
    }
    const uint64_t groups = divided(width, side) * divided(height, side);
    const uint64_t coarse =
        divided(width, 8 * side) * divided(height, 8 * side);
    return groups == 1 ? 1 : 2 + groups + coarse;
}

static void align(struct jxl_bits *bits)
{
    skip_bits(bits, -bits->at % 8);
}

/* Boxes have sizes, but a bare codestream that is cut short looks whole.
 * Returns whether its frames end before it does, as far as their headers tell
 * without a decoder: what cannot be followed is taken for whole. */
static bool frames_end(struct jxl_bits *bits, const struct jxl_header *header)
{
    enum { SECTIONS_MAX = 65536 }; /* of a frame that libjxl reads */
    bool last = false;
    if (!read_bits(bits, 1)) { /* other factors of color, or of upsampling */
        skip_bits(bits, header->xyb && !read_bits(bits, 1) ? 16 * 16 : 0);
        last = read_bits(bits, 3);
    }
    align(bits);
    while (!last && !bits->ended) {
        const uint64_t sections = read_frame(bits, header, &last);
        uint64_t size = 0;
        if (sections == 0 || sections > SECTIONS_MAX || read_bits(bits, 1))
            break; /* or they are in another order */
        align(bits);
        for (uint64_t i = 0; i < sections && !bits->ended; i++)
            size += NUMBER(bits, { 10, 0 }, { 14, 1024 }, { 22, 17408 },
                           { 30, 4211712 });
        align(bits);
        skip_bits(bits, 8 * size);
    }
    return !bits->ended;
}

int jxl_header_read(struct jxl_header *header, struct bytes stream, bool whole,
                    struct err *err)
{
    struct jxl_bits bits = { .from = stream };
    *header = (struct jxl_header){ .orientation = 1, .xyb = true };
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
        if (!header->grows) {
            header->at = bits.at;
            read_shown(header, &bits);
        }
        if (!header->unknown)
            read_samples(header, &bits);
    }
    if (bits.ended || bits.malformed)
        return fail(err, "its image header is %s",
                    bits.ended ? "cut short" : "malformed");
    return !whole || header->unknown || frames_end(&bits, header)
               ? 0
               : fail(err, "cut short: it ends within a frame");
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
