/* An object of libjpeg that codes a part of a picture: it writes to memory, and
 * leaves it to others to tell what goes wrong, so that several of them can work
 * on threads of their own. */
#ifndef CODECS_JPEG_CODEC_THREAD_H
#define CODECS_JPEG_CODEC_THREAD_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/jpeg/coefficient_arrays.h"

/* Where libjpeg writes to. */
struct codec_target {
    struct jpeg_destination_mgr to;
    struct bytes *file;
};

/* Makes c append to a file. While it does, the size of that is all the room it
 * has. */
void codec_thread_set_target(struct codec_target *target, j_compress_ptr c,
                             struct bytes *file);

/* Says what libjpeg has to say of an error, which may be that there is no
 * memory. */
void codec_thread_describe_error(j_common_ptr cinfo, struct err *err);

struct codec_thread {
    struct coefficient_arrays
        blocks; /* where coefficient_arrays_offer() looks for them */
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr mgr;
    struct codec_target target;
    jmp_buf out;
    bool done;
    struct err why; /* what went wrong */
};

/* Makes a worker that is set to write as `from` is, which has not been started,
 * but for the scans and the segments; calls work(context), which uses it; and
 * takes it down. False: something went wrong, or work() says so. */
bool codec_thread_run(struct codec_thread *w,
                      const struct jpeg_compress_struct *from,
                      struct bytes *file, bool (*work)(void *context),
                      void *context);

/* In the interface of version 8, which Ubuntu's library has, whoever writes
 * coefficients says what size they make; in that of 6b, Debian's, they make the
 * picture's. */
void codec_thread_size(j_compress_ptr c);

#endif
