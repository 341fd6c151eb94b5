/* gimgxf serve, and its two processes.
 *
 * One picture must not take the answers of the others with it, whatever it does
 * to the process that reads it: a fault in a library, a limit of the system,
 * the kernel that kills what takes too much memory. So jobs are done in a
 * process of their own, the worker, and another one, the supervisor, which
 * looks into no picture, hands them over and hands the answers back.
 *
 * The supervisor (supervisor.c) is the process that the user has started. It
 * has standard input, the answers, and the text of each job until that is
 * answered. It has one thread and waits in poll() alone. Standard output was
 * moved to a descriptor of its own, and /dev/null stands in its place, so that
 * nothing else is written among the answers.
 *
 * The worker (serve_worker.c) has the pictures, the threads, the memory and the
 * GPU: all jobs share them, as in a batch. Neither jobs nor answers are open in
 * it. A socket joins the two: jobs go in, answers come out, in any order, each
 * as soon as it is there. And they share a table (serve_wire.h) in which the
 * worker notes how far it is with each job: it waits, it has begun, it is about
 * to write, it has written. Before it writes, it notes what stands under the
 * output's name.
 *
 * The worker ends on its own
 *   while a job waits in it: the next worker gets it, as if nothing had been.
 *   while it was at a job: if that was the only one, it is to blame, and fails.
 *     If there were several, each is done again, alone; the one that ends its
 *     worker again fails, the others are done.
 *   when a job was about to write: the next worker looks whether another file
 * than before stands under the output's name. If so, the job is done, and is
 * not done a second time, as its input may be what it has written. If not, it
 * is treated as one that has begun. when a job had written, before its answer
 * came: it is answered as done. while it answers: half an answer is dropped;
 * see above. before it is ready: the program ends; nothing can be done on this
 * device. with nothing to do: the next one is started when there is a job. Its
 * temporary files, if it could not remove them, are left behind, under names
 * that no picture has.
 *
 * The supervisor ends
 *   since its jobs end: when all are answered, it closes the socket. The worker
 *     sees that, frees what it has, and ends; the supervisor waits for it.
 *   by the first SIGTERM, SIGINT or SIGHUP, or since nobody takes its answers:
 * it reads no more. The worker finishes what it has begun, begins nothing more,
 *     and ends; what it still answers is handed on. Then the supervisor ends by
 *     the signal. The worker itself ignores these signals, which a terminal
 * sends to both. by the second one, or another signal: it first ends the
 * worker, which removes its temporary files. by SIGKILL: the kernel sends a
 * signal to the worker, which does the same. */
#include "cli/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/report.h"
#include "cli/serve_worker.h"
#include "cli/signals.h"
#include "cli/supervisor.h"

/* Answers come in order, so as many as this may wait for one that takes long.
 */
enum { WINDOW = 128 };

struct server {
    const struct options *opts;
    const char *backend;
    unsigned window;
};

/* Has a descriptor mean nothing. Returns false if that cannot be, by errno. */
static bool put_null(int fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return false;
    bool done = dup2(null, fd) == fd;
    close(null);
    return done;
}

static enum outcome work(void *context, int fd, struct serve_table *table)
{
    const struct server *server = context;
    if (!put_null(STDIN_FILENO)) {
        report_error("/dev/null", strerror(errno));
        return OUTCOME_FAILED;
    }
    return serve_work(server->opts, server->backend, fd, table, server->window);
}

enum outcome serve_run(const struct options *opts, const char *backend)
{
    struct server server = {
        .opts = opts,
        .backend = backend,
        .window = 2 * opts->threads + WINDOW,
    };
    struct supervisor_opts supervisor = {
        .jobs = STDIN_FILENO,
        .answers = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3),
        .end = opts->nul ? '\0' : '\n',
        .window = server.window,
        .work = work,
        .context = &server,
    };
    if (supervisor.answers < 0 || !put_null(STDOUT_FILENO)) {
        report_error(supervisor.answers < 0 ? NULL : "/dev/null",
                     strerror(errno));
        return OUTCOME_FAILED;
    }
    struct supervised end = supervisor_run(&supervisor);
    if (end.unheard == EPIPE)
        signals_end(SIGPIPE);
    if (signals_asked())
        signals_end(signals_asked());
    if (end.unheard)
        report_error(NULL, "standard output cannot be written");
    return end.unheard ? OUTCOME_FAILED : end.outcome;
}
