/* Extended XMP: a second packet, in portions. */
#include "codecs/metadata/xmp_extended.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/md5.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/metadata/xml.h"
#include "codecs/metadata/xmp.h"
#include "codecs/metadata/xmp_packet.h"

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

/* The GUID of a packet before and after the turn. */
struct renamed {
    uint8_t was[GUID];
    char is[GUID + 1];
};

/* The portions of all packets. */
struct portions {
    struct portion *list;
    size_t count;
    struct renamed *renamed; /* by GUID before the turn; room for `count` */
    size_t nrenamed;
};

/* By the packet that they belong to, then by their place in it. */
static int compare(const void *a, const void *b)
{
    const uint8_t *left = ((const struct portion *)a)->body.data;
    const uint8_t *right = ((const struct portion *)b)->body.data;
    int order = memcmp(left, right, GUID);
    return order ? order : memcmp(left + OFFSET, right + OFFSET, 4);
}

static void close_portions(struct portions *portions)
{
    for (size_t i = 0; i < portions->count; i++)
        bytes_free(&portions->list[i].body);
    memory_free(portions->list);
    memory_free(portions->renamed);
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
        if (block_open(&body, block, format, meta->budget, err)) {
            close_portions(portions);
            return -1;
        }
        if (body.size > LEAD)
            portions->list[portions->count++] = (struct portion){ block, body };
        else
            bytes_free(&body);
    }
    if (portions->count)
        qsort(portions->list, portions->count, sizeof *portions->list, compare);
    return 0;
}

/* How many portions at the begin of a list belong to one packet. */
static size_t packet_count(const struct portion *list, size_t count)
{
    size_t n = 1;
    while (n < count && !memcmp(list->body.data, list[n].body.data, GUID))
        n++;
    return n;
}

/* Puts the portions together in `packet`. *whole: there are all of them. */
static int join(struct bytes *packet, const struct portion *list, size_t count,
                bool *whole, struct err *err)
{
    *whole = true;
    for (size_t i = 0; i < count; i++) {
        const struct bytes *body = &list[i].body;
        if (read_be32(body->data + OFFSET) != packet->size)
            *whole = false;
        if (!bytes_append(packet, body->data + LEAD, body->size - LEAD))
            return fail_memory(err, "no memory for Extended XMP");
    }
    for (size_t i = 0; i < count; i++)
        if (read_be32(list[i].body.data + WHOLE) != packet->size)
            *whole = false;
    return 0;
}

/* ---- The turn -------------------------------------------------------------*/

/* Cuts the packet where it was cut before: the last portion takes what it has
 * grown by, which is no more than there was room for. */
static int cut(const struct bytes *packet, struct portion *list, size_t count,
               bool whole, struct err *err)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        struct bytes *body = &list[i].body;
        size_t size = i + 1 < count ? body->size - LEAD : packet->size - at;
        body->size = LEAD;
        if (!bytes_append(body, packet->data + at, size))
            return fail_memory(err, "no memory for Extended XMP");
        if (whole)
            write_be32(body->data + WHOLE, (uint32_t)packet->size);
        at += size;
    }
    return 0;
}

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

/* ---- Names of packets -----------------------------------------------------*/

/* Packets come in the order of their GUIDs. */
static int note_renamed(struct portions *portions, const uint8_t *was,
                        const char *is, struct err *err)
{
    if (!portions->renamed)
        portions->renamed =
            memory_alloc(portions->count * sizeof *portions->renamed);
    if (!portions->renamed)
        return fail_memory(err, "no memory for Extended XMP");
    struct renamed *renamed = &portions->renamed[portions->nrenamed++];
    memcpy(renamed->was, was, GUID);
    memcpy(renamed->is, is, sizeof renamed->is);
    return 0;
}

static int compare_renamed(const void *guid, const void *renamed)
{
    return memcmp(guid, ((const struct renamed *)renamed)->was, GUID);
}

