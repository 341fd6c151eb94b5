/* Turns the coded scans of many JPEG pictures on devices, a batch at a time. */
#include "cli/schedule/device_scans.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files/signals.h"
#include "codecs/base/clock.h"

/* ---- Slots: engines, each with a thread that runs its batches -------------
 */

enum { SCAN_SLOT_JOBS = 256 };

enum slot_state {
    SLOT_OPENING,
    SLOT_FREE,
    SLOT_FILLING,
    SLOT_RUNNING,
    SLOT_DRAINING, /* its pictures are being written */
    SLOT_GONE,
};

/* The pictures of a slot, from when it is empty until it is again. */
struct scan_batch {
    size_t used; /* bytes of the input */
    size_t made; /* bytes of samples that its pictures become */
    size_t jobs;
    bool full;
    unsigned pictures, copying;  /* that are being copied into it */
    unsigned held;               /* pictures that wait to be written */
    struct scan_ticket *tickets; /* of all, until it has run */
};

/* All but the input, and the engine while it runs, is for who holds the lock.
 */
struct scan_slot {
    struct scan_pipeline *all;
    unsigned device; /* of those of the pipeline, from 0 */
    int number;      /* of the device */
    pthread_t thread;
    pthread_cond_t go;
    struct scan_engine *engine;
    enum slot_state state;
    size_t room; /* bytes of its input */
    struct scan_batch batch;
    struct scan_job job[SCAN_SLOT_JOBS]; /* of which batch.jobs are used */
};

struct scan_pipeline {
    struct scan_pipeline_opts opts;
    pthread_t starter;
    bool started; /* it has been asked to */
    bool counted; /* the slots are there */
    bool told;    /* what has failed */
    pthread_mutex_t lock;
    pthread_cond_t place, done; /* a slot, or a batch */
    struct scan_slot *slot;
    unsigned count;
    size_t input;              /* bytes that each is opened with */
    struct scan_slot *filling; /* or NULL */
    bool closing;
    bool failed; /* and why, the first time */
    struct err why;
};

/* Returns whether a device has nothing to do. The lock is held. */
static bool is_idle(const struct scan_pipeline *all, unsigned device)
{
    for (unsigned i = 0; i < all->count; i++)
        if (all->slot[i].device == device && all->slot[i].state == SLOT_RUNNING)
            return false;
    return true;
}

static bool is_ready(const struct scan_slot *slot)
{
    return slot->state == SLOT_FILLING && slot->batch.pictures &&
           !slot->batch.copying &&
           (slot->batch.full || is_idle(slot->all, slot->device));
}

/* Has the slot run, if it is time. The lock is held. */
static void wake(struct scan_slot *slot)
{
    if (is_ready(slot))
        pthread_cond_signal(&slot->go);
}

/* The lock is held. */
static void empty(struct scan_slot *slot)
{
    slot->state = SLOT_FREE;
    slot->batch = (struct scan_batch){ .full = false };
    pthread_cond_broadcast(&slot->all->place);
}

/* The lock is held. */
static void note_failure(struct scan_pipeline *all, const struct err *why)
{
    if (all->failed)
        return;
    all->failed = true;
    all->why = *why;
}

/* Opens the engine of a slot, with less memory where there is not enough. The
 * lock is held, but not meanwhile. */
static void open_slot(struct scan_slot *slot, size_t input)
{
    struct scan_pipeline *all = slot->all;
    const struct scan_pipeline_opts *opts = &all->opts;
    struct scan_engine *engine = slot->engine;
    struct err err;
    int status = fail_memory(&err, "no memory for a batch of pictures");
    slot->state = SLOT_OPENING;
    slot->engine = NULL;
    pthread_mutex_unlock(&all->lock);
    opts->engine->close(engine);
    for (; status && err.memory && input >= SCAN_INPUT_LEAST; input /= 2) {
        const struct scan_engine_opts engine_opts = {
            .kind = opts->kind,
            .device = slot->number,
            .input = input,
            .output = opts->output,
            .vram = opts->vram / opts->slots,
        };
        err.memory = false;
        status = opts->engine->open(&engine, &engine_opts, &err);
    }
    pthread_mutex_lock(&all->lock);
    if (status) {
        slot->state = SLOT_GONE;
        note_failure(all, &err);
    } else {
        slot->engine = engine;
        slot->room = engine->room;
        empty(slot);
    }
    pthread_cond_broadcast(&all->place);
}

