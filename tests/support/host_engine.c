/* An engine that turns batches of coded scans on the host. */
#include "tests/support/host_engine.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda/jpeg/scan_device.h"
#include "cuda/png/idat_device.h"
#include "tests/support/scan_serial.h"

struct host_engine_plan host_engine_plan = { .devices = 1, .runs_left = -1 };

void host_engine_reset(void)
{
    struct host_engine_plan *plan = &host_engine_plan;
    plan->devices = 1;
    plan->refuse = 0;
    plan->input_most = 0;
    plan->together = 0;
    atomic_store(&plan->apart, false);
    atomic_store(&plan->runs_left, -1);
    atomic_store(&plan->fail_memory, false);
    atomic_store(&plan->opened, 0);
    atomic_store(&plan->closed, 0);
    atomic_store(&plan->runs, 0);
    atomic_store(&plan->scans, 0);
    atomic_store(&plan->most, 0);
    atomic_store(&plan->input, 0);
}

/* ---- Memory and launches ------------------------------------------------- */

struct host_device {
    struct scan_engine shown;
    bool scans; /* it turns these, and not PNG pictures */
    uint64_t vram;
    void *memory[SCAN_MEMORIES];
};

static int launch(void *context, unsigned kernel, uint32_t blocks,
                  uint32_t less, const void *params, struct err *err)
{
    const struct host_device *device = context;
    (void)less;
    (void)err;
    if (device->scans)
        scan_serial_launch(kernel, blocks, params);
    else
        idat_serial_launch(kernel, blocks, params);
    return 0;
}

/* What nothing has been written to is not 0. */
static void *memory(void *context, enum scan_memory which, size_t size,
                    struct err *err)
{
    void **made = &((struct host_device *)context)->memory[which];
    free(*made);
    *made = aligned_alloc(256, (size + 255) / 256 * 256);
    if (!*made)
        (void)fail_memory(err, "no memory for a batch");
    else
        memset(*made, 0xa5, size);
    return *made;
}

static int copy(void *context, void *to, const void *from, size_t size,
                struct err *err)
{
    (void)context;
    (void)err;
    memcpy(to, from, size);
    return 0;
}

static int clear(void *context, void *to, size_t size, struct err *err)
{
    (void)context;
    (void)err;
    memset(to, 0, size);
    return 0;
}

static int wait(void *context, struct err *err)
{
    (void)context;
    (void)err;
    return 0;
}

/* ---- The engine --------------------------------------------------------- */

static int count_devices(unsigned *count, struct err *err)
{
    *count = host_engine_plan.devices;
    return *count ? 0 : fail(err, "there is no device");
}

static void close_engine(struct scan_engine *engine)
{
    struct host_device *device = (struct host_device *)engine;
    if (!device)
        return;
    atomic_fetch_add(&host_engine_plan.closed, 1);
    for (unsigned i = 0; i < SCAN_MEMORIES; i++)
        free(device->memory[i]);
    free(engine->input);
    free(device);
}

static int open_engine(struct scan_engine **engine,
                       const struct scan_engine_opts *opts, struct err *err)
{
    const size_t most = host_engine_plan.input_most;
    if (opts->device < 0 || (unsigned)opts->device >= host_engine_plan.devices)
        return fail(err, "device %d was not found", opts->device);
    if (most && opts->input > most)
        return fail_memory(err, "no memory for a batch");
    struct host_device *made = calloc(1, sizeof *made);
    uint8_t *input = malloc(opts->input + !opts->input);
    if (!made || !input) {
        free(made);
        free(input);
        return fail_memory(err, "no memory for a scan engine");
    }
    made->shown = (struct scan_engine){ .input = input, .room = opts->input };
    made->scans = opts->kind == SCAN_KIND_JPEG;
    made->vram = opts->vram ? opts->vram : UINT64_MAX;
    atomic_fetch_add(&host_engine_plan.opened, 1);
    atomic_fetch_add(&host_engine_plan.input, opts->input);
    *engine = &made->shown;
    return 0;
}

/* Whether this run is to fail. */
static bool is_to_fail(struct err *err)
{
    struct host_engine_plan *plan = &host_engine_plan;
    if (atomic_load(&plan->runs_left) < 0 ||
        atomic_fetch_sub(&plan->runs_left, 1) > 0)
        return false;
    if (atomic_load(&plan->fail_memory)) {
        atomic_store(&plan->runs_left, -1);
        fail_memory(err, "no memory on the device");
    } else {
        atomic_store(&plan->runs_left, 0);
        fail(err, "the device has failed");
    }
    return true;
}

static void wait_for_others(void)
{
    struct host_engine_plan *plan = &host_engine_plan;
    const struct timespec moment = { .tv_nsec = 1000000 };
    for (int i = 0; atomic_load(&plan->runs) < plan->together; i++) {
        if (i == 5000) {
            atomic_store(&plan->apart, true);
            return;
        }
        nanosleep(&moment, NULL);
    }
}

static int run(struct scan_engine *engine, struct scan_job *jobs, size_t n,
               struct err *err)
{
    struct host_engine_plan *plan = &host_engine_plan;
    unsigned most = atomic_load(&plan->most);
    atomic_fetch_add(&plan->runs, 1);
    wait_for_others();
    while (n > most &&
           !atomic_compare_exchange_weak(&plan->most, &most, (unsigned)n))
        continue;
    struct host_device *host = (struct host_device *)engine;
    const struct scan_device device = {
        host, memory, copy, clear, launch, wait
    };
    if (is_to_fail(err) ||
        (host->scans ? scan_turn : idat_turn_batch)(
            &device, engine->input, jobs, n, host->vram, &engine->output, err))
        return -1;
    for (size_t i = 0; i < n; i++)
        if (plan->refuse &&
            (atomic_fetch_add(&plan->scans, 1) + 1) % plan->refuse == 0)
            jobs[i].result = SCAN_REFUSED;
    return 0;
}

const struct scan_engine_type host_engine = { count_devices, open_engine, run,
                                              close_engine };
