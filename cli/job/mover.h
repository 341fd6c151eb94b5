/* A backend, as a codec that turns within its format sees it. */
#ifndef CLI_JOB_MOVER_H
#define CLI_JOB_MOVER_H

#include "codecs/codec.h"
#include "cuda/backend.h"

/* What the mover's context points to; it lives as long as the mover. */
struct moving {
    const struct backend *backend;
    struct lane *lane; /* used where the backend does not take parts */
};

/* Returns the mover: threads open lanes of their own for small tiles, or one
 * thread at a time uses `lane` for large ones. */
struct mover mover_of(const struct moving *moving);

#endif
