/* A backend, as a codec that turns within its format sees it. */
#include "cli/job/mover.h"

#include <stdlib.h>

/* On a CPU a tile before and after the turn stays in a second-level cache; a
 * GPU is sent as much as makes the copies to it fast. */
static const size_t tile_of_cpu = 256 << 10, tile_of_gpu = 64 << 20;

/* A lane of the backend, for one thread. */
struct own_lane {
    const struct backend *backend;
    struct lane *lane;
    bool owned;
};

static void *open_lane(void *context, struct err *err)
{
    const struct moving *moving = context;
    const struct lane_opts one = { .threads = 1 };
    struct own_lane *opened = malloc(sizeof *opened);
    if (!opened) {
        fail(err, "no memory for a lane");
        return NULL;
    }
    *opened = (struct own_lane){ moving->backend, moving->lane,
                                 moving->backend->bands };
    if (!opened->owned || opened->backend->open(&opened->lane, &one, err) == 0)
        return opened;
    free(opened);
    return NULL;
}

static int turn_tile(void *context, struct image *dst, const struct image *src,
                     enum xform t, struct err *err)
{
    const struct own_lane *opened = context;
    return opened->backend->apply(opened->lane, dst, src, t, err);
}

static void close_lane(void *context, void *memory)
{
    struct own_lane *opened = memory;
    (void)context;
    if (opened->owned)
        opened->backend->close(opened->lane);
    free(opened);
}

struct mover mover_of(const struct moving *moving)
{
    bool bands = moving->backend->bands;
    return (struct mover){
        .open = open_lane,
        .turn = turn_tile,
        .close = close_lane,
        .context = (void *)(uintptr_t)moving,
        .mem = bands ? mem_plain : moving->backend->memory(moving->lane),
        .tile = bands ? tile_of_cpu : tile_of_gpu,
        .many = bands,
    };
}
