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

static enum xform turn_of(const struct heif_property *property)
{
    return property->kind == HEIF_IROT ? angles[property->box[8] & 3]
                                       : axes[property->box[8] & 1];
}

static bool reflects(enum xform t)
{
    return (t ^ t >> 1 ^ t >> 2) & 1;
}

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
    *shown = (struct heif_shown){ .in_order = true };
    for (size_t i = 0; i < item->count; i++) {
        const uint16_t n = heif->association[item->first + i].property;
        const struct heif_property *property =
            n ? &heif->property[n - 1] : NULL;
        const enum heif_kind kind = property ? property->kind : HEIF_KINDS;
        if (property && kind == HEIF_KINDS && last >= HEIF_IROT &&
            memcmp(heif->file.data + property->begin + 4, "iscl", 4) == 0)
            return fail_unread(err,
                               "item %u is scaled (iscl) after it is "
                               "rotated, which is not understood",
                               item->id);
        if (kind == HEIF_KINDS || (kind == HEIF_ISPE && shown->property[kind]))
            continue;
        if (kind == HEIF_CLAP && shown->property[kind])
            return fail_unread(err,
                               "item %u is cut twice (clap), which is not "
                               "understood",
                               item->id);
        shown->property[kind] = n;
        if (kind == HEIF_ISPE)
            continue;
        shown->any = true;
        shown->in_order = shown->in_order && (int)kind > last;
        last = (int)kind;
        if (kind == HEIF_CLAP) {
            memcpy(shown->clap, property->box, sizeof shown->clap);
            turn_clap(shown->clap, xform_inverse(shown->turn));
        } else {
            shown->turn = xform_then(shown->turn, turn_of(property));
        }
    }
    return 0;
}

/* ---- What is shown with the picture ---------------------------------------*/

static bool is(const char *type, const char *other)
{
    return memcmp(type, other, 4) == 0;
}

/* Items of these types are made of other items that are turned themselves, the
 * first of which is the picture without the others: a gain map, or the bits
 * that it lacks. */
static bool is_made_of_turned(const struct heif_item *item)
{
    return is(item->type, "tmap") || is(item->type, "sato");
}

/* Returns whether an item refers to the picture that it is shown with. */
static bool is_companion(const struct heif_reference *r)
{
    return is(r->type, "thmb") || is(r->type, "auxl");
}

static bool is_group(const struct heif_reference *r)
{
    return is(r->type, "altr") || is(r->type, "ster") || is(r->type, "pymd");
}

/* Marks what one reference leads to. Returns whether that is new. The first
 * item that a tmap is made of makes it turn, and then all that it is made of
 * turn. */
static bool mark(struct heif *heif, const struct heif_reference *r)
{
    struct heif_item *from = heif_item(heif, r->from);
    struct heif_item *to = heif_item(heif, r->to);
    if (!from || !to || from == to || from->is.turned == to->is.turned)
        return false;
    if (is_companion(r) && to->is.turned) {
        from->master = to->id;
        return from->is.turned = true;
    }
    if (is(r->type, "dimg") && is_made_of_turned(from)) {
        const struct heif_reference *first = r;
        while (first > heif->reference && is(first[-1].type, "dimg") &&
               first[-1].from == r->from)
            first--;
        if (first != r && to->is.turned)
            return false;
        if (first != r)
            to->master = first->to;
        return from->is.turned = to->is.turned = true;
    }
    /* A tile of a grid may stand for it where a reader knows no grids. */
    if (!is_group(r) || (from->is.turned ? to : from)->is.within)
        return false;
    return from->is.turned = to->is.turned = true;
}

/* Notes what items are shown with others, or within them. */
static void note_parts(struct heif *heif)
{
    for (size_t i = 0; i < heif->nreferences; i++) {
        const struct heif_reference *r = &heif->reference[i];
        struct heif_item *from = heif_item(heif, r->from);
        struct heif_item *to = heif_item(heif, r->to);
        if (from && is_companion(r))
            from->is.part = true;
        if (from && to && is(r->type, "dimg"))
            to->is.part = true;
        if (from && to && is(r->type, "dimg") && !is_made_of_turned(from))
            to->is.within = true;
    }
}

/* Notes what follows from an item that is turned. */
static void note_turned(struct heif *heif)
{
    for (size_t i = 0; i < heif->nreferences; i++) {
        const struct heif_reference *r = &heif->reference[i];
        struct heif_item *from = heif_item(heif, r->from);
        struct heif_item *to = heif_item(heif, r->to);
        if (from && to && is(r->type, "dimg")) {
            from->is.made = from->is.made || to->is.turned;
            to->is.inside = to->is.inside || from->is.turned;
        }
    }
    for (size_t i = 0; i < heif->nreferences; i++) {
        const struct heif_reference *r = &heif->reference[i];
        struct heif_item *from = heif_item(heif, r->from);
        const struct heif_item *to = heif_item(heif, r->to);
        if (!from || !is(r->type, "cdsc"))
            continue;
        from->is.tells = true;
        if (to && (to->is.turned || to->is.inside))
            from->is.ours = true;
    }
}

