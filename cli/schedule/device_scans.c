/* Pictures whose coded data a device turns. */
#include "cli/schedule/device_scans.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"
#include "codecs/jpeg/arithmetic.h"
#include "cuda/backend_choose.h"

/* ---- The cost model ------------------------------------------------------ */

struct scan_costs {
    /* Seconds until a device is open, while the processors turn pictures alone:
     * its driver and its context take 0.1 s each, the code and memory of
     * batches the rest. Seconds that the process takes longer to end. */
    double to_open, to_end;
    struct scan_load alone;  /* seconds of one processor */
    struct scan_load beside; /* the same where a device turns them: files are
                                read, copied twice and written */
    struct scan_load device; /* seconds of the device */
};

static const struct scan_costs costs[] = {
    [SCAN_KIND_JPEG] = { .to_open = 0.3,
                         .to_end = 0.1,
                         .alone = { .pictures = 0.4e-3,
                                    .bytes = 22e-9,
                                    .samples = 1.8e-9,
                                    .encoded = 10e-9 },
                         .beside = { .pictures = 0.35e-3,
                                     .bytes = 1.6e-9,
                                     .samples = 0.5e-9 },
                         .device = { .pictures = 5e-6,
                                     .bytes = 0.15e-9,
                                     .samples = 0.02e-9,
                                     .encoded = 0.15e-9 } },
    [SCAN_KIND_PNG] = { .to_open = 0.45,
                        .to_end = 0.15,
                        .alone = { .pictures = 0.5e-3, .samples = 6.5e-9 },
                        .beside = { .pictures = 0.4e-3, .bytes = 1.8e-9 },
                        .device = { .pictures = 20e-6, .samples = 0.08e-9 } },
    /* Measured with an H100: photographs of 2.2 MB that become 6.3 MB of bytes
     * or 25 MB of floats, which take 2.0 or 5.0 ms each by 16 processors, and
     * 0.5 or 1.65 ms with a device, by which it is what writes floats that all
     * wait for. */
    [SCAN_KIND_FROM_PNG] = { .to_open = 0.45,
                             .to_end = 0.15,
                             .alone = { .pictures = 0.4e-3,
                                        .bytes = 6.2e-9,
                                        .samples = 2.55e-9 },
                             .beside = { .pictures = 0.4e-3,
                                         .bytes = 0.4e-9,
                                         .samples = 1e-9 },
                             .device = { .pictures = 20e-6,
                                         .bytes = 0.18e-9,
                                         .samples = 0.02e-9 } },
    [SCAN_KIND_TO_PNG] = { .to_open = 0.45,
                           .to_end = 0.15,
                           .alone = { .pictures = 0.4e-3, .samples = 4e-9 },
                           .beside = { .pictures = 0.4e-3, .samples = 0.7e-9 },
                           .device = { .pictures = 20e-6,
                                       .samples = 0.06e-9 } },
};

static double cost(const struct scan_load *load, const struct scan_load *each)
{
    return load->pictures * each->pictures + load->bytes * each->bytes +
           load->samples * each->samples + load->encoded * each->encoded;
}

struct scan_estimate device_scans_model(enum scan_kind kind,
                                        const struct scan_load *load,
                                        unsigned processors)
{
    const struct scan_costs *c = &costs[kind];
    const double by_processors = cost(load, &c->alone) / processors;
    const double by_others = cost(load, &c->beside) / processors;
    const double by_it = cost(load, &c->device);
    const double with_device = by_others > by_it ? by_others : by_it;
    const double left =
        by_processors > c->to_open ? 1 - c->to_open / by_processors : 0;
    return (struct scan_estimate){
        .kind = kind,
        .pictures = load->pictures,
        .by_processors = by_processors,
        .by_device = c->to_open + left * with_device + c->to_end,
    };
}

/* ---- All of them --------------------------------------------------------- */

/* Of a slot. A batch of more gains little, and all of it is page-locked before
 * it is used, which takes 0.28 ms a MB. The time of a PNG on the device hides
 * only behind that of many others. What is made of it takes the place of the
 * input. */
