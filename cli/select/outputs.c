/* Names the output of each input. */
#include "cli/select/plan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/files/path.h"
#include "cli/job/job.h"
#include "codecs/codec.h"

/* ---- The template --------------------------------------------------------
 *
 * What --output takes: text, and fields in braces that stand for parts of an
 * input's name. */

enum template_field {
    FIELD_DIR,
    FIELD_STEM,
    FIELD_EXT,
    FIELD_OP,
    FIELD_TEXT, /* not a field: text to be copied */
};

struct template_part {
    enum template_field field;
    const char *text; /* FIELD_TEXT: not ended by a NUL */
    size_t length;
};

/* Reads what stands between braces. */
static int read_field(const char *text, size_t length,
                      struct template_part *part, struct err *err)
{
    static const char *const names[] = { "dir", "stem", "ext", "op" };
    for (int i = FIELD_DIR; i < FIELD_TEXT; i++)
        if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0) {
            part->field = (enum template_field)i;
            return 0;
        }
    return fail(err,
                "--output: {%.*s} is not a field; expected {dir}, {stem}, "
                "{ext} or {op}",
                length > 100 ? 100 : (int)length, text);
}

/* Reads the next part of a template, and moves on behind it. Returns 0, or -1
 * with the reason. */
static int next_part(const char **template, struct template_part *part,
                     struct err *err)
{
    const char *at = *template;
    const size_t plain = strcspn(at, "{}");
    *part = (struct template_part){ FIELD_TEXT, at, plain };
    *template = at + plain;
    if (plain)
        return 0;
    part->length = 1; /* of two equal braces the first is text */
    *template = at + 2;
    if (at[0] == at[1])
        return 0;
    if (*at == '}')
        return fail(err, "--output: a } without {; write }} for a plain }");
    const size_t length = strcspn(++at, "{}");
    if (at[length] != '}')
        return fail(err, "--output: a { without }; write {{ for a plain {");
    *template = at + length + 1;
    return read_field(at, length, part, err);
}

/* Checks a template, and finds the directory that all names are in: the text
 * before the first field up to its last slash; "" if there is none. */
static int find_folder(const char *template, struct path_text *folder,
                       struct err *err)
{
    struct template_part part;
    bool before = true;
    path_text_set(folder, "");
    while (*template) {
        if (next_part(&template, &part, err))
            return -1;
        before = before && part.field == FIELD_TEXT;
        if (before)
            path_text_add(folder, part.text, part.length);
    }
    const char *slash = memrchr(folder->text, '/', folder->length);
    folder->length = !slash                  ? 0
                     : slash == folder->text ? 1
                                             : (size_t)(slash - folder->text);
    folder->text[folder->length] = '\0';
    return 0;
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

/* Adds the directory; for "/" the slash of the template behind it is enough. */
static void add_directory(struct path_text *name, const struct path *path,
                          bool slash)
{
    bool root = path->ndirectory == 1 && *path->directory == '/';
    if (path->ndirectory == 0)
        path_text_add(name, ".", 1);
    else if (!root || !slash)
        path_text_add(name, path->directory, path->ndirectory);
}

/* Appends the name that an input becomes. If the options name a format, the
 * suffix must name it, too. */
static void expand_template(const char *template, const struct options *opts,
                            const char *input, struct path_text *name)
{
    struct path path = path_split(input, strlen(input));
    const char *end = path.base + path.nbase;
    const char *dot = memrchr(path.base, '.', path.nbase);
    struct suffix suffix = { end, 0 };
    size_t stem = path.nbase;
    struct template_part part = { .field = FIELD_OP };
    struct err unheard; /* the template was checked */
    if (dot && dot != path.base && dot + 1 != end) {
        stem = (size_t)(dot - path.base);
        suffix = (struct suffix){ dot + 1, (size_t)(end - dot) - 1 };
    }
    while (*template) {
        const bool behind_text = part.field == FIELD_TEXT;
        if (next_part(&template, &part, &unheard))
            return;
        switch (part.field) {
        case FIELD_TEXT:
            path_text_add(name, part.text, part.length);
            break;
        case FIELD_DIR:
            add_directory(name, &path, *template == '/');
            break;
        case FIELD_STEM:
            path_text_add(name, path.base, stem);
            break;
        case FIELD_EXT:
            if (suffix.length || opts->format_name)
                add_suffix(name, suffix, opts->format_name);
            else if (behind_text && name->text[name->length - 1] == '.')
                name->text[--name->length] = '\0'; /* "photo-r." */
            break;
        case FIELD_OP:
            path_text_add(name, opts->op_name, strlen(opts->op_name));
            break;
        }
    }
}

/* ---- The options ------------------------------------------------------- */

int outputs_init(struct outputs *outputs, const struct options *opts,
                 struct err *err)
{
    const char *text = opts->output ? opts->output : "{stem}.{ext}";
    struct path_text *folder = &outputs->folder;
    struct stat st;
    outputs->opts = opts;
    outputs->template = text;
    if (strcmp(text, "-") == 0)
        return fail(err, "--output: a batch cannot write to standard output; "
                         "write ./- for a file of that name");
    if (opts->directory && *text == '/')
        return fail(
            err,
            "--output: %s must be a relative name, since --directory is given",
            text);
    if (find_folder(text, folder, err))
        return -1;
    if (opts->directory)
        path_text_set(folder, opts->directory);
    if (!folder->length)
        return 0;
    if (folder->cut)
        return fail(err, "%s: the name is too long", folder->text);
    if (stat(folder->text, &st) == 0 && !S_ISDIR(st.st_mode))
        return fail(err, "%s: not a directory", folder->text);
    return 0;
}

/* ---- One output -------------------------------------------------------- */

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
    expand_template(outputs->template, opts, input->name, name);
    if (strcmp(name->text, "-") == 0) /* which is standard output */
        path_text_set(name, "./-");
    if (input->directory)
        return 0; /* it fails when its turn comes */
    if (is_directory(input->name))
        return fail(err,
                    "%s: a directory; --recursive (-r) takes the pictures "
                    "in it",
                    input->name);
    if (name->cut)
        return fail(err, "the name of the output of %.500s is too long",
                    input->name);
    if (outputs->folder.length &&
        path_has(name->text + outputs->folder.length, ".."))
        return fail(err, "%s, what %s becomes, would leave %s by ..",
                    name->text, input->name, outputs->folder.text);
    if (name->length == 0 || name->text[name->length - 1] == '/' ||
        is_directory(name->text))
        return fail(err, "'%s', what %s becomes, is not the name of a file",
                    name->text, input->name);
    return job_choose_format(&job, &why)
               ? fail(err, "%s: %s", name->text, why.text)
               : 0;
}
