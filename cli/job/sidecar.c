/* Sidecars: files of XMP beside a picture. */
#include "cli/job/stages.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/files/files.h"
#include "codecs/foreign.h"
#include "codecs/metadata/xmp.h"

/* More than any history of edits. */
enum { BYTES_MAX = 16 << 20 };

bool sidecar_name(struct path_text *name, const char *picture, unsigned i)
{
    const size_t suffix = strlen(path_suffix(picture));
    if (strcmp(picture, "-") == 0 || (i && !suffix))
        return false;
    path_text_set(name, picture);
    if (i && !name->cut)
        name->length -= suffix + 1;
    path_text_add(name, ".xmp", 4);
    return !name->cut;
}

/* Returns whether IMG.xmp may be that of another picture, as of IMG.CR3 beside
 * IMG.jpg: one that has this stem stands in its directory. */
static bool may_be_anothers(const struct job *job, const struct path_text *name)
{
    const struct path path = path_split(job->output, strlen(job->output));
    const size_t stem = path.nbase - strlen(path_suffix(job->output));
    struct location place;
    struct err err;
    bool found = false;
    if (resolve_file(job->output_root, name->text, false, &place, &err))
        return true;
    int fd = openat(place.directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    close(place.directory);
    if (!directory) {
        if (fd >= 0)
            close(fd);
        return true;
    }
    for (const struct dirent *entry; !found && (entry = readdir(directory));) {
        const char *other = entry->d_name;
        if (strncmp(other, path.base, stem) != 0 ||
            strcmp(other, path.base) == 0)
            continue;
        found = codec_by_name(other + stem) || foreign_by_suffix(other + stem);
    }
    closedir(directory);
    return found;
}

/* Makes the packet true of the output. Where that is another file than the
 * input, what else stands there belongs to an output of before: its regions are
 * turned already. */
static int make_true(struct bytes *packet, const struct job_state *state,
                     bool replaces, struct err *err)
{
    struct image outline = state->output.outline;
    const struct lengths none = { 0 };
    const struct save_opts save = { .orientation = outline.orientation,
                                    .warnings = &state->result->warnings };
    if (!replaces) {
        outline.turned = XFORM_NONE;
        outline.untrimmed_width = outline.untrimmed_height = 0;
    }
    return xmp_packet_turn(packet, SIZE_MAX, &outline, &save, &none, err);
}

static int begin_draft(struct sidecar *sidecar, const struct job_state *state,
                       struct bytes packet, struct err *err)
{
    sidecar->write = (struct write_opts){
        .root = state->job->output_root,
        .source = &sidecar->permissions,
        .replaces_source = true,
        .regular = true,
        .backup = state->opts->backup,
    };
    return file_draft_begin(&sidecar->draft, sidecar->name.text,
                            &sidecar->write, err) ||
                   file_draft_put(sidecar->draft, 0, packet, err)
               ? -1
               : 0;
}

/* A packet that was read, of a sidecar that exists. */
static int look_at(struct sidecar *sidecar, const struct job_state *state,
                   struct bytes *packet, bool by_stem, bool replaces,
                   struct err *err)
{
    const unsigned is = state->output.outline.orientation;
    const unsigned says = xmp_orientation(packet->data, packet->size);
    const char *name = sidecar->name.text;
    struct warnings *warnings = &state->result->warnings;
    struct bytes before = { 0 };
    if (!state->opts->sidecar && (!says || says == is))
        return 0;
    if (by_stem && may_be_anothers(state->job, &sidecar->name)) {
        if (state->opts->sidecar && says && says != is)
            warn(warnings,
                 "%s says orientation %u, and stays: it may be that of another "
                 "picture",
                 name, says);
        return 0;
    }
    if (!state->opts->sidecar) {
        warn(warnings,
             "%s says orientation %u, but the picture's is %u now; --sidecar "
             "sets it",
             name, says, is);
        return 0;
    }
    int status = -1;
    if (!bytes_append(&before, packet->data, packet->size))
        fail_memory(err, "no memory");
    else
        status = make_true(packet, state, replaces, err);
    bool same = status == 0 && before.size == packet->size &&
                memcmp(before.data, packet->data, before.size) == 0;
    bytes_free(&before);
    return status || same ? status : begin_draft(sidecar, state, *packet, err);
}

static int begin(struct sidecar *sidecar, const struct job_state *state,
                 bool by_stem, bool replaces, struct err *err)
{
    const struct job *job = state->job;
    const struct read_opts read = { .root = job->output_root,
                                    .limit = BYTES_MAX,
                                    .regular = true };
    const char *name = sidecar->name.text;
    struct bytes packet = { 0 };
    struct err why;
    int status = -1;
    if (!file_exists(job->output_root, name))
        return 0;
    if (file_read(name, &read, &packet, &sidecar->permissions, &why) == 0)
        status = look_at(sidecar, state, &packet, by_stem, replaces, &why);
    else if (!state->opts->sidecar)
        status = 0; /* what it says is not asked for */
    bytes_free(&packet);
    return status ? fail(err, "%s: %s", name, why.text) : 0;
}

int sidecars_begin(struct sidecars *sidecars, const struct job_state *state,
                   bool replaces, struct err *err)
{
    bool turned = state->result->how != HOW_UNCHANGED || state->opts->sidecar;
    for (unsigned i = 0; turned && i < SIDECARS; i++) {
        struct sidecar *sidecar = &sidecars->list[i];
        if (sidecar_name(&sidecar->name, state->job->output, i) &&
            begin(sidecar, state, i > 0, replaces, err))
            return -1;
    }
    return 0;
}

void sidecars_settle(struct sidecars *sidecars, struct result *result)
{
    struct err err;
    for (unsigned i = 0; i < SIDECARS; i++) {
        struct sidecar *sidecar = &sidecars->list[i];
        if (!sidecar->draft)
            continue;
        if (file_draft_settle(sidecar->draft, &err) == WRITTEN)
            result->sidecars++;
        else
            warn(&result->warnings, "%s is not set: %s", sidecar->name.text,
                 err.text);
    }
}

void sidecars_end(struct sidecars *sidecars)
{
    for (unsigned i = 0; i < SIDECARS; i++) {
        file_draft_end(sidecars->list[i].draft);
        permissions_free(&sidecars->list[i].permissions);
    }
}
