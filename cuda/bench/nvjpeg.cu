/* nvJPEG, opened when it is asked for (kernel_cases.h). The types and functions
 * that are used are declared below, as its manual has them. */
#include "cuda/bench/kernel_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/base/thread_pool.h"
#include "cuda/gpu/gpu_memory.h"

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

struct nvjpeg_functions {
    int (*create)(int backend, void *device, void *pinned, unsigned flags,
                  nvjpeg_handle *handle);
    int (*destroy)(nvjpeg_handle handle);
    int (*state_create)(nvjpeg_handle handle, nvjpeg_state *state);
    int (*state_destroy)(nvjpeg_state state);
    int (*batch)(nvjpeg_handle handle, nvjpeg_state state, int pictures,
                 int threads, int format);
    int (*decode)(nvjpeg_handle handle, nvjpeg_state state,
                  const unsigned char *const *file, const size_t *size,
                  struct nvjpeg_image *to, cudaStream_t stream);
    int (*encoder_create)(nvjpeg_handle handle, nvjpeg_encoder *encoder,
                          cudaStream_t stream);
    int (*encoder_destroy)(nvjpeg_encoder encoder);
    int (*params_create)(nvjpeg_handle handle, nvjpeg_params *params,
                         cudaStream_t stream);
    int (*params_destroy)(nvjpeg_params params);
    int (*set_quality)(nvjpeg_params params, int value, cudaStream_t stream);
    int (*set_sampling)(nvjpeg_params params, int value, cudaStream_t stream);
    int (*encode)(nvjpeg_handle handle, nvjpeg_encoder encoder,
                  nvjpeg_params params, const struct nvjpeg_image *from,
                  int sampling, int width, int height, cudaStream_t stream);
    int (*retrieve)(nvjpeg_handle handle, nvjpeg_encoder encoder,
                    unsigned char *data, size_t *size, cudaStream_t stream);
};

/* Finds all functions, in the order of their struct. */
static bool find_functions(struct nvjpeg_functions *f)
{
    static const char *const names[] = { "CreateEx",
                                         "Destroy",
                                         "JpegStateCreate",
                                         "JpegStateDestroy",
                                         "DecodeBatchedInitialize",
                                         "DecodeBatched",
                                         "EncoderStateCreate",
                                         "EncoderStateDestroy",
                                         "EncoderParamsCreate",
                                         "EncoderParamsDestroy",
                                         "EncoderParamsSetQuality",
                                         "EncoderParamsSetSamplingFactors",
                                         "EncodeYUV",
                                         "EncodeRetrieveBitstream" };
    constexpr size_t N = sizeof names / sizeof *names;
    static_assert(sizeof *f == N * sizeof(void *), "a name for each");
    void *library = libraries_open("libnvjpeg"), *found[N] = {};
    bool all = library != NULL;
    for (size_t i = 0; i < N && all; i++) {
        char name[64];
        snprintf(name, sizeof name, "nvjpeg%s", names[i]);
        all = libraries_find(library, name, &found[i]);
    }
    memcpy(f, found, sizeof *f);
    return all;
}

/* ---- Opening -------------------------------------------------------------*/

/* A thread encodes one picture at a time, on a stream of its own. */
enum { ENCODERS = 16 };

struct nvjpeg_worker {
    cudaStream_t stream;
    nvjpeg_encoder encoder;
    nvjpeg_params params;
    unsigned char *data;
    size_t room;
    bool failed;
};

struct suite_codec {
    struct nvjpeg_functions f;
    struct suite_jpeg task;
    nvjpeg_handle decoder, encoder;
    nvjpeg_state state;
    cudaStream_t stream;
    const unsigned char **file;
    size_t *size;
    struct nvjpeg_image *image;
    uint8_t *samples; /* of all */
    struct thread_pool *pool;
    struct nvjpeg_worker worker[ENCODERS];
};

static int open_pictures(struct suite_codec *c, struct err *err)
{
    const struct suite_jpeg *task = &c->task;
    const size_t width = (task->shape.width + 15) / 16 * 16,
                 height = (task->shape.height + 15) / 16 * 16;
    c->file = (const unsigned char **)calloc(task->pictures, sizeof *c->file);
    c->size = (size_t *)calloc(task->pictures, sizeof *c->size);
    c->image = (struct nvjpeg_image *)calloc(task->pictures, sizeof *c->image);
    c->pool = thread_pool_open(ENCODERS);
    if (!c->file || !c->size || !c->image || !c->pool)
        return fail(err, "no memory for nvJPEG");
    if (gpu_check(cudaMalloc((void **)&c->samples,
                             width * height * 3 / 2 * task->pictures),
                  "memory for nvJPEG", err) ||
        gpu_check(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking),
                  "a stream", err))
        return -1;
    uint8_t *at = c->samples;
    for (unsigned i = 0; i < task->pictures; i++) {
        c->file[i] = task->file[i % task->files].data;
        c->size[i] = task->file[i % task->files].size;
        for (unsigned p = 0; p < 3; p++) {
            c->image[i].channel[p] = at;
            c->image[i].pitch[p] = p ? width / 2 : width;
            at += p ? width * height / 4 : width * height;
        }
    }
    return 0;
}

