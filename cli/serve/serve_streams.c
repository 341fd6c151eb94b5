/* Jobs from one stream, answers to another: what comes is read, and what is
 * answered is written, as soon as poll() says that neither has to be waited
 * for. */
#include "cli/serve/serve_streams.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/files/files.h"
#include "cli/files/signals.h"
#include "cli/isolate/worker_link.h"
#include "cli/json/json.h"
#include "cli/report/report.h"

enum {
    UNSENT_MAX = 1 << 16, /* bytes of answers that wait for their reader */
    WRITE_MAX = 4096,     /* a pipe that poll() calls writable takes these */
};

struct serve_streams {
    const struct serve_streams_opts *opts;
    struct supervisor *supervisor;
    struct line_reader jobs;
    struct bytes out; /* answers on their way, */
    size_t out_at;    /* of which so much is written */
    bool ended;       /* there are no more jobs */
    bool unread;      /* they could not be read */
    int write_error;
    size_t failed;
};

static bool is_ending(const struct serve_streams *s)
{
    return signals_asked() || s->write_error;
}

static bool reads(const struct serve_streams *s)
{
    return !s->ended && !is_ending(s) && supervisor_has_room(s->supervisor);
}

/* Reads the jobs that are there, as far as there is room for them. */
static void read_jobs(struct serve_streams *s)
{
    char *line = NULL;
    size_t size = 0;
    while (reads(s)) {
        enum line got = line_reader_next(&s->jobs, &line, &size);
        if (got == LINE_LATER)
            return;
        s->unread = got == LINE_FAILED;
        s->ended = got == LINE_FAILED || got == LINE_NONE;
        if (!s->ended)
            supervisor_give(s->supervisor,
                            got == LINE_TOO_LONG ? JOB_TOO_LONG : JOB_IS_TEXT,
                            line, size);
    }
}

/* Appends an answer to those on their way. Returns false without memory. */
static bool queue_answer(struct serve_streams *s,
                         const struct supervisor_answer *answer)
{
    static const char done[] = "{\"status\": \"done\", \"warnings\": [\"no "
                               "memory for the rest of this "
                               "answer\"], \"error\": null}\n";
    const char *plain = done;
    char failed[256];
    if (answer->failed) {
        snprintf(failed, sizeof failed,
                 "{\"status\": \"failed\", \"warnings\": [], "
                 "\"error\": \"%s\"}\n",
                 answer->why ? answer->why : "no memory for the answer");
        plain = failed;
    }
    worker_link_drop(&s->out, &s->out_at);
    return answer->text.size
               ? bytes_append(&s->out, answer->text.data, answer->text.size)
               : bytes_append(&s->out, plain, strlen(plain));
}

/* Queues the answers whose turn it is; all of them if there will be no more. */
static void queue_answers(struct serve_streams *s)
{
    const bool all = supervisor_is_over(s->supervisor);
    struct supervisor_answer answer;
    while ((all || s->out.size - s->out_at <= UNSENT_MAX) &&
           supervisor_answer(s->supervisor, &answer)) {
        s->failed += answer.failed;
        if (!s->write_error && !queue_answer(s, &answer))
            s->write_error = ENOMEM;
        bytes_free(&answer.text);
    }
}

/* To be called when poll() says that the answers take some bytes. */
static void write_answers(struct serve_streams *s)
{
    size_t left = s->out.size - s->out_at;
    ssize_t n = write(s->opts->answers, s->out.data + s->out_at,
                      left < WRITE_MAX ? left : WRITE_MAX);
    if (n >= 0)
        s->out_at += (size_t)n;
    else if (errno != EINTR && errno != EAGAIN)
        s->write_error = errno;
    if (s->write_error)
        s->out_at = s->out.size;
}

static void step(struct serve_streams *s)
{
    const bool writes = s->out_at < s->out.size;
    struct pollfd fds[2] = {
        { .fd = reads(s) ? s->opts->jobs : -1, .events = POLLIN },
        { .fd = writes ? s->opts->answers : -1, .events = POLLOUT },
    };
    supervisor_step(s->supervisor, fds, 2, -1);
    if (fds[1].revents)
        write_answers(s);
    if (fds[0].revents)
        s->jobs.readable = true;
}

static void serve(struct serve_streams *s)
{
    while (!supervisor_is_over(s->supervisor)) {
        queue_answers(s);
        read_jobs(s);
        if (is_ending(s))
            supervisor_stop(s->supervisor);
        else if (s->ended)
            supervisor_finish(s->supervisor);
        step(s);
    }
    queue_answers(s);
    while (s->out_at < s->out.size) {
        struct pollfd fd = { .fd = s->opts->answers, .events = POLLOUT };
        if (signals_poll(&fd, 1, signals_asked(), -1) > 0)
            write_answers(s);
    }
    if (s->unread)
        report_error(NULL, "standard input cannot be read");
}

struct served serve_streams_run(const struct serve_streams_opts *opts)
{
    struct serve_streams s = {
        .opts = opts,
        .jobs = { .fd = opts->jobs,
                  .end = opts->end,
                  .most = JSON_SIZE_MAX,
                  .polled = true },
        .supervisor = supervisor_open(&opts->supervisor),
    };
    enum outcome outcome = OUTCOME_FAILED;
    if (s.supervisor) {
        serve(&s);
        outcome = supervisor_close(s.supervisor);
    } else {
        report_error(NULL, "no memory");
    }
    if ((s.unread || s.failed) && outcome == OUTCOME_DONE)
        outcome = OUTCOME_FAILED;
    line_reader_free(&s.jobs);
    bytes_free(&s.out);
    return (struct served){ outcome, s.write_error };
}
