/* One picture, start to end: its input, its output, and the order of stages. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files/file_write.h"
#include "cli/files/files.h"
#include "cli/files/path.h"
#include "cli/job/stages.h"
#include "codecs/base/clock.h"
#include "codecs/base/thread_pool.h"
#include "codecs/foreign.h"

const char *const job_stage_name[STAGES] = {
    [STAGE_READ] = "read",     [STAGE_DECODE] = "decode", [STAGE_TURN] = "turn",
    [STAGE_ENCODE] = "encode", [STAGE_WRITE] = "write",
};

const char *const job_how_name[HOWS] = {
    [HOW_UNCHANGED] = "unchanged",
    [HOW_LOSSLESS] = "lossless",
    [HOW_LUMA_LOSSLESS] = "luma-lossless",
    [HOW_CONVERTED] = "converted",
    [HOW_REENCODED] = "reencoded",
    [HOW_TRIMMED] = "trimmed",
    [HOW_TAGGED] = "tagged",
    [HOW_ORIENTED] = "oriented",
};

const char *const job_skipped_name[] = { [SKIPPED_NOT] = "",
                                         [SKIPPED_EXISTS] = "exists",
                                         [SKIPPED_NEWER] = "newer",
                                         [SKIPPED_DONE] = "done before" };

/* ---- The input, and the limits that follow from its size ----------------- */

/* Finds the format by the first bytes of the file. */
static int find_format(void *context, struct bytes head, struct err *err)
{
    struct result *result = context;
    result->from = codec_probe(head);
    return result->from ? 0 : foreign_refuse_input(head, err);
}

/* A file that is larger is mapped, not read: new memory is dear. (One of 18 MB
 * is slower to map: 0.104 s, not 0.099.) */
static const uint64_t mapped_from = 64 << 20;

