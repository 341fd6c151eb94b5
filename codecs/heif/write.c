/* Writes a HEIF file whose lists of properties have changed. */
#include "codecs/base/byte_order.h"
#include "codecs/heif/heif.h"

static int fail_room(struct err *err)
{
    return fail_memory(err, "no memory for the file");
}

/* ---- Lists ----------------------------------------------------------------*/

enum { LIST_MAX = 255 };

struct list {
    struct heif_association association[LIST_MAX + HEIF_KINDS];
    size_t count;
};

static void list_slot(struct list *list, const struct heif_slot *slot)
{
    if (slot->wanted)
        list->association[list->count++] =
            (struct heif_association){ .property = slot->is,
                                       .essential = true };
}

/* Makes the list of an item, which may not change. What it has stays in its
 * place, if that is in order; what is added comes last, but before what must
 * follow it. */
static void make_list(struct list *list, const struct heif *heif,
                      const struct heif_item *item,
                      const struct heif_change *change)
{
    int next = HEIF_CLAP; /* of the transforms */
    list->count = 0;
    for (size_t i = 0; i < item->count; i++) {
        struct heif_association one = heif->association[item->first + i];
        const enum heif_kind kind =
            one.property ? heif->property[one.property - 1].kind : HEIF_KINDS;
        if (change && kind == HEIF_ISPE &&
            change->slot[kind].was == one.property)
            one.property = change->slot[kind].is;
        if (!change || kind >= HEIF_ISPE)
            list->association[list->count++] = one;
        for (; change && change->in_order && next <= (int)kind &&
               kind < HEIF_ISPE;
             next++)
            list_slot(list, &change->slot[next]);
    }
    for (; change && next < HEIF_ISPE; next++)
        list_slot(list, &change->slot[next]);
}

static bool put(struct bytes *out, uint64_t value, unsigned size)
{
    uint8_t bytes[8];
    write_be64(bytes, value);
    return bytes_append(out, bytes + sizeof bytes - size, size);
}

static bool put_list(struct bytes *out, uint32_t id, const struct list *list,
                     unsigned version, bool wide)
{
    bool room = put(out, id, version ? 4 : 2) && put(out, list->count, 1);
    for (size_t i = 0; i < list->count && room; i++) {
        const struct heif_association *one = &list->association[i];
        const unsigned essential = one->essential;
        room = put(out, essential << (wide ? 15 : 7) | one->property,
                   wide ? 2 : 1);
    }
    return room;
}

/* Makes `with` the box of all lists. Indices beyond 127 need the wide form, and
 * then all have it. */
static int make_ipma(struct bytes *with, const struct heif *heif,
                     const struct heif_plan *plan, struct err *err)
{
    const struct box *box = &heif->ipma[0];
    const size_t head = box->body - box->begin;
    unsigned version = heif->version;
    uint32_t flags = heif->flags, count = 0;
    struct list list;
    for (size_t i = 0; i < plan->nchanges; i++) {
        version |= plan->change[i].item->id > UINT16_MAX;
        for (int k = 0; k < HEIF_KINDS; k++)
            flags |= plan->change[i].slot[k].is > 127;
    }
    bool room = bytes_append(with, heif->file.data + box->begin, head) &&
                put(with, (uint64_t)version << 24 | flags, 4) &&
                put(with, 0, 4);
    for (size_t i = 0; i < heif->nitems && room; i++) {
        const struct heif_item *item = &heif->item[i];
        if (!item->listed && !item->change)
            continue;
        make_list(&list, heif, item,
                  item->change ? &plan->change[item->change - 1] : NULL);
        if (list.count > LIST_MAX)
            return fail(err, "its item %u has no room for more properties",
                        item->id);
        room = put_list(with, item->id, &list, version, flags & 1);
        count++;
    }
    if (!room)
        return fail_room(err);
    write_be32(with->data + head + 4, count);
    if (head > 8)
        write_be64(with->data + 8, with->size);
    else
        write_be32(with->data, (uint32_t)with->size);
    return 0;
}

