/* Pictures whose coded scans a device turns. */
#include "cli/schedule/device_scans.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"
#include "cuda/backend_choose.h"

/* ---- The cost model ------------------------------------------------------ */

/* Seconds until a device is open, while the processors turn pictures alone: its
 * driver and its context take 0.1 s each, the code and memory of batches the
 * rest. Seconds that the process takes longer to end. */
static const double to_open = 0.3, to_end = 0.1;

/* Seconds of one processor. */
static const struct scan_load alone = {
    .pictures = 0.4e-3, .bytes = 22e-9, .samples = 1.8e-9, .encoded = 10e-9
};

/* The same where a device turns them: files are read, copied twice and
 * written. */
static const struct scan_load beside = {
    .pictures = 0.35e-3, .bytes = 1.6e-9, .samples = 0.5e-9, .encoded = 0
};

/* Seconds of the device. */
static const struct scan_load by_device = {
    .pictures = 5e-6, .bytes = 0.15e-9, .samples = 0.02e-9, .encoded = 0.15e-9
};

static double cost(const struct scan_load *load, const struct scan_load *each)
{
    return load->pictures * each->pictures + load->bytes * each->bytes +
           load->samples * each->samples + load->encoded * each->encoded;
}

struct scan_estimate device_scans_model(const struct scan_load *load,
                                        unsigned processors)
{
    const double by_processors = cost(load, &alone) / processors;
    const double by_others = cost(load, &beside) / processors;
    const double by_it = cost(load, &by_device);
    const double with_device = by_others > by_it ? by_others : by_it;
    const double left =
        by_processors > to_open ? 1 - to_open / by_processors : 0;
    return (struct scan_estimate){
        .pictures = load->pictures,
        .by_processors = by_processors,
        .by_device = to_open + left * with_device + to_end,
    };
}

/* ---- All of them --------------------------------------------------------- */

/* Two batches run while a third one is filled or written. */
enum { SLOTS = 3 };

/* Of a slot. A batch of more gains little, and all of it is page-locked before
 * it is used, which takes 0.28 ms a MB. */
static const size_t input_most = (size_t)16 << 20;

/* How many devices keep as many pictures as their slots hold. */
enum { DEVICES_MOST = 8 };

/* The samples of a slot, for each byte of its input. */
enum { SAMPLES_OF_INPUT = 4 };

struct device_scans {
    struct scan_pipeline *pipeline;
    unsigned processors, devices;
    bool always;  /* a device was asked for */
    bool endless; /* more jobs may come than are left */
    bool samples; /* the device takes components that go through samples */
    pthread_mutex_t lock;
    bool weighed, started;
    double seen;           /* jobs */
    struct scan_load load; /* those of them with scans */
    struct scan_estimate estimate;
    struct resource_share opening; /* a processor, as long as devices open */
};

bool device_scans_may_start(const struct options *opts, size_t jobs)
{
    return backend_choose_engine() && strcmp(opts->backend, "auto") == 0 &&
           jobs >= opts->threads;
}

struct device_scans *device_scans_open(const struct options *opts,
                                       const struct backend *backend,
                                       bool endless)
{
    static const int first = 0;
    const bool all = opts->devices.count == (unsigned)LANE_ALL_DEVICES;
    const bool some = opts->devices.count && !all;
    const bool always = backend != &backend_cpu;
    const struct scan_engine_type *engine = backend_choose_engine();
    const uint64_t memory = opts->limits.bytes / 32;
    const size_t input =
        memory / SLOTS < input_most ? (size_t)memory / SLOTS : input_most;
    const struct scan_pipeline_opts pipeline = {
        .engine = engine,
        .device = some ? opts->devices.number : &first,
        .devices = all    ? 0
                   : some ? opts->devices.count
                          : 1,
        .slots = SLOTS,
        .input = input,
        .memory = memory,
        .output = SAMPLES_OF_INPUT * input,
        .vram = always ? (opts->vram + 1) / 2 : opts->vram, /* and lanes */
    };
    struct device_scans *made = NULL;
    if (engine && input >= SCAN_INPUT_LEAST &&
        (always || strcmp(opts->backend, "auto") == 0))
        made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->processors = opts->threads;
    made->devices = all ? DEVICES_MOST : pipeline.devices;
    made->always = always;
    made->endless = endless;
    made->samples = engine->samples;
    pthread_mutex_init(&made->lock, NULL);
    made->pipeline = scan_pipeline_open(&pipeline);
    if (!made->pipeline) {
        device_scans_close(made);
        return NULL;
    }
    if (always)
        scan_pipeline_start(made->pipeline);
    made->started = always;
    return made;
}

size_t device_scans_most(const struct device_scans *scans)
{
    return (size_t)scans->devices * SLOTS * SCAN_PICTURES;
}

void device_scans_close(struct device_scans *scans)
{
    if (!scans)
        return;
    scan_pipeline_close(scans->pipeline);
    pthread_mutex_destroy(&scans->lock);
    free(scans);
}

bool device_scans_failure(struct device_scans *scans, struct err *why)
{
    return scans && scan_pipeline_failure(scans->pipeline, why);
}

bool device_scans_estimate(struct device_scans *scans,
                           struct scan_estimate *estimate)
{
    if (!scans)
        return false;
    pthread_mutex_lock(&scans->lock);
    bool weighed = scans->weighed;
    *estimate = scans->estimate;
    pthread_mutex_unlock(&scans->lock);
    return weighed;
}

/* ---- A picture ----------------------------------------------------------- */

/* Returns how many jobs there will be. Of those that may be followed by more as
 * many as there were so far, if enough of them come at once for a batch. */
