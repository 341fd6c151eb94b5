/* Names the output of each input. */
#include "cli/select/plan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/files/path.h"
#include "cli/job/job.h"
#include "codecs/codec.h"

/* ---- Reading a template
 * ----------------------------------------------------------- */

static int add_part(struct name_template *t, struct template_part part,
                    struct err *err)
{
    if (part.field == FIELD_TEXT && part.length == 0)
        return 0;
    if (t->count == TEMPLATE_PARTS)
        return fail(err, "--output: more than %d fields", TEMPLATE_PARTS / 2);
    t->part[t->count++] = part;
    return 0;
}

/* Adds the field that stands between braces. */
static int add_field(struct name_template *t, const char *text, size_t length,
                     struct err *err)
{
    static const char *const names[] = {
        [FIELD_DIR] = "dir", [FIELD_STEM] = "stem", [FIELD_EXT] = "ext",
        [FIELD_OP] = "op",   [FIELD_NUMBER] = "n",
    };
    for (size_t i = FIELD_DIR; i <= FIELD_NUMBER; i++)
        if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0)
            return add_part(
                t, (struct template_part){ .field = (enum template_field)i },
                err);
    /* "n:4" */
    char *end = NULL;
    unsigned long digits = 0;
    if (length > 2 && memcmp(text, "n:", 2) == 0 &&
        isdigit((unsigned char)text[2]))
        digits = strtoul(text + 2, &end, 10);
    if (end == text + length && digits >= 1 && digits <= 20)
        return add_part(t,
                        (struct template_part){ .field = FIELD_NUMBER,
                                                .digits = (unsigned)digits },
                        err);
    return fail(err,
                "--output: {%.*s} is not a field; expected {dir}, {stem}, "
                "{ext}, {op}, {n}, and {n:4} with zeros before it",
                length > 100 ? 100 : (int)length, text);
}

/* Parses a template, whose text must outlive it. Returns 0, or -1 with the
 * reason. */
static int parse_template(struct name_template *t, const char *text,
                          struct err *err)
{
    *t = (struct name_template){ 0 };
    while (*text) {
        size_t plain = strcspn(text, "{}");
        bool twice = text[plain] && text[plain] == text[plain + 1];
        /* The first of two equal braces is text. */
        struct template_part part = { FIELD_TEXT, text, plain + twice, 0 };
        if (add_part(t, part, err))
            return -1;
        text += plain;
        if (twice) {
            text += 2;
        } else if (*text == '}') {
            return fail(err, "--output: a } without {; write }} for a plain }");
        } else if (*text == '{') {
            size_t length = strcspn(++text, "{}");
            if (text[length] != '}')
                return fail(err,
                            "--output: a { without }; write {{ for a plain {");
            if (add_field(t, text, length, err))
                return -1;
            text += length + 1;
        }
    }
    return 0;
}

/* Finds the directory that all names are in: the text before the first field up
 * to its last slash. Returns false if there is none. */
static bool find_folder(const struct name_template *t, struct path_text *folder)
{
    path_text_set(folder, "");
    for (size_t i = 0; i < t->count && t->part[i].field == FIELD_TEXT; i++)
        path_text_add(folder, t->part[i].text, t->part[i].length);
    const char *slash = memrchr(folder->text, '/', folder->length);
    if (!slash)
        return false;
    folder->length = slash == folder->text ? 1 : (size_t)(slash - folder->text);
    folder->text[folder->length] = '\0';
    return true;
}

bool name_template_has(const struct name_template *t, enum template_field field)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->part[i].field == field)
            return true;
    return false;
}

/* ---- Expanding it ---------------------------------------------------------
 */

struct suffix {
    const char *text;
    size_t length;
};

/* Adds a suffix, or that of the format unless it names that already. If
 * suffixes choose among kinds of the format, it must be the same suffix. */
static void add_suffix(struct path_text *name, struct suffix suffix,
                       const char *format)
{
    char text[16] = "";
    if (suffix.length < sizeof text)
        memcpy(text, suffix.text, suffix.length);
    const struct codec *codec = codec_by_name(text);
    if (!format || (codec && codec == codec_by_name(format) &&
                    (!codec->kinds || strcasecmp(text, format) == 0))) {
        path_text_add(name, suffix.text, suffix.length);
        return;
    }
    for (; *format; format++) {
        char lower = (char)tolower((unsigned char)*format);
        path_text_add(name, &lower, 1);
    }
}

