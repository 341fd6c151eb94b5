/* Many pictures.
 *
 * The plan says which; a workers of workers does them, each job from its file to
 * its file, and tells of them in the order of the plan. The stages of a job
 * overlap with those of others: files are read ahead and written behind by the
 * system, and where that is not enough there are more workers than processors,
 * of whom only those that decode, turn or encode hold one (cli/batch/scheduler.h). */
#include "cli/batch/batch.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch/ending.h"
#include "cli/batch/ordered_workers.h"
#include "cli/batch/progress.h"
#include "cli/batch/scheduler.h"
#include "cli/files/files.h"
#include "cli/files/signals.h"
#include "cli/manifest/manifest.h"
#include "cli/manifest/resume.h"
#include "cli/report.h"
#include "cli/select/path.h"
#include "cli/select/plan.h"
#include "codecs/deflate/flate.h"

/* Workers may be so many files ahead of one that takes long: since they are told
 * in order, what became of the others has to be kept. */
enum { WINDOW = 256 };

struct task {
    struct batch *batch;
    size_t i; /* in the plan */
    struct item item;
    struct job job;
    struct result result;
    struct err err;
    int status;
    bool dropped; /* the batch ended before it was begun */
    bool unknown; /* nobody can tell what became of it in a run before */
    bool summed;  /* it was noted what is to replace it, with this CRC-32 */
    uint32_t crc;
};

struct batch {
    const struct options *opts;
    const struct backend *backend;
    const char *why_backend;
    struct batch_plan *plan;
    struct root folder;
    struct root *root; /* that outputs are confined to: the folder, or NULL */
    struct resume *resume;     /* NULL: there is none */
    struct manifest *manifest; /* the same */
    struct scheduler *scheduler;
    struct ordered_workers *workers;
    struct progress progress;
    atomic_size_t to_do;   /* jobs that are not done yet */
    atomic_bool ending;    /* no job is to be begun */
    atomic_bool unnoted;   /* the manifest could not be written */
    atomic_bool full;      /* the disk is */
    atomic_uint failures;  /* jobs that failed, as they are done */
    bool end_told;         /* that a signal has asked for the end */
    bool pipe_closed;      /* nobody reads our results any more */
};

static bool is_ending(void *context)
{
    struct batch *batch = context;
    return atomic_load(&batch->ending) || signals_asked();
}

/* ---- The manifest ------------------------------------------------------- */

static struct record record_of(const struct job *job)
{
    return (struct record){
        .input = job->input,
        .output = job->output,
        .input_root = job->input_root,
        .output_root = job->output_root,
        .op = job->opts->op_name,
        .options = job->opts->shape,
    };
}

/* A manifest that cannot be written ends the batch: what is done from then on
 * would be done again, which in place is once too often. */
static int note(struct batch *batch, const struct record *record, bool safe,
                struct err *err)
{
    struct err why;
    if (manifest_note(batch->manifest, record, safe, &why) == 0)
        return 0;
    atomic_store(&batch->unnoted, true);
    atomic_store(&batch->ending, true);
    if (why.full)
        atomic_store(&batch->full, true);
    return fail(err, "the manifest cannot be written: %s", why.text);
}

static void note_input(struct record *record, const struct result *result)
{
    record->size = result->bytes_in;
    record->mtime = result->mtime;
    record->file =
        (struct inode_id){ result->device, result->inode, result->inode != 0 };
}

/* Which file the output is, so that it is known by other names, too. */
static void note_output(struct record *record, const struct job *job)
{
    struct stat st;
    if (!resolve_stat(job->output_root, job->output, true, &st) ||
        (uint64_t)st.st_size != record->written)
        return;
    record->made = (struct inode_id){ st.st_dev, st.st_ino, true };
    record->made_time = st.st_mtim;
}

/* A picture that replaces its own, by whatever option, is told before, and what
 * it will be: so that whoever goes on after a sudden end knows whether it has
 * been replaced. */
static int note_ready(const struct job *job, const struct result *result,
                      struct bytes output, void *context, struct err *err)
{
    struct task *task = context;
    struct record record = record_of(job);
    if (!file_is_same(job->output_root, job->output, job->input_root,
                      job->input))
        return 0;
    task->crc = flates[0]->crc32(0, output.data, output.size);
    task->summed = true;
    record.status = "ready";
    note_input(&record, result);
    record.written = output.size;
    record.crc = task->crc;
    record.summed = true;
    return note(task->batch, &record, true, err);
}

