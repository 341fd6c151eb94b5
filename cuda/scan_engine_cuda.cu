/* The engine on a GPU, of scans and of PNG pictures: a stream, page-locked
 * memory, and memory of the device. */
#include "cuda/jpeg/scan_engine.h"

#include <stdlib.h>

#include "cuda/gpu/gpu_memory.h"
#include "cuda/gpu/phase_kernels.h"
#include "cuda/jpeg/scan_device.h"
#include "cuda/png/idat_device.h"

/* What an engine runs. */
struct scan_work {
    /* As scan_turn(). */
    int (*turn)(const struct scan_device *device, const uint8_t *input,
                struct scan_job *jobs, size_t n, uint64_t memory,
                const uint8_t **output, struct err *err);
    /* Enqueues a kernel: see struct scan_device. */
    cudaError_t (*launch)(unsigned kernel, uint32_t blocks, uint32_t less,
                          const void *params, cudaStream_t stream);
    const char *what; /* it does, for messages */
    bool overlays; /* what is made takes the place of the input, which has room
                      for a quarter more: to page-lock memory takes long */
    unsigned each; /* bytes of the device that a full batch takes for each byte
                      of samples, which it has from the beginning: to take more
                      later waits for the whole device. 0: as batches need */
};

enum { PNG_EACH = 8 }; /* rows and pixels, before and after; tokens */
static const struct scan_work turns_scans = { scan_turn, scan_kernels_launch,
                                              "turning a scan", false, 0 };
static const struct scan_work turns_pngs = { idat_turn_batch,
                                             idat_kernels_launch,
                                             "turning a PNG", true, PNG_EACH };

struct gpu_engine {
    struct scan_engine shown;
    const struct scan_work *work;
    int device;
    cudaStream_t stream;
    cudaEvent_t done, before, after;
    struct gpu_buffer input, memory[SCAN_MEMORIES];
    uint64_t vram;
    size_t most; /* bytes that the output of a batch with samples may have */
    double *seconds; /* of each kernel; NULL: they are not timed */
};

/* ---- As a device ---------------------------------------------------------*/

/* Memory grows by some more than what is asked for: batches differ, and to free
 * waits for the device. That of samples, which takes long to page-lock, is at
 * once as much as it may become. */
static void *gpu_engine_memory(void *context, enum scan_memory which,
                               size_t size, struct err *err)
{
    struct gpu_engine *engine = (struct gpu_engine *)context;
    struct gpu_buffer *buffer = &engine->memory[which];
    if (which == SCAN_OUTPUT && engine->work->overlays &&
        size <= engine->input.size)
        return engine->input.memory;
    buffer->on_host = which < SCAN_ON_DEVICE;
    if (size > buffer->size && size < SIZE_MAX / 2)
        size += size / 4;
    if (which == SCAN_OUTPUT_SAMPLES && size > buffer->size &&
        size < engine->most)
        size = engine->most;
    if (gpu_memory_grow(buffer, size, engine->stream, err))
        return NULL;
    return buffer->memory;
}

static int gpu_engine_copy(void *context, void *to, const void *from,
                           size_t size, struct err *err)
{
    struct gpu_engine *engine = (struct gpu_engine *)context;
    return gpu_check(
        cudaMemcpyAsync(to, from, size, cudaMemcpyDefault, engine->stream),
        "copying to or from the device", err);
}

static int gpu_engine_clear(void *context, void *memory, size_t size,
                            struct err *err)
{
    struct gpu_engine *engine = (struct gpu_engine *)context;
    return gpu_check(cudaMemsetAsync(memory, 0, size, engine->stream),
                     "clearing memory of the device", err);
}

static int gpu_engine_launch(void *context, unsigned kernel, uint32_t blocks,
                             uint32_t less, const void *params, struct err *err)
{
    struct gpu_engine *engine = (struct gpu_engine *)context;
    const struct scan_work *work = engine->work;
    const cudaStream_t stream = engine->stream;
    float milliseconds = 0;
    if (blocks == 0)
        return 0;
    if (!engine->seconds)
        return gpu_check(work->launch(kernel, blocks, less, params, stream),
                         work->what, err);
    if (gpu_check(cudaEventRecord(engine->before, stream), "timing", err) ||
        gpu_check(work->launch(kernel, blocks, less, params, stream),
                  work->what, err) ||
        gpu_check(cudaEventRecord(engine->after, stream), "timing", err) ||
        gpu_check(cudaEventSynchronize(engine->after), work->what, err) ||
        gpu_check(
            cudaEventElapsedTime(&milliseconds, engine->before, engine->after),
            "timing", err))
        return -1;
    engine->seconds[kernel] += milliseconds / 1e3;
    return 0;
}

/* Waits without keeping a processor busy. */
static int gpu_engine_wait(void *context, struct err *err)
{
    struct gpu_engine *engine = (struct gpu_engine *)context;
    const char *what = engine->work->what;
    if (gpu_check(cudaEventRecord(engine->done, engine->stream), what, err))
        return -1;
    return gpu_check(cudaEventSynchronize(engine->done), what, err);
}

