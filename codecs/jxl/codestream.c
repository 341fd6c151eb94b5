/* The beginning of a JPEG XL codestream (ISO/IEC 18181-1, annexes B to F): the
 * image header, up to the fields that say how the picture is shown, and the
 * headers of frames, which tell where a bare codestream ends. */
#include <string.h>

#include "codecs/jxl/jxl.h"

/* ---- Bits, the low ones of a byte first -----------------------------------*/

struct jxl_bits {
    struct bytes from;
    size_t at;  /* the bit that comes next */
    bool ended; /* there were no more */
};

/* Passes so many bits. Returns whether they are there. */
static bool skip_bits(struct jxl_bits *bits, size_t count)
{
    bits->ended = bits->ended || count > 8 * bits->from.size - bits->at;
    bits->at += bits->ended ? 0 : count;
    return !bits->ended;
}

static bool bit_at(struct bytes bytes, size_t at)
{
    return bytes.data[at / 8] >> at % 8 & 1;
}

/* Reads up to 32 bits; 0 if there are not so many. */
static uint32_t read_bits(struct jxl_bits *bits, unsigned count)
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

static void skip_name(struct jxl_bits *bits)
{
    skip_bits(bits, (size_t)8 * NUMBER(bits, { 0, 0 }, { 4, 0 }, { 5, 16 },
                                       { 10, 48 }));
}

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

/* What the headers of frames depend on. */
struct jxl_frames {
    bool unknown; /* something comes first whose end only a decoder finds, such
                     as a profile */
    bool xyb;     /* the color space of the samples */
    bool animated, timed;
    uint32_t channels; /* beside the colors */
};

static void read_fields(struct jxl_header *header, struct jxl_frames *frames,
                        struct jxl_bits *bits)
{
    header->at = bits->at;
    header->orientation = read_bits(bits, 3) + 1;
    if (read_bits(bits, 1))
        read_size(bits, &header->shown_width, &header->shown_height);
    frames->unknown = read_bits(bits, 1); /* a preview */
    frames->animated = read_bits(bits, 1);
    if (frames->unknown || !frames->animated)
        return;
    /* The unit of time, and how often it is played. */
    NUMBER(bits, { 0, 100 }, { 0, 1000 }, { 10, 1 }, { 30, 1 });
    NUMBER(bits, { 0, 1 }, { 0, 1001 }, { 8, 1 }, { 10, 1 });
    NUMBER(bits, { 0, 0 }, { 3, 0 }, { 16, 0 }, { 32, 0 });
    frames->timed = read_bits(bits, 1);
}

