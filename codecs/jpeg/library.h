/* How libjpeg writes to memory, and what it says of errors. */
#ifndef CODECS_JPEG_LIBRARY_H
#define CODECS_JPEG_LIBRARY_H

#include <stdio.h>

#include <jpeglib.h>

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

/* The destination that libjpeg writes to. */
struct library_target {
    struct jpeg_destination_mgr to;
    struct bytes *file;
};

/* Makes c append to a file. Until it has ended, file->size is the capacity. */
void library_set_target(struct library_target *target, j_compress_ptr c,
                        struct bytes *file);

/* Sets err to the message of libjpeg's error, which may be that memory has run
 * out. */
void library_describe_error(j_common_ptr cinfo, struct err *err);

/* Sets the size of the picture that coefficients make. Version 8 of the
 * interface, Ubuntu's, needs that; in 6b, Debian's, it is always the size of
 * the image. */
void library_size(j_compress_ptr c);

#endif
