/* gimgxf relate: says which turn makes one picture another. */
#include "cli/commands/relate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli/job/job.h"
#include "cli/json/json_write.h"
#include "cli/report/report.h"
#include "cli/sandbox/sandbox.h"
#include "codecs/compare/relate.h"

/* Decibels from which on pictures are nearly the same: what is encoded anew is
 * about so far apart, other pictures are 10 to 30. */
enum { NEARLY = 40 };

static bool is_apart(const struct relation *relation)
{
    return !relation->same && relation->fits && !*relation->frames;
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

static void print_json(const struct options *opts,
                       const struct relation *relation, const struct err *err)
{
    struct json_writer json = { .out = stdout };
    const struct difference *far = &relation->far;
    const char *frames = relation->frames;
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
    if (!err && *frames) {
        json_string(&json, "nearest", xform_name(relation->nearest));
        json_string(&json, "frames", frames);
    }
    json_string(&json, "error", err ? err->text : NULL);
    json_close(&json, '}');
    putchar('\n');
}

/* Without decibels where there are none: of what is not a number, or where only
 * the signs of zeros differ. */
static void print_difference(const struct relation *relation)
{
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
           far->right - far->left, far->bottom - far->top, far->left, far->top);
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
    else if (*relation->frames)
        printf("none: %s makes the default image the same, but %s\n",
               xform_name(relation->nearest), relation->frames);
    else if (!relation->fits)
        puts("none: the sizes differ");
    else
        print_difference(relation);
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
        print_json(opts, &relation, status ? &err : NULL);
    else if (status == 0)
        print_words(&relation);
    return status == 0 && (relation.same || is_nearly(&relation));
}
