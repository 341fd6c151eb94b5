/* Turns the coded scans of many JPEG pictures on devices, a batch at a time.
 *
 * Each device has a few slots. A slot is an engine (cuda/jpeg) with its
 * page-locked memory, and a thread that runs it. Workers copy the scans of
 * their pictures into the slot that is being filled, side by side; then they do
 * something else. A slot runs when it is full, or as soon as its device has
 * nothing else to do: so there are large batches where the device is what
 * everything waits for, small ones where it is not, and no batch that waits for
 * more pictures. What was turned stays in the slot until each picture has been
 * written from it; meanwhile the next slot is filled, and others run.
 *
 * A picture is held by its ticket:
 *
 *     begin     copy its scans into a slot
 *     park      be called when they are turned, unless they are already
 *     turned?   if not, the CPU has to do it
 *     release   its place in the slot may be used again */
#ifndef CLI_SCHEDULE_SCAN_PIPELINE_H
#define CLI_SCHEDULE_SCAN_PIPELINE_H

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

struct scan_pipeline;

/* Makes a pipeline that has no device yet. Returns NULL without memory. */
struct scan_pipeline *scan_pipeline_open(const struct scan_pipeline_opts *opts);

/* Has the devices opened, by threads of their own: that takes longer than to
 * turn hundreds of pictures. Any thread may call it, once or more often. */
void scan_pipeline_start(struct scan_pipeline *pipeline);

/* Frees all, when no picture is on its way. Fine on NULL. */
void scan_pipeline_close(struct scan_pipeline *pipeline);

/* Tells what has failed, of the device or of its memory, so that the CPU goes
 * on with less of it or alone: once, for the first failure. */
bool scan_pipeline_failure(struct scan_pipeline *pipeline, struct err *why);

enum scan_admission {
    SCAN_PLACE_TAKEN,
    SCAN_PLACE_NONE_YET, /* all slots are in use */
    SCAN_PLACE_OPENING,  /* no device is ready yet */
    SCAN_PLACE_SMALL,    /* no slot is large enough */
    SCAN_PLACE_DEAD,     /* not started, or all devices have failed */
};

/* Copies the scans of a picture, unless there is no place for them. */
enum scan_admission scan_pipeline_begin(struct scan_pipeline *pipeline,
                                        struct scan_ticket *ticket,
                                        struct scan_turn *scans,
                                        unsigned count);

/* Waits until it is worth asking again, after SCAN_PLACE_NONE_YET or
 * SCAN_PLACE_OPENING. */
void scan_pipeline_await_place(struct scan_pipeline *pipeline,
                               const struct scan_turn *scans, unsigned count);

/* Returns true if the scans are under way: then another thread calls resume()
 * once they are done, maybe before this returns. Returns false if they are done
 * already. */
bool scan_pipeline_park(struct scan_pipeline *pipeline,
                        struct scan_ticket *ticket,
                        void (*resume)(void *context), void *context);

/* Waits until the scans are done, for a picture that has failed meanwhile. */
void scan_pipeline_await(struct scan_pipeline *pipeline,
                         struct scan_ticket *ticket);

/* Gives the place back, of scans that are done. Fine if there is none. */
void scan_pipeline_release(struct scan_pipeline *pipeline,
                           struct scan_ticket *ticket);

#endif
