/* An engine that turns batches of coded scans on the host. */
#include "tests/support/host_engine.h"

#include "tests/support/scan_engine_serial.h"

struct host_engine_plan host_engine_plan = { .devices = 1, .runs_left = -1 };

void host_engine_reset(void)
{
    struct host_engine_plan *plan = &host_engine_plan;
    plan->devices = 1;
    plan->refuse = 0;
    plan->input_most = 0;
    atomic_store(&plan->runs_left, -1);
    atomic_store(&plan->fail_memory, false);
    atomic_store(&plan->opened, 0);
    atomic_store(&plan->closed, 0);
    atomic_store(&plan->runs, 0);
    atomic_store(&plan->scans, 0);
    atomic_store(&plan->most, 0);
    atomic_store(&plan->input, 0);
}

static int count_devices(unsigned *count, struct err *err)
{
    *count = host_engine_plan.devices;
    return *count ? 0 : fail(err, "there is no device");
}

static int open_engine(struct scan_engine **engine,
                       const struct scan_engine_opts *opts, struct err *err)
{
    const size_t most = host_engine_plan.input_most;
    if (opts->device < 0 || (unsigned)opts->device >= host_engine_plan.devices)
        return fail(err, "device %d was not found", opts->device);
    if (most && opts->input > most)
        return fail_memory(err, "no memory for a batch");
    if (scan_engine_serial.open(engine, opts, err))
        return -1;
    atomic_fetch_add(&host_engine_plan.opened, 1);
    atomic_fetch_add(&host_engine_plan.input, opts->input);
    return 0;
}

static uint8_t *input(struct scan_engine *engine, size_t *room)
{
    return scan_engine_serial.input(engine, room);
}

static const uint8_t *output(struct scan_engine *engine)
{
    return scan_engine_serial.output(engine);
}

static void close_engine(struct scan_engine *engine)
{
    atomic_fetch_add(&host_engine_plan.closed, engine ? 1 : 0);
    scan_engine_serial.close(engine);
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

static int run(struct scan_engine *engine, struct scan_job *jobs, size_t n,
               struct err *err)
{
    struct host_engine_plan *plan = &host_engine_plan;
    unsigned most = atomic_load(&plan->most);
    atomic_fetch_add(&plan->runs, 1);
    while (n > most &&
           !atomic_compare_exchange_weak(&plan->most, &most, (unsigned)n))
        continue;
    if (is_to_fail(err) || scan_engine_serial.run(engine, jobs, n, err))
        return -1;
    for (size_t i = 0; i < n; i++)
        if (plan->refuse &&
            (atomic_fetch_add(&plan->scans, 1) + 1) % plan->refuse == 0)
            jobs[i].result = SCAN_REFUSED;
    return 0;
}

const struct scan_engine_type host_engine = {
    .devices = count_devices,
    .open = open_engine,
    .input = input,
    .run = run,
    .output = output,
    .close = close_engine,
    .samples = true,
};
