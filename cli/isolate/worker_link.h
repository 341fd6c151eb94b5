/* The supervisor's end of a worker process: starts it, sends it jobs, receives
 * answers, and learns how it ended. Only worker_link_end() waits for the
 * process. */
#ifndef CLI_ISOLATE_WORKER_LINK_H
#define CLI_ISOLATE_WORKER_LINK_H

#include <sys/types.h>

#include "cli/isolate/wire.h"
#include "codecs/base/bytes.h"

/* {.fd = -1} at first. */
struct worker_link {
    pid_t pid;
    int fd;           /* -1: there is no process */
    bool ready;       /* it has said so */
    struct bytes out; /* messages on their way, */
    size_t out_at;    /* of which so much is sent */
    struct bytes in;  /* received, and not a whole answer yet */
};

/* Is called for an answer and its message->size bytes of text. Returns false if
 * it cannot be an answer; then the process is ended. */
typedef bool worker_answers(void *context, const struct answer_message *message,
                            const char *text);

/* Starts a process, as fork() does. Sets *child to the end of the socket in the
 * new process, and to -1 in this one. On failure it returns false and sets
 * errno. */
bool worker_link_start(struct worker_link *link, int *child);

/* Appends a job to the messages on their way. Returns false if there is no
 * memory. */
bool worker_link_add(struct worker_link *link,
                     const struct job_message *message, const char *text);

/* Returns the bytes that are on their way. */
size_t worker_link_unsent(const struct worker_link *link);

/* Sends as much as the socket takes. */
void worker_link_send(struct worker_link *link);

/* Receives what is there. Returns false once the process has closed its end: no
 * more will come. */
bool worker_link_receive(struct worker_link *link, worker_answers *answers,
                         void *context);

/* Drops the first *at bytes if they are many or all, so that bytes which are
 * appended at one end and taken from the other do not grow. */
void worker_link_drop(struct bytes *bytes, size_t *at);

/* Waits until the process has ended, and returns its wait status. */
int worker_link_end(struct worker_link *link);

#endif