/* Where the first packet names the others. */
static void rename_in(const struct bytes *packet,
                      const struct portions *portions)
{
    static const struct xmlns note = { "http://ns.adobe.com/xmp/note/",
                                       "xmpNote" };
    uint8_t *text = packet->data;
    struct xml_reader xml = { .text = text, .size = packet->size };
    struct xml_token token;
    struct xml_namespace space;
    xml_find_namespaces(text, packet->size, &space, &note, 1);
    while (xml_next(&xml, &token)) {
        struct xml_span value = xml_trim(text, token.value);
        if (value.size != GUID ||
            !xml_is_named(text, token.name, &space, "HasExtendedXMP"))
            continue;
        const struct renamed *renamed =
            bsearch(text + value.at, portions->renamed, portions->nrenamed,
                    sizeof *renamed, compare_renamed);
        if (renamed)
            memcpy(text + value.at, renamed->is, GUID);
    }
}

/* Once for all packets: a hostile file has thousands of them. */
static int rename_all(struct meta *meta, const struct block_format *format,
                      const struct portions *portions, struct err *err)
{
    int status = 0;
    for (size_t i = 0; portions->nrenamed && i < meta->nblocks && status == 0;
         i++) {
        struct metadata_block *block = &meta->block[i];
        struct bytes packet = { 0 };
        if (block->kind != BLOCK_XMP || block->dropped)
            continue;
        status = block_open(&packet, block, format, meta->budget, err);
        rename_in(&packet, portions);
        if (status == 0)
            status = format->close(block, &packet, err);
        bytes_free(&packet);
    }
    return status;
}

/* ---- The turn of a packet -------------------------------------------------*/

/* Turns the packet and gives it back to its portions. */
static int turn_packet(struct bytes *packet, struct portion *list, size_t count,
                       bool whole, const struct block_format *format,
                       const struct image *img, const struct save_opts *opts,
                       const struct lengths *lengths, struct err *err)
{
    size_t room = packet->size, before = packet->size;
    if (whole)
        room += format->room(BLOCK_XMP_EXTENDED) - list[count - 1].body.size;
    if (xmp_packet_turn(packet, room, img, opts, lengths, err))
        return -1;
    while (packet->size < before) /* blanks may stand behind the last element */
        if (!bytes_append(packet, " ", 1))
            return fail_memory(err, "no memory for Extended XMP");
    return cut(packet, list, count, whole, err);
}

/* A GUID that was not the digest of what it named is a name and no more, and
 * stays. */
static int turn_portions(struct portions *portions, struct portion *list,
                         size_t count, const struct block_format *format,
                         const struct image *img, const struct save_opts *opts,
                         const struct lengths *lengths, struct err *err)
{
    struct bytes packet = { 0 };
    char guid[GUID + 1];
    bool whole;
    int status = join(&packet, list, count, &whole, err);
    make_guid(guid, &packet);
    bool is_digest = whole && !memcmp(guid, list->body.data, GUID);
    if (status == 0)
        status = turn_packet(&packet, list, count, whole, format, img, opts,
                             lengths, err);
    make_guid(guid, &packet);
    bytes_free(&packet);
    if (status == 0 && is_digest)
        status = note_renamed(portions, list->body.data, guid, err);
    for (size_t i = 0; i < count && status == 0; i++) {
        if (is_digest)
            memcpy(list[i].body.data, guid, GUID);
        status = format->close(list[i].block, &list[i].body, err);
    }
    return status;
}

int xmp_extended_turn(struct meta *meta, const struct block_format *format,
                      const struct image *img, const struct save_opts *opts,
                      const struct lengths *lengths, struct err *err)
{
    struct portions portions;
    size_t end;
    int status = open_portions(&portions, meta, format, err);
    if (status)
        return -1;
    for (size_t i = 0; i < portions.count && status == 0; i = end) {
        end = i + packet_count(portions.list + i, portions.count - i);
        status = turn_portions(&portions, portions.list + i, end - i, format,
                               img, opts, lengths, err);
    }
    if (status == 0)
        status = rename_all(meta, format, &portions, err);
    close_portions(&portions);
    return status;
}

int xmp_extended_note(struct meta *meta, const struct block_format *format,
                      struct err *err)
{
    struct portions portions;
    size_t end;
    int status = open_portions(&portions, meta, format, err);
    if (status)
        return -1;
    for (size_t i = 0; i < portions.count && status == 0; i = end) {
        struct bytes packet = { 0 };
        bool whole;
        end = i + packet_count(portions.list + i, portions.count - i);
        status = join(&packet, portions.list + i, end - i, &whole, err);
        if (status == 0)
            xmp_note(packet.data, packet.size, &meta->orientation);
        bytes_free(&packet);
    }
    close_portions(&portions);
    return status;
}