static void note_result(struct batch *batch, struct task *task)
{
    struct record record = record_of(&task->job);
    const struct result *result = &task->result;
    struct err err;
    /* What cannot be told is as unknown to the next run. */
    if (!batch->manifest || result->skipped == SKIPPED_DONE || task->unknown)
        return;
    record.status = report_status(result, task->status ? &task->err : NULL);
    note_input(&record, result);
    if (task->status) {
        record.error = task->err.text;
    } else if (!result->skipped) {
        record.how = job_how_name(result->how);
        record.written = result->bytes_out;
        record.crc = task->crc;
        record.summed = task->summed;
        note_output(&record, &task->job);
    }
    if (note(batch, &record, false, &err) && task->status == 0) {
        task->err = err;
        task->status = -1;
    }
}

/* ---- A job -------------------------------------------------------------- */

/* What was found in a directory stays there, be it read or replaced. */
static struct job job_of(const struct batch *batch, const struct item *item)
{
    const struct options *opts = batch->opts;
    return (struct job){
        .input = item->input,
        .output = item->output,
        .input_root = item->root,
        .output_root = opts->in_place ? item->root : batch->root,
        .opts = opts,
    };
}

/* Whether a run before did it, or is to blame for what nobody can tell. */
static int done_before(struct batch *batch, struct task *task, bool *done)
{
    struct record record = record_of(&task->job);
    enum verdict verdict =
        batch->resume ? resume_check(batch->resume, &record, &task->err)
                      : VERDICT_TODO;
    *done = verdict == VERDICT_DONE || verdict == VERDICT_REPLACED;
    if (verdict == VERDICT_REPLACED && batch->manifest) {
        record.status = "done";
        note_output(&record, &task->job);
        return note(batch, &record, false, &task->err);
    }
    task->unknown = verdict == VERDICT_CHANGED;
    return task->unknown ? -1 : 0;
}

static void do_task(struct batch *batch, unsigned worker, struct task *task)
{
    struct job *job = &task->job;
    bool done;
    *job = job_of(batch, &task->item);
    task->status = -1;
    if (done_before(batch, task, &done))
        return;
    if (done) {
        task->result.skipped = SKIPPED_DONE;
        task->status = 0;
    } else if (job_choose_format(job, &task->err) == 0) {
        task->status =
            scheduler_do(batch->scheduler, worker, job, atomic_load(&batch->to_do),
                         batch->manifest ? note_ready : NULL, task,
                         &task->result, &task->err);
    }
}

/* The file that this worker, or another one, is likely to take next. */
static void prefetch(struct batch *batch, const struct task *task)
{
    size_t next = task->i + scheduler_wanted(batch->scheduler);
    if (scheduler_waits_for_files(batch->scheduler) &&
        next < plan_count(batch->plan)) {
        struct item item = plan_item(batch->plan, next);
        file_prefetch(item.root, item.input);
    }
}

/* A full disk ends the batch. Of the jobs that meet it at once the first one
 * fails; the others count as not begun, since nothing was written. */
static bool meets_full_disk(struct batch *batch, const struct task *task)
{
    if (!task->status || !task->err.full)
        return false;
    atomic_store(&batch->ending, true);
    return atomic_exchange(&batch->full, true);
}

static void count_failure(struct batch *batch, const struct task *task)
{
    unsigned most = batch->opts->fail_after;
    if (task->status && !task->dropped && most &&
        atomic_fetch_add(&batch->failures, 1) + 1 >= most)
        atomic_store(&batch->ending, true);
}

static void work(void *context, unsigned worker, void *argument)
{
    struct batch *batch = context;
    struct task *task = argument;
    task->batch = batch;
    task->dropped = is_ending(batch);
    if (!task->dropped) {
        prefetch(batch, task);
        do_task(batch, worker, task);
        task->dropped = meets_full_disk(batch, task);
        if (!task->dropped)
            note_result(batch, task);
        count_failure(batch, task);
        ordered_workers_allow(batch->workers, scheduler_wanted(batch->scheduler));
    }
    atomic_fetch_sub(&batch->to_do, 1);
}

