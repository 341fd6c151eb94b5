/* NVIDIA's libraries, for comparison: the transposes of cuBLAS and NPP, and the
 * codec nvJPEG.
 *
 * They are opened when they are first asked for. If the program were linked to
 * them, every start would map some hundred MB for a benchmark that few run, and
 * a machine without them could not run it at all. So their headers are not
 * needed either: the types and functions that are used are declared below, as
 * the manuals have them. */
#include "cuda/bench/kernel_cases.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/base/thread_pool.h"
#include "cuda/gpu/gpu_memory.h"

/* ---- What the manuals say ------------------------------------------------*/

/* cuBLAS: 0 is success; matrices are stored by columns. */
typedef struct cublas *cublas_handle;
enum { CUBLAS_N = 0, CUBLAS_T = 1 };
struct cublas_functions {
    int (*create)(cublas_handle *handle);
    int (*set_stream)(cublas_handle handle, cudaStream_t stream);
    int (*sgeam)(cublas_handle handle, int op_a, int op_b, int m, int n,
                 const float *alpha, const float *a, int lda, const float *beta,
                 const float *b, int ldb, float *c, int ldc);
};
static const char cublas_names[] =
    "cublasCreate_v2 cublasSetStream_v2 cublasSgeam";

/* NPP: 0 is success, below are errors, above are warnings. */
struct npp_size {
    int width, height;
};
struct npp_context {
    cudaStream_t stream;
    int device, multiprocessors, threads_of_multiprocessor, threads_of_block;
    size_t shared_of_block;
    int major, minor;
    unsigned stream_flags;
    int reserved;
};
typedef int (*npp_transpose)(const void *src, int src_step, void *dst,
                             int dst_step, struct npp_size size,
                             struct npp_context context);
/* By the kind of cell. */
static const char npp_names[] = "nppiTranspose_8u_C1R_Ctx "
                                "nppiTranspose_16u_C1R_Ctx "
                                "nppiTranspose_32f_C1R_Ctx";

/* nvJPEG: 0 is success. */
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

static const char nvjpeg_names[] =
    "nvjpegCreateEx nvjpegDestroy nvjpegJpegStateCreate nvjpegJpegStateDestroy "
    "nvjpegDecodeBatchedInitialize nvjpegDecodeBatched "
    "nvjpegEncoderStateCreate nvjpegEncoderStateDestroy "
    "nvjpegEncoderParamsCreate nvjpegEncoderParamsDestroy "
    "nvjpegEncoderParamsSetQuality nvjpegEncoderParamsSetSamplingFactors "
    "nvjpegEncodeYUV nvjpegEncodeRetrieveBitstream";

/* ---- Looking for them ----------------------------------------------------*/

/* cuBLAS and NPP, on the device that is current when they are opened: as long
 * as the program runs. */
static struct {
    const char *no_cublas, *no_npp; /* why not; "": it is there; NULL: it was
                                       not sought yet */
    struct cublas_functions cublas;
    cublas_handle handle;
    npp_transpose transpose[CELL_F32 + 1];
    struct npp_context context;
} opened;

/* Opens a library by its name, as "libnpp", the newest version first: where the
 * loader looks, and then where toolkits are installed. It stays open: the
 * kernels that it registers with the CUDA runtime do, too. Writes the functions
 * of these names, which blanks separate, to as many pointers. Returns whether
 * all are there. */
static bool find(const char *name, const char *names, void *functions)
{
    static const char *const places[] = { "", "/usr/local/cuda/lib64/",
                                          "/opt/cuda/lib64/" };
    void *library = NULL, *function;
    char text[64];
    for (int version = 13; version >= 11; version--)
        for (size_t i = 0; i < sizeof places / sizeof *places && !library;
             i++) {
            snprintf(text, sizeof text, "%s%s.so.%d", places[i], name, version);
            library = dlopen(text, RTLD_NOW | RTLD_LOCAL);
        }
    for (int used; library && sscanf(names, "%63s%n", text, &used) == 1;
         names += used) {
        function = dlsym(library, text);
        if (!function)
            return false;
        memcpy(functions, &function, sizeof function);
        functions = (void **)functions + 1;
    }
    return library != NULL;
}

static const char *seek_cublas(void)
{
    if (!find("libcublas", cublas_names, &opened.cublas))
        return "libcublas is not found";
    return opened.cublas.create(&opened.handle) ? "cuBLAS does not start" : "";
}

