/* The engine on a GPU beside the coder on the CPU. Built with CUDA only. */
#include <cuda_runtime_api.h>
#include <stdlib.h>

#include "tests/support/jpeg_file.h"
#include "tests/support/must.h"
#include "tests/support/pixels_trials.h"
#include "tests/support/samples_trials.h"
#include "tests/support/scan_engine_cpu.h"
#include "tests/support/scan_jobs.h"
#include "tests/support/scan_trials.h"
#include "tests/support/test.h"

static bool has_device(void)
{
    const struct scan_engine_opts opts = { .input = 1 };
    const char *required = getenv("CUDA_REQUIRED");
    struct scan_engine *engine = NULL;
    struct err err = { .memory = false };
    bool found = scan_engine_cuda.open(&engine, &opts, &err) == 0;
    scan_engine_cuda.close(engine);
    if (!found && required && *required == '1')
        CHECK(found, "%s", err.text);
    else if (!found)
        test_skip("%s", err.text);
    return found;
}

TEST(sizes)
{
    if (has_device())
        scan_trial_sizes(&scan_engine_cuda);
}

TEST(restarts)
{
    if (has_device())
        scan_trial_restarts(&scan_engine_cuda);
}

TEST(large)
{
    if (has_device())
        scan_trial_large(&scan_engine_cuda);
}

TEST(anew)
{
    if (has_device())
        samples_trial_anew(&scan_engine_cuda);
}

TEST(realigned)
{
    if (has_device())
        samples_trial_realigned(&scan_engine_cuda);
}

TEST(pixels)
{
    if (has_device())
        pixels_trial_samplings(&scan_engine_cuda);
}

TEST(large_pixels)
{
    if (has_device())
        pixels_trial_large(&scan_engine_cuda);
}

TEST(long_steps)
{
    if (has_device())
        pixels_trial_long_steps(&scan_engine_cuda);
}

TEST(out_of_range)
{
    if (has_device())
        pixels_trial_out_of_range(&scan_engine_cuda);
}

TEST(mixed)
{
    if (has_device())
        pixels_trial_mixed(&scan_engine_cuda);
}

/* With MUTATIONS as many of each of 96 pictures. */
TEST(mutations)
{
    const char *each = getenv("MUTATIONS");
    if (has_device())
        scan_trial_mutations(&scan_engine_cuda,
                             each ? (unsigned)atoi(each) : 60);
}

static size_t free_memory(void)
{
    size_t free_bytes = 0, all = 0;
    must(cudaMemGetInfo(&free_bytes, &all) == cudaSuccess);
    return free_bytes;
}

/* Runs a batch so many times, and compares the last one with the CPU's. */
static void run_batches(struct bytes file, unsigned times)
{
    struct scan_batch batch = scan_batch_open(&scan_engine_cuda, 1 << 20);
    struct scan_batch cpu = scan_batch_open(&scan_engine_cpu, 1 << 20);
    for (unsigned t = 0; t < XFORM_COUNT; t++) {
        must(scan_batch_add(&batch, file, (enum xform)t, t % 2));
        must(scan_batch_add(&cpu, file, (enum xform)t, t % 2));
    }
    scan_batch_run(&cpu);
    while (times--)
        scan_batch_run(&batch);
    for (size_t i = 0; i < cpu.jobs; i++)
        CHECK(scan_batch_same(&cpu, &batch, i), "scan %zu", i);
    scan_batch_close(&cpu);
    scan_batch_close(&batch);
}

/* What a thousand batches leave is what one leaves. Other programs on the
 * device may take memory meanwhile, but not each time. */
TEST(batches)
{
    const struct coding coding = { 300, 200, JCS_YCbCr, .h = 2, .v = 2 };
    size_t before = 1, after = 0;
    if (!has_device())
        return;
    struct bytes file = make_noisy_jpeg(&coding, 20);
    run_batches(file, 1);
    for (unsigned tries = 0; tries < 5 && after < before; tries++) {
        before = free_memory();
        run_batches(file, 1000);
        after = free_memory();
    }
    CHECK(after >= before, "%zu bytes are lost", before - after);
    bytes_free(&file);
}
