/* Pictures as libraries decode them; see plain_picture.h. */
#include "tests/support/plain_picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "tests/support/must.h"
#include "tests/support/oracle.h"
#include "tests/support/plain_jpeg.h"

/* Makes room for the samples of a picture whose shape is known, unless it is
 * too large. */
static bool begin(struct plain_picture *p, uint64_t pixels_max)
{
    if (p->width == 0 || p->height == 0 ||
        (uint64_t)p->width * p->height > pixels_max)
        return false;
    p->samples =
        calloc((size_t)p->width * p->height * p->channels, sizeof *p->samples);
    must(p->samples);
    return true;
}

/* Takes samples of one or two bytes, the high one first. */
static void take(struct plain_picture *p, uint32_t y, const uint8_t *row)
{
    const size_t n = (size_t)p->width * p->channels;
    uint16_t *to = p->samples + y * n;
    for (size_t i = 0; i < n; i++)
        to[i] = p->maxval > 255 ? (uint16_t)(row[2 * i] << 8 | row[2 * i + 1])
                                : row[i];
}

/* ---- PNG ---------------------------------------------------------------- */

struct png_input {
    struct bytes file;
    size_t at;
    png_structp png;
    png_infop info;
    uint8_t *cells;
    png_bytep *row;
};

static void read_bytes(png_structp png, png_bytep to, size_t size)
{
    struct png_input *in = png_get_io_ptr(png);
    if (size > in->file.size - in->at)
        png_error(png, "cut");
    memcpy(to, in->file.data + in->at, size);
    in->at += size;
}

static void on_png_error(png_structp png, png_const_charp text)
{
    (void)text;
    png_longjmp(png, 1);
}

static void on_png_warning(png_structp png, png_const_charp text)
{
    (void)text;
    ((struct plain_picture *)png_get_error_ptr(png))->sound = false;
}

static void read_png_head(struct plain_picture *p, struct png_input *in,
                          bool stored)
{
    png_structp png = in->png;
    png_infop info = in->info;
    png_set_read_fn(png, in, read_bytes);
    png_read_info(png, info);
    if (stored)
        png_set_packing(png);
    else
        png_set_expand(png);
    png_set_interlace_handling(png);
    p->stored =
        png_get_bit_depth(png, info) * 256u + png_get_color_type(png, info);
    png_read_update_info(png, info);
    p->width = png_get_image_width(png, info);
    p->height = png_get_image_height(png, info);
    p->channels = png_get_channels(png, info);
    p->maxval = png_get_bit_depth(png, info) == 16 ? 65535 : 255;
}

static void read_png_rows(struct plain_picture *p, struct png_input *in)
{
    const size_t stride = png_get_rowbytes(in->png, in->info);
    in->cells = calloc(p->height, stride);
    in->row = calloc(p->height, sizeof *in->row);
    must(in->cells && in->row);
    for (uint32_t y = 0; y < p->height; y++)
        in->row[y] = in->cells + y * stride;
    png_read_image(in->png, in->row);
    png_read_end(in->png, NULL);
    for (uint32_t y = 0; y < p->height; y++)
        take(p, y, in->row[y]);
}

static void read_png(struct plain_picture *p, struct bytes file,
                     uint64_t pixels_max, bool stored)
{
    struct png_input in = { .file = file };
    in.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, p, on_png_error,
                                    on_png_warning);
    must(in.png && (in.info = png_create_info_struct(in.png)));
    p->sound = true;
    if (setjmp(png_jmpbuf(in.png)) == 0) {
        read_png_head(p, &in, stored);
        if (begin(p, pixels_max))
            read_png_rows(p, &in);
        else
            p->sound = false;
    } else {
        plain_picture_free(p);
    }
    free(in.row);
    free(in.cells);
    png_destroy_read_struct(&in.png, &in.info, NULL);
}

/* ---- JPEG --------------------------------------------------------------- */

static void read_jpeg_rows(struct plain_picture *p, struct plain_jpeg *jpeg,
                           uint64_t pixels_max)
{
    struct jpeg_decompress_struct *d = &jpeg->d;
    if (d->num_components == 3)
        d->out_color_space = JCS_RGB;
    jpeg_start_decompress(d);
    p->width = d->output_width;
    p->height = d->output_height;
    p->channels = (unsigned)d->output_components;
    p->maxval = 255;
    if (!begin(p, pixels_max))
        return;
    JSAMPARRAY row = d->mem->alloc_sarray((j_common_ptr)d, JPOOL_IMAGE,
                                          p->width * p->channels, 1);
    for (uint32_t y = 0; y < p->height; y++) {
        jpeg_read_scanlines(d, row, 1);
        take(p, y, row[0]);
    }
    jpeg_finish_decompress(d);
    p->sound = jpeg->mgr.num_warnings == 0;
}

