/* All that is printed. */
#include "cli/report.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/json/json_write.h"
#include "codecs/base/utf8.h"

/* Control characters, among them those that UTF-8 writes with two bytes (C1),
 * and bytes that are no UTF-8 come out as \n, \t or \x1b. */
static void put_escaped(FILE *out, const char *text)
{
    while (*text) {
        size_t plain = 0; /* very many names are printed fast */
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
        put_escaped(stderr, file);
        fputs(": ", stderr);
    }
    fputs(kind, stderr);
    put_escaped(stderr, text);
    putc('\n', stderr);
}

void report_error(const char *file, const char *text)
{
    put_line(file, "", text);
}

/* All but warning number `except`, from 1. */
static void report_warnings(const char *file, const struct options *opts,
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

static void json_warnings(struct json *json, const struct warnings *warnings)
{
    json_open(json, "warnings", '[');
    for (unsigned i = 0; i < warnings->count && i < WARNINGS_MAX; i++)
        json_string(json, NULL, warnings->list[i].text);
    json_close(json, ']');
}

static void json_error(struct json *json, const struct err *err)
{
    if (err)
        json_string(json, "error", err->text);
    else
        json_null(json, "error");
}

static bool writes_to_stdout(const struct options *opts)
{
    return opts->command == COMMAND_TURN && opts->nfiles > 1 &&
           strcmp(opts->file[opts->nfiles - 1], "-") == 0;
}

void report_refusal(const char *status, const char *text,
                    const struct options *opts)
{
    struct json json = { .out = writes_to_stdout(opts) ? stderr : stdout };
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

const char *report_status(const struct result *result, const struct err *err)
{
    return err ? "failed" : result->skipped ? "skipped" : "done";
}

static void json_job(FILE *out, const struct job *job,
                     const struct result *result, const struct err *err)
{
    struct json json = { .out = out };
    bool done = !err && !result->skipped && result->from;
    json_open(&json, NULL, '{');
    if (job->id)
        json_raw(&json, "id", job->id, job->id_size);
    if (job->input)
        json_string(&json, "input", job->input);
    if (job->output)
        json_string(&json, "output", job->output);
    if (job->opts->op_name)
        json_string(&json, "op", job->opts->op_name);
    json_string(&json, "status", report_status(result, err));
    if (!err && result->skipped)
        json_string(&json, "reason", job_skipped_name(result->skipped));
    if (done) {
        json_string(&json, "how", job_how_name(result->how));
        json_string(&json, "turned", xform_name(result->turned));
        json_string(&json, "from", result->from->name);
        json_string(&json, "to", result->to->name);
        json_number(&json, "width", result->width);
        json_number(&json, "height", result->height);
        json_number(&json, "bytes_in", (double)result->bytes_in);
        json_number(&json, "bytes_out", (double)result->bytes_out);
    }
    json_string(&json, "backend", job->backend->name);
    json_open(&json, "seconds", '{');
    for (int i = 0; i < STAGES; i++)
        json_number(&json, job_stage_name((enum stage)i), result->seconds[i]);
    json_close(&json, '}');
    json_warnings(&json, &result->warnings);
    json_error(&json, err);
    json_close(&json, '}');
    putc('\n', out);
}

static void tell_job(const struct job *job, const struct result *result,
                     const char *why_backend)
{
    fputs("gimgxf: ", stderr);
    put_escaped(stderr, job->input);
    fputs(" -> ", stderr);
    put_escaped(stderr, job->output);
    fprintf(stderr, ": %s, %s, %s to %s, %u x %u\n", job->opts->op_name,
            job_how_name(result->how), result->from->title, result->to->title,
            result->width, result->height);
    if (result->turned != job->opts->op)
        fprintf(stderr,
                "gimgxf: stored pixels: %s, with the orientation tag\n",
                xform_name(result->turned));
    fprintf(stderr, "gimgxf: backend %s: %s\n", job->backend->name,
            why_backend);
    fprintf(stderr, "gimgxf: %zu bytes in, %zu out;", result->bytes_in,
            result->bytes_out);
    for (int i = 0; i < STAGES; i++)
        fprintf(stderr, " %s %.1f ms%s", job_stage_name((enum stage)i),
                result->seconds[i] * 1e3, i < STAGES - 1 ? "," : "\n");
}

/* The warning that a batch tells in its summary. */
static unsigned summed_up(const struct job *job, const struct result *result)
{
    return job->opts->command == COMMAND_BATCH ? result->anew : 0;
}

void report_job(const struct job *job, const struct result *result,
                const struct err *err, const char *why_backend)
{
    bool piped = strcmp(job->output, "-") == 0;
    const struct options *opts = job->opts;
    report_warnings(job->input, opts, &result->warnings,
                    summed_up(job, result));
    if (err) /* by the name of the file that is at fault */
        report_error(result->last == STAGE_WRITE ? job->output : job->input,
                     err->text);
    else if (result->skipped == SKIPPED_EXISTS && !opts->quiet)
        report_error(job->output, "exists, so it is left alone");
    else if (result->skipped == SKIPPED_NEWER && opts->verbose)
        report_error(job->output, "is newer, so it is left alone");
    else if (result->skipped == SKIPPED_DONE && opts->verbose)
        report_error(job->input, "was done before");
    else if (opts->verbose && !result->skipped)
        tell_job(job, result, why_backend);
    if (opts->json) /* the picture has stdout for itself */
        json_job(piped ? stderr : stdout, job, result, err);
}

bool report_is_due(const struct job *job, const struct result *result,
                   const struct err *err)
{
    const struct options *opts = job->opts;
    unsigned least = summed_up(job, result) ? 1 : 0;
    bool told =
        result->warnings.count > least || result->skipped == SKIPPED_EXISTS;
    return err || opts->json || opts->verbose || (told && !opts->quiet);
}

void report_answer(FILE *out, const struct job *job,
                   const struct result *result, const struct err *err)
{
    json_job(out, job, result, err);
}

void report_passed(const struct passed_file *file, const struct options *opts)
{
    struct json json = { .out = stdout };
    struct err text;
    if (opts->verbose) {
        fail(&text, "passed over: %s is not read", file->format->title);
        report_error(file->name, text.text);
    }
    if (!opts->json)
        return;
    json_open(&json, NULL, '{');
    json_string(&json, "input", file->name);
    json_string(&json, "status", "passed_over");
    json_string(&json, "format", file->format->title);
    json_close(&json, '}');
    putchar('\n');
}

static void tell_plan(const struct job *job, const struct result *result,
                      const struct err *err)
{
    put_escaped(stdout, job->input);
    fputs(" -> ", stdout);
    put_escaped(stdout, job->output);
    if (err)
        fputs("\twould fail: ", stdout);
    if (err)
        put_escaped(stdout, err->text);
    else if (result->anew)
        fputs("\twould re-encode, with loss", stdout);
}

void report_plan(const struct job *job, const struct result *result, bool known,
                 const struct err *err)
{
    struct json json = { .out = stdout };
    if (!job->opts->json) {
        tell_plan(job, result, err);
    } else {
        json_open(&json, NULL, '{');
        json_string(&json, "input", job->input);
        json_string(&json, "output", job->output);
        json_string(&json, "op", job->opts->op_name);
        json_string(&json, "status", err               ? "failed"
                                     : result->skipped ? "skipped"
                                                       : "planned");
        if (!err && result->skipped)
            json_string(&json, "reason", job_skipped_name(result->skipped));
        if (!err && known)
            json_string(&json, "how", job_how_name(result->how));
        json_warnings(&json, &result->warnings);
        json_error(&json, err);
        json_close(&json, '}');
    }
    putchar('\n');
}

/* ---- A picture --------------------------------------------------------- */

/* The names of the blocks, each once, with how often it is there. */
static bool seen_before(const struct meta *meta, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(meta->block[k].name, meta->block[i].name) == 0)
            return true;
    return false;
}

/* A file with very many blocks is described by its first ones. */
enum { BLOCKS_LISTED = 1000 };

static size_t parts_told(const struct meta *meta)
{
    return meta->nblocks < BLOCKS_LISTED ? meta->nblocks : BLOCKS_LISTED;
}

static void print_blocks(const struct meta *meta)
{
    const char *lead = "  metadata: ";
    for (size_t i = 0; i < parts_told(meta); i++) {
        size_t count = 0;
        if (seen_before(meta, i))
            continue;
        for (size_t k = i; k < meta->nblocks; k++)
            count += strcmp(meta->block[k].name, meta->block[i].name) == 0;
        fputs(lead, stdout);
        put_escaped(stdout, meta->block[i].name);
        if (count > 1)
            printf(" (%zu times)", count);
        lead = ", ";
    }
    if (*lead == ',')
        putchar('\n');
}

static void tell_array(const struct array_note *array)
{
    char shape[256];
    layout_print_shape(shape, sizeof shape, array->shape, array->naxes);
    fputs("  array ", stdout);
    put_escaped(stdout, array->name);
    printf("%sshape %s, type ", *array->name ? ": " : "of ", shape);
    put_escaped(stdout, array->type);
    if (array->layout)
        printf(", layout %s", layout_name(array->layout));
    puts(array->fortran ? ", Fortran order" : "");
}

static size_t arrays_told(const struct meta *meta)
{
    return meta->narrays < BLOCKS_LISTED ? meta->narrays : BLOCKS_LISTED;
}

/* What there is to say of arrays that are no picture of ours. */
static void tell_arrays(const char *file, const struct image *img,
                        const struct result *result)
{
    put_escaped(stdout, file);
    printf(": %s", result->from->title);
    if (img->width)
        printf(", %u x %u", img->width, img->height);
    putchar('\n');
}

static void tell_color(const char *file, const struct image *img,
                       const struct result *result)
{
    const struct meta *meta = img->meta;
    put_escaped(stdout, file);
    printf(": %s, %u x %u, %s%s", result->from->title, img->width, img->height,
           color_name(img->color), img->alpha ? " with alpha" : "");
    if (img->color == COLOR_OTHER)
        printf(" (%u)", img->nplanes);
    if (img->cell == CELL_F32)
        printf(", 32-bit float");
    else
        printf(", %u bit%s", image_bits(img), img->maxval > 1 ? "s" : "");
    if (meta && meta->interlaced)
        printf(", interlaced");
    if (meta && meta->progressive)
        printf(", progressive");
    if (img->orientation != 1)
        printf(", orientation %u (shown by %s), as %s says", img->orientation,
               xform_name(xform_from_exif(img->orientation)),
               orientation_place(meta->orientation.place));
    if (meta && meta->orientation.other)
        printf(", although %s says %u",
               orientation_place(meta->orientation.other_place),
               meta->orientation.other);
    putchar('\n');
}

static void tell_picture(const char *file, const struct image *img,
                         const struct result *result)
{
    const struct meta *meta = img->meta;
    (img->nplanes ? tell_color : tell_arrays)(file, img, result);
    if (meta)
        print_blocks(meta);
    for (size_t i = 0; meta && i < arrays_told(meta); i++)
        tell_array(&meta->array[i]);
}

static void json_arrays(struct json *json, const struct meta *meta)
{
    json_open(json, "arrays", '[');
    for (size_t i = 0; i < arrays_told(meta); i++) {
        const struct array_note *array = &meta->array[i];
        json_open(json, NULL, '{');
        json_string(json, "name", array->name);
        json_string(json, "type", array->type);
        json_open(json, "shape", '[');
        for (unsigned k = 0; k < array->naxes && k < LAYOUT_AXES; k++)
            json_number(json, NULL, (double)array->shape[k]);
        json_close(json, ']');
        if (array->layout)
            json_string(json, "layout", layout_name(array->layout));
        else
            json_null(json, "layout");
        json_bool(json, "fortran", array->fortran);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Where the orientation stands, and what another tag says instead. */
static void json_tags(struct json *json, const struct meta *meta)
{
    const struct orientation o =
        meta ? meta->orientation : (struct orientation){ 0 };
    if (o.place)
        json_string(json, "orientation_from", orientation_place(o.place));
    else
        json_null(json, "orientation_from");
    if (!o.other)
        return;
    json_open(json, "orientation_other", '{');
    json_number(json, "orientation", o.other);
    json_string(json, "from", orientation_place(o.other_place));
    json_close(json, '}');
}

static void json_picture(const char *file, const struct image *img,
                         const struct result *result, const struct err *err)
{
    struct json json = { .out = stdout };
    const struct meta *meta = img->meta;
    json_open(&json, NULL, '{');
    json_string(&json, "input", file);
    if (!err) {
        json_string(&json, "format", result->from->name);
        json_number(&json, "width", img->width);
        json_number(&json, "height", img->height);
        json_string(&json, "color", color_name(img->color));
        json_bool(&json, "alpha", img->alpha);
        json_number(&json, "channels", img->nplanes);
        json_number(&json, "bits", image_bits(img));
        json_bool(&json, "float", img->cell == CELL_F32);
        json_number(&json, "maxval", img->maxval);
        json_number(&json, "orientation", img->orientation);
        json_tags(&json, meta);
        json_bool(&json, "interlaced", meta && meta->interlaced);
        json_bool(&json, "progressive", meta && meta->progressive);
        json_open(&json, "metadata", '[');
        for (size_t i = 0; meta && i < parts_told(meta); i++) {
            json_open(&json, NULL, '{');
            json_string(&json, "name", meta->block[i].name);
            json_number(&json, "bytes", (double)meta->block[i].size);
            json_close(&json, '}');
        }
        json_close(&json, ']');
        if (meta && meta->narrays)
            json_arrays(&json, meta);
        json_number(&json, "bytes", (double)result->bytes_in);
    }
    json_warnings(&json, &result->warnings);
    json_error(&json, err);
    json_close(&json, '}');
    putchar('\n');
}

/* A field of CSV (RFC 4180): a name may hold anything. */
static void put_field(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    putchar('"');
}

void report_csv_head(void)
{
    puts("input,format,width,height,color,alpha,channels,bits,float,maxval,"
         "orientation,orientation_from,interlaced,progressive,bytes,error");
}

static void csv_picture(const char *file, const struct image *img,
                        const struct result *result, const struct err *err)
{
    const struct meta *meta = img->meta;
    const struct orientation tags =
        meta ? meta->orientation : (struct orientation){ 0 };
    put_field(file);
    if (err) {
        printf(",,,,,,,,,,,,,,,");
        put_field(err->text);
    } else {
        const char *place = tags.place ? orientation_place(tags.place) : "";
        printf(",%s,%u,%u,%s,%d,%u,%u,%d,%u,%u,%s,%d,%d,%zu,",
               result->from->name, img->width, img->height,
               color_name(img->color), img->alpha, img->nplanes,
               image_bits(img), img->cell == CELL_F32, img->maxval,
               img->orientation, place, meta && meta->interlaced,
               meta && meta->progressive, result->bytes_in);
    }
    putchar('\n');
}

void report_picture(const char *file, const struct options *opts,
                    const struct image *img, const struct result *result,
                    const struct err *err)
{
    report_warnings(file, opts, &result->warnings, 0);
    if (err)
        report_error(file, err->text);
    if (opts->json)
        json_picture(file, img, result, err);
    else if (opts->csv)
        csv_picture(file, img, result, err);
    else if (!err)
        tell_picture(file, img, result);
}
