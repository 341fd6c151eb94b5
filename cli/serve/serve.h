/* gimgxf serve, for programs that turn pictures now and then and do not want to
 * start a process for each.
 *
 * In come jobs on standard input, each a JSON object; out go their answers on
 * standard output, in order. This room knows how jobs are read, ordered and
 * answered, and how a crash of one is survived; the jobs themselves are done by
 * cli/schedule and cli/job. */
#ifndef CLI_SERVE_SERVE_H
#define CLI_SERVE_SERVE_H

#include "cli/json/json.h"
#include "cli/schedule/scheduler.h"

/* Reads jobs until standard input ends, one in a line, or up to a NUL with
 * --null. Several are done side by side, in a process of their own; each is
 * answered as soon as those before it are. `opts` are the options of jobs that
 * do not say otherwise. If a signal asked for the end, it ends the program by
 * that signal. Call it before there are threads, and before a device is used.
 * Returns the outcome; what went wrong has been printed. */
enum outcome serve_run(const struct options *opts, const char *backend);

/* ---- A job, from JSON (serve_job.c) ---- */

/* The directory that the names of jobs are confined to: --root. */
struct serve_root {
    struct root root;
    char *path; /* its name, absolute and without links */
};

/* Opens the directory, which must exist. The name must outlive the root.
 * Returns 0, or -1 with the reason; then there is nothing to close. */
int serve_root_open(struct serve_root *root, const char *name, struct err *err);
void serve_root_close(struct serve_root *root);

enum { SERVE_OPTIONS_MAX = 32, SERVE_WORDS_MAX = SERVE_OPTIONS_MAX + 5 };

/* {0} at first. */
struct serve_job {
    struct json_text json;       /* the job as it was written, */
    const struct json_value *id; /* its member of this name, or NULL */
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
