/* The input of a job, and the limits that follow from its size. */
#include <limits.h>

#include "cli/files/files.h"
#include "cli/files/path.h"
#include "cli/job/stages.h"
#include "cli/options/option_table.h"
#include "codecs/foreign.h"

/* Finds the format by the first bytes of the file. */
static int find_format(void *context, struct bytes head, struct err *err)
{
    struct result *result = context;
    result->from = codec_probe(head);
    return result->from ? 0 : foreign_refuse_input(head, err);
}

static int read_file(struct job_state *state, struct err *err)
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
        .check = find_format,
        .context = result,
        .reserve = job->tools.reserve_file,
        .reserve_context = job->tools.context,
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

int job_read_input(struct job_state *state, struct err *err)
{
    struct result *result = state->result;
    if (read_file(state, err))
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

struct load_opts job_load_opts(struct job_state *state, uint64_t files,
                               struct warnings *warnings)
{
    const struct options *opts = state->opts;
    struct load_opts load = {
        .limits = opts->limits,
        .mem = mem_plain,
        .tolerant = opts->tolerant,
        .all = opts->all,
        .layout = opts->layout,
        .warnings = warnings,
    };
    load.limits.account = &state->account;
    lower(&load.limits, opts, account_memory_of(files), files);
    account_allow_file(&state->account, files);
    return load;
}
