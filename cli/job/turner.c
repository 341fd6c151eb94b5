/* The backend of a job as codecs see it. */
#include "cli/job/stages.h"
#include "cli/job/watch.h"

/* On a CPU a tile before and after the turn stays in a second-level cache; a
 * GPU is sent as much as makes the copies to it fast. */
static const size_t tile_of_cpu = 256 << 10, tile_of_gpu = 64 << 20;

static int turn_part(void *context, struct image *dst, const struct image *src,
                     enum xform t, struct err *err)
{
    struct turner_context *c = context;
    const struct job *job = c->job;
    if (c->rows)
        watch_part(job->watch,
                   atomic_fetch_add(&c->done, src->height) + src->height,
                   c->rows);
    if (account_check_time(c->account, err))
        return -1;
    return c->cpu ? backend_cpu.apply(c->cpu, dst, src, t, NULL, err)
                  : job->backend->apply(job->lane, dst, src, t, NULL, err);
}

int job_open_cpu(struct turner_context *context, struct err *err)
{
    const struct lane_opts cpu = { .workers = 0 };
    return context->job->backend->parts
               ? 0
               : backend_cpu.open(&context->cpu, &cpu, err);
}

void job_close_cpu(struct turner_context *context)
{
    if (context->cpu)
        backend_cpu.close(context->cpu);
}

/* Several threads may turn small tiles at a time where the backend lets them,
 * else one thread turns large ones. */
struct turner job_turner(struct turner_context *context)
{
    bool parts = context->cpu || context->job->backend->parts;
    return (struct turner){
        .turn = turn_part,
        .context = context,
        .tile = parts ? tile_of_cpu : tile_of_gpu,
        .parallel = parts,
    };
}
