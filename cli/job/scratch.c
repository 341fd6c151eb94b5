/* Pictures that are more than memory is to hold: when they go through a file,
 * and how much memory they get. */
#include "cli/job/stages.h"
#include "cli/options/option_table.h"

/* With less memory the program itself, and what threads encode with, would be
 * most of it. */
static const uint64_t memory_least = 16 << 20;

/* The rows that are turned or encoded, while they are in memory, get a quarter
 * of it, so that two such jobs, and the scratch memory of encoders, find room.
 * More than this makes nothing faster. */
static const uint64_t rows_most = 256 << 20;

static uint64_t rows_memory(uint64_t bytes)
{
    return bytes / 4 < rows_most ? bytes / 4 : rows_most;
}

/* Returns whether a picture can go through a file: between formats that do not
 * turn it as a whole. */
static bool goes_through(const struct job_state *state)
{
    const struct codec *from = state->result->from, *to = state->result->to;
    return from->stores && to->stores && !state->opts->stack &&
           (state->plan.own || (!from->turn && !to->turn));
}

/* A cell of a byte may have been one bit. */
enum { CELLS_OF_BITS = 8 };

/* Without --max-memory less of a picture that can go through a file is in
 * memory: only what is as sparse as a bomb is more. */
void job_offer_scratch(struct job_state *state, struct limits *limits)
{
    const struct job *job = state->job;
    const uint64_t file = state->result->bytes_in;
    scratch_file_close(&state->scratch.early);
    state->scratch.place = (struct scratch_place){ .beside = job->output,
                                                   .root = job->output_root };
    state->scratch.early = (struct scratch_file){
        .place = &state->scratch.place,
        /* It may be given the name of the output, instead of being copied. */
        .mode = job->opts->preserve ? 0600 : job_mode_of_new(state),
    };
    if (!goes_through(state) || limits->bytes < memory_least)
        return;
    state->scratch.access =
        scratch_access(&state->scratch.place, rows_memory(limits->bytes));
    limits->scratch = &state->scratch.access;
    limits->stored =
        account_cells_of(file, CELLS_OF_BITS * ACCOUNT_CELLS_OF_BYTE);
    if (limits->file && !state->result->from->turn)
        limits->bytes = account_cells_of(file, ACCOUNT_CELLS_OF_BYTE);
}

/* New memory is dear: each of its pages is cleared first, and on a virtual
 * machine the host may have to provide it. So samples that are more than this
 * go to the output while they are encoded, instead of being copied to it (100
 * megapixels on 2 processors: 0.57 s, not 1.05); and a file that is larger is
 * mapped, not read. (One of 18 MB is slower to map: 0.104 s, not 0.099.) */
static const uint64_t flushed_from = 16 << 20, mapped_from = 64 << 20;

bool job_flushes(struct job_state *state)
{
    const struct pixels *pixels = &state->img.pixels;
    return pixels->kind == PIXELS_BANDS ||
           (pixels->kind == PIXELS_ROWS && pixels->rows.size >= flushed_from &&
            state->result->to->stores && !state->job->taker &&
            scratch_file_make_output(&state->scratch.early));
}

/* A PNG of 1 MB may say that it is a picture of 1 GB. No camera's or scanner's
 * picture, and no drawing worth the name, is as sparse as this. */
enum { SPARSE = 500 };

void job_limit_sparse(const struct job_state *state, struct limits *limits)
{
    uint64_t size = state->input.file.size;
    if (!option_table_given(state->opts, "max-memory"))
        limits->sparse_from = SPARSE * size;
}

uint64_t job_map_from(const struct options *opts)
{
    const uint64_t share = opts->limits.bytes / 8;
    return opts->limits.bytes < memory_least ? 0
           : share < mapped_from             ? share
                                             : mapped_from;
}

/* ---- Output that goes to a file ------------------------------------------ */

static int flush(void *context, struct bytes *file, struct err *err)
{
    struct job_state *state = context;
    return scratch_file_append(&state->scratch.early, file, err);
}

static int replace(void *context, uint64_t at, const void *data, size_t size,
                   struct err *err)
{
    struct job_state *state = context;
    return scratch_file_replace(&state->scratch.early, at, data, size, err);
}

struct flush job_flush(struct job_state *state)
{
    return (struct flush){ flush, replace, state };
}

int job_take_flushed(struct job_state *state, struct err *err)
{
    struct bytes *output = &state->output.file;
    if (flush(state, output, err))
        return -1;
    if (!state->scratch.place.mapped && !state->scratch.early.is_output)
        state->scratch.place.mapped = state->scratch.early.size;
    bytes_free(output);
    return scratch_file_map(&state->scratch.early, output, err);
}
