/* What the pipeline of scans is made with, and what a picture holds of it. */
#ifndef CLI_SCHEDULE_SCAN_TICKET_H
#define CLI_SCHEDULE_SCAN_TICKET_H

#include "codecs/jpeg/entropy/scan_turner.h"
#include "cuda/jpeg/scan_engine.h"

enum { SCAN_PICTURES = 64 }; /* the most in a batch: more gain nothing */

/* A device that has no memory for a slot has some for a smaller one, down to so
 * many bytes of input. */
#define SCAN_INPUT_LEAST ((size_t)2 << 20)

struct scan_pipeline_opts {
    const struct scan_engine_type *engine;
    const int *device; /* their numbers; borrowed */
    unsigned devices;  /* 0: all that there are */
    unsigned slots;    /* of each device */
    size_t input;      /* bytes of a slot's input, at the most */
    uint64_t memory;   /* bytes that all inputs may take together */
    size_t output;     /* bytes of samples that a batch may make */
    uint64_t vram; /* bytes of each device's memory that may be used; 0: as many
                      as the slots take */
};

/* What a picture holds. {0} at first. */
struct scan_ticket {
    struct scan_slot *slot;  /* NULL: it holds no place, since a batch that does
                                not turn it ends its place at any time */
    struct scan_turn *scans; /* NULL: none are taken; only the thread that has
                                the picture sets it */
    unsigned count;
    size_t job;               /* the first of its jobs in the slot */
    struct scan_ticket *next; /* in the slot */
    bool done, turned;        /* for the caller from resume() on */
    double seconds;           /* of the device, its share of the batch */
    void (*resume)(void *context);
    void *context;
};

#endif
