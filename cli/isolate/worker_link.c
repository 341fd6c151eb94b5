/* The supervisor's end of a worker process. */
#include "cli/isolate/worker_link.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/files/signals.h"

/* Bytes that are received at a time. */
enum { STEP = 1 << 16 };

bool worker_link_start(struct worker_link *link, int *child)
{
    int fds[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
        return false;
    *link = (struct worker_link){ .fd = fds[0] };
    link->pid = signals_fork();
    if (link->pid == 0) {
        close(fds[0]);
        signals_follow(parent);
        *child = fds[1];
        return true;
    }
    close(fds[1]);
    *child = -1;
    if (link->pid > 0)
        return true;
    close(fds[0]);
    link->fd = -1;
    return false;
}

void worker_link_drop(struct bytes *bytes, size_t *at)
{
    size_t left = bytes->size - *at;
    if (left && *at < STEP)
        return;
    if (left)
        memmove(bytes->data, bytes->data + *at, left);
    bytes->size = left;
    *at = 0;
}

bool worker_link_add(struct worker_link *link,
                     const struct job_message *message, const char *text)
{
    struct bytes *out = &link->out;
    worker_link_drop(out, &link->out_at);
    if (!bytes_reserve(out, sizeof *message + message->size))
        return false;
    (void)bytes_append(out, message, sizeof *message);
    (void)bytes_append(out, text, message->size);
    return true;
}

size_t worker_link_unsent(const struct worker_link *link)
{
    return link->out.size - link->out_at;
}

void worker_link_send(struct worker_link *link)
{
    while (worker_link_unsent(link)) {
        ssize_t n = send(link->fd, link->out.data + link->out_at,
                         worker_link_unsent(link), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0)
            link->out_at += (size_t)n;
        else if (n < 0 && errno == EPIPE)
            link->out_at = link->out.size; /* receiving finds the end */
        else if (n < 0 && errno != EINTR)
            return;
    }
}

/* Passes on all whole answers. */
static bool pass_on(struct worker_link *link, worker_answers *answers,
                    void *context)
{
    struct bytes *in = &link->in;
    struct answer_message message;
    size_t at = 0;
    while (in->size - at >= sizeof message) {
        memcpy(&message, in->data + at, sizeof message);
        if (message.size > ANSWER_MAX)
            return false;
        if (in->size - at - sizeof message < message.size)
            break;
        at += sizeof message;
        if (message.slot == ANSWER_READY)
            link->ready = true;
        else if (!answers(context, &message, (char *)in->data + at))
            return false;
        at += message.size;
    }
    if (at) {
        memmove(in->data, in->data + at, in->size - at);
        in->size -= at;
    }
    return true;
}

bool worker_link_receive(struct worker_link *link, worker_answers *answers,
                         void *context)
{
    struct bytes *in = &link->in;
    for (;;) {
        if (!bytes_reserve(in, STEP))
            break;
        ssize_t n = recv(link->fd, in->data + in->size, STEP, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno == ECONNRESET))
            return false;
        if (n < 0 && errno == EAGAIN)
            return true;
        in->size += n > 0 ? (size_t)n : 0;
        if (!pass_on(link, answers, context))
            break;
        if (n > 0 && n < STEP)
            return true;
    }
    kill(link->pid, SIGKILL); /* it no longer speaks the protocol */
    return false;
}

int worker_link_end(struct worker_link *link)
{
    int status = signals_wait_for(link->pid);
    close(link->fd);
    bytes_free(&link->out);
    bytes_free(&link->in);
    *link = (struct worker_link){ .fd = -1 };
    return status;
}
