/* What APPn and COM segments say, what of it a turn makes false, what other
 * formats can hold, and what --strip may drop. */
#include "codecs/jpeg/jpeg.h"

#include <stdio.h>
#include <string.h>

#include "codecs/metadata/drop.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/embedded_jpeg.h"
#include "codecs/metadata/photoshop.h"
#include "codecs/metadata/thumbnail.h"

enum { APP0 = 0xe0, COM = 0xfe };

#define HEAD(text) text, sizeof text - 1
static const struct {
    unsigned marker;
    const char *head;
    size_t size;
    enum segment segment;
    const char *name;
} known[] = {
    { APP0, HEAD("JFIF\0"), SEGMENT_JFIF, "APP0 JFIF" },
    { APP0, HEAD("JFXX\0"), SEGMENT_JFXX, "APP0 JFXX" },
    { APP0 + 1, HEAD("Exif\0\0"), SEGMENT_EXIF, "APP1 Exif" },
    { APP0 + 1, HEAD("http://ns.adobe.com/xap/1.0/\0"), SEGMENT_XMP,
      "APP1 XMP" },
    { APP0 + 1, HEAD("http://ns.adobe.com/xmp/extension/\0"), SEGMENT_XMP_MORE,
      "APP1 Extended XMP" },
    { APP0 + 2, HEAD("ICC_PROFILE\0"), SEGMENT_ICC, "APP2 ICC" },
    { APP0 + 2, HEAD("MPF\0"), SEGMENT_MPF, "APP2 MPF" },
    { APP0 + 11, HEAD("JP"), SEGMENT_JUMBF, "APP11 JUMBF" },
    { APP0 + 13, HEAD("Photoshop 3.0\0"), SEGMENT_PHOTOSHOP,
      "APP13 Photoshop" },
    { APP0 + 14, HEAD("Adobe"), SEGMENT_ADOBE, "APP14 Adobe" },
    { COM, HEAD(""), SEGMENT_COMMENT, "COM" },
    { TRAILER, HEAD(""), SEGMENT_TRAILER, "trailer" },
};
enum { KNOWN = sizeof known / sizeof *known };

/* Its index in `known`, or KNOWN. */
static size_t known_index(unsigned marker, const uint8_t *data, size_t size)
{
    size_t i = 0;
    while (i < KNOWN &&
           (known[i].marker != marker || size < known[i].size ||
            memcmp(known[i].head, data, known[i].size) != 0))
        i++;
    return i;
}

enum segment segment_of(const struct metadata_block *block)
{
    size_t i = known_index(block->where, block->data, block->size);
    return i < KNOWN ? known[i].segment : SEGMENT_OTHER;
}

const char *segment_head(enum segment segment, size_t *size)
{
    size_t i = 0;
    while (known[i].segment != segment)
        i++;
    *size = known[i].size;
    return known[i].head;
}

size_t segment_room(enum segment segment)
{
    size_t lead;
    segment_head(segment, &lead);
    return SEGMENT_MAX - lead;
}

int segment_open(struct bytes *body, const struct bytes *data,
                 enum segment segment, struct err *err)
{
    size_t lead;
    segment_head(segment, &lead);
    if (!bytes_append(body, data->data + lead, data->size - lead))
        return fail_memory(err, "no memory for a segment");
    return 0;
}

int segment_close(struct bytes *data, enum segment segment, struct bytes *body,
                  struct err *err)
{
    size_t lead;
    const char *head = segment_head(segment, &lead);
    data->size = 0;
    bool done = bytes_append(data, head, lead) &&
                bytes_append(data, body->data, body->size);
    bytes_free(body);
    return done ? 0 : fail_memory(err, "no memory for a segment");
}

int segment_add(struct meta *meta, unsigned marker, const void *data,
                size_t size, struct err *err)
{
    char name[sizeof meta->block->name];
    size_t i = known_index(marker, data, size);
    snprintf(name, sizeof name, "APP%u", marker - APP0);
    if (!meta_add(meta, i < KNOWN ? known[i].name : name, marker, data, size))
        return meta_is_full(meta)
                   ? fail(err, "more segments than any program writes")
                   : fail_memory(err, "no memory for a segment");
    return 0;
}

/* ---- What is read out of segments -------------------------------------- */

