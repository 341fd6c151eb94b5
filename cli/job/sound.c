/* Whether a file is sound. */
#include "cli/job/stages.h"
#include "codecs/compare/compare.h"

/* The closest representation to the file finds all damage, and takes least. */
static int decode(struct job_state *state, const struct load_opts *load,
                  char *digest, struct err *err)
{
    struct image *img = &state->img;
    int status = job_decode_closest(img, state->result->from, state->input.file,
                                    load, err);
    state->result->width = img->width;
    state->result->height = img->height;
    return status || !digest ? status : digest_picture(digest, img, load, err);
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
    int status = job_read_input(&state, 0, err);
    account_allow_file(&state.account, result->bytes_in);
    account_set_time(&state.account, opts->max_seconds);
    struct load_opts load = job_load_opts(opts, &state.account, result);
    job_limit_memory(&state, &load.limits);
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
    image_free(&state.img);
    permissions_free(&state.input.source);
    bytes_free(&state.input.file);
    bytes_free(&state.output.file);
    account_enter(before);
    return status == 0 ? SOUND : err->unread ? SOUNDNESS_UNKNOWN : UNSOUND;
}
