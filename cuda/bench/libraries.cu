/* NVIDIA's libraries, for comparison: the transposes of cuBLAS and NPP.
 *
 * They are opened when they are first asked for. If the program were linked to
 * them, every start would map some hundred MB for a benchmark that few run, and
 * a machine without them could not run it at all. So their headers are not
 * needed either: the types and functions that are used are declared below, as
 * the manuals have them. */
#include "cuda/bench/kernel_cases.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

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
    if (launch == libraries_geam && !opened.no_cublas)
        opened.no_cublas = !find("libcublas", cublas_names, &opened.cublas)
                               ? "libcublas is not found"
                           : opened.cublas.create(&opened.handle)
                               ? "cuBLAS does not start"
                               : "";
    if (launch == libraries_geam)
        why = opened.no_cublas;
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
