/* Which files a batch takes, in which order, and what each becomes.
 *
 * First all inputs are gathered, then their outputs are named, then the
 * identities of both are compared: of two inputs with one output, one result
 * would be lost, and so would an input that is an output under any name. All
 * shards compare all files, so that none can write what another one reads. */
#include "cli/select/plan.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files/files.h"
#include "cli/files/path.h"
#include "cli/files/resolve.h"
#include "cli/select/file_identity.h"
#include "cli/select/inputs.h"

static int name_outputs(struct file_plan *plan, const struct options *opts,
                        const struct outputs *outputs, struct err *err)
{
    struct path_text name;
    plan->output = malloc((plan->inputs.count + (size_t)1) * sizeof(char *));
    if (!plan->output)
        return fail(err, "no memory for the names of the outputs");
    for (uint32_t i = 0; i < plan->inputs.count; i++) {
        const struct input *input = &plan->inputs.list[i];
        plan->output[i] = opts->stack ? opts->stack : input->name;
        if (opts->in_place || opts->stack)
            continue;
        if (outputs_name(outputs, input, &name, err))
            return -1;
        plan->output[i] =
            string_arena_keep(&plan->names, name.text, name.length);
        if (!plan->output[i])
            return fail(err, "no memory for the names of the outputs");
    }
    return 0;
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

static int fail_twice(const struct output_check *c, uint32_t i, uint32_t k,
                      struct err *err)
{
    const char *a = c->plan->inputs.list[i].name;
    const char *b = c->plan->inputs.list[k].name;
    if (strcmp(a, b) == 0)
        return fail(err, "%s is named twice", a);
    if (c->opts->in_place)
        return fail(err,
                    "%s and %s are the same file, which cannot be replaced "
                    "twice",
                    a, b);
    return fail(err,
                "%s and %s would both become %s; {dir} in --output (-o) keeps "
                "them apart",
                a, b, c->plan->output[i]);
}

static int check_output(struct output_check *c, uint32_t i, struct err *err)
{
    const char *output = c->plan->output[i];
    struct known_output *own = &c->known[i];
    own->number = i;
    if (file_identity_find(&c->identities, output, &own->identity, err))
        return -1;
    if (c->folder && !file_identity_is_below(&own->identity, c->folder))
        return fail(err,
                    "%s, what %s becomes, would leave %s by a link that leads "
                    "out of it",
                    output, c->plan->inputs.list[i].name,
                    c->outputs->folder.text);
    struct known_output **found = tsearch(own, &c->by_identity, by_identity);
    if (!found)
        return fail(err, "no memory to compare names");
    return *found == own ? 0 : fail_twice(c, (*found)->number, i, err);
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

/* ---- Shards ------------------------------------------------------------ */

static bool is_of_shard(const char *name, const struct options *opts)
{
    return hash_bytes(name, strlen(name)) % opts->shards == opts->shard - 1;
}

/* ---- The plan ---------------------------------------------------------- */

int plan_make(struct file_plan *plan, const struct options *opts,
              struct err *err)
{
    struct outputs outputs = { 0 };
    struct output_check check = { .plan = plan,
                                  .opts = opts,
                                  .outputs = &outputs };
    const struct path_text *folder = &outputs.folder;
    if (outputs_init(&outputs, opts, err))
        return -1;
    if (folder->length) {
        plan->folder =
            string_arena_keep(&plan->names, folder->text, folder->length);
        if (!plan->folder)
            return fail(err, "no memory for the names of the outputs");
    }
    if (gather_inputs(&plan->inputs, opts, plan->folder, err) ||
        name_outputs(plan, opts, &outputs, err))
        return -1;
    int status = check_all(&check, err);
    file_identities_free(&check.identities);
    tdestroy(check.by_identity, keep);
    free(check.known);
    if (status == 0 && opts->shards) {
        struct inputs *inputs = &plan->inputs;
        uint32_t kept = 0;
        for (uint32_t i = 0; i < inputs->count; i++) {
            const char *name = inputs->list[i].name + inputs->list[i].below;
            if (!is_of_shard(name, opts))
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
