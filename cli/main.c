/* main(): options, the backend, the work, the exit status. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/batch/batch.h"
#include "cli/bench/bench.h"
#include "cli/commands/commands.h"
#include "cli/files/signals.h"
#include "cli/job/job.h"
#include "cli/options/options.h"
#include "cli/report/report.h"
#include "cli/sandbox/sandbox.h"
#include "cli/schedule/scheduler.h"
#include "cli/serve/serve.h"
#include "cuda/backend.h"
#include "cuda/backend_choose.h"

/* What `auto` moves samples with. To start a GPU takes 0.2 to 0.3 s, more than
 * one picture can save. In a batch the CPU turns bands of a picture while it
 * decodes it, at some 5 GB/s a processor, out of its cache; for a GPU the
 * samples are read from memory, copied over PCIe both ways, and read once more
 * to be encoded. The GPU was slower for any number of pictures in any format,
 * by 1.1 to 1.3 on 2 processors and by 1.9 to 3.7 on 16 (BENCHMARKS.md). JPEG
 * files that need not be decoded are another matter:
 * cli/schedule/device_scans.h. A device that was named is used. */
static const char *choose(const struct options *opts, const char **why)
{
    if (strcmp(opts->backend, "auto") != 0) {
        *why = "as asked for";
        return opts->backend;
    }
    if (opts->devices.count) {
        *why = "for the device that was named";
        return "cuda";
    }
    *why =
        opts->command == COMMAND_TURN
            ? "to start a GPU takes longer than to turn one picture"
            : "it turns what it has just decoded, before a GPU would have it";
    return "cpu";
}

static int wrong_usage(const struct options *opts, const char *text)
{
    report_refusal("usage", text, opts);
    return OUTCOME_NOT_BEGUN;
}

/* Returns whether the output may be written. Where nobody can answer it is said
 * afterwards that a file was replaced. */
static bool may_write(struct job *job)
{
    const struct options *opts = job->opts;
    const bool answers = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    job->tells_replaced = !opts->forced;
    if (opts->forced || opts->no_clobber || !answers ||
        access(job->input, R_OK) || !job_would_replace(job))
        return true;
    job->tells_replaced = false;
    char answer[80];
    fputs("gimgxf: ", stderr);
    report_put_escaped(stderr, job->output);
    fputs(" exists; replace it? [y/N] ", stderr);
    fflush(stderr);
    if (fgets(answer, sizeof answer, stdin))
        return *answer == 'y' || *answer == 'Y';
    putc('\n', stderr); /* nobody has ended the line */
    return false;
}

static int turn(const struct options *opts)
{
    const char *why_backend;
    const char *name = choose(opts, &why_backend);
    struct job job = {
        .input = opts->file[0],
        .output = opts->file[1],
        .opts = opts,
    };
    struct lane_opts lane = {
        .device = opts->devices.number,
        .ndevices = opts->devices.count,
        .vram = opts->vram,
    };
    struct result result;
    struct err err, why;

    if (job_choose_format(&job, &why)) {
        fail(&err, "%s: %s", job.output, why.text);
        return wrong_usage(opts, err.text);
    }
    if (job_check_output(&job, &err))
        return wrong_usage(opts, err.text);
    if (opts->dry_run) { /* as a batch prints it */
        const enum skipped skipped = job_is_skipped(&job);
        report_plan(&job, skipped, NULL);
        if (skipped && !opts->quiet)
            report_error(job.output, "would be left alone: it exists");
        return OUTCOME_DONE;
    }
    job.tools.backend = backend_find(name, &err);
    if (!job.tools.backend)
        return (int)scheduler_refuse(opts, name, NULL, &err);
    if (!may_write(&job)) {
        result = (struct result){ .skipped = SKIPPED_EXISTS };
        report_job(&job, &result, NULL, why_backend);
        return OUTCOME_FAILED;
    }
    sandbox_enter_for_job(&job, job.tools.backend != &backend_cpu);
    if (job.tools.backend->probe(&err) ||
        job.tools.backend->open(&job.tools.lane, &lane, &err))
        return (int)scheduler_refuse(opts, name, job.tools.backend, &err);
    job.tools.pool =
        thread_pool_open(opts->threads); /* without one it takes longer */
    int status = job_run(&job, &result, &err);
    report_job(&job, &result, status ? &err : NULL, why_backend);
    thread_pool_close(job.tools.pool);
    job.tools.backend->close(job.tools.lane);
    return status ? OUTCOME_FAILED : OUTCOME_DONE;
}

