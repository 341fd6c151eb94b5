/* Plans how the items of a HEIF file are shown after a turn, and writes the
 * file so: its properties and lists, and what follows from the size of its meta
 * box.
 */
#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/heif/heif.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/xmp.h"

/* ---- Properties as turns --------------------------------------------------*/

/* A clap box cuts to a width and a height, each a fraction of two numbers, and
 * has two such fractions for how far its center is from that of the picture.
 * Makes it cut the same of the picture turned by t. */
static void turn_clap(uint8_t *box, enum xform t)
{
    enum { WIDTH = 8, X = 24, FRACTION = 8 };
    uint8_t was[HEIF_PROPERTY];
    memcpy(was, box, sizeof was);
    for (unsigned i = 0; i < 2; i++) {
        const unsigned to = i * FRACTION;
        const unsigned from = (i ^ xform_transposes(t)) * FRACTION;
        const uint32_t offset = read_be32(was + X + from);
        memcpy(box + WIDTH + to, was + WIDTH + from, FRACTION);
        memcpy(box + X + to, was + X + from, FRACTION);
        if (t & (i ? XFORM_MIRROR_Y : XFORM_MIRROR_X))
            write_be32(box + X + to, -offset);
    }
}

/* ---- What is shown with the picture ---------------------------------------*/

/* Marks what one reference leads to. Returns whether that is new. */
static bool mark(const struct heif_reference *r)
{
    struct heif_item *from = r->from, *to = r->to;
    if (from->is.turned == to->is.turned)
        return false;
    if (heif_is_one_of(r->type, HEIF_SHOWN_WITH)) {
        if (!to->is.turned)
            return false;
        from->master = to;
    } else if (heif_is_one_of(r->type, HEIF_MADE_OF) && from->is.blend) {
        /* The first item that it is made of makes it turn, and then all. */
        if (to != from->base && to->is.turned)
            return false;
        if (to != from->base)
            to->master = from->base;
    } else if (!heif_is_one_of(r->type, HEIF_ALIKE) ||
               (from->is.turned ? to : from)->is.within) {
        /* A tile of a grid may stand for it where a reader knows no grids. */
        return false;
    }
    return from->is.turned = to->is.turned = true;
}

bool heif_follows(const struct heif_item *item)
{
    return item->is.made &&
           (item->is.blend || heif_is_one_of(item->type, "iden"));
}

/* Returns whether the turn may change an item. Without properties, as no
 * picture is, it stays. */
static bool is_planned(const struct heif_item *item)
{
    return item->list.at && (item->is.turned || heif_follows(item));
}

bool heif_stands_alone(const struct heif *heif, const struct heif_item *item)
{
    return !item->is.hidden && !item->is.part && heif_size(heif, item)[3];
}

int heif_mark(struct heif *heif)
{
    struct heif_item *item = heif_items(heif);
    const struct heif_reference *r = heif_references(heif);
    const size_t count = heif_reference_count(heif);
    bool more = true;
    if (heif->primary->is.blend)
        return fail_unread(heif->err,
                           "its primary item is of the type %s, which other "
                           "programs do not show: it blends pictures that are "
                           "turned themselves",
                           heif->primary->type);
    heif->primary->is.turned = true;
    for (size_t i = 0; i < heif_item_count(heif) && heif->opts->all; i++)
        item[i].is.turned |= heif_stands_alone(heif, &item[i]);
    for (int pass = 0; more; pass++) {
        if (pass == 16)
            return fail(heif->err,
                        "its items refer to each other in long chains");
        more = false;
        for (size_t i = 0; i < count; i++)
            more |= mark(&r[i]);
    }
    for (size_t i = 0; i < count; i++)
        if (heif_is_one_of(r[i].type, HEIF_MADE_OF)) {
            r[i].from->is.made |= r[i].to->is.turned;
            r[i].to->is.inside |= r[i].from->is.turned;
        }
    for (size_t i = 0; i < count; i++)
        if (heif_is_one_of(r[i].type, HEIF_DESCRIBES))
            r[i].from->is.ours |= r[i].to->is.turned || r[i].to->is.inside;
    for (size_t i = 0; i < heif_item_count(heif); i++)
        if (is_planned(&item[i]) && item[i].shown.strange)
            return fail_unread(heif->err,
                               "item %u is cut twice (clap), or scaled (iscl) "
                               "after it is rotated, which is not understood",
                               item[i].id);
    return 0;
}