static bool decode(struct suite_codec *c)
{
    return c->f.decode(c->decoder, c->state, c->file, c->size, c->image,
                       c->stream) == 0 &&
           cudaStreamSynchronize(c->stream) == cudaSuccess;
}

/* Returns whether the device has this decoder: then the samples are there. */
static bool open_decoder(struct suite_codec *c)
{
    static const int backends[] = { 0, 2, 3 };
    return c->f.create(backends[c->task.by], NULL, NULL, 0, &c->decoder) == 0 &&
           c->f.state_create(c->decoder, &c->state) == 0 &&
           c->f.batch(c->decoder, c->state, (int)c->task.pictures,
                      (int)c->task.threads, NVJPEG_YUV) == 0 &&
           decode(c);
}

static bool open_worker(struct nvjpeg_worker *w, struct suite_codec *c)
{
    const struct nvjpeg_functions *f = &c->f;
    w->room = (size_t)c->task.shape.width * c->task.shape.height * 2 + 65536;
    w->data = (unsigned char *)malloc(w->room);
    return w->data &&
           cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking) ==
               cudaSuccess &&
           f->encoder_create(c->encoder, &w->encoder, w->stream) == 0 &&
           f->params_create(c->encoder, &w->params, w->stream) == 0 &&
           f->set_quality(w->params, c->task.quality, w->stream) == 0 &&
           f->set_sampling(w->params, NVJPEG_420, w->stream) == 0;
}

static bool open_encoders(struct suite_codec *c)
{
    bool good = c->f.create(0, NULL, NULL, 0, &c->encoder) == 0;
    for (unsigned i = 0; good && i < ENCODERS; i++)
        good = open_worker(&c->worker[i], c);
    return good;
}

int nvjpeg_open(struct suite_codec **codec, const struct suite_jpeg *task,
                const char **left_out, struct err *err)
{
    struct suite_codec *c = (struct suite_codec *)calloc(1, sizeof *c);
    *codec = c;
    if (!c)
        return fail(err, "no memory for nvJPEG");
    c->task = *task;
    if (!find_functions(&c->f))
        *left_out = "libnvjpeg is not found";
    else if (gpu_check(cudaSetDevice(task->device), "the device", err) ||
             open_pictures(c, err))
        return -1;
    else if (!open_decoder(c))
        *left_out = "it does not decode so here";
    else if (task->encodes && !open_encoders(c))
        *left_out = "it does not encode here";
    (void)cudaGetLastError();
    return 0;
}

void nvjpeg_close(struct suite_codec *c)
{
    if (!c)
        return;
    for (unsigned i = 0; i < ENCODERS; i++) {
        struct nvjpeg_worker *w = &c->worker[i];
        if (w->params)
            (void)c->f.params_destroy(w->params);
        if (w->encoder)
            (void)c->f.encoder_destroy(w->encoder);
        if (w->stream)
            (void)cudaStreamDestroy(w->stream);
        free(w->data);
    }
    if (c->encoder)
        (void)c->f.destroy(c->encoder);
    if (c->state)
        (void)c->f.state_destroy(c->state);
    if (c->decoder)
        (void)c->f.destroy(c->decoder);
    if (c->stream)
        (void)cudaStreamDestroy(c->stream);
    (void)cudaFree(c->samples);
    (void)cudaGetLastError();
    thread_pool_close(c->pool);
    free(c->file);
    free(c->size);
    free(c->image);
    free(c);
}

/* ---- Running -------------------------------------------------------------*/

static void encode_some(void *context, size_t number)
{
    struct suite_codec *c = (struct suite_codec *)context;
    struct nvjpeg_worker *w = &c->worker[number];
    for (unsigned i = (unsigned)number; i < c->task.pictures; i += ENCODERS) {
        size_t size = w->room;
        w->failed =
            w->failed ||
            c->f.encode(c->encoder, w->encoder, w->params, &c->image[i],
                        NVJPEG_420, (int)c->task.shape.width,
                        (int)c->task.shape.height, w->stream) ||
            c->f.retrieve(c->encoder, w->encoder, w->data, &size, w->stream) ||
            cudaStreamSynchronize(w->stream) != cudaSuccess;
    }
}

int nvjpeg_run(struct suite_codec *c, struct err *err)
{
    if (c->task.decodes && !decode(c))
        return fail(err, "nvJPEG does not decode any more");
    if (c->task.encodes)
        thread_pool_run(c->pool, encode_some, c, ENCODERS);
    for (unsigned i = 0; i < ENCODERS; i++)
        if (c->worker[i].failed)
            return fail(err, "nvJPEG does not encode");
    return 0;
}
