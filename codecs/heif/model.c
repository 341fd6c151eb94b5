/* Reads the boxes of a HEIF file into tables. */
#include <stdlib.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/heif/heif.h"

/* The most bytes of a table, and of a box that it is read from: no grid has
 * more than 65,536 tiles. */
enum { TABLE_MOST = 12 << 20 };

/* ---- Numbers, and tables --------------------------------------------------*/

uint64_t heif_take(struct heif_cursor *c, unsigned bytes)
{
    uint64_t value = 0;
    c->bad = c->bad || c->end - c->at < bytes;
    for (unsigned i = 0; i < bytes && !c->bad; i++)
        value = value << 8 | c->data[c->at++];
    return value;
}

struct heif_cursor heif_open(const struct heif *heif, const struct box *box)
{
    struct heif_cursor c = {
        heif->file.data, box->body, box->end, false, 0, 0
    };
    c.version = (unsigned)heif_take(&c, 1);
    c.flags = (uint32_t)heif_take(&c, 3);
    return c;
}

/* Takes the id of an item, or how many there are. */
static uint32_t take_id(struct heif_cursor *c, bool large)
{
    return (uint32_t)heif_take(c, large ? 4 : 2);
}

int heif_add(struct heif *heif, struct bytes *table, const void *row,
             size_t size)
{
    if (table->size > TABLE_MOST)
        return fail(heif->err,
                    "its meta box has more entries than any real file");
    return bytes_append(table, row, size)
               ? 0
               : fail_memory(heif->err, "no memory for its items");
}

void heif_free(struct heif *heif)
{
    bytes_free(&heif->table.item);
    bytes_free(&heif->table.reference);
    bytes_free(&heif->table.property);
    bytes_free(&heif->table.extent);
    memory_free(heif->slot);
}

