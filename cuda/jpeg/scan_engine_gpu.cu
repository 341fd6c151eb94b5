/* Engines on a GPU, and that of coded scans. */
#include "cuda/jpeg/scan_engine_gpu.h"

#include <stdlib.h>

#include "cuda/gpu/gpu_memory.h"
#include "cuda/jpeg/scan_kernels.h"

struct scan_engine {
    const struct scan_work *work;
    int device;
    cudaStream_t stream;
    cudaEvent_t done;
    struct gpu_buffer input;
    struct gpu_buffer memory[SCAN_MEMORIES];
    uint64_t vram;
    const uint8_t *output;
    size_t most; /* bytes that the output of a batch with samples may have */
    double *seconds; /* of each kernel; NULL: they are not timed */
    cudaEvent_t before, after;
};

/* ---- As a device ---------------------------------------------------------*/

/* Memory grows by some more than what is asked for: batches differ, and to free
 * waits for the device. That of samples, which takes long to page-lock, is at
 * once as much as it may become. */
static void *engine_memory(void *context, enum scan_memory which, size_t size,
                           struct err *err)
{
    struct scan_engine *engine = (struct scan_engine *)context;
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

static int engine_put(void *context, void *to, const void *from, size_t size,
                      struct err *err)
{
    struct scan_engine *engine = (struct scan_engine *)context;
    return gpu_check(
        cudaMemcpyAsync(to, from, size, cudaMemcpyHostToDevice, engine->stream),
        "copying to the device", err);
}

static int engine_get(void *context, void *to, const void *from, size_t size,
                      struct err *err)
{
    struct scan_engine *engine = (struct scan_engine *)context;
    return gpu_check(
        cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToHost, engine->stream),
        "copying from the device", err);
}

static int engine_clear(void *context, void *memory, size_t size,
                        struct err *err)
{
    struct scan_engine *engine = (struct scan_engine *)context;
    return gpu_check(cudaMemsetAsync(memory, 0, size, engine->stream),
                     "clearing memory of the device", err);
}

static int launch_timed(struct scan_engine *engine, unsigned kernel,
                        uint32_t blocks, uint32_t codes, const void *params,
                        struct err *err)
{
    const struct scan_work *work = engine->work;
    float milliseconds = 0;
    if (gpu_check(cudaEventRecord(engine->before, engine->stream), "timing",
                  err) ||
        gpu_check(work->launch(kernel, blocks, codes, params, engine->stream),
                  work->what, err) ||
        gpu_check(cudaEventRecord(engine->after, engine->stream), "timing",
                  err) ||
        gpu_check(cudaEventSynchronize(engine->after), work->what, err) ||
        gpu_check(
            cudaEventElapsedTime(&milliseconds, engine->before, engine->after),
            "timing", err))
        return -1;
    engine->seconds[kernel] += milliseconds / 1e3;
    return 0;
}

static int engine_launch(void *context, unsigned kernel, uint32_t blocks,
                         uint32_t codes, const void *params, struct err *err)
{
    struct scan_engine *engine = (struct scan_engine *)context;
    const struct scan_work *work = engine->work;
    if (engine->seconds)
        return launch_timed(engine, kernel, blocks, codes, params, err);
    return gpu_check(
        work->launch(kernel, blocks, codes, params, engine->stream), work->what,
        err);
}

/* Waits without keeping a processor busy. */
static int engine_wait(void *context, struct err *err)
{
    struct scan_engine *engine = (struct scan_engine *)context;
    return gpu_check(cudaEventRecord(engine->done, engine->stream),
                     engine->work->what, err) ||
                   gpu_check(cudaEventSynchronize(engine->done),
                             engine->work->what, err)
               ? -1
               : 0;
}

/* ---- The engine ----------------------------------------------------------*/

