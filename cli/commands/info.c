/* gimgxf info: describes pictures by what stands beside their pixels. */
#include "cli/commands/info.h"

#include "cli/commands/each_input.h"
#include "cli/job/job.h"
#include "cli/report/report_picture.h"

struct description {
    struct each_input input;
    struct image img; /* without cells */
    struct result result;
    struct err err;
    int status;
};

struct describing {
    const struct options *opts;
    bool failed;
};

static void describe(void *context, void *task)
{
    const struct describing *all = context;
    struct description *d = task;
    d->status = job_describe(d->input.name, d->input.root, all->opts, &d->img,
                             &d->result, &d->err);
}

static void print(void *context, void *task)
{
    struct describing *all = context;
    struct description *d = task;
    all->failed = all->failed || d->status;
    report_picture(d->input.name, all->opts, &d->img, &d->result,
                   d->status ? &d->err : NULL);
    image_free(&d->img);
}

bool info_run(const struct options *opts)
{
    struct describing all = { .opts = opts };
    const struct each_input_work work = {
        .task_size = sizeof(struct description),
        .work = describe,
        .report = print,
        .context = &all,
    };
    if (opts->csv)
        report_picture_csv_head();
    return each_input(opts, &work) && !all.failed;
}
