/* gimgxf check: says which files are damaged. */
#include "cli/commands/check.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/commands/each_input.h"
#include "cli/job/job.h"
#include "cli/json/json_write.h"
#include "cli/report/report.h"
#include "cli/schedule/resource_limits.h"
#include "codecs/compare/digest.h"

struct checked_file {
    struct each_input input;
    struct result result;
    char digest[DIGEST_TEXT];
    struct err err;
    enum soundness soundness;
};

struct checking {
    const struct options *opts;
    struct resource_limits limits;
    uint64_t files, unsound, unknown;
};

static void examine(void *context, void *task)
{
    struct checking *all = context;
    struct checked_file *s = task;
    struct resource_share share = { .limits = &all->limits };
    s->soundness = job_check_sound(
        s->input.name, s->input.root, all->opts, resource_limits_take_cells,
        &share, &s->result, all->opts->json ? s->digest : NULL, &s->err);
    resource_limits_return_all(&share);
}

static void print_json(const struct checked_file *s)
{
    struct json_writer json = { .out = stdout };
    json_open(&json, NULL, '{');
    json_string(&json, "input", s->input.name);
    if (s->soundness == SOUNDNESS_UNKNOWN)
        json_string(&json, "sound", NULL);
    else
        json_bool(&json, "sound", s->soundness == SOUND);
    if (s->result.from)
        json_string(&json, "format", s->result.from->name);
    if (s->soundness == SOUND) {
        json_uint(&json, "width", s->result.width);
        json_uint(&json, "height", s->result.height);
        json_string(&json, "sha256", *s->digest ? s->digest : NULL);
    }
    report_json_warnings(&json, &s->result.warnings, 0);
    json_string(&json, "error", s->soundness == SOUND ? NULL : s->err.text);
    json_close(&json, '}');
    putchar('\n');
}

static struct err not_checked(const struct err *why)
{
    struct err err;
    fail(&err, "not checked: %s", why->text);
    return err;
}

static void print(void *context, void *task)
{
    struct checking *all = context;
    struct checked_file *s = task;
    const struct options *opts = all->opts;
    all->files++;
    all->unsound += s->soundness == UNSOUND;
    all->unknown += s->soundness == SOUNDNESS_UNKNOWN;
    if (opts->verbose) /* most are of what a turn would lose */
        report_warnings(s->input.name, opts, &s->result.warnings, 0);
    if (s->soundness != SOUND)
        report_error(s->input.name, s->soundness == UNSOUND
                                        ? s->err.text
                                        : not_checked(&s->err).text);
    if (opts->json) {
        print_json(s);
    } else if (opts->verbose && s->soundness == SOUND) {
        report_put_escaped(stdout, s->input.name);
        printf(": sound, %s, %u x %u\n", s->result.from->title, s->result.width,
               s->result.height);
    }
}

static void print_summary(const struct checking *all)
{
    char unknown[48] = "";
    struct err text;
    if (all->unknown)
        snprintf(unknown, sizeof unknown, "; not checked: %" PRIu64,
                 all->unknown);
    fail(&text, "%" PRIu64 " of %" PRIu64 " files are not sound%s",
         all->unsound, all->files, unknown);
    report_error(NULL, text.text);
}

bool check_run(const struct options *opts)
{
    struct checking all = { .opts = opts };
    const struct each_input_work work = { .task_size =
                                              sizeof(struct checked_file),
                                          .work = examine,
                                          .report = print,
                                          .context = &all };
    resource_limits_init(&all.limits, opts->limits.bytes, opts->threads);
    bool done = each_input(opts, &work);
    resource_limits_end(&all.limits);
    if (all.unsound + all.unknown && all.files > 1 && !opts->quiet)
        print_summary(&all);
    return done && !all.unsound && !all.unknown;
}
