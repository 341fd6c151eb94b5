/* The jobs of a worker pool, from the first that its client has not taken: each
 * waits, then is sent to a process, then has ended. What comes in are answers
 * and ends of processes; what goes out is what became of each job. */
#ifndef CLI_ISOLATE_JOB_QUEUE_H
#define CLI_ISOLATE_JOB_QUEUE_H

#include <sys/stat.h>

#include "cli/isolate/worker.h"

/* What a file is known by, as hashes; 0: it is not known by that. If two files
 * have the same hash by chance, a job waits that would not need to. */
struct file_keys {
    uint64_t name;  /* its canonical name, which a replaced file keeps */
    uint64_t inode; /* itself, if it exists */
};

struct request {
    enum { REQUEST_WAITS, REQUEST_SENT, REQUEST_ENDED } state;
    struct job job;
    struct job_text {
        const void *data;
        size_t size;
    } text;
    struct file_keys input, output;
    unsigned earlier;   /* jobs that share a file, and have not ended */
    unsigned worker;    /* that it was sent to, */
    uint64_t order;     /* after so many others, */
    struct stat before; /* when this was its output; {0}: none */
    bool unread;        /* its process ended before it read it */
    bool alone;         /* its process ended, while it had other jobs, too, */
};

struct job_queue_opts {
    unsigned window;  /* jobs that may be given and not taken */
    bool many;        /* one process does several at a time */
    bool ordered;     /* jobs that share a file */
    const char *root; /* the directory where names of files start, or NULL */
    /* Is called when a job has ended, in any order. end->added is not checked.
     */
    void (*ended)(void *context, uint64_t number, const struct job_end *end);
    void *context;
};

struct job_queue {
    const struct job_queue_opts *opts;
    struct request *request;     /* a ring of opts->window */
    uint64_t first, next, given; /* the first not taken; not sent; none */
    size_t sent, ended, alone;   /* how many requests are */
    uint64_t sends;              /* how many have been, or again */
    struct job_end *end;         /* that the client is told */
    bool told;                   /* it was; the pool's to take back */
};

/* Returns a request by the number of its job. */
struct request *job_queue_at(const struct job_queue *queue, uint64_t i);

/* See worker_pool_give() and worker_pool_take(). */
void job_queue_give(struct job_queue *queue, const struct job *job,
                    const void *text, size_t size);
bool job_queue_take(struct job_queue *queue, bool over, uint64_t *number);

/* Returns the first job that can be sent, or NULL. */
struct request *job_queue_next(struct job_queue *queue);

/* Notes that it is sent to this process. */
void job_queue_send(struct job_queue *queue, struct request *request,
                    unsigned worker);

/* Tells the client that a job has failed, for this reason. */
void job_queue_fail(struct job_queue *queue, uint64_t i, const char *why);

/* Tells the client what queue->end says of a job, of which so many bytes were
 * received. Returns false if that cannot have become of it: then it has failed.
 */
bool job_queue_answer(struct job_queue *queue, uint64_t i, size_t size);

/* Ends the jobs that a process had when it ended. A job that it had not begun
 * waits again: the later one of two; or the only one, if what was sent last is
 * unread, but not twice. */
void job_queue_bury(struct job_queue *queue, unsigned worker, unsigned jobs,
                    bool unread, int status);

#endif
