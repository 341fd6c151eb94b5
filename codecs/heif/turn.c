/* Plans how the items of a HEIF file are shown after a turn. */
#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/heif/heif.h"

/* ---- Properties as turns --------------------------------------------------*/

/* An angle is in quarter turns against the clock (HEIF, 6.5.10). */
static const enum xform angles[] = { XFORM_NONE, XFORM_ROTATE_270,
                                     XFORM_ROTATE_180, XFORM_ROTATE_90 };

/* Axis 0 exchanges top and bottom, 1 left and right (HEIF, 6.5.12). */
static const enum xform axes[] = { XFORM_MIRROR_Y, XFORM_MIRROR_X };

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

int heif_shown(const struct heif *heif, const struct heif_item *item,
               struct heif_shown *shown, struct err *err)
{
    int last = -1;
    bool essential;
    *shown = (struct heif_shown){ .in_order = true };
    for (size_t i = 0; i < item->list.count; i++) {
        const unsigned n = heif_listed(heif, &item->list, i, &essential);
        const struct heif_property *property = &heif_properties(heif)[n];
        const enum heif_kind kind = property->kind;
        if ((kind == HEIF_ISCL && last >= HEIF_IROT) ||
            (kind == HEIF_CLAP && shown->property[kind]))
            return fail_unread(
                err, "item %u is %s, which is not understood", item->id,
                kind == HEIF_CLAP ? "cut twice (clap)"
                                  : "scaled (iscl) after it is rotated");
        if (kind >= HEIF_KINDS || (kind == HEIF_ISPE && shown->property[kind]))
            continue;
        shown->property[kind] = (uint16_t)n;
        if (kind == HEIF_ISPE)
            continue;
        shown->any = true;
        shown->in_order = shown->in_order && (int)kind > last;
        last = (int)kind;
        if (kind == HEIF_CLAP) {
            memcpy(shown->clap, property->box, sizeof shown->clap);
            turn_clap(shown->clap, xform_inverse(shown->turn));
        } else {
            shown->turn = xform_then(
                shown->turn, kind == HEIF_IROT ? angles[property->box[8] & 3]
                                               : axes[property->box[8] & 1]);
        }
    }
    return 0;
}

/* ---- What is shown with the picture ---------------------------------------*/

/* Marks what one reference leads to. Returns whether that is new. */
static bool mark(const struct heif_reference *r)
{
    struct heif_item *from = r->from, *to = r->to;
    if (from->is.turned == to->is.turned)
        return false;
    if (r->relation == HEIF_SHOWN_WITH) {
        if (!to->is.turned)
            return false;
        from->master = to;
    } else if (r->relation == HEIF_MADE_OF && from->is.blend) {
        /* The first item that it is made of makes it turn, and then all. */
        if (to != from->base && to->is.turned)
            return false;
        if (to != from->base)
            to->master = from->base;
    } else if (r->relation != HEIF_ALIKE ||
               (from->is.turned ? to : from)->is.within) {
        /* A tile of a grid may stand for it where a reader knows no grids. */
        return false;
    }
    return from->is.turned = to->is.turned = true;
}

/* Notes what follows from an item that is turned. */
static void note_turned(struct heif *heif)
{
    const struct heif_reference *r = heif_references(heif);
    const size_t count = heif_reference_count(heif);
    for (size_t i = 0; i < count; i++)
        if (r[i].relation == HEIF_MADE_OF) {
            r[i].from->is.made |= r[i].to->is.turned;
            r[i].to->is.inside |= r[i].from->is.turned;
        }
    for (size_t i = 0; i < count; i++)
        if (r[i].relation == HEIF_DESCRIBES)
            r[i].from->is.ours |= r[i].to->is.turned || r[i].to->is.inside;
}

bool heif_stands_alone(const struct heif *heif, const struct heif_item *item)
{
    return !item->is.hidden && !item->is.part &&
           heif_find(heif, item, HEIF_ISPE)[3];
}

int heif_mark(struct heif *heif, struct err *err)
{
    struct heif_item *item = heif_items(heif);
    bool more = true;
    heif->primary->is.turned = true;
    for (size_t i = 0; i < heif_item_count(heif) && heif->all; i++)
        item[i].is.turned |= heif_stands_alone(heif, &item[i]);
    for (int pass = 0; more; pass++) {
        if (pass == 16)
            return fail(err, "its items refer to each other in long chains");
        more = false;
        for (size_t i = 0; i < heif_reference_count(heif); i++)
            more |= mark(&heif_references(heif)[i]);
    }
    note_turned(heif);
    return 0;
}

/* ---- One item -------------------------------------------------------------*/

/* Returns -1, 0 or 1 for a size that is high, square or missing, or broad. */
static int shape_of(const uint8_t *ispe)
{
    const uint32_t width = read_be32(ispe + 12), height = read_be32(ispe + 16);
    return (width > height) - (width < height);
}

/* Finds whose transforms count for an item: its own; or, if it has none, those
 * of the picture that it is shown with, unless it lies as that is shown
 * already: a high thumbnail of a picture that is broad as stored. */