static void read_jpeg(struct plain_picture *p, struct bytes file,
                      uint64_t pixels_max)
{
    struct plain_jpeg *jpeg = plain_jpeg_begin();
    struct jpeg_decompress_struct *d = &jpeg->d;
    if (setjmp(jpeg->out) == 0) {
        jpeg_mem_src(d, file.data, file.size);
        jpeg_read_header(d, TRUE);
        if ((uint64_t)d->image_width * d->image_height <= pixels_max &&
            (d->num_components == 1 || d->num_components == 3))
            read_jpeg_rows(p, jpeg, pixels_max);
    } else {
        plain_picture_free(p);
    }
    plain_jpeg_free(jpeg);
}

/* ---- PNM and PAM, of 8 or 16 bits, with a head as we write it --------------
 */

static void read_netpbm(struct plain_picture *p, struct bytes file,
                        uint64_t pixels_max)
{
    char head[256] = "", kind;
    int end = 0;
    memcpy(head, file.data, file.size < 255 ? file.size : 255);
    if (sscanf(head, "P%c %u %u %u%n", &kind, &p->width, &p->height, &p->maxval,
               &end) == 4 &&
        (kind == '5' || kind == '6'))
        p->channels = kind == '5' ? 1 : 3;
    else if (sscanf(head,
                    "P7 WIDTH %u HEIGHT %u DEPTH %u MAXVAL %u "
                    "TUPLTYPE %*s ENDHDR%n",
                    &p->width, &p->height, &p->channels, &p->maxval,
                    &end) != 4 ||
             !end)
        return;
    const uint64_t row =
        (uint64_t)p->width * p->channels * (p->maxval > 255 ? 2 : 1);
    if (p->channels > 4 || p->channels * p->maxval == 0 || p->maxval > 65535 ||
        p->width > pixels_max || p->height > pixels_max ||
        file.size != (size_t)end + 1 + p->height * row || !begin(p, pixels_max))
        return;
    for (uint32_t y = 0; y < p->height; y++)
        take(p, y, file.data + end + 1 + y * row);
    p->sound = true;
}

void plain_picture_read(struct plain_picture *picture, const char *format,
                        struct bytes file, uint64_t pixels_max)
{
    *picture = (struct plain_picture){ 0 };
    if (strcmp(format, "png") == 0)
        read_png(picture, file, pixels_max, false);
    else if (strcmp(format, "jpeg") == 0)
        read_jpeg(picture, file, pixels_max);
    else if (strcmp(format, "pnm") == 0 || strcmp(format, "pam") == 0)
        read_netpbm(picture, file, pixels_max);
}

void plain_picture_read_stored(struct plain_picture *picture, struct bytes file)
{
    *picture = (struct plain_picture){ 0 };
    read_png(picture, file, UINT64_MAX, true);
}

void plain_picture_free(struct plain_picture *picture)
{
    free(picture->samples);
    picture->samples = NULL;
    picture->sound = false;
}

/* ---- Comparing ---------------------------------------------------------- */

/* Channel c of R, G, B and alpha of a pixel. */
static uint64_t channel(const struct plain_picture *p, uint32_t x, uint32_t y,
                        unsigned c)
{
    const uint16_t *pixel =
        p->samples + ((size_t)y * p->width + x) * p->channels;
    const bool gray = p->channels < 3, alpha = p->channels % 2 == 0;
    if (c == 3)
        return alpha ? pixel[p->channels - 1] : p->maxval;
    return pixel[gray ? 0 : c];
}

bool plain_picture_is_turned(const struct plain_picture *from,
                             const struct plain_picture *to, enum xform turn)
{
    const bool transposes = oracle[turn].xy != 0;
    bool same = to->width == (transposes ? from->height : from->width) &&
                to->height == (transposes ? from->width : from->height);
    for (uint32_t y = 0; same && y < to->height; y++)
        for (uint32_t x = 0; same && x < to->width; x++) {
            uint32_t sx, sy;
            turn_source(turn, from->width, from->height, x, y, &sx, &sy);
            for (unsigned c = 0; same && c < 4; c++)
                same = channel(to, x, y, c) * from->maxval ==
                       channel(from, sx, sy, c) * to->maxval;
        }
    return same;
}
