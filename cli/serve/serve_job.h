/* Reads a job of serve, from JSON to a job of cli/job, below the directory that
 * its names are confined to. */
#ifndef CLI_SERVE_SERVE_JOB_H
#define CLI_SERVE_SERVE_JOB_H

#include "cli/files/resolve.h"
#include "cli/job/job.h"
#include "cli/json/json.h"

/* The directory that the names of jobs are confined to: --root. */
struct serve_root {
    struct root root;
    char *path; /* its name, absolute and without links */
};

/* Opens the directory, which must exist. The name must outlive the root.
 * Returns 0, or -1 with the reason; then there is nothing to close. */
int serve_root_open(struct serve_root *root, const char *name, struct err *err);
void serve_root_close(struct serve_root *root);

/* Returns a name relative to the root: without the name or the path of the root
 * if it begins with either, else as it is. */
const char *serve_root_below(const struct serve_root *root, const char *name);

enum { SERVE_OPTIONS_MAX = 32, SERVE_WORDS_MAX = SERVE_OPTIONS_MAX + 5 };

/* {0} at first. */
struct serve_job {
    struct json_text json;       /* the job as it was written, */
    char *word[SERVE_WORDS_MAX]; /* and as words of a command line */
    int words;
    const char *input, *output; /* as the user gave them, or NULL */
    struct options opts;
    struct job job;
};

/* Reads a job from text, which must live as long as the job. `base` are the
 * options of jobs that do not say otherwise; the files are confined to `root`,
 * unless that is NULL. One thread at a time may call it. Returns 0, or -1 with
 * the reason; then `job->job` has the members that were understood, for the
 * answer. */
int serve_job_read(struct serve_job *job, const char *text, size_t size,
                   const struct options *base, struct serve_root *root,
                   struct err *err);

/* Frees what the job holds. */
void serve_job_free(struct serve_job *job);

#endif
