/* PNG out: through libpng the header, the palette and what samples idat_write.c
 * does not write; the blocks of metadata are written as they are.
 * A file of which only the orientation changes is copied. */
#include "codecs/png/png.h"

#include <png.h>
#include <string.h>

#include "codecs/base/account.h"
#include "codecs/base/memory.h"
#include "codecs/metadata/metadata.h"
#include "codecs/png/chunk.h"
#include "codecs/png/libpng_memory.h"
#include "codecs/png/scanline.h"

struct png_writer {
    png_structp png;
    png_infop info;
    struct bytes *file;
    const struct image *img;
    const struct save_opts *opts;
    struct row_source rows; /* of it, where libpng writes them */
    uint8_t *row;
    bool starved; /* memory has run out */
    struct err *err;
};

static void on_error(png_structp png, png_const_charp text)
{
    struct png_writer *w = png_get_error_ptr(png);
    fail(w->err, "%s", text);
    w->err->memory = w->starved;
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    struct png_writer *w = png_get_error_ptr(png);
    warn(w->opts->warnings, "%s", text);
}

static void on_write(png_structp png, png_bytep data, size_t size)
{
    struct png_writer *w = png_get_io_ptr(png);
    w->starved = w->starved || !bytes_append(w->file, data, size);
    if (w->starved)
        png_error(png, "no memory for the encoded picture");
}

static void on_flush(png_structp png)
{
    (void)png; /* it goes to memory */
}

uint8_t ihdr_color_type(const struct image *img)
{
    int type = img->color == COLOR_GRAY      ? PNG_COLOR_TYPE_GRAY
               : img->color == COLOR_INDEXED ? PNG_COLOR_TYPE_PALETTE
                                             : PNG_COLOR_TYPE_RGB;
    return (uint8_t)(img->alpha ? type | PNG_COLOR_MASK_ALPHA : type);
}

static void write_header(struct png_writer *w)
{
    const struct image *img = w->img;
    const struct meta *meta = img->meta;
    bool own = codec_is_own(&codec_png, img);
    png_set_IHDR(w->png, w->info, img->width, img->height, (int)image_bits(img),
                 ihdr_color_type(img),
                 own && meta->interlaced ? PNG_INTERLACE_ADAM7
                                         : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
    if (own && meta->ncolors) {
        png_color colors[256];
        for (unsigned i = 0; i < meta->ncolors; i++)
            colors[i] = (png_color){ meta->palette[i][0], meta->palette[i][1],
                                     meta->palette[i][2] };
        png_set_PLTE(w->png, w->info, colors, (int)meta->ncolors);
    }
}

static void write_chunks(struct png_writer *w, unsigned where)
{
    const struct meta *meta = w->img->meta;
    for (size_t i = 0; meta && i < meta->nblocks; i++) {
        const struct metadata_block *block = &meta->block[i];
        if (block->where == where)
            png_write_chunk(w->png, (png_const_bytep)block->name, block->data,
                            block->size);
    }
}

/* To choose among the filters of a shorter row, in bytes, takes longer than to
 * deflate it, and of narrow pictures there can be millions. */
enum { FILTERED_FROM = 32 };

/* Gives libpng the pixels that a pass has of row y. */
static void write_row(struct png_writer *w, const struct adam7_pass *pass,
                      uint32_t y)
{
    uint32_t at;
    if (account_check_time(w->opts->account, w->err) ||
        row_source_reach(&w->rows, y, w->err))
        png_longjmp(w->png, 1);
    const struct image *from = row_source_at(&w->rows, y, &at);
    adam7_join(w->row, from, at, pass);
    png_write_row(w->png, w->row);
    if (flush_file(w->opts->flush, w->file, w->err))
        png_longjmp(w->png, 1);
}

/* Through libpng: all of Adam7, and rows of more than 1 GiB. It is given the
 * passes themselves: of whole rows it would ask for all in each pass, which of
 * a narrow picture are as many as its pixels. */
static void write_rows(struct png_writer *w, bool interlaced)
{
    const struct image *img = w->img;
    struct adam7_pass pass[ADAM7_PASSES] = { { 0, 0, 1, 1, img->width,
                                               img->height } };
    const unsigned passes =
        interlaced ? adam7_passes(pass, img->width, img->height) : 1;
    w->rows = row_source_open(img, w->opts->pool);
    w->row =
        memory_alloc((size_t)img->width * img->nplanes * cell_size(img->cell));
    w->starved = w->starved || !w->row;
    if (!w->row)
        png_error(w->png, "no memory for a row");
    if (w->opts->effort)
        png_set_compression_level(w->png, w->opts->effort - 1);
    if (scanline_size(img) < FILTERED_FROM)
        png_set_filter(w->png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
    png_set_packing(w->png);
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && img->cell == CELL_U16)
        png_set_swap(w->png);
    for (unsigned i = 0; i < passes; i++)
        for (uint32_t n = 0; n < pass[i].height; n++)
            write_row(w, &pass[i], pass[i].y + n * pass[i].dy);
}

static void write_samples(struct png_writer *w)
{
    int level = w->opts->effort ? w->opts->effort - 1 : LEVEL_DEFAULT;
    bool interlaced =
        codec_is_own(&codec_png, w->img) && w->img->meta->interlaced;
    if (w->img->pixels.kind == PIXELS_CODED) { /* a device has made it */
        const struct bytes *coded = w->img->pixels.coded;
        const struct metadata_block block = { .name = "IDAT",
                                              .data = coded->data,
                                              .size = coded->size };
        w->starved = w->starved || !chunks_frame(w->file, &block);
        if (w->starved)
            png_error(w->png, "no memory for the encoded picture");
        if (flush_file(w->opts->flush, w->file, w->err))
            png_longjmp(w->png, 1);
    } else if (interlaced || scanline_size(w->img) >= (size_t)1 << 30) {
        write_rows(w, interlaced);
    } else if (idat_write(w->file, w->img, level, w->opts, w->err)) {
        png_longjmp(w->png, 1);
    }
}

static int write_guarded(struct png_writer *w)
{
    if (setjmp(png_jmpbuf(w->png)))
        return -1;
    png_set_write_fn(w->png, w, on_write, on_flush);
    png_set_user_limits(w->png, IMAGE_DIMENSION, IMAGE_DIMENSION);
    png_set_check_for_invalid_index(w->png, 0);
    write_header(w);
    png_write_info_before_PLTE(w->png, w->info);
    write_chunks(w, PNG_PLACE_BEFORE_PLTE);
    png_write_info(w->png, w->info);
    write_chunks(w, PNG_PLACE_BEFORE_IDAT);
    write_samples(w);
    write_chunks(w, PNG_PLACE_AFTER_IDAT);
    /* png_write_end() would miss the samples that did not go through libpng. */
    png_write_chunk(w->png, (png_const_bytep) "IEND", NULL, 0);
    return 0;
}

int write_png(struct bytes *file, const struct image *img,
              const struct save_opts *opts, struct err *err)
{
    struct png_writer w = {
        .file = file, .img = img, .opts = opts, .err = err
    };
    w.png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &w, on_error,
                                      on_warning, &w.starved,
                                      libpng_memory_alloc, libpng_memory_free);
    w.info = w.png ? png_create_info_struct(w.png) : NULL;
    int status = w.info ? write_guarded(&w)
                        : fail_memory(err, "no memory for the encoder");
    png_destroy_write_struct(&w.png, &w.info);
    row_source_close(&w.rows);
    memory_free(w.row);
    return status;
}