static int by_id(const void *a, const void *b)
{
    const struct heif_item *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

struct heif_item *heif_find_item(const struct heif *heif, uint32_t id)
{
    const struct heif_item key = { .id = id };
    const size_t count = heif_item_count(heif);
    return count ? bsearch(&key, heif_items(heif), count, sizeof key, by_id)
                 : NULL;
}

bool heif_is_one_of(const void *type, const char *types)
{
    for (; *types; types += 4)
        if (memcmp(type, types, 4) == 0)
            return true;
    return false;
}

static int fail_box(const struct heif *heif, const char *type)
{
    return fail(heif->err, "its %.4s box is malformed", type);
}

/* Fails unless another box is all boxes from `at` on, where a size of 0 has no
 * meaning. */
static int check_boxes(const struct heif *heif, size_t at,
                       const struct box *parent)
{
    struct box box;
    for (; at < parent->end; at = box.end)
        if (!box_read(&box, heif->file, at, parent->end) || box.open)
            return fail_box(heif, parent->type);
    return 0;
}

/* ---- Items, and how they refer to each other ------------------------------*/

static int read_iinf(struct heif *heif)
{
    static const char xmp[] = "application/rdf+xml";
    const struct box *iinf = &heif->box[HEIF_IINF];
    struct heif_cursor c = heif_open(heif, iinf);
    take_id(&c, c.version);
    if (c.bad || check_boxes(heif, c.at, iinf))
        return fail_box(heif, "iinf");
    for (struct box box = { .end = c.at };
         box_read(&box, heif->file, box.end, iinf->end);) {
        struct heif_item item = { 0 };
        if (!box_is(&box, "infe"))
            continue;
        c = heif_open(heif, &box);
        item.is.hidden = c.flags & 1;
        item.id = take_id(&c, c.version == 3);
        heif_take(&c, 2);
        if (c.version >= 2)
            write_be32((uint8_t *)item.type, (uint32_t)heif_take(&c, 4));
        if (c.bad || c.version > 3)
            return fail_box(heif, "infe");
        /* A name, a type of content, and how that is compressed, if it is. */
        const uint8_t *end = c.data + c.end,
                      *type = memchr(c.data + c.at, 0, c.end - c.at);
        if (strcmp(item.type, "mime") == 0 && type++ &&
            (size_t)(end - type) >= sizeof xmp &&
            memcmp(type, xmp, sizeof xmp) == 0)
            item.is.xmp = type + sizeof xmp == end || !type[sizeof xmp];
        item.is.blend = heif_is_one_of(item.type, "tmapsato");
        if (heif_add(heif, &heif->table.item, &item, sizeof item))
            return -1;
    }
    struct heif_item *item = heif_items(heif);
    const size_t count = heif_item_count(heif);
    if (count)
        qsort(item, count, sizeof *item, by_id);
    for (size_t i = 1; i < count; i++)
        if (item[i].id == item[i - 1].id)
            return fail(heif->err, "it has two items with the number %u",
                        item[i].id);
    return 0;
}

/* Notes a reference from an item to another one, either of which may be
 * missing, and what follows from it whatever is turned. */
static int add_reference(struct heif *heif, const char *type,
                         struct heif_item *from, struct heif_item *to)
{
    struct heif_reference one = { .from = from, .to = to };
    if (from && heif_is_one_of(type, HEIF_SHOWN_WITH))
        from->is.part = true;
    if (from && heif_is_one_of(type, HEIF_DESCRIBES))
        from->is.tells = true;
    if (!from || !to || from == to || !heif_is_one_of(type, HEIF_KNOWN))
        return 0;
    if (heif_is_one_of(type, HEIF_MADE_OF)) {
        to->is.part = true;
        to->is.within = to->is.within || !from->is.blend;
        from->base = from->base ? from->base : to;
    }
    memcpy(one.type, type, sizeof one.type);
    return heif_add(heif, &heif->table.reference, &one, sizeof one);
}

static int read_iref(struct heif *heif)
{
    const struct box *iref = &heif->box[HEIF_IREF];
    struct heif_cursor c = heif_open(heif, iref);
    if (c.bad || c.version > 1 || check_boxes(heif, c.at, iref))
        return fail_box(heif, "iref");
    for (struct box box = { .end = c.at };
         box_read(&box, heif->file, box.end, iref->end);) {
        c.at = box.body;
        c.end = box.end;
        struct heif_item *from = heif_find_item(heif, take_id(&c, c.version));
        for (size_t n = heif_take(&c, 2); n > 0 && !c.bad; n--) {
            const uint32_t to = take_id(&c, c.version);
            if (!c.bad &&
                add_reference(heif, box.type, from, heif_find_item(heif, to)))
                return -1;
        }
        if (c.bad)
            return fail_box(heif, "iref");
    }
    return 0;
}

/* Groups of pictures of the same: each refers to the first one. */
static int read_grpl(struct heif *heif)
{
    const struct box *grpl = &heif->box[HEIF_GRPL];
    if (check_boxes(heif, grpl->body, grpl))
        return -1;
    for (struct box box = { .end = grpl->body };
         box_read(&box, heif->file, box.end, grpl->end);) {
        struct heif_cursor c = heif_open(heif, &box);
        struct heif_item *first = NULL;
        heif_take(&c, 4);
        const size_t count = heif_take(&c, 4);
        if (!heif_is_one_of(box.type, HEIF_ALIKE))
            continue;
        for (size_t i = 0; i < count; i++) {
            struct heif_item *item = heif_find_item(heif, take_id(&c, true));
            if (c.bad)
                return fail_box(heif, "grpl");
            first = i ? first : item;
            if (add_reference(heif, box.type, item, first))
                return -1;
        }
    }
    return 0;
}

/* ---- Properties -----------------------------------------------------------*/

static int read_ipco(struct heif *heif)
{
    static const struct {
        char type[5];
        uint8_t size; /* of the box */
    } kinds[] = {
        [HEIF_CLAP] = { "clap", HEIF_PROPERTY },
        [HEIF_IROT] = { "irot", 9 },
        [HEIF_IMIR] = { "imir", 9 },
        [HEIF_ISPE] = { "ispe", 20 },
    };
    const struct box *ipco = &heif->box[HEIF_IPCO];
    const struct heif_property none = { .kind = HEIF_KINDS };
    int status = heif_add(heif, &heif->table.property, &none, sizeof none);
    for (struct box box = { .end = ipco->body };
         status == 0 && box_read(&box, heif->file, box.end, ipco->end);) {
        struct heif_property property = {
            .begin = box.begin,
            .end = box.end,
            .kind = box_is(&box, "iscl") ? HEIF_ISCL : HEIF_KINDS,
        };
        for (int i = 0; i < HEIF_KINDS; i++) {
            const size_t size = kinds[i].size;
            if (!box_is(&box, kinds[i].type))
                continue;
            if (box.end - box.body != size - 8)
                return fail_box(heif, box.type);
            property.kind = (enum heif_kind)i;
            write_be32(property.box, (uint32_t)size);
            memcpy(property.box + 4, kinds[i].type, 4);
            memcpy(property.box + 8, heif->file.data + box.body, size - 8);
        }
        status =
            heif_add(heif, &heif->table.property, &property, sizeof property);
    }
    return status;
}

struct heif_list heif_take_list(struct heif_cursor *c)
{
    struct heif_list list = { .id = take_id(c, c->version) };
    list.count = heif_take(c, 1);
    list.at = c->at;
    list.wide = c->flags & 1;
    for (size_t i = 0; i < list.count; i++)
        heif_take(c, list.wide ? 2 : 1);
    return list;
}

unsigned heif_listed(const struct heif *heif, const struct heif_list *list,
                     size_t i)
{
    const uint8_t *at = heif->file.data + list->at + (list->wide ? 2 * i : i);
    return list->wide ? read_be16(at) : (*at & 0x80u) << 8 | (*at & 0x7f);
}

/* An angle is in quarter turns against the clock (HEIF, 6.5.10). */
const enum xform heif_angles[4] = { XFORM_NONE, XFORM_ROTATE_270,
                                    XFORM_ROTATE_180, XFORM_ROTATE_90 };

/* Axis 0 exchanges top and bottom, 1 left and right (HEIF, 6.5.12). */
const enum xform heif_axes[2] = { XFORM_MIRROR_Y, XFORM_MIRROR_X };

/* Reads lists, some of which may be of items that are missing. */
static int read_ipma(struct heif *heif, const struct box *box)
{
    struct heif_cursor c = heif_open(heif, box);
    for (size_t n = heif_take(&c, 4); n > 0 && !c.bad; n--) {
        const struct heif_list list = heif_take_list(&c);
        struct heif_item *item = heif_find_item(heif, list.id);
        if (c.bad || (item && item->list.at))
            return fail_box(heif, "ipma");
        if (item)
            item->list = list;
        for (size_t i = 0; i < list.count; i++) {
            const unsigned number = heif_listed(heif, &list, i) & HEIF_NUMBER;
            if (number >= heif_property_count(heif))
                return fail_box(heif, "ipma");
            struct heif_property *property = &heif_properties(heif)[number];
            const enum heif_kind kind = property->kind;
            property->users++;
            if (!item)
                continue;
            struct heif_shown *shown = &item->shown;
            if ((kind == HEIF_ISCL && shown->last >= HEIF_IROT) ||
                (kind == HEIF_CLAP && shown->property[kind]))
                shown->strange = true;
            if (kind >= HEIF_KINDS ||
                (kind == HEIF_ISPE && shown->property[kind]))
                continue;
            shown->property[kind] = (uint16_t)number;
            if (kind == HEIF_ISPE)
                continue;
            shown->out_of_order |= shown->any && kind <= shown->last;
            shown->any = true;
            shown->last = kind;
            if (kind == HEIF_CLAP)
                shown->uncut = shown->turn;
            else
                shown->turn = xform_then(shown->turn,
                                         kind == HEIF_IROT
                                             ? heif_angles[property->box[8] & 3]
                                             : heif_axes[property->box[8] & 1]);
        }
    }
    return c.bad || c.at != box->end ? fail_box(heif, "ipma") : 0;
}

static int read_iprp(struct heif *heif)
{
    const struct box *iprp = &heif->box[HEIF_IPRP];
    struct box *ipco = &heif->box[HEIF_IPCO], box;
    const bool has = box_find(ipco, "ipco", heif->file, iprp->body, iprp->end);
    if (!has || !box_find(&box, "ipma", heif->file, iprp->body, iprp->end))
        return fail(heif->err, "its iprp box lacks the %s box",
                    has ? "ipma" : "ipco");
    if (check_boxes(heif, ipco->body, ipco) ||
        check_boxes(heif, iprp->body, iprp) || read_ipco(heif))
        return -1;
    for (box.end = iprp->body; box_read(&box, heif->file, box.end, iprp->end);)
        if (box_is(&box, "ipma") && read_ipma(heif, &box))
            return -1;
    return 0;
}

/* ---- Where the data is ----------------------------------------------------*/

/* Reads where the data of all items is. */
static int read_iloc(struct heif *heif)
{
    const struct box *idat = &heif->box[HEIF_IDAT];
    struct heif_cursor c = heif_open(heif, &heif->box[HEIF_ILOC]);
    const unsigned all = (unsigned)heif_take(&c, 2);
    const unsigned bits = c.version ? all : all & 0xfff0;
    /* The sizes of fields, in bytes: 0, 4 or 8. */
    const unsigned offset_size = bits >> 12, length_size = bits >> 8 & 15,
                   base_size = bits >> 4 & 15, index_size = bits & 15;
    const bool good = !(bits & 0x3333) && !(bits & bits << 1 & 0x8888);
    size_t items = take_id(&c, c.version == 2);
    if (c.bad || c.version > 2 || !good)
        return fail_box(heif, "iloc");
    heif->field = offset_size ? offset_size : base_size;
    for (; items > 0 && !c.bad; items--) {
        struct heif_extent extent = { .item = take_id(&c, c.version == 2) };
        const unsigned method = c.version ? heif_take(&c, 2) & 15 : 0;
        heif_take(&c, 2);
        extent.at = base_size && method == 0 ? c.at : 0;
        const uint64_t base = heif_take(&c, base_size);
        size_t count = heif_take(&c, 2);
        const size_t from = method ? idat->body : 0;
        const size_t room = method ? idat->end - from : heif->file.size;
        struct heif_item *item = heif_find_item(heif, extent.item);
        if (item && item->extents)
            item = NULL; /* the first place counts */
        if (item)
            item->extent = heif_extent_count(heif);
        if (index_size + offset_size + length_size == 0 && count > 1)
            count = 1; /* all are the same */
        for (; count > 0 && !c.bad; count--, extent.at = 0) {
            heif_take(&c, index_size);
            if (offset_size && method == 0)
                extent.at = c.at;
            const uint64_t offset = heif_take(&c, offset_size);
            const uint64_t length = heif_take(&c, length_size);
            if (c.bad || method > 1)
                continue;
            if (base > room || offset > room - base ||
                length > room - base - offset)
                return fail(heif->err,
                            "the data of its item %u would be beyond the end; "
                            "the file is cut short or damaged",
                            extent.item);
            extent.begin = from + (size_t)(base + offset);
            extent.open = length == 0;
            extent.end = length ? extent.begin + (size_t)length : from + room;
            if (heif_add(heif, &heif->table.extent, &extent, sizeof extent))
                return -1;
            if (item)
                item->extents++;
        }
    }
    return c.bad ? fail_box(heif, "iloc") : 0;
}

/* ---- The file -------------------------------------------------------------*/

static int note_once(struct heif *heif, enum heif_box kind,
                     const struct box *box)
{
    if (heif->box[kind].end)
        return fail(heif->err, "it has two %s boxes", box->type);
    heif->box[kind] = *box;
    return 0;
}

static int read_meta(struct heif *heif)
{
    static const char names[HEIF_BOXES][5] = {
        [HEIF_HDLR] = "hdlr", [HEIF_PITM] = "pitm", [HEIF_IINF] = "iinf",
        [HEIF_ILOC] = "iloc", [HEIF_IPRP] = "iprp", [HEIF_IREF] = "iref",
        [HEIF_GRPL] = "grpl", [HEIF_IDAT] = "idat",
    };
    const struct box *meta = &heif->box[HEIF_META], *b = heif->box;
    if (check_boxes(heif, meta->body + 4, meta))
        return -1;
    for (struct box box = { .end = meta->body + 4 };
         box_read(&box, heif->file, box.end, meta->end);)
        for (int i = HEIF_HDLR; i <= HEIF_IDAT; i++)
            if (box_is(&box, names[i]) && note_once(heif, i, &box))
                return -1;
    for (int i = HEIF_HDLR; i < HEIF_IDAT; i++)
        if (b[i].end - b[i].begin > TABLE_MOST)
            return fail(heif->err,
                        "its %s box is larger than that of any real file",
                        names[i]);
    if (b[HEIF_HDLR].end - b[HEIF_HDLR].body < 12 ||
        memcmp(heif->file.data + b[HEIF_HDLR].body + 8, "pict", 4) != 0)
        return fail(heif->err, "its meta box is not one of pictures");
    for (int i = HEIF_PITM; i <= HEIF_IPRP; i++)
        if (!b[i].end)
            return fail(heif->err, "its meta box lacks the %s box", names[i]);
    if (read_iinf(heif) || read_iloc(heif) || read_iprp(heif) ||
        (b[HEIF_IREF].end && read_iref(heif)) || read_grpl(heif))
        return -1;
    struct heif_cursor c = heif_open(heif, &b[HEIF_PITM]);
    const uint32_t id = take_id(&c, c.version);
    heif->primary = heif_find_item(heif, id);
    if (c.bad)
        return fail_box(heif, "pitm");
    return heif->primary && heif->primary->list.at
               ? 0
               : fail(heif->err, "its primary item, %u, %s", id,
                      heif->primary ? "has no properties" : "is missing");
}

int heif_read(struct heif *heif)
{
    /* Content Credentials, 11.3: a signature of all other bytes. */
    static const uint8_t c2pa[] = { 0xd8, 0xfe, 0xc3, 0xd6, 0x1b, 0x0e,
                                    0x48, 0x3c, 0x92, 0x97, 0x58, 0x28,
                                    0x87, 0x7e, 0xc4, 0x81 };
    const struct bytes file = heif->file;
    struct box box, *meta = &heif->box[HEIF_META];
    struct box *mini = &heif->box[HEIF_MINI];
    size_t at = 0;
    for (; box_read(&box, file, at, file.size); at = box.end) {
        if (at && (meta->end || mini->end) && box_is(&box, "ftyp"))
            box.end = file.size; /* of another file, such as a film */
        if (box_is(&box, "moov"))
            return fail_unread(heif->err,
                               "an image sequence (a moov box), which is "
                               "not turned");
        if ((box_is(&box, "meta") && note_once(heif, HEIF_META, &box)) ||
            (box_is(&box, "mini") && note_once(heif, HEIF_MINI, &box)))
            return -1;
        if (box_is(&box, "uuid") && box.end - box.body >= sizeof c2pa &&
            memcmp(file.data + box.body, c2pa, sizeof c2pa) == 0)
            heif->sealed = true;
    }
    /* What stands behind the boxes is kept, unless it is a box that goes on
     * beyond the end. */
    if (file.size - at >= 8 &&
        heif_is_one_of(file.data + at + 4, "ftypmetamdatfreeskipmoovmini"
                                           "idatimdauuidmpvdsefdwide"))
        return fail(heif->err,
                    "the file is cut short: its %.4s box goes on beyond the "
                    "end",
                    (const char *)file.data + at + 4);
    if (meta->end && mini->end)
        return fail_unread(heif->err, "it has several meta boxes, which is not "
                                      "understood");
    if (mini->end)
        return mini->end - mini->body < 6 ? fail_box(heif, "mini") : 0;
    return meta->end ? read_meta(heif)
                     : fail(heif->err,
                            "it has no meta box; it is cut short or damaged");
}