/* Tells each picture of a batch what became of it. Returns those that are to be
 * resumed. The lock is held. */
static struct scan_ticket *end_pictures(struct scan_slot *slot, bool ran,
                                        double seconds)
{
    const uint8_t *out = ran ? slot->engine->output : NULL;
    struct scan_ticket *next, *parked = NULL;
    for (struct scan_ticket *t = slot->batch.tickets; t; t = next) {
        next = t->next;
        t->turned = ran;
        for (unsigned i = 0; i < t->count && ran; i++) {
            const struct scan_job *job = &slot->job[t->job + i];
            t->turned = t->turned && job->result == SCAN_TURNED;
            t->scans[i].turned = (struct bytes){
                .data = job->out_size ? (uint8_t *)out + job->out : NULL,
                .size = job->out_size,
            };
        }
        t->seconds = seconds / slot->batch.pictures;
        t->done = true;
        slot->batch.held += t->turned;
        if (!t->turned)
            t->slot = NULL;
        if (t->resume) {
            t->next = parked;
            parked = t;
        }
    }
    slot->batch.tickets = NULL;
    return parked;
}

/* Runs a batch. The lock is held before and after. */
static void run(struct scan_slot *slot)
{
    struct scan_pipeline *all = slot->all;
    struct err err = { .memory = false };
    slot->state = SLOT_RUNNING;
    if (all->filling == slot)
        all->filling = NULL;
    pthread_mutex_unlock(&all->lock);
    double begin = now();
    bool ran = all->opts.engine->run(slot->engine, slot->job, slot->batch.jobs,
                                     &err) == 0;
    double seconds = now() - begin;
    pthread_mutex_lock(&all->lock);
    struct scan_ticket *next, *parked = end_pictures(slot, ran, seconds);
    slot->state = SLOT_DRAINING;
    if (!ran && !err.memory)
        note_failure(all, &err);
    if (ran && !slot->batch.held)
        empty(slot);
    /* A slot that is being filled may run when another one has run. The lock is
     * held. */
    for (unsigned i = 0; i < all->count; i++)
        wake(&all->slot[i]);
    pthread_cond_broadcast(&all->done);
    pthread_mutex_unlock(&all->lock);
    for (; parked; parked = next) {
        next = parked->next;
        parked->resume(parked->context);
    }
    pthread_mutex_lock(&all->lock);
    if (ran)
        return;
    slot->state = SLOT_GONE;
    if (err.memory)
        open_slot(slot, slot->room / 2);
    pthread_cond_broadcast(&all->place);
}

static void *run_slot(void *argument)
{
    struct scan_slot *slot = argument;
    struct scan_pipeline *all = slot->all;
    signals_block();
    pthread_mutex_lock(&all->lock);
    open_slot(slot, all->input);
    while (slot->state != SLOT_GONE && !all->closing) {
        if (is_ready(slot))
            run(slot);
        else
            pthread_cond_wait(&slot->go, &all->lock);
    }
    pthread_mutex_unlock(&all->lock);
    all->opts.engine->close(slot->engine);
    return NULL;
}

/* ---- Opening and closing --------------------------------------------------
 */

static void *start(void *argument)
{
    struct scan_pipeline *p = argument;
    unsigned devices = p->opts.devices;
    struct err err;
    signals_block();
    int status = devices ? 0 : p->opts.engine->devices(&devices, &err);
    pthread_mutex_lock(&p->lock);
    if (status == 0) {
        /* As many slots as can be made, each of which opens its device. */
        const struct scan_pipeline_opts *opts = &p->opts;
        const unsigned slots = devices * opts->slots;
        const uint64_t each = opts->memory / slots;
        p->input = each < opts->input ? (size_t)each : opts->input;
        p->slot = calloc(slots, sizeof *p->slot);
        for (unsigned i = 0; p->slot && i < slots; i++) {
            struct scan_slot *slot = &p->slot[i];
            slot->all = p;
            slot->device = i % devices;
            slot->number =
                opts->devices ? opts->device[slot->device] : (int)slot->device;
            pthread_cond_init(&slot->go, NULL);
            if (pthread_create(&slot->thread, NULL, run_slot, slot)) {
                pthread_cond_destroy(&slot->go);
                break;
            }
            p->count++;
        }
    }
    if (status == 0 && !p->count)
        status = fail(&err, "no memory for batches");
    if (status)
        note_failure(p, &err);
    p->counted = true;
    pthread_cond_broadcast(&p->place);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct scan_pipeline *scan_pipeline_open(const struct scan_pipeline_opts *opts)
{
    struct scan_pipeline *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->opts = *opts;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->place, NULL);
    pthread_cond_init(&p->done, NULL);
    return p;
}

