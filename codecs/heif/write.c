/* Writes a HEIF file whose properties and lists have changed: with another iprp
 * box, and with what follows from its size. */
#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"
#include "codecs/heif/heif.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/xmp.h"

static int fail_room(const struct heif *heif)
{
    return fail_memory(heif->err, "no memory for the file");
}

static bool put(struct bytes *out, uint64_t value, unsigned size)
{
    uint8_t bytes[8];
    write_be64(bytes, value);
    return bytes_append(out, bytes + sizeof bytes - size, size);
}

static bool put_file(struct bytes *out, const struct heif *heif, size_t begin,
                     size_t end)
{
    return bytes_append(out, heif->file.data + begin, end - begin);
}

/* ---- The iprp box ---------------------------------------------------------*/

/* Puts the properties, of which those that change are as long as they were. */
static bool put_ipco(struct bytes *out, const struct heif *heif)
{
    const struct box *ipco = &heif->box[HEIF_IPCO];
    bool room = put_file(out, heif, ipco->begin, ipco->body);
    for (size_t i = 1; i < heif_property_count(heif) && room; i++) {
        const struct heif_property *one = &heif_properties(heif)[i];
        const size_t size = one->box[3];
        if (size == 0)
            room = put_file(out, heif, one->begin, one->end);
        else if (!one->begin)
            room = bytes_append(out, one->box, size);
        else
            room = put_file(out, heif, one->begin, one->end - (size - 8)) &&
                   bytes_append(out, one->box + 8, size - 8);
    }
    return room;
}

/* Puts the list of an item, which may not change. What it has stays in its
 * place, if that is in order; what is added comes last, but before what must
 * follow it. */
static int put_list(struct bytes *out, const struct heif *heif,
                    const struct heif_list *list, unsigned version, bool wide)
{
    const unsigned size = wide ? 2 : 1, upper = wide ? 0x8000 : 0x80;
    const struct heif_item *item = heif_find_item(heif, list->id);
    const struct heif_slot *slot = item ? item->slot : NULL;
    unsigned next = HEIF_CLAP; /* of the transforms */
    bool room = put(out, list->id, version ? 4 : 2) && put(out, 0, 1);
    const size_t begin = out->size;
    for (size_t i = 0; i <= list->count && room; i++) {
        const bool ends = i == list->count;
        const unsigned bits = ends ? 0 : heif_listed(heif, list, i);
        unsigned n = bits & HEIF_NUMBER;
        const unsigned kind = ends ? HEIF_IMIR : heif_properties(heif)[n].kind;
        for (; slot && kind < HEIF_ISPE && next <= kind &&
               (ends || !item->shown.out_of_order);
             next++)
            if (slot[next].is)
                room = room && put(out, upper | slot[next].is, size);
        if (slot && kind == HEIF_ISPE && slot[kind].was == n)
            n = slot[kind].is;
        if (!ends && (!slot || kind >= HEIF_ISPE))
            room =
                room && put(out, bits & HEIF_ESSENTIAL ? upper | n : n, size);
    }
    if (!room)
        return fail_room(heif);
    const size_t count = (out->size - begin) / size;
    if (count > UINT8_MAX)
        return fail(heif->err, "its item %u has no room for more properties",
                    list->id);
    out->data[begin - 1] = (uint8_t)count;
    return 0;
}

/* Puts a box of lists. Indices beyond 127 need the wide form, and then all have
 * it. */
static int put_ipma(struct bytes *out, const struct heif *heif,
                    const struct box *box)
{
    struct heif_cursor c = heif_open(heif, box);
    const size_t begin = out->size, count = heif_take(&c, 4);
    bool wide = c.flags & 1;
    struct heif_cursor ahead = c;
    for (size_t i = 0; i < count; i++) {
        const struct heif_list list = heif_take_list(&ahead);
        const struct heif_item *item = heif_find_item(heif, list.id);
        for (int k = 0; k < HEIF_KINDS && item && item->slot; k++)
            wide = wide || item->slot[k].is > 0x7f;
    }
    if (!put_file(out, heif, box->begin, box->body) ||
        !put(out, (uint64_t)c.version << 24 | c.flags | wide, 4) ||
        !put(out, count, 4))
        return fail_room(heif);
    for (size_t i = 0; i < count; i++) {
        const struct heif_list list = heif_take_list(&c);
        if (put_list(out, heif, &list, c.version, wide))
            return -1;
    }
    return box_resize(out->data + begin, box, out->size - begin, heif->err);
}

