/* The pixels of a BMP: whole bytes, bit fields, indices into a palette, and
 * runs of these. */
#include "codecs/simple/bmp.h"

#include <string.h>

#include "codecs/image/interleave.h"

/* The row of the picture that is row `i` of the file. */
static uint32_t row_of(const struct bmp_header *h, const struct image *img,
                       uint32_t i)
{
    return h->height < 0 ? i : img->height - 1 - i;
}

/* The bytes of a row, which are padded to 4. */
static size_t row_size(const struct image *img, const struct bmp_header *h)
{
    return ((size_t)img->width * h->bits + 31) / 32 * 4;
}

/* ---- Bytes --------------------------------------------------------------- */

const uint32_t bmp_byte_masks[4] = { 0xff0000, 0xff00, 0xff, 0xff000000 };

static bool is_bytes(const struct bmp_header *h)
{
    if (h->compression == BMP_MASKS)
        return h->bits == 32 &&
               memcmp(h->mask, bmp_byte_masks, sizeof h->mask) == 0;
    return h->bits >= 24;
}

/* The fourth byte of a plain pixel is alpha only by custom: where all of them
 * are 0, the picture is opaque. */
static void settle_alpha(struct image *img)
{
    const struct plane *alpha = &img->plane[3];
    for (uint32_t y = 0; y < img->height; y++)
        if (interleave_max(CELL_U8, plane_row(alpha, y), img->width))
            return;
    for (uint32_t y = 0; y < img->height; y++)
        memset(plane_row(alpha, y), 255, img->width);
}

/* ---- Bit fields ---------------------------------------------------------- */

struct bit_field {
    unsigned shift;
    uint32_t top;      /* its largest value */
    uint8_t wide[256]; /* its values as bytes */
};

/* Repeats the bits until they fill a byte, so that all ones become 255. */
static uint8_t widen(uint32_t value, unsigned bits)
{
    uint32_t all = 0;
    int at = 8 - (int)bits;
    for (; at > 0; at -= (int)bits)
        all |= value << at;
    return (uint8_t)(all | value >> -at);
}

static int set_field(struct bit_field *f, uint32_t mask, struct err *err)
{
    f->shift = mask ? (unsigned)__builtin_ctz(mask) : 0;
    f->top = mask >> f->shift;
    if (f->top == 0 || f->top > 255 || (f->top & (f->top + 1)))
        return fail(err, "a mask of %08x; one must be 1 to 8 bits in a row",
                    mask);
    for (uint32_t i = 0; i <= f->top; i++)
        f->wide[i] = widen(i, (unsigned)__builtin_popcount(f->top));
    return 0;
}

static void read_field_row(struct image *img, uint32_t y, const uint8_t *row,
                           unsigned bits, const struct bit_field *fields)
{
    for (unsigned c = 0; c < img->nplanes; c++) {
        const struct bit_field *f = &fields[c];
        uint8_t *to = plane_row(&img->plane[c], y);
        for (size_t x = 0; x < img->width; x++) {
            uint32_t pixel =
                bits == 16 ? read_le16(row + 2 * x) : read_le32(row + 4 * x);
            to[x] = f->wide[pixel >> f->shift & f->top];
        }
    }
}

/* ---- Indices: they are read into the first plane and become colors there ---
 */

static void color_indices(struct image *img, const struct bmp_header *h)
{
    for (uint32_t y = 0; y < img->height; y++) {
        uint8_t *red = plane_row(&img->plane[0], y);
        uint8_t *green = plane_row(&img->plane[1], y);
        uint8_t *blue = plane_row(&img->plane[2], y);
        for (uint32_t x = 0; x < img->width; x++) {
            const uint8_t *color = h->palette[red[x]];
            red[x] = color[2];
            green[x] = color[1];
            blue[x] = color[0];
        }
    }
}

/* ---- Runs ----------------------------------------------------------------
 *
 * A run is two bytes: a count and the byte that is repeated, whose two indices
 * of 4 bits alternate; or 0 and a command. */

enum { END_OF_ROW, END, MOVE }; /* above: so many indices follow as they are */

struct run_reader {
    const uint8_t *at, *end;
    uint32_t x, row; /* where the next index goes; rows count as in the file */
};

static unsigned index_in(const uint8_t *bytes, unsigned i, unsigned bits)
{
    return bits == 8 ? bytes[i] : bytes[i / 2] >> (i % 2 ? 0 : 4) & 15;
}

/* Writes `count` indices that stand at r->at, or those of one byte repeatedly.
 */
