/* Turns many pictures at once.
 *
 * In come the options of the command line; out go the outputs, a result for
 * each file, and a summary. This room plans nothing itself (cli/select does),
 * and knows nothing of formats or of what a turn is (cli/job does one picture):
 * it has cli/schedule do the jobs, and reports and notes what became of each.
 */
#ifndef CLI_BATCH_BATCH_H
#define CLI_BATCH_BATCH_H

#include <stdatomic.h>

#include "cli/files/file_write.h"
#include "cli/isolate/worker_pool.h"
#include "cli/manifest/manifest.h"
#include "cli/manifest/resume.h"
#include "cli/options/options.h"
#include "cli/select/plan.h"

/* Does all files that the options name, and reports them. `why_backend` says
 * why the backend was chosen, for --verbose; whether it can run here is asked
 * in the process that does the jobs. If a signal has asked for the end, it ends
 * the program by that signal after the report. Returns the outcome; what went
 * wrong has been printed. */
enum outcome batch_run(const struct options *opts,
                       const struct backend *backend, const char *why_backend);

/* ---- What a batch knows -------------------------------------------------- */

/* More workers than threads, and once more those that resume tasks. */
enum { WORKERS_MAX = 3 * OPTION_THREADS_MAX };

struct batch_progress {
    size_t all; /* files that are to be done */
    size_t done, skipped, failed;
    size_t how[HOWS];           /* of `done`, without the next three */
    size_t device[DEVICE_USES]; /* of `done` */
    size_t anew, color, left;   /* files that could not be turned without loss:
                                   encoded anew, their chroma alone, or not
                                   turned but left by their tag */
    size_t jpegs;               /* and others with a quality, of `done` */
    size_t replaced;            /* files that were there and are no inputs */
    uint64_t bytes_in, bytes_out;
    double seconds[STAGES];       /* of all workers together */
    bool worked[WORKERS_MAX + 1]; /* whether this worker has done a file */
    double waited;                /* the same, for memory */
    double begin;
    bool shown;   /* there is a terminal, and a line is wanted */
    double drawn; /* when the line was drawn */
    bool visible; /* the line stands on the terminal */
};

struct records {
    struct resume resume;
    struct manifest *manifest; /* NULL: there is none */
    struct warnings warnings;  /* about it, once it is open */
    atomic_bool failed;        /* the manifest could not be written, */
    atomic_bool disk_full;     /* since the disk is full */
};

/* How near the end is. */
struct batch_end {
    atomic_size_t to_do;  /* jobs that are not done yet */
    atomic_uint failures; /* jobs that failed, as they are done */
    atomic_bool early;    /* no job is to be begun */
    atomic_bool full;     /* the disk is */
    bool reported;        /* that a signal has asked for the end */
    bool pipe_closed;     /* nobody reads our results any more */
};

struct batch {
    const struct options *opts;
    const struct backend *backend;
    const char *why_backend;
    struct file_plan plan;
    struct root folder;
    struct root *root; /* that outputs are confined to: the folder, or NULL */
    struct records records;
    struct stack *stack;         /* that all outputs go into, or NULL */
    struct scheduler *scheduler; /* NULL in a supervisor */
    struct ordered_workers *workers;
    struct batch_progress progress;
    struct batch_end end;
};

/* Returns the i-th job of the plan. What was found in a directory stays there,
 * whether it is read or replaced. */
struct job batch_planned_job(void *batch, size_t i);

/* ---- How far it is: counts, the line of progress on a terminal, and the
 * summary at its end. One thread at a time may use it ---------------------- */

/* Begins to count, with `all` files to do. */
void progress_begin(struct batch_progress *progress, size_t all,
                    const struct options *opts);

/* Counts the result of a job. */
void progress_count(struct batch_progress *progress,
                    const struct result *result, bool failed);

/* Draws the line, at most ten times a second. */
void progress_draw(struct batch_progress *progress);

