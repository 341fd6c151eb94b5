/* In place of cuda/backend_choose.c, in a program that is gimgxf otherwise: its
 * backend "cuda" is the host, which turns planes as the CPU does, and coded
 * scans in batches as a GPU does. So all that the command line does with
 * batches is tested on any machine. */
#include "cuda/backend_choose.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/host_engine.h"

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

static struct backend backend_host;

__attribute__((constructor)) static void make_host(void)
{
    backend_host = backend_cpu;
    backend_host.name = "cuda";
    backend_host.describe = describe;
    backend_host.open = open_lane;
    backend_host.parts = false;
}

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

const struct kernel_suite *backend_choose_suite(void)
{
    return NULL;
}