/* ---- The orientation alone ------------------------------------------------*/

bool chunks_frame(struct bytes *to, const struct metadata_block *block)
{
    const size_t at = to->size;
    uint8_t head[CHUNK_HEAD], crc[4];
    write_be32(head, (uint32_t)block->size);
    memcpy(head + 4, block->name, 4);
    if (!bytes_append(to, head, sizeof head) ||
        !bytes_append(to, block->data, block->size))
        return false;
    write_be32(crc, flates[0]->crc32(0, to->data + at + 4, block->size + 4));
    return bytes_append(to, crc, sizeof crc);
}

/* Takes a chunk as a block if it may hold an orientation. */
static int take_chunk(struct meta *meta, const struct chunk *chunk, size_t at,
                      bool after_idat, struct err *err)
{
    char name[5] = "";
    memcpy(name, chunk->type, 4);
    if (!chunks_may_orient(chunk->type, chunk->data, chunk->size))
        return 0;
    struct metadata_block *block = chunks_add(
        meta, name, after_idat ? PNG_PLACE_AFTER_IDAT : PNG_PLACE_BEFORE_IDAT,
        chunk->data, chunk->size);
    if (!block)
        return fail_memory(err, "no memory for so many chunks");
    block->begin = at;
    block->end = at + chunk->size + CHUNK_AROUND;
    return 0;
}

/* Takes the chunks that may hold an orientation, in order, and looks whether
 * all are sound. *exif_at: where EXIF can be put in: before the first IDAT, and
 * before iDOT, which has the distance from itself to an IDAT; 0: nowhere. */
static int read_chunks(struct image *img, struct bytes file, size_t *exif_at,
                       struct err *err)
{
    struct bytes left = chunk_bytes(file);
    struct chunk chunk;
    bool first = true, ended = false, after_idat = false;
    *exif_at = 0;
    while (!ended) {
        const size_t at = (size_t)(left.data - file.data);
        if (!chunk_next(&chunk, &left))
            return fail(err, "the file is cut short");
        if (!chunk_is_sound(&chunk))
            return fail(err, "chunk %.4s is damaged", (const char *)chunk.type);
        if (first && (!chunk_is(&chunk, "IHDR") || chunk.size != 13))
            return fail(err, "its header is malformed");
        if (first) {
            img->width = read_be32(chunk.data);
            img->height = read_be32(chunk.data + 4);
        }
        first = false;
        ended = chunk_is(&chunk, "IEND");
        after_idat = after_idat || chunk_is(&chunk, "IDAT");
        if (!*exif_at && (after_idat || chunk_is(&chunk, "iDOT")))
            *exif_at = at;
        if (take_chunk(img->meta, &chunk, at, after_idat, err))
            return -1;
    }
    return 0;
}

int retag_png(struct bytes *out, struct stream_info *info, struct bytes file,
              enum xform op, const struct load_opts *opts, struct err *err)
{
    struct image img = { .meta = meta_new(&codec_png) };
    struct retag retag = { .op = op, .warnings = opts->warnings };
    int status = -1;
    if (!img.meta)
        return fail_memory(err, "no memory for the decoder");
    img.meta->account = opts->limits.account;
    if (read_chunks(&img, file, &retag.exif_at, err) == 0 &&
        metadata_read_orientation(&img, &chunks_format, err) == 0) {
        info->width = img.width;
        info->height = img.height;
        info->orientation = img.meta->orientation;
        status = metadata_retag(out, file, &img, &retag, err);
    }
    meta_free(img.meta);
    return status;
}