int job_read_input(struct job_state *state, struct err *err)
{
    const struct job *job = state->job;
    struct result *result = state->result;
    const uint64_t most = state->opts->limits.bytes, share = most / 8;
    const struct read_opts read = {
        .root = job->input_root,
        .limit = most,
        .map_from = most < JOB_MEMORY_LEAST ? 0
                    : share < mapped_from   ? share
                                            : mapped_from,
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
    if (!result->from)
        return fail(err, "the file is empty");
    result->to = job->format ? job->format : result->from;
    /* A PNG called in.jpg that is to become out.jpg: whoever wrote that
     * believes it to be a JPEG. It stays what it is rather than lose pixels to
     * a conversion that nobody asked for. */
    const char *suffix = path_suffix(job->input);
    if (result->to == result->from || state->opts->format_name ||
        codec_by_name(suffix) != result->to)
        return 0;
    warn(&result->warnings,
         "its suffix is .%s, but it is a %s and stays one; --format "
         "converts it",
         suffix, result->from->title);
    result->to = result->from;
    return 0;
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

struct load_opts job_load_input(struct job_state *state)
{
    account_set_time(&state->account, state->opts->max_seconds);
    struct load_opts load =
        job_load_opts(state, state->result->bytes_in, &state->result->warnings);
    job_limit_memory(state, &load.limits);
    return load;
}

/* ---- The output: its format, whether it may be written, and writing it --- */

int job_choose_format(struct job *job, struct err *err)
{
    const char *asked = job->opts->format_name;
    job->format_name = asked ? asked : path_suffix(job->output);
    job->format = codec_by_name(job->format_name);
    if (job->format || file_is_stream(job->output_root, job->output) ||
        strcmp(job->format_name, path_suffix(job->input)) == 0)
        return 0;
    return hint_suffix(path_suffix(job->output), err);
}

/* Returns whether the input is to be replaced: with --in-place, or because
 * input and output have the same name, byte for byte. */
static bool replaces_input(const struct job *job)
{
    return job->opts->in_place || (strcmp(job->input, job->output) == 0 &&
                                   strcmp(job->input, "-") != 0);
}

static bool is_same_file(const struct job *job)
{
    return file_is_same(job->output_root, job->output, job->input_root,
                        job->input);
}

/* Returns what is to be done to have the input replaced. */
static const char *advise_replacing(const struct job *job)
{
    return job->served ? "write input and output as the same name to replace it"
                       : "only -i (--in-place) replaces inputs";
}

/* --no-clobber leaves it alone. */
int job_check_output(const struct job *job, struct err *err)
{
    if (replaces_input(job) || job->opts->no_clobber ||
        strcmp(job->output, "-") == 0 || !is_same_file(job))
        return 0;
    if (strcmp(job->input, "-") == 0)
        return fail(err, "%s is the file that standard input reads; %s",
                    job->output, advise_replacing(job));
    return fail(err, "%s is the input %s by another name; %s", job->output,
                job->input, advise_replacing(job));
}

bool job_would_replace(const struct job *job)
{
    struct stat st;
    return !replaces_input(job) && strcmp(job->output, "-") != 0 &&
           stat(job->output, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

enum skipped job_is_skipped(const struct job *job)
{
    if (job->taker)
        return SKIPPED_NOT;
    if (job->opts->no_clobber && file_exists(job->output_root, job->output))
        return SKIPPED_EXISTS;
    if (job->opts->update && file_is_newer(job->output_root, job->output,
                                           job->input_root, job->input))
        return SKIPPED_NEWER;
    return SKIPPED_NOT;
}

mode_t job_mode_of_new(const struct job_state *state)
{
    return strcmp(state->job->input, "-") == 0
               ? 0666
               : state->input.source.st.st_mode & 0777;
}

static int write_output(struct job_state *state, struct err *err)
{
    const struct job *job = state->job;
    const struct options *opts = state->opts;
    struct result *result = state->result;
    const bool replaces = replaces_input(job);
    const bool unchanged = result->how == HOW_UNCHANGED;
    const struct write_opts write = {
        .root = job->output_root,
        .no_clobber = opts->no_clobber,
        .source = &state->input.source,
        .replaces_source = replaces,
        .to_replace = advise_replacing(job),
        .preserve = opts->preserve,
        .mode = job_mode_of_new(state),
        .warnings = &result->warnings,
        .unnamed = state->scratch.early.made ? &state->scratch.early.fd : NULL,
        .regular = job->regular,
        .stays = opts->command == COMMAND_TURN && !job->served,
        .backup = opts->backup,
    };
    if (job->taker)
        return job->taker->put(job->taker->context, state->output.file,
                               &result->bytes_out, err);
    /* Nothing is written over a file that would become what it is. */
    const enum written written =
        unchanged && replaces && is_same_file(job)
            ? WRITTEN
            : file_write(job->output, state->output.file, &write, err);
    result->replaced = written == WRITTEN_OVER;
    if (written == WRITTEN_EXISTS)
        result->skipped = SKIPPED_EXISTS;
    /* A file of XMP beside a picture, IMG.jpg.xmp or IMG.xmp, may say how it
     * lies, and programs believe it rather than the picture. */
    const int length = (int)strlen(job->output);
    const int suffix = (int)strlen(path_suffix(job->output));
    const bool made = written == WRITTEN || written == WRITTEN_OVER;
    for (int i = 0; made && !unchanged && i < (suffix ? 2 : 1); i++) {
        char name[PATH_MAX];
        snprintf(name, sizeof name, "%.*s.xmp", length - i * (suffix + 1),
                 job->output);
        if (file_exists(job->output_root, name))
            warn(&result->warnings,
                 "%s stays as it is, and may say another orientation", name);
    }
    return written == WRITTEN_NOT ? -1 : 0;
}

/* ---- Stages -------------------------------------------------------------- */

/* Does the stages from `first` to `last`, as far as they succeed. */
static int run_stages(struct job_state *state, enum stage first,
                      enum stage last, struct err *err)
{
    static int (*const stages[STAGES])(struct job_state *, struct err *) = {
        [STAGE_READ] = job_read_input, [STAGE_DECODE] = job_decode,
        [STAGE_TURN] = job_turn,       [STAGE_ENCODE] = job_encode,
        [STAGE_WRITE] = write_output,
    };
    struct account *before = account_enter(&state->account);
    int status = 0;
    for (int i = (int)first; i <= (int)last && status == 0; i++) {
        double begin = now();
        state->result->last = (enum stage)i;
        status = stages[i](state, err);
        if (status == 0 && i > STAGE_READ && i < STAGE_WRITE)
            status = account_check_time(&state->account, err);
        state->result->seconds[i] = now() - begin;
    }
    if (status)
        job_explain_memory(state, err);
    account_enter(before);
    return status;
}

struct job_state *job_read(const struct job *job, struct result *result,
                           struct err *err)
{
    struct job_state *state = calloc(1, sizeof *state);
    *result = (struct result){ .skipped = job_is_skipped(job) };
    if (!state) {
        fail(err, "no memory for a job");
        return NULL;
    }
    state->job = job;
    state->opts = job->opts;
    state->result = result;
    if (result->skipped || run_stages(state, STAGE_READ, STAGE_READ, err) == 0)
        return state;
    job_end(state);
    return NULL;
}

int job_begin(struct job_state *state, struct err *err)
{
    state->input.warned = state->result->warnings.count;
    return run_stages(state, STAGE_DECODE, STAGE_DECODE, err);
}

int job_retry(struct job_state *state, struct err *err)
{
    struct account *before = account_enter(&state->account);
    image_free(&state->img);
    account_enter(before);
    state->result->warnings.count = state->input.warned;
    state->result->edge_warning = 0;
    return run_stages(state, STAGE_DECODE, STAGE_DECODE, err);
}

int job_finish(struct job_state *state, struct err *err)
{
    const int status = run_stages(state, STAGE_TURN, STAGE_ENCODE, err);
    struct thread_pool *pool = state->job->tools.pool;
    const int why = thread_pool_refused(pool);
    state->result->threads = thread_pool_worked(pool);
    if (why) /* without them it takes longer */
        warn(&state->result->warnings,
             "not all of %u threads could be started: %s",
             thread_pool_threads(pool), strerror(why));
    return status;
}

struct bytes job_output(const struct job_state *state)
{
    return (struct bytes){ state->output.file.data, state->output.file.size,
                           0 };
}

bool job_borrows_output(const struct job_state *state)
{
    return state->output.file.size && !state->output.file.capacity;
}

int job_write(struct job_state *state, struct err *err)
{
    return run_stages(state, STAGE_WRITE, STAGE_WRITE, err);
}

void job_free_state(struct job_state *state)
{
    image_free(&state->img);
    permissions_free(&state->input.source);
    bytes_free(&state->input.file);
    bytes_free(&state->output.file);
    scratch_file_close(&state->scratch.early);
}

void job_end(struct job_state *state)
{
    if (!state)
        return;
    struct account *before = account_enter(&state->account);
    job_free_state(state);
    account_enter(before);
    free(state);
}

int job_run(const struct job *job, struct result *result, struct err *err)
{
    struct job_state *state = job_read(job, result, err);
    int status = -1;
    if (state && (result->skipped ||
                  (job_begin(state, err) == 0 && job_finish(state, err) == 0 &&
                   job_write(state, err) == 0)))
        status = 0;
    job_end(state);
    return status;
}