static const struct slot_size {
    unsigned slots; /* some batches run while another is filled or written */
    size_t input;
    unsigned pictures;
    unsigned samples; /* bytes of them, for each byte of input */
} slot_most[SCAN_KINDS] = {
    [SCAN_KIND_JPEG] = { 3, (size_t)16 << 20, 64, 4 },
    [SCAN_KIND_PNG] = { 4, (size_t)480 << 20, 192, 4 },
    [SCAN_KIND_FROM_PNG] = { 4, (size_t)480 << 20, 192, 1 },
    [SCAN_KIND_TO_PNG] = { 4, (size_t)480 << 20, 192, 4 },
};

/* How many devices keep as many pictures as their slots hold. */
enum { DEVICES_MOST = 8 };

/* What is kept of each kind. The lock of all is held. */
struct device_kind {
    struct scan_pipeline *pipeline; /* NULL: no device takes it */
    bool weighed, started;
    unsigned given, turned, refused; /* pictures, to the device and by it */
    struct scan_load load;           /* the jobs of this kind, so far */
    struct scan_estimate estimate;
};

struct device_scans {
    const struct options *opts;
    unsigned processors, devices;
    bool always; /* a device was asked for */
    pthread_mutex_t lock;
    double seen; /* jobs */
    struct device_kind kind[SCAN_KINDS];
    struct resource_share opening; /* a processor, as long as devices open */
};

bool device_scans_may_start(const struct options *opts, size_t jobs)
{
    return backend_choose_engine() && strcmp(opts->backend, "auto") == 0 &&
           jobs >= opts->threads;
}

struct device_scans *device_scans_open(const struct options *opts,
                                       const struct backend *backend)
{
    static const int first = 0;
    const bool all = opts->devices.count == (unsigned)LANE_ALL_DEVICES;
    const bool some = opts->devices.count && !all;
    const bool always = backend != &backend_cpu;
    const bool fast = opts->effort == LEVEL_FAST + 1;
    const bool converts = opts->format_name || opts->stack;
    const bool may_come[] = { true, fast, converts, fast && converts };
    const struct scan_engine_type *const engine = backend_choose_engine();
    const uint64_t memory = opts->limits.bytes / 20;
    struct device_scans *made = NULL;
    if (engine && memory / slot_most[0].slots >= SCAN_INPUT_LEAST &&
        (always || strcmp(opts->backend, "auto") == 0))
        made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->opts = opts;
    made->processors = opts->threads;
    made->devices = all ? DEVICES_MOST : some ? opts->devices.count : 1;
    made->always = always;
    pthread_mutex_init(&made->lock, NULL);
    for (unsigned i = 0; i < SCAN_KINDS; i++) {
        const struct slot_size *most = &slot_most[i];
        const size_t input = memory / most->slots < most->input
                                 ? (size_t)(memory / most->slots)
                                 : most->input;
        const struct scan_pipeline_opts pipeline = {
            .engine = engine,
            .kind = (enum scan_kind)i,
            .device = some ? opts->devices.number : &first,
            .devices = all ? 0 : made->devices,
            .slots = most->slots,
            .pictures = most->pictures,
            .input = input,
            .memory = memory,
            .output = most->samples * input,
            .vram = always ? (opts->vram + 1) / 2 : opts->vram, /* and lanes */
        };
        if (may_come[i] && input >= SCAN_INPUT_LEAST)
            made->kind[i].pipeline = scan_pipeline_open(&pipeline);
    }
    /* Those of other pictures have much memory, and are started when one comes.
     */
    struct device_kind *first_kind = &made->kind[SCAN_KIND_JPEG];
    if (!first_kind->pipeline) {
        device_scans_close(made);
        return NULL;
    }
    if (always)
        scan_pipeline_start(first_kind->pipeline);
    first_kind->started = always;
    return made;
}

size_t device_scans_most(const struct device_scans *scans)
{
    size_t pictures = 0;
    for (unsigned i = 0; i < SCAN_KINDS; i++)
        if (scans->kind[i].pipeline)
            pictures += slot_most[i].slots * slot_most[i].pictures;
    return scans->devices * pictures;
}

