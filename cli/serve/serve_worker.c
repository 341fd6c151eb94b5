/* What the worker process of serve does: texts of jobs, and of answers. */
#include "cli/serve/serve_worker.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/isolate/worker.h"
#include "cli/report/report.h"
#include "cli/sandbox/sandbox.h"
#include "cli/serve/serve_job.h"
#include "cuda/backend_choose.h"

struct serve_worker {
    const struct serve_worker_opts *opts;
    const struct backend *backend;
};

struct serve_task {
    struct worker_task task;
    struct serve_job asked;
};

static int read_job(void *context, struct worker_task *task, struct err *err)
{
    const struct serve_worker *worker = context;
    struct serve_job *asked = &((struct serve_task *)task)->asked;
    if (task->message.trouble == JOB_TOO_LONG)
        return fail(err, "the job has more than %d bytes", (int)JSON_SIZE_MAX);
    int status = serve_job_read(asked, task->text, task->message.size,
                                worker->opts->opts, worker->opts->root, err);
    task->job = asked->job; /* as far as it was understood, for the answer */
    return status;
}

static void end(void *context, struct worker_task *task)
{
    char how[80];
    (void)context;
    worker_describe_end(task, how, sizeof how);
    if (task->written_before)
        warn(&task->result.warnings,
             "the process that did the job ended %s before it could answer; "
             "the output was written",
             how);
    else if (task->message.again && task->scheduled.job)
        warn(&task->result.warnings,
             "done once more from the start: the process that did this job and "
             "others ended %s",
             how);
}

static bool answer(void *context, const struct worker_task *task,
                   struct bytes *text)
{
    const struct serve_worker *worker = context;
    const struct serve_job *asked = &((const struct serve_task *)task)->asked;
    struct job job = task->job;
    char *data = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&data, &size);
    if (!out)
        return false;
    job.opts = job.opts ? job.opts : worker->opts->opts;
    job.backend = worker->backend;
    job.input = asked->input; /* as the user gave them */
    job.output = asked->output;
    report_answer(out, &job, &task->result, task->status ? &task->err : NULL);
    bool done = fclose(out) == 0 && bytes_append(text, data, size);
    free(data);
    return done;
}

static void release(void *context, struct worker_task *task)
{
    (void)context;
    serve_job_free(&((struct serve_task *)task)->asked);
}

enum outcome serve_worker_run(const struct serve_worker_opts *opts, int fd,
                              struct note_table *table)
{
    struct serve_worker worker = { .opts = opts };
    const char *root = opts->root ? opts->root->path : NULL;
    struct worker_opts jobs = {
        .opts = opts->opts,
        .window = opts->window,
        .task_size = sizeof(struct serve_task),
        .root = root,
        .read = read_job,
        .end = end,
        .answer = answer,
        .release = release,
        .context = &worker,
    };
    struct err err;
    worker.backend = backend_find(opts->backend, &err);
    if (worker.backend)
        sandbox_enter_for_jobs(
            root, opts->opts,
            scheduler_may_use_device(opts->opts, worker.backend, SIZE_MAX));
    if (!worker.backend || scheduler_open(&jobs.scheduler, opts->opts,
                                          worker.backend, SIZE_MAX, &err))
        return scheduler_refuse(opts->opts, opts->backend, worker.backend,
                                &err);
    enum outcome outcome = worker_run(&jobs, fd, table);
    scheduler_close(jobs.scheduler);
    return outcome;
}