/* ---- One item -------------------------------------------------------------*/

/* Returns -1, 0 or 1 for a size that is high, square or missing, or broad. */
static int shape_of(const uint8_t *ispe)
{
    const uint32_t width = read_be32(ispe + 12), height = read_be32(ispe + 16);
    return (width > height) - (width < height);
}

static void want(struct heif_slot *slot, const char *type, unsigned value)
{
    slot->box[3] = 9;
    memcpy(slot->box + 4, type, 4);
    slot->box[8] = (uint8_t)value;
}

/* Says t by irot and imir. An irot that is there stays, also if it rotates by
 * nothing, and a mirror keeps its axis where it can, so that four quarter turns
 * make the same file again. */
static void want_turn(struct heif_slot *slot, const struct heif *heif,
                      const struct heif_shown *source, enum xform t)
{
    const struct heif_property *property = heif_properties(heif);
    const uint16_t irot = source->property[HEIF_IROT];
    const uint16_t imir = source->property[HEIF_IMIR];
    const unsigned was = property[irot].box[8] & 3;
    unsigned angle = 0, axis = property[imir].box[8] & 1;
    if ((t ^ t >> 1 ^ t >> 2) & 1) { /* it reflects */
        for (unsigned i = 0; i < 2 && !(irot && imir); i++)
            if (xform_then(heif_angles[was], heif_axes[i]) == t)
                axis = i;
        want(&slot[HEIF_IMIR], "imir", axis);
        t = xform_then(t, heif_axes[axis]);
    }
    while (heif_angles[angle] != t)
        angle++;
    if (irot || angle)
        want(&slot[HEIF_IROT], "irot", angle);
}

/* Sets what becomes of an item. Returns whether it changes. */
static bool plan_item(const struct heif *heif, const struct heif_item *item,
                      enum xform turn, struct heif_slot slot[HEIF_KINDS])
{
    const struct heif_property *property = heif_properties(heif);
    const uint8_t *own = heif_size(heif, item);
    const bool follows = heif_follows(item);
    /* The transforms that count for it: its own; or, if it has none, those of
     * the picture that it is shown with, unless it lies as that is shown
     * already: a high thumbnail of a picture that is broad as stored. */
    struct heif_shown source = item->shown;
    for (const struct heif_item *of = item->master; of && !source.any;
         of = of->master) {
        const uint8_t *size = heif_size(heif, of);
        if (xform_transposes(of->shown.turn) &&
            shape_of(own) * shape_of(size) < 0)
            break;
        source = of->shown;
        /* What is cut of another size would be cut wrongly. */
        if (!own[3] || memcmp(own, size, 20) != 0)
            source.property[HEIF_CLAP] = 0;
    }
    uint8_t *clap = slot[HEIF_CLAP].box;
    bool changes = item->shown.out_of_order;
    enum xform t = source.turn;
    memset(slot, 0, HEIF_KINDS * sizeof *slot);
    if (follows) {
        t = xform_then(xform_inverse(turn), t);
        /* The size of what is made of a turned one is exchanged. That of what
         * blends only if it is the size as shown: some say the size as stored
         * instead, which AVIF asks for. */
        const uint8_t *stored = heif_size(heif, item->base);
        const int across = xform_transposes(item->base->shown.turn) ? 4 : 0;
        if (xform_transposes(turn) &&
            (!item->is.blend ||
             (stored[3] && (!heif->avif || across) &&
              memcmp(stored + 12 + across, own + 12, 4) == 0 &&
              memcmp(stored + 16 - across, own + 16, 4) == 0))) {
            memcpy(slot[HEIF_ISPE].box, own, 12);
            memcpy(slot[HEIF_ISPE].box + 12, own + 16, 4);
            memcpy(slot[HEIF_ISPE].box + 16, own + 12, 4);
        }
    }
    want_turn(slot, heif, &source, item->is.turned ? xform_then(t, turn) : t);
    memcpy(clap, property[source.property[HEIF_CLAP]].box, HEIF_PROPERTY);
    turn_clap(clap, xform_inverse(source.uncut));
    if (follows)
        turn_clap(clap, turn);
    for (int i = 0; i < HEIF_KINDS; i++) {
        if (i != HEIF_ISPE || slot[i].box[3])
            slot[i].was = item->shown.property[i];
        changes |=
            memcmp(slot[i].box, property[slot[i].was].box, HEIF_PROPERTY) != 0;
    }
    return changes;
}

