/* The engine on a GPU beside the coder on the CPU. Built with CUDA only. */
#include <cuda_runtime_api.h>
#include <stdlib.h>

#include "tests/support/jpeg_file.h"
#include "tests/support/must.h"
#include "tests/support/scan_jobs.h"
#include "tests/support/scan_trials.h"

/* With MUTATIONS as many of each of 96 pictures. */
static unsigned mutations(void)
{
    const char *each = getenv("MUTATIONS");
    return each ? (unsigned)atoi(each) : 60;
}

TEST_ENGINE(scan_engine_cuda, scan_has_device(&scan_engine_cuda), mutations())

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
    for (unsigned t = 0; t < XFORM_COUNT; t++)
        must(scan_batch_add(&batch, file, (enum xform)t, t % 2));
    while (times--)
        scan_batch_run(&batch);
    for (size_t i = 0; i < batch.jobs; i++)
        CHECK(scan_batch_is_right(&batch, i), "scan %zu", i);
    scan_batch_close(&batch);
}

/* What a thousand batches leave is what one leaves. Other programs on the
 * device may take memory meanwhile, but not each time. */
TEST(batches)
{
    const struct coding coding = { 300, 200, JCS_YCbCr, .h = 2, .v = 2 };
    size_t before = 1, after = 0;
    if (!scan_has_device(&scan_engine_cuda))
        return;
    owned_bytes file = make_noisy_jpeg(&coding, 20);
    run_batches(file, 1);
    for (unsigned tries = 0; tries < 5 && after < before; tries++) {
        before = free_memory();
        run_batches(file, 1000);
        after = free_memory();
    }
    CHECK(after >= before, "%zu bytes are lost", before - after);
}
