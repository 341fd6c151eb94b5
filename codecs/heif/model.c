/* Reads the boxes of a HEIF file into a model. */
#include <stdlib.h>

#include "codecs/base/byte_order.h"
#include "codecs/heif/heif.h"

/* More of these no real file has: a grid of 256 x 256 tiles is 65,536 items. */
enum { ITEMS_MAX = 70000, REFERENCES_MAX = 1 << 20, LISTED_MAX = 1 << 20 };

/* ---- Numbers one after the other ----------------------------------------- */

struct cursor {
    const uint8_t *data;
    size_t at, end;
    bool bad; /* it has gone beyond the end, and gives zeros */
};

static uint64_t take(struct cursor *c, unsigned bytes)
{
    uint64_t value = 0;
    c->bad = c->bad || c->end - c->at < bytes;
    for (unsigned i = 0; i < bytes && !c->bad; i++)
        value = value << 8 | c->data[c->at++];
    return value;
}

/* Begins behind version and flags of a box that has them. */
static struct cursor open_full(const struct heif *heif, const struct box *box,
                               unsigned *version, uint32_t *flags)
{
    struct cursor c = { heif->file.data, box->body, box->end, false };
    const uint32_t both = (uint32_t)take(&c, 4);
    *version = both >> 24;
    *flags = both & 0xffffff;
    return c;
}

static int fail_box(const char *type, struct err *err)
{
    return fail(err, "its %.4s box is malformed", type);
}

/* Reads a box within another one, where a size of 0 has no meaning. */
static bool read_inner(struct box *box, const struct heif *heif, size_t at,
                       size_t end)
{
    return box_read(box, heif->file, at, end) && !box->open;
}

/* Calls `read` for each box from `at` up to `end`, which must be all boxes. */
static int each_box(struct heif *heif, size_t at, const struct box *parent,
                    int (*read)(struct heif *heif, const struct box *box,
                                struct err *err),
                    struct err *err)
{
    struct box box;
    for (; at < parent->end; at = box.end) {
        if (!read_inner(&box, heif, at, parent->end))
            return fail_box(parent->type, err);
        if (read(heif, &box, err))
            return -1;
    }
    return 0;
}

/* Appends an element; `list`, which has been checked to be short, may move. */
static int add(struct heif *heif, unsigned store, const void *element,
               size_t size, struct err *err)
{
    if (!bytes_append(&heif->store[store], element, size))
        return fail_memory(err, "no memory for its items");
    heif->item = (void *)heif->store[HEIF_ITEMS].data;
    heif->reference = (void *)heif->store[HEIF_REFERENCES].data;
    heif->property = (void *)heif->store[HEIF_PROPERTIES].data;
    heif->association = (void *)heif->store[HEIF_ASSOCIATIONS].data;
    return 0;
}

void heif_free(struct heif *heif)
{
    for (unsigned i = 0; i < HEIF_STORES; i++)
        bytes_free(&heif->store[i]);
}

/* ---- Items, and how they refer to each other ------------------------------*/