/* ---- What moves -----------------------------------------------------------*/

void heif_edits_free(struct heif_edits *edits)
{
    for (unsigned i = 0; i < edits->count; i++)
        bytes_free(&edits->edit[i].with);
    edits->count = 0;
}

static void add_edit(struct heif_edits *edits, size_t at, size_t end,
                     struct bytes with)
{
    unsigned i = edits->count++;
    for (; i > 0 && edits->edit[i - 1].at > at; i--)
        edits->edit[i] = edits->edit[i - 1];
    edits->edit[i] = (struct heif_edit){ at, end, with };
}

size_t heif_moved(const struct heif_edits *edits, size_t at)
{
    size_t moved = at;
    for (unsigned i = 0; i < edits->count; i++)
        if (edits->edit[i].end <= at)
            moved += edits->edit[i].with.size -
                     (edits->edit[i].end - edits->edit[i].at);
    return moved;
}

/* Returns by how much what is between these becomes longer, as heif_moved()
 * counts: modulo SIZE_MAX + 1. */
static size_t growth(const struct heif_edits *edits, size_t from, size_t to)
{
    return heif_moved(edits, to) - to - (heif_moved(edits, from) - from);
}

/* What is added behind the properties, in the place of those that are gone. */
static int edit_properties(struct heif_edits *edits, const struct heif *heif,
                           struct err *err)
{
    struct bytes with = { 0 };
    size_t end = heif->ipco.body;
    bool room = true;
    for (size_t i = 0; i < heif->nproperties; i++) {
        const struct heif_property *property = &heif->property[i];
        if (property->begin)
            end = property->end;
        else
            room = room && bytes_append(&with, property->box, property->box[3]);
    }
    if (with.size || end < heif->ipco.end)
        add_edit(edits, end, heif->ipco.end, with);
    return room ? 0 : fail_room(err);
}

/* All boxes become the first one. */
static int edit_lists(struct heif_edits *edits, const struct heif *heif,
                      const struct heif_plan *plan, struct err *err)
{
    const struct box *box = heif->ipma;
    struct bytes with = { 0 };
    const int status = make_ipma(&with, heif, plan, err);
    if (status ||
        (with.size == box->end - box->begin && heif->nipmas == 1 &&
         memcmp(with.data, heif->file.data + box->begin, with.size) == 0)) {
        bytes_free(&with);
        return status;
    }
    add_edit(edits, box->begin, box->end, with);
    for (unsigned i = 1; i < heif->nipmas; i++)
        add_edit(edits, box[i].begin, box[i].end, (struct bytes){ 0 });
    return 0;
}

/* Takes what the meta box grows by from free space behind it, so that nothing
 * else moves, or gives it back. */
static int edit_space(struct heif_edits *edits, const struct heif *heif,
                      struct err *err)
{
    static const uint8_t zeros[64];
    const struct box *space = &heif->space;
    const size_t more = heif_moved(edits, heif->meta.end) - heif->meta.end;
    const size_t less = -more, size = space->end - space->begin;
    struct bytes with = { 0 };
    if (!more || !space->end || space->open || space->body > space->begin + 8)
        return 0;
    if (more == size || (more < size && more + 8 <= size)) {
        const size_t left = size - more;
        if (left && !put(&with, left, 4))
            return fail_room(err);
        add_edit(edits, space->begin, left ? space->begin + 4 : space->end,
                 with);
        if (left)
            add_edit(edits, space->body, space->body + more,
                     (struct bytes){ 0 });
    } else if (less <= sizeof zeros) {
        if (!put(&with, size + less, 4))
            return fail_room(err);
        add_edit(edits, space->begin, space->begin + 4, with);
        with = (struct bytes){ 0 };
        if (!bytes_append(&with, zeros, less))
            return fail_room(err);
        add_edit(edits, space->body, space->body, with);
    }
    return 0;
}

/* ---- What tells where things are ------------------------------------------*/

