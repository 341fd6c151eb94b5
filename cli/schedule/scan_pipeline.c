/* Turns the coded scans of many JPEG pictures on devices, a batch at a time. */
#include "cli/schedule/scan_pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "cli/files/signals.h"
#include "cli/schedule/scan_slots.h"

struct scan_pipeline {
    struct scan_slots all;
    pthread_t starter;
    bool started; /* it has been asked to */
    bool counted; /* the slots are there */
    bool told;    /* what has failed */
};

/* ---- Opening and closing --------------------------------------------------
 */

static void *start(void *argument)
{
    struct scan_pipeline *p = argument;
    unsigned devices = p->all.opts.devices;
    struct err err;
    signals_block();
    int status = devices ? 0 : p->all.opts.engine->devices(&devices, &err);
    pthread_mutex_lock(&p->all.lock);
    if (status == 0)
        scan_slots_make(&p->all, devices);
    if (status == 0 && !p->all.count)
        status = fail(&err, "no memory for batches");
    if (status)
        scan_slots_note_failure(&p->all, &err);
    p->counted = true;
    pthread_cond_broadcast(&p->all.place);
    pthread_mutex_unlock(&p->all.lock);
    return NULL;
}

struct scan_pipeline *scan_pipeline_open(const struct scan_pipeline_opts *opts)
{
    struct scan_pipeline *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->all.opts = *opts;
    pthread_mutex_init(&p->all.lock, NULL);
    pthread_cond_init(&p->all.place, NULL);
    pthread_cond_init(&p->all.done, NULL);
    return p;
}

void scan_pipeline_start(struct scan_pipeline *p)
{
    pthread_mutex_lock(&p->all.lock);
    if (!p->started)
        p->started = pthread_create(&p->starter, NULL, start, p) == 0;
    pthread_mutex_unlock(&p->all.lock);
}

void scan_pipeline_close(struct scan_pipeline *p)
{
    if (!p)
        return;
    if (p->started)
        pthread_join(p->starter, NULL);
    pthread_mutex_lock(&p->all.lock);
    p->all.closing = true;
    for (unsigned i = 0; i < p->all.count; i++)
        pthread_cond_signal(&p->all.slot[i].go);
    pthread_mutex_unlock(&p->all.lock);
    for (unsigned i = 0; i < p->all.count; i++) {
        pthread_join(p->all.slot[i].thread, NULL);
        pthread_cond_destroy(&p->all.slot[i].go);
    }
    pthread_mutex_destroy(&p->all.lock);
    pthread_cond_destroy(&p->all.place);
    pthread_cond_destroy(&p->all.done);
    free(p->all.slot);
    free(p);
}

bool scan_pipeline_failure(struct scan_pipeline *p, struct err *why)
{
    pthread_mutex_lock(&p->all.lock);
    bool tells = p->all.failed && !p->told;
    p->told = p->all.failed;
    *why = p->all.why;
    pthread_mutex_unlock(&p->all.lock);
    return tells;
}

/* ---- Pictures ------------------------------------------------------------ */

/* Returns how many slots are in this state. The lock is held. */
static unsigned count_slots(const struct scan_pipeline *p,
                            enum slot_state state, size_t room)
{
    unsigned n = 0;
    for (unsigned i = 0; i < p->all.count; i++)
        n += p->all.slot[i].state == state && p->all.slot[i].room >= room;
    return n;
}

static bool is_opening(const struct scan_pipeline *p)
{
    return p->started && (!p->counted || count_slots(p, SLOT_OPENING, 0));
}

static bool is_dead(const struct scan_pipeline *p)
{
    return !p->started ||
           (p->counted && count_slots(p, SLOT_GONE, 0) == p->all.count);
}

static size_t aligned(size_t size)
{
    return (size + SCAN_ALIGNMENT - 1) / SCAN_ALIGNMENT * SCAN_ALIGNMENT;
}

static size_t size_of(const struct scan_turn *scans, unsigned count)
{
    size_t size = 0;
    for (unsigned i = 0; i < count; i++)
        size += aligned(scans[i].coded.size);
    return size;
}

/* Returns the bytes of the samples that a picture becomes. */
static size_t made_of(const struct scan_turn *scans, unsigned count)
{
    size_t size = 0;
    for (unsigned i = 0; i < count; i++)
        size += scans[i].pixels ? scans[i].pixels->size : 0;
    return size;
}

static bool has_room(const struct scan_slot *slot,
                     const struct scan_turn *scans, unsigned count)
{
    return size_of(scans, count) <= slot->room - slot->used &&
           made_of(scans, count) <= slot->all->opts.output - slot->made &&
           count <= SCAN_SLOT_JOBS - slot->jobs;
}

/* Returns a free slot, of an idle device if there is one; NULL if there is
 * none. The lock is held. */
static struct scan_slot *free_slot(const struct scan_pipeline *p, size_t size)
{
    struct scan_slot *found = NULL;
    for (unsigned i = 0; i < p->all.count; i++) {
        struct scan_slot *slot = &p->all.slot[i];
        if (slot->state == SLOT_FREE && slot->room >= size &&
            (!found || (scan_slots_is_idle(&p->all, slot->device) &&
                        !scan_slots_is_idle(&p->all, found->device))))
            found = slot;
    }
    return found;
}