/* Removes the line, before something else is printed. */
void progress_clear(struct batch_progress *progress);

/* Prints on standard error how many of all files would be done. */
void progress_plan(size_t planned, size_t all);

/* Returns how many files were not begun. */
size_t progress_left(const struct batch_progress *progress);

/* Prints the summary on standard error. With
 * --verbose it has the seconds of each stage and what a device did, and
 * n estimates, which are what `auto` has chosen by. */
void progress_summary(struct batch_progress *progress,
                      const struct options *opts,
                      const struct scan_estimate *estimate, unsigned n);

enum ending {
    ENDING_SIGNAL,   /* a signal asked for it */
    ENDING_FAILURES, /* as many as --fail-after allows */
    ENDING_FULL,     /* the disk is full */
    ENDING_MANIFEST, /* the manifest could not be written */
    ENDING_PIPE,     /* nobody reads the results any more */
};

/* Says why a batch ended early: prints on standard error how many files are
 * left and what to type to go on; nothing for ENDING_PIPE. */
void progress_report_ending(enum ending ending,
                            const struct batch_progress *progress,
                            const struct options *opts);

/* ---- What it notes in its manifest (--manifest), and what it knows of the
 * runs before it (--resume). Without these nothing is noted or known.
 *
 * A manifest that cannot be written ends the batch, as `failed` says: what is
 * done from then on would be done again by the next run, which turns a file
 * that is replaced in place once too often --------------------------------- */

/* Opens the manifest, and reads that of the runs before. Returns 0, or -1 with
 * the reason; records_close() is needed after both. */
int records_open(struct batch *batch, struct err *err);

/* Returns 0, or -1 with the reason if the manifest could not be written. */
int records_close(struct records *records, struct err *err);

/* Asks whether a run before did the i-th job. *verdict is VERDICT_TODO,
 * VERDICT_DONE or VERDICT_CHANGED: nobody can tell. Returns 0. On failure, and
 * if nobody can tell, it returns -1 with the reason. */
int records_check(struct records *records, size_t i, const struct job *job,
                  enum verdict *verdict, struct err *err);

/* Notes that a job is about to replace its own input, and by what, so that the
 * next run knows after a sudden end whether it was replaced. Other jobs are not
 * noted.
 * Returns 0, or -1 with the reason. */
int records_note_ready(struct records *records, const struct job *job,
                       const struct result *result, struct bytes output,
                       struct err *err);

/* Notes what became of a job, unless that is not known: the input of one that
 * was done has bytes. `failure` is NULL if it did not fail.
 * Returns 0, or -1 with the reason. */
int records_note_result(struct records *records, const struct job *job,
                        const struct result *result, const struct err *failure,
                        struct err *err);

/* ---- One NPY array that all pictures go into: --stack --------------------
 *
 * The first picture that is done decides the shape and the type of all. Each
 * goes to its place in the file as soon as it is done; the file gets its name
 * when all are there. */

/* Begins the array of `count` pictures that opts->stack names. The options must
 * outlive it. Returns 0, or -1 with the reason. */
int stack_open(struct stack **stack, const struct options *opts, size_t count,
               struct err *err);

/* Puts the i-th picture, which is an NPY file by itself, into the array;
 * `input` is its name, which must outlive the stack. *size becomes the bytes
 * that it takes there. Fails if it is unlike the first one. Any number of
 * threads may call it. Returns 0, or -1 with the reason. */
int stack_put(struct stack *stack, size_t i, const char *input,
              struct bytes npy, size_t *size, struct err *err);

/* Prints what became of the array, as the options ask; `err` is why it was not
 * written. */
void stack_report(const struct options *opts, enum written written,
                  const struct err *err);

/* Writes the file to its place if all pictures, so many, have been put, prints
 * that, and frees. Returns 0, or -1 if the file is not written. */
int stack_end(struct stack *stack, size_t done);

#endif
