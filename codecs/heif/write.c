/* Writes a HEIF file whose properties and lists have changed, and what follows
 * from the size of its meta box. */
#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"
#include "codecs/heif/heif.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/xmp.h"

/* ---- What is appended; without memory no more is, and heif->full says so
 * ---*/

static void put_bytes(struct bytes *out, struct heif *heif, const void *data,
                      size_t size)
{
    heif->full = heif->full || !bytes_append(out, data, size);
}

static void put(struct bytes *out, struct heif *heif, uint64_t value,
                unsigned size)
{
    uint8_t bytes[8];
    write_be64(bytes, value);
    put_bytes(out, heif, bytes + sizeof bytes - size, size);
}

static void put_file(struct bytes *out, struct heif *heif, size_t begin,
                     size_t end)
{
    put_bytes(out, heif, heif->file.data + begin, end - begin);
}

/* ---- Properties and their lists -------------------------------------------*/

/* Puts the properties, of which those that change are as long as they were. */
static void put_properties(struct bytes *out, struct heif *heif)
{
    for (size_t i = 1; i < heif_property_count(heif); i++) {
        const struct heif_property *one = &heif_properties(heif)[i];
        const size_t size = one->box[3];
        if (!one->begin) {
            put_bytes(out, heif, one->box, size);
        } else {
            put_file(out, heif, one->begin, one->end - (size ? size - 8 : 0));
            put_bytes(out, heif, one->box + 8, size ? size - 8 : 0);
        }
    }
}

/* Puts the list of an item, which may not change. What it has stays in its
 * place, if that is in order; what is added comes last, but before what must
 * follow it. */
static int put_list(struct bytes *out, struct heif *heif,
                    const struct heif_list *list, unsigned version, bool wide)
{
    const unsigned size = wide ? 2 : 1, upper = wide ? 0x8000 : 0x80;
    const struct heif_item *item = heif_find_item(heif, list->id);
    const struct heif_slot *slot = item ? item->slot : NULL;
    unsigned next = HEIF_CLAP; /* of the transforms */
    put(out, heif, list->id, version ? 4 : 2);
    put(out, heif, 0, 1);
    const size_t begin = out->size;
    for (size_t i = 0; i <= list->count; i++) {
        const bool ends = i == list->count;
        const unsigned bits = ends ? 0 : heif_listed(heif, list, i);
        unsigned n = bits & HEIF_NUMBER;
        const unsigned kind = ends ? HEIF_IMIR : heif_properties(heif)[n].kind;
        for (; slot && kind < HEIF_ISPE && next <= kind &&
               (ends || !item->shown.out_of_order);
             next++)
            if (slot[next].is)
                put(out, heif, upper | slot[next].is, size);
        if (slot && kind == HEIF_ISPE && slot[kind].was == n)
            n = slot[kind].is;
        if (!ends && (!slot || kind >= HEIF_ISPE))
            put(out, heif, bits & HEIF_ESSENTIAL ? upper | n : n, size);
    }
    const size_t count = (out->size - begin) / size;
    if (count > UINT8_MAX)
        return fail(heif->err, "its item %u has no room for more properties",
                    list->id);
    if (!heif->full)
        out->data[begin - 1] = (uint8_t)count;
    return 0;
}

/* Puts the content of a box of lists. Indices beyond 127 need the wide form,
 * and then all have it. */
static int put_lists(struct bytes *out, struct heif *heif,
                     const struct box *box)
{
    struct heif_cursor c = heif_open(heif, box);
    const size_t count = heif_take(&c, 4);
    bool wide = c.flags & 1;
    struct heif_cursor ahead = c;
    for (size_t i = 0; i < count; i++) {
        const struct heif_list list = heif_take_list(&ahead);
        const struct heif_item *item = heif_find_item(heif, list.id);
        for (int k = 0; k < HEIF_KINDS && item && item->slot; k++)
            wide = wide || item->slot[k].is > 0x7f;
    }
    put(out, heif, (uint64_t)c.version << 24 | c.flags | wide, 4);
    put(out, heif, count, 4);
    for (size_t i = 0; i < count; i++) {
        const struct heif_list list = heif_take_list(&c);
        if (put_list(out, heif, &list, c.version, wide))
            return -1;
    }
    return 0;
}

/* ---- Boxes
 * -----------------------------------------------------------------*/

/* Puts free space behind the meta box, from which it takes what that has grown
 * by, so that nothing else moves, or to which it gives it back. */