/* What follows the head of a segment; borrowed. */
static struct bytes body(const struct metadata_block *block, enum segment segment)
{
    size_t lead;
    segment_head(segment, &lead);
    return (struct bytes){ .data = block->data + lead,
                           .size = block->size - lead };
}

/* Readers take the first EXIF there is. */
int segments_orientation(struct meta *meta, struct err *err)
{
    enum tag_place place = TAG_EXIF;
    meta->orientation = (struct orientation){ 0 };
    for (size_t i = 0; i < meta->nblocks; i++)
        if (segment_of(&meta->block[i]) == SEGMENT_EXIF) {
            struct bytes exif = body(&meta->block[i], SEGMENT_EXIF);
            orientation_note(&meta->orientation, place,
                             exif_tag(exif.data, exif.size));
            place = TAG_MORE_EXIF;
        }
    return segments_note_xmp(meta, err);
}

void segments_note(struct meta *meta)
{
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        block->color = segment_of(block) == SEGMENT_ICC;
    }
}

int segments_to_portable(struct image *img, struct err *err)
{
    struct meta *meta = img->meta;
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        enum segment segment = segment_of(block);
        struct bytes *into = segment == SEGMENT_EXIF      ? &meta->exif
                             : segment == SEGMENT_XMP     ? &meta->xmp
                             : segment == SEGMENT_COMMENT ? &meta->comment
                                                          : NULL;
        if (segment == SEGMENT_JFIF || segment == SEGMENT_ADOBE ||
            (segment == SEGMENT_ICC && meta->icc.size))
            block->portable = true;
        if (!into || into->size)
            continue;
        struct bytes text = body(block, segment);
        block->portable = true;
        if (!bytes_append(into, text.data, text.size))
            return fail_memory(err, "no memory for %s", block->name);
    }
    return meta_comment_utf8(meta, err);
}

/* ---- What a turn makes of a segment ------------------------------------ */

/* JFIF (T.871, 10.1): after the head 2 bytes of version, the unit, two
 * densities of 2 bytes, and a thumbnail of w x h pixels of 3 bytes. */
static int turn_jfif(struct bytes *data, const struct image *img,
                     struct err *err)
{
    uint8_t *p = data->data;
    if (data->size < 14)
        return 0;
    size_t w = p[12], h = p[13];
    if (xform_transposes(img->turned)) {
        uint8_t x[2] = { p[8], p[9] };
        memmove(p + 8, p + 10, 2);
        memcpy(p + 10, x, 2);
    }
    if (w * h == 0 || data->size < 14 + 3 * w * h)
        return 0;
    return thumbnail_turn_pixels(p + 14, 3, &p[12], &p[13], img->turned, err);
}

/* One with a palette of 256 x 3 bytes, or of RGB. */
static int turn_jfxx_pixels(struct bytes *data, size_t at, size_t bytes,
                            enum xform t, struct err *err)
{
    enum { SIZE = 6 };
    uint8_t *p = data->data;
    if (data->size < at ||
        data->size - at < bytes * p[SIZE] * p[SIZE + 1] ||
        p[SIZE] * p[SIZE + 1] == 0)
        return fail(err, "it is cut");
    return thumbnail_turn_pixels(p + at, bytes, &p[SIZE], &p[SIZE + 1], t, err);
}

/* JFIF extension (T.871, 10.2 to 10.5): after the head a byte that says what
 * the thumbnail is: a JPEG file, or its size in 2 bytes and its pixels. */
static int turn_jfxx_kind(struct bytes *data, const struct image *img,
                          const struct save_opts *opts, struct err *err)
{
    enum { KIND = 5, FILE_AT = 6, JPEG = 0x10, PALETTE = 0x11, RGB = 0x13 };
    struct bytes file = { .data = data->data + FILE_AT }, turned = { 0 };
    int status = -1;
    switch (data->size > KIND ? data->data[KIND] : 0) {
    case PALETTE:
        return turn_jfxx_pixels(data, 8 + 256 * 3, 1, img->turned, err);
    case RGB:
        return turn_jfxx_pixels(data, 8, 3, img->turned, err);
    case JPEG:
        break;
    default:
        return fail(err, "it is of no known kind");
    }
    file.size = data->size - FILE_AT;
    if (thumbnail_turn_file(&turned, file, img, opts, err) == 0) {
        data->size = FILE_AT;
        if (turned.size > SEGMENT_MAX - FILE_AT)
            fail(err, "it no longer fits");
        else if (!bytes_append(data, turned.data, turned.size))
            fail_memory(err, "no memory");
        else
            status = 0;
    }
    bytes_free(&turned);
    return status;
}

