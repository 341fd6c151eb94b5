/* The supervisor of serve: one thread, which waits in poll() and nowhere else.
 *
 * Jobs stand in a ring of slots, from the first that is not answered. Each is
 * queued, then sent to the worker process, then answered; its answer waits in
 * the ring for those before it. If the process ends, the jobs that were sent
 * and not answered are queued again and sent in the same order: one at a time,
 * up to the last one that the process had begun. */
#include "cli/serve/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/files/signals.h"
#include "cli/json/json_read.h"
#include "cli/report/report.h"
#include "cli/select/line_reader.h"
#include "cli/serve/worker_link.h"

enum {
    UNSENT_MAX = 1 << 16, /* bytes of jobs that wait for the socket */
    WRITE_MAX = 4096,     /* a pipe that poll() calls writable takes these */
    FRUITLESS_MAX =
        3, /* processes in a row that ended before they began a job */
};

enum request_state { REQUEST_QUEUED, REQUEST_SENT, REQUEST_ANSWERED };

struct request {
    enum request_state state;
    struct job_message message; /* as it is sent */
    struct bytes text;
    bool suspect;        /* a process ended while it did this job */
    struct bytes answer; /* empty: one without details */
    bool failed;
};

struct supervisor {
    const struct supervisor_opts *opts;
    struct serve_table *table;
    struct worker_link link;
    struct line_reader jobs;
    struct request *request;    /* a ring of opts->window, by slot */
    uint64_t first, next, read; /* the first not answered, sent, read */
    unsigned sent, suspects;    /* how many requests are */
    unsigned fruitless;
    struct bytes out; /* answers on their way, */
    size_t out_at;    /* of which so much is written */
    bool started;     /* a process was ready */
    bool ended;       /* there are no more jobs */
    bool unread;      /* standard input could not be read */
    bool finishing;   /* the process knows that there are no more */
    bool given_up;    /* no process can do the jobs that are left */
    int asked;        /* the signal that asked for the end */
    int write_error;
    size_t failed;
    enum outcome outcome;
};

static struct request *request_at(const struct supervisor *s, uint64_t number)
{
    return &s->request[number % s->opts->window];
}

static bool is_ending(const struct supervisor *s)
{
    return s->asked || s->write_error;
}

/* ---- Jobs ---------------------------------------------------------------- */

static void add_request(struct supervisor *s, enum line got, const char *line,
                        size_t size)
{
    struct request *request = request_at(s, s->read);
    *request = (struct request){ 0 };
    bool kept = got == LINE_READ && bytes_append(&request->text, line, size);
    request->message = (struct job_message){
        .slot = (uint32_t)(s->read % s->opts->window),
        .size = (uint32_t)request->text.size,
        .trouble = got == LINE_TOO_LONG ? JOB_TOO_LONG
                   : kept               ? JOB_IS_TEXT
                                        : JOB_NO_MEMORY,
    };
    s->read++;
}

static bool has_room(const struct supervisor *s)
{
    return !s->ended && s->read - s->first < s->opts->window;
}

/* Reads the jobs that are there, as far as there is room for them. */
static void read_jobs(struct supervisor *s)
{
    enum line got = LINE_READ;
    while (has_room(s)) {
        char *line;
        size_t size;
        got = line_reader_next(&s->jobs, &line, &size);
        if (got == LINE_LATER)
            return;
        s->unread = got == LINE_FAILED;
        s->ended = got == LINE_FAILED || got == LINE_NONE;
        if (!s->ended)
            add_request(s, got, line, size);
    }
}

/* Returns the next job to send, or NULL. Jobs are sent in order, since one may
 * need what an earlier one writes; and one at a time, as long as there are
 * suspects. */
static struct request *next_request(struct supervisor *s)
{
    if (is_ending(s) || (s->suspects && s->sent))
        return NULL;
    while (s->next < s->read && request_at(s, s->next)->state != REQUEST_QUEUED)
        s->next++;
    return s->next < s->read ? request_at(s, s->next) : NULL;
}

/* ---- Answers ------------------------------------------------------------- */

static void take_answer(struct supervisor *s, struct request *request,
                        bool failed, const char *text, size_t size)
{
    (void)bytes_append(&request->answer, text, size);
    request->failed = failed;
    s->sent -= request->state == REQUEST_SENT;
    s->suspects -= request->suspect;
    request->suspect = false;
    request->state = REQUEST_ANSWERED;
    bytes_free(&request->text);
}

/* Answers a job for which no process lives. */
static void fail_request(struct supervisor *s, struct request *request,
                         const char *why)
{
    char text[256];
    int n = snprintf(text, sizeof text,
                     "{\"status\": \"failed\", \"warnings\": [], "
                     "\"error\": \"%s\"}\n",
                     why);
    take_answer(s, request, true, text, (size_t)n);
}

