/* The check of a JPEG that was just encoded: all its markers, but not the data
 * between them. */
#include "codecs/jpeg/jpeg.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/jpeg/parameters.h"

enum { SOI = 0xd8, RST0 = 0xd0, EOI = 0xd9, SOS = 0xda, DRI = 0xdd };

/* Offsets in a frame header, from its marker on (T.81, B.2.2). */
enum {
    FRAME_BITS = 4,
    FRAME_HEIGHT = 5,
    FRAME_WIDTH = 7,
    FRAME_COMPONENTS = 9,
    FRAME_FIRST = 10, /* three bytes each: identifier, sampling, table */
};

/* What has been seen of the file. */
struct markers_seen {
    const uint8_t *frame; /* NULL: none yet */
    unsigned restart;     /* MCUs between restart markers; 0: there are none */
    unsigned coded;       /* a bit for each component in a scan */
};

static unsigned components(const struct markers_seen *seen)
{
    return seen->frame[FRAME_COMPONENTS];
}

/* The sampling factors of a component. */
static unsigned across(const struct markers_seen *seen, unsigned i)
{
    return seen->frame[FRAME_FIRST + 3 * i + 1] >> 4;
}

static unsigned down(const struct markers_seen *seen, unsigned i)
{
    return seen->frame[FRAME_FIRST + 3 * i + 1] & 15;
}

static int check_frame(struct markers_seen *seen, const uint8_t *p, size_t size,
                       const struct image *img, struct err *err)
{
    if (seen->frame)
        return fail(err, "it has two frames");
    if (size < FRAME_FIRST || p[FRAME_BITS] != 8 ||
        read_be16(p + FRAME_WIDTH) != img->width ||
        read_be16(p + FRAME_HEIGHT) != img->height ||
        p[FRAME_COMPONENTS] != img->nplanes ||
        size != FRAME_FIRST + 3 * (size_t)img->nplanes)
        return fail(err, "its frame is of another picture");
    seen->frame = p;
    for (unsigned i = 0; i < components(seen); i++)
        if (!across(seen, i) || !down(seen, i))
            return fail(err, "component %u has no samples", i + 1);
    return 0;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/* The MCUs of a scan; with one component, they are its blocks (T.81, A.2). */
static uint64_t mcus_of_scan(const struct markers_seen *seen, const uint8_t *p)
{
    uint64_t width = read_be16(seen->frame + FRAME_WIDTH);
    uint64_t height = read_be16(seen->frame + FRAME_HEIGHT);
    unsigned wide = 1, high = 1, one = 0;
    for (unsigned i = 0; i < components(seen); i++) {
        wide = across(seen, i) > wide ? across(seen, i) : wide;
        high = down(seen, i) > high ? down(seen, i) : high;
        if (seen->frame[FRAME_FIRST + 3 * i] == p[5])
            one = i;
    }
    if (p[4] > 1)
        return divide_up(width, 8 * wide) * divide_up(height, 8 * high);
    width = divide_up(width * across(seen, one), wide);
    height = divide_up(height * down(seen, one), high);
    return divide_up(width, 8) * divide_up(height, 8);
}

static void note_components(struct markers_seen *seen, const uint8_t *p)
{
    for (unsigned i = 0; i < components(seen); i++)
        for (unsigned k = 0; k < p[4]; k++)
            if (seen->frame[FRAME_FIRST + 3 * i] == p[5 + 2 * k])
                seen->coded |= 1u << i;
}

/* Skips the data of a scan, whose header is at p, up to the marker that ends
 * it. Returns NULL if restart markers are missing. */
static const uint8_t *pass_scan(const struct markers_seen *seen,
                                const uint8_t *p, size_t size,
                                const uint8_t *end)
{
    const uint8_t *data = p + size, *at = data;
    uint64_t passed = 0;
    while ((at = parameters_next_marker(at, end)) && at[1] >= RST0 &&
           at[1] < RST0 + 8) {
        if (!seen->restart || at[1] != RST0 + passed++ % 8)
            return NULL;
        at += 2;
    }
    uint64_t need =
        !seen->restart ? 0 : (mcus_of_scan(seen, p) - 1) / seen->restart;
    return at && at > data && passed == need ? at : NULL;
}

static int check_scan(struct markers_seen *seen, const uint8_t **p, size_t size,
                      const uint8_t *end, struct err *err)
{
    const uint8_t *scan = *p;
    if (!seen->frame)
        return fail(err, "a scan comes before the frame");
    if (size < 8 || scan[4] < 1 || scan[4] > 4 || size != 8 + 2u * scan[4])
        return fail(err, "the header of a scan is malformed");
    note_components(seen, scan);
    *p = pass_scan(seen, scan, size, end);
    return *p ? 0 : fail(err, "a scan is cut short");
}

/* Checks the segments from *p, behind SOI, and moves *p to EOI. */
static int check_segments(struct markers_seen *seen, const uint8_t **p,
                          const uint8_t *end, const struct image *img,
                          struct err *err)
{
    while (end - *p < 2 || (*p)[0] != 0xff || (*p)[1] != EOI) {
        size_t size = parameters_segment_size(*p, (size_t)(end - *p));
        if (!size)
            return fail(err, "a segment is cut short, or EOI is missing");
        if (parameters_is_frame((*p)[1]) &&
            check_frame(seen, *p, size, img, err))
            return -1;
        if ((*p)[1] == DRI && size == 6)
            seen->restart = read_be16(*p + 4);
        if ((*p)[1] != SOS)
            *p += size;
        else if (check_scan(seen, p, size, end, err))
            return -1;
    }
    return 0;
}

/* Behind EOI a file has only what was there in the JPEG that it was read from.
 */
int check_jpeg(struct bytes file, const struct image *img,
               const struct save_opts *opts, struct err *err)
{
    const uint8_t *p = file.data + 2, *end = file.data + file.size;
    struct markers_seen seen = { 0 };
    (void)opts;
    if (file.size < 4 || file.data[0] != 0xff || file.data[1] != SOI)
        return fail(err, "it does not begin as a JPEG");
    if (check_segments(&seen, &p, end, img, err))
        return -1;
    if (!seen.frame || seen.coded != (1u << components(&seen)) - 1)
        return fail(err, "not all components are coded");
    if (end - p > 2 && !codec_is_own(&codec_jpeg, img))
        return fail(err, "something stands behind its end");
    return 0;
}
