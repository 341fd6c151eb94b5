/* gimgxf info: describes pictures by what stands beside their pixels. */
#include "cli/commands/info.h"

#include "cli/commands/each_input.h"
#include "cli/job/job.h"
#include "cli/report/report_picture.h"

struct info_task {
    struct each_input input;
    struct description description;
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
    struct info_task *d = task;
    d->status = job_describe(d->input.name, d->input.root, all->opts,
                             &d->description, &d->err);
}

static void print(void *context, void *task)
{
    struct describing *all = context;
    struct info_task *d = task;
    all->failed = all->failed || d->status;
    report_picture(d->input.name, all->opts, &d->description,
                   d->status ? &d->err : NULL);
    image_free(&d->description.img);
}

bool info_run(const struct options *opts)
{
    struct describing all = { .opts = opts };
    const struct each_input_work work = {
        .task_size = sizeof(struct info_task),
        .work = describe,
        .report = print,
        .context = &all,
    };
    return each_input(opts, &work) && !all.failed;
}
