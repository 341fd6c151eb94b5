/* The simple formats: BMP, TGA, QOI, Radiance HDR, and those of netpbm, PNM,
 * PAM and PFM.
 *
 * What comes in is the bytes of one file; what goes out is a picture in planes
 * of cells with what else its file says (codecs/image), and the other way
 * round. Each format is one codec of codecs/codec.h, in the file of its name,
 * those of netpbm in netpbm.c. All code is our own, for these formats are
 * little more than their headers, and a file that is turned within its format
 * keeps its header, its runs and its byte order.
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

/* Finds `size` bytes of rows, with zeros for what the file does not have, or
 * more, up to the end of the file; bytes_free() frees *rows. */
int simple_bgr_rows(struct bytes *rows, struct bytes file, size_t at,
                    size_t size, struct err *err);

/* ---- PNM, PAM and PFM ----
 *
 * What their headers say: text, with comments in it, and
 * rows of samples behind it. netpbm_header.c reads and writes them, netpbm.c
 * the rows. */

/* How a file was coded: the state of the three codecs. */
struct netpbm_state {
    int digit;       /* PNM: behind the P: 1 to 3 are numbers in decimal, 4 to
                        6 bytes; else 0 */
    char type[32];   /* PAM: the tuple type; "" if the file has none */
    char scale[32];  /* PFM: as it was written; its sign is the byte order */
    bool big_endian; /* the order of bytes in a sample */
};

/* The digit behind the P of PNM. Those from 4 on are the same as bytes. */
enum { PNM_BITS = 1, PNM_GRAYS = 2, PNM_COLORS = 3, PNM_RAW = 3 };

/* Returns PNM_BITS, PNM_GRAYS or PNM_COLORS. */
static inline int netpbm_kind(const struct netpbm_state *state)
{
    return state->digit > PNM_RAW ? state->digit - PNM_RAW : state->digit;
}

/* A position in a file. A comment on the way, from '#' to the end of its line,
 * is added to `meta` as a block called "comment". */
struct netpbm_reader {
    const uint8_t *at, *end;
    struct meta *meta; /* NULL: comments are skipped */
    bool starved;      /* there was no memory for a comment */
    /* Of the rows: */
    const struct load_opts *opts;
    uint32_t width; /* of the picture as stored */
    uint8_t *row;   /* room for one */
    bool cut;       /* a warning has said that the file is cut short */
    bool clipped;   /* another one, that a sample is above maxval */
};

static inline size_t netpbm_left(const struct netpbm_reader *r)
{
    return (size_t)(r->end - r->at);
}

bool netpbm_is_blank(uint8_t c);

/* Skips blanks and comments. Returns false without memory for a comment. */
bool netpbm_skip_blanks(struct netpbm_reader *r);

/* Reads a decimal number up to 2^31-1, after blanks. Returns false if there is
 * none. */
bool netpbm_read_number(struct netpbm_reader *r, uint32_t *number);

/* Reads the header of any of the formats, up to the first sample, into img and
 * the state of its meta. */
int netpbm_read_header(struct image *img, struct netpbm_reader *r,
                       struct err *err);

/* Begins a file with `header`, behind whose first line stand the comments of
 * img, unless they are stripped or the format has none. */
int netpbm_write_header(struct bytes *file, const struct image *img,
                        const struct codec *codec, const struct save_opts *opts,
                        const char *header, struct err *err);

/* Returns the tuple type of a PAM: that of the file which img was read from, if
 * that was one (`own`), unless it says bits and they have become deeper. */
const char *netpbm_tuple_type(const struct image *img, bool own);

/* Joins all comments to the one that other formats hold. */
int netpbm_make_portable(struct meta *meta, struct err *err);

#endif
