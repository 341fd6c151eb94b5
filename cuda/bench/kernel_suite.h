/* The suite of kernels that `gimgxf bench` runs on a GPU: those of the
 * literature on the transpose, the libraries, and ours, all verified and
 * timed in the same way. In come a device, the number of a case and a size;
 * out go times and the number of wrong cells. kernel_cases.h has the cases,
 * cuda_suite.cu runs them, verify_gpu.h fills and checks pictures,
 * batched_launch.h turns many small pictures at once, bus.h measures plain
 * copies, and nvjpeg.h times the JPEG codec of NVIDIA. The room prints nothing
 * and knows nothing of files. */
#ifndef CUDA_BENCH_KERNEL_SUITE_H
#define CUDA_BENCH_KERNEL_SUITE_H

#include <stddef.h>
#include <stdint.h>

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/image/image.h"
#include "codecs/image/xform.h"

#ifdef __cplusplus
extern "C" {
#endif

enum suite_origin {
    SUITE_PUBLISHED, /* does what its source prints, faults included */
    SUITE_MEANT,     /* the same idea, right for all sizes */
    SUITE_LIBRARY,
    SUITE_OURS,
};

struct suite_shape {
    uint32_t width, height; /* of the source, in cells */
};

enum { SUITE_SHAPES = 4, SUITE_ROUNDS = 1000 }; /* at most */

struct suite_entry {
    const char *section; /* what --only calls it and its like, in a word */
    const char *source;  /* entries of one source stand together */
    const char *name;    /* NULL: the name of the turn */
    const char *note;    /* what one has to know about it; may be NULL */
    enum suite_origin origin;
    enum cell cell;
    enum xform turn;    /* what it is said to do */
    unsigned nplanes;   /* of a picture */
    unsigned npictures; /* in one launch */
    bool wrong;         /* it is known not to do that; the note says why */
    bool sweep;         /* a step of the sweep over shapes of blocks */
    unsigned block_x, block_y; /* threads of a block; 0: not for us to choose */
    /* Where it is timed; {0} ends the list. */
    struct suite_shape shape[SUITE_SHAPES];
};

/* How many lanes of a warp meet at one bank of shared memory with different
 * words, in the worst request: 1 is free of conflicts, 0 without such
 * memory. */
struct suite_banks {
    unsigned put, get;
};

struct suite_machine {
    int devices; /* that there are, of which the others are not described */
    char name[256];
    char compute[16]; /* "9.0" */
    unsigned multiprocessors;
    uint64_t l2, memory; /* bytes */
    int driver, runtime; /* 13000 is CUDA 13.0 */
};

struct suite_opts {
    int device;
    unsigned rounds; /* how often each is timed, SUITE_ROUNDS at most; 0: launch
                        it once, to be checked or profiled, and time nothing */
};

/* A launch for each picture of a batch, beside one for all: seconds for all. */
struct suite_batch {
    double each;            /* between events */
    double wall, wall_each; /* of the host, from their addresses to the results:
                               in one launch, and in one each */
};

struct suite_result {
    char left_out[128]; /* why it was not run; "": it was */
    uint64_t bytes;     /* read plus written */
    /* Seconds of a launch; all 0 if nothing was timed. */
    double median, min, max;
    double copy; /* the median of cudaMemcpy of the same cells, in turns
                    with the above */
    unsigned rounds, launches; /* launches between the events of a round */
    struct suite_batch batch;  /* all 0 where a launch takes one picture */
    bool in_l2;            /* source and result fit into it, and stay there */
    uint64_t cells, wrong; /* that were checked, and that were not right */
};

/* Pictures for a codec of JPEG: so many, of these files in turns. */
struct suite_jpeg {
    const struct bytes *file;
    unsigned files, pictures;
    struct suite_shape shape; /* of all: 4:2:0 */
    int quality;              /* with which they are encoded */
    int device;
    unsigned threads, rounds;
};

/* Seconds of a batch, the mean of the rounds; 0: there is no such part. */
enum { SUITE_JPEG_DECODERS = 3 }; /* its default, kernels, circuits */
struct suite_jpeg_times {
    char left_out[64]; /* why there is none; "": there is one */
    double decode[SUITE_JPEG_DECODERS], encode;
};

struct suite_run; /* a device, its memory and a stream */
struct suite_bus; /* the way from the host to some devices and back */

struct kernel_suite {
    size_t (*count)(void);
    const struct suite_entry *(*entry)(size_t i);
    struct suite_banks (*banks)(size_t i);
    /* Opens a device. The caller closes the run. */
    int (*open)(struct suite_run **run, const struct suite_opts *opts,
                struct suite_machine *machine, struct err *err);
    /* Runs case i on a source of this shape, verifies every cell of its
     * result, and times it. A case that is not defined for the shape, or
     * needs what the machine does not have, is left out. Returns 0; -1 if
     * the device failed: then all later cases will fail as well. */
    int (*measure)(struct suite_run *run, size_t i, struct suite_shape shape,
                   struct suite_result *result, struct err *err);
    void (*close)(struct suite_run *run);
    /* Opens the bus to these devices, to be measured by copies of `bytes`
     * from and to page-locked memory. The caller closes it. */
    int (*bus_open)(struct suite_bus **bus, const int *device,
                    unsigned ndevices, size_t bytes, struct err *err);
    /* Measures bytes a second to the devices and from them, summed over the
     * devices, while both directions of all are busy. */
    int (*bus_measure)(struct suite_bus *bus, double rate[2], struct err *err);
    void (*bus_close)(struct suite_bus *bus);
    /* Times NVIDIA's codec of JPEG: pictures to samples on the device, and
     * these to files. Returns 0; -1 if the device failed. */
    int (*jpeg)(const struct suite_jpeg *task, struct suite_jpeg_times *times,
                struct err *err);
};

extern const struct kernel_suite kernel_suite_cuda; /* in a build with CUDA */

#ifdef __cplusplus
}
#endif
#endif