/* Returns the slot that is being filled. If it has no room it is full, and if
 * another device is idle it may have to wait: then another slot is filled.
 * Returns NULL if there is none. The lock is held. */
static struct scan_slot *slot_for(struct scan_pipeline *p,
                                  const struct scan_turn *scans, unsigned count)
{
    const size_t size = size_of(scans, count);
    struct scan_slot *slot = p->all.filling, *other = free_slot(p, size);
    const bool fits = slot && has_room(slot, scans, count);
    if (fits && (!other || scan_slots_is_idle(&p->all, slot->device) ||
                 !scan_slots_is_idle(&p->all, other->device)))
        return slot;
    if (slot && !fits && (other || size <= slot->room)) {
        slot->full = true;
        p->all.filling = NULL;
        scan_slots_wake(slot);
    }
    if (!other)
        return NULL;
    other->state = SLOT_FILLING;
    return p->all.filling = other;
}

/* Why slot_for() has found none. The lock is held. */
static enum scan_place why_not(const struct scan_pipeline *p, size_t size)
{
    if (is_dead(p))
        return SCAN_PLACE_DEAD;
    unsigned large = 0;
    for (int state = SLOT_FREE; state < SLOT_GONE; state++)
        large += count_slots(p, (enum slot_state)state, size);
    if (large)
        return SCAN_PLACE_NONE_YET;
    return is_opening(p) ? SCAN_PLACE_OPENING : SCAN_PLACE_SMALL;
}

/* Takes a place for the picture in the slot. The lock is held. */
static void take_place(struct scan_slot *slot, struct scan_ticket *ticket,
                       struct scan_turn *scans, unsigned count)
{
    *ticket = (struct scan_ticket){
        .slot = slot,
        .scans = scans,
        .count = count,
        .job = slot->jobs,
        .next = slot->tickets,
    };
    slot->tickets = ticket;
    for (unsigned i = 0; i < count; i++) {
        slot->job[slot->jobs++] = (struct scan_job){
            .from = scans[i].from,
            .to = scans[i].to,
            .turn = scans[i].turn,
            .optimize = scans[i].optimize,
            .samples = scans[i].samples,
            .pixels = scans[i].pixels,
            .at = slot->used,
            .size = scans[i].coded.size,
        };
        slot->used += aligned(scans[i].coded.size);
    }
    slot->made += made_of(scans, count);
    slot->copying++;
    slot->full = ++slot->pictures == SCAN_PICTURES;
    if (slot->full)
        slot->all->filling = NULL;
}

enum scan_place scan_pipeline_begin(struct scan_pipeline *p,
                                    struct scan_ticket *ticket,
                                    struct scan_turn *scans, unsigned count)
{
    enum scan_place place = SCAN_PLACE_TAKEN;
    if (made_of(scans, count) > p->all.opts.output)
        return SCAN_PLACE_SMALL;
    pthread_mutex_lock(&p->all.lock);
    struct scan_slot *slot = slot_for(p, scans, count);
    if (slot)
        take_place(slot, ticket, scans, count);
    else
        place = why_not(p, size_of(scans, count));
    pthread_mutex_unlock(&p->all.lock);
    if (!slot)
        return place;
    for (unsigned i = 0; i < count; i++)
        memcpy(slot->input + slot->job[ticket->job + i].at, scans[i].coded.data,
               scans[i].coded.size);
    pthread_mutex_lock(&p->all.lock);
    slot->copying--;
    scan_slots_wake(slot);
    pthread_mutex_unlock(&p->all.lock);
    return place;
}

void scan_pipeline_await_place(struct scan_pipeline *p,
                               const struct scan_turn *scans, unsigned count)
{
    const size_t size = size_of(scans, count);
    enum scan_place why;
    pthread_mutex_lock(&p->all.lock);
    while (!(p->all.filling && has_room(p->all.filling, scans, count)) &&
           !count_slots(p, SLOT_FREE, size) &&
           ((why = why_not(p, size)) == SCAN_PLACE_NONE_YET ||
            why == SCAN_PLACE_OPENING))
        pthread_cond_wait(&p->all.place, &p->all.lock);
    pthread_mutex_unlock(&p->all.lock);
}

bool scan_pipeline_park(struct scan_pipeline *p, struct scan_ticket *ticket,
                        void (*resume)(void *context), void *context)
{
    pthread_mutex_lock(&p->all.lock);
    bool done = ticket->done;
    if (!done) {
        ticket->resume = resume;
        ticket->context = context;
    }
    pthread_mutex_unlock(&p->all.lock);
    return !done;
}

void scan_pipeline_await(struct scan_pipeline *p, struct scan_ticket *ticket)
{
    pthread_mutex_lock(&p->all.lock);
    while (ticket->slot && !ticket->done)
        pthread_cond_wait(&p->all.done, &p->all.lock);
    pthread_mutex_unlock(&p->all.lock);
}

void scan_pipeline_release(struct scan_pipeline *p, struct scan_ticket *ticket)
{
    pthread_mutex_lock(&p->all.lock);
    struct scan_slot *slot = ticket->slot;
    ticket->slot = NULL;
    ticket->scans = NULL;
    if (slot)
        scan_slots_return(slot);
    pthread_mutex_unlock(&p->all.lock);
}