/* Refuses to read a picture from a terminal or to write one to it. Returns
 * what is wrong, or NULL. */
static const char *refuse_terminal(const struct options *opts)
{
    bool turns = opts->command == COMMAND_TURN;
    bool reads = turns || (opts->command == COMMAND_INFO && opts->nfiles == 1);
    if (turns && strcmp(opts->file[1], "-") == 0 && isatty(STDOUT_FILENO))
        return "a picture is not written to a terminal; give a file or a pipe, "
               "e.g. gimgxf rotate90 in.png - | display";
    if (reads && strcmp(opts->file[0], "-") == 0 && isatty(STDIN_FILENO))
        return "standard input is a terminal; a picture comes from a file or a "
               "pipe, e.g. gimgxf rotate90 - out.png <in.png";
    return NULL;
}

static int run(const struct options *opts)
{
    const char *of = opts->nfiles ? opts->file[0] : "", *why;
    const char *name = choose(opts, &why);
    const struct backend *backend;
    struct err err;
    switch (opts->command) {
    case COMMAND_HELP:
        if (strcmp(of, "bench") == 0)
            bench_help();
        else
            option_table_help(of);
        return OUTCOME_DONE;
    case COMMAND_VERSION:
        version_print();
        return OUTCOME_DONE;
    case COMMAND_INFO:
        return info_run(opts) ? OUTCOME_DONE : OUTCOME_FAILED;
    case COMMAND_CHECK:
        return check_run(opts) ? OUTCOME_DONE : OUTCOME_FAILED;
    case COMMAND_RELATE:
        return relate_run(opts) ? OUTCOME_DONE : OUTCOME_FAILED;
    case COMMAND_TURN:
        return turn(opts);
    case COMMAND_BATCH:
        backend = opts->dry_run ? backend_choose(name, &err)
                                : backend_find(name, &err);
        return (int)(backend ? batch_run(opts, backend, why)
                             : scheduler_refuse(opts, name, NULL, &err));
    case COMMAND_SERVE:
        return (int)serve_run(opts, name);
    }
    return OUTCOME_NOT_BEGUN;
}

/* Makes sure that what was printed has arrived, or reports that it has not.
 * Behind a closed pipe, as `| head`, the program ends as others do: by the
 * signal, without a word. */
static int end(int status)
{
    bool lost = fflush(stdout) || ferror(stdout);
    struct pollfd out = { .fd = STDOUT_FILENO };
    if (lost && poll(&out, 1, 0) == 1 && out.revents & (POLLERR | POLLHUP))
        signals_end(SIGPIPE);
    if (lost) {
        report_error(NULL, "standard output cannot be written");
        return OUTCOME_FAILED;
    }
    return status;
}

int main(int argc, char **argv)
{
    struct options opts;
    struct err err;

    signals_guard();
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* a line is a line beside others' */
    if (argc > 1 && strcmp(argv[1], "bench") == 0)
        return end(bench_main(argc - 1, argv + 1));
    if (command_line_parse(&opts, argc, argv, &err))
        return end(wrong_usage(&opts, err.text));
    const char *terminal = refuse_terminal(&opts);
    if (terminal)
        return end(wrong_usage(&opts, terminal));
    return end(run(&opts));
}
