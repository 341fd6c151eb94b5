/* Prints messages and the results of jobs. */
#include "cli/report/report.h"

#include <stdint.h>
#include <string.h>

#include "cli/json/json.h"
#include "codecs/base/bytes.h"

/* Prints control characters, among them those of two bytes in UTF-8 (C1), and
 * bytes that are not UTF-8 as \n, \t or \x1b. */
void report_put_escaped(FILE *out, const char *text)
{
    while (*text) {
        size_t plain = 0; /* most names have nothing else */
        while (text[plain] >= 0x20 && text[plain] < 0x7f)
            plain++;
        text += fwrite(text, 1, plain, out) == plain ? plain : strlen(text);
        if (plain)
            continue;
        unsigned n = utf8_length(text);
        uint8_t c = (uint8_t)text[0];
        bool c1 = n == 2 && c == 0xc2 && (uint8_t)text[1] < 0xa0;
        if (c == '\n' || c == '\t') {
            fputs(c == '\n' ? "\\n" : "\\t", out);
            text++;
        } else if (n == 0 || c1 || c < 0x20 || c == 0x7f) {
            fprintf(out, "\\x%02x", c);
            text++;
            if (c1)
                fprintf(out, "\\x%02x", (uint8_t)*text++);
        } else {
            text += fwrite(text, 1, n, out) == n ? n : 1;
        }
    }
}

static void put_line(const char *file, const char *kind, const char *text)
{
    fputs("gimgxf: ", stderr);
    if (file) {
        report_put_escaped(stderr, file);
        fputs(": ", stderr);
    }
    fputs(kind, stderr);
    report_put_escaped(stderr, text);
    putc('\n', stderr);
}

void report_error(const char *file, const char *text)
{
    put_line(file, "", text);
}

void report_refused_threads(int why, const struct options *opts)
{
    if (why && !opts->quiet)
        put_line(NULL,
                 "warning: not all threads could be started: ", strerror(why));
}

void report_warnings(const char *file, const struct options *opts,
                     const struct warnings *warnings, unsigned except)
{
    char more[64];
    if (opts->quiet)
        return;
    for (unsigned i = 0; i < warnings->count && i < WARNINGS_MAX; i++)
        if (i + 1 != except)
            put_line(file, "warning: ", warnings->list[i].text);
    if (warnings->count > WARNINGS_MAX) {
        snprintf(more, sizeof more, "%u more", warnings->count - WARNINGS_MAX);
        put_line(file, "warning: ", more);
    }
}

void report_json_warnings(struct json_writer *json,
                          const struct warnings *warnings, unsigned except)
{
    json_open(json, "warnings", '[');
    for (unsigned i = 0; i < warnings->count && i < WARNINGS_MAX; i++)
        if (i + 1 != except)
            json_string(json, NULL, warnings->list[i].text);
    json_close(json, ']');
}

void report_refusal(const char *status, const char *text,
                    const struct options *opts)
{
    const bool taken = opts->command == COMMAND_TURN && opts->nfiles > 1 &&
                       strcmp(opts->file[opts->nfiles - 1], "-") == 0;
    struct json_writer json = { .out = taken ? stderr : stdout };
    report_error(NULL, text);
    if (!opts->json)
        return;
    json_open(&json, NULL, '{');
    json_string(&json, "status", status);
    json_string(&json, "error", text);
    json_close(&json, '}');
    putc('\n', json.out);
}

/* ---- A job ------------------------------------------------------------- */

/* What is turned as it is coded is so by a device, whatever turns the others.
 */
static const char *backend_name(const struct job *job,
                                const struct result *result)
{
    return result->device_use == DEVICE_TURNED ? "cuda"
           : result->by_backend                ? job->tools.backend->name
                                               : backend_cpu.name;
}

void report_answer(FILE *out, const struct json_value *id,
                   const struct job *job, const struct result *result,
                   const struct err *err)
{
    struct json_writer json = { .out = out };
    bool done = !err && !result->skipped && result->from;
    json_open(&json, NULL, '{');
    if (id)
        json_raw(&json, "id", id->raw, id->raw_size);
    if (job->input)
        json_string(&json, "input", job->input);
    if (job->output)
        json_string(&json, "output", job->output);
    if (job->opts->op_name)
        json_string(&json, "op", job->opts->op_name);
    json_string(&json, "status",
                err               ? "failed"
                : result->skipped ? "skipped"
                                  : "done");
    if (!err && result->skipped)
        json_string(&json, "reason", job_skipped_name[result->skipped]);
    if (done) {
        json_string(&json, "how", job_how_name[result->how]);
        json_string(&json, "turned", xform_name(result->turned));
        json_string(&json, "from", result->from->name);
        json_string(&json, "to", result->to->name);
        json_number(&json, "width", result->width);
        json_number(&json, "height", result->height);
        json_number(&json, "bytes_in", (double)result->bytes_in);
        json_number(&json, "bytes_out", (double)result->bytes_out);
        json_bool(&json, "replaced", result->replaced);
        json_number(&json, "threads", result->threads);
    }
    if (done && result->worker)
        json_number(&json, "worker", result->worker);
    if (done && result->verified.done) {
        json_string(&json, "verified", result->verified.same ? "same" : "near");
        if (!result->verified.same)
            json_number(&json, "psnr", result->verified.psnr);
    }
    json_string(&json, "backend", backend_name(job, result));
    json_open(&json, "seconds", '{');
    for (int i = 0; i < STAGES; i++)
        json_number(&json, job_stage_name[i], result->seconds[i]);
    json_close(&json, '}');
    report_json_warnings(&json, &result->warnings,
                         err ? result->edge_warning : 0);
    json_string(&json, "error", err ? err->text : NULL);
    json_close(&json, '}');
    putc('\n', out);
}

