/* Does jobs side by side. */
#include "cli/batch/scheduler.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#include "cli/batch/resource_limits.h"
#include "cli/files/files.h"
#include "cli/report.h"
#include "codecs/base/clock.h"
#include "codecs/base/page_cache.h"

/* Seconds that the latest jobs took; older ones count less and less. */
struct pace {
    double read, write; /* waiting for their files */
    double make;        /* holding a processor */
};

struct scheduler {
    const struct options *opts;
    const struct backend *backend;
    unsigned workers;
    struct lane **lane; /* one a worker */
    struct resource_limits limits;
    struct left_behind *left; /* or NULL */
    pthread_mutex_t lock;
    struct pace pace;
};

enum outcome scheduler_refuse(const struct options *opts, const char *name,
                              const struct backend *backend,
                              const struct err *why)
{
    bool no_device = backend != &backend_cpu;
    struct err text;
    fail(&text, "--backend %s: %s", name, why->text);
    report_refusal(no_device ? "no_device" : "failed", text.text, opts);
    return no_device ? OUTCOME_NO_DEVICE : OUTCOME_FAILED;
}

unsigned scheduler_workers(const struct scheduler *scheduler)
{
    return scheduler->workers;
}

/* Opens the lane of a worker; the workers divide the devices among them. */
static int open_lane(struct scheduler *scheduler, unsigned worker,
                     struct err *err)
{
    const struct options *opts = scheduler->opts;
    struct lane_opts lane = {
        .device = opts->devices.number,
        .ndevices = opts->devices.count,
        .vram = opts->vram,
        .keep = opts->limits.bytes / 8,
        .worker = worker,
        .workers = scheduler->workers,
    };
    return scheduler->backend->open(&scheduler->lane[worker], &lane, err);
}

static int open_lanes(struct scheduler *scheduler, struct err *err)
{
    scheduler->lane = calloc(scheduler->workers, sizeof(struct lane *));
    if (!scheduler->lane)
        return fail(err, "no memory");
    for (unsigned i = 0; i < scheduler->workers; i++)
        if (open_lane(scheduler, i, err))
            return -1;
    return 0;
}

/* Keeps the memory that one job frees for the next one: to return it to the
 * system and ask for it again takes as long as to turn the picture. Large
 * blocks are kept by page_cache.h; of smaller ones malloc() keeps some for each
 * worker, instead of 128 KiB. */
static void keep_memory(uint64_t bytes, unsigned workers)
{
    uint64_t most = bytes / 16 / workers;
    int kept = most > 16 << 20    ? 16 << 20
               : most < 128 << 10 ? 128 << 10
                                  : (int)most;
    mallopt(M_MMAP_THRESHOLD, kept);
    mallopt(M_TRIM_THRESHOLD, kept);
    page_cache_keep(bytes / 8);
}

int scheduler_open(struct scheduler **scheduler, const struct options *opts,
                   const struct backend *backend, size_t jobs, struct err *err)
{
    struct scheduler *made = calloc(1, sizeof *made);
    if (!made)
        return fail(err, "no memory");
    made->opts = opts;
    made->backend = backend;
    made->left = left_behind_open(SIZE_MAX);
    made->workers = 2 * opts->threads;
    if (jobs < made->workers)
        made->workers = jobs ? (unsigned)jobs : 1;
    keep_memory(opts->limits.bytes, made->workers);
    pthread_mutex_init(&made->lock, NULL);
    resource_limits_init(&made->limits, opts->limits.bytes, opts->threads);
    *scheduler = made;
    if (open_lanes(made, err) == 0)
        return 0;
    scheduler_close(made);
    *scheduler = NULL;
    return -1;
}

/* A file of fewer bytes is done sooner than threads are started. */
enum { WORTH_THREADS = 1 << 16 };

/* A job that is alone with several processors has a pool for as long. Without
 * it it takes longer. */
