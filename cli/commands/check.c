/* gimgxf check: says which files are damaged. */
#include "cli/commands/check.h"

#include <stdio.h>

#include "cli/commands/each_input.h"
#include "cli/job/job.h"
#include "cli/json/json_write.h"
#include "cli/report/report.h"
#include "cli/schedule/resource_limits.h"
#include "codecs/digest.h"

/* One file. */
struct soundness {
    struct each_input input;
    struct result result;
    char digest[DIGEST_TEXT];
    struct err err;
    int status;
};

struct checking {
    const struct options *opts;
    struct resource_limits limits;
    uint64_t files, unsound;
};

static void examine(void *context, void *task)
{
    struct checking *all = context;
    struct soundness *s = task;
    struct resource_share share = { .limits = &all->limits };
    s->status = job_check_sound(s->input.name, s->input.root, all->opts,
                                resource_limits_take_cells, &share, &s->result,
                                all->opts->json ? s->digest : NULL, &s->err);
    resource_limits_return_all(&share);
}

static void print_json(const struct soundness *s)
{
    struct json_writer json = { .out = stdout };
    json_open(&json, NULL, '{');
    json_string(&json, "input", s->input.name);
    json_bool(&json, "sound", s->status == 0);
    if (s->result.from)
        json_string(&json, "format", s->result.from->name);
    if (s->status == 0) {
        json_uint(&json, "width", s->result.width);
        json_uint(&json, "height", s->result.height);
        json_string(&json, "sha256", *s->digest ? s->digest : NULL);
    }
    report_json_warnings(&json, &s->result.warnings);
    json_string(&json, "error", s->status ? s->err.text : NULL);
    json_close(&json, '}');
    putchar('\n');
}

static void print(void *context, void *task)
{
    struct checking *all = context;
    struct soundness *s = task;
    const struct options *opts = all->opts;
    all->files++;
    all->unsound += s->status != 0;
    if (opts->verbose) /* most are of what a turn would lose */
        report_warnings(s->input.name, opts, &s->result.warnings, 0);
    if (s->status)
        report_error(s->input.name, s->err.text);
    if (opts->json) {
        print_json(s);
    } else if (opts->verbose && s->status == 0) {
        report_put_escaped(stdout, s->input.name);
        printf(": sound, %s, %u x %u\n", s->result.from->title, s->result.width,
               s->result.height);
    }
}

bool check_run(const struct options *opts)
{
    struct checking all = { .opts = opts };
    const struct each_input_work work = { .task_size = sizeof(struct soundness),
                                          .work = examine,
                                          .report = print,
                                          .context = &all };
    char text[96];
    resource_limits_init(&all.limits, opts->limits.bytes, opts->threads);
    bool done = each_input(opts, &work);
    resource_limits_end(&all.limits);
    if (all.unsound && all.files > 1 && !opts->quiet) {
        snprintf(text, sizeof text,
                 "%llu of %llu files are not sound, or could not be checked",
                 (unsigned long long)all.unsound,
                 (unsigned long long)all.files);
        report_error(NULL, text);
    }
    return done && !all.unsound;
}
