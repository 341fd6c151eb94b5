/* Does jobs side by side, one on each worker, and gives each a lane of the
 * backend and its share of memory and processors: the main header of
 * cli/schedule/.
 *
 * What comes in are jobs of cli/job; what goes out is that they are done. The
 * room holds all that they share: threads that take them in order and report
 * them in order (ordered_workers.h), memory and processors (resource_limits.h),
 * and a device that turns the coded data of JPEG files (device_scans.h). It
 * knows nothing of which jobs there are, nor of what is said about them. */
#ifndef CLI_SCHEDULE_SCHEDULER_H
#define CLI_SCHEDULE_SCHEDULER_H

#include "cli/job/job.h"
#include "cli/schedule/device_scans.h"

/* How a run ended; each is the exit status of the program, too. */
enum outcome {
    OUTCOME_DONE,
    OUTCOME_FAILED,    /* a file failed, or results could not be written */
    OUTCOME_NOT_BEGUN, /* nothing was done: the options make no sense */
    OUTCOME_NO_DEVICE, /* the device asked for cannot be used */
};

/* Prints why the backend of this name cannot be used; `backend` is NULL if it
 * was not found, otherwise it cannot run or open a lane. Returns the outcome: a
 * missing device, or, for the CPU, which only lacks memory, a failure. */
enum outcome scheduler_refuse(const struct options *opts, const char *name,
                              const struct backend *backend,
                              const struct err *why);

/* Returns how many workers keep so many processors busy: half as many again,
 * so that some read and write files while others turn their pictures. More hide
 * longer waits, but each needs memory. One works alone, in order. */
unsigned scheduler_workers(unsigned processors);

/* What jobs share; it stays as it is while there are any. */
struct scheduler {
    const struct options *opts;
    const struct backend *backend;
    unsigned workers;
    unsigned resumers; /* further workers, which finish jobs that were parked */
    size_t parked;     /* how many jobs may be at a time */
    struct lane **lane;         /* of the backend, for each of them all */
    struct device_scans *scans; /* NULL: no device turns coded scans */
    struct resource_limits limits;
};

/* Asks the backend whether it can run here, and opens a lane for each worker,
 * so that a device that cannot be used is known before anything is done. There
 * will be up to `jobs` jobs, SIZE_MAX if nobody knows. In a process that does
 * one job at a time beside others, `giver` is who shares memory and processors
 * out; else it is NULL. The options and the giver must outlive the scheduler.
 * Returns 0, or -1 with the reason. */
int scheduler_open(struct scheduler **scheduler, const struct options *opts,
                   const struct backend *backend, size_t jobs,
                   const struct resource_giver *giver, struct err *err);
void scheduler_close(struct scheduler *scheduler);

/* A job on its way, and what becomes of it: {0} at first. It stays where it is
 * until it has ended. */
struct scheduled_job {
    struct job job; /* of which all but the tools is set */
    struct result result;
    int status; /* 0; or -1: err says why */
    struct err err;
    /* How many jobs are not done, this one included. If they are fewer than the
     * processors, each keeps several busy. */
    const atomic_size_t *left;
    bool first; /* others wait for it: it is done here, not on a device */
    /* Is called when the output is made and about to be written; may be NULL.
     * Returns 0, or -1 with the reason in job->err for which the job fails. */
    int (*ready)(struct scheduled_job *job, struct bytes output);
    void (*resume)(void *job); /* see scheduler_do() */
    /* The scheduler's. */
    struct resource_share share;
    struct job_state *state; /* NULL: the job was not begun */
    struct device_picture picture;
};

/* Does a job. Each worker, from 0, is for one thread at a time. Returns whether
 * the job has ended, and job->status says how. If not it is parked: then it is
 * done on, by any worker of the further ones, after resume() has been called,
 * maybe before this returns. */
bool scheduler_do(struct scheduler *scheduler, unsigned worker,
                  struct scheduled_job *job);

#endif