static enum runs_end put_indices(struct image *img, const struct bmp_header *h,
                                 struct run_reader *r, unsigned count,
                                 bool repeated)
{
    if (count > img->width - r->x)
        return RUNS_WRONG;
    uint8_t *to =
        (uint8_t *)plane_row(&img->plane[0], row_of(h, img, r->row)) + r->x;
    unsigned cycle = 8 / h->bits; /* indices in a byte */
    for (unsigned i = 0; i < count; i++)
        to[i] = (uint8_t)index_in(r->at, repeated ? i % cycle : i, h->bits);
    r->x += count;
    return RUNS_WHOLE;
}

static enum runs_end move(const struct image *img, struct run_reader *r)
{
    if (r->end - r->at < 2)
        return RUNS_CUT;
    if (r->at[0] > img->width - r->x || r->at[1] > img->height - r->row)
        return RUNS_WRONG;
    r->x += r->at[0];
    r->row += r->at[1];
    r->at += 2;
    return RUNS_WHOLE;
}

/* Copies indices, which fill whole pairs of bytes. */
static enum runs_end put_literal(struct image *img, const struct bmp_header *h,
                                 struct run_reader *r, unsigned count)
{
    size_t bytes = (count * h->bits + 15) / 16 * 2;
    if ((size_t)(r->end - r->at) < bytes)
        return RUNS_CUT;
    enum runs_end status = put_indices(img, h, r, count, false);
    r->at += bytes;
    return status;
}

static enum runs_end read_runs(struct image *img, const struct bmp_header *h,
                               struct run_reader *r)
{
    enum runs_end status = RUNS_WHOLE;
    while (status == RUNS_WHOLE && r->row < img->height) {
        /* The command END may be missing where the picture is complete. */
        if (r->end - r->at < 2)
            return r->row + 1 == img->height && r->x == img->width ? RUNS_WHOLE
                                                                   : RUNS_CUT;
        unsigned count = r->at[0], what = r->at[1];
        if (count) {
            r->at++;
            status = put_indices(img, h, r, count, true);
            r->at++;
            continue;
        }
        r->at += 2;
        if (what == END)
            return RUNS_WHOLE;
        if (what == END_OF_ROW) {
            r->row++;
            r->x = 0;
        } else {
            status = what == MOVE ? move(img, r) : put_literal(img, h, r, what);
        }
    }
    return status;
}

/* Pixels that no run covers have index 0. */
static int read_packed(struct image *img, const struct bmp_header *h,
                       struct bytes file, const struct load_opts *opts,
                       struct err *err)
{
    size_t at = h->pixels_at < file.size ? h->pixels_at : file.size;
    struct run_reader runs = { .at = file.data + at,
                               .end = file.data + file.size };
    for (uint32_t y = 0; y < img->height; y++)
        memset(plane_row(&img->plane[0], y), 0, img->width);
    enum runs_end status = read_runs(img, h, &runs);
    if (simple_check_runs(status, runs.row, opts, err))
        return -1;
    color_indices(img, h);
    return 0;
}

/* ---- All of them --------------------------------------------------------- */

static int read_rows(struct image *img, const struct bmp_header *h,
                     const uint8_t *row, struct err *err)
{
    struct image view = simple_bgr_view(img);
    struct bit_field fields[4];
    bool indices = h->bits <= 8, bytes = is_bytes(h);
    for (unsigned c = 0; !indices && !bytes && c < img->nplanes; c++)
        if (set_field(&fields[c], h->mask[c], err))
            return -1;
    for (uint32_t i = 0; i < img->height; i++, row += row_size(img, h)) {
        uint32_t y = row_of(h, img, i);
        if (indices)
            interleave_unpack(plane_row(&img->plane[0], y), img->width, row,
                              h->bits);
        else if (bytes)
            interleave_split_row(&view, y, row);
        else
            read_field_row(img, y, row, h->bits, fields);
    }
    if (indices)
        color_indices(img, h);
    else if (bytes && img->nplanes == 4 && h->compression == BMP_PLAIN)
        settle_alpha(img);
    return 0;
}

static bool is_packed(const struct bmp_header *h)
{
    return h->compression == BMP_RLE8 || h->compression == BMP_RLE4;
}

int bmp_check_size(const struct image *img, const struct bmp_header *h,
                   struct bytes file, const struct load_opts *opts,
                   struct err *err)
{
    uint64_t need = is_packed(h) ? 0 : row_size(img, h) * img->height;
    return simple_check_size(file, h->pixels_at, need, opts, err);
}

int bmp_read_pixels(struct image *img, const struct bmp_header *h,
                    struct bytes file, const struct load_opts *opts,
                    struct err *err)
{
    struct bytes rows;
    if (image_alloc(img, opts->mem, err))
        return -1;
    if (is_packed(h))
        return read_packed(img, h, file, opts, err);
    if (simple_bgr_rows(&rows, file, h->pixels_at,
                        row_size(img, h) * img->height, err))
        return -1;
    int status = read_rows(img, h, rows.data, err);
    bytes_free(&rows);
    return status;
}
