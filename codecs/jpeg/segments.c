/* What APPn and COM segments are to a turn and to --strip, and how they hold
 * metadata. */
#include "codecs/jpeg/jpeg.h"

#include <stdio.h>
#include <string.h>

#include "codecs/jpeg/entropy/marker.h"
#include "codecs/metadata/metadata.h"
#include "codecs/metadata/tiff.h"

enum { APP0 = MARKER_APP0, COM = MARKER_COM };

/* JFIF and Adobe segments say how the components are to be read. */
#define HEAD(text) text, sizeof text - 1
static const struct {
    unsigned marker;
    const char *head;
    size_t size;
    enum block_kind kind;
    unsigned drop;
    const char *name;
} known[] = {
    { APP0, HEAD("JFIF\0"), BLOCK_JFIF, 0, "APP0 JFIF" },
    { APP0, HEAD("JFXX\0"), BLOCK_JFXX, DROP_THUMBNAIL, "APP0 JFXX" },
    { APP0 + 1, HEAD("Exif\0\0"), BLOCK_EXIF, DROP_EXIF, "APP1 Exif" },
    { APP0 + 1, HEAD("http://ns.adobe.com/xap/1.0/\0"), BLOCK_XMP, DROP_XMP,
      "APP1 XMP" },
    { APP0 + 1, HEAD("http://ns.adobe.com/xmp/extension/\0"),
      BLOCK_XMP_EXTENDED, DROP_XMP, "APP1 Extended XMP" },
    { APP0 + 2, HEAD("ICC_PROFILE\0"), BLOCK_ICC_PORTION, DROP_ICC,
      "APP2 ICC" },
    { APP0 + 2, HEAD("MPF\0"), BLOCK_MPF, 0, "APP2 MPF" },
    { APP0 + 11, HEAD("JP"), BLOCK_JUMBF, 0, "APP11 JUMBF" },
    { APP0 + 13, HEAD("Photoshop 3.0\0"), BLOCK_PHOTOSHOP, 0,
      "APP13 Photoshop" },
    { APP0 + 14, HEAD("Adobe"), BLOCK_ESSENTIAL, 0, "APP14 Adobe" },
    { COM, HEAD(""), BLOCK_COMMENT, 0, "COM" },
    { TRAILER, HEAD(""), BLOCK_TRAILER, 0, "trailer" },
};
enum { KNOWN = sizeof known / sizeof *known };

/* Of a kind that is known. */
static size_t index_of_kind(enum block_kind kind)
{
    size_t i = 0;
    while (known[i].kind != kind)
        i++;
    return i;
}

static struct metadata_block *insert_segment(struct meta *meta, size_t at,
                                             unsigned marker, const void *data,
                                             size_t size)
{
    size_t i = 0;
    char name[sizeof meta->block->name];
    snprintf(name, sizeof name, "APP%u", marker - APP0);
    while (i < KNOWN && (known[i].marker != marker || size < known[i].size ||
                         memcmp(known[i].head, data, known[i].size) != 0))
        i++;
    struct metadata_block *block = meta_insert(
        meta, at, i < KNOWN ? known[i].name : name, marker, data, size);
    if (block && i < KNOWN) {
        block->kind = known[i].kind;
        block->drop = known[i].drop;
    }
    return block;
}

int segments_add(struct meta *meta, unsigned marker, const void *data,
                 size_t size, struct err *err)
{
    if (insert_segment(meta, meta->nblocks, marker, data, size))
        return 0;
    return meta_is_full(meta)
               ? fail(err, "more segments than any program writes")
               : fail_memory(err, "no memory for a segment");
}

/* ---- How a segment is opened and closed -----------------------------------*/

static int open_segment(struct bytes *body, const struct metadata_block *block,
                        struct err *err)
{
    const size_t lead = known[index_of_kind(block->kind)].size;
    if (!bytes_append(body, block->data + lead, block->size - lead))
        return fail_memory(err, "no memory for %s", block->name);
    return 0;
}

