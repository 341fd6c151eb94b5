/* How far a batch is: its counts, the line of progress on a terminal, and the
 * summary at its end. One thread at a time may use it. */
#ifndef CLI_BATCH_PROGRESS_H
#define CLI_BATCH_PROGRESS_H

#include "cli/job/job.h"
#include "cli/options/option_table.h"

/* Twice as many workers as threads, and once more those that resume tasks. */
enum { WORKERS_MAX = 3 * OPTION_THREADS_MAX };

struct batch_progress {
    size_t all; /* files that are to be done */
    size_t done, skipped, failed;
    size_t how[HOWS];           /* of `done`, without the next three */
    size_t device[DEVICE_USES]; /* of `done` */
    size_t anew, color, left;   /* files that could not be turned without loss:
                                   encoded anew, their chroma alone, or not
                                   turned but left by their tag */
    size_t sidecars;            /* that were made true of what was done */
    size_t jpegs;               /* of `done`, that were written */
    size_t replaced;            /* files that were there and are no inputs */
    struct bytes anew_names; /* pointers to the names of these, as many as could
                                be kept */
    uint64_t bytes_in, bytes_out;
    double seconds[STAGES];       /* of all workers together */
    bool worked[WORKERS_MAX + 1]; /* whether this worker has done a file */
    double waited;                /* the same, for memory */
    double begin;
    bool shown;   /* there is a terminal, and a line is wanted */
    double drawn; /* when the line was drawn */
    bool visible; /* the line stands on the terminal */
};

/* Begins to count, with `all` files to do. */
void progress_begin(struct batch_progress *progress, size_t all,
                    const struct options *opts);

/* Counts the result of a job, whose names must live until the summary. */
void progress_count(struct batch_progress *progress, const struct job *job,
                    const struct result *result, bool failed);

/* Draws the line, at most ten times a second. */
void progress_draw(struct batch_progress *progress);

/* Removes the line, before something else is printed. */
void progress_clear(struct batch_progress *progress);

/* Prints on standard error how many of all files would be done. */
void progress_plan(size_t planned, size_t all);

/* Returns how many files were not begun. */
size_t progress_left(const struct batch_progress *progress);

/* Prints the summary on standard error, and frees what was kept for it. With
 * --verbose it has the seconds of each stage and what a device did, and
 * `estimate`, unless it is NULL, which is what `auto` has chosen by. */
struct scan_estimate;
void progress_summary(struct batch_progress *progress,
                      const struct options *opts,
                      const struct scan_estimate *estimate);

enum ending {
    ENDING_SIGNAL,   /* a signal asked for it */
    ENDING_FAILURES, /* as many as --fail-after allows */
    ENDING_FULL,     /* the disk is full */
    ENDING_MANIFEST, /* the manifest could not be written */
    ENDING_PIPE,     /* nobody reads the results any more */
};

/* Says why a batch ended early: prints on standard error how many files are
 * left and what to type to go on, and with --json an object on standard output.
 * Prints nothing for ENDING_PIPE. `signal` counts for ENDING_SIGNAL. */
void progress_report_ending(enum ending ending, int signal,
                            const struct batch_progress *progress,
                            const struct options *opts);

#endif
