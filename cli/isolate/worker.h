/* The worker process, which does the jobs: several side by side, as a batch
 * does them, and answers each as soon as it is done. supervisor.h says what
 * happens when it ends. */
#ifndef CLI_ISOLATE_WORKER_H
#define CLI_ISOLATE_WORKER_H

#include "cli/isolate/wire.h"
#include "cli/schedule/scheduler.h"
#include "codecs/base/bytes.h"

struct worker_process;

/* A job in the worker, {0} at first: the beginning of a struct of the client's.
 */
struct worker_task {
    struct worker_process *process;
    struct job_message message;
    char *text; /* message.size bytes, and a NUL */
    struct job job;
    struct scheduled_job scheduled;
    bool written_before; /* the process before has written the output */
    uint64_t number;     /* in the order of jobs that share a file */
    struct result result;
    struct err err;
    int status;
};

struct worker_opts {
    const struct options *opts;
    struct scheduler *scheduler;
    unsigned window;     /* notes in the table */
    atomic_size_t *left; /* jobs that are not done yet; NULL: nobody knows */
    size_t task_size;    /* of the client's struct */
    const char *root;    /* the directory where names of files start, or NULL */
    /* Sets task->job by the text, or if that was too long, which the message
     * says, as far as it can. Returns 0, or -1 with the reason for which the
     * job fails. */
    int (*read)(void *context, struct worker_task *task, struct err *err);
    /* Is called before the job begins. Returns whether it is to be done; if
     * not, status, err and result are set. May be NULL. */
    bool (*begin)(void *context, struct worker_task *task);
    /* Is called when the output is made and about to be written. May set *mark,
     * which a later process finds in worker_mark(). Returns 0, or -1 with the
     * reason for which the job fails. May be NULL. */
    int (*ready)(void *context, struct worker_task *task, struct bytes output,
                 uint64_t *mark, struct err *err);
    /* Is called when the job has ended, in whichever process. May be NULL. */
    void (*end)(void *context, struct worker_task *task);
    /* Appends the answer to *text. Returns false without memory. */
    bool (*answer)(void *context, const struct worker_task *task,
                   struct bytes *text);
    /* Frees what the client holds. May be NULL. */
    void (*release)(void *context, struct worker_task *task);
    void *context;
};

/* Receives jobs from a socket until the supervisor closes it. `table` is shared
 * with the supervisor. Returns the outcome of the process, not of the jobs,
 * which their answers tell. */
enum outcome worker_run(const struct worker_opts *opts, int fd,
                        struct note_table *table);

/* Begins no more jobs: these are not answered. Any thread may call it. */
void worker_stop(struct worker_process *process);

/* Writes how the process before ended that had begun this job too, as "by
 * signal 11 (Segmentation fault)". It has, if task->message.again. */
void worker_describe_end(const struct worker_task *task, char *text,
                         size_t size);

/* Returns what the process that wrote the output of a job has noted for it. */
uint64_t worker_mark(const struct worker_task *task);

#endif
