/* The check of a JPEG that was just encoded: all its markers, but not the data
 * between them. */
#include "codecs/jpeg/jpeg.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/jpeg/entropy/sequential.h"

/* What has been seen of the file. */
struct markers_seen {
    struct sequential picture; /* its frame, and the last scan */
    unsigned restart; /* MCUs between restart markers; 0: there are none */
    unsigned coded;   /* a bit for each component in a scan */
};

/* Whether the coded data has so many restart markers, in order. */
static bool has_restarts(const uint8_t *p, const uint8_t *end, uint64_t count)
{
    uint64_t passed = 0;
    for (; p < end && (p = memchr(p, 0xff, (size_t)(end - p))); p += 2)
        if (p[1] != 0 && p[1] != MARKER_RST0 + passed++ % 8)
            return false;
    return passed == count;
}

/* Checks a scan with its data, and sets m->behind to what ends it. */
static int check_scan(struct markers_seen *seen, struct marker *m,
                      const uint8_t *end, struct err *err)
{
    struct sequential *picture = &seen->picture;
    struct sequential_scan *scan = &picture->scan[0];
    const unsigned count = m->size ? m->data[0] : 0;
    if (count < 1 || count > ENTROPY_COMPONENTS || m->size != 4 + 2 * count)
        return fail(err, "the header of a scan is malformed");
    picture->scans = 1;
    scan->coding.components = count;
    for (unsigned i = 0; i < count; i++) {
        int component = sequential_component(picture, m->data[1 + 2 * i]);
        if (component < 0)
            return fail(err, "a scan is of no component");
        scan->component[i] = (uint8_t)component;
        seen->coded |= 1u << component;
    }
    sequential_set_sizes(picture);
    const uint64_t mcus = (uint64_t)scan->coding.columns * scan->coding.rows;
    const uint8_t *data = m->behind;
    m->behind = marker_find(data, end);
    if (!m->behind || m->behind == data ||
        !has_restarts(data, m->behind,
                      seen->restart ? (mcus - 1) / seen->restart : 0))
        return fail(err, "a scan is cut short");
    return 0;
}

static int check_segment(struct markers_seen *seen, struct marker *m,
                         const uint8_t *end, const struct image *img,
                         struct err *err)
{
    const struct sequential *picture = &seen->picture;
    if (marker_is_frame(m->code) &&
        (!sequential_read_frame(&seen->picture, m) ||
         picture->width != img->width || picture->height != img->height ||
         picture->components != img->nplanes))
        return fail(err, "its frame is of another picture");
    if (m->code == MARKER_DRI && m->size == 2)
        seen->restart = read_be16(m->data);
    return m->code == MARKER_SOS ? check_scan(seen, m, end, err) : 0;
}

/* Behind EOI a file has only what was there in the JPEG that it was read from.
 */
int check_jpeg(struct bytes file, const struct image *img,
               const struct save_opts *opts, struct err *err)
{
    const uint8_t *p = marker_first(file), *end = file.data + file.size;
    struct markers_seen seen = { .restart = 0 };
    struct marker m;
    (void)opts;
    for (; p && marker_read(&m, p, end); p = m.behind)
        if (check_segment(&seen, &m, end, img, err))
            return -1;
    if (!p || m.code != MARKER_EOI)
        return fail(err, "a segment is cut short, or SOI or EOI is missing");
    if (!seen.picture.components ||
        seen.coded + 1 != 1u << seen.picture.components)
        return fail(err, "not all components are coded");
    if (end - m.at > 2 && !codec_is_own(&codec_jpeg, img))
        return fail(err, "something stands behind its end");
    return 0;
}
