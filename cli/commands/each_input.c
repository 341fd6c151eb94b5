/* Something that is done with every file that the options name. */
#include "cli/commands/each_input.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/report/report.h"
#include "cli/sandbox/sandbox.h"
#include "cli/schedule/ordered_workers.h"
#include "cli/select/gather.h"

/* How many files may be done ahead of one that takes long. */
enum { WINDOW = 256 };

static bool work(void *context, unsigned worker, void *task)
{
    const struct each_input_work *all = context;
    (void)worker;
    all->work(all->context, task);
    return true;
}

static void report(void *context, void *task)
{
    const struct each_input_work *all = context;
    all->report(all->context, task);
}

/* Returns whether nobody reads on, or the disk is full. */
static bool is_unheard(void *context)
{
    (void)context;
    return ferror(stdout);
}

static int do_all(const struct each_input_work *all,
                  const struct options *options, const struct inputs *inputs,
                  struct err *err)
{
    const unsigned threads = options->threads;
    struct ordered_workers_opts opts = {
        .workers = inputs->count < threads ? inputs->count : threads,
        .task_size = all->task_size,
        .window = WINDOW,
        .work = work,
        .report = report,
        .context = (void *)(uintptr_t)all,
    };
    struct each_input *next;
    if (inputs->count == 0)
        return 0;
    sandbox_enter_for_inputs(inputs, options);
    struct ordered_workers *workers = ordered_workers_open(&opts);
    if (!workers)
        return fail(err, "no memory");
    report_refused_threads(ordered_workers_refused(workers), options);
    for (uint32_t i = 0; i < inputs->count; i++) {
        next = ordered_workers_room(workers, is_unheard);
        if (!next)
            break;
        next->name = inputs->list[i].name;
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

bool each_input(const struct options *opts, const struct each_input_work *all)
{
    struct inputs inputs = { 0 };
    struct err err;
    int status = gather(&inputs, opts, &err);
    if (status == 0)
        status = do_all(all, opts, &inputs, &err);
    if (status == 0)
        status = gather_check_found(&inputs, opts, &err);
    if (status)
        report_refusal("failed", err.text, opts);
    if (!opts->quiet && !ferror(stdout))
        passed_over_print(&inputs.passed, opts->verbose);
    inputs_free(&inputs);
    return status == 0;
}