static bool stands_alone(const struct heif *heif, const struct heif_item *item)
{
    return !item->is.hidden && !item->is.part &&
           heif_find(heif, item, HEIF_ISPE);
}

int heif_mark(struct heif *heif, struct err *err)
{
    bool more = true;
    heif_item(heif, heif->primary)->is.turned = true;
    note_parts(heif);
    for (size_t i = 0; i < heif->nitems && heif->all; i++)
        heif->item[i].is.turned =
            heif->item[i].is.turned || stands_alone(heif, &heif->item[i]);
    for (int pass = 0; more; pass++) {
        if (pass == 16)
            return fail(err, "its items refer to each other in long chains");
        more = false;
        for (size_t i = 0; i < heif->nreferences; i++)
            if (mark(heif, &heif->reference[i]))
                more = true;
    }
    note_turned(heif);
    return 0;
}

/* An item that shows another one as it is can show it so, too, when that is
 * turned. */
static bool can_undo(const struct heif_item *item)
{
    return is_made_of_turned(item) || is(item->type, "iden");
}

size_t heif_others(const struct heif *heif, const struct heif_item **spoilt)
{
    size_t others = 0;
    *spoilt = NULL;
    for (size_t i = 0; i < heif->nitems; i++) {
        const struct heif_item *item = &heif->item[i];
        if (!item->is.turned && stands_alone(heif, item))
            others++;
        if (item->is.made && !can_undo(item))
            *spoilt = item;
    }
    return others;
}

/* ---- One item -------------------------------------------------------------*/

static bool is_broad(const uint8_t *ispe)
{
    return read_be32(ispe + 12) > read_be32(ispe + 16);
}

static bool is_square(const uint8_t *ispe)
{
    return read_be32(ispe + 12) == read_be32(ispe + 16);
}

/* Finds whose transforms count for an item: its own; or, if it has none, those
 * of the picture that it is shown with, unless it lies as that is shown
 * already: a high thumbnail of a picture that is broad as stored. */
static int find_source(const struct heif *heif, const struct heif_item *item,
                       struct heif_shown *source, struct err *err)
{
    const uint8_t *own = heif_find(heif, item, HEIF_ISPE), *ispe;
    if (heif_shown(heif, item, source, err))
        return -1;
    for (int depth = 0; !source->any && item->master && depth < 16; depth++) {
        struct heif_shown shown;
        item = heif_item(heif, item->master);
        if (heif_shown(heif, item, &shown, err))
            return -1;
        ispe = heif_find(heif, item, HEIF_ISPE);
        if (xform_transposes(shown.turn) && own && ispe && !is_square(own) &&
            !is_square(ispe) && is_broad(own) != is_broad(ispe))
            break;
        *source = shown;
        /* What is cut of another size would be cut wrongly. */
        if (!own || !ispe || memcmp(own, ispe, 20) != 0)
            source->property[HEIF_CLAP] = 0;
    }
    return 0;
}

static struct heif_slot *want(struct heif_change *change, enum heif_kind kind,
                              const char *type, unsigned value)
{
    struct heif_slot *slot = &change->slot[kind];
    slot->wanted = true;
    slot->box[3] = 9;
    memcpy(slot->box + 4, type, 4);
    slot->box[8] = (uint8_t)value;
    return slot;
}

/* Says t by irot and imir. An irot that is there stays, also if it rotates by
 * nothing, and a mirror keeps its axis where it can, so that four quarter turns
 * make the same file again. */
static void want_turn(struct heif_change *change, const struct heif *heif,
                      const struct heif_shown *source, enum xform t)
{
    const uint16_t irot = source->property[HEIF_IROT];
    const uint16_t imir = source->property[HEIF_IMIR];
    const unsigned was = irot ? heif->property[irot - 1].box[8] & 3 : 0;
    unsigned angle = 0, axis = imir ? heif->property[imir - 1].box[8] & 1 : 0;
    if (reflects(t)) {
        for (unsigned i = 0; i < 2 && !(irot && imir); i++)
            if (xform_then(angles[was], axes[i]) == t)
                axis = i;
        want(change, HEIF_IMIR, "imir", axis);
        t = xform_then(t, axes[axis]);
    }
    while (angles[angle] != t)
        angle++;
    if (irot || angle)
        want(change, HEIF_IROT, "irot", angle);
}

