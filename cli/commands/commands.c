/* The commands that write no pictures, but for info. */
#include "cli/commands/commands.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/job/job.h"
#include "cli/json/json.h"
#include "cli/report/report.h"
#include "cli/sandbox/sandbox.h"
#include "cli/schedule/resource_limits.h"
#include "cli/select/inputs.h"
#include "codecs/compare/compare.h"
#include "codecs/libraries.h"
#include "cuda/backend.h"
#include "cuda/backend_choose.h"

/* Returns whether nobody reads on, or the disk is full. */
static bool is_unheard(void *context)
{
    (void)context;
    return ferror(stdout);
}

bool each_input(const struct options *opts, struct ordered_workers_opts work)
{
    /* Standard input is one file, and never part of a list. */
    const bool one = opts->nfiles == 1 && !opts->files_from &&
                     strcmp(opts->file[0], "-") == 0;
    struct inputs inputs = { 0 };
    struct ordered_workers *workers = NULL;
    struct each_input *next;
    struct err err;
    int status = one ? inputs_add(&inputs, &(struct input){ .name = "-" }, &err)
                     : inputs_gather(&inputs, opts, NULL, &err);
    if (status == 0 && inputs.count) {
        work.workers =
            inputs.count < opts->threads ? inputs.count : opts->threads;
        sandbox_enter_for_inputs(&inputs, opts);
        workers = ordered_workers_open(&work);
        status = workers ? 0 : fail(&err, "no memory");
    }
    if (workers) {
        report_refused_threads(ordered_workers_refused(workers), opts);
        for (uint32_t i = 0; i < inputs.count; i++) {
            next = ordered_workers_room(workers, is_unheard);
            if (!next)
                break;
            next->name = inputs.list[i].name;
            next->root = inputs.list[i].root;
            ordered_workers_give(workers);
        }
        ordered_workers_close(workers);
    }
    if (status == 0)
        status = inputs_check_found(&inputs, opts, &err);
    if (status)
        report_refusal("failed", err.text, opts);
    if (!ferror(stdout))
        report_passed_over(&inputs.passed, opts);
    inputs_free(&inputs);
    return status == 0;
}

/* ---- check -------------------------------------------------------------- */

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
    bool told; /* that a file was looked at only in part */
};

static bool examine(void *context, unsigned worker, void *task)
{
    struct checking *all = context;
    (void)worker;
    struct checked_file *s = task;
    struct resource_share share = { .limits = &all->limits };
    const struct job job = { .input = s->input.name,
                             .input_root = s->input.root,
                             .opts = all->opts,
                             .tools = { .reserve = resource_limits_take_cells,
                                        .context = &share } };
    s->soundness = job_check_sound(&job, &s->result,
                                   all->opts->json ? s->digest : NULL, &s->err);
    resource_limits_return_all(&share);
    return true;
}

static void print_checked(void *context, void *task)
{
    struct checking *all = context;
    struct checked_file *s = task;
    const struct options *opts = all->opts;
    struct err text = s->err;
    all->files++;
    all->unsound += s->soundness == UNSOUND;
    all->unknown += s->soundness == SOUNDNESS_UNKNOWN;
    /* Most are of what a turn would lose; but of files that the library of
     * their format would tell more of, those of the first are printed. */
    const struct codec *from = s->result.from;
    struct err unheard;
    const bool partly = s->soundness == SOUND && from->load_slow &&
                        from->load_slow(&unheard) && !all->told;
    all->told = all->told || partly;
    if (opts->verbose || partly)
        report_warnings(s->input.name, opts, &s->result.warnings, 0);
    if (s->soundness == SOUNDNESS_UNKNOWN)
        fail(&text, "not checked: %s", s->err.text);
    if (s->soundness != SOUND)
        report_error(s->input.name, text.text);
    if (opts->json) {
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
    } else if (opts->verbose && s->soundness == SOUND) {
        report_put_escaped(stdout, s->input.name);
        printf(": sound, %s, %u x %u\n", s->result.from->title, s->result.width,
               s->result.height);
    }
}

bool check_run(const struct options *opts)
{
    struct checking all = { .opts = opts };
    const struct ordered_workers_opts work = {
        .task_size = sizeof(struct checked_file),
        .work = examine,
        .report = print_checked,
        .context = &all,
    };
    char unknown[48] = "";
    struct err text;
    resource_limits_init(&all.limits, opts->limits.bytes, opts->threads);
    bool done = each_input(opts, work);
    resource_limits_end(&all.limits);
    if (all.unknown)
        snprintf(unknown, sizeof unknown, "; not checked: %" PRIu64,
                 all.unknown);
    fail(&text, "%" PRIu64 " of %" PRIu64 " files are not sound%s", all.unsound,
         all.files, unknown);
    if (all.unsound + all.unknown && all.files > 1 && !opts->quiet)
        report_error(NULL, text.text);
    return done && !all.unsound && !all.unknown;
}