static int find_source(const struct heif *heif, const struct heif_item *item,
                       struct heif_shown *source, struct err *err)
{
    const uint8_t *own = heif_find(heif, item, HEIF_ISPE);
    if (heif_shown(heif, item, source, err))
        return -1;
    for (int depth = 0; !source->any && item->master && depth < 16; depth++) {
        struct heif_shown shown;
        item = item->master;
        if (heif_shown(heif, item, &shown, err))
            return -1;
        const uint8_t *ispe = heif_find(heif, item, HEIF_ISPE);
        if (xform_transposes(shown.turn) && shape_of(own) * shape_of(ispe) < 0)
            break;
        *source = shown;
        /* What is cut of another size would be cut wrongly. */
        if (!own[3] || memcmp(own, ispe, 20) != 0)
            source->property[HEIF_CLAP] = 0;
    }
    return 0;
}

static void want(struct heif_change *change, enum heif_kind kind,
                 unsigned value)
{
    uint8_t *box = change->slot[kind].box;
    box[3] = 9;
    memcpy(box + 4, kind == HEIF_IROT ? "irot" : "imir", 4);
    box[8] = (uint8_t)value;
}

/* Says t by irot and imir. An irot that is there stays, also if it rotates by
 * nothing, and a mirror keeps its axis where it can, so that four quarter turns
 * make the same file again. */
static void want_turn(struct heif_change *change, const struct heif *heif,
                      const struct heif_shown *source, enum xform t)
{
    const struct heif_property *property = heif_properties(heif);
    const uint16_t irot = source->property[HEIF_IROT];
    const uint16_t imir = source->property[HEIF_IMIR];
    const unsigned was = property[irot].box[8] & 3;
    unsigned angle = 0, axis = property[imir].box[8] & 1;
    if ((t ^ t >> 1 ^ t >> 2) & 1) { /* it reflects */
        for (unsigned i = 0; i < 2 && !(irot && imir); i++)
            if (xform_then(angles[was], axes[i]) == t)
                axis = i;
        want(change, HEIF_IMIR, axis);
        t = xform_then(t, axes[axis]);
    }
    while (angles[angle] != t)
        angle++;
    if (irot || angle)
        want(change, HEIF_IROT, angle);
}

/* The size of an item that is made of the turned one is exchanged. That of one
 * that blends only if it is the size as shown: some say the size as stored
 * instead, which AVIF asks for. */
static int turn_size(const struct heif *heif, const struct heif_plan *plan,
                     const struct heif_item *item, struct heif_change *change,
                     struct err *err)
{
    const uint8_t *ispe = heif_find(heif, item, HEIF_ISPE);
    const uint8_t *stored = heif_find(heif, item->base, HEIF_ISPE);
    struct heif_shown shown;
    uint8_t *box = change->slot[HEIF_ISPE].box;
    if (!ispe[3] || !xform_transposes(plan->turn))
        return 0;
    if (item->is.blend) {
        if (heif_shown(heif, item->base, &shown, err))
            return -1;
        const int across = xform_transposes(shown.turn) ? 4 : 0;
        if (!stored[3] || memcmp(stored + 12 + across, ispe + 12, 4) != 0 ||
            memcmp(stored + 16 - across, ispe + 16, 4) != 0 ||
            (plan->avif && !across))
            return 0;
    }
    memcpy(box, ispe, 20);
    memcpy(box + 12, ispe + 16, 4);
    memcpy(box + 16, ispe + 12, 4);
    return 0;
}

/* An item that shows another one as it is can show it so, too, when that is
 * turned. */
bool heif_follows(const struct heif_item *item)
{
    return item->is.made &&
           (item->is.blend || heif_is_one_of(item->type, "iden"));
}

/* Sets what becomes of an item. Returns -1 on failure, 1 if it changes. */
static int plan_item(const struct heif *heif, const struct heif_plan *plan,
                     const struct heif_item *item, struct heif_change *change,
                     struct err *err)
{
    const struct heif_property *property = heif_properties(heif);
    const bool follows = heif_follows(item);
    struct heif_slot *slot = change->slot;
    struct heif_shown own, source;
    *change = (struct heif_change){ .in_order = false };
    if (heif_shown(heif, item, &own, err) ||
        find_source(heif, item, &source, err) ||
        (follows && turn_size(heif, plan, item, change, err)))
        return -1;
    enum xform t = source.turn;
    if (follows)
        t = xform_then(xform_inverse(plan->turn), t);
    if (item->is.turned)
        t = xform_then(t, plan->turn);
    want_turn(change, heif, &source, t);
    if (source.property[HEIF_CLAP]) {
        memcpy(slot[HEIF_CLAP].box, source.clap, HEIF_PROPERTY);
        if (follows)
            turn_clap(slot[HEIF_CLAP].box, plan->turn);
    }
    bool same = own.in_order;
    change->in_order = own.in_order;
    for (int i = 0; i < HEIF_KINDS; i++) {
        if (i != HEIF_ISPE || slot[i].box[3])
            slot[i].was = own.property[i];
        same = same && memcmp(slot[i].box, property[slot[i].was].box,
                              HEIF_PROPERTY) == 0;
    }
    return !same;
}