/* One that cannot be turned is dropped. */
static int turn_jfxx(struct bytes *data, const struct image *img,
                     const struct save_opts *opts, struct err *err)
{
    struct err why;
    if (img->turned == XFORM_NONE ||
        turn_jfxx_kind(data, img, opts, &why) == 0)
        return 0;
    if (why.memory)
        return fail_memory(err, "the JFXX thumbnail: %s", why.text);
    warn(opts->warnings,
         "the JFXX thumbnail cannot be turned, so it is not kept: %s",
         why.text);
    bytes_free(data);
    return 0;
}

/* What JFIF says without a density and a thumbnail: that this is YCbCr. */
static void strip_jfif(struct bytes *data)
{
    static const uint8_t nothing[7] = { 0, 0, 1, 0, 1, 0, 0 };
    if (data->size < 14)
        return;
    memcpy(data->data + 7, nothing, sizeof nothing);
    data->size = 14;
}

/* The same, with the density that it had. */
static void drop_jfif_thumbnail(struct bytes *data)
{
    if (data->size < 14)
        return;
    memset(data->data + 12, 0, 2);
    data->size = 14;
}

static int turn_exif(struct bytes *data, const struct image *img,
                     const struct save_opts *opts, struct err *err)
{
    struct bytes exif = { 0 };
    if (segment_open(&exif, data, SEGMENT_EXIF, err))
        return -1;
    if (drop_in_exif(&exif, opts->drop, err) ||
        exif_turn_all(&exif, segment_room(SEGMENT_EXIF), img, opts, err)) {
        bytes_free(&exif);
        return -1;
    }
    return segment_close(data, SEGMENT_EXIF, &exif, err);
}

static int turn_photoshop(struct bytes *data, const struct image *img,
                          const struct save_opts *opts, struct err *err)
{
    struct bytes block = { 0 };
    if (segment_open(&block, data, SEGMENT_PHOTOSHOP, err))
        return -1;
    if (photoshop_drop(&block, opts, err) ||
        photoshop_turn(&block, segment_room(SEGMENT_PHOTOSHOP), img, opts,
                       err)) {
        bytes_free(&block);
        return -1;
    }
    return segment_close(data, SEGMENT_PHOTOSHOP, &block, err);
}

static int turn_segment(struct bytes *data, const struct metadata_block *block,
                        const struct image *img, const struct save_opts *opts,
                        struct err *err)
{
    switch (segment_of(block)) {
    case SEGMENT_JFIF:
        if (opts->strip != STRIP_NOTHING)
            strip_jfif(data);
        if (opts->drop & DROP_THUMBNAIL)
            drop_jfif_thumbnail(data);
        return turn_jfif(data, img, err);
    case SEGMENT_JFXX:
        return turn_jfxx(data, img, opts, err);
    case SEGMENT_EXIF:
        return turn_exif(data, img, opts, err);
    case SEGMENT_PHOTOSHOP:
        return turn_photoshop(data, img, opts, err);
    default:
        return 0;
    }
}

/* What has to be left out for a segment to be left out. */
static unsigned drop_of(enum segment segment)
{
    switch (segment) {
    case SEGMENT_EXIF:
        return DROP_EXIF;
    case SEGMENT_XMP:
    case SEGMENT_XMP_MORE:
        return DROP_XMP;
    case SEGMENT_ICC:
        return DROP_ICC;
    case SEGMENT_JFXX:
        return DROP_THUMBNAIL;
    default:
        return 0;
    }
}

/* JFIF and Adobe segments say how the components are to be read. */
static bool may_keep(const struct metadata_block *block, const struct save_opts *opts)
{
    enum segment segment = segment_of(block);
    if (segment == SEGMENT_JFIF || segment == SEGMENT_ADOBE)
        return true;
    if (opts->drop & drop_of(segment))
        return false;
    if (opts->strip == STRIP_ALL)
        return false;
    return opts->strip == STRIP_NOTHING || segment == SEGMENT_ICC;
}

