/* The order and the fields of the chunks of an animated PNG. */
#include "codecs/png/animation.h"

#include <string.h>

#include "codecs/base/byte_order.h"

/* ---- Places -------------------------------------------------------------- */

struct frame_place frame_place_read(const uint8_t *fctl)
{
    return (struct frame_place){
        .width = read_be32(fctl + 4),
        .height = read_be32(fctl + 8),
        .x = read_be32(fctl + 12),
        .y = read_be32(fctl + 16),
    };
}

void frame_place_write(uint8_t *fctl, struct frame_place place)
{
    write_be32(fctl + 4, place.width);
    write_be32(fctl + 8, place.height);
    write_be32(fctl + 12, place.x);
    write_be32(fctl + 16, place.y);
}

struct frame_place frame_place_turn(struct frame_place place, enum xform t,
                                    uint32_t width, uint32_t height)
{
    if (xform_transposes(t))
        place =
            (struct frame_place){ place.y, place.x, place.height, place.width };
    if (t & XFORM_MIRROR_X)
        place.x = width - place.width - place.x;
    if (t & XFORM_MIRROR_Y)
        place.y = height - place.height - place.y;
    return place;
}

/* ---- Chunks -------------------------------------------------------------- */

/* A wrong number is passed over if that is allowed. */
static int wrong_number(struct animation_parser *p, const struct err *why,
                        struct err *err)
{
    if (p->lenient && !*p->wrong.text)
        p->wrong = *why;
    if (p->lenient)
        return 0;
    *err = *why;
    return -1;
}

static int take_number(struct animation_parser *p, const char *name,
                       const uint8_t *data, struct err *err)
{
    struct err why;
    uint32_t number = read_be32(data), expected = p->sequence;
    p->sequence = number + 1;
    if (number == expected)
        return 0;
    fail(&why, "%s has the sequence number %u, where %u should follow", name,
         number, expected);
    return wrong_number(p, &why, err);
}

static int take_actl(struct animation_parser *p, const uint8_t *data,
                     size_t size, struct err *err)
{
    if (p->declared)
        return fail(err, "acTL is there twice");
    if (p->after_idat)
        return fail(err, "acTL stands behind the image data");
    if (size != ACTL || read_be32(data) == 0)
        return fail(err, "acTL is malformed");
    p->declared = true;
    p->found.frames = read_be32(data);
    p->found.plays = read_be32(data + 4);
    return 0;
}

/* Fails if a frame has begun that has no samples; then it is none. */
static int end_frame(struct animation_parser *p, struct err *err)
{
    if (!p->empty)
        return 0;
    p->wrong_at = p->begun_at;
    p->empty = p->open = false;
    return fail(err, "frame %u has no image data", p->frames--);
}

static int check_place(const struct animation_parser *p,
                       struct frame_place place, struct err *err)
{
    const uint32_t w = p->width, h = p->height;
    if (place.width == 0 || place.height == 0 || place.width > w ||
        place.height > h || place.x > w - place.width ||
        place.y > h - place.height)
        return fail(err,
                    "frame %u, of %u x %u pixels at %u, %u, is not within "
                    "the picture of %u x %u",
                    p->frames + 1, place.width, place.height, place.x, place.y,
                    w, h);
    if (!p->after_idat && (place.width != w || place.height != h))
        return fail(err,
                    "frame 1, the default image, is said to be %u x %u "
                    "pixels large",
                    place.width, place.height);
    return 0;
}

static void note_time(struct animation *a, const uint8_t *fctl, bool first)
{
    unsigned unit = read_be16(fctl + 22);
    double seconds = (double)read_be16(fctl + 20) / (unit ? unit : 100);
    a->seconds += seconds;
    if (first || seconds < a->shortest)
        a->shortest = seconds;
    if (first || seconds > a->longest)
        a->longest = seconds;
}

static int take_fctl(struct animation_parser *p, const uint8_t *data,
                     size_t size, struct err *err)
{
    enum { DISPOSE = 24, BLEND = 25 };
    if (!p->after_idat && p->frames)
        return fail(err, "two fcTL stand before the image data");
    if (end_frame(p, err))
        return -1;
    p->open = false;
    if (size != FCTL || data[DISPOSE] > 2 || data[BLEND] > 1)
        return fail(err, "the fcTL of frame %u is malformed", p->frames + 1);
    if (take_number(p, "fcTL", data, err) ||
        check_place(p, frame_place_read(data), err))
        return -1;
    note_time(&p->found, data, p->frames == 0);
    p->begun_at = p->at;
    p->open = p->empty = true;
    p->frames++;
    return 0;
}

static int take_fdat(struct animation_parser *p, const uint8_t *data,
                     size_t size, struct err *err)
{
    if (!p->open)
        return fail(err, "an fdAT belongs to no fcTL");
    if (size < SEQUENCE)
        return fail(err, "an fdAT of frame %u is malformed", p->frames);
    if (take_number(p, "fdAT", data, err))
        return -1;
    p->empty = false;
    return 0;
}

/* IDAT has the samples of the frame that has begun before it. */
static void pass_idat(struct animation_parser *p)
{
    p->after_idat = true;
    p->open = p->empty = false;
    p->found.apart = p->frames == 0;
}

int animation_take(struct animation_parser *p, const char *name,
                   const uint8_t *data, size_t size, bool after_idat,
                   struct err *err)
{
    if (after_idat && !p->after_idat)
        pass_idat(p);
    p->wrong_at = p->at;
    if (strcmp(name, "acTL") == 0)
        return take_actl(p, data, size, err);
    if (strcmp(name, "fcTL") == 0)
        return take_fctl(p, data, size, err);
    return p->after_idat ? take_fdat(p, data, size, err)
                         : fail(err, "an fdAT stands before the image data");
}

int animation_end(struct animation_parser *p, struct err *err)
{
    struct err why;
    if (!p->after_idat)
        pass_idat(p);
    if (end_frame(p, err))
        return -1;
    if (p->frames == p->found.frames)
        return 0;
    fail(&why, "acTL says that there are %u frames, but %u are there",
         p->found.frames, p->frames);
    return wrong_number(p, &why, err);
}