/* ---- Properties for all ---------------------------------------------------*/

static bool is_same(const struct heif *heif, unsigned n,
                    const struct heif_slot *slot)
{
    return memcmp(heif_properties(heif)[n].box, slot->box, HEIF_PROPERTY) == 0;
}

/* Notes which properties lists keep as they are, and which some leave. */
static void note_kept(struct heif *heif, const struct heif_item *item)
{
    bool essential;
    for (size_t i = 0; i < item->list.count; i++) {
        const unsigned n = heif_listed(heif, &item->list, i, &essential);
        struct heif_property *property = &heif_properties(heif)[n];
        if (property->kind >= HEIF_KINDS)
            continue;
        struct heif_slot *slot =
            item->change ? &item->change->slot[property->kind] : NULL;
        if (!slot || (property->kind == HEIF_ISPE && slot->was != n)) {
            property->kept++;
        } else if (slot->was == n && !slot->is && is_same(heif, n, slot)) {
            slot->is = (uint16_t)n;
            property->users++;
        } else {
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

/* Returns the number of one of this kind that nobody has; 0 if there is none.
 */
static unsigned find_unused(const struct heif *heif, enum heif_kind kind)
{
    const struct heif_property *property = heif_properties(heif);
    for (unsigned n = 1; n < heif_property_count(heif); n++)
        if (property[n].kind == kind && !property[n].kept && !property[n].users)
            return n;
    return 0;
}

/* Gives a slot its property: the one that it had, which is changed if nobody
 * else has it; or, of any, one that is so, one that nobody has, or a new one.
 */
static int choose(struct heif *heif, struct heif_slot *slot,
                  enum heif_kind kind, bool any, struct err *err)
{
    enum { MOST = 0x8000 };
    const struct heif_property fresh = { .kind = kind };
    const struct heif_property *was = &heif_properties(heif)[slot->was];
    unsigned n = slot->was;
    if (any) {
        n = find_same(heif, slot, heif_property_count(heif));
        n = n ? n : find_unused(heif, kind);
    } else if (!is_same(heif, n, slot) && (was->kept || was->users)) {
        n = 0;
    }
    if (!n && !any)
        return 0;
    if (!n) {
        n = (unsigned)heif_property_count(heif);
        if (n == MOST)
            return fail(err, "it has no room for another property");
        if (heif_add(&heif->table.property, &fresh, sizeof fresh, err))
            return -1;
    }
    slot->is = (uint16_t)n;
    heif_properties(heif)[n].users++;
    memcpy(heif_properties(heif)[n].box, slot->box, HEIF_PROPERTY);
    return 0;
}

/* Takes the last properties away where that is all that is left of an earlier
 * turn: nobody lists them, or an earlier one is the same. */
static void drop_last(struct heif *heif, const struct heif_plan *plan)
{
    struct heif_property *property = heif_properties(heif);
    for (size_t last; (last = heif_property_count(heif) - 1) > 0;) {
        unsigned same = 0;
        if (!property[last].left || property[last].kept)
            return;
        for (size_t i = 0; i < plan->count * HEIF_KINDS; i++) {
            struct heif_slot *slot =
                &plan->change[i / HEIF_KINDS].slot[i % HEIF_KINDS];
            if (slot->is != last)
                continue;
            same = same ? same : find_same(heif, slot, last);
            if (!same)
                return;
            slot->is = (uint16_t)same;
            property[same].users++;
        }
        heif->table.property.size -= sizeof *property;
    }
}

int heif_plan(struct heif *heif, struct heif_plan *plan, struct err *err)
{
    enum { TURNED_MAX = 2048 };
    struct heif_item *item = heif_items(heif);
    const size_t items = heif_item_count(heif);
    size_t count = 0;
    for (size_t i = 0; i < items; i++)
        count += item[i].is.turned || heif_follows(&item[i]);
    if (count > TURNED_MAX)
        return fail(err, "more than %d items are shown with the picture",
                    TURNED_MAX);
    plan->change = memory_alloc_zeroed(count, sizeof *plan->change);
    if (!plan->change)
        return fail_memory(err, "no memory for its items");
    for (size_t i = 0; i < items; i++) {
        struct heif_change *change = &plan->change[plan->count];
        if (!item[i].is.turned && !heif_follows(&item[i]))
            continue;
        const int changes = plan_item(heif, plan, &item[i], change, err);
        if (changes < 0)
            return -1;
        item[i].change = changes ? change : NULL;
        plan->count += changes > 0;
    }
    for (size_t i = 0; i < items; i++)
        note_kept(heif, &item[i]);
    for (size_t i = 0; i < 2 * plan->count * HEIF_KINDS; i++) {
        const size_t k = i % (plan->count * HEIF_KINDS);
        const enum heif_kind kind = k % HEIF_KINDS;
        struct heif_slot *slot = &plan->change[k / HEIF_KINDS].slot[kind];
        if (slot->box[3] && !slot->is && choose(heif, slot, kind, i != k, err))
            return -1;
    }
    drop_last(heif, plan);
    return 0;
}
