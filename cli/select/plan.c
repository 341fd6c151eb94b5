/* Which files a batch takes, in which order, and what each becomes.
 *
 * First all inputs are gathered, then their outputs are named, then the
 * identities of both are compared: of two inputs with one output, one result
 * would be lost, and so would an input that is an output under any name. All
 * shards compare all files, so that none can write what another one reads. */
#include "cli/select/plan.h"

#include <ctype.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/files/files.h"
#include "cli/files/path.h"
#include "cli/files/resolve.h"
#include "cli/job/job.h"
#include "cli/select/file_identity.h"
#include "cli/select/inputs.h"
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

/* Reads the next part of a template, and moves on behind it. Returns 0, or -1
 * with the reason. */
static int next_part(const char **template, struct template_part *part,
                     struct err *err)
{
    static const char *const names[] = { "dir", "stem", "ext", "op" };
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
    int i = FIELD_DIR;
    while (i < FIELD_TEXT &&
           (strlen(names[i]) != length || memcmp(names[i], at, length) != 0))
        i++;
    part->field = (enum template_field)i;
    return i < FIELD_TEXT
               ? 0
               : fail(err,
                      "--output: {%.*s} is not a field; expected {dir}, "
                      "{stem}, {ext} or {op}",
                      length > 100 ? 100 : (int)length, at);
}

/* Appends the name that an input becomes. */
static void expand_template(const char *template, const struct options *opts,
                            const char *input, struct path_text *name)
{
    const struct path path = path_split(input, strlen(input));
    const char *end = path.base + path.nbase;
    const char *dot = memrchr(path.base, '.', path.nbase);
    const bool dotted = dot && dot != path.base && dot + 1 != end;
    const char *suffix = dotted ? dot + 1 : end, *format = opts->format_name;
    const size_t length = (size_t)(end - suffix);
    const size_t stem = path.nbase - length - dotted;
    const bool root = path.ndirectory == 1 && *path.directory == '/';
    char text[16] = "";
    if (length < sizeof text)
        memcpy(text, suffix, length);
    /* If the options name a format, the suffix must name it, too. If suffixes
     * choose among kinds of the format, it must be the same suffix. */
    const struct codec *codec = codec_by_name(text);
    const bool named =
        !format || (codec && codec == codec_by_name(format) &&
                    (!codec->kinds || strcasecmp(text, format) == 0));
    struct template_part part = { .field = FIELD_OP };
    struct err unheard; /* the template was checked */
    while (*template) {
        const bool behind_text = part.field == FIELD_TEXT;
        if (next_part(&template, &part, &unheard))
            return;
        if (part.field == FIELD_TEXT)
            path_text_add(name, part.text, part.length);
        else if (part.field == FIELD_STEM)
            path_text_add(name, path.base, stem);
        else if (part.field == FIELD_OP)
            path_text_add(name, opts->op_name, strlen(opts->op_name));
        else if (part.field == FIELD_DIR && path.ndirectory == 0)
            path_text_add(name, ".", 1);
        else if (part.field == FIELD_DIR && (!root || *template != '/'))
            path_text_add(name, path.directory, path.ndirectory);
        else if (part.field == FIELD_EXT && length && named)
            path_text_add(name, suffix, length);
        else if (part.field == FIELD_EXT && format)
            for (const char *c = format; *c; c++) {
                const char lower = (char)tolower((unsigned char)*c);
                path_text_add(name, &lower, 1);
            }
        else if (part.field == FIELD_EXT && behind_text &&
                 name->text[name->length - 1] == '.')
            name->text[--name->length] = '\0'; /* "photo-r." */
    }
}

/* ---- The options ------------------------------------------------------- */

struct outputs {
    const struct options *opts;
    const char *template;    /* as --output takes it */
    struct path_text folder; /* that all outputs are in, and with whose name
                                theirs begin; "": they may be anywhere */
};