static int by_id(const void *a, const void *b)
{
    const struct heif_item *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

struct heif_item *heif_item(const struct heif *heif, uint32_t id)
{
    const struct heif_item key = { .id = id };
    return heif->nitems ? bsearch(&key, heif->item, heif->nitems,
                                  sizeof *heif->item, by_id)
                        : NULL;
}

static int add_item(struct heif *heif, const struct heif_item *item,
                    struct err *err)
{
    if (heif->store[HEIF_ITEMS].size == ITEMS_MAX * sizeof *item)
        return fail(err, "it has more than %d items", ITEMS_MAX);
    return add(heif, HEIF_ITEMS, item, sizeof *item, err);
}

/* Those that were added are found only afterwards. */
static int sort_items(struct heif *heif, struct err *err)
{
    heif->nitems = heif->store[HEIF_ITEMS].size / sizeof *heif->item;
    if (heif->nitems)
        qsort(heif->item, heif->nitems, sizeof *heif->item, by_id);
    for (size_t i = 1; i < heif->nitems; i++)
        if (heif->item[i].id == heif->item[i - 1].id)
            return fail(err, "it has two items with the number %u",
                        heif->item[i].id);
    return 0;
}

static int read_infe(struct heif *heif, const struct box *box, struct err *err)
{
    static const char xmp[] = "application/rdf+xml";
    struct heif_item item = { 0 };
    unsigned version;
    uint32_t flags;
    struct cursor c = open_full(heif, box, &version, &flags);
    if (!box_is(box, "infe"))
        return 0;
    item.is.hidden = flags & 1;
    item.id = (uint32_t)take(&c, version == 3 ? 4 : 2);
    take(&c, 2);
    if (version >= 2)
        write_be32((uint8_t *)item.type, (uint32_t)take(&c, 4));
    if (c.bad || version > 3)
        return fail_box("infe", err);
    /* A name, a type of content, and how that is compressed, if it is. */
    const uint8_t *type = memchr(c.data + c.at, 0, c.end - c.at);
    if (strcmp(item.type, "mime") == 0 && type++ &&
        (size_t)(c.data + c.end - type) >= sizeof xmp &&
        memcmp(type, xmp, sizeof xmp) == 0)
        item.is.xmp = type + sizeof xmp == c.data + c.end || !type[sizeof xmp];
    return add_item(heif, &item, err);
}

static int read_iinf(struct heif *heif, const struct box *box, struct err *err)
{
    unsigned version;
    uint32_t flags;
    struct cursor c = open_full(heif, box, &version, &flags);
    take(&c, version ? 4 : 2);
    if (c.bad || heif->nitems)
        return fail_box("iinf", err);
    return each_box(heif, c.at, box, read_infe, err) ? -1
                                                     : sort_items(heif, err);
}

static int add_reference(struct heif *heif, const char *type, uint32_t from,
                         uint32_t to, struct err *err)
{
    struct heif_reference reference = { .from = from, .to = to };
    memcpy(reference.type, type, sizeof reference.type);
    if (heif->nreferences++ == REFERENCES_MAX)
        return fail(err, "its items refer to others more than %d times",
                    REFERENCES_MAX);
    return add(heif, HEIF_REFERENCES, &reference, sizeof reference, err);
}

static int read_iref(struct heif *heif, const struct box *box, struct err *err)
{
    unsigned version, size;
    uint32_t flags;
    struct cursor c = open_full(heif, box, &version, &flags);
    struct box one;
    size = version ? 4 : 2;
    if (c.bad || version > 1)
        return fail_box("iref", err);
    for (; c.at < box->end; c.at = one.end) {
        if (!read_inner(&one, heif, c.at, box->end))
            return fail_box("iref", err);
        c.at = one.body;
        const uint32_t from = (uint32_t)take(&c, size);
        for (size_t n = take(&c, 2); n > 0; n--) {
            const uint32_t to = (uint32_t)take(&c, size);
            if (c.bad || c.at > one.end)
                return fail_box("iref", err);
            if (add_reference(heif, one.type, from, to, err))
                return -1;
        }
    }
    return 0;
}

/* Pictures of the same: of a group, each is one of the first. */
static int read_group(struct heif *heif, const struct box *box, struct err *err)
{
    unsigned version;
    uint32_t flags, first = 0;
    struct cursor c = open_full(heif, box, &version, &flags);
    take(&c, 4);
    if (!box_is(box, "altr") && !box_is(box, "ster") && !box_is(box, "pymd"))
        return 0;
    const size_t count = take(&c, 4);
    for (size_t i = 0; i < count; i++) {
        const uint32_t id = (uint32_t)take(&c, 4);
        if (c.bad)
            return fail_box("grpl", err);
        if (i && add_reference(heif, box->type, id, first, err))
            return -1;
        first = i ? first : id;
    }
    return 0;
}

static int read_pitm(struct heif *heif, const struct box *box, struct err *err)
{
    unsigned version;
    uint32_t flags;
    struct cursor c = open_full(heif, box, &version, &flags);
    heif->primary = (uint32_t)take(&c, version ? 4 : 2);
    return c.bad ? fail_box("pitm", err) : 0;
}

/* ---- Properties -----------------------------------------------------------*/

static int read_property(struct heif *heif, const struct box *box,
                         struct err *err)
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
    struct heif_property property = { box->begin, box->body, box->end,
                                      .kind = HEIF_KINDS };
    for (int i = 0; i < HEIF_KINDS; i++) {
        const size_t size = kinds[i].size;
        if (!box_is(box, kinds[i].type))
            continue;
        if (box->end - box->body != size - 8)
            return fail_box(box->type, err);
        property.kind = (enum heif_kind)i;
        write_be32(property.box, (uint32_t)size);
        memcpy(property.box + 4, kinds[i].type, 4);
        memcpy(property.box + 8, heif->file.data + box->body, size - 8);
    }
    if (heif->nproperties++ == 0x7fff)
        return fail(err, "it has more than %d properties", 0x7fff);
    return add(heif, HEIF_PROPERTIES, &property, sizeof property, err);
}

