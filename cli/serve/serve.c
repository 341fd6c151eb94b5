/* gimgxf serve, and its two processes.
 *
 * One picture must not take the answers of the others with it, whatever it
 * does to the process that reads it: a fault in a library, a limit of the
 * system, or the kernel that kills what takes too much memory. So jobs are
 * done in a process of their own, the worker. Another one, the supervisor,
 * looks into no picture; it passes jobs one way and answers the other.
 *
 * The supervisor (supervisor.c) is the process that the user has started. It
 * owns standard input, the answers, and the text of each job until that is
 * answered. It has one thread, which waits in poll() alone. The answers go to
 * a descriptor of their own, and /dev/null takes the place of standard output,
 * so that nothing else is written among them.
 *
 * The worker (worker.c) owns the pictures, the threads, the memory and the
 * GPU, which all jobs share as in a batch. Neither standard input nor the
 * answers are open in it; the directory of --root is. A socket joins the two:
 * jobs go in, and answers come out, in any order, each as soon as it is there.
 * The two also share a table (wire.h) in which the worker notes how far it is
 * with each job: the job waits, has begun, is about to write, has written.
 * Before the job writes, the worker notes what stands under the output's name.
 *
 * Jobs that share a file are done in the order in which they were given
 * (serve_order.c), others in any order. The supervisor sends all of them in
 * that order, and the worker begins none before those that it has to wait for
 * are answered. So the order is kept when the worker ends, too: what waited
 * for a job that is done again has not begun, and is sent after it.
 *
 * When the worker ends on its own,
 *
 * - jobs that wait in it go to the next worker, as if nothing had happened.
 * - a job that has begun is to blame if no other one had begun: it fails. If
 *   there were several, the next worker does them again, one at a time. One
 *   that ends its worker again fails, and the others are done.
 * - for a job that was about to write, the next worker looks whether another
 *   file than before stands under the output's name. If so, the job is done.
 *   It must not be done a second time, as its input may be what it has
 *   written. If not, it is treated as one that has begun.
 * - a job that had written, but had not answered, is answered as done.
 * - half an answer is dropped, and its job is treated as above.
 * - a temporary file is left behind. The next worker removes it when it gets
 *   the job: nobody holds a lock on it any more (temporary.c).
 * - the next worker is started as soon as there is a job for it. If a worker
 *   ends before it is ready, or several end before they begin a job, the
 *   program gives up: what is left fails.
 *
 * The supervisor ends
 *
 * - when there are no more jobs and all are answered. It closes the socket;
 *   the worker frees what it has and ends; the supervisor waits for it.
 * - by the first SIGTERM, SIGINT or SIGHUP, or when nobody takes its answers.
 *   It reads no more jobs. The worker finishes what has begun, begins nothing
 *   more, and ends; what it still answers is passed on. Then the supervisor
 *   ends by the signal. The worker itself ignores these three signals, which a
 *   terminal sends to both.
 * - by the second one, or by another signal. Before that it ends the worker,
 *   which removes its temporary files.
 * - by SIGKILL. Then the kernel sends a signal to the worker, which does the
 *   same. */
#include "cli/serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/files/signals.h"
#include "cli/report/report.h"
#include "cli/serve/supervisor.h"
#include "cli/serve/worker.h"

/* How many answers may wait for a job that takes long: they come in order. */
enum { WINDOW = 256 };

/* Opens /dev/null as this descriptor. On failure it returns false and sets
 * errno. */
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
    const struct worker_opts *worker = context;
    if (put_null(STDIN_FILENO))
        return worker_run(worker, fd, table);
    report_error("/dev/null", strerror(errno));
    return OUTCOME_FAILED;
}

static enum outcome supervise(const struct options *opts,
                              struct worker_opts *worker)
{
    struct supervisor_opts supervisor = {
        .jobs = STDIN_FILENO,
        .answers = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3),
        .end = opts->nul ? '\0' : '\n',
        .window = worker->window,
        .work = work,
        .context = worker,
    };
    if (supervisor.answers < 0 || !put_null(STDOUT_FILENO)) {
        report_error(supervisor.answers < 0 ? NULL : "/dev/null",
                     strerror(errno));
        return OUTCOME_FAILED;
    }
    struct supervised end = supervisor_run(&supervisor);
    if (end.write_error == EPIPE)
        signals_end(SIGPIPE);
    if (signals_asked())
        signals_end(signals_asked());
    if (end.write_error)
        report_error(NULL, "standard output cannot be written");
    return end.write_error ? OUTCOME_FAILED : end.outcome;
}

enum outcome serve_run(const struct options *opts, const char *backend)
{
    struct serve_root root;
    struct worker_opts worker = {
        .opts = opts,
        .backend = backend,
        .root = opts->root ? &root : NULL,
        .window = 2 * opts->threads + WINDOW,
    };
    struct err why, text;
    if (opts->root && serve_root_open(&root, opts->root, &why)) {
        fail(&text, "--root: %s: %s", opts->root, why.text);
        report_error(NULL, text.text);
        return OUTCOME_NOT_BEGUN;
    }
    enum outcome outcome = supervise(opts, &worker);
    if (opts->root)
        serve_root_close(&root);
    return outcome;
}
