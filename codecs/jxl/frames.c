/* Where the frames of a JPEG XL codestream end (ISO/IEC 18181-1, annexes C and
 * F): boxes have sizes, but a bare codestream that is cut short looks whole. */
#include "codecs/jxl/bits.h"
#include "codecs/jxl/jxl.h"

enum { REGULAR, LOW_FREQUENCY, REFERENCE, SKIP_PROGRESSIVE }; /* kinds */
enum { USES_LOW_FREQUENCY = 32 };                             /* a flag */

struct frame {
    unsigned kind;
    bool modular, last;
    uint64_t flags;
    unsigned scaling; /* of its size, 1 to 8 */
    unsigned level;   /* of one of low frequencies: eighths of eighths */
    unsigned group;   /* the columns and rows of a group: 128 << group */
    unsigned x_shift, y_shift; /* by which chroma has fewer samples */
    uint32_t width, height;
    unsigned passes;
    bool partial; /* it does not cover the picture */
};

static void skip_upsampling(struct frame *frame, struct jxl_bits *bits,
                            const struct jxl_frames *all)
{
    if (!all->xyb && read_bits(bits, 1) &&
        !(frame->flags & USES_LOW_FREQUENCY)) /* YCbCr */
        for (unsigned c = 0; c < 3; c++) {
            const unsigned mode = read_bits(bits, 2);
            frame->x_shift |= mode == 1 || mode == 2;
            frame->y_shift |= mode == 1 || mode == 3;
        }
    if (frame->flags & USES_LOW_FREQUENCY)
        return;
    frame->scaling = 1u << read_bits(bits, 2);
    skip_bits(bits, (size_t)2 * all->channels);
}

static void read_passes(struct frame *frame, struct jxl_bits *bits)
{
    frame->passes = NUMBER(bits, { 0, 1 }, { 0, 2 }, { 0, 3 }, { 3, 4 });
    if (frame->passes == 1)
        return;
    const unsigned smaller =
        NUMBER(bits, { 0, 0 }, { 0, 1 }, { 0, 2 }, { 1, 3 });
    skip_bits(bits, 2 * (frame->passes - 1) + 2 * smaller);
    for (unsigned i = 0; i < smaller; i++)
        NUMBER(bits, { 0, 0 }, { 0, 1 }, { 0, 2 }, { 3, 0 });
}

/* Reads a number, the lowest bit of which is its sign. */
static int64_t read_origin(struct jxl_bits *bits)
{
    const uint32_t number =
        NUMBER(bits, { 8, 0 }, { 11, 256 }, { 14, 2304 }, { 30, 18688 });
    return number & 1 ? -(int64_t)(number / 2) - 1 : number / 2;
}

static void read_place(struct frame *frame, struct jxl_bits *bits)
{
    const int64_t width = frame->width, height = frame->height;
    const bool placed = frame->kind != REFERENCE;
    const int64_t x = placed ? read_origin(bits) : 0;
    const int64_t y = placed ? read_origin(bits) : 0;
    frame->width =
        NUMBER(bits, { 8, 0 }, { 11, 256 }, { 14, 2304 }, { 30, 18688 });
    frame->height =
        NUMBER(bits, { 8, 0 }, { 11, 256 }, { 14, 2304 }, { 30, 18688 });
    frame->partial = placed && (x > 0 || y > 0 || x + frame->width < width ||
                                y + frame->height < height);
}

/* Returns how the colors, or a channel, are put on an earlier frame. */
static unsigned skip_blending(const struct frame *frame, struct jxl_bits *bits,
                              uint32_t channels)
{
    enum { REPLACE, ADD, BLEND, WEIGHTED_ADD, MULTIPLY };
    const unsigned mode =
        NUMBER(bits, { 0, REPLACE }, { 0, ADD }, { 0, BLEND }, { 2, 3 });
    const bool by_alpha =
        channels > 0 && (mode == BLEND || mode == WEIGHTED_ADD);
    if (by_alpha)
        NUMBER(bits, { 0, 0 }, { 0, 1 }, { 0, 2 }, { 3, 3 });
    skip_bits(bits, by_alpha || mode == MULTIPLY);
    skip_bits(bits, mode != REPLACE || frame->partial ? 2 : 0);
    return mode;
}

/* How a frame goes with others: blending, time, what is kept of it. */
static void read_relations(struct frame *frame, struct jxl_bits *bits,
                           const struct jxl_frames *all)
{
    const bool shown =
        frame->kind == REGULAR || frame->kind == SKIP_PROGRESSIVE;
    bool replaces = false;
    uint32_t duration = 0;
    frame->last = false;
    if (shown) {
        replaces = skip_blending(frame, bits, all->channels) == 0;
        for (uint32_t i = 0; i < all->channels && !bits->ended; i++)
            skip_blending(frame, bits, all->channels);
        if (all->animated)
            duration = NUMBER(bits, { 0, 0 }, { 0, 1 }, { 8, 0 }, { 32, 0 });
        skip_bits(bits, all->timed ? 32 : 0);
        frame->last = read_bits(bits, 1);
    }
    const bool kept = frame->kind != LOW_FREQUENCY && !frame->last &&
                      (read_bits(bits, 2) || duration == 0);
    if (frame->kind == REFERENCE ||
        (shown && kept && replaces && !frame->partial))
        skip_bits(bits, 1); /* before its colors are transformed */
}