/* Adds the directory; for "/" the slash of the template is enough. */
static void add_directory(struct path_text *name, const struct path *path,
                          const struct template_part *next)
{
    bool slash = next && next->field == FIELD_TEXT && *next->text == '/';
    bool root = path->ndirectory == 1 && *path->directory == '/';
    if (path->ndirectory == 0)
        path_text_add(name, ".", 1);
    else if (!root || !slash)
        path_text_add(name, path->directory, path->ndirectory);
}

/* Appends the name that an input becomes; `number` is its own. If the options
 * name a format, the suffix must name it, too. */
static void expand_template(const struct name_template *t,
                            const struct options *opts, const char *input,
                            size_t number, struct path_text *name)
{
    struct path path = path_split(input, strlen(input));
    const char *end = path.base + path.nbase;
    const char *dot = memrchr(path.base, '.', path.nbase);
    struct suffix suffix = { end, 0 };
    size_t stem = path.nbase;
    char digits[32];
    if (dot && dot != path.base && dot + 1 != end) {
        stem = (size_t)(dot - path.base);
        suffix = (struct suffix){ dot + 1, (size_t)(end - dot) - 1 };
    }
    for (size_t i = 0; i < t->count; i++) {
        const struct template_part *part = &t->part[i];
        switch (part->field) {
        case FIELD_TEXT:
            path_text_add(name, part->text, part->length);
            break;
        case FIELD_DIR:
            add_directory(name, &path, i + 1 < t->count ? part + 1 : NULL);
            break;
        case FIELD_STEM:
            path_text_add(name, path.base, stem);
            break;
        case FIELD_EXT:
            if (suffix.length || opts->format_name)
                add_suffix(name, suffix, opts->format_name);
            else if (i && part[-1].field == FIELD_TEXT &&
                     part[-1].text[part[-1].length - 1] == '.')
                name->text[--name->length] = '\0'; /* "photo-r." */
            break;
        case FIELD_OP:
            path_text_add(name, opts->op_name, strlen(opts->op_name));
            break;
        case FIELD_NUMBER:
            snprintf(digits, sizeof digits, "%0*zu", (int)part->digits, number);
            path_text_add(name, digits, strlen(digits));
            break;
        }
    }
}

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

int outputs_init(struct outputs *outputs, const struct options *opts,
                 struct err *err)
{
    const char *text = opts->output ? opts->output : "{stem}.{ext}";
    struct stat st;
    outputs->opts = opts;
    if (strcmp(text, "-") == 0)
        return fail(err, "--output: a batch cannot write to standard output; "
                         "write ./- for a file of that name");
    if (opts->directory && *text == '/')
        return fail(
            err,
            "--output: %s must be a relative name, since --directory is given",
            outputs_show(text).text);
    if (parse_template(&outputs->template, text, err))
        return -1;
    if (opts->directory)
        path_text_set(&outputs->folder, opts->directory);
    outputs->has_folder =
        opts->directory ||
        (opts->output && find_folder(&outputs->template, &outputs->folder));
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
    struct job job = {
        .input = input->name,
        .output = name->text,
        .opts = outputs->opts,
    };
    struct err why;
    /* Without --output the tree below a directory is mirrored. */
    const struct options *opts = outputs->opts;
    const char *below = input->name + input->below;
    const char *slash = input->below ? strrchr(below, '/') : NULL;
    path_text_set(name, opts->directory ? opts->directory : "");
    if (name->length && name->text[name->length - 1] != '/')
        path_text_add(name, "/", 1);
    if (!opts->output && slash)
        path_text_add(name, below, (size_t)(slash - below) + 1);
    expand_template(&outputs->template, opts, input->name, input->number, name);
    if (strcmp(name->text, "-") == 0) /* which is standard output */
        path_text_set(name, "./-");
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
    return job_choose_format(&job, &why)
               ? fail(err, "%s: %s", outputs_show(name->text).text, why.text)
               : 0;
}
