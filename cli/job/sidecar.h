/* Sidecars: files of XMP beside a picture, IMG.jpg.xmp or IMG.xmp, that say how
 * it lies. Programs that read them believe them rather than the picture. */
#ifndef CLI_JOB_SIDECAR_H
#define CLI_JOB_SIDECAR_H

#include "cli/files/attributes.h"
#include "cli/files/file_write.h"
#include "cli/files/path.h"
#include "cli/job/stages.h"

enum { SIDECARS = 2 };

/* The sidecars of an output, from when it is made until it is written. {0} is
 * fine to end. */
struct sidecars {
    struct sidecar {
        struct path_text name;
        struct permissions permissions;
        struct write_opts write;
        struct file_draft *draft; /* what it becomes; NULL: it stays */
    } list[SIDECARS];
};

/* Names the i-th sidecar that a picture may have, below SIDECARS. Returns false
 * if it cannot have it. */
bool sidecar_name(struct path_text *name, const char *picture, unsigned i);

/* Looks at the sidecars of the output, which is about to be written; `replaces`
 * says that it replaces the input. With --sidecar they are made true of it,
 * beside their places: on failure the picture is not to be written. Otherwise
 * those that say another orientation get a warning. */
int sidecars_begin(struct sidecars *sidecars, const struct job_state *state,
                   bool replaces, struct err *err);

/* The picture is written: puts them in their places, with a warning if that
 * fails. */
void sidecars_settle(struct sidecars *sidecars, struct result *result);

void sidecars_end(struct sidecars *sidecars);

#endif