static double expected(const struct device_picture *picture)
{
    const struct device_scans *scans = picture->scans;
    if (!scans->endless)
        return (double)picture->left;
    return picture->left < SCAN_PICTURES ? 0 : scans->seen;
}

/* Starts the devices, and leaves a processor to that: beside jobs on all of
 * them it takes up to twice as long. */
static void start(struct device_scans *scans, struct resource_limits *limits)
{
    struct resource_share opening = { .limits = limits };
    scan_pipeline_start(scans->pipeline);
    if (scans->processors == 1)
        return;
    (void)resource_limits_take_processors(&opening, SIZE_MAX);
    pthread_mutex_lock(&scans->lock);
    scans->opening = opening;
    pthread_mutex_unlock(&scans->lock);
}

/* Starts the devices once they are worthwhile, if what is left is like what has
 * been seen so far. */
static void weigh(struct device_picture *picture, const struct scan_turn *turn,
                  unsigned count)
{
    struct device_scans *scans = picture->scans;
    bool starts = false;
    pthread_mutex_lock(&scans->lock);
    if (!scans->started) {
        scans->load.pictures++;
        for (unsigned i = 0; i < count; i++) {
            scans->load.bytes += (double)turn[i].coded.size;
            if (turn[i].pixels)
                scans->load.samples += (double)turn[i].pixels->size;
            /* Without `to` they become samples alone, which `pixels` has. */
            const unsigned components =
                turn[i].samples && turn[i].to ? turn[i].to->components : 0;
            for (unsigned c = 0; c < components; c++)
                if (turn[i].samples[c].wanted)
                    scans->load.encoded += (double)turn[i].samples[c].width *
                                           turn[i].samples[c].height;
        }
        const double left = expected(picture) / scans->seen;
        const struct scan_load load = { left * scans->load.pictures,
                                        left * scans->load.bytes,
                                        left * scans->load.samples,
                                        left * scans->load.encoded };
        struct scan_estimate estimate =
            device_scans_model(&load, scans->processors);
        starts = estimate.by_device < estimate.by_processors;
        if (starts || estimate.by_processors > scans->estimate.by_processors)
            scans->estimate = estimate;
        scans->started = starts;
        scans->weighed = true;
    }
    pthread_mutex_unlock(&scans->lock);
    if (starts)
        start(scans, picture->share->limits);
}

static bool begin(void *context, struct scan_turn *scans, unsigned count)
{
    static const enum device_use uses[] = {
        [SCAN_PLACE_TAKEN] = DEVICE_REFUSED, /* until it is turned */
        [SCAN_PLACE_NONE_YET] = DEVICE_NOT_READY,
        [SCAN_PLACE_OPENING] = DEVICE_NOT_READY,
        [SCAN_PLACE_SMALL] = DEVICE_TOO_LARGE,
        [SCAN_PLACE_DEAD] = DEVICE_NONE,
    };
    struct device_picture *picture = context;
    struct device_scans *all = picture->scans;
    enum scan_admission place;
    weigh(picture, scans, count);
    for (;;) {
        place =
            scan_pipeline_begin(all->pipeline, &picture->ticket, scans, count);
        if (place != SCAN_PLACE_NONE_YET &&
            (place != SCAN_PLACE_OPENING || !all->always))
            break;
        scan_pipeline_await_place(all->pipeline, scans, count);
    }
    picture->use = uses[place];
    if (place != SCAN_PLACE_OPENING) {
        /* The processor that was left to opening the devices. */
        pthread_mutex_lock(&all->lock);
        struct resource_share opening = all->opening;
        all->opening.processors = 0;
        pthread_mutex_unlock(&all->lock);
        resource_limits_return_processors(&opening);
    }
    if (place != SCAN_PLACE_TAKEN)
        (void)resource_limits_take_processors(picture->share, SIZE_MAX);
    return place == SCAN_PLACE_TAKEN;
}

const struct scan_turner *device_scans_prepare(struct device_scans *scans,
                                               struct device_picture *picture,
                                               const struct result *result,
                                               struct resource_share *share,
                                               size_t left)
{
    if (!scans)
        return NULL;
    pthread_mutex_lock(&scans->lock);
    scans->seen++;
    const bool started = scans->started;
    pthread_mutex_unlock(&scans->lock);
    if (!started && left < scans->processors)
        return NULL;
    *picture = (struct device_picture){
        .scans = scans,
        .share = share,
        .left = left,
        .use = DEVICE_UNSUITED,
        .turner = { .begin = begin,
                    .context = picture,
                    .samples = scans->samples },
    };
    return result->from == &codec_jpeg ? &picture->turner : NULL;
}

bool device_scans_park(struct device_picture *picture,
                       void (*resume)(void *context), void *context)
{
    return scan_pipeline_park(picture->scans->pipeline, &picture->ticket,
                              resume, context);
}

void device_scans_release(struct device_picture *picture)
{
    if (!picture->scans)
        return;
    scan_pipeline_release(picture->scans->pipeline, &picture->ticket);
    if (picture->ticket.turned)
        picture->use = DEVICE_TURNED;
}

void device_scans_note(const struct device_picture *picture,
                       struct result *result)
{
    result->device_use = picture->use;
    result->seconds[STAGE_TURN] += picture->ticket.seconds;
    if (picture->use == DEVICE_UNSUITED && result->from == &codec_jpeg)
        result->device_use =
            result->progressive ? DEVICE_PROGRESSIVE
            : result->how == HOW_REENCODED || result->how == HOW_LUMA_LOSSLESS
                ? DEVICE_SAMPLES
                : DEVICE_UNSUITED;
}
