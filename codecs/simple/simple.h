/* The simple formats: BMP, TGA, Radiance HDR, and those of netpbm, PNM, PAM and
 * PFM.
 *
 * What comes in is the bytes of one file; what goes out is a picture in planes
 * of cells with what else its file says (codecs/image), and the other way
 * round. Each format is one codec of codecs/codec.h, in the file of its name:
 * reading is our own, for these formats are little more than their headers. A
 * file that is turned within its format is written by our own code too, so that
 * it keeps its header, its runs and its byte order; a TGA or HDR of a picture
 * from another format is written by stb_image_write.
 *
 * The room knows nothing of other formats or of files on disk, and of turns
 * only what headers say: the order of pixels, and in an HDR their aspect. */
#ifndef CODECS_SIMPLE_SIMPLE_H
#define CODECS_SIMPLE_SIMPLE_H

#include "codecs/base/byte_order.h"
#include "codecs/codec.h"

/* ---- Files that end early ---- */

/* Warns that a file that ends early is read as far as it goes. */
void simple_warn_cut(const struct load_opts *opts);

/* Fails if not all of the `need` bytes of pixels from `at` on are there;
 * tolerant, it warns, or fails if next to nothing of a large picture is. */
int simple_check_size(struct bytes file, size_t at, uint64_t need,
                      const struct load_opts *opts, struct err *err);

/* What became of pixels that are coded in runs. */
enum runs_end { RUNS_WHOLE, RUNS_CUT, RUNS_WRONG };

/* Fails if the runs are not whole, which shows in this row; tolerant, it warns.
 */
int simple_check_runs(enum runs_end end, uint32_t row,
                      const struct load_opts *opts, struct err *err);

/* ---- What BMP and TGA share: rows of bytes, blue, green, red, alpha ---- */

/* Sets the shape of a picture of `nplanes` planes of bytes, 1 to 4, in img.
 * Fails if it is above the limits. */
int simple_bgr_shape(struct image *img, uint64_t width, uint64_t height,
                     unsigned nplanes, const struct load_opts *opts,
                     struct err *err);

/* Returns img with its planes in the order of the file, for
 * interleave_split_row() and interleave_join_row(). The planes stay img's. */
struct image simple_bgr_view(const struct image *img);

/* Finds `size` bytes of rows, with zeros for what the file does not have;
 * bytes_free() frees *rows. */
int simple_bgr_rows(struct bytes *rows, struct bytes file, size_t at,
                    size_t size, struct err *err);

/* ---- Files of pictures that come from other formats ----
 *
 * A TGA or HDR of one is written by stb_image_write. The library counts in int:
 * a picture of 2^31 samples and more is refused. */

/* Returns the one block of pixels that the library takes, as large as the whole
 * picture, for one of the functions that follow; NULL on failure. */
void *simple_stb_pixels(const struct image *img, struct err *err);

/* Append a file to `file`, and free the pixels: of CELL_U8, 1 to 4 planes,
 * run-length coded, with sides of at most 65535; or of CELL_F32, 3 planes,
 * which an HDR must be able to hold, since the library cuts mantissas off. On
 * failure `file` may hold a part. */
int simple_stb_tga(struct bytes *file, const struct image *img, void *pixels,
                   struct err *err);
int simple_stb_hdr(struct bytes *file, const struct image *img, float *pixels,
                   struct err *err);

#endif
