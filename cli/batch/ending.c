/* Says why a batch ended before its files did, and how to go on. */
#include "cli/batch/ending.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/json/json_write.h"
#include "cli/report.h"

static const char *const reasons[] = {
    [ENDING_SIGNAL] = "signal",
    [ENDING_FAILURES] = "failures",
    [ENDING_FULL] = "disk_full",
    [ENDING_MANIFEST] = "manifest",
};

/* Says what to type so that only the other files are done. */
static void say_next(struct err *text, const struct options *opts)
{
    if (opts->manifest)
        fail(text, "the same call with --resume %s goes on", opts->manifest);
    else if (!opts->in_place)
        fail(text, "the same call with --update goes on");
    else if (strcmp(opts->op_name, "upright") == 0)
        fail(text, "the same call goes on");
    else
        fail(text, "no manifest says which files are done, so the same call "
                   "would turn those once more; next time use --manifest");
}

static void print_json(enum ending ending, int signal,
                       const struct batch_progress *progress, size_t left,
                       const char *next)
{
    struct json_writer json = { .out = stdout };
    char name[16];
    json_open(&json, NULL, '{');
    json_string(&json, "status", "ended");
    json_string(&json, "reason", reasons[ending]);
    if (ending == ENDING_SIGNAL) {
        snprintf(name, sizeof name, "SIG%s", sigabbrev_np(signal));
        json_string(&json, "signal", name);
    }
    json_number(&json, "files", (double)progress->all);
    json_number(&json, "done", (double)progress->done);
    json_number(&json, "skipped", (double)progress->skipped);
    json_number(&json, "failed", (double)progress->failed);
    json_number(&json, "not_begun", (double)left);
    json_string(&json, "next", next);
    json_close(&json, '}');
    putchar('\n');
}

void ending_report(enum ending ending, int signal,
                   const struct batch_progress *progress,
                   const struct options *opts)
{
    size_t left = progress_left(progress);
    struct err text, next;
    if (ending == ENDING_PIPE)
        return;
    say_next(&next, opts);
    if (ending == ENDING_FULL)
        fail(&text,
             "the disk is full: %zu of %zu done, %zu left; make room, and "
             "%s",
             progress->done, progress->all, left + progress->failed, next.text);
    else if (ending == ENDING_FAILURES)
        fail(&text, "%zu failed, so --fail-after ends the batch; %zu left; %s",
             progress->failed, left, next.text);
    else
        fail(&text, "%zu left; %s", left, next.text);
    if (!opts->quiet || ending == ENDING_FULL)
        report_error(NULL, text.text);
    if (opts->json)
        print_json(ending, signal, progress, left, next.text);
}
