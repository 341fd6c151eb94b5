/* What is found of files without writing one: what they hold, how two are
 * related, and whether one is sound. */
#include "cli/job/stages.h"
#include "codecs/compare/compare.h"

/* Returns how the input, which has been read, is decoded, within the limits of
 * a file of its size. */
static struct load_opts limit(struct job_state *state)
{
    account_set_time(&state->account, state->opts->max_seconds);
    struct load_opts load =
        job_load_opts(state, state->result->bytes_in, &state->result->warnings);
    job_limit_memory(state, &load.limits);
    return load;
}

/* ---- What a file holds --------------------------------------------------- */

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
    struct reader reader = { 0 };
    struct account *before = account_enter(&state.account);
    int status = job_read_input(&state, err);
    struct load_opts load = limit(&state);
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
    job_free_state(&state);
    account_enter(before);
    return status;
}

/* ---- How two are related ------------------------------------------------- */

int job_relate(struct relation *relation, const char *first, const char *second,
               const struct options *opts, struct warnings *warnings,
               struct err *err)
{
    const char *const names[] = { first, second };
    struct coded_picture pair[2] = { { .codec = NULL } };
    struct result result = { .bytes_in = 0 };
    struct job job = { .input = first };
    struct job_state state = { .job = &job, .opts = opts, .result = &result };
    struct account *before = account_enter(&state.account);
    struct err why;
    unsigned failed = 0; /* at this one, from 1 */
    int status = 0;
    for (unsigned i = 0; i < 2 && status == 0; i++) {
        job.input = names[i];
        status = job_read_input(&state, &why);
        failed = status ? i + 1 : 0;
        pair[i] = (struct coded_picture){ .file = state.input.file,
                                          .codec = result.from,
                                          .layout = opts->layout };
        state.input.file = (struct bytes){ 0 };
        permissions_free(&state.input.source);
    }
    if (status == 0) {
        result.bytes_in = pair[0].file.size + pair[1].file.size;
        struct load_opts load = limit(&state);
        load.warnings = warnings;
        job_limit_compared(&load.limits, opts, result.bytes_in);
        job_limit_memory(&state, &load.limits);
        status = relate_pictures(relation, pair, ALL_TURNS, &load, NULL, &why);
        if (status)
            job_explain_memory(&state, &why);
        failed = relation->undecoded;
    }
    if (status && failed)
        fail(err, "%s: %s", names[failed - 1], why.text);
    else if (status)
        *err = why;
    bytes_free(&pair[0].file);
    bytes_free(&pair[1].file);
    account_enter(before);
    return status;
}

/* ---- Whether one is sound ------------------------------------------------ */

/* The closest representation to the file finds all damage, and takes least. */
static int decode(struct job_state *state, const struct load_opts *load,
                  char *digest, struct err *err)
{
    struct image *img = &state->img;
    int status = job_decode_closest(img, state->result->from, state->input.file,
                                    load, err);
    state->result->width = img->width;
    state->result->height = img->height;
    return status || !digest ? status : digest_picture(digest, img, err);
}

/* What is not decoded is sound as far as its structure goes. */
static int describe(struct job_state *state, const struct load_opts *load,
                    struct err *err)
{
    struct result *result = state->result;
    struct reader reader;
    if (codec_open(&reader, result->from, state->input.file, load, err))
        return -1;
    int status = codec_describe(&reader, &state->img, err);
    codec_close(&reader);
    result->width = state->img.width;
    result->height = state->img.height;
    warn(&result->warnings,
         "only its structure was checked: the samples of %s "
         "are not decoded",
         result->from->title);
    return status;
}

/* Files are read whole when they are turned by nothing. */
static int read_within(struct job_state *state, const struct load_opts *load,
                       struct err *err)
{
    struct result *result = state->result;
    if (result->from->turn(&state->output.file, &state->img, state->input.file,
                           XFORM_NONE, load, err))
        return -1;
    result->width = state->img.width;
    result->height = state->img.height;
    return 0;
}

enum soundness job_check_sound(const char *input, struct root *root,
                               const struct options *opts,
                               void (*reserve)(void *context, uint64_t bytes),
                               void *context, struct result *result,
                               char *digest, struct err *err)
{
    const struct job job = { .input = input, .input_root = root };
    struct job_state state = { .job = &job, .opts = opts, .result = result };
    *result = (struct result){ 0 };
    if (digest)
        *digest = '\0';
    struct account *before = account_enter(&state.account);
    int status = job_read_input(&state, err);
    struct load_opts load = limit(&state);
    if (status == 0 && result->from->turn)
        job_limit_sparse(&state, &load.limits);
    load.limits.reserve = reserve;
    load.limits.context = context;
    if (status == 0)
        status = result->from->oriented ? describe(&state, &load, err)
                 : result->from->turn   ? read_within(&state, &load, err)
                                        : decode(&state, &load, digest, err);
    if (status)
        job_explain_memory(&state, err);
    job_free_state(&state);
    account_enter(before);
    return status == 0 ? SOUND : err->unread ? SOUNDNESS_UNKNOWN : UNSOUND;
}