void device_scans_close(struct device_scans *scans)
{
    if (!scans)
        return;
    for (unsigned i = 0; i < SCAN_KINDS; i++)
        scan_pipeline_close(scans->kind[i].pipeline);
    pthread_mutex_destroy(&scans->lock);
    free(scans);
}

bool device_scans_failure(struct device_scans *scans, struct err *why)
{
    for (unsigned i = 0; scans && i < SCAN_KINDS; i++)
        if (scans->kind[i].pipeline &&
            scan_pipeline_failure(scans->kind[i].pipeline, why))
            return true;
    return false;
}

bool device_scans_estimate(struct device_scans *scans, enum scan_kind kind,
                           struct scan_estimate *estimate)
{
    if (!scans)
        return false;
    pthread_mutex_lock(&scans->lock);
    bool weighed = scans->kind[kind].weighed;
    *estimate = scans->kind[kind].estimate;
    pthread_mutex_unlock(&scans->lock);
    return weighed;
}

/* ---- A picture ----------------------------------------------------------- */

static void add_load(struct scan_load *load, const struct scan_turn *turn,
                     unsigned count)
{
    load->pictures++;
    for (unsigned i = 0; i < count; i++) {
        load->bytes += (double)turn[i].coded.size;
        load->samples += (double)scan_pipeline_samples(&turn[i]);
        /* Without `to` they become samples alone, which `pixels` has. */
        const unsigned components =
            turn[i].samples && turn[i].to ? turn[i].to->components : 0;
        for (unsigned c = 0; c < components; c++)
            if (turn[i].samples[c].wanted)
                load->encoded += (double)turn[i].samples[c].width *
                                 turn[i].samples[c].height;
    }
}

/* Starts the devices once they are worthwhile, if what is left is like what has
 * been seen so far. */
