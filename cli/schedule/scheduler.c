/* Does jobs side by side. */
#include "cli/schedule/scheduler.h"

#include <malloc.h>
#include <stdlib.h>

#include "cli/report/report.h"
#include "cli/schedule/resource_limits.h"
#include "codecs/base/page_cache.h"
#include "cuda/backend_choose.h"

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

unsigned scheduler_workers(unsigned processors)
{
    return processors + processors / 2;
}

int scheduler_open(struct scheduler **scheduler, const struct options *opts,
                   const struct backend *backend, size_t jobs,
                   const struct resource_giver *giver, struct err *err)
{
    if (backend->probe(err))
        return -1;
    struct scheduler *made = calloc(1, sizeof *made);
    if (!made)
        return fail(err, "no memory");
    made->opts = opts;
    made->backend = backend;
    made->workers = giver ? 1 : scheduler_workers(opts->threads);
    if (jobs < made->workers)
        made->workers = jobs ? (unsigned)jobs : 1;
    if (!giver)
        made->scans = device_scans_open(opts, backend);
    if (made->scans) {
        made->resumers = jobs < opts->threads ? (unsigned)jobs : opts->threads;
        made->parked = device_scans_most(made->scans);
    }
    /* Keeps the memory that one job frees for the next one: to return it to the
     * system and ask for it again takes as long as to turn the picture. Large
     * blocks are kept by page_cache.h; of smaller ones malloc() keeps some for
     * each worker, instead of 128 KiB. */
    const uint64_t bytes = opts->limits.bytes / (giver ? giver->processes : 1);
    const unsigned workers = made->workers + made->resumers;
    uint64_t most = bytes / 16 / workers;
    int kept = most > 16 << 20    ? 16 << 20
               : most < 128 << 10 ? 128 << 10
                                  : (int)most;
    mallopt(M_MMAP_THRESHOLD, kept);
    mallopt(M_TRIM_THRESHOLD, kept);
    page_cache_keep(bytes / 8);
    resource_limits_init(&made->limits, opts->limits.bytes, opts->threads);
    made->limits.giver = giver;
    if (giver)
        resource_limits_divide(&made->limits, giver->processes);
    /* The workers divide the devices among them. Where devices turn scans,
     * these have half of their memory. */
    struct lane_opts lane = {
        .device = opts->devices.number,
        .ndevices = opts->devices.count,
        .vram = made->scans ? (opts->vram + 1) / 2 : opts->vram,
        .keep = opts->limits.bytes / 8,
        .workers = workers,
    };
    made->lane = calloc(workers, sizeof(struct lane *));
    int status = made->lane ? 0 : fail(err, "no memory");
    for (; status == 0 && lane.worker < workers; lane.worker++)
        status = backend->open(&made->lane[lane.worker], &lane, err);
    if (status)
        scheduler_close(made);
    *scheduler = status ? NULL : made;
    return status;
}

/* ---- A job --------------------------------------------------------------- */

/* A file of fewer bytes is done sooner than threads are started. */
enum { WORTH_THREADS = 1 << 16 };

/* Takes processors for a job that decodes and encodes. One that is alone with
 * several has a pool for as long. Without it it takes longer. */
static void take_processors(struct scheduled_job *s)
{
    bool large = s->share.held[RESOURCE_FILE] >= WORTH_THREADS;
    unsigned threads =
        resource_limits_take_processors(&s->share, large ? *s->left : SIZE_MAX);
    s->job.tools.pool = threads > 1 ? thread_pool_open(threads) : NULL;
}

static void return_processors(struct scheduled_job *s)
{
    thread_pool_close(s->job.tools.pool);
    s->job.tools.pool = NULL;
    resource_limits_return_processors(&s->share);
}

/* Decodes the picture; and encodes it, unless the device has it. Up to there it
 * holds no processor, since to wait for one takes longer than to copy what the
 * device is to turn; device_scans.c takes one for what it does not. */
static int begin(struct scheduler *scheduler, struct scheduled_job *s)
{
    s->job.tools.scan_turner = NULL;
    if (s->first ||
        !device_scans_prepare(scheduler->scans, &s->picture, &s->job,
                              &s->result, &s->share, s->left))
        take_processors(s);
    int status = job_begin(s->state, &s->err);
    if (status == 0 && !s->picture.ticket.scans) {
        if (s->share.processors == 0) /* its scans were not offered */
            take_processors(s);
        status = job_finish(s->state, &s->err);
    }
    return_processors(s);
    if (status && s->picture.ticket.scans)
        device_scans_release(&s->picture);
    return status;
}

/* Goes on with a picture that the device has turned, or refused. */
static int resume(struct scheduled_job *s)
{
    const bool turned = s->picture.ticket.turned;
    s->job.tools.scan_turner = NULL;
    if (!turned || s->result.to != s->result.from)
        take_processors(s);
    int status = turned ? 0 : job_retry(s->state, &s->err);
    if (status == 0)
        status = job_finish(s->state, &s->err);
    if (status || !job_borrows_output(s->state))
        device_scans_release(&s->picture);
    return_processors(s);
    return status;
}

bool scheduler_do(struct scheduler *scheduler, unsigned worker,
                  struct scheduled_job *s)
{
    struct job *job = &s->job;
    struct result *result = &s->result;
    job->tools.backend = scheduler->backend;
    job->tools.lane = scheduler->lane[worker];
    job->regular = true;
    job->tools.reserve_file = resource_limits_take_file;
    job->tools.reserve = resource_limits_take_cells;
    job->tools.context = &s->share;
    bool resumes = s->state;
    if (!resumes) {
        s->share = (struct resource_share){ .limits = &scheduler->limits };
        s->state = job_read(job, result, &s->err);
        result->seconds[STAGE_READ] -= s->share.waited[RESOURCE_FILE];
        s->status = s->state ? 0 : -1;
        if (s->state && !result->skipped)
            s->status = begin(scheduler, s);
        resumes = s->picture.ticket.scans;
        if (resumes && device_scans_park(&s->picture, s->resume, s))
            return false; /* another thread may have the job already */
    }
    if (resumes)
        s->status = resume(s);
    result->worker = worker + 1;
    if (s->state && !result->skipped) {
        result->waited = s->share.waited[RESOURCE_CELLS];
        result->seconds[STAGE_DECODE] -= result->waited;
        if (s->status == 0 && s->ready)
            s->status = s->ready(s, job_output(s->state));
        if (s->status == 0)
            s->status = job_write(s->state, &s->err);
        device_scans_release(&s->picture);
        device_scans_note(&s->picture, result);
    }
    job_end(s->state);
    resource_limits_return_all(&s->share);
    return true;
}

void scheduler_close(struct scheduler *scheduler)
{
    if (!scheduler)
        return;
    const unsigned lanes = scheduler->workers + scheduler->resumers;
    device_scans_close(scheduler->scans);
    for (unsigned i = 0; scheduler->lane && i < lanes; i++)
        if (scheduler->lane[i])
            scheduler->backend->close(scheduler->lane[i]);
    free(scheduler->lane);
    page_cache_keep(0);
    resource_limits_end(&scheduler->limits);
    free(scheduler);
}
