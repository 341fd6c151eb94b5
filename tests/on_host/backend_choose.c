/* In place of cuda/backend_choose.c, in a program that is gimgxf otherwise: its
 * backend "cuda" is the host, which turns planes as the CPU does, and coded
 * scans in batches as a GPU does. So all that the command line does with
 * batches is tested on any machine. */
#include "cuda/backend_choose.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/host_engine.h"

static int probe(struct err *why_not)
{
    (void)why_not;
    return 0;
}

static bool describe(unsigned i, char *text, size_t room)
{
    snprintf(text, room, "the host");
    return i == 0;
}

static int open_lane(struct lane **lane, const struct lane_opts *opts,
                     struct err *err)
{
    bool some = opts->ndevices && opts->ndevices != (unsigned)LANE_ALL_DEVICES;
    for (unsigned i = 0; some && i < opts->ndevices; i++)
        if (opts->device[i] != 0)
            return fail(err, "CUDA device %d not found; 1 found, from 0 on",
                        opts->device[i]);
    return backend_cpu.open(lane, opts, err);
}

static struct mem memory(struct lane *lane)
{
    return backend_cpu.memory(lane);
}

static int apply(struct lane *lane, struct image *dst, const struct image *src,
                 enum xform t, struct thread_pool *pool, struct err *err)
{
    return backend_cpu.apply(lane, dst, src, t, pool, err);
}

static void close_lane(struct lane *lane)
{
    backend_cpu.close(lane);
}

static const struct backend backend_host = {
    .name = "cuda",
    .probe = probe,
    .describe = describe,
    .open = open_lane,
    .memory = memory,
    .apply = apply,
    .close = close_lane,
};

const struct backend *backend_find(const char *name, struct err *err)
{
    (void)err;
    return strcmp(name, "cuda") == 0 ? &backend_host : &backend_cpu;
}

const struct backend *backend_choose(const char *name, struct err *err)
{
    return backend_find(name, err);
}

const struct scan_engine_type *backend_choose_engine(void)
{
    return &host_engine;
}

bool backend_finds_device(void)
{
    return true;
}

const struct kernel_suite *backend_choose_suite(void)
{
    return NULL;
}