static void print_job(const struct job *job, const struct result *result,
                      const char *why_backend)
{
    const char *backend = backend_name(job, result);
    const char *why = result->device_use == DEVICE_TURNED
                          ? "its coded data is turned in a batch"
                      : strcmp(backend, job->tools.backend->name) == 0
                          ? why_backend
                          : "nothing was there that a GPU moves";
    fputs("gimgxf: ", stderr);
    report_put_escaped(stderr, job->input);
    fputs(" -> ", stderr);
    report_put_escaped(stderr, job->output);
    fprintf(stderr, ": %s, %s, %s to %s, %u x %u\n", job->opts->op_name,
            job_how_name[result->how], result->from->title, result->to->title,
            result->width, result->height);
    if (result->turned != job->opts->op)
        fprintf(stderr, "gimgxf: stored pixels: %s, with the orientation tag\n",
                xform_name(result->turned));
    fprintf(stderr, "gimgxf: backend %s: %s\n", backend, why);
    if (result->scratch)
        fprintf(stderr,
                "gimgxf: turned through a temporary file of %llu bytes\n",
                (unsigned long long)result->scratch);
    if (result->verified.same)
        fputs("gimgxf: verified: the same, as libraries decode it\n", stderr);
    else if (result->verified.done)
        fprintf(stderr,
                "gimgxf: verified: %.1f dB apart, as libraries decode it\n",
                result->verified.psnr);
    fprintf(stderr, "gimgxf: %zu bytes in, %zu out, %u thread%s;",
            result->bytes_in, result->bytes_out, result->threads,
            result->threads == 1 ? "" : "s");
    for (int i = 0; i < STAGES; i++)
        fprintf(stderr, " %s %.1f ms%s", job_stage_name[i],
                result->seconds[i] * 1e3, i < STAGES - 1 ? "," : "\n");
}

/* Returns the number of the warning, from 1, that the summary of a batch has,
 * or that is not true of what was not written. */
static unsigned left_out(const struct job *job, const struct result *result,
                         const struct err *err)
{
    return err || job->opts->command == COMMAND_BATCH ? result->edge_warning
                                                      : 0;
}

void report_job(const struct job *job, const struct result *result,
                const struct err *err, const char *why_backend)
{
    bool piped = strcmp(job->output, "-") == 0;
    const struct options *opts = job->opts;
    /* What a file would have lost is of no use if it fails: one line says why.
     */
    if (!err || opts->verbose)
        report_warnings(job->input, opts, &result->warnings,
                        left_out(job, result, err));
    if (err) /* names the file that is at fault */
        report_error(result->last == STAGE_WRITE ? job->output : job->input,
                     err->text);
    else if (result->skipped == SKIPPED_EXISTS && !opts->quiet)
        report_error(job->output, "exists, so it is left alone");
    else if (result->skipped == SKIPPED_NEWER && opts->verbose)
        report_error(job->output, "is newer, so it is left alone");
    else if (result->skipped == SKIPPED_DONE && opts->verbose)
        report_error(job->input, "was done before");
    else if (opts->verbose && !result->skipped)
        print_job(job, result, why_backend);
    if (!err && result->replaced && job->tells_replaced && !opts->quiet)
        report_error(job->output, "existed and was replaced; -n leaves such a "
                                  "file alone, -f says nothing");
    if (opts->json) /* a picture has standard output for itself */
        report_answer(piped ? stderr : stdout, NULL, job, result, err);
}

bool report_is_due(const struct job *job, const struct result *result,
                   const struct err *err)
{
    const struct options *opts = job->opts;
    unsigned least = left_out(job, result, err) ? 1 : 0;
    bool noteworthy =
        result->warnings.count > least || result->skipped == SKIPPED_EXISTS;
    return err || opts->json || opts->verbose || (noteworthy && !opts->quiet);
}

void report_passed_over(const struct passed_over *passed,
                        const struct options *opts)
{
    size_t all = 0;
    for (unsigned i = 0; i < passed->kinds; i++)
        all += passed->kind[i].files;
    if (!all || opts->quiet)
        return;
    fprintf(stderr, "gimgxf: %zu file%s passed over", all, all == 1 ? "" : "s");
    for (unsigned i = 0; i < passed->kinds; i++) {
        const char *title = passed->kind[i].format->title;
        const size_t files = passed->kind[i].files;
        fprintf(stderr, "%s%zu %s%s", i ? ", " : ": ", files, title,
                files > 1 && strcmp(title, "video") == 0 ? "s" : "");
    }
    putc('\n', stderr);
}

void report_plan(const struct job *job, enum skipped skipped,
                 const struct err *refusal)
{
    struct json_writer json = { .out = stdout };
    if (job->opts->json) {
        json_open(&json, NULL, '{');
        json_string(&json, "input", job->input);
        json_string(&json, "output", job->output);
        json_string(&json, "op", job->opts->op_name);
        json_string(&json, "status",
                    refusal   ? "failed"
                    : skipped ? "skipped"
                              : "planned");
        if (skipped)
            json_string(&json, "reason", job_skipped_name[skipped]);
        json_string(&json, "error", refusal ? refusal->text : NULL);
        json_close(&json, '}');
    } else if (!refusal && !skipped) {
        report_put_escaped(stdout, job->input);
        fputs(" -> ", stdout);
        report_put_escaped(stdout, job->output);
    } else {
        return;
    }
    putchar('\n');
}