/* ---- Properties for all ---------------------------------------------------*/

static bool is_same(const struct heif *heif, unsigned n,
                    const struct heif_slot *slot)
{
    return memcmp(heif_properties(heif)[n].box, slot->box, HEIF_PROPERTY) == 0;
}

/* Takes from the list of an item what it is to have another one of. */
static void release(struct heif *heif, const struct heif_item *item)
{
    for (size_t i = 0; i < item->list.count; i++) {
        const unsigned n = heif_listed(heif, &item->list, i) & HEIF_NUMBER;
        struct heif_property *property = &heif_properties(heif)[n];
        if (property->kind >= HEIF_KINDS)
            continue;
        struct heif_slot *slot = &item->slot[property->kind];
        if (slot->was == n && !slot->is && is_same(heif, n, slot)) {
            slot->is = (uint16_t)n;
        } else if (slot->was == n || property->kind != HEIF_ISPE) {
            property->users--;
            property->left = true;
        }
    }
}

/* Returns the number, below `end`, of a property that is what a slot wants; 0
 * if there is none. */
static unsigned find_same(const struct heif *heif, const struct heif_slot *slot,
                          size_t end)
{
    for (unsigned n = 1; n < end; n++)
        if (is_same(heif, n, slot))
            return n;
    return 0;
}

/* Gives a slot its property: the one that it had, if that is so, or becomes so
 * as nobody else has it. Or, of any, one that is so, one that nobody has, or a
 * new one. */
static int choose(struct heif *heif, struct heif_slot *slot,
                  enum heif_kind kind, bool any)
{
    enum { MOST = 0x8000 };
    const struct heif_property fresh = { .kind = kind };
    const struct heif_property *was = &heif_properties(heif)[slot->was];
    const size_t count = heif_property_count(heif);
    unsigned n = any ? find_same(heif, slot, count) : slot->was;
    if (!any && !is_same(heif, n, slot) && was->users)
        n = 0;
    if (any && !n) {
        if (count == MOST)
            return fail(heif->err, "it has no room for another property");
        if (heif_add(heif, &heif->table.property, &fresh, sizeof fresh))
            return -1;
        n = (unsigned)count;
    }
    slot->is = (uint16_t)n;
    if (n) {
        heif_properties(heif)[n].users++;
        memcpy(heif_properties(heif)[n].box, slot->box, HEIF_PROPERTY);
    }
    return 0;
}

/* Takes the last properties away where that is all that is left of an earlier
 * turn: nobody lists them, or an earlier one is the same. */
static void drop_last(struct heif *heif)
{
    struct heif_property *property = heif_properties(heif);
    for (size_t last; (last = heif_property_count(heif) - 1) > 0;) {
        unsigned same = 0;
        size_t others = property[last].users;
        for (size_t i = 0; i < heif->slots; i++)
            others -= heif->slot[i].is == last;
        if (!property[last].left || others)
            return;
        for (size_t i = 0; i < heif->slots; i++) {
            if (heif->slot[i].is != last)
                continue;
            same = same ? same : find_same(heif, &heif->slot[i], last);
            if (!same)
                return;
            heif->slot[i].is = (uint16_t)same;
            property[same].users++;
        }
        heif->table.property.size -= sizeof *property;
    }
}

int heif_plan(struct heif *heif, enum xform turn)
{
    enum { TURNED_MAX = 2048 };
    struct heif_item *item = heif_items(heif);
    const size_t items = heif_item_count(heif);
    size_t count = 0;
    for (size_t i = 0; i < items; i++)
        count += is_planned(&item[i]);
    if (count > TURNED_MAX)
        return fail(heif->err, "more than %d items are shown with the picture",
                    TURNED_MAX);
    heif->slot = memory_alloc_zeroed(count, HEIF_KINDS * sizeof *heif->slot);
    if (!heif->slot)
        return fail_memory(heif->err, "no memory for its items");
    for (size_t i = 0; i < items; i++) {
        struct heif_slot *slot = &heif->slot[heif->slots];
        if (!is_planned(&item[i]) || !plan_item(heif, &item[i], turn, slot))
            continue;
        item[i].slot = slot;
        heif->slots += HEIF_KINDS;
    }
    for (size_t i = 0; i < items; i++)
        if (item[i].slot)
            release(heif, &item[i]);
    for (int any = 0; any < 2; any++)
        for (size_t i = 0; i < heif->slots; i++)
            if (heif->slot[i].box[3] && !heif->slot[i].is &&
                choose(heif, &heif->slot[i], i % HEIF_KINDS, any))
                return -1;
    drop_last(heif);
    return 0;
}