static void want_exchanged(struct heif_change *change, const uint8_t *ispe)
{
    struct heif_slot *slot = &change->slot[HEIF_ISPE];
    slot->wanted = true;
    memcpy(slot->box, ispe, 20);
    memcpy(slot->box + 12, ispe + 16, 4);
    memcpy(slot->box + 16, ispe + 12, 4);
}

/* The size of an item that is made of the turned one is exchanged. That of a
 * tmap only if it is the size as shown: some say the size as stored instead,
 * which AVIF asks for. */
static int turn_size(const struct heif *heif, const struct heif_plan *plan,
                     struct heif_change *change, struct err *err)
{
    const struct heif_item *item = change->item, *base = NULL;
    const uint8_t *ispe = heif_find(heif, item, HEIF_ISPE), *stored;
    struct heif_shown shown;
    for (size_t i = 0; i < heif->nreferences && !base; i++)
        if (heif->reference[i].from == item->id &&
            is(heif->reference[i].type, "dimg"))
            base = heif_item(heif, heif->reference[i].to);
    if (!ispe || !base || !xform_transposes(plan->turn))
        return 0;
    if (is_made_of_turned(item)) {
        stored = heif_find(heif, base, HEIF_ISPE);
        if (heif_shown(heif, base, &shown, err))
            return -1;
        const bool across = xform_transposes(shown.turn);
        const uint8_t *w = stored + (across ? 16 : 12);
        const uint8_t *h = stored + (across ? 12 : 16);
        if (!stored || memcmp(w, ispe + 12, 4) != 0 ||
            memcmp(h, ispe + 16, 4) != 0 || (plan->avif && !across))
            return 0;
    }
    want_exchanged(change, ispe);
    return 0;
}

static bool is_planned(const struct heif_item *item)
{
    return item->is.turned || (item->is.made && can_undo(item));
}

/* Sets what becomes of an item. Returns -1 on failure, 1 if it changes. */
static int plan_item(const struct heif *heif, const struct heif_plan *plan,
                     struct heif_change *change, struct err *err)
{
    const struct heif_item *item = change->item;
    const bool made = item->is.made && can_undo(item);
    struct heif_shown own, source;
    if (heif_shown(heif, item, &own, err) ||
        find_source(heif, item, &source, err) ||
        (made && turn_size(heif, plan, change, err)))
        return -1;
    enum xform t = source.turn;
    if (made)
        t = xform_then(xform_inverse(plan->turn), t);
    if (item->is.turned)
        t = xform_then(t, plan->turn);
    want_turn(change, heif, &source, t);
    if (source.property[HEIF_CLAP]) {
        change->slot[HEIF_CLAP].wanted = true;
        memcpy(change->slot[HEIF_CLAP].box, source.clap, HEIF_PROPERTY);
        if (made)
            turn_clap(change->slot[HEIF_CLAP].box, plan->turn);
    }
    bool same = own.in_order;
    change->in_order = own.in_order;
    for (int i = 0; i < HEIF_KINDS; i++) {
        struct heif_slot *slot = &change->slot[i];
        if (i == HEIF_ISPE && !slot->wanted)
            continue;
        slot->was = own.property[i];
        same = same && slot->wanted == (slot->was > 0) &&
               (!slot->wanted ||
                memcmp(slot->box, heif->property[slot->was - 1].box,
                       HEIF_PROPERTY) == 0);
    }
    return !same;
}

/* ---- Properties for all ---------------------------------------------------
 *
 * A property may be listed by several items. It is edited where all that list
 * it want the same of it. Else another one is found that is so, or that nobody
 * lists; or one is added at the end. */

static void leave(struct heif *heif, struct heif_change *change)
{
    const struct heif_item *item = change->item;
    for (size_t i = 0; i < item->count; i++) {
        const uint16_t n = heif->association[item->first + i].property;
        struct heif_property *property = n ? &heif->property[n - 1] : NULL;
        if (!property || property->kind == HEIF_KINDS)
            continue;
        struct heif_slot *slot = &change->slot[property->kind];
        const bool listed = slot->was == n && slot->wanted;
        const bool same =
            listed && memcmp(property->box, slot->box, HEIF_PROPERTY) == 0;
        if (same && !slot->is)
            slot->is = n;
        else if (property->kind != HEIF_ISPE || slot->was == n)
            property->leaving++;
        if (same || !listed)
            continue;
        if (!property->wanted)
            property->wanted = slot->box;
        else if (memcmp(property->wanted, slot->box, HEIF_PROPERTY) != 0)
            property->split = true;
    }
}

/* Returns the number of a property that is so, below `end`; 0 if there is none.
 */