static int put_size(struct bytes *out, size_t base,
                    const struct heif_edits *edits, const struct box *box,
                    struct err *err)
{
    const size_t size = box->end - box->begin;
    const size_t made = size + growth(edits, box->begin, box->end);
    uint8_t *at = out->data + base + heif_moved(edits, box->begin);
    if (box->body - box->begin > 8)
        write_be64(at + 8, made);
    else if (made > UINT32_MAX)
        return fail(err, "its %s box would be too large", box->type);
    else if (!box->open)
        write_be32(at, (uint32_t)made);
    return 0;
}

static bool add_to(uint8_t *field, unsigned size, size_t more)
{
    const uint64_t was = size == 4 ? read_be32(field) : read_be64(field);
    const uint64_t is = was + (uint64_t)more;
    if (size == 8)
        write_be64(field, is);
    else
        write_be32(field, (uint32_t)is);
    return size == 8 || is <= UINT32_MAX;
}

static int move_data(struct bytes *out, size_t base, const struct heif *heif,
                     const struct heif_edits *edits,
                     const struct heif_location *location, struct err *err)
{
    const struct heif_iloc *iloc = &heif->iloc;
    uint8_t *to = out->data + base;
    struct heif_extent extent;
    for (unsigned i = 0; i < location->extents; i++) {
        if (!heif_extent(heif, location, i, &extent))
            continue;
        for (unsigned k = 0; k < edits->count && !extent.open; k++)
            if (extent.begin < edits->edit[k].end &&
                extent.end > edits->edit[k].at)
                return fail(err,
                            "the data of its item %u overlaps its meta box",
                            location->item);
        const size_t more = heif_moved(edits, extent.begin) - extent.begin;
        const size_t at = iloc->offset ? extent.at : location->base_at;
        const unsigned size = iloc->offset ? iloc->offset : iloc->base;
        if (more && size && (i == 0 || iloc->offset) &&
            !add_to(to + heif_moved(edits, at), size, more))
            return fail(err,
                        "the data of its item %u would be beyond what "
                        "its iloc box can say",
                        location->item);
    }
    return 0;
}

static int move_all(struct bytes *out, size_t base, const struct heif *heif,
                    const struct heif_edits *edits, struct err *err)
{
    struct heif_location location;
    size_t at = heif->iloc.first;
    if (put_size(out, base, edits, &heif->meta, err) ||
        put_size(out, base, edits, &heif->iprp, err) ||
        put_size(out, base, edits, &heif->ipco, err))
        return -1;
    for (uint32_t i = 0; i < heif->iloc.count; i++, at = location.end) {
        heif_location(heif, at, &location);
        if (location.method == 0 &&
            move_data(out, base, heif, edits, &location, err))
            return -1;
    }
    for (size_t i = 0; i < heif->nproperties; i++) {
        const struct heif_property *property = &heif->property[i];
        if (property->begin && property->kind < HEIF_KINDS)
            memcpy(out->data + base + heif_moved(edits, property->body),
                   property->box + 8, property->box[3] - 8u);
    }
    return 0;
}

int heif_write(struct bytes *out, struct heif *heif,
               const struct heif_plan *plan, struct heif_edits *edits,
               struct err *err)
{
    const size_t base = out->size;
    size_t at = 0;
    if (edit_properties(edits, heif, err) ||
        edit_lists(edits, heif, plan, err) || edit_space(edits, heif, err))
        return -1;
    if (!bytes_reserve(out, heif_moved(edits, heif->file.size)))
        return fail_room(err);
    for (unsigned i = 0; i <= edits->count; i++) {
        const struct heif_edit *edit =
            i < edits->count ? &edits->edit[i] : NULL;
        const size_t end = edit ? edit->at : heif->file.size;
        if (!bytes_append(out, heif->file.data + at, end - at) ||
            (edit && edit->with.size &&
             !bytes_append(out, edit->with.data, edit->with.size)))
            return fail_room(err);
        at = edit ? edit->end : end;
    }
    return move_all(out, base, heif, edits, err);
}
