/* What is done for each task of a batch before and after its job. */
#include "cli/batch/batch_task.h"

#include <errno.h>
#include <stdio.h>

#include "cli/files/files.h"
#include "cli/files/signals.h"
#include "cli/report/report.h"

bool batch_is_ending(void *context)
{
    struct batch *batch = context;
    return atomic_load(&batch->ending) || atomic_load(&batch->records.failed) ||
           signals_asked();
}

struct job batch_planned_job(void *context, size_t i)
{
    const struct batch *batch = context;
    const struct input *input = &batch->plan.inputs.list[i];
    return (struct job){
        .input = input->name,
        .output = batch->plan.output[i],
        .input_root = input->root,
        .output_root = batch->opts->in_place ? input->root : batch->root,
        .opts = batch->opts,
    };
}

/* ---- Before and after the job -------------------------------------------- */

/* Has the system read the file that a worker is likely to take next. */
static void prefetch(struct batch *batch, const struct batch_task *task)
{
    size_t next = task->i + scheduler_wanted(batch->scheduler);
    if (scheduler_waits_for_files(batch->scheduler) &&
        next < batch->plan.inputs.count) {
        const struct input *input = &batch->plan.inputs.list[next];
        file_prefetch(input->root, input->name);
    }
}

bool batch_task_begin(struct batch_task *task)
{
    struct batch *batch = task->batch;
    struct job *job = &task->job;
    enum verdict verdict;
    prefetch(batch, task);
    *job = batch_planned_job(batch, task->i);
    task->begun = true;
    task->status =
        records_check(&batch->records, task->i, job, &verdict, &task->err);
    task->unknown = verdict == VERDICT_CHANGED;
    if (task->status == 0 && verdict == VERDICT_DONE)
        task->result.skipped = SKIPPED_DONE;
    else if (task->status == 0)
        task->status = job_choose_format(job, &task->err);
    return task->status == 0 && !task->result.skipped;
}

int batch_task_ready(struct batch_task *task, const struct result *result,
                     struct bytes output, struct err *err)
{
    return records_note_ready(&task->batch->records, &task->job, result, output,
                              &task->sum, err);
}

/* Nothing is noted if nobody can tell: so the next run cannot tell either; or
 * as long as the file is not there. */
static void note_result(struct batch *batch, struct batch_task *task)
{
    const struct err *failure = task->status ? &task->err : NULL;
    struct err why;
    if (batch->stack && !failure) {
        records_keep_result(&batch->records, task->i, &task->result);
        return;
    }
    if (task->unknown ||
        records_note_result(&batch->records, &task->job, &task->result,
                            task->sum, failure, &why) == 0 ||
        failure)
        return;
    task->err = why;
    task->status = -1;
}

/* A full disk ends the batch. Of the jobs that meet it at once the first one
 * fails; the others count as not begun, since nothing was written. Returns
 * whether this is one of the others. */
static bool meets_full_disk(struct batch *batch, const struct batch_task *task)
{
    if (!task->status || !task->err.full)
        return false;
    atomic_store(&batch->ending, true);
    return atomic_exchange(&batch->full, true) ||
           atomic_load(&batch->records.disk_full);
}

void batch_task_count(const struct batch_task *task)
{
    struct batch *batch = task->batch;
    const unsigned most = batch->opts->fail_after;
    atomic_fetch_sub(&batch->to_do, 1);
    if (task->status && !task->dropped && most &&
        atomic_fetch_add(&batch->failures, 1) + 1 >= most)
        atomic_store(&batch->ending, true);
}

void batch_task_end(struct batch_task *task)
{
    struct batch *batch = task->batch;
    task->dropped = meets_full_disk(batch, task);
    if (!task->dropped)
        note_result(batch, task);
    batch_task_count(task);
}

/* ---- Reports ------------------------------------------------------------ */

void batch_task_report(struct batch_task *task)
{
    struct batch *batch = task->batch;
    const struct err *err = task->status ? &task->err : NULL;
    if (task->dropped)
        return;
    progress_count(&batch->progress, &task->job, &task->result, err != NULL);
    if (!report_is_due(&task->job, &task->result, err))
        return;
    progress_clear(&batch->progress);
    task->job.backend = batch->backend;
    report_job(&task->job, &task->result, err, batch->why_backend);
    if (batch->opts->json && fflush(stdout) && errno == EPIPE) {
        batch->pipe_closed = true;
        atomic_store(&batch->ending, true);
    }
}

void batch_warn_of_device(struct batch *batch)
{
    struct err why;
    if (!batch->scheduler ||
        !device_scans_failure(scheduler_scans(batch->scheduler), &why) ||
        batch->opts->quiet)
        return;
    progress_clear(&batch->progress);
    report_device_failure(&why);
}

void batch_tick(void *context)
{
    struct batch *batch = context;
    if (signals_asked() && !batch->end_reported && !batch->opts->quiet) {
        progress_clear(&batch->progress);
        report_error(NULL, "ending when the files in work are done; the same "
                           "signal again ends at once");
        batch->end_reported = true;
    }
    batch_warn_of_device(batch);
    progress_draw(&batch->progress);
}