/* ---- Writing --------------------------------------------------------------*/

/* Without memory no more is written, and `full` says so. */
struct heif_writer {
    struct bytes *out;
    struct heif *heif;
    size_t base;  /* where the file begins in `out` */
    size_t grown; /* by how much the iprp box has */
    bool full;
};

static void put(struct heif_writer *w, const void *data, size_t size)
{
    w->full = w->full || !bytes_append(w->out, data, size);
}

static void put_number(struct heif_writer *w, uint64_t value, unsigned size)
{
    uint8_t bytes[8];
    write_be64(bytes, value);
    put(w, bytes + sizeof bytes - size, size);
}

static void put_file(struct heif_writer *w, size_t begin, size_t end)
{
    put(w, w->heif->file.data + begin, end - begin);
}

/* Puts the content of a box of lists, some of which may not change. What a list
 * has stays in its place, if that is in order; what is added comes last, but
 * before what must follow it. Indices beyond 127 need the wide form, and then
 * all have it. */
static int put_lists(struct heif_writer *w, const struct box *box)
{
    const struct heif *heif = w->heif;
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
    const unsigned size = wide ? 2 : 1, upper = wide ? 0x8000 : 0x80;
    put_number(w, (uint64_t)c.version << 24 | c.flags | wide, 4);
    put_number(w, count, 4);
    for (size_t i = 0; i < count; i++) {
        const struct heif_list list = heif_take_list(&c);
        const struct heif_item *item = heif_find_item(heif, list.id);
        const struct heif_slot *slot = item ? item->slot : NULL;
        unsigned next = HEIF_CLAP; /* of the transforms */
        put_number(w, list.id, c.version ? 4 : 2);
        put_number(w, 0, 1);
        const size_t begin = w->out->size;
        for (size_t k = 0; k <= list.count; k++) {
            const bool ends = k == list.count;
            const unsigned bits = ends ? 0 : heif_listed(heif, &list, k);
            unsigned n = bits & HEIF_NUMBER;
            const unsigned kind =
                ends ? HEIF_IMIR : heif_properties(heif)[n].kind;
            for (; slot && kind < HEIF_ISPE && next <= kind &&
                   (ends || !item->shown.out_of_order);
                 next++)
                if (slot[next].is)
                    put_number(w, upper | slot[next].is, size);
            if (slot && kind == HEIF_ISPE && slot[kind].was == n)
                n = slot[kind].is;
            if (!ends && (!slot || kind >= HEIF_ISPE))
                put_number(w, bits & HEIF_ESSENTIAL ? upper | n : n, size);
        }
        const size_t properties = (w->out->size - begin) / size;
        if (properties > UINT8_MAX)
            return fail(heif->err,
                        "its item %u has no room for more properties", list.id);
        if (!w->full)
            w->out->data[begin - 1] = (uint8_t)properties;
    }
    return 0;
}

/* Puts the file, of which the properties and their lists alone change, and the
 * sizes of the boxes that they are in. */
