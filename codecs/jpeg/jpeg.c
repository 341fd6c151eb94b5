/* The table of functions of JPEG; the check of a file that was just encoded;
 * and a file with another orientation. */
#include "codecs/jpeg/jpeg.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/jpeg/entropy/marker.h"
#include "codecs/jpeg/entropy/sequential.h"
#include "codecs/jpeg/parameters.h"
#include "codecs/metadata/metadata.h"

/* ---- The check: all markers, but not the data between them --------------- */

/* Checks a scan of a picture, which has its frame, with its data, and sets
 * m->behind to what ends it. Sets a bit of *coded for each of its components.
 */
static int check_scan(struct sequential *picture, unsigned restart,
                      unsigned *coded, struct marker *m, const uint8_t *end,
                      struct err *err)
{
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
        *coded |= 1u << component;
    }
    sequential_set_sizes(picture);
    const uint64_t mcus = (uint64_t)scan->coding.columns * scan->coding.rows;
    const uint8_t *p = m->behind;
    const bool empty = (m->behind = marker_find(p, end)) == p;
    uint64_t left = restart ? (mcus - 1) / restart : 0, passed = 0;
    bool whole = m->behind && !empty;
    for (; whole && (p = memchr(p, 0xff, (size_t)(m->behind - p))); p += 2)
        whole = p[1] == 0 || p[1] == MARKER_RST0 + passed++ % 8;
    return whole && passed == left ? 0 : fail(err, "a scan is cut short");
}

/* Behind EOI a file has only what was there in the JPEG that it was read from.
 */
static int check(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err)
{
    const uint8_t *p = marker_first(file), *end = file.data + file.size;
    struct sequential picture = { .frame = 0 };
    unsigned restart = 0, coded = 0;
    struct marker m;
    (void)opts;
    for (; p && marker_read(&m, p, end); p = m.behind) {
        if (marker_is_frame(m.code) &&
            (!sequential_read_frame(&picture, &m) ||
             picture.width != img->width || picture.height != img->height ||
             picture.components != img->nplanes))
            return fail(err, "its frame is of another picture");
        if (m.code == MARKER_DRI && m.size == 2)
            restart = read_be16(m.data);
        if (m.code == MARKER_SOS &&
            check_scan(&picture, restart, &coded, &m, end, err))
            return -1;
    }
    if (!p || m.code != MARKER_EOI)
        return fail(err, "a segment is cut short, or SOI or EOI is missing");
    if (!picture.components || coded + 1 != 1u << picture.components)
        return fail(err, "not all components are coded");
    if (end - m.at > 2 && !codec_is_own(&codec_jpeg, img))
        return fail(err, "something stands behind its end");
    return 0;
}

/* ---- Another orientation, and not another byte changed ------------------- */

/* One of EXIF that is added comes to stand behind those of JFIF. */
static int retag(struct bytes *out, struct stream_info *info, struct bytes file,
                 enum xform op, const struct load_opts *opts, struct err *err)
{
    struct retag retag = { .op = op, .exif_at = 2, .warnings = opts->warnings };
    struct reader reader = { 0 };
    bool found = false;
    if (codec_open(&reader, &codec_jpeg, file, opts, err))
        return -1;
    struct meta *meta = reader.img.meta;
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        block->dropped = block->kind != BLOCK_EXIF &&
                         block->kind != BLOCK_XMP &&
                         block->kind != BLOCK_XMP_EXTENDED;
        if (!found)
            retag.exif_at =
                block->where == MARKER_APP0 ? block->end : block->begin;
        found = found || block->where != MARKER_APP0;
    }
    meta_remove_dropped(meta);
    *info = reader.info;
    const int status = metadata_retag(out, file, &reader.img, &retag, err);
    if (status == 0)
        segments_follow_trailer(out, file);
    codec_close(&reader);
    return status;
}

/* ---- Steps --------------------------------------------------------------- */

const uint16_t *steps_of(const struct image *img, unsigned i)
{
    const struct jpeg_parameters *p = parameters_of(img->meta);
    return p->step[p->component[i].quantization];
}

/* Transposed, then odd columns and rows negated where they run backwards. */
struct turned_block steps_turn(const uint16_t *steps, enum xform t)
{
    struct turned_block turned;
    for (unsigned i = 0; i < 64; i++) {
        const unsigned u = i % 8, v = i / 8;
        const unsigned from = xform_transposes(t) ? 8 * u + v : i;
        const bool minus =
            (t & XFORM_MIRROR_X && u % 2) != (t & XFORM_MIRROR_Y && v % 2);
        turned.from[i] = (uint8_t)from;
        turned.factor[i] = minus ? -steps[from] : steps[from];
    }
    return turned;
}

/* ---- The codec ----------------------------------------------------------- */

static bool probe(const uint8_t *head, size_t size)
{
    return size >= 3 && memcmp(head, "\xff\xd8\xff", 3) == 0;
}

static const char *const suffixes[] = { "jpeg", "jpg", "jpe", "jfif", NULL };

const struct codec codec_jpeg = {
    .name = "jpeg",
    .title = "JPEG",
    .suffixes = suffixes,
    .lossy = true,
    .has_quality = true,
    .capabilities = {
        .cells = 1 << CELL_U8,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_RGB | 1 << COLOR_YCC |
                  1 << COLOR_CMYK | 1 << COLOR_YCCK,
        .metadata = HOLDS_ICC | HOLDS_EXIF | HOLDS_XMP | HOLDS_COMMENT |
                    HOLDS_DENSITY,
    },
    .blocks = &segments_format,
    .state_size = sizeof(struct jpeg_parameters),
    .probe = probe,
    .open = open_jpeg,
    .decode = decode_jpeg,
    .describe = describe_jpeg,
    .close = close_jpeg,
    .closest = REPRESENTATION_COEFFICIENTS,
    .retag = retag,
    .encode = write_jpeg,
    .check = check,
};
