/* Names the output of each input. */
#include "cli/select/outputs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/files/path.h"
#include "cli/job/job.h"

struct shown outputs_show(const char *name)
{
    struct shown shown;
    size_t length = strlen(name), most = sizeof shown.text - 4;
    const char *end = name + length;
    if (length <= most) {
        memcpy(shown.text, name, length + 1);
        return shown;
    }
    name = end - most;
    while (((unsigned char)*name & 0xc0) == 0x80) /* within a character */
        name++;
    snprintf(shown.text, sizeof shown.text, "...%s", name);
    return shown;
}

/* ---- The options ------------------------------------------------------- */

/* The name of an output without --output. */
#define AS_INPUT "{stem}.{ext}"

static int check_template(const struct options *opts, struct err *err)
{
    const char *text = opts->output;
    if (strcmp(text, "-") == 0)
        return fail(err, "--output: a batch cannot write to standard output; "
                         "write ./- for a file of that name");
    if (opts->directory && *text == '/')
        return fail(
            err,
            "--output: %s must be a relative name, since --directory is given",
            outputs_show(text).text);
    return 0;
}

int outputs_init(struct outputs *outputs, const struct options *opts,
                 struct err *err)
{
    struct stat st;
    outputs->opts = opts;
    if (opts->output && check_template(opts, err))
        return -1;
    if (name_template_parse(&outputs->template,
                            opts->output ? opts->output : AS_INPUT, err))
        return -1;
    if (opts->directory)
        path_text_set(&outputs->folder, opts->directory);
    outputs->has_folder =
        opts->directory ||
        (opts->output &&
         name_template_folder(&outputs->template, &outputs->folder));
    if (!outputs->has_folder)
        return 0;
    if (outputs->folder.cut)
        return fail(err, "%s: the name is too long",
                    outputs_show(outputs->folder.text).text);
    if (stat(outputs->folder.text, &st) == 0 && !S_ISDIR(st.st_mode))
        return fail(err, "%s: not a directory",
                    outputs_show(outputs->folder.text).text);
    outputs->start = outputs->folder.length;
    return 0;
}

/* ---- One output -------------------------------------------------------- */

/* Puts the name together. Without --output the tree below a directory is
 * mirrored. */
static void put_together(const struct outputs *outputs,
                         const struct input *input, struct path_text *name)
{
    const struct options *opts = outputs->opts;
    const char *below = input->name + input->below;
    const char *slash = input->below ? strrchr(below, '/') : NULL;
    path_text_set(name, opts->directory ? opts->directory : "");
    if (name->length && name->text[name->length - 1] != '/')
        path_text_add(name, "/", 1);
    if (!opts->output && slash)
        path_text_add(name, below, (size_t)(slash - below) + 1);
    name_template_expand(&outputs->template, opts, input->name, input->number,
                         name);
    if (strcmp(name->text, "-") == 0) /* which is standard output */
        path_text_set(name, "./-");
}

static int check_folder(const struct outputs *outputs,
                        const struct input *input, const struct path_text *name,
                        struct err *err)
{
    if (*input->name == '/' && outputs->opts->output &&
        name_template_has(&outputs->template, FIELD_DIR))
        return fail(err,
                    "{dir} of %s begins with /, so its output cannot be "
                    "below %s",
                    outputs_show(input->name).text,
                    outputs_show(outputs->folder.text).text);
    if (path_has(name->text + outputs->start, ".."))
        return fail(err, "%s, what %s becomes, would leave %s by ..",
                    outputs_show(name->text).text,
                    outputs_show(input->name).text,
                    outputs_show(outputs->folder.text).text);
    return 0;
}

static int check_format(const struct outputs *outputs,
                        const struct input *input, const struct path_text *name,
                        struct err *err)
{
    struct job job = {
        .input = input->name,
        .output = name->text,
        .opts = outputs->opts,
    };
    struct err why;
    if (job_choose_format(&job, &why))
        return fail(err, "%s: %s", outputs_show(name->text).text, why.text);
    return 0;
}

/* Returns whether a name can only be a directory's: it ends in ".", ".." or a
 * slash. */
static bool is_directory(const char *name)
{
    struct path path = path_split(name, strlen(name));
    return path.nbase == 0 || (path.nbase == 1 && path.base[0] == '.') ||
           (path.nbase == 2 && memcmp(path.base, "..", 2) == 0);
}

int outputs_name(const struct outputs *outputs, const struct input *input,
                 struct path_text *name, struct err *err)
{
    put_together(outputs, input, name);
    if (input->directory)
        return 0; /* it fails when its turn comes */
    if (is_directory(input->name))
        return fail(err,
                    "%s: a directory; --recursive (-r) takes the pictures "
                    "in it",
                    outputs_show(input->name).text);
    if (name->cut)
        return fail(
            err, "%s...: the name of the output of %s is too long",
            outputs_show(outputs->has_folder ? outputs->folder.text : "").text,
            outputs_show(input->name).text);
    if (outputs->has_folder && check_folder(outputs, input, name, err))
        return -1;
    if (name->length == 0 || name->text[name->length - 1] == '/' ||
        is_directory(name->text))
        return fail(err, "'%s', what %s becomes, is not the name of a file",
                    outputs_show(name->text).text,
                    outputs_show(input->name).text);
    return check_format(outputs, input, name, err);
}
