/* The transposes of NVIDIA's libraries, for comparison.
 *
 * The libraries are opened when they are first asked for. If the program
 * were linked to them, every start would map some hundred MB for a benchmark
 * that few run, and a machine without them could not run it at all. So their
 * headers are not needed either: the types and functions that are used are
 * declared below, as the manuals have them. */
#include "cuda/bench/kernel_cases.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/gpu/gpu_memory.h"

/* ---- What the manuals say -------------------------------------------------
 */

/* cuBLAS: 0 is success; matrices are stored by columns. */
typedef struct cublas *cublas_handle;
enum { CUBLAS_N = 0, CUBLAS_T = 1 };
typedef int (*cublas_create)(cublas_handle *handle);
typedef int (*cublas_destroy)(cublas_handle handle);
typedef int (*cublas_set_stream)(cublas_handle handle, cudaStream_t stream);
typedef int (*cublas_sgeam)(cublas_handle handle, int op_a, int op_b, int m,
                            int n, const float *alpha, const float *a, int lda,
                            const float *beta, const float *b, int ldb,
                            float *c, int ldc);

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

/* ---- Looking for them ----------------------------------------------------*/

struct libraries {
    const char *no_cublas, *no_npp; /* why not; "": it is there; NULL: it was
                                       not sought yet */
    void *cublas;
    cublas_handle handle;
    cublas_set_stream set_stream;
    cublas_sgeam sgeam;
    npp_transpose transpose[CELL_F32 + 1];
    struct npp_context context;
};

struct libraries *libraries_new(void)
{
    return (struct libraries *)calloc(1, sizeof(struct libraries));
}

/* The newest version is tried first; each has the functions above. */
void *libraries_open(const char *name)
{
    static const char *const places[] = { "", "/usr/local/cuda/lib64/",
                                          "/opt/cuda/lib64/" };
    for (int version = 13; version >= 11; version--)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            char path[64];
            snprintf(path, sizeof path, "%s%s.so.%d", places[i], name, version);
            void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (library)
                return library;
        }
    return NULL;
}

static const char *seek_cublas(struct libraries *l)
{
    cublas_create create;
    l->cublas = libraries_open("libcublas");
    if (!l->cublas)
        return "libcublas is not found";
    if (!libraries_find(l->cublas, "cublasCreate_v2", &create) ||
        !libraries_find(l->cublas, "cublasSetStream_v2", &l->set_stream) ||
        !libraries_find(l->cublas, "cublasSgeam", &l->sgeam))
        return "cuBLAS here has no geam";
    return create(&l->handle) ? "cuBLAS does not start" : "";
}

static const char *seek_npp(struct libraries *l)
{
    struct npp_context *c = &l->context;
    void *npp = libraries_open("libnppidei");
    if (!npp)
        return "libnppidei is not found";
    if (!libraries_find(npp, "nppiTranspose_8u_C1R_Ctx",
                        &l->transpose[CELL_U8]) ||
        !libraries_find(npp, "nppiTranspose_16u_C1R_Ctx",
                        &l->transpose[CELL_U16]) ||
        !libraries_find(npp, "nppiTranspose_32f_C1R_Ctx",
                        &l->transpose[CELL_F32]) ||
        cudaGetDevice(&c->device))
        return "NPP here has no transpose";
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

const char *libraries_lack(struct libraries *l, case_launcher *launch)
{
    const char *why = "";
    if (launch == libraries_geam)
        why = l->no_cublas = l->no_cublas ? l->no_cublas : seek_cublas(l);
    else if (launch == libraries_npp)
        why = l->no_npp = l->no_npp ? l->no_npp : seek_npp(l);
    return *why ? why : NULL;
}

void libraries_free(struct libraries *l)
{
    cublas_destroy destroy;
    if (l && l->handle &&
        libraries_find(l->cublas, "cublasDestroy_v2", &destroy))
        (void)destroy(l->handle);
    free(l);
}

/* ---- Asking them ----------------------------------------------------------
 */

/* Our rows are columns of cuBLAS: the result has m = height of its rows and
 * n = width of its columns. */
int libraries_geam(const struct kernel_case *kcase, struct kernel_task *task,
                   struct err *err)
{
    struct libraries *l = task->libraries;
    const float one = 1, zero = 0;
    int width = (int)task->src.width, height = (int)task->src.height;
    float *dst = reinterpret_cast<float *>(task->dst.plane[0].data);
    const float *src = reinterpret_cast<const float *>(task->src.plane[0].data);
    int status = l->set_stream(l->handle, task->stream);
    if (status == 0)
        status = l->sgeam(l->handle, CUBLAS_T, CUBLAS_N, height, width, &one,
                          src, width, &zero, dst, height, dst, height);
    if (status)
        return fail(err, "%s: cuBLAS says %d", kcase->name, status);
    return gpu_check(cudaGetLastError(), kcase->name, err);
}

int libraries_npp(const struct kernel_case *kcase, struct kernel_task *task,
                  struct err *err)
{
    struct libraries *l = task->libraries;
    const struct plane *src = &task->src.plane[0], *dst = &task->dst.plane[0];
    struct npp_size size = { (int)src->width, (int)src->height };
    if (src->stride > INT_MAX || dst->stride > INT_MAX)
        return fail(err, "%s: rows are too long for NPP", kcase->name);
    l->context.stream = task->stream;
    (void)cudaStreamGetFlags(task->stream, &l->context.stream_flags);
    int status =
        l->transpose[kcase->entry.cell](src->data, (int)src->stride, dst->data,
                                        (int)dst->stride, size, l->context);
    if (status < 0)
        return fail(err, "%s: NPP says %d", kcase->name, status);
    return gpu_check(cudaGetLastError(), kcase->name, err);
}
