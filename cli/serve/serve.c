/* gimgxf serve: a supervisor, which passes jobs one way and answers the other,
 * and a worker process, which does them (cli/isolate/supervisor.h).
 *
 * The supervisor owns standard input and the answers, which go to a descriptor
 * of their own; /dev/null takes the place of standard output, so that nothing
 * else is written among them. Neither standard input nor the answers are open
 * in the worker; the directory of --root is.
 *
 * It ends when there are no more jobs and all are answered; or by the first
 * SIGTERM, SIGINT or SIGHUP, or when nobody takes its answers. Then it reads no
 * more jobs, and when those are answered that had begun, it ends by the signal.
 * The second one ends it at once, as does any other signal. */
#include "cli/serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/files/signals.h"
#include "cli/report/report.h"
#include "cli/serve/serve_streams.h"
#include "cli/serve/serve_worker.h"

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

struct serving {
    struct serve_worker_opts worker;
    int answers;
};

static enum outcome work(void *context, int fd, struct note_table *table)
{
    const struct serving *serving = context;
    close(serving->answers);
    if (put_null(STDIN_FILENO))
        return serve_worker_run(&serving->worker, fd, table);
    report_error("/dev/null", strerror(errno));
    return OUTCOME_FAILED;
}

static enum outcome supervise(const struct options *opts,
                              struct serving *serving)
{
    serving->answers = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    const struct serve_streams_opts streams = {
        .jobs = STDIN_FILENO,
        .answers = serving->answers,
        .end = opts->nul ? '\0' : '\n',
        .supervisor = { .window = serving->worker.window,
                        .work = work,
                        .context = serving },
    };
    if (streams.answers < 0 || !put_null(STDOUT_FILENO)) {
        report_error(streams.answers < 0 ? NULL : "/dev/null", strerror(errno));
        return OUTCOME_FAILED;
    }
    const struct served end = serve_streams_run(&streams);
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
    struct serving serving = {
        .worker = { .opts = opts,
                    .backend = backend,
                    .root = opts->root ? &root : NULL,
                    .window = 2 * opts->threads + WINDOW },
    };
    struct err why, text;
    if (opts->root && serve_root_open(&root, opts->root, &why)) {
        fail(&text, "--root: %s: %s", opts->root, why.text);
        report_error(NULL, text.text);
        return OUTCOME_NOT_BEGUN;
    }
    enum outcome outcome = supervise(opts, &serving);
    if (opts->root)
        serve_root_close(&root);
    return outcome;
}
