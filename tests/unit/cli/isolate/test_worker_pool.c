/* The pool of worker processes, with processes that follow the text of a job:
 * they answer, die, or send what nobody understands. */
#include "cli/isolate/worker_pool.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/files/signals.h"
#include "codecs/codec.h"
#include "tests/support/test.h"

enum { JOBS_MOST = 512, MEMORY = 1 << 20 };

static char output[] = "/tmp/test_worker_pool.XXXXXX";

/* ---- A worker process -----------------------------------------------------
 */

static bool send_all(int fd, const void *data, size_t size)
{
    return send(fd, data, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool receive_all(int fd, void *data, size_t size)
{
    return recv(fd, data, size, MSG_WAITALL) == (ssize_t)size;
}

static _Noreturn void die(int number)
{
    signal(number, SIG_DFL);
    raise(number);
    abort();
}

/* Answers a job: it has failed, for this reason, if that begins so. */
static void answer(int fd, const char *text)
{
    struct job_end end = { .status = strncmp(text, "fail", 4) ? 0 : -1 };
    if (end.status)
        fail(&end.err, "%s", text);
    warn(&end.result.warnings, "%s", text);
    end.result.from = strcmp(text, "lies") == 0 ? NULL : codecs[0];
    end.result.to = codecs[0];
    const struct worker_message message = { .kind = WORKER_ENDED,
                                            .size =
                                                (uint32_t)job_end_size(&end) };
    if (send_all(fd, &message, sizeof message))
        send_all(fd, &end, message.size);
}

static void want(int fd, enum resource what, uint64_t amount)
{
    const struct worker_message message = { .kind = WORKER_WANTS,
                                            .what = what,
                                            .amount = amount };
    struct job_message given = { .left = 0 };
    send_all(fd, &message, sizeof message);
    receive_all(fd, &given, sizeof given);
    answer(fd, given.left ? "given" : "given nothing");
}

static void write_output(void)
{
    char name[64];
    snprintf(name, sizeof name, "%s.new", output);
    close(open(name, O_WRONLY | O_CREAT, 0600));
    rename(name, output);
}

static void do_job(int fd, const char *text)
{
    const struct worker_message huge = { .kind = WORKER_ENDED,
                                         .size = UINT32_MAX };
    const struct worker_message half = { .kind = WORKER_ENDED,
                                         .size = sizeof(struct job_end) };
    const struct worker_message odd = { .kind = WORKER_ENDED + 7 };
    if (strcmp(text, "dies") == 0)
        die(SIGSEGV);
    if (strcmp(text, "exits") == 0)
        _exit(0);
    if (strcmp(text, "says too much") == 0)
        send_all(fd, &huge, sizeof huge), pause();
    if (strcmp(text, "says what nobody knows") == 0)
        send_all(fd, &odd, sizeof odd), pause();
    if (strcmp(text, "says half") == 0) {
        send_all(fd, &half, sizeof half - 3);
        die(SIGSEGV);
    }
    if (strcmp(text, "writes and dies") == 0)
        write_output(), die(SIGSEGV);
    if (strcmp(text, "wants") == 0)
        want(fd, RESOURCE_CELLS, 100 * MEMORY);
    else if (strcmp(text, "wants processors") == 0)
        want(fd, RESOURCE_PROCESSORS, 3);
    else
        answer(fd, text);
}

static enum outcome work(void *context, const struct worker_start *start)
{
    const struct worker_message ready = { .kind = WORKER_READY };
    struct job_message message;
    char text[64];
    (void)context;
    send_all(start->fd, &ready, sizeof ready);
    while (receive_all(start->fd, &message, sizeof message) &&
           message.size < sizeof text &&
           receive_all(start->fd, text, message.size)) {
        text[message.size] = '\0';
        do_job(start->fd, text);
    }
    return OUTCOME_DONE;
}

/* ---- The other side -------------------------------------------------------
 */

struct told {
    char text[JOBS_MOST][128];
    unsigned taken;
};

static void ended(void *context, void *task, const struct job_end *end)
{
    struct told *told = context;
    const struct warnings *warnings = &end->result.warnings;
    snprintf(told->text[*(unsigned *)task], sizeof *told->text, "%.100s",
             end->status ? end->err.text : warnings->list[0].text);
}

/* Has the pool do these jobs, of which all but those of a fresh name have one
 * output. */
static enum outcome run(const char *const *job, unsigned jobs,
                        struct told *told)
{
    const struct options opts = { .threads = 2, .limits = { .bytes = MEMORY } };
    const struct worker_pool_opts pool_opts = {
        .opts = &opts,
        .jobs = SIZE_MAX,
        .task_size = sizeof(unsigned),
        .ended = ended,
        .work = work,
        .context = told,
    };
    const struct job names = { .input = "in", .output = output };
    const int heard = dup(STDERR_FILENO);
    struct worker_pool *pool = worker_pool_open(&pool_opts);
    unsigned *task;
    memset(told, 0, sizeof *told);
    (void)!freopen("/dev/null", "w", stderr);
    for (unsigned i = 0; !worker_pool_is_over(pool);) {
        while ((task = worker_pool_take(pool)))
            CHECK(*task == told->taken++, "%u", told->taken);
        for (; i < jobs && (task = worker_pool_room(pool)); i++) {
            *task = i;
            worker_pool_give(pool, &names, job[i], strlen(job[i]), NULL);
        }
        if (i == jobs)
            worker_pool_finish(pool);
        worker_pool_step(pool, NULL, 0, -1);
    }
    while ((task = worker_pool_take(pool)))
        CHECK(*task == told->taken++, "%u", told->taken);
    dup2(heard, STDERR_FILENO);
    close(heard);
    return worker_pool_close(pool);
}

#define DIED  "the job ended its process "
#define BY_11 DIED "by signal 11 (Segmentation fault); the output was not writ"
#define BY_9  DIED "by signal 9 (Killed); the output was not written"

static const struct {
    const char *job, *told;
} scenarios[] = {
    { "a", "a" },
    { "fail b", "fail b" },
    { "dies", BY_11 },
    { "dies", BY_11 },
    { "exits", DIED "with status 0; the output was not written" },
    { "c", "c" },
    { "says too much", BY_9 },
    { "says what nobody knows", BY_9 },
    { "says half", BY_11 },
    { "lies", "its process did not say what became of it" },
    { "wants", "given" },
    { "wants", "given" },
    { "wants", "given" },
    { "d", "d" },
    { "writes and dies",
      "the process that did the job ended by signal 11 (Segmentation fault) "
      "before it co" },
};
enum { SCENARIOS = COUNT(scenarios) };

TEST_SET_UP()
{
    signals_guard();
    close(mkstemp(output));
}

TEST(scenarios)
{
    static struct told told;
    for (int i = 0; i < SCENARIOS; i++) {
        const enum outcome outcome = run(&scenarios[i].job, 1, &told);
        CHECK(strncmp(told.text[0], scenarios[i].told, 70) == 0, "%s: '%s'",
              scenarios[i].job, told.text[0]);
        CHECK(outcome == OUTCOME_DONE && told.taken == 1, "%d", outcome);
    }
}

/* More than there are slots, side by side: each that dies is one that fails. */
TEST(many)
{
    static const char *job[JOBS_MOST];
    static struct told told;
    for (int i = 0; i < JOBS_MOST; i++)
        job[i] = i % 37 == 5   ? "dies"
                 : i % 41 == 7 ? "wants"
                 : i % 43 == 3 ? "wants processors"
                               : "a job";
    CHECK(run(job, JOBS_MOST, &told) == OUTCOME_DONE, "outcome");
    CHECK(told.taken == JOBS_MOST, "%u", told.taken);
    for (int i = 0; i < JOBS_MOST; i++)
        CHECK(strncmp(told.text[i],
                      i % 37 == 5                  ? BY_11
                      : i % 41 == 7 || i % 43 == 3 ? "given"
                                                   : "a job",
                      6) == 0,
              "%d: '%s'", i, told.text[i]);
}

TEST_TEAR_DOWN()
{
    unlink(output);
}