static void put_space(struct bytes *out, struct heif *heif,
                      const struct box *space)
{
    enum { HEAD = 8, GIVEN_MOST = 64 };
    static const uint8_t zeros[GIVEN_MOST];
    const size_t more = heif->grown, less = -more,
                 size = space->end - space->begin, left = size - more;
    const bool gives = more && less <= GIVEN_MOST,
               takes = more == size || (more < size && left >= HEAD);
    size_t rest = space->begin;
    if (more && !space->open && space->body == rest + HEAD &&
        left <= UINT32_MAX && (gives || takes)) {
        rest = gives ? space->body : rest + more + (left ? HEAD : 0);
        heif->rest = rest;
        put(out, heif, left, left ? 4 : 0);
        put_bytes(out, heif, space->type, left ? 4 : 0);
        put_bytes(out, heif, zeros, gives ? less : 0);
    }
    put_file(out, heif, rest, space->end);
}

static bool is_known(const struct heif *heif, enum heif_box kind,
                     const struct box *box)
{
    return heif->box[kind].begin == box->begin &&
           heif->box[kind].end == box->end;
}

/* Puts the boxes from `at` up to `end`, and what stands behind them. */
static int put_boxes(struct bytes *out, struct heif *heif, size_t at,
                     size_t end)
{
    const size_t iprp = heif->box[HEIF_IPRP].begin;
    struct box box;
    for (; at < end && box_read(&box, heif->file, at, end); at = box.end) {
        const size_t begin = out->size;
        const size_t lead = is_known(heif, HEIF_META, &box) ? 4 : 0;
        int status = 0;
        if (is_known(heif, HEIF_SPACE, &box)) {
            put_space(out, heif, &box);
            continue;
        }
        put_file(out, heif, box.begin, box.body + lead);
        if (lead || is_known(heif, HEIF_IPRP, &box))
            status = put_boxes(out, heif, box.body + lead, box.end);
        else if (is_known(heif, HEIF_IPCO, &box))
            put_properties(out, heif);
        else if (box_is(&box, "ipma") && at > iprp &&
                 end == heif->box[HEIF_IPRP].end)
            status = put_lists(out, heif, &box);
        else
            put_file(out, heif, box.body, box.end);
        if (status == 0 && heif->full)
            status = fail_memory(heif->err, "no memory for the file");
        if (status ||
            box_resize(out->data + begin, &box, out->size - begin, heif->err))
            return -1;
        if (box.begin == iprp)
            heif->grown = out->size - begin - (box.end - box.begin);
    }
    put_file(out, heif, at, end);
    return 0;
}

/* ---- What moves -----------------------------------------------------------*/

/* Returns where the byte at `at` is afterwards. */
static size_t moved_to(const struct heif *heif, size_t at)
{
    const bool stays =
        at < heif->box[HEIF_IPRP].end || (heif->rest && at >= heif->rest);
    return stays ? at : at + heif->grown;
}

static bool overlaps(const struct heif_extent *extent, size_t begin, size_t end)
{
    return !extent->open && extent->begin < end && extent->end > begin;
}

/* Moves what tells where the data of items begin. */
static int move_data(uint8_t *to, const struct heif *heif)
{
    const struct box *iprp = &heif->box[HEIF_IPRP];
    const struct heif_extent *extent = heif_extents(heif);
    for (size_t i = 0; i < heif_extent_count(heif); i++, extent++) {
        const uint64_t more =
            (uint64_t)moved_to(heif, extent->begin) - extent->begin;
        uint8_t *field = to + moved_to(heif, extent->at);
        const bool large = heif->field == 8;
        if (overlaps(extent, iprp->begin, iprp->end) ||
            overlaps(extent, heif->box[HEIF_SPACE].begin, heif->rest))
            return fail(heif->err,
                        "the data of its item %u overlaps its meta box",
                        extent->item);
        if (!more || !extent->at)
            continue;
        const uint64_t is =
            more + (large ? read_be64(field) : read_be32(field));
        if (!large && is > UINT32_MAX)
            return fail(heif->err,
                        "the data of its item %u would be beyond what its iloc "
                        "box can say",
                        extent->item);
        if (large)
            write_be64(field, is);
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
        if (!bytes_append(data, heif->file.data + extent->begin,
                          extent->end - extent->begin))
            return fail_memory(heif->err, "no memory for metadata");
    }
    *begin =
        item->is.xmp ? data->size : exif_item_begin(data->data, data->size);
    return 0;
}

/* Sets the orientations in the EXIF or XMP of an item to 1. */
static int retag(uint8_t *to, const struct heif *heif,
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
                to[moved_to(heif, from)] = data.data[at];
    bytes_free(&data);
    return status;
}

int heif_write(struct bytes *out, struct heif *heif, enum xform op)
{
    enum { MORE = 4096 };
    const size_t base = out->size;
    heif->full = !bytes_reserve(out, heif->file.size + MORE);
    if (put_boxes(out, heif, 0, heif->file.size))
        return -1;
    if (heif->full)
        return fail_memory(heif->err, "no memory for the file");
    int status = move_data(out->data + base, heif);
    for (size_t i = 0; i < heif_item_count(heif) && status == 0; i++)
        status = retag(out->data + base, heif, &heif_items(heif)[i], op);
    return status;
}
