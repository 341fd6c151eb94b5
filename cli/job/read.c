/* The input of a job: read, described, and what would be done with it. */
#include <limits.h>
#include <stdlib.h>

#include "cli/files/file_write.h"
#include "cli/files/files.h"
#include "cli/files/path.h"
#include "cli/job/stages.h"
#include "cli/options/option_table.h"
#include "codecs/compare/compare.h"
#include "codecs/foreign.h"

/* Finds the format by the first bytes of the file. */
static int find_format(void *context, struct bytes head, struct err *err)
{
    struct result *result = context;
    result->from = codec_probe(head);
    return result->from ? 0 : foreign_refuse_input(head, err);
}

static int read_file(struct job_state *state, size_t head, struct err *err)
{
    const struct job *job = state->job;
    struct result *result = state->result;
    const struct read_opts read = {
        .root = job->input_root,
        .limit = state->opts->limits.bytes,
        .map_from = job_map_from(state->opts),
        .acl = state->opts->preserve,
        .served = job->served,
        .regular = job->regular,
        .head = head,
        .check = find_format,
        .context = result,
        .reserve = job->reserve_file,
        .reserve_context = job->context,
    };
    if (file_read(job->input, &read, &state->input.file, &state->input.source,
                  err))
        return -1;
    /* What tells formats apart, as raw files and TIFF, may lie anywhere. */
    if (result->from)
        result->from = codec_probe(state->input.file);
    result->mtime = state->input.source.st.st_mtim;
    result->bytes_in = state->input.file.size;
    return result->from ? 0 : fail(err, "the file is empty");
}

/* A PNG called in.jpg that is to become out.jpg: whoever wrote that believes it
 * to be a JPEG. It stays what it is rather than lose pixels to a conversion
 * that nobody asked for. */
static void keep_misnamed(struct job_state *state)
{
    struct result *result = state->result;
    const char *suffix = path_suffix(state->job->input);
    if (result->to == result->from || state->opts->format_name ||
        codec_by_name(suffix) != result->to)
        return;
    warn(&result->warnings,
         "its suffix is .%s, but it is a %s and stays one; --format "
         "converts it",
         suffix, result->from->title);
    result->to = result->from;
}

int job_read_input(struct job_state *state, size_t head, struct err *err)
{
    struct result *result = state->result;
    if (read_file(state, head, err))
        return -1;
    result->to = state->job->format ? state->job->format : result->from;
    keep_misnamed(state);
    return 0;
}

void job_free_input(struct job_state *state)
{
    if (!state->opts->verify && !state->opts->digest)
        bytes_free(&state->input.file);
}

void job_keep_input(struct job_state *state)
{
    state->result->how = HOW_UNCHANGED;
    state->output.file = state->input.file;
    state->input.file = (struct bytes){ 0 };
    state->output.made = true;
}

/* Who says how much memory there may be knows what the files are. */
static void lower(struct limits *limits, const struct options *opts,
                  uint64_t memory, uint64_t file)
{
    if (memory >= limits->bytes || option_table_given(opts, "max-memory"))
        return;
    limits->bytes = memory;
    limits->file = file;
}

static struct limits limits_of(const struct options *opts,
                               struct account *account, uint64_t file)
{
    struct limits limits = opts->limits;
    limits.account = account;
    lower(&limits, opts, account_memory_of(file), file);
    return limits;
}

void job_limit_compared(struct limits *limits, const struct options *opts,
                        uint64_t files)
{
    lower(limits, opts, account_compared_of(files), files);
}

/* Samples have a limit of their own, by which more is planned for them. */
void job_limit_memory(struct job_state *state, const struct limits *limits)
{
    const uint64_t least = account_memory_of(state->result->bytes_in),
                   most = limits->bytes > least ? limits->bytes : least;
    state->account.limit = most < LLONG_MAX / 2 ? (long long)most : 0;
}

void job_explain_memory(const struct job_state *state, struct err *err)
{
    if (err->memory && atomic_load(&state->account.refused))
        limit_refuse_all(state->result->bytes_in,
                         (uint64_t)state->account.limit, err);
}

struct load_opts job_load_opts(const struct options *opts,
                               struct account *account, struct result *result)
{
    return (struct load_opts){
        .limits = limits_of(opts, account, result->bytes_in),
        .mem = mem_plain,
        .tolerant = opts->tolerant,
        .all = opts->all,
        .layout = opts->layout,
        .warnings = &result->warnings,
    };
}

struct convert_opts job_convert_opts(const struct job_state *state)
{
    const struct options *opts = state->opts;
    return (struct convert_opts){
        .depth = opts->depth,
        .background = opts->background,
        .over = { opts->over[0], opts->over[1], opts->over[2] },
        .limits = &opts->limits,
        .mem = state->job->backend->memory(state->job->lane),
        .warnings = &state->result->warnings,
    };
}

/* ---- What would be done -------------------------------------------------- */

/* Fails by a head of a file that may go on with an orientation tag. */
static int foresee_unchanged(struct job_state *state, struct reader *reader,
                             bool *known, struct err *err)
{
    if (codec_describe(reader, &state->img, err))
        return -1;
    if (job_has_nothing_to_do(state)) {
        state->result->how = HOW_UNCHANGED;
        *known = true;
    }
    image_free(&state->img);
    return 0;
}

/* Plans by the head of a file. That takes more than the format only where there
 * is a choice of representations, or may be nothing to do. */
