/* A backend as codecs see it: struct turner. */
#include "cli/job/turner.h"

/* On a CPU a tile before and after the turn stays in a second-level cache; a
 * GPU is sent as much as makes the copies to it fast. */
static const size_t tile_of_cpu = 256 << 10, tile_of_gpu = 64 << 20;

static int turn(void *context, struct image *dst, const struct image *src,
                enum xform t, struct err *err)
{
    struct job_turner *turner = context;
    if (turner->rows)
        watch_part(turner->watch, turner->done += src->height, turner->rows);
    return turner->backend->apply(turner->lane, dst, src, t, NULL, err);
}

struct turner job_turner_of(struct job_turner *context)
{
    bool parts = context->backend->parts;
    return (struct turner){
        .turn = turn,
        .context = context,
        .tile = parts ? tile_of_cpu : tile_of_gpu,
        .parallel = parts,
    };
}
