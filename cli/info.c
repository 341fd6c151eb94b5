/* gimgxf info: describes pictures by what stands beside their pixels. */
#include "cli/info.h"

#include <stdio.h>
#include <string.h>

#include "cli/batch/ordered_workers.h"
#include "cli/job/job.h"
#include "cli/report.h"
#include "cli/report_picture.h"
#include "cli/select/gather.h"

/* How many files may be described ahead of one that takes long. */
enum { WINDOW = 256 };

struct description {
    const char *input;
    struct root *root; /* in which it was found, or NULL */
    struct image img;  /* without cells */
    struct result result;
    struct err err;
    int status;
};

struct describing {
    const struct options *opts;
    bool failed;
};

static bool describe(void *context, unsigned worker, void *task)
{
    const struct describing *all = context;
    struct description *d = task;
    (void)worker;
    d->status = job_describe(d->input, d->root, all->opts, &d->img, &d->result,
                             &d->err);
    return true;
}

static void print(void *context, void *task)
{
    struct describing *all = context;
    struct description *d = task;
    all->failed = all->failed || d->status;
    report_picture(d->input, all->opts, &d->img, &d->result,
                   d->status ? &d->err : NULL);
    image_free(&d->img);
}

/* Returns whether nobody reads on, or the disk is full. */
static bool is_unheard(void *context)
{
    (void)context;
    return ferror(stdout);
}

static int describe_all(struct describing *all, const struct inputs *inputs,
                        struct err *err)
{
    unsigned threads = all->opts->threads;
    struct ordered_workers_opts opts = {
        .workers = inputs->count < threads ? inputs->count : threads,
        .task_size = sizeof(struct description),
        .window = WINDOW,
        .work = describe,
        .report = print,
        .context = all,
    };
    struct description *next;
    if (inputs->count == 0)
        return 0;
    struct ordered_workers *workers = ordered_workers_open(&opts);
    if (!workers)
        return fail(err, "the threads cannot be started");
    for (uint32_t i = 0; i < inputs->count; i++) {
        next = ordered_workers_room(workers, is_unheard);
        if (!next)
            break;
        next->input = inputs->list[i].name;
        next->root = inputs->list[i].root;
        ordered_workers_give(workers);
    }
    ordered_workers_close(workers);
    return 0;
}

static int gather(struct inputs *inputs, const struct options *opts,
                  struct err *err)
{
    /* Standard input is one file, and never part of a list. */
    if (opts->nfiles == 1 && !opts->files_from &&
        strcmp(opts->file[0], "-") == 0)
        return inputs_add(inputs, &(struct input){ .name = "-" }, err);
    if (gather_inputs(inputs, opts, NULL, err))
        return -1;
    passed_over_sort(&inputs->passed);
    for (size_t i = 0; i < inputs->passed.count; i++)
        report_passed(&inputs->passed.list[i], opts);
    return 0;
}

bool info_run(const struct options *opts)
{
    struct describing all = { .opts = opts };
    struct inputs inputs = { 0 };
    struct err err;
    int status = gather(&inputs, opts, &err);
    if (opts->csv)
        report_picture_csv_head();
    if (status == 0)
        status = describe_all(&all, &inputs, &err);
    if (status == 0)
        status = gather_check_found(&inputs, opts, &err);
    if (status)
        report_refusal("failed", err.text, opts);
    if (!opts->quiet && !ferror(stdout))
        passed_over_print(&inputs.passed, opts->verbose);
    inputs_free(&inputs);
    return status == 0 && !all.failed;
}
