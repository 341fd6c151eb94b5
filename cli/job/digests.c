/* --digest: digests of input and output, as both are shown. */
#include <string.h>

#include "cli/job/stages.h"
#include "codecs/compare/compare.h"

int job_decode_closest(struct image *img, const struct codec *codec,
                       struct bytes file, const struct load_opts *load,
                       struct err *err)
{
    const struct decode_plan plan = {
        .representation = codec->closest == REPRESENTATION_SAMPLES
                              ? REPRESENTATION_SAMPLES
                              : REPRESENTATION_COEFFICIENTS
    };
    return codec_decode_file(codec, img, file, load, &plan, err);
}

/* Arrays have none, nor what is not decoded. Memory and work are those of a
 * file as large as input and output together: one may be much smaller than the
 * other. */
static int digest(char *text, struct job_state *state,
                  const struct codec *codec, struct bytes file, struct err *err)
{
    struct image img = { .meta = NULL };
    struct result unheard = { .bytes_in = state->input.file.size +
                                          state->output.file.size };
    if (codec->arrays || codec->oriented)
        return 0;
    account_allow_file(&state->account, unheard.bytes_in);
    struct load_opts load =
        job_load_opts(state->opts, &state->account, &unheard);
    load.pool = state->job->pool;
    int status = job_decode_closest(&img, codec, file, &load, err);
    if (status == 0)
        status = digest_picture(text, &img, &load, err);
    image_free(&img);
    return status;
}

int job_digest(struct job_state *state, struct err *err)
{
    struct result *result = state->result;
    struct digests *digests = &result->digests;
    struct err why;
    if (digest(digests->output, state, result->to, state->output.file, &why))
        return fail(err, "--digest: what was made cannot be decoded: %s",
                    why.text);
    if (result->how == HOW_UNCHANGED)
        memcpy(digests->input, digests->output, sizeof digests->input);
    else if (digest(digests->input, state, result->from, state->input.file,
                    &why))
        return fail(err, "--digest: the input cannot be decoded: %s", why.text);
    return 0;
}
