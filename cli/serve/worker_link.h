/* The supervisor's end of a worker process: to start it, send it jobs, receive
 * answers, and learn how it ended. None of these waits for the process but
 * where it says so. */
#ifndef CLI_SERVE_WORKER_LINK_H
#define CLI_SERVE_WORKER_LINK_H

#include <sys/types.h>

#include "cli/serve/wire.h"
#include "codecs/base/bytes.h"

/* {.fd = -1} at first. */
struct worker_link {
    pid_t pid;
    int fd;           /* -1: there is no process */
    bool ready;       /* it has said so */
    struct bytes out; /* messages on their way, */
    size_t out_at;    /* of which so much is sent */
    struct bytes in;  /* what was received and is no whole answer yet */
};

/* Is called for an answer, whose text is text[0..size); returns false if the
 * answer is none, after which the process is ended. */
typedef bool worker_answers(void *context, const struct answer_message *message,
                            const char *text);

/* Starts a process that runs `work` and exits with what it returns. Returns
 * false if that cannot be, by errno. */
bool worker_link_start(struct worker_link *link,
                       int (*work)(void *context, int fd), void *context);

/* Adds a job to what is on its way. Returns false if there is no memory. */
bool worker_link_add(struct worker_link *link,
                     const struct job_message *message, const char *text);

/* Bytes that are on their way. */
size_t worker_link_unsent(const struct worker_link *link);

/* Sends what the socket takes. */
void worker_link_send(struct worker_link *link);

/* Receives what is there. Returns false once the process has closed its end:
 * there will be no more. */
bool worker_link_receive(struct worker_link *link, worker_answers *answers,
                         void *context);

/* Drops the first *at bytes when they are many or all, so that what is appended
 * at one end and taken from the other does not grow. */
void worker_link_drop(struct bytes *bytes, size_t *at);

/* Tells the process that there are no more jobs. */
void worker_link_finish(struct worker_link *link);

/* Waits until the process has ended, and returns its wait status. */
int worker_link_end(struct worker_link *link);

#endif