static int foresee(struct job_state *state, size_t head, bool *known,
                   struct err *err)
{
    struct result *result = state->result;
    struct warnings unheard = { 0 }; /* they come when it is decoded */
    struct load_opts load;
    struct reader reader;
    *result = (struct result){ 0 };
    if (job_read_input(state, head, err) ||
        job_plan_formats(&state->plan, state->opts, result, err))
        return -1;
    *known = state->plan.own && result->from->closest != REPRESENTATION_SAMPLES;
    if (state->plan.tags) {
        *known = true;
        return 0;
    }
    const bool may_stay = state->opts->op == XFORM_NONE && state->plan.own &&
                          !state->opts->tolerant;
    if (!*known && !may_stay)
        return 0;
    account_allow_file(&state->account, result->bytes_in);
    load = job_load_opts(state->opts, &state->account, result);
    load.warnings = &unheard;
    if (codec_open(&reader, result->from, state->input.file, &load, err))
        return -1;
    int status =
        job_plan_picture(&state->plan, state->opts, &reader.info, result, err);
    if (status == 0 && may_stay && !result->edge_warning)
        status = foresee_unchanged(state, &reader, known, err);
    codec_close(&reader);
    return status;
}

int job_foresee(const struct job *job, struct result *result, bool *known,
                struct err *err)
{
    static const size_t heads[] = { 1 << 16, 1 << 20, 0 };
    struct job_state state = { .job = job,
                               .opts = job->opts,
                               .result = result };
    struct account *before = account_enter(&state.account);
    int status = -1;
    for (size_t i = 0; status && i < sizeof heads / sizeof *heads; i++) {
        bool whole = heads[i] == 0;
        status = foresee(&state, heads[i], known, err);
        whole = whole || state.input.file.size < heads[i];
        permissions_free(&state.input.source);
        bytes_free(&state.input.file);
        if (whole)
            break;
    }
    account_enter(before);
    if (status || !job->opts->backup || result->how == HOW_UNCHANGED)
        return status;
    return file_check_backup(job->output_root, job->output, job->opts->backup,
                             err);
}

/* Reads a file of job_relate(), whose bytes the caller frees. */
static int read_picture(struct coded_picture *picture, const char *name,
                        const struct options *opts, struct err *err)
{
    const struct job job = { .input = name };
    struct result result = { 0 };
    struct job_state state = { .job = &job, .opts = opts, .result = &result };
    struct err why;
    int status = read_file(&state, 0, &why);
    *picture = (struct coded_picture){ .file = state.input.file,
                                       .codec = result.from,
                                       .layout = opts->layout };
    permissions_free(&state.input.source);
    return status ? fail(err, "%s: %s", name, why.text) : 0;
}

int job_relate(struct relation *relation, const char *first, const char *second,
               const struct options *opts, struct warnings *warnings,
               struct err *err)
{
    const char *const names[] = { NULL, first, second };
    struct result result = { 0 };
    struct coded_picture pair[2] = { { .codec = NULL } };
    struct job_state state = { .result = &result };
    struct account *before = account_enter(&state.account);
    struct err why;
    int status = read_picture(&pair[0], first, opts, err);
    if (status == 0)
        status = read_picture(&pair[1], second, opts, err);
    result.bytes_in = pair[0].file.size + pair[1].file.size;
    if (status == 0) {
        account_allow_file(&state.account, result.bytes_in);
        account_set_time(&state.account, opts->max_seconds);
        struct load_opts load = job_load_opts(opts, &state.account, &result);
        load.warnings = warnings;
        job_limit_compared(&load.limits, opts, result.bytes_in);
        job_limit_memory(&state, &load.limits);
        status = relate_pictures(relation, pair, ALL_TURNS, &load, NULL, &why);
        if (status)
            job_explain_memory(&state, &why);
        if (status && relation->undecoded)
            fail(err, "%s: %s", names[relation->undecoded], why.text);
        else if (status)
            *err = why;
    }
    bytes_free(&pair[0].file);
    bytes_free(&pair[1].file);
    account_enter(before);
    return status;
}

static void foresee_turns(struct description *d, const struct options *opts,
                          const struct stream_info *info)
{
    for (unsigned t = 0; t < XFORM_COUNT; t++) {
        struct options asked = *opts;
        struct result result = { .from = d->result.from, .to = d->result.from };
        struct job_plan plan;
        struct err err;
        asked.op = (enum xform)t;
        asked.upright = t == XFORM_NONE;
        if (job_plan_formats(&plan, &asked, &result, &err) == 0 &&
            job_plan_picture(&plan, &asked, info, &result, &err) == 0)
            d->turns[t] = result.how;
    }
}

int job_describe(const char *input, struct root *root,
                 const struct options *opts, struct description *description,
                 struct err *err)
{
    struct image *img = &description->img;
    struct result *result = &description->result;
    const struct job job = { .input = input, .input_root = root };
    struct job_state state = { .job = &job, .opts = opts, .result = result };
    struct load_opts load;
    struct reader reader = { 0 };
    struct account *before = account_enter(&state.account);
    int status = read_file(&state, 0, err);
    account_allow_file(&state.account, result->bytes_in);
    load = job_load_opts(opts, &state.account, result);
    job_limit_memory(&state, &load.limits);
    /* There is no limit to what can be described: it takes no memory. */
    load.limits.pixels = load.limits.bytes = UINT64_MAX;
    load.portable = true;
    if (status == 0)
        status =
            codec_open(&reader, result->from, state.input.file, &load, err);
    if (status == 0)
        status = codec_describe(&reader, img, err);
    if (status == 0)
        foresee_turns(description, opts, &reader.info);
    if (img->meta)
        img->meta->account = NULL;
    if (status)
        job_explain_memory(&state, err);
    codec_close(&reader);
    permissions_free(&state.input.source);
    bytes_free(&state.input.file);
    account_enter(before);
    return status;
}