/* ---- The engine ----------------------------------------------------------*/

static void gpu_engine_close(struct scan_engine *shown)
{
    struct gpu_engine *engine = (struct gpu_engine *)shown;
    if (!engine)
        return;
    (void)cudaSetDevice(engine->device);
    if (engine->stream)
        (void)cudaStreamSynchronize(engine->stream);
    for (int i = 0; i < SCAN_MEMORIES; i++)
        gpu_memory_free(&engine->memory[i]);
    gpu_memory_free(&engine->input);
    if (engine->before)
        (void)cudaEventDestroy(engine->before);
    if (engine->after)
        (void)cudaEventDestroy(engine->after);
    if (engine->done)
        (void)cudaEventDestroy(engine->done);
    if (engine->stream)
        (void)cudaStreamDestroy(engine->stream);
    free(engine);
}

/* Takes the memory that is there from the beginning. */
static int take_memory(struct gpu_engine *engine,
                       const struct scan_engine_opts *opts, struct err *err)
{
    enum { TABLES = 1 << 20 };
    const struct scan_work *work = engine->work;
    const uint64_t full =
        (uint64_t)opts->output * work->each + opts->input + TABLES;
    const uint64_t most = full < engine->vram ? full : engine->vram;
    if (gpu_memory_grow(&engine->input, opts->input, engine->stream, err) ||
        (!work->overlays &&
         !gpu_engine_memory(engine, SCAN_OUTPUT, opts->input, err)))
        return -1;
    if (!work->each)
        return 0;
    return gpu_engine_memory(engine, SCAN_TABLES, TABLES, err) &&
                   gpu_engine_memory(engine, SCAN_RESULTS, TABLES, err) &&
                   gpu_engine_memory(engine, SCAN_ON_DEVICE,
                                     (size_t)(most / 5 * 4), err)
               ? 0
               : -1;
}

static int open_device(struct gpu_engine *engine,
                       const struct scan_engine_opts *opts, struct err *err)
{
    const unsigned timing =
        opts->seconds ? cudaEventDefault : cudaEventDisableTiming;
    const unsigned blocking = cudaEventBlockingSync | cudaEventDisableTiming;
    size_t left, all;
    if (gpu_check(cudaSetDevice(engine->device), "the device", err) ||
        gpu_check(
            cudaStreamCreateWithFlags(&engine->stream, cudaStreamNonBlocking),
            "a stream", err) ||
        gpu_check(cudaEventCreateWithFlags(&engine->done, blocking), "an event",
                  err) ||
        gpu_check(cudaEventCreateWithFlags(&engine->before, timing), "an event",
                  err) ||
        gpu_check(cudaEventCreateWithFlags(&engine->after, timing), "an event",
                  err) ||
        gpu_check(cudaMemGetInfo(&left, &all), "asking for memory", err))
        return -1;
    engine->vram = opts->vram && opts->vram < left ? opts->vram : left / 4;
    return take_memory(engine, opts, err);
}

static int gpu_engine_devices(unsigned *count, struct err *err)
{
    int devices;
    if (gpu_count_devices(&devices, err))
        return -1;
    *count = (unsigned)devices;
    return 0;
}

static int gpu_engine_open(struct scan_engine **shown,
                           const struct scan_engine_opts *opts, struct err *err)
{
    struct gpu_engine *engine = (struct gpu_engine *)calloc(1, sizeof *engine);
    if (!engine)
        return fail_memory(err, "no memory for a scan engine");
    engine->work = opts->kind == SCAN_KIND_JPEG ? &turns_scans : &turns_pngs;
    engine->device = opts->device;
    engine->seconds = opts->seconds;
    engine->most = opts->input + opts->output;
    engine->input.on_host = true;
    if (open_device(engine, opts, err)) {
        gpu_engine_close(&engine->shown);
        return -1;
    }
    engine->shown.input = (uint8_t *)engine->input.memory;
    engine->shown.room =
        engine->work->overlays ? opts->input / 5 * 4 : opts->input;
    *shown = &engine->shown;
    return 0;
}

static int gpu_engine_run(struct scan_engine *shown, struct scan_job *jobs,
                          size_t n, struct err *err)
{
    struct gpu_engine *engine = (struct gpu_engine *)shown;
    const struct scan_device device = {
        engine,           gpu_engine_memory, gpu_engine_copy,
        gpu_engine_clear, gpu_engine_launch, gpu_engine_wait
    };
    struct err ignored;
    if (gpu_check(cudaSetDevice(engine->device), "the device", err))
        return -1;
    const int status = engine->work->turn(&device, shown->input, jobs, n,
                                          engine->vram, &shown->output, err);
    /* Also after a failure: what was enqueued may still use the memory. */
    if (status)
        (void)gpu_engine_wait(engine, &ignored);
    return status;
}

const struct scan_engine_type scan_engine_cuda = {
    gpu_engine_devices,
    gpu_engine_open,
    gpu_engine_run,
    gpu_engine_close,
};
