/* Pictures that a device turns, by the scans of JPEG files, the image data of
 * PNG files, and arrays: whether that is worthwhile, and the way of each from
 * its worker to the pipeline and back. */
#ifndef CLI_SCHEDULE_DEVICE_SCANS_H
#define CLI_SCHEDULE_DEVICE_SCANS_H

#include "cli/job/job.h"
#include "cli/schedule/resource_limits.h"
#include "codecs/image/scan_turner.h"
#include "cuda/jpeg/scan_engine.h"

/* ---- The pipeline (scan_pipeline.c) ----
 *
 * It turns the coded scans of many JPEG pictures on devices, or the data of
 * many PNG pictures or arrays, which are called scans here as well, a batch at
 * a time.
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

/* A device that has no memory for a slot has some for a smaller one, down to so
 * many bytes of input. */
#define SCAN_INPUT_LEAST ((size_t)2 << 20)

struct scan_pipeline_opts {
    const struct scan_engine_type *engine;
    enum scan_kind kind;
    const int *device; /* their numbers; borrowed */
    unsigned devices;  /* 0: all that there are */
    unsigned slots;    /* of each device */
    unsigned pictures; /* the most in a batch */
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

/* Returns the bytes of samples that a scan becomes, or that a PNG holds. */
size_t scan_pipeline_samples(const struct scan_turn *scan);

/* Copies the scans of a picture, unless there is no place for them. If the
 * pipeline has all `left` pictures then, they wait for no others. */
enum scan_admission scan_pipeline_begin(struct scan_pipeline *pipeline,
                                        struct scan_ticket *ticket,
                                        struct scan_turn *scans, unsigned count,
                                        size_t left);

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

/* Gives the place back, once the scans are done. Fine if there is none. */
void scan_pipeline_release(struct scan_pipeline *pipeline,
                           struct scan_ticket *ticket);

/* ---- The cost model ----
 *
 * That of --backend auto for JPEG files whose coded scans a device
 * can turn, or make samples of, and for PNG files and arrays: seconds on the
 * processors alone, and with a device. Its constants were measured with an H200
 * and 16 processors (BENCHMARKS.md). */

/* What is to be done: so many pictures, of so many bytes, that become so many
 * bytes of samples, or that have so many samples of components that are encoded
 * again. The samples of a PNG are those of the array that it becomes or comes
 * from, else what it holds. */
struct scan_load {
    double pictures, bytes, samples, encoded;
};

struct scan_estimate {
    enum scan_kind kind;
    double pictures;
    double by_processors, by_device; /* seconds */
};

/* Estimates it on so many processors, with one device. */
struct scan_estimate device_scans_model(enum scan_kind kind,
                                        const struct scan_load *load,
                                        unsigned processors);

/* ---- The way of a picture ---- */

struct device_scans;

/* Returns whether `auto` may have a device turn scans of so many jobs. Fewer
 * than there are processors are done sooner by these. */
bool device_scans_may_start(const struct options *opts, size_t jobs);

/* Opens it for jobs that are done with this backend. Returns NULL if no device
 * is to turn scans. */
struct device_scans *device_scans_open(const struct options *opts,
                                       const struct backend *backend);

/* Returns how many pictures the slots of a device hold. */
size_t device_scans_most(const struct device_scans *scans);

/* Fine on NULL. */
void device_scans_close(struct device_scans *scans);

/* See scan_pipeline_failure(). */
bool device_scans_failure(struct device_scans *scans, struct err *why);

/* Returns whether `auto` has weighed a kind, and the estimate that it decided
 * by. */
bool device_scans_estimate(struct device_scans *scans, enum scan_kind kind,
                           struct scan_estimate *estimate);

/* What a job holds. {0} at first. */
struct device_picture {
    struct device_scans *scans;
    enum scan_kind kind;
    struct resource_share *share; /* takes a processor if no device takes the
                                     picture */
    const atomic_size_t *left;    /* jobs that are not done */
    enum device_use use;
    struct scan_ticket ticket; /* has scans once the turner has taken the
                                  picture, until it is released */
    struct scan_turner turner;
    struct scan_turn one; /* of a PNG or an array, which `idat` describes, and
                             `pixels`, if it becomes these */
    struct idat_turn idat;
    struct scan_pixels pixels;
};

/* Prepares a job that has been read, of which *left are not done, and sets its
 * turner. Returns false if it has none. With one it is to hold no processor: it
 * gets one if its scans are offered and no device takes them. */
bool device_scans_prepare(struct device_scans *scans,
                          struct device_picture *picture, struct job *job,
                          const struct result *result,
                          struct resource_share *share,
                          const atomic_size_t *left);

/* See scan_pipeline_park(). */
bool device_scans_park(struct device_picture *picture,
                       void (*resume)(void *context), void *context);

/* Gives the place back of a picture that is encoded, was refused, or has failed
 * after it was taken: waits until the device is done with it. */
void device_scans_release(struct device_picture *picture);

/* Sets what the device did for the job, whose result is complete. */
void device_scans_note(const struct device_picture *picture,
                       struct result *result);

#endif
