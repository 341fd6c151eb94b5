/* The simple formats: BMP, TGA, Radiance HDR, and those of netpbm, PNM, PAM and
 * PFM.
 *
 * What comes in is the bytes of one file; what goes out is a picture in planes
 * of cells with what else its file says (codecs/image), and the other way
 * round. Each format is one codec of codecs/codec.h, in the file of its name:
 * reading is our own, for these formats are little more than their headers. A
 * file that is turned within its format is written by our own code too, so that
 * it keeps its header, its runs and its byte order; a BMP, TGA or HDR of a
 * picture from another format is written by stb_image_write.
 *
 * The room knows nothing of turns, of other formats or of files on disk. */
#ifndef CODECS_SIMPLE_SIMPLE_H
#define CODECS_SIMPLE_SIMPLE_H

#include "codecs/codec.h"

/* Warns that a file that ends early is read as far as it goes. */
void simple_warn_cut(const struct load_opts *opts);

/* Fails if only `left` of the `need` bytes of pixels are there; tolerant, it
 * warns. */
int simple_check_size(size_t left, uint64_t need, const struct load_opts *opts,
                      struct err *err);

#endif
