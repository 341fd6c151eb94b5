/* The slots of the pipeline of scans. */
#include "cli/schedule/scan_slots.h"

#include <stdlib.h>

#include "cli/files/signals.h"
#include "codecs/base/clock.h"

bool scan_slots_is_idle(const struct scan_slots *all, unsigned device)
{
    for (unsigned i = 0; i < all->count; i++)
        if (all->slot[i].device == device && all->slot[i].state == SLOT_RUNNING)
            return false;
    return true;
}

static bool is_ready(const struct scan_slot *slot)
{
    return slot->state == SLOT_FILLING && slot->pictures && !slot->copying &&
           (slot->full || scan_slots_is_idle(slot->all, slot->device));
}

void scan_slots_wake(struct scan_slot *slot)
{
    if (is_ready(slot))
        pthread_cond_signal(&slot->go);
}

/* A slot that is being filled may run when another one has run. The lock is
 * held. */
static void wake_filled(struct scan_slots *all)
{
    for (unsigned i = 0; i < all->count; i++)
        scan_slots_wake(&all->slot[i]);
}

/* The lock is held. */
static void empty(struct scan_slot *slot)
{
    slot->state = SLOT_FREE;
    slot->full = false;
    slot->used = slot->made = slot->jobs = slot->pictures = 0;
    pthread_cond_broadcast(&slot->all->place);
}

void scan_slots_return(struct scan_slot *slot)
{
    if (--slot->held == 0)
        empty(slot);
}

void scan_slots_note_failure(struct scan_slots *all, const struct err *why)
{
    if (all->failed)
        return;
    all->failed = true;
    all->why = *why;
}

/* Opens the engine of a slot, with less memory where there is not enough. The
 * lock is not held. */
static int open_engine(const struct scan_slot *slot, size_t input,
                       struct scan_engine **engine, struct err *err)
{
    const struct scan_pipeline_opts *opts = &slot->all->opts;
    int status = -1;
    fail_memory(err, "no memory for a batch of JPEG pictures");
    for (; status && err->memory && input >= SCAN_INPUT_LEAST; input /= 2) {
        const struct scan_engine_opts engine_opts = {
            .device = slot->number,
            .input = input,
            .output = opts->output,
            .vram = opts->vram / opts->slots,
        };
        err->memory = false;
        status = opts->engine->open(engine, &engine_opts, err);
    }
    return status;
}

/* Opens it, or the next smaller one after a failure without memory. The lock is
 * held. */
static void open_slot(struct scan_slot *slot, size_t input)
{
    struct scan_slots *all = slot->all;
    struct scan_engine *engine = slot->engine;
    struct err err;
    slot->state = SLOT_OPENING;
    slot->engine = NULL;
    pthread_mutex_unlock(&all->lock);
    all->opts.engine->close(engine);
    int status = open_engine(slot, input, &engine, &err);
    pthread_mutex_lock(&all->lock);
    if (status) {
        slot->state = SLOT_GONE;
        scan_slots_note_failure(all, &err);
    } else {
        slot->engine = engine;
        slot->input = all->opts.engine->input(engine, &slot->room);
        empty(slot);
    }
    pthread_cond_broadcast(&all->place);
}

/* Tells each picture of a batch what became of it. Returns those that are to be
 * resumed. The lock is held. */
static struct scan_ticket *end_pictures(struct scan_slot *slot, bool ran,
                                        double seconds)
{
    const struct scan_slots *all = slot->all;
    const uint8_t *out = ran ? all->opts.engine->output(slot->engine) : NULL;
    struct scan_ticket *next, *parked = NULL;
    for (struct scan_ticket *t = slot->tickets; t; t = next) {
        next = t->next;
        t->turned = ran;
        for (unsigned i = 0; i < t->count && ran; i++) {
            const struct scan_job *job = &slot->job[t->job + i];
            t->turned = t->turned && job->result == SCAN_TURNED;
            t->scans[i].turned = (struct bytes){
                .data = (uint8_t *)out + job->out,
                .size = job->out_size,
            };
        }
        t->seconds = seconds / slot->pictures;
        t->done = true;
        slot->held += t->turned;
        if (!t->turned)
            t->slot = NULL;
        if (t->resume) {
            t->next = parked;
            parked = t;
        }
    }
    slot->tickets = NULL;
    return parked;
}

/* Runs a batch. The lock is held before and after. */
static void run(struct scan_slot *slot)
{
    struct scan_slots *all = slot->all;
    struct err err = { .memory = false };
    slot->state = SLOT_RUNNING;
    if (all->filling == slot)
        all->filling = NULL;
    pthread_mutex_unlock(&all->lock);
    double begin = now();
    bool ran =
        all->opts.engine->run(slot->engine, slot->job, slot->jobs, &err) == 0;
    double seconds = now() - begin;
    pthread_mutex_lock(&all->lock);
    struct scan_ticket *next, *parked = end_pictures(slot, ran, seconds);
    slot->state = SLOT_DRAINING;
    if (!ran && !err.memory)
        scan_slots_note_failure(all, &err);
    if (ran && !slot->held)
        empty(slot);
    wake_filled(all);
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
    struct scan_slots *all = slot->all;
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

void scan_slots_make(struct scan_slots *all, unsigned devices)
{
    const struct scan_pipeline_opts *opts = &all->opts;
    const unsigned slots = devices * opts->slots;
    const uint64_t each = opts->memory / slots;
    all->input = each < opts->input ? (size_t)each : opts->input;
    all->slot = calloc(slots, sizeof *all->slot);
    for (unsigned i = 0; all->slot && i < slots; i++) {
        struct scan_slot *slot = &all->slot[i];
        slot->all = all;
        slot->device = i % devices;
        slot->number =
            opts->devices ? opts->device[slot->device] : (int)slot->device;
        pthread_cond_init(&slot->go, NULL);
        if (pthread_create(&slot->thread, NULL, run_slot, slot)) {
            pthread_cond_destroy(&slot->go);
            break;
        }
        all->count++;
    }
}
