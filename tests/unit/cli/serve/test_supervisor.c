/* The supervisor of serve, with worker processes that follow the text of a job:
 * they answer, die, or send what nobody understands. */
#include "cli/serve/serve_streams.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/files/signals.h"
#include "cli/json/json.h"
#include "tests/support/test.h"

enum { WINDOW = 16 };

static const char step_name[][8] = { "waits", "begun", "writes", "written" };

/* ---- The worker process ---------------------------------------------------*/

static bool send_all(int fd, const void *data, size_t size)
{
    return send(fd, data, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool receive_all(int fd, void *data, size_t size)
{
    return recv(fd, data, size, MSG_WAITALL) == (ssize_t)size;
}

struct fake {
    int fd;
    struct note_table *table;
    struct job_message message;
    char text[64];
    uint32_t held[WINDOW]; /* slots of jobs that have begun */
    unsigned nheld;
};

static void answer(struct fake *fake, uint32_t slot, bool failed,
                   const char *text)
{
    struct answer_message message = { slot, (uint32_t)strlen(text), failed };
    if (send_all(fake->fd, &message, sizeof message))
        send_all(fake->fd, text, strlen(text));
}

static _Noreturn void die(int number)
{
    signal(number, SIG_DFL);
    raise(number);
    abort();
}

static void answer_by_text(struct fake *fake)
{
    char text[128];
    snprintf(text, sizeof text, "%s%s\n",
             fake->message.trouble == JOB_TOO_LONG ? "too long" : fake->text,
             fake->message.again ? " again" : "");
    answer(fake, fake->message.slot, strncmp(fake->text, "fail", 4) == 0, text);
}

static void tell_only(struct fake *fake)
{
    char text[128];
    snprintf(text, sizeof text, "%s: signal %d, %s\n", fake->text,
             WIFSIGNALED(fake->message.status)
                 ? WTERMSIG(fake->message.status)
                 : -WEXITSTATUS(fake->message.status),
             step_name[fake->message.past.step]);
    answer(fake, fake->message.slot, fake->message.past.step < JOB_WRITTEN,
           text);
}

static bool is(const struct fake *fake, const char *text)
{
    return strcmp(fake->text, text) == 0;
}

static void note(struct fake *fake, unsigned step)
{
    atomic_store(&fake->table->note[fake->message.slot].step, step);
}

static void do_job(struct fake *fake)
{
    static const struct answer_message huge = { 0, UINT32_MAX, false };
    static const struct answer_message other = { WINDOW + 7, 0, false };
    if (is(fake, "dies unseen"))
        die(SIGKILL);
    note(fake, JOB_BEGUN);
    if (is(fake, "dies always"))
        die(SIGSEGV);
    if (fake->message.only_report) {
        tell_only(fake);
        return;
    }
    if (is(fake, "dies"))
        die(SIGSEGV);
    if (is(fake, "exits"))
        _exit(0);
    if (is(fake, "dies once") && !fake->message.again)
        die(SIGBUS);
    if (is(fake, "says too much"))
        send_all(fake->fd, &huge, sizeof huge), pause();
    if (is(fake, "says what was not asked"))
        send_all(fake->fd, &other, sizeof other), pause();
    if (is(fake, "says half")) {
        struct answer_message half = { fake->message.slot, 100, false };
        send_all(fake->fd, &half, sizeof half), send_all(fake->fd, "half", 4);
        die(SIGSEGV);
    }
    if (is(fake, "writes and dies"))
        note(fake, JOB_WRITES), die(SIGSEGV);
    if (is(fake, "has written and dies"))
        note(fake, JOB_WRITTEN), die(SIGSEGV);
    if (is(fake, "scribbles"))
        note(fake, 77), die(SIGSEGV);
    if (is(fake, "holds") && !fake->message.again) {
        fake->held[fake->nheld++] = fake->message.slot;
        return;
    }
    answer_by_text(fake);
}

static enum outcome work(void *context, int fd, struct note_table *table)
{
    struct fake fake = { .fd = fd, .table = table };
    int *unready = context;
    if (unready)
        return (enum outcome) * unready;
    answer(&fake, ANSWER_READY, false, "");
    while (receive_all(fd, &fake.message, sizeof fake.message)) {
        if (fake.message.size >= sizeof fake.text ||
            !receive_all(fd, fake.text, fake.message.size))
            return OUTCOME_FAILED;
        fake.text[fake.message.size] = '\0';
        do_job(&fake);
    }
    while (fake.nheld)
        answer(&fake, fake.held[--fake.nheld], false, "held to the end\n");
    return OUTCOME_DONE;
}

/* ---- The other side -------------------------------------------------------*/

/* Runs the supervisor on what can be read from a descriptor, and gives what it
 * answered. */
static struct served run(int jobs, int *unready, char *answers, size_t room)
{
    FILE *file = tmpfile();
    struct serve_streams_opts opts = {
        .jobs = jobs,
        .answers = fileno(file),
        .end = '\n',
        .supervisor = { .window = WINDOW, .work = work, .context = unready },
    };
    int heard = dup(STDERR_FILENO);
    (void)!freopen("/dev/null", "w", stderr);
    struct served end = serve_streams_run(&opts);
    fflush(stderr);
    dup2(heard, STDERR_FILENO);
    close(heard);
    rewind(file);
    answers[fread(answers, 1, room - 1, file)] = '\0';
    fclose(file);
    return end;
}

static struct served run_text(const char *text, int *unready, char *answers,
                              size_t room)
{
    FILE *jobs = tmpfile();
    fputs(text, jobs);
    fflush(jobs);
    rewind(jobs);
    struct served end = run(fileno(jobs), unready, answers, room);
    fclose(jobs);
    return end;
}

#define UNKNOWN                                                                \
    "{\"status\": \"failed\", \"warnings\": [], \"error\": \"the job ended "   \
    "its process; whether the output was written is not known\"}\n"
#define ENDS                                                                   \
    "{\"status\": \"failed\", \"warnings\": [], \"error\": \"the worker "      \
    "process ends again and again\"}\n"

static const struct {
    const char *jobs, *answers;
    enum outcome outcome;
} scenarios[] = {
    { "", "", OUTCOME_DONE },
    { "a\nb\nc\n", "a\nb\nc\n", OUTCOME_DONE },
    { "a\nfail b\nc\n", "a\nfail b\nc\n", OUTCOME_FAILED },
    { "a\nb", "a\nb\n", OUTCOME_DONE },
    /* A job that is alone with its process is not done again. */
    { "a\ndies\nb\n", "a\ndies: signal 11, begun\nb\n", OUTCOME_FAILED },
    { "dies\n", "dies: signal 11, begun\n", OUTCOME_FAILED },
    { "dies\ndies\ndies\ndies\na\n",
      "dies: signal 11, begun\ndies: signal 11, begun\n"
      "dies: signal 11, begun\ndies: signal 11, begun\na\n",
      OUTCOME_FAILED },
    { "exits\na\n", "exits: signal 0, begun\na\n", OUTCOME_FAILED },
    /* Of several each is done again, alone. */
    { "holds\nholds\ndies once\na\n",
      "holds again\nholds again\ndies once again\na\n", OUTCOME_DONE },
    { "holds\ndies\na\n", "holds again\ndies: signal 11, begun\na\n",
      OUTCOME_FAILED },
    /* The report about a job that wrote its output. */
    { "writes and dies\na\n", "writes and dies: signal 11, writes\na\n",
      OUTCOME_FAILED },
    { "has written and dies\na\n",
      "has written and dies: signal 11, written\na\n", OUTCOME_DONE },
    { "holds\nhas written and dies\na\n",
      "holds again\nhas written and dies: signal 11, written\na\n",
      OUTCOME_DONE },
    /* A job that ends even a worker that is only told of it. */
    { "a\ndies always\nb\n", "a\n" UNKNOWN "b\n", OUTCOME_FAILED },
    { "a\nscribbles\nb\n", "a\n" UNKNOWN "b\n", OUTCOME_FAILED },
    /* A message that cannot be parsed. */
    { "a\nsays too much\nb\n", "a\nsays too much: signal 9, begun\nb\n",
      OUTCOME_FAILED },
    { "says what was not asked\nb\n",
      "says what was not asked: signal 9, begun\nb\n", OUTCOME_FAILED },
    { "says half\nb\n", "says half: signal 11, begun\nb\n", OUTCOME_FAILED },
    /* It does not go on for ever. */
    { "a\ndies unseen\n", "a\n" ENDS, OUTCOME_FAILED },
};

TEST_SET_UP()
{
    signals_guard();
}

TEST(scenarios)
{
    char answers[4096];
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        struct served end =
            run_text(scenarios[i].jobs, NULL, answers, sizeof answers);
        CHECK(strcmp(answers, scenarios[i].answers) == 0, "%zu: '%s'", i,
              answers);
        CHECK(end.outcome == scenarios[i].outcome, "%zu: %d", i, end.outcome);
        CHECK(end.write_error == 0, "%zu: %d", i, end.write_error);
    }
}

/* More than there are slots, with some that die. */
TEST(many)
{
    enum { JOBS = 500 };
    static char jobs[32 * JOBS], want[64 * JOBS], answers[64 * JOBS];
    char *job = jobs, *at = want;
    for (int i = 0; i < JOBS; i++) {
        job += sprintf(job, "%s\n", i % 37 == 5 ? "dies" : "a job");
        at += sprintf(at, "%s\n",
                      i % 37 == 5 ? "dies: signal 11, begun" : "a job");
    }
    struct served end = run_text(jobs, NULL, answers, sizeof answers);
    CHECK(strcmp(answers, want) == 0, "'%s'", answers);
    CHECK(end.outcome == OUTCOME_FAILED, "%d", end.outcome);
}

/* A process that ends before it is ready. */
TEST(unready)
{
    static const enum outcome ways[] = { OUTCOME_FAILED, OUTCOME_NO_DEVICE };
    char answers[256];
    for (int i = 0; i < 2; i++) {
        int unready = (int)ways[i];
        struct served end =
            run_text("a\nb\n", &unready, answers, sizeof answers);
        CHECK(end.outcome == ways[i], "%d", end.outcome);
        CHECK(*answers == '\0', "'%s'", answers);
    }
}

/* Lines that come in pieces, and one that is too long. */
static void write_pieces(int fd)
{
    static char many[JSON_SIZE_MAX / 2];
    static const char *const pieces[] = { "on", "e\ntw", "o\n" };
    memset(many, 'x', sizeof many);
    for (int i = 0; i < 3; i++) {
        (void)!write(fd, pieces[i], strlen(pieces[i]));
        usleep(20000);
    }
    for (int i = 0; i < 3; i++) {
        (void)!write(fd, many, sizeof many);
        usleep(20000);
    }
    (void)!write(fd, "\nthree", 6);
}

TEST(pieces)
{
    char answers[256];
    int fds[2];
    CHECK(pipe(fds) == 0, "pipe");
    pid_t writer = fork();
    if (writer == 0) {
        close(fds[0]);
        write_pieces(fds[1]);
        _exit(0);
    }
    close(fds[1]);
    struct served end = run(fds[0], NULL, answers, sizeof answers);
    close(fds[0]);
    waitpid(writer, NULL, 0);
    CHECK(strcmp(answers, "one\ntwo\ntoo long\nthree\n") == 0, "'%s'", answers);
    CHECK(end.outcome == OUTCOME_DONE, "%d", end.outcome);
}