static int put_iprp(struct bytes *out, const struct heif *heif)
{
    const struct box *iprp = &heif->box[HEIF_IPRP];
    const size_t ipco = heif->box[HEIF_IPCO].begin;
    struct box box;
    bool room = put_file(out, heif, iprp->begin, iprp->body);
    for (size_t at = iprp->body; at < iprp->end && room; at = box.end) {
        const size_t begin = out->size;
        box_read(&box, heif->file, at, iprp->end);
        if (at == ipco) {
            room = put_ipco(out, heif);
            if (room && box_resize(out->data + begin, &box, out->size - begin,
                                   heif->err))
                return -1;
        } else if (!box_is(&box, "ipma")) {
            room = put_file(out, heif, at, box.end);
        } else if (put_ipma(out, heif, &box)) {
            return -1;
        }
    }
    return room ? box_resize(out->data, iprp, out->size, heif->err)
                : fail_room(heif);
}

/* ---- What moves -----------------------------------------------------------*/

/* What stands in the place of bytes of the file: of the iprp box, and of free
 * space behind meta. */
enum { EDITS = 2 };
struct heif_edit {
    size_t at, end;
    struct bytes with;
};

/* Returns where the byte at `at` is afterwards. */
static size_t moved_to(const struct heif_edit edit[EDITS], size_t at)
{
    size_t to = at;
    for (int i = 0; i < EDITS; i++)
        if (edit[i].end <= at)
            to += edit[i].with.size - (edit[i].end - edit[i].at);
    return to;
}

/* Takes what the meta box grows by from free space behind it, so that nothing
 * else moves, or gives it back. */
static int edit_space(struct heif_edit edits[EDITS], const struct heif *heif)
{
    enum { HEAD = 8, GIVEN_MOST = 64 };
    static const uint8_t zeros[GIVEN_MOST];
    struct heif_edit *edit = &edits[1];
    const struct box *space = &heif->box[HEIF_SPACE];
    const size_t meta = heif->box[HEIF_META].end;
    const size_t more = moved_to(edits, meta) - meta, less = -more;
    const size_t size = space->end - space->begin, left = size - more;
    if (!more || !space->end || space->open ||
        space->body > space->begin + HEAD || left > UINT32_MAX)
        return 0;
    if (less <= GIVEN_MOST)
        edit->end = space->body;
    else if (more == size || (more < size && left >= HEAD))
        edit->end = space->begin + more + (left ? HEAD : 0);
    else
        return 0;
    edit->at = space->begin;
    return (!left || (put(&edit->with, left, 4) &&
                      bytes_append(&edit->with, space->type, 4))) &&
                   (less > GIVEN_MOST || bytes_append(&edit->with, zeros, less))
               ? 0
               : fail_room(heif);
}

/* Moves what tells where the data of items begin. */
static int move_data(uint8_t *to, const struct heif *heif,
                     const struct heif_edit edits[EDITS])
{
    const struct heif_extent *extent = heif_extents(heif);
    for (size_t i = 0; i < heif_extent_count(heif); i++, extent++) {
        for (int k = 0; k < EDITS && !extent->open; k++)
            if (extent->begin < edits[k].end && extent->end > edits[k].at)
                return fail(heif->err,
                            "the data of its item %u overlaps its meta box",
                            extent->item);
        const uint64_t more =
            (uint64_t)moved_to(edits, extent->begin) - extent->begin;
        uint8_t *field = to + moved_to(edits, extent->at);
        if (!more || !extent->at)
            continue;
        const bool large = heif->field == 8;
        const uint64_t is =
            more + (large ? read_be64(field) : read_be32(field));
        if (large)
            write_be64(field, is);
        else if (is > UINT32_MAX)
            return fail(heif->err,
                        "the data of its item %u would be beyond what its iloc "
                        "box can say",
                        extent->item);
        else
            write_be32(field, (uint32_t)is);
    }
    return 0;
}