/* ---- relate ------------------------------------------------------------- */

/* Decibels from which on pictures are nearly the same: what is encoded anew is
 * about so far apart, other pictures are 10 to 30. */
enum { NEARLY = 40 };

static bool is_apart(const struct relation *relation)
{
    return !relation->same && relation->fits;
}

static bool is_nearly(const struct relation *relation)
{
    return is_apart(relation) && difference_psnr(&relation->far) >= NEARLY;
}

static const char *compared(const struct relation *relation)
{
    return relation->coefficients ? "coefficients"
           : relation->unlike     ? "colors"
                                  : "samples";
}

static void print_relation_json(const struct options *opts,
                                const struct relation *relation,
                                const struct err *err)
{
    struct json_writer json = { .out = stdout };
    const struct difference *far = &relation->far;
    json_open(&json, NULL, '{');
    json_string(&json, "first", opts->file[0]);
    json_string(&json, "second", opts->file[1]);
    if (!err) {
        json_string(&json, "compared", compared(relation));
        json_open(&json, "turns", '[');
        for (int t = 0; t < XFORM_COUNT; t++)
            if (relation->same >> t & 1)
                json_string(&json, NULL, xform_name((enum xform)t));
        json_close(&json, ']');
    }
    if (!err && is_apart(relation)) {
        json_bool(&json, "nearly", is_nearly(relation));
        json_string(&json, "nearest", xform_name(relation->nearest));
        json_number(&json, "psnr", difference_psnr(far));
        json_uint(&json, "differing", far->differing);
        json_uint(&json, "of", far->cells);
        json_open(&json, "within", '{');
        json_uint(&json, "x", far->left);
        json_uint(&json, "y", far->top);
        json_uint(&json, "width", far->right - far->left);
        json_uint(&json, "height", far->bottom - far->top);
        json_close(&json, '}');
    }
    json_string(&json, "error", err ? err->text : NULL);
    json_close(&json, '}');
    putchar('\n');
}

static void print_words(const struct relation *relation)
{
    const char *separator = "";
    for (int t = 0; t < XFORM_COUNT; t++)
        if (relation->same >> t & 1) {
            printf("%s%s", separator, xform_name((enum xform)t));
            separator = " or ";
        }
    if (relation->same)
        printf(": the same %s\n", compared(relation));
    else if (!relation->fits)
        puts("none: the sizes differ");
    else {
        /* Without decibels where there are none: of what is not a number, or
         * where only the signs of zeros differ. */
        const struct difference *far = &relation->far;
        const double psnr = difference_psnr(far);
        const bool nearly = is_nearly(relation);
        printf(nearly ? "%s, nearly: " : "none: %s comes closest",
               xform_name(relation->nearest));
        if (isfinite(psnr))
            printf("%s%.1f dB apart", nearly ? "" : ", ", psnr);
        printf("%s%" PRIu64 " of %" PRIu64
               " %s differ, within %u x %u pixels at %u, %u\n",
               !nearly          ? ": "
               : isfinite(psnr) ? ", "
                                : "",
               far->differing, far->cells, compared(relation),
               far->right - far->left, far->bottom - far->top, far->left,
               far->top);
    }
}

bool relate_run(const struct options *opts)
{
    struct relation relation = { .same = 0 };
    struct warnings warnings = { 0 };
    struct err err;
    sandbox_enter_for_files(opts->file, opts->nfiles, opts);
    int status = job_relate(&relation, opts->file[0], opts->file[1], opts,
                            &warnings, &err);
    if (!opts->json)
        report_warnings(NULL, opts, &warnings, 0);
    if (status)
        report_error(NULL, err.text);
    if (opts->json)
        print_relation_json(opts, &relation, status ? &err : NULL);
    else if (status == 0)
        print_words(&relation);
    return status == 0 && (relation.same || is_nearly(&relation));
}

/* ---- version ------------------------------------------------------------ */

void version_print(void)
{
    struct library list[LIBRARIES_MAX];
    size_t n = libraries_list(list);
    char text[256];
    struct err why;
    puts("gimgxf " GIMGXF_VERSION);
    printf("libraries: ");
    for (size_t i = 0; i < n; i++)
        printf("%s%s %s", i ? ", " : "", list[i].name, list[i].version);
    putchar('\n');
    if (*libraries_loaded())
        printf("loaded when needed: %s\n", libraries_loaded());
    if (backend_cpu.describe(0, text, sizeof text))
        printf("SIMD: %s\n", text);
    const struct backend *cuda = backend_choose("cuda", &why);
    if (!cuda)
        printf("GPU: none; %s\n", why.text);
    for (unsigned i = 0; cuda && cuda->describe(i, text, sizeof text); i++)
        printf("GPU %u: %s\n", i, text);
}