/* Reads the list of an item, which may be missing elsewhere. */
static int read_list(struct heif *heif, struct cursor *c, unsigned version,
                     bool wide, struct err *err)
{
    struct heif_item fresh = { .id = (uint32_t)take(c, version ? 4 : 2) };
    struct heif_item *item = heif_item(heif, fresh.id);
    item = item ? item : &fresh;
    if (c->bad || item->listed)
        return fail_box("ipma", err);
    item->listed = true;
    item->first = heif->nassociations;
    item->count = take(c, 1);
    for (size_t i = 0; i < item->count; i++) {
        const unsigned bits = (unsigned)take(c, wide ? 2 : 1);
        const struct heif_association one = {
            .property = bits & (wide ? 0x7fff : 0x7f),
            .essential = bits >> (wide ? 15 : 7),
        };
        if (one.property > heif->nproperties)
            return fail_box("ipma", err);
        if (one.property)
            heif->property[one.property - 1].users++;
        if (heif->nassociations++ == LISTED_MAX)
            return fail(err, "it lists more than %d properties", LISTED_MAX);
        if (add(heif, HEIF_ASSOCIATIONS, &one, sizeof one, err))
            return -1;
    }
    if (c->bad)
        return fail_box("ipma", err);
    return item == &fresh ? add_item(heif, &fresh, err) : 0;
}

static int read_ipma(struct heif *heif, const struct box *box, struct err *err)
{
    unsigned version;
    uint32_t flags;
    struct cursor c = open_full(heif, box, &version, &flags);
    if (!box_is(box, "ipma"))
        return 0;
    if (heif->nipmas == HEIF_LISTS)
        return fail_box("ipma", err);
    heif->ipma[heif->nipmas++] = *box;
    heif->version = version > heif->version ? version : heif->version;
    heif->flags |= flags;
    for (size_t n = take(&c, 4); n > 0; n--)
        if (read_list(heif, &c, version, flags & 1, err))
            return -1;
    return c.bad || c.at != box->end || sort_items(heif, err)
               ? fail_box("ipma", err)
               : 0;
}

static int read_properties(struct heif *heif, struct err *err)
{
    const struct box *iprp = &heif->iprp;
    if (!iprp->end ||
        !box_find(&heif->ipco, "ipco", heif->file, iprp->body, iprp->end))
        return fail(err, "its items have no properties (iprp, ipco)");
    if (each_box(heif, heif->ipco.body, &heif->ipco, read_property, err) ||
        each_box(heif, iprp->body, iprp, read_ipma, err))
        return -1;
    return heif->nipmas ? 0 : fail(err, "its iprp box lacks the ipma box");
}

/* ---- Where the data is ----------------------------------------------------*/

bool heif_location(const struct heif *heif, size_t at,
                   struct heif_location *location)
{
    const struct heif_iloc *iloc = &heif->iloc;
    struct cursor c = { heif->file.data, at, iloc->box.end, false };
    *location = (struct heif_location){
        .item = (uint32_t)take(&c, iloc->version == 2 ? 4 : 2),
        .method = iloc->version ? take(&c, 2) & 15 : 0,
        .stride = (size_t)iloc->index + iloc->offset + iloc->length,
    };
    take(&c, 2);
    location->base_at = c.at;
    location->base = take(&c, iloc->base);
    location->extents = (unsigned)take(&c, 2);
    location->extents_at = c.at;
    if (location->stride == 0 && location->extents > 1)
        location->extents = 1; /* all are the same */
    const size_t size = location->extents * location->stride;
    location->end = c.at + size;
    return !c.bad && c.end - c.at >= size;
}