static bool on_answer(void *context, const struct answer_message *message,
                      const char *text)
{
    struct supervisor *s = context;
    if (message->slot >= s->opts->window ||
        s->request[message->slot].state != REQUEST_SENT)
        return false;
    s->fruitless = 0;
    take_answer(s, &s->request[message->slot], message->failed != 0, text,
                message->size);
    return true;
}

/* Appends an answer to those on their way. Returns false without memory. */
static bool queue_answer(struct supervisor *s, const struct request *request)
{
    static const char done[] = "{\"status\": \"done\", \"warnings\": [\"no "
                               "memory for the rest of this "
                               "answer\"], \"error\": null}\n";
    static const char failed[] =
        "{\"status\": \"failed\", \"warnings\": [], \"error\": \"no memory for "
        "the answer\"}\n";
    const char *plain = request->failed ? failed : done;
    worker_link_drop(&s->out, &s->out_at);
    return request->answer.size ? bytes_append(&s->out, request->answer.data,
                                               request->answer.size)
                                : bytes_append(&s->out, plain, strlen(plain));
}

/* Queues the answers whose turn it is, or all if there will be no more. */
static void queue_answers(struct supervisor *s, bool all)
{
    for (; s->first < s->read; s->first++) {
        struct request *request = request_at(s, s->first);
        if (request->state != REQUEST_ANSWERED) {
            if (!all)
                break;
            bytes_free(&request->text);
            continue;
        }
        if (s->out.size - s->out_at > UNSENT_MAX && !all)
            break;
        s->failed += request->failed;
        if (!s->write_error && !queue_answer(s, request))
            s->write_error = ENOMEM;
        bytes_free(&request->answer);
    }
    if (s->next < s->first)
        s->next = s->first;
}

/* To be called when poll() says that the answers take some bytes. */
static void write_answers(struct supervisor *s)
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

/* ---- The worker process -------------------------------------------------- */

/* Fails all jobs that are left. `why` is NULL if it is printed already. */
static void give_up(struct supervisor *s, const char *why)
{
    s->given_up = true;
    s->outcome = OUTCOME_FAILED;
    if (why)
        report_error(NULL, why);
    else
        why = "no worker process can be started";
    for (uint64_t i = s->first; i < s->read; i++)
        if (request_at(s, i)->state != REQUEST_ANSWERED)
            fail_request(s, request_at(s, i), why);
}

static void start_process(struct supervisor *s)
{
    int child;
    if (!worker_link_start(&s->link, &child)) {
        give_up(s, "no worker process can be started");
    } else if (child >= 0) {
        close(s->opts->answers);
        exit((int)s->opts->work(s->opts->context, child, s->table));
    }
}

static void send_requests(struct supervisor *s)
{
    struct request *request;
    while (worker_link_unsent(&s->link) < UNSENT_MAX &&
           (request = next_request(s))) {
        atomic_store(&s->table->note[request->message.slot].step, JOB_WAITS);
        if (!worker_link_add(&s->link, &request->message,
                             (char *)request->text.data)) {
            fail_request(s, request, "no memory for a job");
            continue;
        }
        request->state = REQUEST_SENT;
        s->sent++;
    }
    worker_link_send(&s->link);
}

/* Notes how far the process had come with a job. An earlier note that says more
 * stays: a process that only looks whether an output was written does not write
 * it. */
static void note_past(const struct supervisor *s, struct request *request)
{
    const struct job_note *note = &s->table->note[request->message.slot];
    struct job_past *past = &request->message.past;
    unsigned step = atomic_load(&note->step);
    if (step < past->step)
        return;
    past->step = (enum job_step)step;
    past->before = note->before;
}

static unsigned count_begun(const struct supervisor *s)
{
    unsigned begun = 0;
    for (uint64_t i = s->first; i < s->read; i++) {
        const struct request *request = request_at(s, i);
        begun += request->state == REQUEST_SENT &&
                 atomic_load(&s->table->note[request->message.slot].step) !=
                     JOB_WAITS;
    }
    return begun;
}

/* Queues a job again that was sent to a process which has ended. */
static void requeue(struct supervisor *s, struct request *request, int status,
                    bool only_report)
{
    unsigned step = atomic_load(&s->table->note[request->message.slot].step);
    request->state = REQUEST_QUEUED;
    s->sent--;
    if (step == JOB_WAITS)
        return;
    /* There is no such step: the process wrote where it must not. */
    if (request->message.only_report || step >= JOB_STEPS) {
        fail_request(s, request,
                     "the job ended its process; whether the output was "
                     "written is not known");
        return;
    }
    note_past(s, request);
    s->suspects += !request->suspect;
    request->suspect = true;
    request->message.again = true;
    request->message.only_report = only_report;
    request->message.status = status;
}

/* Queues the jobs of the process again. The next process is started for the
 * first of them. */