void scan_pipeline_start(struct scan_pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    if (!p->started)
        p->started = pthread_create(&p->starter, NULL, start, p) == 0;
    pthread_mutex_unlock(&p->lock);
}

void scan_pipeline_close(struct scan_pipeline *p)
{
    if (!p)
        return;
    if (p->started)
        pthread_join(p->starter, NULL);
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    for (unsigned i = 0; i < p->count; i++)
        pthread_cond_signal(&p->slot[i].go);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->count; i++) {
        pthread_join(p->slot[i].thread, NULL);
        pthread_cond_destroy(&p->slot[i].go);
    }
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->place);
    pthread_cond_destroy(&p->done);
    free(p->slot);
    free(p);
}

bool scan_pipeline_failure(struct scan_pipeline *p, struct err *why)
{
    pthread_mutex_lock(&p->lock);
    bool tells = p->failed && !p->told;
    p->told = p->failed;
    *why = p->why;
    pthread_mutex_unlock(&p->lock);
    return tells;
}

/* ---- Pictures ------------------------------------------------------------ */

/* Returns how many slots are in this state. The lock is held. */
static unsigned count_slots(const struct scan_pipeline *p,
                            enum slot_state state, size_t room)
{
    unsigned n = 0;
    for (unsigned i = 0; i < p->count; i++)
        n += p->slot[i].state == state && p->slot[i].room >= room;
    return n;
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

size_t scan_pipeline_samples(const struct scan_turn *scan)
{
    const struct idat_turn *idat = scan->idat;
    return scan->pixels ? scan->pixels->size
           : idat       ? (size_t)idat->width * idat->height * idat->pixel
                        : 0;
}

/* Returns the bytes of the samples that a picture becomes, with room. */
static size_t made_of(const struct scan_turn *scans, unsigned count)
{
    size_t size = 0;
    for (unsigned i = 0; i < count; i++)
        size += scan_pipeline_samples(&scans[i]) +
                (scans[i].pixels ? IMAGE_LEAD + IMAGE_STRIDE : 0);
    return size;
}

static bool has_room(const struct scan_slot *slot,
                     const struct scan_turn *scans, unsigned count)
{
    return size_of(scans, count) <= slot->room - slot->batch.used &&
           made_of(scans, count) <= slot->all->opts.output - slot->batch.made &&
           count <= SCAN_SLOT_JOBS - slot->batch.jobs;
}

/* Returns the slot that is being filled. If it has no room it is full, and if
 * another device is idle it may have to wait: then another slot is filled.
 * Returns NULL if there is none. The lock is held. */
static struct scan_slot *slot_for(struct scan_pipeline *p,
                                  const struct scan_turn *scans, unsigned count)
{
    const size_t size = size_of(scans, count);
    struct scan_slot *found = NULL;
    for (unsigned i = 0; i < p->count; i++) {
        struct scan_slot *slot = &p->slot[i];
        if (slot->state == SLOT_FREE && slot->room >= size &&
            (!found ||
             (is_idle(p, slot->device) && !is_idle(p, found->device))))
            found = slot;
    }
    struct scan_slot *slot = p->filling, *other = found;
    const bool fits = slot && has_room(slot, scans, count);
    if (fits &&
        (!other || is_idle(p, slot->device) || !is_idle(p, other->device)))
        return slot;
    if (slot && !fits && (other || size <= slot->room)) {
        slot->batch.full = true;
        p->filling = NULL;
        wake(slot);
    }
    if (!other)
        return NULL;
    other->state = SLOT_FILLING;
    return p->filling = other;
}

/* Why slot_for() has found none. The lock is held. */
static enum scan_admission why_not(const struct scan_pipeline *p, size_t size)
{
    if (!p->started || (p->counted && count_slots(p, SLOT_GONE, 0) == p->count))
        return SCAN_PLACE_DEAD;
    unsigned large = 0;
    for (int state = SLOT_FREE; state < SLOT_GONE; state++)
        large += count_slots(p, (enum slot_state)state, size);
    if (large)
        return SCAN_PLACE_NONE_YET;
    return (p->started && (!p->counted || count_slots(p, SLOT_OPENING, 0)))
               ? SCAN_PLACE_OPENING
               : SCAN_PLACE_SMALL;
}

/* Takes a place for the picture in the slot. The lock is held. */
static void take_place(struct scan_slot *slot, struct scan_ticket *ticket,
                       struct scan_turn *scans, unsigned count, size_t left)
{
    struct scan_pipeline *all = slot->all;
    *ticket = (struct scan_ticket){
        .slot = slot,
        .scans = scans,
        .count = count,
        .job = slot->batch.jobs,
        .next = slot->batch.tickets,
    };
    slot->batch.tickets = ticket;
    for (unsigned i = 0; i < count; i++) {
        slot->job[slot->batch.jobs++] = (struct scan_job){
            .of = scans[i],
            .at = slot->batch.used,
            .size = scans[i].coded.size,
        };
        slot->batch.used += aligned(scans[i].coded.size);
    }
    slot->batch.made += made_of(scans, count);
    slot->batch.copying++;
    slot->batch.pictures++;
    size_t placed = 0; /* pictures that have a place */
    for (unsigned i = 0; i < all->count; i++)
        placed += all->slot[i].state == SLOT_DRAINING
                      ? all->slot[i].batch.held
                      : all->slot[i].batch.pictures;
    slot->batch.full =
        slot->batch.pictures == all->opts.pictures || placed >= left;
    if (slot->batch.full)
        all->filling = NULL;
}

enum scan_admission scan_pipeline_begin(struct scan_pipeline *p,
                                        struct scan_ticket *ticket,
                                        struct scan_turn *scans, unsigned count,
                                        size_t left)
{
    enum scan_admission place = SCAN_PLACE_TAKEN;
    if (made_of(scans, count) > p->opts.output)
        return SCAN_PLACE_SMALL;
    pthread_mutex_lock(&p->lock);
    struct scan_slot *slot = slot_for(p, scans, count);
    if (slot)
        take_place(slot, ticket, scans, count, left);
    else
        place = why_not(p, size_of(scans, count));
    pthread_mutex_unlock(&p->lock);
    if (!slot)
        return place;
    for (unsigned i = 0; i < count; i++)
        memcpy(slot->engine->input + slot->job[ticket->job + i].at,
               scans[i].coded.data, scans[i].coded.size);
    pthread_mutex_lock(&p->lock);
    slot->batch.copying--;
    wake(slot);
    pthread_mutex_unlock(&p->lock);
    return place;
}

void scan_pipeline_await_place(struct scan_pipeline *p,
                               const struct scan_turn *scans, unsigned count)
{
    const size_t size = size_of(scans, count);
    enum scan_admission why;
    pthread_mutex_lock(&p->lock);
    while (!(p->filling && has_room(p->filling, scans, count)) &&
           !count_slots(p, SLOT_FREE, size) &&
           ((why = why_not(p, size)) == SCAN_PLACE_NONE_YET ||
            why == SCAN_PLACE_OPENING))
        pthread_cond_wait(&p->place, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

bool scan_pipeline_park(struct scan_pipeline *p, struct scan_ticket *ticket,
                        void (*resume)(void *context), void *context)
{
    pthread_mutex_lock(&p->lock);
    bool done = ticket->done;
    if (!done) {
        ticket->resume = resume;
        ticket->context = context;
    }
    pthread_mutex_unlock(&p->lock);
    return !done;
}

void scan_pipeline_release(struct scan_pipeline *p, struct scan_ticket *ticket)
{
    pthread_mutex_lock(&p->lock);
    while (ticket->slot && !ticket->done)
        pthread_cond_wait(&p->done, &p->lock);
    struct scan_slot *slot = ticket->slot;
    ticket->slot = NULL;
    ticket->scans = NULL;
    if (slot && --slot->batch.held == 0)
        empty(slot);
    pthread_mutex_unlock(&p->lock);
}