bool heif_extent(const struct heif *heif, const struct heif_location *location,
                 unsigned i, struct heif_extent *extent)
{
    const struct heif_iloc *iloc = &heif->iloc;
    const struct box *idat = &heif->idat;
    struct cursor c = { heif->file.data,
                        location->extents_at + i * location->stride,
                        location->end, false };
    const bool inside = location->method == 1;
    const size_t from = inside ? idat->body : 0;
    const size_t room = inside ? idat->end - from : heif->file.size;
    take(&c, iloc->index);
    extent->at = c.at;
    const uint64_t offset = take(&c, iloc->offset);
    const uint64_t length = take(&c, iloc->length);
    if (location->base > room || offset > room - location->base ||
        length > room - location->base - offset)
        return false;
    extent->begin = from + (size_t)(location->base + offset);
    extent->open = length == 0;
    extent->end = length ? extent->begin + (size_t)length : from + room;
    return true;
}

static int check_location(struct heif *heif,
                          const struct heif_location *location, struct err *err)
{
    struct heif_extent extent;
    if (location->method > 1)
        return 0;
    for (unsigned i = 0; i < location->extents; i++)
        if (!heif_extent(heif, location, i, &extent))
            return fail(err,
                        "the data of its item %u would be beyond the end; the "
                        "file is cut short or damaged",
                        location->item);
    return 0;
}

static int read_iloc(struct heif *heif, const struct box *box, struct err *err)
{
    struct heif_iloc *iloc = &heif->iloc;
    struct heif_location location;
    uint32_t flags;
    struct cursor c = open_full(heif, box, &iloc->version, &flags);
    const unsigned sizes = (unsigned)take(&c, 2);
    iloc->box = *box;
    iloc->offset = sizes >> 12;
    iloc->length = sizes >> 8 & 15;
    iloc->base = sizes >> 4 & 15;
    iloc->index = iloc->version ? sizes & 15 : 0;
    iloc->count = (uint32_t)take(&c, iloc->version == 2 ? 4 : 2);
    iloc->first = c.at;
    if (c.bad || iloc->version > 2 || (iloc->offset | iloc->length) & 3 ||
        (iloc->base | iloc->index) & 3 || iloc->offset > 8 ||
        iloc->length > 8 || iloc->base > 8 || iloc->index > 8)
        return fail_box("iloc", err);
    size_t at = iloc->first;
    for (uint32_t i = 0; i < iloc->count; i++, at = location.end) {
        if (!heif_location(heif, at, &location))
            return fail_box("iloc", err);
        struct heif_item *item = heif_item(heif, location.item);
        if (item && !item->location)
            item->location = at;
        if (check_location(heif, &location, err))
            return -1;
    }
    return 0;
}

/* ---- The file -------------------------------------------------------------*/

static int note_once(struct box *to, const struct box *box, struct err *err)
{
    if (to->end)
        return fail(err, "it has two %s boxes", box->type);
    *to = *box;
    return 0;
}