/* Reads what stands behind the field for the orientation, or would. */
static void read_samples(struct jxl_header *header, struct jxl_frames *frames,
                         struct jxl_bits *bits, bool *good)
{
    skip_depth(bits, good);
    skip_bits(bits, 1); /* 16 bits are enough for modular coding */
    frames->channels = NUMBER(bits, { 0, 0 }, { 0, 1 }, { 4, 2 }, { 12, 1 });
    for (uint32_t i = 0; i < frames->channels && *good && !bits->ended; i++)
        skip_channel(bits, good);
    frames->xyb = read_bits(bits, 1);
    frames->unknown = skip_colors(bits, good);
    header->tone_at = bits->at;
    if (header->has_field && !read_bits(bits, 1))
        skip_bits(bits, 16 + 16 + 1 + 16);
    frames->unknown |= read_long(bits) > 0; /* extensions */
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
static bool skip_relations(struct jxl_bits *bits, const struct jxl_frames *all,
                           bool shown, bool placed)
{
    bool replaces = false, last = false;
    uint32_t duration = 0;
    if (shown) {
        replaces = skip_blending(bits, placed, all->channels);
        for (uint32_t i = 0; i < all->channels && !bits->ended; i++)
            skip_blending(bits, placed, all->channels);
        if (all->animated)
            duration = NUMBER(bits, { 0, 0 }, { 0, 1 }, { 8, 0 }, { 32, 0 });
        skip_bits(bits, all->timed ? 32 : 0);
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
                           const struct jxl_header *header,
                           const struct jxl_frames *all, bool *last)
{
    enum { REGULAR, LOW_FREQUENCY, REFERENCE, SKIP_PROGRESSIVE }; /* kinds */
    enum { USES_LOW_FREQUENCY = 32 };                             /* a flag */
    uint64_t width = header->width, height = header->height, side = 256;
    *last = true;
    if (!read_bits(bits, 1)) { /* not all is as usual */
        const unsigned kind = read_bits(bits, 2);
        const bool modular = read_bits(bits, 1), shown = kind != REFERENCE;
        bool placed = false;
        if (kind == LOW_FREQUENCY || read_long(bits) & USES_LOW_FREQUENCY ||
            (!all->xyb && read_bits(bits, 1)))
            return 0;
        const unsigned scaling = read_bits(bits, 2);
        skip_bits(bits, (size_t)2 * all->channels);
        side = modular ? 128u << read_bits(bits, 2) : side;
        skip_bits(bits, all->xyb && !modular ? 6 : 0);
        if (shown && read_bits(bits, 2))
            return 0;
        if (read_bits(bits, 1)) {
            const int64_t x = shown ? read_origin(bits) : 0;
            const int64_t y = shown ? read_origin(bits) : 0;
            const int64_t right = x + read_length(bits);
            const int64_t bottom = y + read_length(bits);
            placed = shown && (x > 0 || y > 0 || right < (int64_t)width ||
                               bottom < (int64_t)height);
            width = (uint64_t)(right - x);
            height = (uint64_t)(bottom - y);
        }
        *last = skip_relations(bits, all, shown, placed);
        width = divided(width, 1u << scaling);
        height = divided(height, 1u << scaling);
        if (!skip_filters(bits, modular) || read_long(bits))
            return 0;
    }
    const uint64_t groups = divided(width, side) * divided(height, side);
    return groups == 1
               ? 1
               : 2 + groups +
                     divided(width, 8 * side) * divided(height, 8 * side);
}

static void align(struct jxl_bits *bits)
{
    skip_bits(bits, -bits->at % 8);
}

/* Boxes have sizes, but a bare codestream that is cut short looks whole.
 * Returns whether its frames end before it does, as far as their headers tell
 * without a decoder: what cannot be followed is taken for whole. */
static bool frames_end(struct jxl_bits *bits, const struct jxl_header *header,
                       const struct jxl_frames *all)
{
    enum { SECTIONS_MAX = 65536 }; /* of a frame that libjxl reads */
    bool last = false;
    if (!read_bits(bits, 1)) { /* other factors of color, or of upsampling */
        skip_bits(bits, all->xyb && !read_bits(bits, 1) ? 16 * 16 : 0);
        last = read_bits(bits, 3);
    }
    align(bits);
    while (!last && !bits->ended) {
        const uint64_t sections = read_frame(bits, header, all, &last);
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
    struct jxl_frames frames = { .xyb = true };
    bool good = true;
    *header = (struct jxl_header){ .orientation = 1 };
    if (read_bits(&bits, 16) != 0x0aff)
        return fail(err, "its codestream does not begin with an image header");
    read_size(&bits, &header->width, &header->height);
    header->at = bits.at;
    header->all_default = read_bits(&bits, 1);
    if (!header->all_default) {
        header->at = bits.at;
        header->has_field = read_bits(&bits, 1);
        if (header->has_field)
            read_fields(header, &frames, &bits);
        if (!frames.unknown)
            read_samples(header, &frames, &bits, &good);
    }
    if (bits.ended)
        return fail(err, "its image header is cut short");
    if (!good)
        return fail(err, "its image header is malformed");
    return !whole || frames.unknown || frames_end(&bits, header, &frames)
               ? 0
               : fail(err, "cut short: it ends within a frame");
}

/* ---- Written --------------------------------------------------------------*/

unsigned jxl_header_growth(const struct jxl_header *header)
{
    return header->has_field ? 0 : header->all_default ? 3 : 7;
}

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
int jxl_header_set(struct jxl_patch *patch, struct bytes stream,
                   const struct jxl_header *header, unsigned orientation,
                   struct err *err)
{
    const bool has = header->has_field, all = header->all_default;
    const uint64_t value = orientation - 1;
    const struct {
        size_t at;
        unsigned was, is; /* bits */
        uint64_t bits;
    } splice[] = {
        { header->at, has ? 3 : 1,
          has   ? 3
          : all ? 25
                : 7,
          has   ? value
          : all ? 2 | value << 2 | 3 << 9 | 7 << 11 | 1 << 17 | 7 << 20
                : 1 | value << 1 },
        { header->tone_at, 0, 50, 0x5bf8 << 1 },
    };
    const unsigned count = has || all ? 1 : 2;
    const struct bytes none = { 0 };
    size_t from = 0, at = 0;
    patch->was = (splice[count - 1].at + splice[count - 1].was + 7) / 8;
    patch->made = none;
    if (!bytes_reserve(&patch->made, patch->was + jxl_header_growth(header)))
        return fail_memory(err, "no memory for the image header");
    patch->made.size = patch->was + jxl_header_growth(header);
    memset(patch->made.data, 0, patch->made.size);
    for (unsigned i = 0; i < count; i++) {
        for (; from < splice[i].at; from++)
            write_bits(patch->made.data, &at, 1, bit_at(stream, from));
        write_bits(patch->made.data, &at, splice[i].is, splice[i].bits);
        from += splice[i].was;
    }
    for (; from < 8 * patch->was; from++)
        write_bits(patch->made.data, &at, 1, bit_at(stream, from));
    return 0;
}