static const char *seek_npp(void)
{
    struct npp_context *c = &opened.context;
    if (!find("libnppidei", npp_names, opened.transpose) ||
        cudaGetDevice(&c->device))
        return "libnppidei is not found";
    int shared = 0;
    const struct {
        int *value;
        enum cudaDeviceAttr which;
    } wanted[] = {
        { &c->multiprocessors, cudaDevAttrMultiProcessorCount },
        { &c->threads_of_multiprocessor,
          cudaDevAttrMaxThreadsPerMultiProcessor },
        { &c->threads_of_block, cudaDevAttrMaxThreadsPerBlock },
        { &shared, cudaDevAttrMaxSharedMemoryPerBlock },
        { &c->major, cudaDevAttrComputeCapabilityMajor },
        { &c->minor, cudaDevAttrComputeCapabilityMinor },
    };
    for (const auto &w : wanted)
        (void)cudaDeviceGetAttribute(w.value, w.which, c->device);
    c->shared_of_block = (size_t)shared;
    return "";
}

const char *libraries_lack(case_launcher *launch)
{
    const char *why = "";
    if (launch == libraries_geam)
        why = opened.no_cublas =
            opened.no_cublas ? opened.no_cublas : seek_cublas();
    else if (launch == libraries_npp)
        why = opened.no_npp = opened.no_npp ? opened.no_npp : seek_npp();
    return *why ? why : NULL;
}

/* ---- cuBLAS and NPP ------------------------------------------------------*/

/* Our rows are columns of cuBLAS: the result has m = height of its rows and
 * n = width of its columns. */
int libraries_geam(const struct kernel_case *kcase, struct kernel_task *task,
                   struct err *err)
{
    const float one = 1, zero = 0;
    int width = (int)task->src.width, height = (int)task->src.height;
    float *dst = reinterpret_cast<float *>(task->dst.plane[0].data);
    const float *src = reinterpret_cast<const float *>(task->src.plane[0].data);
    int status = opened.cublas.set_stream(opened.handle, task->stream);
    if (status == 0)
        status = opened.cublas.sgeam(opened.handle, CUBLAS_T, CUBLAS_N, height,
                                     width, &one, src, width, &zero, dst,
                                     height, dst, height);
    if (status)
        return fail(err, "%s: cuBLAS says %d", kcase->name, status);
    return gpu_check(cudaGetLastError(), kcase->name, err);
}

int libraries_npp(const struct kernel_case *kcase, struct kernel_task *task,
                  struct err *err)
{
    const struct plane *src = &task->src.plane[0], *dst = &task->dst.plane[0];
    struct npp_size size = { (int)src->width, (int)src->height };
    if (src->stride > INT_MAX || dst->stride > INT_MAX)
        return fail(err, "%s: rows are too long for NPP", kcase->name);
    opened.context.stream = task->stream;
    (void)cudaStreamGetFlags(task->stream, &opened.context.stream_flags);
    int status =
        opened.transpose[kcase->cell](src->data, (int)src->stride, dst->data,
                                      (int)dst->stride, size, opened.context);
    if (status < 0)
        return fail(err, "%s: NPP says %d", kcase->name, status);
    return gpu_check(cudaGetLastError(), kcase->name, err);
}

/* ---- nvJPEG --------------------------------------------------------------*/

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
    const unsigned char *file[SUITE_BATCH];
    size_t size[SUITE_BATCH];
    struct nvjpeg_image image[SUITE_BATCH];
    uint8_t *samples; /* of all */
    struct thread_pool *pool;
    struct nvjpeg_worker worker[ENCODERS];
};

static int open_pictures(struct suite_codec *c, struct err *err)
{
    const struct suite_jpeg *task = &c->task;
    const size_t width = (task->shape.width + 15) / 16 * 16,
                 height = (task->shape.height + 15) / 16 * 16;
    c->pool = thread_pool_open(ENCODERS);
    if (!c->pool)
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

static bool open_encoders(struct suite_codec *c)
{
    const struct nvjpeg_functions *f = &c->f;
    bool good = f->create(0, NULL, NULL, 0, &c->encoder) == 0;
    for (unsigned i = 0; good && i < ENCODERS; i++) {
        struct nvjpeg_worker *w = &c->worker[i];
        w->room =
            (size_t)c->task.shape.width * c->task.shape.height * 2 + 65536;
        w->data = (unsigned char *)malloc(w->room);
        good = w->data &&
               cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking) ==
                   cudaSuccess &&
               f->encoder_create(c->encoder, &w->encoder, w->stream) == 0 &&
               f->params_create(c->encoder, &w->params, w->stream) == 0 &&
               f->set_quality(w->params, c->task.quality, w->stream) == 0 &&
               f->set_sampling(w->params, NVJPEG_420, w->stream) == 0;
    }
    return good;
}

int libraries_codec_open(struct suite_codec **codec,
                         const struct suite_jpeg *task, const char **left_out,
                         struct err *err)
{
    struct suite_codec *c = (struct suite_codec *)calloc(1, sizeof *c);
    *codec = c;
    if (!c)
        return fail(err, "no memory for nvJPEG");
    c->task = *task;
    if (!find("libnvjpeg", nvjpeg_names, &c->f))
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

void libraries_codec_close(struct suite_codec *c)
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
    free(c);
}

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

int libraries_codec_run(struct suite_codec *c, struct err *err)
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
