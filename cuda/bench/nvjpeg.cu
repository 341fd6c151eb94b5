/* nvJPEG, opened when it is asked for (libraries.h). The types and functions
 * that are used are declared below, as its manual has them. */
#include "cuda/bench/nvjpeg.h"

#include <stdio.h>
#include <stdlib.h>

#include "codecs/base/clock.h"
#include "codecs/base/thread_pool.h"
#include "cuda/bench/libraries.h"
#include "cuda/gpu/gpu_check.h"

/* ---- What the manual says ------------------------------------------------*/

/* All functions return 0 if they succeed. */
typedef struct nvjpeg_library *nvjpeg_handle;
typedef struct nvjpeg_state_data *nvjpeg_state;
typedef struct nvjpeg_encoder_data *nvjpeg_encoder;
typedef struct nvjpeg_params_data *nvjpeg_params;
struct nvjpeg_image {
    unsigned char *channel[4];
    size_t pitch[4];
};
enum { NVJPEG_YUV = 1, NVJPEG_420 = 2 };
static const int backends[SUITE_JPEG_DECODERS] = { 0, 2, 3 };

typedef int (*create_function)(int backend, void *device, void *pinned,
                               unsigned flags, nvjpeg_handle *handle);
typedef int (*destroy_function)(nvjpeg_handle handle);
typedef int (*state_create_function)(nvjpeg_handle handle, nvjpeg_state *state);
typedef int (*state_destroy_function)(nvjpeg_state state);
typedef int (*batch_function)(nvjpeg_handle handle, nvjpeg_state state,
                              int pictures, int threads, int format);
typedef int (*decode_function)(nvjpeg_handle handle, nvjpeg_state state,
                               const unsigned char *const *file,
                               const size_t *size, struct nvjpeg_image *to,
                               cudaStream_t stream);
typedef int (*encoder_create_function)(nvjpeg_handle handle,
                                       nvjpeg_encoder *encoder,
                                       cudaStream_t stream);
typedef int (*encoder_destroy_function)(nvjpeg_encoder encoder);
typedef int (*params_create_function)(nvjpeg_handle handle,
                                      nvjpeg_params *params,
                                      cudaStream_t stream);
typedef int (*params_destroy_function)(nvjpeg_params params);
typedef int (*params_set_function)(nvjpeg_params params, int value,
                                   cudaStream_t stream);
typedef int (*encode_function)(nvjpeg_handle handle, nvjpeg_encoder encoder,
                               nvjpeg_params params,
                               const struct nvjpeg_image *from, int sampling,
                               int width, int height, cudaStream_t stream);
typedef int (*retrieve_function)(nvjpeg_handle handle, nvjpeg_encoder encoder,
                                 unsigned char *data, size_t *size,
                                 cudaStream_t stream);

struct nvjpeg_functions {
    create_function create;
    destroy_function destroy;
    state_create_function state_create;
    state_destroy_function state_destroy;
    batch_function batch;
    decode_function decode;
    encoder_create_function encoder_create;
    encoder_destroy_function encoder_destroy;
    params_create_function params_create;
    params_destroy_function params_destroy;
    params_set_function set_quality, set_sampling;
    encode_function encode;
    retrieve_function retrieve;
};

static bool find_functions(struct nvjpeg_functions *f)
{
    void *l = libraries_open("libnvjpeg");
    return l && libraries_find(l, "nvjpegCreateEx", &f->create) &&
           libraries_find(l, "nvjpegDestroy", &f->destroy) &&
           libraries_find(l, "nvjpegJpegStateCreate", &f->state_create) &&
           libraries_find(l, "nvjpegJpegStateDestroy", &f->state_destroy) &&
           libraries_find(l, "nvjpegDecodeBatchedInitialize", &f->batch) &&
           libraries_find(l, "nvjpegDecodeBatched", &f->decode) &&
           libraries_find(l, "nvjpegEncoderStateCreate", &f->encoder_create) &&
           libraries_find(l, "nvjpegEncoderStateDestroy",
                          &f->encoder_destroy) &&
           libraries_find(l, "nvjpegEncoderParamsCreate", &f->params_create) &&
           libraries_find(l, "nvjpegEncoderParamsDestroy",
                          &f->params_destroy) &&
           libraries_find(l, "nvjpegEncoderParamsSetQuality",
                          &f->set_quality) &&
           libraries_find(l, "nvjpegEncoderParamsSetSamplingFactors",
                          &f->set_sampling) &&
           libraries_find(l, "nvjpegEncodeYUV", &f->encode) &&
           libraries_find(l, "nvjpegEncodeRetrieveBitstream", &f->retrieve);
}

