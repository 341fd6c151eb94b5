/* Extended XMP: a second packet, in portions. */
#include "codecs/metadata/xmp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/md5.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"

/* A portion begins with the GUID, the size of the whole packet and the offset
 * of the portion in it, of 4 bytes each. */
enum {
    GUID = 2 * MD5_DIGEST_SIZE,
    WHOLE = GUID,
    OFFSET = GUID + 4,
    LEAD = GUID + 8,
};

struct portion {
    struct metadata_block *block;
    struct bytes body;
};

struct extended_packet {
    struct metadata_block *main; /* the packet that names this one */
    struct bytes named;          /* the text of that */
    uint8_t *guid;               /* where the name stands in it; NULL: nowhere,
                                    so that there is no packet */
    struct portion *list;        /* the portions, in order */
    size_t count;
    bool whole; /* they are all there */
    struct bytes text;
};

static void close_packet(struct extended_packet *packet)
{
    for (size_t i = 0; i < packet->count; i++)
        bytes_free(&packet->list[i].body);
    memory_free(packet->list);
    bytes_free(&packet->named);
    bytes_free(&packet->text);
}

static int compare_portions(const void *a, const void *b)
{
    const struct portion *left = a, *right = b;
    return memcmp(left->body.data + OFFSET, right->body.data + OFFSET, 4);
}

/* Opens the portions, which may stand in any order (XMP specification, part 3,
 * 1.1.3.1), and puts the packet together. With `drops` those of another packet,
 * which nobody reads, are left out. To be closed in any case. */
static int open_packet(struct extended_packet *packet, const struct meta *meta,
                       const struct block_format *format, bool drops,
                       struct err *err)
{
    struct bytes *text = &packet->text;
    struct xml_token token;
    size_t portions = 0;
    for (size_t i = 0; i < meta->nblocks; i++)
        portions += meta->block[i].kind == BLOCK_XMP_EXTENDED;
    for (size_t i = 0; portions && i < meta->nblocks && !packet->guid; i++) {
        packet->main = &meta->block[i];
        if (packet->main->kind != BLOCK_XMP || packet->main->dropped)
            continue;
        bytes_free(&packet->named);
        if (block_open(&packet->named, packet->main, format, meta->account,
                       err))
            return -1;
        struct xml_reader xml =
            xml_open(packet->named.data, packet->named.size);
        while (!packet->guid && xml_next(&xml, &token))
            if (token.value.size == GUID &&
                xml_is(&xml, token.name, XMP_NOTE, "HasExtendedXMP"))
                packet->guid = packet->named.data + token.value.at;
    }
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        if (block->kind != BLOCK_XMP_EXTENDED || block->dropped)
            continue;
        if (!packet->list && !(packet->list = memory_alloc_zeroed(
                                   meta->nblocks, sizeof *packet->list)))
            return fail_memory(err, "no memory for Extended XMP");
        struct portion *portion = &packet->list[packet->count];
        portion->block = block;
        if (block_open(&portion->body, block, format, meta->account, err))
            return -1;
        if (packet->guid && portion->body.size > LEAD &&
            memcmp(portion->body.data, packet->guid, GUID) == 0) {
            packet->count++;
        } else {
            block->dropped = drops;
            bytes_free(&portion->body);
        }
    }
    if (packet->count)
        qsort(packet->list, packet->count, sizeof *packet->list,
              compare_portions);
    packet->whole = true;
    for (size_t i = 0; i < packet->count; i++) {
        const struct bytes *body = &packet->list[i].body;
        packet->whole &= read_be32(body->data + OFFSET) == text->size;
        if (!bytes_append(text, body->data + LEAD, body->size - LEAD))
            return fail_memory(err, "no memory for Extended XMP");
    }
    for (size_t i = 0; i < packet->count; i++)
        packet->whole &=
            read_be32(packet->list[i].body.data + WHOLE) == text->size;
    return 0;
}

int xmp_extended_note(struct meta *meta, const struct block_format *format,
                      struct err *err)
{
    struct extended_packet packet = { .guid = NULL };
    const int status = open_packet(&packet, meta, format, false, err);
    if (status == 0)
        xmp_note(packet.text.data, packet.text.size, &meta->orientation);
    close_packet(&packet);
    return status;
}

/* ---- The turn -------------------------------------------------------------*/

static void make_guid(char guid[GUID + 1], const struct bytes *packet)
{
    uint8_t digest[MD5_DIGEST_SIZE];
    struct md5_ctx sum;
    md5_init(&sum);
    md5_update(&sum, packet->size, packet->data);
    md5_digest(&sum, sizeof digest, digest);
    for (unsigned i = 0; i < sizeof digest; i++)
        snprintf(guid + 2 * i, 3, "%02X", (unsigned)digest[i]);
}

/* Cuts the text where it was cut before: the last portion takes what it has
 * grown by. A GUID that was not the digest of what it named is a name and no
 * more, and stays. */
static int turn_packet(struct extended_packet *packet, const struct turned *t,
                       struct err *err)
{
    char guid[GUID + 1];
    struct bytes *text = &packet->text;
    const size_t before = text->size;
    size_t room = before, at = 0;
    make_guid(guid, text);
    const bool is_digest = packet->whole && !memcmp(guid, packet->guid, GUID);
    if (packet->whole)
        room += t->format->room(BLOCK_XMP_EXTENDED) -
                packet->list[packet->count - 1].body.size;
    if (xmp_packet_turn(text, room, t->img, t->opts, &t->lengths, err))
        return -1;
    while (text->size < before) /* blanks may stand behind the last element */
        if (!bytes_append(text, " ", 1))
            return fail_memory(err, "no memory for Extended XMP");
    make_guid(guid, text);
    for (size_t i = 0; i < packet->count; i++) {
        struct bytes *body = &packet->list[i].body;
        size_t size =
            i + 1 < packet->count ? body->size - LEAD : text->size - at;
        body->size = LEAD;
        if (!bytes_append(body, text->data + at, size))
            return fail_memory(err, "no memory for Extended XMP");
        if (packet->whole)
            write_be32(body->data + WHOLE, (uint32_t)text->size);
        if (is_digest)
            memcpy(body->data, guid, GUID);
        if (t->format->close(packet->list[i].block, body, err))
            return -1;
        at += size;
    }
    if (!is_digest)
        return 0;
    memcpy(packet->guid, guid, GUID);
    return t->format->close(packet->main, &packet->named, err);
}

int xmp_extended_turn(const struct turned *t, struct err *err)
{
    struct extended_packet packet = { .guid = NULL };
    int status = open_packet(&packet, t->img->meta, t->format,
                             t->opts->drop & (DROP_GPS | DROP_THUMBNAIL), err);
    if (status == 0 && packet.count)
        status = turn_packet(&packet, t, err);
    close_packet(&packet);
    return status;
}
