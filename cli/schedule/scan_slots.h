/* The slots of the pipeline of scans: engines, each with a thread that runs its
 * batches. What is put into them, and when, is told in scan_pipeline.h. */
#ifndef CLI_SCHEDULE_SCAN_SLOTS_H
#define CLI_SCHEDULE_SCAN_SLOTS_H

#include <pthread.h>

#include "cli/schedule/scan_ticket.h"

enum { SCAN_SLOT_JOBS = 2 * SCAN_PICTURES };

enum slot_state {
    SLOT_OPENING,
    SLOT_FREE,
    SLOT_FILLING,
    SLOT_RUNNING,
    SLOT_DRAINING, /* its pictures are being written */
    SLOT_GONE,
};

/* All but the input, and the engine while it runs, is for who holds the lock.
 */
struct scan_slot {
    struct scan_slots *all;
    unsigned device; /* of those of the pipeline, from 0 */
    int number;      /* of the device */
    pthread_t thread;
    pthread_cond_t go;
    struct scan_engine *engine;
    enum slot_state state;
    uint8_t *input;
    size_t room, used; /* bytes of the input */
    size_t made;       /* bytes of samples that its pictures become */
    bool full;
    unsigned pictures, copying; /* that are being copied into it */
    unsigned held;              /* pictures that wait to be written */
    struct scan_job job[SCAN_SLOT_JOBS];
    size_t jobs;
    struct scan_ticket *tickets;
};

struct scan_slots {
    struct scan_pipeline_opts opts;
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

/* The lock is held for all of these. */

/* Makes the slots of so many devices, as many as it can, and starts to open
 * them. */
void scan_slots_make(struct scan_slots *all, unsigned devices);

/* Returns whether a device has nothing to do. */
bool scan_slots_is_idle(const struct scan_slots *all, unsigned device);

/* Has the slot run, if it is time. */
void scan_slots_wake(struct scan_slot *slot);

/* Gives back the place of a picture that was turned. */
void scan_slots_return(struct scan_slot *slot);

void scan_slots_note_failure(struct scan_slots *all, const struct err *why);

#endif