/* ---- Pictures ------------------------------------------------------------*/

struct nvjpeg_batch {
    struct nvjpeg_functions f;
    const struct suite_jpeg *task;
    nvjpeg_handle handle;
    cudaStream_t stream;
    const unsigned char **file;
    size_t *size;
    struct nvjpeg_image *image;
    uint8_t *samples; /* of all */
};

static int open_batch(struct nvjpeg_batch *b, struct err *err)
{
    const struct suite_jpeg *task = b->task;
    const size_t width = (task->shape.width + 15) / 16 * 16,
                 height = (task->shape.height + 15) / 16 * 16;
    b->file = (const unsigned char **)calloc(task->pictures, sizeof *b->file);
    b->size = (size_t *)calloc(task->pictures, sizeof *b->size);
    b->image = (struct nvjpeg_image *)calloc(task->pictures, sizeof *b->image);
    if (!b->file || !b->size || !b->image)
        return fail(err, "no memory for nvJPEG");
    if (gpu_check(cudaMalloc((void **)&b->samples,
                             width * height * 3 / 2 * task->pictures),
                  "memory for nvJPEG", err) ||
        gpu_check(cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking),
                  "a stream", err))
        return -1;
    uint8_t *at = b->samples;
    for (unsigned i = 0; i < task->pictures; i++)
        for (unsigned c = 0; c < 3; c++) {
            b->file[i] = task->file[i % task->files].data;
            b->size[i] = task->file[i % task->files].size;
            b->image[i].channel[c] = at;
            b->image[i].pitch[c] = c ? width / 2 : width;
            at += c ? width * height / 4 : width * height;
        }
    return 0;
}

static void close_batch(struct nvjpeg_batch *b)
{
    if (b->stream)
        (void)cudaStreamDestroy(b->stream);
    (void)cudaFree(b->samples);
    free(b->file);
    free(b->size);
    free(b->image);
}

/* ---- Decoding ------------------------------------------------------------*/

/* Returns whether the pictures are decoded, with the seconds of a batch. */
static bool time_decoder(struct nvjpeg_batch *b, nvjpeg_state state,
                         double *seconds)
{
    const struct suite_jpeg *task = b->task;
    double begin = 0;
    if (b->f.batch(b->handle, state, (int)task->pictures, (int)task->threads,
                   NVJPEG_YUV))
        return false;
    for (unsigned r = 0; r <= task->rounds; r++) {
        if (r == 1) /* the first one does not count */
            begin = now();
        if (b->f.decode(b->handle, state, b->file, b->size, b->image,
                        b->stream) ||
            cudaStreamSynchronize(b->stream))
            return false;
    }
    *seconds = (now() - begin) / task->rounds;
    return true;
}

/* Leaves *seconds alone where the device has no such decoder. */
static void try_decoder(struct nvjpeg_batch *b, int backend, double *seconds)
{
    nvjpeg_state state;
    if (b->f.create(backend, NULL, NULL, 0, &b->handle))
        return;
    if (b->f.state_create(b->handle, &state) == 0) {
        (void)time_decoder(b, state, seconds);
        (void)b->f.state_destroy(state);
    }
    (void)b->f.destroy(b->handle);
    (void)cudaGetLastError();
}

/* ---- Encoding ------------------------------------------------------------*/

/* A thread encodes one picture at a time, on a stream of its own. */
enum { ENCODERS = 16 };