static void skip_filters(const struct frame *frame, struct jxl_bits *bits)
{
    if (read_bits(bits, 1)) /* as usual */
        return;
    if (read_bits(bits, 1) && read_bits(bits, 1)) /* smoothing, its weights */
        skip_bits(bits, 6 * 16);
    if (read_bits(bits, 2)) { /* rounds of the one that preserves edges */
        if (!frame->modular && read_bits(bits, 1))
            skip_bits(bits, 8 * 16);
        if (read_bits(bits, 1))
            skip_bits(bits, 5 * 16);
        if (read_bits(bits, 1))
            skip_bits(bits, (frame->modular ? 3 : 4) * 16);
        skip_bits(bits, frame->modular ? 16 : 0);
    }
    skip_extensions(bits);
}

static void read_frame(struct frame *frame, struct jxl_bits *bits,
                       const struct jxl_frames *all)
{
    if (read_bits(bits, 1)) /* all as usual */
        return;
    frame->kind = read_bits(bits, 2);
    frame->modular = read_bits(bits, 1);
    frame->flags = read_long(bits);
    skip_upsampling(frame, bits, all);
    if (frame->modular)
        frame->group = read_bits(bits, 2);
    else
        skip_bits(bits, all->xyb ? 6 : 0);
    if (frame->kind != REFERENCE)
        read_passes(frame, bits);
    if (frame->kind == LOW_FREQUENCY)
        frame->level = read_bits(bits, 2) + 1;
    else if (read_bits(bits, 1))
        read_place(frame, bits);
    read_relations(frame, bits, all);
    skip_name(bits);
    skip_filters(frame, bits);
    skip_extensions(bits);
}

static uint64_t divided(uint64_t number, uint64_t by)
{
    return (number + by - 1) / by;
}

/* Returns how many sections the samples of a frame are in. */
static uint64_t count_sections(const struct frame *frame)
{
    const uint64_t by = (uint64_t)frame->scaling << 3 * frame->level,
                   width = divided(frame->width, by),
                   height = divided(frame->height, by),
                   side = UINT64_C(128) << frame->group,
                   groups = divided(width, side) * divided(height, side);
    const uint64_t columns = divided(width, 8u << frame->x_shift)
                             << frame->x_shift,
                   rows = divided(height, 8u << frame->y_shift)
                          << frame->y_shift;
    return groups == 1 && frame->passes == 1
               ? 1
               : 2 + divided(columns, side) * divided(rows, side) +
                     groups * frame->passes;
}

static void align(struct jxl_bits *bits)
{
    skip_bits(bits, -bits->at % 8);
}

/* Custom factors of color and upsampling. */
static void skip_transforms(struct jxl_bits *bits, bool xyb)
{
    if (read_bits(bits, 1))
        return;
    if (xyb && !read_bits(bits, 1))
        skip_bits(bits, 16 * 16);
    const unsigned weights = read_bits(bits, 3);
    skip_bits(bits, 16 * ((weights & 1 ? 15 : 0) + (weights & 2 ? 55 : 0) +
                          (weights & 4 ? 210 : 0)));
}

/* What cannot be followed is taken for whole. */
int jxl_frames_check(struct bytes stream, const struct jxl_header *header,
                     struct err *err)
{
    const uint64_t most = 65536; /* sections of a frame that libjxl reads */
    const struct jxl_frames *all = &header->frames;
    struct jxl_bits bits = { .from = stream, .at = all->at };
    if (all->unknown)
        return 0;
    skip_transforms(&bits, all->xyb);
    align(&bits);
    for (bool last = false; !last && !bits.ended;) {
        struct frame frame = { .last = true,
                               .scaling = 1,
                               .group = 1,
                               .width = header->width,
                               .height = header->height,
                               .passes = 1 };
        read_frame(&frame, &bits, all);
        const uint64_t sections = count_sections(&frame);
        if (read_bits(&bits, 1) || sections > most) /* in an order of chance */
            return 0;
        align(&bits);
        uint64_t size = 0;
        for (uint64_t i = 0; i < sections && !bits.ended; i++)
            size += NUMBER(&bits, { 10, 0 }, { 14, 1024 }, { 22, 17408 },
                           { 30, 4211712 });
        align(&bits);
        skip_bits(&bits, 8 * size);
        last = frame.last;
    }
    return bits.ended ? fail(err, "cut short: it ends within a frame") : 0;
}
