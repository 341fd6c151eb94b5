/* Batches of coded JPEG scans for the section "jpeg" of bench: pictures that
 * are made, what a processor makes of them, and an engine that turns them. */
#ifndef CLI_BENCH_JPEG_BATCH_H
#define CLI_BENCH_JPEG_BATCH_H

#include "codecs/jpeg/entropy/sequential.h"
#include "cuda/bench/kernel_suite.h"
#include "cuda/jpeg/scan_engine.h"

enum { JPEG_SOURCES = 8 }; /* different pictures */

/* A picture of one scan, and the file that a processor makes of it. */
struct jpeg_source {
    struct bytes file, made;
    struct sequential from, to;
};

/* What all batches of a size have. */
struct jpeg_pictures {
    enum xform turn;
    struct jpeg_source source[JPEG_SOURCES];
    unsigned count; /* of a batch: the sources in turns */
    size_t bytes;   /* of the coded data of a batch */
};

/* A batch on its way through a device, again and again. */
struct jpeg_stream {
    const struct jpeg_pictures *pictures;
    const struct scan_engine_type *type;
    struct scan_engine *engine;
    struct scan_job *job;
    struct entropy_scan *to; /* of each job */
    unsigned rounds;
    bool failed;
    struct err err;
};

/* All functions that can fail return 0, or -1 with the reason in `err`. */

/* Makes the pictures, and chooses how many a batch has. They are to be freed in
 * any case. */
int jpeg_pictures_make(struct jpeg_pictures *pictures, struct suite_shape shape,
                       enum xform turn, struct err *err);
void jpeg_pictures_free(struct jpeg_pictures *pictures);

static inline const struct jpeg_source *
jpeg_pictures_get(const struct jpeg_pictures *pictures, size_t i)
{
    return &pictures->source[i % JPEG_SOURCES];
}

/* Turns a file as a processor does: appends it to `made` from its first
 * quantization table on. */
int jpeg_turn(struct bytes *made, struct bytes file, enum xform turn,
              struct err *err);

/* Opens an engine, on this device, with a batch as its input. It is to be
 * closed in any case. `seconds`: see struct scan_engine_opts. */
int jpeg_stream_open(struct jpeg_stream *stream,
                     const struct jpeg_pictures *pictures,
                     const struct scan_engine_type *type, int device,
                     double *seconds, struct err *err);
void jpeg_stream_close(struct jpeg_stream *stream);

/* Runs the batch stream->rounds times. */
void jpeg_stream_run(struct jpeg_stream *stream);

/* Returns how many pictures are not what a processor makes of them. */
unsigned jpeg_stream_wrong(const struct jpeg_stream *stream);

#endif