struct nvjpeg_worker {
    struct nvjpeg_batch *batch;
    cudaStream_t stream;
    nvjpeg_encoder encoder;
    nvjpeg_params params;
    unsigned char *data;
    size_t room;
    bool failed;
};

static bool encode_picture(struct nvjpeg_worker *w, unsigned i)
{
    const struct nvjpeg_batch *b = w->batch;
    const struct suite_jpeg *task = b->task;
    size_t size = w->room;
    return b->f.encode(b->handle, w->encoder, w->params, &b->image[i],
                       NVJPEG_420, (int)task->shape.width,
                       (int)task->shape.height, w->stream) == 0 &&
           b->f.retrieve(b->handle, w->encoder, w->data, &size, w->stream) ==
               0 &&
           cudaStreamSynchronize(w->stream) == cudaSuccess;
}

static void encode_some(void *context, size_t number)
{
    struct nvjpeg_worker *w = (struct nvjpeg_worker *)context + number;
    for (unsigned i = (unsigned)number; i < w->batch->task->pictures;
         i += ENCODERS)
        w->failed = w->failed || !encode_picture(w, i);
}

static bool open_worker(struct nvjpeg_worker *w, struct nvjpeg_batch *b)
{
    const struct nvjpeg_functions *f = &b->f;
    w->batch = b;
    w->room = (size_t)b->task->shape.width * b->task->shape.height * 2 + 65536;
    w->data = (unsigned char *)malloc(w->room);
    return w->data &&
           cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking) ==
               cudaSuccess &&
           f->encoder_create(b->handle, &w->encoder, w->stream) == 0 &&
           f->params_create(b->handle, &w->params, w->stream) == 0 &&
           f->set_quality(w->params, b->task->quality, w->stream) == 0 &&
           f->set_sampling(w->params, NVJPEG_420, w->stream) == 0;
}

static void close_worker(struct nvjpeg_worker *w)
{
    if (w->params)
        (void)w->batch->f.params_destroy(w->params);
    if (w->encoder)
        (void)w->batch->f.encoder_destroy(w->encoder);
    if (w->stream)
        (void)cudaStreamDestroy(w->stream);
    free(w->data);
}

/* Encodes what was decoded last. */
static void time_encoder(struct nvjpeg_batch *b, double *seconds)
{
    struct nvjpeg_worker worker[ENCODERS] = {};
    struct thread_pool *pool = thread_pool_open(ENCODERS);
    bool good = pool && b->f.create(0, NULL, NULL, 0, &b->handle) == 0;
    const bool created = good;
    double begin = 0;
    for (unsigned i = 0; good && i < ENCODERS; i++)
        good = open_worker(&worker[i], b);
    for (unsigned r = 0; good && r <= b->task->rounds; r++) {
        if (r == 1)
            begin = now();
        thread_pool_run(pool, encode_some, worker, ENCODERS);
        for (unsigned i = 0; i < ENCODERS; i++)
            good = good && !worker[i].failed;
    }
    if (good)
        *seconds = (now() - begin) / b->task->rounds;
    for (unsigned i = 0; i < ENCODERS; i++)
        if (worker[i].batch)
            close_worker(&worker[i]);
    if (created)
        (void)b->f.destroy(b->handle);
    thread_pool_close(pool);
    (void)cudaGetLastError();
}

/* ---- All -----------------------------------------------------------------*/

int nvjpeg_time(const struct suite_jpeg *task, struct suite_jpeg_times *times,
                struct err *err)
{
    struct nvjpeg_batch b = {};
    b.task = task;
    *times = (struct suite_jpeg_times){};
    if (!find_functions(&b.f)) {
        snprintf(times->left_out, sizeof times->left_out,
                 "libnvjpeg is not found");
        return 0;
    }
    const int status =
        gpu_check(cudaSetDevice(task->device), "the device", err) ||
                open_batch(&b, err)
            ? -1
            : 0;
    for (unsigned i = 0; status == 0 && i < SUITE_JPEG_DECODERS; i++)
        try_decoder(&b, backends[i], &times->decode[i]);
    if (status == 0)
        time_encoder(&b, &times->encode);
    close_batch(&b);
    return status;
}
