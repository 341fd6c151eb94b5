/* The supervisor of worker processes: one thread, which waits in poll() and
 * nowhere else.
 *
 * Jobs stand in a ring of slots, from the first that is not answered. Each is
 * queued, then sent to the worker process, then answered; its answer waits in
 * the ring for those before it. If the process ends, the jobs that were sent
 * and not answered are queued again and sent in the same order: one at a time,
 * up to the last one that the process had begun. */
#include "cli/isolate/supervisor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "cli/files/signals.h"
#include "cli/isolate/worker_link.h"
#include "cli/report/report.h"

enum {
    UNSENT_MAX = 1 << 16, /* bytes of jobs that wait for the socket */
    FRUITLESS_MAX =
        3, /* processes in a row that ended before they began a job */
};

enum request_state { REQUEST_QUEUED, REQUEST_SENT, REQUEST_ANSWERED };

struct request {
    enum request_state state;
    struct job_message message; /* as it is sent */
    struct bytes text;
    bool suspect; /* a process ended while it did this job */
    struct supervisor_answer answer;
};

struct supervisor {
    const struct supervisor_opts *opts;
    struct note_table *table;
    size_t table_size;
    struct worker_link link;
    struct request *request;     /* a ring of opts->window, by slot */
    uint64_t first, next, given; /* the first not taken, sent, given */
    unsigned sent, suspects;     /* how many requests are */
    unsigned fruitless;
    bool started;   /* a process was ready */
    bool ended;     /* there are no more jobs */
    bool stopped;   /* and no more are to be begun */
    bool finishing; /* the process knows that there are no more */
    bool given_up;  /* no process can do the jobs that are left */
    bool failed;    /* a job, since the last wait, that no process answers */
    int asked;      /* the signal that asked for the end */
    enum outcome outcome;
};

static struct request *request_at(const struct supervisor *s, uint64_t number)
{
    return &s->request[number % s->opts->window];
}

/* ---- Jobs ---------------------------------------------------------------- */

bool supervisor_has_room(const struct supervisor *s)
{
    return s->started && !s->ended && s->given - s->first < s->opts->window;
}

void supervisor_give(struct supervisor *s, enum job_trouble trouble,
                     const void *text, size_t size)
{
    struct request *request = request_at(s, s->given);
    *request = (struct request){ 0 };
    bool kept =
        trouble == JOB_IS_TEXT && bytes_append(&request->text, text, size);
    request->message = (struct job_message){
        .slot = (uint32_t)(s->given % s->opts->window),
        .size = (uint32_t)request->text.size,
        .trouble = trouble != JOB_IS_TEXT ? trouble
                   : kept                 ? JOB_IS_TEXT
                                          : JOB_NO_MEMORY,
    };
    request->answer.number = s->given++;
}

/* Returns the next job to send, or NULL. Jobs are sent in order, since one may
 * need what an earlier one writes; and one at a time, as long as there are
 * suspects. */
static struct request *next_request(struct supervisor *s)
{
    if (s->stopped || (s->suspects && s->sent))
        return NULL;
    while (s->next < s->given &&
           request_at(s, s->next)->state != REQUEST_QUEUED)
        s->next++;
    return s->next < s->given ? request_at(s, s->next) : NULL;
}

/* ---- Answers ------------------------------------------------------------- */

static void take_answer(struct supervisor *s, struct request *request,
                        bool failed, const char *text, size_t size,
                        const char *why)
{
    (void)bytes_append(&request->answer.text, text, size);
    request->answer.failed = failed;
    request->answer.why = why;
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
    take_answer(s, request, true, NULL, 0, why);
    s->failed = true;
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
                message->size, NULL);
    return true;
}

bool supervisor_answer(struct supervisor *s, struct supervisor_answer *answer)
{
    const bool over = supervisor_is_over(s);
    bool found = false;
    while (!found && s->first < s->given) {
        struct request *request = request_at(s, s->first);
        found = request->state == REQUEST_ANSWERED;
        if (!found && !over)
            return false;
        bytes_free(&request->text);
        *answer = request->answer;
        *request = (struct request){ .state = REQUEST_ANSWERED };
        s->first++;
    }
    if (s->next < s->first)
        s->next = s->first;
    return found;
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
    for (uint64_t i = s->first; i < s->given; i++)
        if (request_at(s, i)->state != REQUEST_ANSWERED)
            fail_request(s, request_at(s, i), why);
}

