/* The coefficients of a JPEG file as libjpeg reads them: an oracle that shares
 * no code with ours. */
#ifndef TESTS_SUPPORT_PLAIN_JPEG_H
#define TESTS_SUPPORT_PLAIN_JPEG_H

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h> /* after FILE */

#include "codecs/base/bytes.h"
#include "codecs/image/xform.h"

struct plain_jpeg {
    bool sound;     /* libjpeg has read the file, without a warning */
    bool too_large; /* it was not asked to: there are more pixels */
    struct jpeg_decompress_struct d;
    struct jpeg_error_mgr mgr;
    jmp_buf out;
    jvirt_barray_ptr *array;
};

/* Begins without a file; an error of libjpeg is a jump to `out`, which the
 * caller sets before the first call. The caller frees it. Ends the program
 * without memory. */
struct plain_jpeg *plain_jpeg_begin(void);

/* Reads a file of at most so many pixels; 0: any. It must live as long as the
 * result. */
struct plain_jpeg *plain_jpeg_read(struct bytes file, uint64_t pixels_max);

/* Frees it. Fine on NULL. */
void plain_jpeg_free(struct plain_jpeg *jpeg);
#define owned_plain_jpeg                                                       \
    __attribute__((cleanup(plain_jpeg_free_at))) struct plain_jpeg
static inline void plain_jpeg_free_at(struct plain_jpeg **jpeg)
{
    plain_jpeg_free(*jpeg);
}

/* Whether `to` and its components have the sizes that those of `from` have
 * after the turn. */
bool plain_jpeg_fits(const struct plain_jpeg *from, const struct plain_jpeg *to,
                     enum xform turn);

/* Whether the first `components` of `to`, which are as many or fewer, have the
 * blocks and steps of `from` after the turn. Both are sound. If `to` has fewer
 * rows or columns, those at the bottom or right of `from` were dropped before.
 */
bool plain_jpeg_is_turned(struct plain_jpeg *from, struct plain_jpeg *to,
                          int components, enum xform turn);

#endif