/* ---- EXIF and XMP ---------------------------------------------------------*/

static const struct heif_extent *extents_of(const struct heif *heif,
                                            const struct heif_item *item)
{
    return item->extents ? heif_extents(heif) + item->extent : NULL;
}

int heif_metadata(struct bytes *data, size_t *begin, const struct heif *heif,
                  const struct heif_item *item)
{
    const struct heif_extent *extent = extents_of(heif, item);
    struct account *account = heif->opts->limits.account;
    bool wanted = (item->is.xmp || strcmp(item->type, "Exif") == 0) &&
                  (item->is.ours || !item->is.tells);
    *begin = 0;
    for (size_t i = 0; i < item->extents; i++)
        wanted = wanted && !extent[i].open;
    for (size_t i = 0; i < item->extents && wanted; i++, extent++) {
        if (account &&
            account_spend(account, extent->end - extent->begin, heif->err))
            return -1;
        if (!put_file(data, heif, extent->begin, extent->end))
            return fail_memory(heif->err, "no memory for metadata");
    }
    *begin =
        item->is.xmp ? data->size : exif_item_begin(data->data, data->size);
    return 0;
}

/* Sets the orientations in the EXIF or XMP of an item to 1. */
static int retag(uint8_t *to, const struct heif *heif,
                 const struct heif_edit edits[EDITS],
                 const struct heif_item *item, enum xform op)
{
    const struct heif_extent *extent = extents_of(heif, item);
    struct bytes data = { 0 };
    size_t begin;
    const int status = heif_metadata(&data, &begin, heif, item);
    if (status == 0 && begin < data.size)
        exif_retag(data.data + begin, data.size - begin, 1, op);
    else if (status == 0 && item->is.xmp && data.size)
        xmp_turn(data.data, data.size, XFORM_NONE, 1);
    for (size_t at = 0; at < data.size && status == 0; extent++)
        for (size_t from = extent->begin; from < extent->end; from++, at++)
            if (data.data[at] != heif->file.data[from])
                to[moved_to(edits, from)] = data.data[at];
    bytes_free(&data);
    return status;
}

/* Appends the file as the edits say. */
static int put_edited(struct bytes *out, const struct heif *heif,
                      struct heif_edit edits[EDITS])
{
    size_t at = 0;
    if (put_iprp(&edits[0].with, heif) || edit_space(edits, heif))
        return -1;
    if (!bytes_reserve(out, moved_to(edits, heif->file.size)))
        return fail_room(heif);
    for (int i = 0; i < EDITS; at = edits[i++].end)
        if (!put_file(out, heif, at, edits[i].at) ||
            !bytes_append(out, edits[i].with.data, edits[i].with.size))
            return fail_room(heif);
    return put_file(out, heif, at, heif->file.size) ? 0 : fail_room(heif);
}

int heif_write(struct bytes *out, const struct heif *heif, enum xform op)
{
    const struct box *iprp = &heif->box[HEIF_IPRP];
    const struct box *meta = &heif->box[HEIF_META];
    const struct heif_item *item = heif_items(heif);
    const size_t end = heif->file.size;
    struct heif_edit edits[EDITS] = { { iprp->begin, iprp->end, { 0 } },
                                      { end, end, { 0 } } };
    const size_t base = out->size;
    int status = put_edited(out, heif, edits);
    if (status == 0)
        status =
            box_resize(out->data + base + meta->begin, meta,
                       moved_to(edits, meta->end) - meta->begin, heif->err);
    if (status == 0)
        status = move_data(out->data + base, heif, edits);
    for (size_t i = 0; i < heif_item_count(heif) && status == 0; i++)
        status = retag(out->data + base, heif, edits, &item[i], op);
    for (int i = 0; i < EDITS; i++)
        bytes_free(&edits[i].with);
    return status;
}