/* Signed files are changed like any other; what reads them will say so. */
static void warn_of_signature(const struct bytes *out, const struct meta *meta,
                              const struct image *img,
                              struct warnings *warnings)
{
    for (size_t i = 0; i < meta->nblocks && img->turned != XFORM_NONE; i++)
        if (out[i].data && segment_of(&meta->block[i]) == SEGMENT_JUMBF) {
            warn(warnings, "what JUMBF (C2PA) says of the pixels, such as a "
                           "signature, no longer holds");
            return;
        }
}

/* What is not understood may tell a place, and stays. */
static void warn_of_places(const struct bytes *out, const struct meta *meta,
                           const struct save_opts *opts)
{
    for (size_t i = 0; i < meta->nblocks && opts->drop & DROP_GPS; i++)
        if (out[i].data && drop_tells_place(out[i].data, out[i].size))
            warn(opts->warnings, "%s seems to tell coordinates, and is kept",
                 meta->block[i].name);
}

/* Each segment by itself, with the thumbnail that it may hold. */
static int turn_segments(struct bytes *out, const struct meta *meta,
                         const struct image *img, const struct save_opts *opts,
                         struct err *err)
{
    for (size_t i = 0; i < meta->nblocks; i++) {
        const struct metadata_block *block = &meta->block[i];
        if (!may_keep(block, opts))
            continue;
        /* One more, so that an empty segment has data as well. */
        if (!bytes_reserve(&out[i], block->size + 1) ||
            !bytes_append(&out[i], block->data, block->size))
            return fail_memory(err, "no memory for %s", block->name);
        if (turn_segment(&out[i], block, img, opts, err))
            return -1;
    }
    return 0;
}

int segments_turned(struct bytes *out, const struct meta *meta,
                    const struct image *img, const struct save_opts *opts,
                    struct err *err)
{
    struct lengths lengths = { 0 };
    struct save_opts save = *opts;
    uint64_t allowance = embedded_jpeg_allowance(img);
    if (!save.allowance)
        save.allowance = &allowance;
    if (turn_segments(out, meta, img, &save, err))
        return -1;
    warn_of_signature(out, meta, img, opts->warnings);
    if (trailer_turn(out, meta, img, &save, &lengths, err))
        return -1;
    if (segments_turn_xmp(out, meta, img, opts, &lengths, err))
        return -1;
    if (!opts->inner)
        warn_of_places(out, meta, opts);
    return 0;
}

/* ---- Segments for what another format said ----------------------------- */

static int add_block(struct meta *made, enum segment segment,
                     const struct bytes *text, const struct save_opts *opts,
                     struct err *err)
{
    struct bytes data = { 0 };
    size_t lead;
    const char *head = segment_head(segment, &lead);
    unsigned marker = segment == SEGMENT_COMMENT ? COM : APP0 + 1;
    int status = -1;
    if (text->size == 0)
        return 0;
    if (text->size > SEGMENT_MAX - lead) {
        warn(opts->warnings, "%zu bytes are too long for a JPEG's %s, so they "
                             "are not kept",
             text->size, segment == SEGMENT_EXIF  ? "EXIF"
                         : segment == SEGMENT_XMP ? "XMP"
                                                  : "comment");
        return 0;
    }
    if (bytes_append(&data, head, lead) &&
        bytes_append(&data, text->data, text->size))
        status = segment_add(made, marker, data.data, data.size, err);
    else
        fail_memory(err, "no memory for a segment");
    bytes_free(&data);
    return status;
}

int segments_from_portable(struct meta *made, const struct image *img,
                          const struct save_opts *opts, struct err *err)
{
    const struct meta *from = img->meta;
    if (!from)
        return 0;
    if (opts->strip == STRIP_NOTHING)
        meta_warn_lost(from, codec_jpeg.holds.metadata, "JPEG", opts->warnings);
    if (add_block(made, SEGMENT_EXIF, &from->exif, opts, err) ||
        add_block(made, SEGMENT_XMP, &from->xmp, opts, err) ||
        add_block(made, SEGMENT_COMMENT, &from->comment, opts, err))
        return -1;
    return 0;
}
