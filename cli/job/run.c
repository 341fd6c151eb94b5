/* One picture, start to end: the order of its stages. */
#include <stdlib.h>
#include <string.h>

#include "cli/job/stages.h"
#include "codecs/base/clock.h"
#include "codecs/base/thread_pool.h"

const char *job_stage_name(enum stage stage)
{
    static const char *const names[STAGES] = {
        [STAGE_READ] = "read",   [STAGE_DECODE] = "decode",
        [STAGE_TURN] = "turn",   [STAGE_ENCODE] = "encode",
        [STAGE_WRITE] = "write",
    };
    return names[stage];
}

const char *job_how_name(enum how how)
{
    static const char *const names[HOWS] = {
        [HOW_UNCHANGED] = "unchanged",
        [HOW_LOSSLESS] = "lossless",
        [HOW_LUMA_LOSSLESS] = "luma-lossless",
        [HOW_CONVERTED] = "converted",
        [HOW_REENCODED] = "reencoded",
        [HOW_TRIMMED] = "trimmed",
        [HOW_TAGGED] = "tagged",
        [HOW_ORIENTED] = "oriented",
    };
    return names[how];
}

const char *job_skipped_name(enum skipped skipped)
{
    static const char *const names[] = {
        [SKIPPED_NOT] = "",
        [SKIPPED_EXISTS] = "exists",
        [SKIPPED_NEWER] = "newer",
        [SKIPPED_DONE] = "done before",
    };
    return names[skipped];
}

/* Does the stages from `first` to `last`, as far as they succeed. */
static int run_stages(struct job_state *state, enum stage first,
                      enum stage last, struct err *err)
{
    static int (*const stages[STAGES])(struct job_state *, struct err *) = {
        [STAGE_READ] = job_read_input,    [STAGE_DECODE] = job_decode,
        [STAGE_TURN] = job_turn,          [STAGE_ENCODE] = job_encode,
        [STAGE_WRITE] = job_write_output,
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

/* Notes how many threads have worked, and warns of those that could not be
 * started: without them it takes longer. */
static void note_threads(const struct job_state *state)
{
    struct thread_pool *pool = state->job->tools.pool;
    const int why = thread_pool_refused(pool);
    state->result->threads = thread_pool_worked(pool);
    if (why)
        warn(&state->result->warnings,
             "not all of %u threads could be started: %s",
             thread_pool_threads(pool), strerror(why));
}

int job_finish(struct job_state *state, struct err *err)
{
    int status = run_stages(state, STAGE_TURN, STAGE_ENCODE, err);
    note_threads(state);
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