/* Reads the options. Returns 0, or -1 with the reason. */
static int read_options(struct outputs *outputs, const struct options *opts,
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
    /* The folder is the text before the first field up to its last slash. */
    path_text_set(folder, "");
    for (bool before = true; *text;) {
        struct template_part part;
        if (next_part(&text, &part, err))
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

/* Names the output of an input. It fails if the name tells no format, is too
 * long, cannot be that of a file, or leaves the directory by "..". Returns 0,
 * or -1 with the reason. */
static int name_output(const struct outputs *outputs, const struct input *input,
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

/* ---- Outputs that would be lost ---------------------------------------- */

struct known_output {
    struct file_identity identity;
    uint32_t number; /* in the plan */
};

struct output_check {
    const struct file_plan *plan;
    const struct options *opts;
    const struct outputs *outputs;
    struct file_identities identities;
    const char *folder;         /* canonical; NULL: there is none */
    struct known_output *known; /* room for all, and as tsearch() has them */
    void *by_identity;
};

static int by_identity(const void *a, const void *b)
{
    return file_identity_compare(&((const struct known_output *)a)->identity,
                                 &((const struct known_output *)b)->identity);
}

/* Returns what keeps apart two inputs that would have one output. */
static const char *apart(const char *a, const char *b)
{
    const struct path x = path_split(a, strlen(a)),
                      y = path_split(b, strlen(b));
    const size_t n = x.nbase - strlen(path_suffix(a));
    if (x.ndirectory != y.ndirectory ||
        memcmp(x.directory, y.directory, x.ndirectory))
        return "{dir} in --output (-o) keeps them apart";
    return n != y.nbase - strlen(path_suffix(b)) || memcmp(x.base, y.base, n)
               ? "{stem} in --output (-o) keeps them apart"
               : "--exclude leaves one of them out";
}

static int check_output(struct output_check *c, uint32_t i, struct err *err)
{
    const char *output = c->plan->output[i];
    const char *input = c->plan->inputs.list[i].name;
    struct known_output *own = &c->known[i];
    own->number = i;
    if (file_identity_find(&c->identities, output, &own->identity, err))
        return -1;
    if (c->folder && !file_identity_is_below(&own->identity, c->folder))
        return fail(err,
                    "%s, what %s becomes, would leave %s by a link that leads "
                    "out of it",
                    output, input, c->outputs->folder.text);
    struct known_output **found = tsearch(own, &c->by_identity, by_identity);
    if (!found)
        return fail(err, "no memory to compare names");
    if (*found == own)
        return 0;
    const char *first = c->plan->inputs.list[(*found)->number].name;
    if (strcmp(first, input) == 0)
        return fail(err, "%s is named twice", first);
    if (c->opts->in_place)
        return fail(err,
                    "%s and %s are the same file, which cannot be replaced "
                    "twice",
                    first, input);
    return fail(err, "%s and %s would both become %s; %s", first, input,
                c->plan->output[(*found)->number], apart(first, input));
}

/* ---- Inputs that would be lost ------------------------------------------- */

#define REPLACES_INPUTS "only -i (--in-place) replaces inputs"

/* Looks for an output that is the i-th input. With --no-clobber one that exists
 * is fine, since it is left alone. */
static int check_input(struct output_check *c, uint32_t i, struct err *err)
{
    struct known_output own;
    const struct file_identity *identity = &own.identity;
    const char *input = c->plan->inputs.list[i].name;
    if (file_identity_find(&c->identities, input, &own.identity, err))
        return -1;
    struct known_output **found = tfind(&own, &c->by_identity, by_identity);
    /* Of several hard links to a file each is one of its own, and stays if
     * another one is replaced; but not for its own output. */
    const bool linked = !identity->known && identity->inode;
    const bool is_own =
        linked && file_is_same(NULL, c->plan->output[i], NULL, input);
    if (!found && !is_own)
        return 0;
    const uint32_t k = found ? (*found)->number : i;
    const char *output = c->plan->output[k];
    if (c->opts->no_clobber && file_exists(NULL, output))
        return 0;
    if (k == i && strcmp(output, input) == 0)
        return fail(err, "%s is the input itself; " REPLACES_INPUTS, output);
    if (k == i)
        return fail(err, "%s is the input %s by another name; " REPLACES_INPUTS,
                    output, input);
    return fail(err,
                "%s, what %s becomes, is itself an input; " REPLACES_INPUTS,
                output, c->plan->inputs.list[k].name);
}

/* A name of --in-place that is not there is refused before any file is touched:
 * it may be meant as that of an output. */
static int check_there(struct output_check *c, uint32_t i, struct err *err)
{
    const struct input *input = &c->plan->inputs.list[i];
    struct stat st;
    if (input->root)
        return 0;
    if (stat(input->name, &st))
        return errno == ENOENT || errno == ENOTDIR
                   ? fail(err,
                          "%s: %s, so nothing was done; --in-place replaces "
                          "every file that is named",
                          input->name, strerror(errno))
                   : 0;
    return S_ISDIR(st.st_mode)
               ? fail(err,
                      "%s: a directory; --recursive (-r) takes the "
                      "pictures in it",
                      input->name)
               : 0;
}

static int check_all(struct output_check *c, struct err *err)
{
    const struct inputs *inputs = &c->plan->inputs;
    if (c->outputs->folder.length &&
        file_identity_directory(&c->identities, c->outputs->folder.text,
                                c->outputs->folder.length, &c->folder, err))
        return -1;
    c->known = calloc(inputs->count + (size_t)1, sizeof *c->known);
    if (!c->known)
        return fail(err, "no memory to compare %u names", inputs->count);
    uint32_t outputs = c->opts->stack && inputs->count ? 1 : inputs->count;
    for (uint32_t i = 0; i < outputs; i++)
        if ((c->opts->stack || !inputs->list[i].directory) &&
            check_output(c, i, err))
            return -1;
    int (*const check)(struct output_check *, uint32_t, struct err *) =
        c->opts->in_place ? check_there : check_input;
    for (uint32_t i = 0; i < inputs->count; i++)
        if (!inputs->list[i].directory && check(c, i, err))
            return -1;
    return 0;
}

/* The nodes of the tree are those of an array. */
static void keep(void *known)
{
    (void)known;
}

/* ---- The plan ---------------------------------------------------------- */

int plan_make(struct file_plan *plan, const struct options *opts,
              struct err *err)
{
    static const char no_names[] = "no memory for the names of the outputs";
    struct inputs *inputs = &plan->inputs;
    struct outputs outputs = { 0 };
    struct path_text name;
    struct output_check check = { .plan = plan,
                                  .opts = opts,
                                  .outputs = &outputs };
    const struct path_text *folder = &outputs.folder;
    if (read_options(&outputs, opts, err))
        return -1;
    if (folder->length) {
        plan->folder =
            string_arena_keep(&plan->names, folder->text, folder->length);
        if (!plan->folder)
            return fail(err, no_names);
    }
    if (inputs_gather(&plan->inputs, opts, plan->folder, err))
        return -1;
    plan->output = malloc((inputs->count + (size_t)1) * sizeof(char *));
    int status = plan->output ? 0 : fail(err, no_names);
    for (uint32_t i = 0; status == 0 && i < inputs->count; i++) {
        plan->output[i] = opts->stack ? opts->stack : inputs->list[i].name;
        if (opts->in_place || opts->stack)
            continue;
        status = name_output(&outputs, &inputs->list[i], &name, err);
        plan->output[i] =
            string_arena_keep(&plan->names, name.text, name.length);
        if (status == 0 && !plan->output[i])
            status = fail(err, no_names);
    }
    if (status)
        return -1;
    status = check_all(&check, err);
    file_identities_free(&check.identities);
    tdestroy(check.by_identity, keep);
    free(check.known);
    if (status == 0 && opts->shards) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < inputs->count; i++) {
            const char *below = inputs->list[i].name + inputs->list[i].below;
            if (hash_bytes(below, strlen(below)) % opts->shards !=
                opts->shard - 1)
                continue;
            inputs->list[kept] = inputs->list[i];
            plan->output[kept++] = plan->output[i];
        }
        inputs->count = kept;
    }
    return status;
}

void plan_free(struct file_plan *plan)
{
    inputs_free(&plan->inputs);
    string_arena_free(&plan->names);
    free(plan->output);
}