static uint16_t find_same(const struct heif *heif, const uint8_t *box,
                          size_t end)
{
    for (size_t i = 0; i < end; i++)
        if (heif->property[i].kind < HEIF_KINDS &&
            memcmp(heif->property[i].box, box, HEIF_PROPERTY) == 0)
            return (uint16_t)(i + 1);
    return 0;
}

static uint16_t find_unused(const struct heif *heif, enum heif_kind kind)
{
    for (size_t i = 0; i < heif->nproperties; i++)
        if (heif->property[i].kind == kind && !heif->property[i].users)
            return (uint16_t)(i + 1);
    return 0;
}

static int choose_property(struct heif *heif, struct heif_slot *slot,
                           enum heif_kind kind, struct err *err)
{
    slot->is = find_same(heif, slot->box, heif->nproperties);
    if (!slot->is)
        slot->is = find_unused(heif, kind);
    if (!slot->is) {
        struct heif_property property = { .kind = kind };
        if (heif->nproperties == 0x7fff)
            return fail(err, "it has no room for another property");
        if (!bytes_append(&heif->store[HEIF_PROPERTIES], &property,
                          sizeof property))
            return fail_memory(err, "no memory for its properties");
        heif->property = (void *)heif->store[HEIF_PROPERTIES].data;
        slot->is = (uint16_t)++heif->nproperties;
    }
    memcpy(heif->property[slot->is - 1].box, slot->box, HEIF_PROPERTY);
    return 0;
}

/* Takes the last properties away where that is all that is left of an earlier
 * turn: nobody lists them, or an earlier one is the same. */
static void drop_last(struct heif *heif, const struct heif_plan *plan)
{
    for (; heif->nproperties > 0; heif->nproperties--) {
        const uint16_t last = (uint16_t)heif->nproperties;
        const struct heif_property *property = &heif->property[last - 1];
        const uint16_t same = property->kind < HEIF_KINDS
                                  ? find_same(heif, property->box, last - 1u)
                                  : 0;
        size_t users = property->users;
        if (!property->leaving)
            return;
        for (size_t i = 0; i < plan->nchanges; i++)
            for (int k = 0; k < HEIF_KINDS; k++)
                users -= plan->change[i].slot[k].is == last;
        if (users || (property->users && !same))
            return;
        for (size_t i = 0; i < plan->nchanges; i++)
            for (int k = 0; k < HEIF_KINDS; k++)
                if (plan->change[i].slot[k].is == last)
                    plan->change[i].slot[k].is = same;
    }
}

static int choose_properties(struct heif *heif, struct heif_plan *plan,
                             struct err *err)
{
    for (size_t i = 0; i < plan->nchanges; i++)
        leave(heif, &plan->change[i]);
    for (size_t i = 0; i < heif->nproperties; i++) {
        struct heif_property *property = &heif->property[i];
        if (property->wanted && !property->split &&
            property->leaving == property->users)
            memcpy(property->box, property->wanted, HEIF_PROPERTY);
        property->users -= property->leaving;
    }
    for (int second = 0; second < 2; second++)
        for (size_t i = 0; i < plan->nchanges * HEIF_KINDS; i++) {
            const enum heif_kind kind = i % HEIF_KINDS;
            struct heif_slot *slot = &plan->change[i / HEIF_KINDS].slot[kind];
            if (!slot->wanted || slot->is)
                continue;
            if (slot->was && memcmp(heif->property[slot->was - 1].box,
                                    slot->box, HEIF_PROPERTY) == 0)
                slot->is = slot->was;
            if (second && choose_property(heif, slot, kind, err))
                return -1;
            if (slot->is)
                heif->property[slot->is - 1].users++;
        }
    drop_last(heif, plan);
    return 0;
}

int heif_plan(struct heif *heif, struct heif_plan *plan, struct err *err)
{
    enum { TURNED_MAX = 2048 };
    size_t count = 0;
    for (size_t i = 0; i < heif->nitems; i++)
        count += is_planned(&heif->item[i]);
    if (count > TURNED_MAX)
        return fail(err, "more than %d items are shown with the picture",
                    TURNED_MAX);
    plan->change = memory_alloc_zeroed(count, sizeof *plan->change);
    if (!plan->change)
        return fail_memory(err, "no memory for its items");
    for (size_t i = 0; i < heif->nitems; i++) {
        struct heif_item *item = &heif->item[i];
        struct heif_change *change = &plan->change[plan->nchanges];
        if (!is_planned(item))
            continue;
        *change = (struct heif_change){ .item = item };
        const int changes = plan_item(heif, plan, change, err);
        if (changes < 0)
            return -1;
        if (changes)
            item->change = ++plan->nchanges;
    }
    return choose_properties(heif, plan, err);
}