void scan_engine_gpu_close(struct scan_engine *engine)
{
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

/* Sets how much memory of the device may be used. */
static int share_vram(struct scan_engine *engine, uint64_t allowed,
                      struct err *err)
{
    size_t free_bytes, all;
    if (gpu_check(cudaMemGetInfo(&free_bytes, &all), "asking for memory", err))
        return -1;
    engine->vram = allowed && allowed < free_bytes ? allowed : free_bytes / 4;
    return 0;
}

/* Takes the memory that is there from the beginning. */
static int take_memory(struct scan_engine *engine,
                       const struct scan_engine_opts *opts, struct err *err)
{
    enum { TABLES = 1 << 20 };
    const struct scan_work *work = engine->work;
    const uint64_t full =
        (uint64_t)opts->output * work->each + opts->input + TABLES;
    const uint64_t most = full < engine->vram ? full : engine->vram;
    if (gpu_memory_grow(&engine->input, opts->input, engine->stream, err) ||
        (!work->overlays &&
         !engine_memory(engine, SCAN_OUTPUT, opts->input, err)))
        return -1;
    return !work->each || (engine_memory(engine, SCAN_TABLES, TABLES, err) &&
                           engine_memory(engine, SCAN_RESULTS, TABLES, err) &&
                           engine_memory(engine, SCAN_ON_DEVICE,
                                         (size_t)(most / 5 * 4), err))
               ? 0
               : -1;
}

static int open_device(struct scan_engine *engine,
                       const struct scan_engine_opts *opts, struct err *err)
{
    const unsigned timing =
        opts->seconds ? cudaEventDefault : cudaEventDisableTiming;
    engine->input.on_host = true;
    if (gpu_check(cudaSetDevice(engine->device), "the device", err) ||
        gpu_check(
            cudaStreamCreateWithFlags(&engine->stream, cudaStreamNonBlocking),
            "a stream", err) ||
        gpu_check(
            cudaEventCreateWithFlags(&engine->done, cudaEventBlockingSync |
                                                        cudaEventDisableTiming),
            "an event", err) ||
        gpu_check(cudaEventCreateWithFlags(&engine->before, timing), "an event",
                  err) ||
        gpu_check(cudaEventCreateWithFlags(&engine->after, timing), "an event",
                  err) ||
        gpu_check(engine->work->prepare(), "shared memory", err))
        return -1;
    return share_vram(engine, opts->vram, err) || take_memory(engine, opts, err)
               ? -1
               : 0;
}

int scan_engine_gpu_devices(unsigned *count, struct err *err)
{
    int driver = 0, devices = 0;
    /* Without any driver cudaGetDeviceCount() says that it is too old. */
    if (gpu_check(cudaDriverGetVersion(&driver), "the CUDA driver", err))
        return -1;
    if (driver == 0)
        return fail(err, "no CUDA driver");
    if (gpu_check(cudaGetDeviceCount(&devices), "no CUDA device", err))
        return -1;
    *count = (unsigned)devices;
    return devices ? 0 : fail(err, "no CUDA device");
}

int scan_engine_gpu_open(struct scan_engine **engine,
                         const struct scan_engine_opts *opts,
                         const struct scan_work *work, struct err *err)
{
    struct scan_engine *made = (struct scan_engine *)calloc(1, sizeof *made);
    if (!made)
        return fail_memory(err, "no memory for a scan engine");
    made->work = work;
    made->device = opts->device;
    made->seconds = opts->seconds;
    if (open_device(made, opts, err)) {
        scan_engine_gpu_close(made);
        return -1;
    }
    made->most = opts->input + opts->output;
    *engine = made;
    return 0;
}

uint8_t *scan_engine_gpu_input(struct scan_engine *engine, size_t *room)
{
    *room = engine->work->overlays ? engine->input.size / 5 * 4
                                   : engine->input.size;
    return (uint8_t *)engine->input.memory;
}

const uint8_t *scan_engine_gpu_output(struct scan_engine *engine)
{
    return engine->output;
}

int scan_engine_gpu_run(struct scan_engine *engine, struct scan_job *jobs,
                        size_t n, struct err *err)
{
    const struct scan_device device = { engine,       engine_memory,
                                        engine_put,   engine_get,
                                        engine_clear, engine_launch,
                                        engine_wait };
    struct err ignored;
    if (gpu_check(cudaSetDevice(engine->device), "the device", err))
        return -1;
    int status =
        engine->work->turn(&device, (const uint8_t *)engine->input.memory, jobs,
                           n, engine->vram, &engine->output, err);
    /* Also after a failure: what was enqueued may still use the memory. */
    if (status)
        (void)engine_wait(engine, &ignored);
    return status;
}

/* ---- The engine of scans -------------------------------------------------*/

static cudaError_t launch_scans(unsigned kernel, uint32_t blocks,
                                uint32_t codes, const void *params,
                                cudaStream_t stream)
{
    return scan_kernels_launch((enum scan_kernel)kernel, blocks, codes,
                               (const struct scan_params *)params, stream);
}

static int open_scans(struct scan_engine **engine,
                      const struct scan_engine_opts *opts, struct err *err)
{
    static const struct scan_work work = { scan_turn,    scan_kernels_prepare,
                                           launch_scans, "turning a scan",
                                           false,        0 };
    return scan_engine_gpu_open(engine, opts, &work, err);
}

const struct scan_engine_type scan_engine_cuda = {
    scan_engine_gpu_devices,
    open_scans,
    scan_engine_gpu_input,
    scan_engine_gpu_run,
    scan_engine_gpu_output,
    scan_engine_gpu_close,
    true,
};