static void tell(void *context, void *argument)
{
    struct batch *batch = context;
    struct task *task = argument;
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

/* Whoever asks for the end shall know that it was heard. */
static void tick(void *context)
{
    struct batch *batch = context;
    if (signals_asked() && !batch->end_told && !batch->opts->quiet) {
        progress_clear(&batch->progress);
        report_error(NULL, "ending when the files in work are done; the same "
                           "signal again ends at once");
        batch->end_told = true;
    }
    progress_draw(&batch->progress);
}

/* ---- All of them -------------------------------------------------------- */

static int give_all(struct batch *batch)
{
    struct ordered_workers_opts opts = {
        .workers = scheduler_workers(batch->scheduler),
        .task_size = sizeof(struct task),
        .window = scheduler_workers(batch->scheduler) + WINDOW,
        .work = work,
        .tell = tell,
        .tick = tick,
        .context = batch,
    };
    struct ordered_workers *workers = batch->workers = ordered_workers_open(&opts);
    struct task *task;
    if (!workers) {
        report_error(NULL, "the workers cannot be started");
        return -1;
    }
    ordered_workers_allow(workers, batch->opts->threads);
    signals_ask();
    for (size_t i = 0; i < plan_count(batch->plan); i++) {
        task = ordered_workers_room(workers, is_ending);
        if (!task)
            break;
        task->i = i;
        task->item = plan_item(batch->plan, i);
        ordered_workers_give(workers);
    }
    ordered_workers_close(workers);
    return 0;
}

static struct record planned(void *context, size_t i)
{
    const struct batch *batch = context;
    struct item item = plan_item(batch->plan, i);
    struct job job = job_of(batch, &item);
    return record_of(&job);
}

/* A manifest that is not there: how to begin one. */
static int fail_absent(const struct options *opts, struct err *err)
{
    if (options_given(opts, "manifest"))
        return fail(err, "--resume: %s: %s; leave --resume out to begin",
                    opts->resume, strerror(ENOENT));
    return fail(err, "--resume: %s: %s; add --manifest %s to begin one",
                opts->resume, strerror(ENOENT), opts->resume);
}

/* Where one file is both, it need not be there yet: the first run makes it, and
 * the same call goes on with it. */
static int read_history(struct batch *batch, struct err *err)
{
    const struct options *opts = batch->opts;
    bool both = options_given(opts, "manifest") &&
                path_compare("", opts->manifest, "", opts->resume) == 0;
    struct err why;
    struct stat st;
    if (!options_given(opts, "manifest") && !opts->dry_run &&
        stat(opts->resume, &st) == 0 && !S_ISREG(st.st_mode))
        return fail(err, "--resume: %s: not a regular file, so --manifest "
                         "has to say where to go on",
                    opts->resume);
    if (!both && strcmp(opts->resume, "-") != 0 && stat(opts->resume, &st) &&
        errno == ENOENT)
        return fail_absent(opts, err);
    if (resume_read(&batch->resume, opts->resume, both, &why) ||
        resume_recognize(batch->resume, plan_count(batch->plan), planned, batch,
                         &why))
        return fail(err, "--resume: %s: %s", opts->resume, why.text);
    return 0;
}

static int open_records(struct batch *batch, struct err *err)
{
    const struct options *opts = batch->opts;
    struct err why;
    if (opts->resume && read_history(batch, err))
        return -1;
    if (opts->manifest && !opts->dry_run &&
        manifest_open(&batch->manifest, opts->manifest, &why))
        return fail(err, "--manifest: %s", why.text);
    return 0;
}

static void show_task(struct task *task)
{
    bool known = false;
    task->job.regular = true; /* nothing waits for a pipe */
    int status = job_choose_format(&task->job, &task->err);
    if (status == 0)
        status = job_foresee(&task->job, &task->result, &known, &task->err);
    report_plan(&task->job, &task->result, known, status ? &task->err : NULL);
}

/* Prints what would be done. */
static void show_plan(struct batch *batch)
{
    size_t planned = 0, all = plan_count(batch->plan);
    for (size_t i = 0; i < all && !ferror(stdout); i++) {
        struct task task = { .item = plan_item(batch->plan, i) };
        bool done;
        task.job = job_of(batch, &task.item);
        if (done_before(batch, &task, &done)) {
            report_error(task.item.input, task.err.text);
            if (batch->opts->json)
                report_plan(&task.job, &task.result, false, &task.err);
            continue;
        }
        task.result.skipped = done ? SKIPPED_DONE : job_is_skipped(&task.job);
        if (!task.result.skipped) {
            show_task(&task);
            planned++;
        } else if (batch->opts->json) {
            report_plan(&task.job, &task.result, false, NULL);
        }
    }
    if (!batch->opts->quiet && planned < all && !ferror(stdout))
        progress_plan(planned, all);
}

static enum ending why_ended(struct batch *batch)
{
    return batch->pipe_closed             ? ENDING_PIPE
           : atomic_load(&batch->full)    ? ENDING_FULL
           : atomic_load(&batch->unnoted) ? ENDING_MANIFEST
           : signals_asked()              ? ENDING_SIGNAL
                                          : ENDING_FAILURES;
}

/* What stands beside the inputs and is not read. */
static int tell_passed(struct batch *batch, struct err *err)
{
    const struct passed_over *passed = plan_passed(batch->plan);
    for (size_t i = 0; i < passed->count; i++) {
        const struct passed_file *file = &passed->list[i];
        struct record record = {
            .input = file->name,
            .status = "passed_over",
            .format = file->format->title,
        };
        report_passed(file, batch->opts);
        if (batch->manifest && note(batch, &record, false, err))
            return -1;
    }
    return 0;
}

static enum outcome do_all(struct batch *batch)
{
    const struct options *opts = batch->opts;
    struct err err;
    if (scheduler_open(&batch->scheduler, opts, batch->backend,
                       plan_count(batch->plan), &err)) {
        struct err text;
        fail(&text, "--backend %s: %s", batch->backend->name, err.text);
        enum outcome outcome = scheduler_outcome_without_lane(batch->backend);
        report_refusal(outcome == OUTCOME_NO_DEVICE ? "no_device" : "failed",
                       text.text, opts);
        return outcome;
    }
    atomic_store(&batch->to_do, plan_count(batch->plan));
    progress_begin(&batch->progress, plan_count(batch->plan), opts);
    int status = give_all(batch);
    bool early = progress_left(&batch->progress) && status == 0;
    progress_clear(&batch->progress);
    if (!opts->quiet && !batch->pipe_closed)
        progress_summary(&batch->progress, early, opts->verbose);
    if (early)
        ending_tell(why_ended(batch), signals_asked(), &batch->progress, opts);
    scheduler_close(batch->scheduler);
    return status || batch->progress.failed || atomic_load(&batch->unnoted)
               ? OUTCOME_FAILED
               : OUTCOME_DONE;
}

/* The plan was checked when it was made. A directory that has become a link
 * since is found by this. */
static int confine_outputs(struct batch *batch, struct err *err)
{
    const char *folder = plan_folder(batch->plan);
    struct err why;
    if (!folder)
        return 0;
    if (root_open(&batch->folder, folder, true, &why))
        return fail(err, "%s: %s", folder, why.text);
    batch->root = &batch->folder;
    return 0;
}

static enum outcome plan_and_do(struct batch *batch)
{
    struct err err;
    if (plan_make(&batch->plan, batch->opts, &err) ||
        confine_outputs(batch, &err) || open_records(batch, &err)) {
        report_refusal("usage", err.text, batch->opts);
        return OUTCOME_NOT_BEGUN;
    }
    if (tell_passed(batch, &err)) {
        report_error(NULL, err.text);
        return OUTCOME_FAILED;
    }
    enum outcome outcome = OUTCOME_DONE;
    if (plan_check_found(batch->plan, batch->opts, &err)) {
        report_refusal("failed", err.text, batch->opts);
        outcome = OUTCOME_FAILED;
    } else if (batch->opts->dry_run) {
        show_plan(batch);
    } else {
        plan_remove_left(batch->plan);
        outcome = do_all(batch);
    }
    if (!batch->opts->quiet && !batch->pipe_closed && !ferror(stdout))
        passed_over_print(plan_passed(batch->plan), batch->opts->verbose);
    return outcome;
}

enum outcome batch_run(const struct options *opts, const struct backend *backend,
                     const char *why_backend)
{
    struct batch batch = {
        .opts = opts,
        .backend = backend,
        .why_backend = why_backend,
    };
    enum outcome status = plan_and_do(&batch);
    struct err err;
    if (batch.manifest && manifest_close(batch.manifest, &err)) {
        report_error(opts->manifest, err.text);
        status = OUTCOME_FAILED;
    }
    if (batch.root)
        root_close(batch.root);
    resume_free(batch.resume);
    plan_free(batch.plan);
    if (batch.pipe_closed)
        signals_end(SIGPIPE);
    if (signals_asked()) {
        fflush(stdout);
        signals_end(signals_asked());
    }
    return status;
}