static void weigh(struct device_picture *picture, const struct scan_turn *turn,
                  unsigned count)
{
    struct device_scans *scans = picture->scans;
    struct device_kind *kind = &scans->kind[picture->kind];
    bool starts = false;
    pthread_mutex_lock(&scans->lock);
    if (!kind->started && scans->always) {
        starts = true;
    } else if (!kind->started) {
        add_load(&kind->load, turn, count);
        const double left = (double)*picture->left / scans->seen;
        const struct scan_load load = { left * kind->load.pictures,
                                        left * kind->load.bytes,
                                        left * kind->load.samples,
                                        left * kind->load.encoded };
        struct scan_estimate estimate =
            device_scans_model(picture->kind, &load, scans->processors);
        starts = estimate.by_device < estimate.by_processors;
        if (starts || estimate.by_processors > kind->estimate.by_processors)
            kind->estimate = estimate;
        kind->weighed = true;
    }
    kind->started = kind->started || starts;
    pthread_mutex_unlock(&scans->lock);
    if (!starts)
        return;
    scan_pipeline_start(kind->pipeline);
    if (scans->processors == 1 || scans->always)
        return;
    /* A processor is left to that: beside jobs on all of them it takes up to
     * twice as long. */
    struct resource_share opening = { .limits = picture->share->limits };
    (void)resource_limits_take_processors(&opening, SIZE_MAX);
    pthread_mutex_lock(&scans->lock);
    scans->opening = opening;
    pthread_mutex_unlock(&scans->lock);
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
    struct scan_pipeline *pipeline = all->kind[picture->kind].pipeline;
    enum scan_admission place;
    weigh(picture, scans, count);
    for (;;) {
        place = scan_pipeline_begin(pipeline, &picture->ticket, scans, count,
                                    *picture->left);
        if (place != SCAN_PLACE_NONE_YET &&
            (place != SCAN_PLACE_OPENING || !all->always))
            break;
        scan_pipeline_await_place(pipeline, scans, count);
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
    pthread_mutex_lock(&all->lock);
    all->kind[picture->kind].given += place == SCAN_PLACE_TAKEN;
    pthread_mutex_unlock(&all->lock);
    if (place != SCAN_PLACE_TAKEN)
        (void)resource_limits_take_processors(picture->share, SIZE_MAX);
    return place == SCAN_PLACE_TAKEN;
}

static const struct bytes *begin_idat(void *context,
                                      const struct scan_turn *one)
{
    struct device_picture *picture = context;
    picture->one = *one;
    picture->idat = *one->idat;
    picture->one.idat = &picture->idat;
    if (one->pixels) {
        picture->pixels = *one->pixels;
        picture->one.pixels = &picture->pixels;
    }
    return begin(picture, &picture->one, 1) ? &picture->one.turned : NULL;
}

/* Returns whether a device that was not asked for is to have no more of these:
 * it refuses most, as it may do line art, or has not judged the first ones.
 * What becomes an array it judges only when it is damaged, and large ones are
 * few in a batch: they wait for nobody. */
static bool is_refused(const struct device_scans *scans, enum scan_kind which)
{
    enum { JUDGED_FROM = 16 };
    const struct device_kind *kind = &scans->kind[which];
    const unsigned judged = kind->turned + kind->refused;
    if (which != SCAN_KIND_PNG && which != SCAN_KIND_TO_PNG)
        return false;
    return judged < JUDGED_FROM ? kind->given >= 2 * JUDGED_FROM
                                : kind->refused > kind->turned;
}

bool device_scans_prepare(struct device_scans *scans,
                          struct device_picture *picture, struct job *job,
                          const struct result *result,
                          struct resource_share *share,
                          const atomic_size_t *left)
{
    if (!scans)
        return false;
    const enum scan_kind found = job_device_kind(scans->opts, result);
    const bool suits = found != SCAN_KINDS && scans->kind[found].pipeline;
    const enum scan_kind kind = suits ? found : SCAN_KIND_JPEG;
    const bool jpeg = kind == SCAN_KIND_JPEG;
    pthread_mutex_lock(&scans->lock);
    scans->seen++;
    const bool started = scans->kind[kind].started || (!jpeg && scans->always);
    const bool refuses = !scans->always && is_refused(scans, kind);
    pthread_mutex_unlock(&scans->lock);
    if (refuses || (!started && *left < scans->processors))
        return false;
    *picture = (struct device_picture){
        .scans = scans,
        .kind = kind,
        .share = share,
        .left = left,
        .use = DEVICE_UNSUITED,
        .turner = { .begin = begin,
                    .begin_idat = begin_idat,
                    .context = picture,
                    .samples = true },
    };
    if (suits)
        job->tools.scan_turner = &picture->turner;
    return suits;
}

bool device_scans_park(struct device_picture *picture,
                       void (*resume)(void *context), void *context)
{
    return scan_pipeline_park(picture->scans->kind[picture->kind].pipeline,
                              &picture->ticket, resume, context);
}

void device_scans_release(struct device_picture *picture)
{
    if (!picture->scans)
        return;
    scan_pipeline_release(picture->scans->kind[picture->kind].pipeline,
                          &picture->ticket);
    if (picture->ticket.turned)
        picture->use = DEVICE_TURNED;
}

void device_scans_note(const struct device_picture *picture,
                       struct result *result)
{
    result->device_use = picture->use;
    if (picture->scans) {
        struct device_kind *kind = &picture->scans->kind[picture->kind];
        pthread_mutex_lock(&picture->scans->lock);
        kind->turned += picture->use == DEVICE_TURNED;
        kind->refused += picture->use == DEVICE_REFUSED;
        pthread_mutex_unlock(&picture->scans->lock);
    }
    result->seconds[STAGE_TURN] += picture->ticket.seconds;
    if (picture->use == DEVICE_UNSUITED && result->from == &codec_jpeg)
        result->device_use =
            result->progressive ? DEVICE_PROGRESSIVE
            : result->how == HOW_REENCODED || result->how == HOW_LUMA_LOSSLESS
                ? DEVICE_SAMPLES
                : DEVICE_UNSUITED;
}
