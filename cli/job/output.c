/* The output of a job: its format, whether it may be written, and writing it.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/files/file_write.h"
#include "cli/files/files.h"
#include "cli/files/path.h"
#include "cli/job/stages.h"
#include "cli/options/hint.h"

int job_choose_format(struct job *job, struct err *err)
{
    const char *asked = job->opts->format_name;
    job->format_name = asked ? asked : path_suffix(job->output);
    job->format = codec_by_name(job->format_name);
    if (job->format || file_is_stream(job->output_root, job->output) ||
        strcmp(job->format_name, path_suffix(job->input)) == 0)
        return 0;
    return hint_format(path_suffix(job->output), err);
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

/* Nothing is written over a file that would become what it is. */
static enum written write_picture(struct job_state *state, struct err *err)
{
    const struct job *job = state->job;
    const struct options *opts = state->opts;
    bool replaces = replaces_input(job);
    const struct write_opts write = {
        .root = job->output_root,
        .no_clobber = opts->no_clobber,
        .source = &state->input.source,
        .replaces_source = replaces,
        .to_replace = advise_replacing(job),
        .preserve = opts->preserve,
        .mode = job_mode_of_new(state),
        .warnings = &state->result->warnings,
        .unnamed = state->scratch.early.made ? &state->scratch.early.fd : NULL,
        .regular = job->regular,
        .stays = opts->command == COMMAND_TURN && !job->served,
        .backup = opts->backup,
    };
    if (state->result->how == HOW_UNCHANGED && replaces && is_same_file(job))
        return WRITTEN;
    return file_write(job->output, state->output.file, &write, err);
}

/* A file of XMP beside a picture, IMG.jpg.xmp or IMG.xmp, may say how it lies,
 * and programs believe it rather than the picture. */
static void warn_of_sidecars(struct job_state *state)
{
    const struct job *job = state->job;
    const int length = (int)strlen(job->output);
    const int suffix = (int)strlen(path_suffix(job->output));
    char name[PATH_MAX];
    if (state->result->how == HOW_UNCHANGED)
        return;
    for (int i = 0; i < (suffix ? 2 : 1); i++) {
        const int cut = i * (suffix + 1);
        snprintf(name, sizeof name, "%.*s.xmp", length - cut, job->output);
        if (file_exists(job->output_root, name))
            warn(&state->result->warnings,
                 "%s stays as it is, and may say another orientation", name);
    }
}

int job_write_output(struct job_state *state, struct err *err)
{
    const struct job *job = state->job;
    if (job->taker)
        return job->taker->put(job->taker->context, state->output.file,
                               &state->result->bytes_out, err);
    const enum written written = write_picture(state, err);
    state->result->replaced = written == WRITTEN_OVER;
    if (written == WRITTEN_EXISTS)
        state->result->skipped = SKIPPED_EXISTS;
    else if (written != WRITTEN_NOT)
        warn_of_sidecars(state);
    return written == WRITTEN_NOT ? -1 : 0;
}
