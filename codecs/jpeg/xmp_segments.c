/* XMP in a JPEG: a packet in a segment of its own, and Extended XMP in pieces.
 *
 * XMP specification, part 3, 1.1.3: what does not fit into one segment is a
 * second packet, cut into pieces, which the first one names by its GUID, the
 * MD5 digest of it as 32 hexadecimal digits. */
#include "codecs/jpeg/jpeg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/metadata/drop.h"
#include "codecs/metadata/md5.h"
#include "codecs/metadata/xml.h"
#include "codecs/metadata/xmp.h"
#include "codecs/metadata/xmp_packet.h"

/* Behind the head of a piece stand the GUID, the size of the whole and the
 * offset of this piece, of 4 bytes each. */
enum {
    GUID = 2 * MD5_SIZE,
    PIECE_WHOLE = GUID,
    PIECE_OFFSET = GUID + 4,
    PIECE_LEAD = GUID + 8,
};

/* ---- Any packet -----------------------------------------------------------*/

static int turn_packet(struct bytes *packet, size_t room,
                       const struct image *img, const struct save_opts *opts,
                       const struct lengths *lengths, struct err *err)
{
    if (drop_in_xmp(packet->data, packet->size, opts->drop, err) ||
        xmp_container_set_lengths(packet, room, lengths, opts->warnings, err))
        return -1;
    return xmp_packet_turn(packet, room, img, opts, err);
}

static int turn_segment(struct bytes *data, const struct image *img,
                        const struct save_opts *opts,
                        const struct lengths *lengths, struct err *err)
{
    struct bytes packet = { 0 };
    if (segment_open(&packet, data, SEGMENT_XMP, err))
        return -1;
    if (turn_packet(&packet, segment_room(SEGMENT_XMP), img, opts, lengths,
                    err)) {
        bytes_free(&packet);
        return -1;
    }
    return segment_close(data, SEGMENT_XMP, &packet, err);
}

/* ---- Extended XMP ---------------------------------------------------------*/

/* One piece of Extended XMP that is to be written. */
struct piece {
    struct bytes *segment;
    size_t lead; /* of the segment, up to the GUID */
};

static uint8_t *piece_at(const struct piece *piece, size_t at)
{
    return piece->segment->data + piece->lead + at;
}

static size_t piece_size(const struct piece *piece)
{
    return piece->segment->size - piece->lead - PIECE_LEAD;
}

/* By the whole that they belong to, then by their place in it. */
static int compare_pieces(const void *a, const void *b)
{
    int order = memcmp(piece_at(a, 0), piece_at(b, 0), GUID);
    return order ? order
                 : memcmp(piece_at(a, PIECE_OFFSET), piece_at(b, PIECE_OFFSET),
                          4);
}

/* Gives the pieces in order; `piece` has room for all blocks. */
static size_t find_pieces(struct piece *piece, struct bytes *out,
                          const struct meta *meta)
{
    size_t lead, count = 0;
    segment_head(SEGMENT_XMP_MORE, &lead);
    for (size_t i = 0; i < meta->nblocks; i++)
        if (out[i].data && out[i].size > lead + PIECE_LEAD &&
            segment_of(&meta->block[i]) == SEGMENT_XMP_MORE)
            piece[count++] = (struct piece){ .segment = &out[i], .lead = lead };
    qsort(piece, count, sizeof *piece, compare_pieces);
    return count;
}

/* Puts the pieces together in `all`. *whole: there are all of them. */
static int join(struct bytes *all, const struct piece *piece, size_t count,
                bool *whole, struct err *err)
{
    *whole = true;
    for (size_t i = 0; i < count; i++) {
        if (read_be32(piece_at(&piece[i], PIECE_OFFSET)) != all->size)
            *whole = false;
        if (!bytes_append(all, piece_at(&piece[i], PIECE_LEAD),
                          piece_size(&piece[i])))
            return fail_memory(err, "no memory for Extended XMP");
    }
    for (size_t i = 0; i < count; i++)
        if (read_be32(piece_at(&piece[i], PIECE_WHOLE)) != all->size)
            *whole = false;
    return 0;
}

/* Cuts `all` where it was cut before: the last piece takes what it has grown
 * by, which is no more than there was room for. */
static int cut(const struct bytes *all, const struct piece *piece, size_t count,
               bool whole, struct err *err)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        size_t size = i + 1 < count ? piece_size(&piece[i]) : all->size - at;
        piece[i].segment->size = piece[i].lead + PIECE_LEAD;
        if (!bytes_append(piece[i].segment, all->data + at, size))
            return fail_memory(err, "no memory for Extended XMP");
        if (whole)
            write_be32(piece_at(&piece[i], PIECE_WHOLE), (uint32_t)all->size);
        at += size;
    }
    return 0;
}

static void make_guid(char guid[GUID + 1], const struct bytes *all)
{
    uint8_t digest[MD5_SIZE];
    md5(digest, all->data, all->size);
    for (unsigned i = 0; i < MD5_SIZE; i++)
        snprintf(guid + 2 * i, 3, "%02X", (unsigned)digest[i]);
}

/* Where the first packet names the other one. */
static void rename_in(uint8_t *packet, size_t size, const uint8_t *was,
                      const char *guid)
{
    static const struct xmlns note = { "http://ns.adobe.com/xmp/note/",
                                       "xmpNote" };
    struct xml_scan scan = { .text = packet, .size = size };
    struct token token;
    struct space space;
    xml_find_spaces(packet, size, &space, &note, 1);
    while (xml_next(&scan, &token)) {
        struct span value = xml_trim(packet, token.value);
        if (value.size == GUID && !memcmp(packet + value.at, was, GUID) &&
            xml_is_named(packet, token.name, &space, "HasExtendedXMP"))
            memcpy(packet + value.at, guid, GUID);
    }
}

