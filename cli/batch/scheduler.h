/* Does jobs side by side, each on a worker: gives it a lane, and its share of
 * memory and processors. */
#ifndef CLI_BATCH_SCHEDULER_H
#define CLI_BATCH_SCHEDULER_H

#include "cli/job/job.h"

/* How it ended, all in all. */
enum outcome {
    OUTCOME_DONE,
    OUTCOME_FAILED,     /* a file did, or what tells of them cannot be written */
    OUTCOME_NOT_BEGUN,  /* nothing was done: what is asked for cannot be meant */
    OUTCOME_NO_DEVICE,
};

/* How it ended if no lane can be opened: the processors are always there, and
 * lack nothing but memory. */
enum outcome scheduler_outcome_without_lane(const struct backend *backend);

struct scheduler;

/* Opens a lane for each worker, so that a device that cannot be used is known
 * before anything is done. There will be up to `jobs` jobs. The options must
 * outlive it. */
int scheduler_open(struct scheduler **scheduler, const struct options *opts,
                   const struct backend *backend, size_t jobs, struct err *err);

/* The most workers that it may take to keep the processors busy: where files are
 * slow, others turn their pictures while some are read and written. */
unsigned scheduler_workers(const struct scheduler *scheduler);

/* Does a job of which all but backend, lane, pool and memory is set. `left`:
 * how many jobs there still are, this one included; where they are fewer than
 * processors, each keeps several busy. `ready` is called when the output is
 * made and about to be written, unless it is NULL. To be called for each
 * worker, from 0, by one thread at a time. */
int scheduler_do(struct scheduler *scheduler, unsigned worker, struct job *job,
                 size_t left,
                 int (*ready)(const struct job *job,
                              const struct result *result, struct bytes output,
                              void *context, struct err *err),
                 void *context, struct result *result, struct err *err);

/* How many workers it takes, as far as the jobs so far have shown: more than
 * there are processors have to wake each other, and to find memory of their
 * own, which costs more than it gains where nobody waits for files. */
unsigned scheduler_wanted(struct scheduler *scheduler);

/* Where temporary files of runs before were looked for; see cli/files/temporary.h. */
struct left_behind *scheduler_left_behind(const struct scheduler *scheduler);

/* Whether jobs have waited for their files to be read, so that it is worth
 * while to have the system read those ahead that are next. */
bool scheduler_waits_for_files(struct scheduler *scheduler);

void scheduler_close(struct scheduler *scheduler);

#endif