static int make(struct job *job, struct job_state *state,
                struct resource_share *share, size_t left, struct err *err)
{
    bool large = share->file >= WORTH_THREADS;
    unsigned threads =
        resource_limits_take_processors(share, large ? left : SIZE_MAX);
    job->pool = threads > 1 ? thread_pool_open(threads) : NULL;
    int status = job_make(state, err);
    thread_pool_close(job->pool);
    job->pool = NULL;
    resource_limits_return_processors(share);
    return status;
}

/* ---- The pace ------------------------------------------------------------ */

/* How much less a job counts after each further one: about the latest hundred
 * matter. */
static const double fading = 0.99;

/* Seconds that this thread has not run, since some time in the past. */
static double time_waited(void)
{
    return now() - clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

static void note_pace(struct scheduler *scheduler, const struct pace *job)
{
    pthread_mutex_lock(&scheduler->lock);
    struct pace *pace = &scheduler->pace;
    pace->read = pace->read * fading + job->read;
    pace->write = pace->write * fading + job->write;
    pace->make = pace->make * fading + job->make;
    pthread_mutex_unlock(&scheduler->lock);
}

unsigned scheduler_wanted(struct scheduler *scheduler)
{
    unsigned processors = scheduler->opts->threads;
    pthread_mutex_lock(&scheduler->lock);
    double files = scheduler->pace.read + scheduler->pace.write;
    double most = scheduler->pace.make;
    pthread_mutex_unlock(&scheduler->lock);
    if (files >= most)
        return scheduler->workers;
    return processors + (unsigned)(processors * files / most);
}

struct left_behind *scheduler_left_behind(const struct scheduler *scheduler)
{
    return scheduler->left;
}

bool scheduler_waits_for_files(struct scheduler *scheduler)
{
    pthread_mutex_lock(&scheduler->lock);
    bool waits = scheduler->pace.read > 0.05 * scheduler->pace.make;
    pthread_mutex_unlock(&scheduler->lock);
    return waits;
}

/* ---- A job --------------------------------------------------------------- */

int scheduler_do(struct scheduler *scheduler, unsigned worker, struct job *job,
                 size_t left, scheduler_ready *ready, void *context,
                 struct result *result, struct err *err)
{
    struct resource_share share = { .limits = &scheduler->limits };
    *result = (struct result){ 0 };
    job->backend = scheduler->backend;
    job->lane = scheduler->lane[worker];
    job->left = scheduler->left;
    job->regular = true;
    job->reserve = resource_limits_take_cells;
    job->context = &share;
    resource_limits_take_file(&share, file_size(job->input_root, job->input));
    struct pace pace = { .read = -time_waited() };
    struct job_state *state = job_read(job, result, err);
    pace.read += time_waited();
    int status = state ? 0 : -1;
    if (state && !result->skipped) {
        status = make(job, state, &share, left, err);
        result->waited = share.waited;
        result->seconds[STAGE_DECODE] -= share.waited;
        pace.make = result->seconds[STAGE_DECODE] +
                    result->seconds[STAGE_TURN] + result->seconds[STAGE_ENCODE];
        pace.write = -time_waited();
        if (status == 0 && ready)
            status = ready(job, result, job_output(state), context, err);
        if (status == 0)
            status = job_write(state, err);
        pace.write += time_waited();
    }
    note_pace(scheduler, &pace);
    job_end(state);
    resource_limits_return_all(&share);
    return status;
}

void scheduler_close(struct scheduler *scheduler)
{
    if (!scheduler)
        return;
    for (unsigned i = 0; scheduler->lane && i < scheduler->workers; i++)
        if (scheduler->lane[i])
            scheduler->backend->close(scheduler->lane[i]);
    free(scheduler->lane);
    page_cache_keep(0);
    left_behind_close(scheduler->left);
    resource_limits_end(&scheduler->limits);
    pthread_mutex_destroy(&scheduler->lock);
    free(scheduler);
}