static int put_boxes(struct heif_writer *w)
{
    struct heif *heif = w->heif;
    const struct box *meta = &heif->box[HEIF_META],
                     *iprp = &heif->box[HEIF_IPRP];
    struct box box;
    put_file(w, 0, iprp->body);
    for (size_t at = iprp->body; at < iprp->end; at = box.end) {
        const size_t begin = w->out->size;
        box_read(&box, heif->file, at, iprp->end);
        const bool known = at == heif->box[HEIF_IPCO].begin;
        const bool lists = box_is(&box, "ipma");
        put_file(w, at, known || lists ? box.body : box.end);
        for (size_t i = 1; known && i < heif_property_count(heif); i++) {
            const struct heif_property *one = &heif_properties(heif)[i];
            const size_t size = one->box[3], body = size ? size - 8 : 0;
            if (!one->begin) {
                put(w, one->box, size);
            } else {
                put_file(w, one->begin, one->end - body);
                put(w, one->box + 8, body);
            }
        }
        if (lists && put_lists(w, &box))
            return -1;
        if (w->full)
            break;
        if (box_resize(w->out->data + begin, &box, w->out->size - begin,
                       heif->err))
            return -1;
    }
    w->grown = w->out->size - w->base - iprp->end;
    put_file(w, iprp->end, heif->file.size);
    if (w->full)
        return fail_memory(heif->err, "no memory for the file");
    uint8_t *to = w->out->data + w->base;
    return box_resize(to + iprp->begin, iprp,
                      iprp->end - iprp->begin + w->grown, heif->err) ||
                   box_resize(to + meta->begin, meta,
                              meta->end - meta->begin + w->grown, heif->err)
               ? -1
               : 0;
}

/* Returns where the byte at `at` is afterwards. */
static size_t moved_to(const struct heif_writer *w, size_t at)
{
    return at < w->heif->box[HEIF_IPRP].end ? at : at + w->grown;
}

/* Moves what tells where the data of items begin. */
static int move_data(const struct heif_writer *w)
{
    const struct heif *heif = w->heif;
    const struct box *iprp = &heif->box[HEIF_IPRP];
    const struct heif_extent *extent = heif_extents(heif);
    for (size_t i = 0; i < heif_extent_count(heif); i++, extent++) {
        const size_t more = moved_to(w, extent->begin) - extent->begin;
        if (!extent->open && extent->begin < iprp->end &&
            extent->end > iprp->begin)
            return fail(heif->err,
                        "the data of its item %u overlaps its meta box",
                        extent->item);
        if (!more || !extent->at)
            continue;
        uint8_t *field = w->out->data + w->base + moved_to(w, extent->at);
        const uint64_t is = more + read_uint(field, heif->field, true);
        if (heif->field < 8 && is > UINT32_MAX)
            return fail(heif->err,
                        "the data of its item %u would be beyond what its iloc "
                        "box can say",
                        extent->item);
        write_uint(field, heif->field, true, is);
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
    bool wanted = (item->is.xmp || strcmp(item->type, "Exif") == 0) &&
                  (item->is.ours || !item->is.tells);
    for (size_t i = 0; i < item->extents; i++)
        wanted = wanted && !extent[i].open;
    for (size_t i = 0; i < item->extents && wanted; i++, extent++) {
        const size_t size = extent->end - extent->begin;
        if (heif->opts->limits.account &&
            account_spend(heif->opts->limits.account, size, heif->err))
            return -1;
        if (!bytes_append(data, heif->file.data + extent->begin, size))
            return fail_memory(heif->err, "no memory for metadata");
    }
    *begin =
        item->is.xmp ? data->size : exif_item_begin(data->data, data->size);
    return 0;
}

int heif_write(struct bytes *out, struct heif *heif, enum xform op)
{
    enum { MORE = 4096 };
    struct heif_writer w = { .out = out, .heif = heif, .base = out->size };
    w.full = !bytes_reserve(out, heif->file.size + MORE);
    int status = put_boxes(&w) || move_data(&w) ? -1 : 0;
    /* The orientations in EXIF and XMP become 1. */
    for (size_t i = 0; i < heif_item_count(heif) && status == 0; i++) {
        const struct heif_item *item = &heif_items(heif)[i];
        const struct heif_extent *extent = extents_of(heif, item);
        struct bytes data = { 0 };
        size_t begin;
        status = heif_metadata(&data, &begin, heif, item);
        if (status == 0 && begin < data.size)
            exif_retag(data.data + begin, data.size - begin, 1, op);
        else if (status == 0 && item->is.xmp && data.size)
            xmp_turn(data.data, data.size, XFORM_NONE, 1);
        for (size_t at = 0; at < data.size && status == 0; extent++)
            for (size_t from = extent->begin; from < extent->end; from++, at++)
                if (data.data[at] != heif->file.data[from])
                    out->data[w.base + moved_to(&w, from)] = data.data[at];
        bytes_free(&data);
    }
    return status;
}