/* A GUID that was not the digest of what it named is a name and no more, and
 * stays. */
static void set_guid(const struct piece *piece, size_t count, const char *guid,
                     struct bytes *out, const struct meta *meta)
{
    uint8_t was[GUID];
    size_t lead;
    memcpy(was, piece_at(piece, 0), GUID);
    segment_head(SEGMENT_XMP, &lead);
    for (size_t i = 0; i < meta->nblocks; i++)
        if (out[i].data && segment_of(&meta->block[i]) == SEGMENT_XMP)
            rename_in(out[i].data + lead, out[i].size - lead, was, guid);
    for (size_t i = 0; i < count; i++)
        memcpy(piece_at(&piece[i], 0), guid, GUID);
}

static int turn_pieces(const struct piece *piece, size_t count,
                       struct bytes *out, const struct meta *meta,
                       const struct image *img, const struct save_opts *opts,
                       const struct lengths *lengths, struct err *err)
{
    struct bytes all = { 0 };
    char guid[GUID + 1];
    bool whole;
    int status = -1;
    if (join(&all, piece, count, &whole, err))
        goto out;
    make_guid(guid, &all);
    bool digest = whole && !memcmp(guid, piece_at(piece, 0), GUID);
    size_t room = all.size, before = all.size;
    if (whole)
        room += SEGMENT_MAX - piece[count - 1].segment->size;
    if (turn_packet(&all, room, img, opts, lengths, err))
        goto out;
    while (all.size < before) /* blanks may stand behind the last element */
        if (!bytes_append(&all, " ", 1)) {
            fail_memory(err, "no memory for Extended XMP");
            goto out;
        }
    status = cut(&all, piece, count, whole, err);
    make_guid(guid, &all);
    if (status == 0 && digest)
        set_guid(piece, count, guid, out, meta);
out:
    bytes_free(&all);
    return status;
}

/* How many pieces at the begin of a list belong to one whole. */
static size_t group_size(const struct piece *piece, size_t count)
{
    size_t n = 1;
    while (n < count &&
           !memcmp(piece_at(piece, 0), piece_at(&piece[n], 0), GUID))
        n++;
    return n;
}

/* The pieces may stand in any order (XMP specification, part 3, 1.1.3.1). */
static int turn_more(struct bytes *out, const struct meta *meta,
                     const struct image *img, const struct save_opts *opts,
                     const struct lengths *lengths, struct err *err)
{
    struct piece *piece = calloc(meta->nblocks + 1, sizeof *piece);
    int status = 0;
    if (!piece)
        return fail_memory(err, "no memory for Extended XMP");
    size_t count = find_pieces(piece, out, meta), end;
    for (size_t i = 0; i < count && status == 0; i = end) {
        end = i + group_size(piece + i, count - i);
        status =
            turn_pieces(piece + i, end - i, out, meta, img, opts, lengths, err);
    }
    free(piece);
    return status;
}

/* ---- What XMP says of the orientation --------------------------------------*/

static int note_pieces(const struct piece *piece, size_t count,
                       struct orientation *o, struct err *err)
{
    struct bytes all = { 0 };
    bool whole;
    int status = join(&all, piece, count, &whole, err);
    if (status == 0)
        xmp_note(all.data, all.size, o);
    bytes_free(&all);
    return status;
}

/* The blocks themselves, of which no copies are made here. */
static int note_more(struct meta *meta, struct err *err)
{
    struct bytes *view = calloc(meta->nblocks, sizeof *view);
    struct piece *piece = calloc(meta->nblocks, sizeof *piece);
    int status =
        view && piece ? 0 : fail_memory(err, "no memory for Extended XMP");
    size_t end;
    for (size_t i = 0; i < meta->nblocks && status == 0; i++)
        view[i] = (struct bytes){ .data = meta->block[i].data,
                                  .size = meta->block[i].size };
    size_t count = status == 0 ? find_pieces(piece, view, meta) : 0;
    for (size_t i = 0; i < count && status == 0; i = end) {
        end = i + group_size(piece + i, count - i);
        status = note_pieces(piece + i, end - i, &meta->orientation, err);
    }
    free(piece);
    free(view);
    return status;
}

int segments_note_xmp(struct meta *meta, struct err *err)
{
    bool more = false;
    size_t lead;
    segment_head(SEGMENT_XMP, &lead);
    for (size_t i = 0; i < meta->nblocks; i++) {
        const struct metadata_block *block = &meta->block[i];
        enum segment segment = segment_of(block);
        if (segment == SEGMENT_XMP)
            xmp_note(block->data + lead, block->size - lead, &meta->orientation);
        more = more || segment == SEGMENT_XMP_MORE;
    }
    return more ? note_more(meta, err) : 0;
}

/* ---- All of it ------------------------------------------------------------*/

int segments_turn_xmp(struct bytes *out, const struct meta *meta,
                      const struct image *img, const struct save_opts *opts,
                      const struct lengths *lengths, struct err *err)
{
    for (size_t i = 0; i < meta->nblocks; i++)
        if (out[i].data && segment_of(&meta->block[i]) == SEGMENT_XMP &&
            turn_segment(&out[i], img, opts, lengths, err))
            return -1;
    return turn_more(out, meta, img, opts, lengths, err);
}