static int read_meta(struct heif *heif, struct err *err)
{
    static const char *const names[] = { "hdlr", "pitm", "iinf", "iref", "iloc",
                                         "iprp", "idat", "grpl", "dinf" };
    enum { HDLR, PITM, IINF, IREF, ILOC, IPRP, IDAT, GRPL, NAMES };
    const struct box *meta = &heif->meta;
    struct box found[NAMES] = { { 0 } }, box;
    for (size_t at = meta->body + 4; at < meta->end; at = box.end) {
        if (!read_inner(&box, heif, at, meta->end))
            return fail_box("meta", err);
        for (int i = 0; i < NAMES; i++)
            if (box_is(&box, names[i]) && note_once(&found[i], &box, err))
                return -1;
    }
    const struct box *hdlr = &found[HDLR];
    if (!hdlr->end || hdlr->end - hdlr->body < 12 ||
        memcmp(heif->file.data + hdlr->body + 8, "pict", 4) != 0)
        return fail(err, "its meta box is not one of pictures");
    if (!found[PITM].end || !found[IINF].end || !found[ILOC].end)
        return fail(err, "its meta box lacks the %s box",
                    !found[PITM].end   ? "pitm"
                    : !found[IINF].end ? "iinf"
                                       : "iloc");
    heif->iprp = found[IPRP];
    heif->idat = found[IDAT];
    if (read_pitm(heif, &found[PITM], err) ||
        read_iinf(heif, &found[IINF], err) ||
        read_iloc(heif, &found[ILOC], err) || read_properties(heif, err) ||
        (found[IREF].end && read_iref(heif, &found[IREF], err)) ||
        (found[GRPL].end &&
         each_box(heif, found[GRPL].body, &found[GRPL], read_group, err)))
        return -1;
    return heif_item(heif, heif->primary)
               ? 0
               : fail(err, "its primary item, %u, is missing", heif->primary);
}

/* What stands behind the boxes is kept, unless it is a box that goes on beyond
 * the end. */
static int check_tail(const struct heif *heif, size_t at, struct err *err)
{
    static const char *const types[] = { "ftyp", "meta", "mdat", "free", "skip",
                                         "moov", "mini", "idat", "imda", "uuid",
                                         "mpvd", "sefd", "wide" };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (heif->file.size - at >= 8 &&
            memcmp(heif->file.data + at + 4, types[i], 4) == 0)
            return fail(err,
                        "the file is cut short: its %s box goes on beyond "
                        "the end",
                        types[i]);
    return 0;
}

/* Content Credentials, 11.3: a signature of all other bytes. */
static bool is_seal(const struct heif *heif, const struct box *box)
{
    static const uint8_t uuid[] = { 0xd8, 0xfe, 0xc3, 0xd6, 0x1b, 0x0e,
                                    0x48, 0x3c, 0x92, 0x97, 0x58, 0x28,
                                    0x87, 0x7e, 0xc4, 0x81 };
    return box_is(box, "uuid") && box->end - box->body >= sizeof uuid &&
           memcmp(heif->file.data + box->body, uuid, sizeof uuid) == 0;
}

int heif_read(struct heif *heif, struct bytes file, struct err *err)
{
    struct box box;
    bool data = false;
    size_t at = 0;
    *heif = (struct heif){ .file = file };
    for (; at < file.size && box_read(&box, file, at, file.size);
         at = box.end) {
        const bool known = heif->meta.end || heif->mini.end;
        if (at && known && box_is(&box, "ftyp"))
            box.end = file.size; /* of another file, such as a film */
        if (box_is(&box, "moov"))
            return fail_unread(err, "an image sequence (a moov box), which is "
                                    "not turned");
        if ((box_is(&box, "meta") && note_once(&heif->meta, &box, err)) ||
            (box_is(&box, "mini") && note_once(&heif->mini, &box, err)))
            return -1;
        heif->sealed = heif->sealed || is_seal(heif, &box);
        data = data || box_is(&box, "mdat") || box_is(&box, "imda");
        if (heif->meta.end && !data && !heif->space.end &&
            (box_is(&box, "free") || box_is(&box, "skip")))
            heif->space = box;
    }
    if (at < file.size && check_tail(heif, at, err))
        return -1;
    if (heif->meta.end && heif->mini.end)
        return fail_unread(err, "it has several meta boxes, which is not "
                                "understood");
    if (heif->mini.end)
        return heif->mini.end - heif->mini.body < 6 ? fail_box("mini", err) : 0;
    return heif->meta.end
               ? read_meta(heif, err)
               : fail(err, "it has no meta box; it is cut short or damaged");
}

const uint8_t *heif_find(const struct heif *heif, const struct heif_item *item,
                         enum heif_kind kind)
{
    for (size_t i = 0; i < item->count; i++) {
        const unsigned n = heif->association[item->first + i].property;
        if (n && heif->property[n - 1].kind == kind)
            return heif->property[n - 1].box;
    }
    return NULL;
}
