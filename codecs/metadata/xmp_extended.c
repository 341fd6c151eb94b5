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
    uint8_t was[GUID]; /* the GUID before the turn */
};

/* The portions of all packets, by their GUIDs before the turn. */
struct portions {
    struct portion *list;
    size_t count;
    bool renamed; /* some GUID has become another */
};

/* One packet, put together. */
struct extended_packet {
    struct portion *list; /* the portions that belong to it */
    size_t count;
    bool whole; /* they are all there */
    struct bytes text;
};

/* ---- Portions -------------------------------------------------------------*/

/* By the packet that they belong to, then by their place in it. */
static int compare_portions(const void *a, const void *b)
{
    const struct portion *left = a, *right = b;
    int order = memcmp(left->was, right->was, GUID);
    return order
               ? order
               : memcmp(left->body.data + OFFSET, right->body.data + OFFSET, 4);
}

static void close_portions(struct portions *portions)
{
    for (size_t i = 0; i < portions->count; i++)
        bytes_free(&portions->list[i].body);
    memory_free(portions->list);
}

/* Opens all of them, in order: they may stand in any (XMP specification, part
 * 3, 1.1.3.1). On failure there is nothing to close. */
static int open_portions(struct portions *portions, struct meta *meta,
                         const struct block_format *format, struct err *err)
{
    *portions = (struct portions){ .list = NULL };
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        struct bytes body = { 0 };
        if (block->kind != BLOCK_XMP_EXTENDED || block->dropped)
            continue;
        if (!portions->list)
            portions->list =
                memory_alloc_zeroed(meta->nblocks, sizeof *portions->list);
        if (!portions->list)
            return fail_memory(err, "no memory for Extended XMP");
        if (block_open(&body, block, format, meta->account, err)) {
            close_portions(portions);
            return -1;
        }
        if (body.size <= LEAD) {
            bytes_free(&body);
            continue;
        }
        struct portion *portion = &portions->list[portions->count++];
        *portion = (struct portion){ .block = block, .body = body };
        memcpy(portion->was, body.data, GUID);
    }
    if (portions->count)
        qsort(portions->list, portions->count, sizeof *portions->list,
              compare_portions);
    return 0;
}

/* Puts together the packet whose portions begin at *at, and moves *at behind
 * them. Returns 1; 0 at the end of the list; or -1 without memory. The caller
 * frees the text. */
static int next_packet(struct extended_packet *packet,
                       const struct portions *portions, size_t *at,
                       struct err *err)
{
    struct bytes *text = &packet->text;
    *packet = (struct extended_packet){ .whole = true };
    if (*at == portions->count)
        return 0;
    packet->list = &portions->list[*at];
    for (; *at < portions->count; ++*at, packet->count++) {
        const struct bytes *body = &portions->list[*at].body;
        if (memcmp(packet->list->was, portions->list[*at].was, GUID) != 0)
            break;
        if (read_be32(body->data + OFFSET) != text->size)
            packet->whole = false;
        if (!bytes_append(text, body->data + LEAD, body->size - LEAD))
            return fail_memory(err, "no memory for Extended XMP");
    }
    for (size_t i = 0; i < packet->count; i++)
        if (read_be32(packet->list[i].body.data + WHOLE) != text->size)
            packet->whole = false;
    return 1;
}

int xmp_extended_note(struct meta *meta, const struct block_format *format,
                      struct err *err)
{
    struct portions portions;
    struct extended_packet packet = { .list = NULL };
    size_t at = 0;
    int status = open_portions(&portions, meta, format, err);
    if (status)
        return -1;
    while ((status = next_packet(&packet, &portions, &at, err)) > 0) {
        xmp_note(packet.text.data, packet.text.size, &meta->orientation);
        bytes_free(&packet.text);
    }
    bytes_free(&packet.text);
    close_portions(&portions);
    return status;
}

/* ---- The turn of a packet -------------------------------------------------*/

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

/* A GUID that was not the digest of what it named is a name and no more, and
 * stays. */
static int turn_packet(struct extended_packet *packet,
                       struct portions *portions, const struct turned *t,
                       struct err *err)
{
    char guid[GUID + 1];
    make_guid(guid, &packet->text);
    const bool is_digest =
        packet->whole && !memcmp(guid, packet->list->was, GUID);
    /* The text is cut where it was cut before: the last portion takes what it
     * has grown by. */
    struct bytes *text = &packet->text;
    const size_t before = text->size;
    size_t room = before, at = 0;
    if (packet->whole)
        room += t->format->room(BLOCK_XMP_EXTENDED) -
                packet->list[packet->count - 1].body.size;
    if (xmp_packet_turn(text, room, t->img, t->opts, &t->lengths, err))
        return -1;
    while (text->size < before) /* blanks may stand behind the last element */
        if (!bytes_append(text, " ", 1))
            return fail_memory(err, "no memory for Extended XMP");
    make_guid(guid, text);
    portions->renamed |= is_digest;
    for (size_t i = 0; i < packet->count; i++) {
        struct portion *portion = &packet->list[i];
        struct bytes *body = &portion->body;
        size_t size =
            i + 1 < packet->count ? body->size - LEAD : text->size - at;
        body->size = LEAD;
        if (!bytes_append(body, text->data + at, size))
            return fail_memory(err, "no memory for Extended XMP");
        if (packet->whole)
            write_be32(body->data + WHOLE, (uint32_t)text->size);
        if (is_digest)
            memcpy(body->data, guid, GUID);
        if (t->format->close(portion->block, body, err))
            return -1;
        at += size;
    }
    return 0;
}

/* ---- Names of packets -----------------------------------------------------*/

static int compare_name(const void *guid, const void *portion)
{
    return memcmp(guid, ((const struct portion *)portion)->was, GUID);
}

/* Once for all packets: a hostile file has thousands of them. */
static int rename_all(const struct turned *t, const struct portions *portions,
                      struct err *err)
{
    struct meta *meta = t->img->meta;
    int status = 0;
    for (size_t i = 0; portions->renamed && i < meta->nblocks && status == 0;
         i++) {
        struct metadata_block *block = &meta->block[i];
        struct bytes packet = { 0 };
        if (block->kind != BLOCK_XMP || block->dropped)
            continue;
        status = block_open(&packet, block, t->format, meta->account, err);
        /* Where the first packet names the others. */
        struct xml_reader xml = xml_open(packet.data, packet.size);
        struct xml_token token;
        while (xml_next(&xml, &token)) {
            uint8_t *value = packet.data + token.value.at;
            if (token.value.size != GUID ||
                !xml_is(&xml, token.name, XMP_NOTE, "HasExtendedXMP"))
                continue;
            const struct portion *named =
                bsearch(value, portions->list, portions->count, sizeof *named,
                        compare_name);
            if (named)
                memcpy(value, named->body.data, GUID);
        }
        if (status == 0)
            status = t->format->close(block, &packet, err);
        bytes_free(&packet);
    }
    return status;
}

int xmp_extended_turn(const struct turned *t, struct err *err)
{
    struct portions portions;
    struct extended_packet packet = { .list = NULL };
    size_t at = 0;
    int status = open_portions(&portions, t->img->meta, t->format, err);
    if (status)
        return -1;
    while ((status = next_packet(&packet, &portions, &at, err)) > 0) {
        status = turn_packet(&packet, &portions, t, err);
        bytes_free(&packet.text);
        if (status)
            break;
    }
    bytes_free(&packet.text);
    if (status == 0)
        status = rename_all(t, &portions, err);
    close_portions(&portions);
    return status;
}
