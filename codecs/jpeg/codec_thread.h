/* An encoder of libjpeg for one part of a picture. It writes to memory and
 * keeps its errors, so that several of them can run on threads of their own. */
#ifndef CODECS_JPEG_CODEC_THREAD_H
#define CODECS_JPEG_CODEC_THREAD_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/jpeg/coefficient_arrays.h"

/* The destination that libjpeg writes to. */
struct codec_target {
    struct jpeg_destination_mgr to;
    struct bytes *file;
};

/* Makes c append to a file. Until it has ended, file->size is the capacity. */
void codec_thread_set_target(struct codec_target *target, j_compress_ptr c,
                             struct bytes *file);

/* Sets err to the message of libjpeg's error, which may be that memory has run
 * out. */
void codec_thread_describe_error(j_common_ptr cinfo, struct err *err);

struct codec_thread {
    struct coefficient_arrays
        blocks; /* where coefficient_arrays_offer() looks for them */
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr mgr;
    struct codec_target target;
    jmp_buf out;
    bool done;
    struct err why; /* if it is not done */
};

/* Sets up an encoder with the settings of `from`, which has not been started,
 * but without its scans and segments; calls work(context), which uses it; and
 * frees it. Returns false if work() does, or on an error. */
bool codec_thread_run(struct codec_thread *w,
                      const struct jpeg_compress_struct *from,
                      struct bytes *file, bool (*work)(void *context),
                      void *context);

/* Sets the size of the picture that coefficients make. Version 8 of the
 * interface, Ubuntu's, needs that; in 6b, Debian's, it is always the size of
 * the image. */
void codec_thread_size(j_compress_ptr c);

#endif
