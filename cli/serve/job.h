/* A job of serve, from JSON to what job.h does. */
#ifndef CLI_SERVE_JOB_H
#define CLI_SERVE_JOB_H

#include "cli/job/job.h"
#include "cli/json/json_read.h"
#include "cli/serve/root.h"

enum { SERVE_OPTIONS_MAX = 32, SERVE_WORDS_MAX = SERVE_OPTIONS_MAX + 5 };

/* {0} at first. */
struct serve_job {
    struct json_text json;       /* what the job says, */
    char *word[SERVE_WORDS_MAX]; /* and what that is on a command line */
    int words;
    const char *input, *output; /* as the user gave them, or NULL */
    struct options opts;
    struct job job;
};

/* Reads a job from text, which must live as long as the job. `base` are the
 * options that hold where the job says nothing; the files are below `root`,
 * unless that is NULL. Not for two threads at a time. Returns 0, or -1 with the
 * reason set; then `job->job` has the members that were understood, for the
 * answer. */
int serve_job_read(struct serve_job *job, const char *text, size_t size,
                   const struct options *base, struct serve_root *root,
                   struct err *err);

/* What the job is for its answer, with the names that the user gave. */
struct job serve_job_asked(const struct serve_job *job,
                           const struct options *base);

/* Frees what the job holds. */
void serve_job_free(struct serve_job *job);

#endif