static int close_segment(struct metadata_block *block, const struct bytes *body,
                         struct err *err)
{
    const size_t i = index_of_kind(block->kind);
    if (!metadata_block_set(block, known[i].head, known[i].size, body->data,
                            body->size))
        return fail_memory(err, "no memory for %s", block->name);
    return 0;
}

static size_t room_of(enum block_kind kind)
{
    return SEGMENT_MAX - known[index_of_kind(kind)].size;
}

/* Behind those of JFIF. */
static struct metadata_block *insert_exif(struct meta *meta)
{
    const size_t exif = index_of_kind(BLOCK_EXIF);
    size_t i = 0;
    while (i < meta->nblocks && meta->block[i].where == APP0)
        i++;
    return insert_segment(meta, i, known[exif].marker, known[exif].head,
                          known[exif].size);
}

static bool frame_segment(struct bytes *file,
                          const struct metadata_block *block)
{
    return marker_put(file, block->where, block->data, block->size);
}

/* ---- What other formats hold of it ----------------------------------------*/

/* A profile is written in up to 255 segments: behind the head each has its
 * number, from 1 on, and their count (ICC.1, B.4). */
enum { PORTIONS = 255 };

/* Puts the profile together; none if its portions do not fit. Returns false
 * without memory. */
static bool read_profile(struct meta *meta)
{
    const size_t lead = known[index_of_kind(BLOCK_ICC_PORTION)].size;
    const struct metadata_block *portion[PORTIONS + 1] = { NULL };
    size_t count = 0;
    for (size_t i = 0; i < meta->nblocks; i++) {
        const struct metadata_block *block = &meta->block[i];
        if (block->kind != BLOCK_ICC_PORTION || block->size < lead + 2)
            continue;
        const size_t number = block->data[lead], of = block->data[lead + 1];
        if (number < 1 || number > of || (count && of != count) ||
            portion[number])
            return true;
        count = of;
        portion[number] = block;
    }
    for (size_t i = 1; i <= count; i++)
        if (!portion[i])
            return true;
    for (size_t i = 1; i <= count; i++)
        if (!bytes_append(&meta->icc, portion[i]->data + lead + 2,
                          portion[i]->size - lead - 2))
            return false;
    return true;
}

int segments_read_portable(struct meta *meta, const struct load_opts *opts,
                           struct err *err)
{
    if (!read_profile(meta))
        return fail_memory(err, "no memory for an ICC profile");
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        block->portable = block->kind == BLOCK_JFIF ||
                          block->kind == BLOCK_ESSENTIAL ||
                          (block->kind == BLOCK_ICC_PORTION && meta->icc.size);
    }
    return metadata_read_portable(meta, &segments_format, opts, err);
}

static int make_segments(struct meta *made, const struct meta *from,
                         struct warnings *warnings, struct err *err)
{
    const struct {
        enum block_kind kind;
        const struct bytes *body;
        const char *what;
        size_t portions; /* the most segments */
    } parts[] = {
        { BLOCK_EXIF, &from->exif, "EXIF", 1 },
        { BLOCK_XMP, &from->xmp, "XMP", 1 },
        { BLOCK_COMMENT, &from->comment, "comment", 1 },
        { BLOCK_ICC_PORTION, &from->icc, "ICC profile", PORTIONS },
    };
    struct bytes data = { 0 };
    int status = 0;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        const struct bytes *body = parts[k].body;
        const size_t n = index_of_kind(parts[k].kind);
        const size_t numbers = parts[k].portions > 1 ? 2 : 0;
        const size_t room = room_of(parts[k].kind) - numbers;
        const size_t count = (body->size + room - 1) / room;
        if (count > parts[k].portions)
            warn(warnings,
                 "%zu bytes are too long for a JPEG's %s, so they are not "
                 "kept",
                 body->size, parts[k].what);
        for (size_t i = 0;
             status == 0 && i < count && count <= parts[k].portions; i++) {
            const uint8_t number[2] = { (uint8_t)(i + 1), (uint8_t)count };
            const size_t left = body->size - i * room;
            data.size = 0;
            status = bytes_append(&data, known[n].head, known[n].size) &&
                             bytes_append(&data, number, numbers) &&
                             bytes_append(&data, body->data + i * room,
                                          left < room ? left : room)
                         ? segments_add(made, known[n].marker, data.data,
                                        data.size, err)
                         : fail_memory(err, "no memory for a segment");
        }
    }
    bytes_free(&data);
    return status;
}