static void start_process(struct supervisor *s)
{
    int child;
    fflush(stdout); /* what is printed once is not to be there twice */
    if (!worker_link_start(&s->link, &child))
        give_up(s, "no worker process can be started");
    else if (child >= 0)
        exit((int)s->opts->work(s->opts->context, child, s->table));
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
    for (uint64_t i = s->first; i < s->given; i++) {
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
    for (uint64_t i = s->first; i < s->given; i++)
        if (request_at(s, i)->state == REQUEST_SENT)
            requeue(s, request_at(s, i), status, begun == 1);
    s->next = s->first;
}

/* A process that ended before it was ready has printed why, if it could. One
 * that was killed, as where memory runs out, could not, and another is tried.
 */
static void end_unready(struct supervisor *s, int status)
{
    if (WIFSIGNALED(status) && ++s->fruitless < FRUITLESS_MAX)
        return;
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
    if (s->stopped || (s->finishing && well))
        return;
    if (s->finishing)
        give_up(s, "the worker process failed after its last job");
    else if (ready)
        queue_again(s, status);
    else
        end_unready(s, status);
}

/* ---- The loop ------------------------------------------------------------ */

void supervisor_finish(struct supervisor *s)
{
    s->ended = true;
}

void supervisor_stop(struct supervisor *s)
{
    s->ended = s->stopped = true;
}

/* Tells the process that there are no more jobs, if that is so. */
static void tell_end(struct supervisor *s)
{
    if (s->finishing || s->link.fd < 0)
        return;
    if (s->stopped)
        atomic_store(&s->table->ending, true);
    else if (!s->ended || s->first < s->given)
        return;
    shutdown(s->link.fd, SHUT_WR);
    s->finishing = true;
}

bool supervisor_is_over(const struct supervisor *s)
{
    bool idle = s->first == s->given;
    return s->link.fd < 0 &&
           (s->finishing || s->given_up || s->stopped || (s->ended && idle));
}

/* Does not wait if there is something already that the client must see. */
static void wait_and_receive(struct supervisor *s, struct pollfd *fds,
                             unsigned n, int milliseconds)
{
    const bool waits = !s->failed && !supervisor_is_over(s);
    const bool sends = s->link.fd >= 0 && worker_link_unsent(&s->link);
    struct pollfd all[SUPERVISOR_FDS_MAX + 1] = {
        { .fd = s->link.fd, .events = (short)(POLLIN | (sends ? POLLOUT : 0)) },
    };
    for (unsigned i = 0; i < n; i++)
        all[i + 1] = fds[i];
    int ready = signals_poll(all, n + 1, s->asked, waits ? milliseconds : 0);
    s->asked = signals_asked();
    s->failed = false;
    for (unsigned i = 0; i < n; i++)
        fds[i].revents = ready > 0 ? all[i + 1].revents : 0;
    if (ready > 0 && all[0].revents & ~POLLOUT &&
        !worker_link_receive(&s->link, on_answer, s))
        end_process(s);
    s->started = s->started || s->link.ready;
}

void supervisor_step(struct supervisor *s, struct pollfd *fds, unsigned n,
                     int milliseconds)
{
    if (s->link.fd < 0 && !supervisor_is_over(s) &&
        (next_request(s) || !s->started))
        start_process(s);
    if (s->link.ready)
        send_requests(s);
    tell_end(s);
    wait_and_receive(s, fds, n, milliseconds);
}

struct supervisor *supervisor_open(const struct supervisor_opts *opts)
{
    struct supervisor *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->opts = opts;
    s->link.fd = -1;
    s->table_size =
        sizeof(struct note_table) + opts->window * sizeof(struct job_note);
    s->request = calloc(opts->window, sizeof *s->request);
    s->table = mmap(NULL, s->table_size, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    signals_ask();
    if (s->request && s->table != MAP_FAILED) {
        start_process(s);
        return s;
    }
    (void)supervisor_close(s);
    return NULL;
}

enum outcome supervisor_close(struct supervisor *s)
{
    const enum outcome outcome = s->outcome;
    if (s->table != MAP_FAILED)
        munmap(s->table, s->table_size);
    free(s->request);
    free(s);
    return outcome;
}