static void queue_again(struct supervisor *s, int status)
{
    unsigned begun = count_begun(s);
    if (begun)
        s->fruitless = 0;
    else if (s->sent && ++s->fruitless == FRUITLESS_MAX)
        give_up(s, "the worker process ends again and again");
    for (uint64_t i = s->first; i < s->read; i++)
        if (request_at(s, i)->state == REQUEST_SENT)
            requeue(s, request_at(s, i), status, begun == 1);
    s->next = s->first;
}

/* A process that ended before it was ready has printed why, if it could. */
static void end_unready(struct supervisor *s, int status)
{
    bool no_device =
        WIFEXITED(status) && WEXITSTATUS(status) == OUTCOME_NO_DEVICE;
    give_up(s, WIFEXITED(status) && !s->started
                   ? NULL
                   : "a worker process ended before it was ready");
    s->outcome = no_device ? OUTCOME_NO_DEVICE : OUTCOME_FAILED;
}

static void end_process(struct supervisor *s)
{
    bool ready = s->link.ready;
    int status = worker_link_end(&s->link);
    bool well = WIFEXITED(status) && WEXITSTATUS(status) == OUTCOME_DONE;
    if (is_ending(s) || (s->finishing && well))
        return;
    if (s->finishing)
        give_up(s, "the worker process failed after its last job");
    else if (ready)
        queue_again(s, status);
    else
        end_unready(s, status);
}

/* ---- The loop ------------------------------------------------------------ */

/* Tells the process that there are no more jobs, if that is so. */
static void finish(struct supervisor *s)
{
    if (s->finishing || s->link.fd < 0)
        return;
    if (is_ending(s))
        atomic_store(&s->table->ending, true);
    else if (!s->ended || s->first < s->read)
        return;
    shutdown(s->link.fd, SHUT_WR);
    s->finishing = true;
}

static bool is_over(const struct supervisor *s)
{
    bool idle = s->first == s->read;
    return s->link.fd < 0 &&
           (s->finishing || s->given_up || is_ending(s) || (s->ended && idle));
}

static void wait_and_act(struct supervisor *s)
{
    bool reads = s->started && !is_ending(s) && has_room(s);
    bool sends = s->link.fd >= 0 && worker_link_unsent(&s->link);
    bool writes = s->out_at < s->out.size;
    struct pollfd fds[3] = {
        { .fd = reads ? s->opts->jobs : -1, .events = POLLIN },
        { .fd = s->link.fd, .events = POLLIN | (sends ? POLLOUT : 0) },
        { .fd = writes ? s->opts->answers : -1, .events = POLLOUT },
    };
    int ready = signals_poll(fds, 3, s->asked);
    s->asked = signals_asked();
    if (ready <= 0)
        return;
    if (fds[2].revents)
        write_answers(s);
    if (fds[0].revents)
        s->jobs.readable = true;
    if (fds[1].revents & ~POLLOUT &&
        !worker_link_receive(&s->link, on_answer, s))
        end_process(s);
}

static void run(struct supervisor *s)
{
    start_process(s);
    while (!is_over(s)) {
        s->started = s->started || s->link.ready;
        queue_answers(s, false);
        if (s->started && !is_ending(s))
            read_jobs(s);
        if (s->link.fd < 0 && next_request(s))
            start_process(s);
        if (s->link.ready)
            send_requests(s);
        finish(s);
        wait_and_act(s);
    }
    queue_answers(s, true);
    while (s->out_at < s->out.size) {
        struct pollfd fd = { .fd = s->opts->answers, .events = POLLOUT };
        if (signals_poll(&fd, 1, s->asked) > 0)
            write_answers(s);
        s->asked = signals_asked();
    }
    if (s->unread)
        report_error(NULL, "standard input cannot be read");
    if ((s->unread || s->failed) && s->outcome == OUTCOME_DONE)
        s->outcome = OUTCOME_FAILED;
}

struct supervised supervisor_run(const struct supervisor_opts *opts)
{
    size_t table_size =
        sizeof(struct serve_table) + opts->window * sizeof(struct job_note);
    struct supervisor s = {
        .opts = opts,
        .link = { .fd = -1 },
        .jobs = { .fd = opts->jobs,
                  .end = opts->end,
                  .most = JSON_SIZE_MAX,
                  .polled = true },
        .request = calloc(opts->window, sizeof *s.request),
        .table = mmap(NULL, table_size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0),
    };
    signals_ask();
    if (s.request && s.table != MAP_FAILED) {
        run(&s);
    } else {
        report_error(NULL, "no memory");
        s.outcome = OUTCOME_FAILED;
    }
    line_reader_free(&s.jobs);
    bytes_free(&s.out);
    free(s.request);
    if (s.table != MAP_FAILED)
        munmap(s.table, table_size);
    return (struct supervised){ s.outcome, s.write_error };
}