const struct block_format segments_format = {
    .open = open_segment,
    .close = close_segment,
    .room = room_of,
    .insert_exif = insert_exif,
    .frame = frame_segment,
    .from_portable = make_segments,
};

/* ---- What stands behind the picture -------------------------------------- */

/* Of an MPF segment, "MPF\0". */
enum { MPF_HEAD = 4 };

/* Returns where the block in the first MPF segment of a file begins, and sets
 * its size; 0: there is none. */
static size_t find_block(struct bytes file, size_t *size)
{
    enum { APP2 = MARKER_APP0 + 2 };
    const uint8_t *end = file.data + file.size;
    struct marker m;
    for (const uint8_t *p = marker_first(file);
         p && marker_read(&m, p, end) && m.code != MARKER_SOS; p = m.behind)
        if (m.code == APP2 && m.size >= MPF_HEAD &&
            memcmp(m.data, "MPF\0", MPF_HEAD) == 0) {
            *size = m.size - MPF_HEAD;
            return (size_t)(m.data - file.data) + MPF_HEAD;
        }
    return 0;
}

int segments_take_trailer(struct meta *meta, struct bytes file, size_t behind,
                          struct err *err)
{
    if (file.size < 4 || behind > file.size)
        return 0;
    size_t size, block = find_block(file, &size), end = file.size - behind;
    if (block && block < end)
        meta->mpf_trailer = end - block;
    if (behind == 0)
        return 0;
    return segments_add(meta, TRAILER, file.data + end, behind, err);
}

void segments_follow_trailer(struct bytes *file, struct bytes before)
{
    size_t size;
    const size_t was = find_block(before, &size), is = find_block(*file, &size);
    struct mpf mpf;
    if (!was || !is || file->size == before.size ||
        !mpf_open(&mpf, file->data + is, size))
        return;
    uint32_t longer = (uint32_t)(file->size - before.size);
    uint32_t farther = (uint32_t)(file->size - is - (before.size - was));
    for (size_t i = 0; i < mpf.count; i++) {
        struct mpf_entry entry = mpf_get(&mpf, i);
        *(entry.offset ? &entry.offset : &entry.size) +=
            entry.offset ? farther : longer;
        mpf_put(&mpf, file->data + is, i, entry);
    }
}

/* By how much the end of the first picture has moved, its list counts more. */
int segments_append_trailer(struct bytes *file, const struct meta *meta,
                            struct err *err)
{
    const size_t end = file->size, was = meta->mpf_trailer;
    struct mpf mpf;
    for (size_t i = 0; i < meta->nblocks; i++)
        if (meta->block[i].kind == BLOCK_TRAILER &&
            !bytes_append(file, meta->block[i].data, meta->block[i].size))
            return fail_memory(err,
                               "no memory for what stands behind the picture");
    size_t size, at = find_block(*file, &size);
    if (!at || !was || !mpf_open(&mpf, file->data + at, size))
        return 0;
    if (file->size - at > UINT32_MAX)
        return fail(err, "the file is too large for its MPF");
    for (size_t i = 0; i < mpf.count; i++) {
        struct mpf_entry entry = mpf_get(&mpf, i);
        if (i == 0)
            entry.size = (uint32_t)end;
        else if (entry.offset >= was && entry.offset - was <= file->size - end)
            entry.offset = (uint32_t)(entry.offset - was + (end - at));
        mpf_put(&mpf, file->data + at, i, entry);
    }
    return 0;
}
