/* Reads PNG. libpng reads the chunks before the samples. The samples are left
 * to idat_read.c, and the chunks behind them are read here, before the samples
 * are decoded. If anything is damaged, libpng reads the whole file.
 *
 * libpng leaves by longjmp(). All that changes after setjmp() stands in a
 * struct png_reader, which run_libpng() sets up and takes down. */
#include "codecs/base/memory.h"
#include "codecs/png/png.h"

#include <png.h>
#include <string.h>

#include "codecs/deflate/flate.h"
#include "codecs/metadata/metadata.h"
#include "codecs/png/chunk.h"
#include "codecs/png/idat_turner.h"
#include "codecs/png/libpng_memory.h"
#include "codecs/png/pass_rows.h"
#include "codecs/png/scanline.h"

struct png_reader {
    png_structp png;
    png_infop info;
    struct bytes file;
    struct png_range idats; /* that bypass libpng; none: it reads all */
    struct png_range left;  /* the bytes that have yet to be read */
    const struct load_opts *opts;
    struct image *img;
    const struct decode_plan *plan;
    struct row_sink rows;
    struct pass_rows passes; /* of these */
    uint8_t *row;
    bool pixels;  /* the sink has the samples that were read so far */
    bool cut;     /* and no more: the rest is damaged */
    bool starved; /* memory has run out: libpng may go on without a chunk */
    struct err *err;
};

static void on_error(png_structp png, png_const_charp text)
{
    struct png_reader *r = png_get_error_ptr(png);
    const struct warnings *said = r->opts->warnings;
    /* What is wrong with an IHDR is in the warning before. */
    if (strcmp(text, "Invalid IHDR data") == 0 && said && said->count &&
        said->count <= WARNINGS_MAX)
        text = said->list[said->count - 1].text;
    fail(r->err, "%s", text);
    r->err->memory = r->starved;
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    struct png_reader *r = png_get_error_ptr(png);
    warn(r->opts->warnings, "%s", text);
}

static void skip(struct png_range *left, size_t size)
{
    left->at += size;
    left->size -= size;
}

static void on_read(png_structp png, png_bytep data, size_t size)
{
    struct png_reader *r = png_get_io_ptr(png);
    if (size > r->left.size)
        png_error(png, "the file is cut short");
    memcpy(data, r->left.at, size);
    skip(&r->left, size);
}

static void keep_chunk(struct png_reader *r, const void *type, unsigned where,
                       const void *data, size_t size)
{
    char name[5] = "", text[64];
    memcpy(name, type, 4);
    if (!(name[0] & 0x20)) {
        snprintf(text, sizeof text, "unknown critical chunk %s", name);
        png_error(r->png, text);
    }
    if (chunks_add(r->img->meta, name, where, data, size))
        return;
    r->starved = !meta_is_full(r->img->meta);
    png_error(r->png, r->starved
                          ? "no memory for a chunk"
                          : "more than 65536 chunks, which is the limit");
}

static int on_chunk(png_structp png, png_unknown_chunkp chunk)
{
    const unsigned at = chunk->location;
    if (!(at & PNG_HAVE_IHDR))
        png_error(png, "missing IHDR"); /* as libpng says of what it knows */
    unsigned where = at & PNG_AFTER_IDAT  ? PNG_PLACE_AFTER_IDAT
                     : at & PNG_HAVE_PLTE ? PNG_PLACE_BEFORE_IDAT
                                          : PNG_PLACE_BEFORE_PLTE;
    keep_chunk(png_get_user_chunk_ptr(png), chunk->name, where, chunk->data,
               chunk->size);
    return 1; /* taken */
}

static void set_up(struct png_reader *r)
{
    png_structp png = r->png;
    png_set_read_fn(png, r, on_read);
    /* Every chunk but IHDR, PLTE, IDAT and IEND goes to on_chunk(). */
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_ALWAYS, NULL, -1);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_ALWAYS,
                                (png_const_bytep) "tRNS", 1);
    png_set_read_user_chunk_fn(png, r, on_chunk);
    /* No memory for a chunk that claims to be longer than the file. */
    png_set_chunk_malloc_max(png, r->file.size);
    png_set_user_limits(png, IMAGE_DIMENSION, IMAGE_DIMENSION);
    /* An index beyond the palette is kept as it is. */
    png_set_check_for_invalid_index(png, 0);
    png_set_benign_errors(png, r->opts->tolerant);
    if (!r->opts->tolerant)
        png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
}

/* Sets the shape of the picture from IHDR. */
static void shape(struct png_reader *r)
{
    static const enum color colors[] = {
        [PNG_COLOR_TYPE_GRAY] = COLOR_GRAY,
        [PNG_COLOR_TYPE_GRAY_ALPHA] = COLOR_GRAY,
        [PNG_COLOR_TYPE_PALETTE] = COLOR_INDEXED,
        [PNG_COLOR_TYPE_RGB] = COLOR_RGB,
        [PNG_COLOR_TYPE_RGB_ALPHA] = COLOR_RGB,
    };
    struct image *img = r->img;
    unsigned type = png_get_color_type(r->png, r->info);
    unsigned bits = png_get_bit_depth(r->png, r->info);
    img->width = png_get_image_width(r->png, r->info);
    img->height = png_get_image_height(r->png, r->info);
    img->cell = bits == 16 ? CELL_U16 : CELL_U8;
    img->maxval = (1u << bits) - 1;
    img->color = colors[type];
    img->alpha = type & PNG_COLOR_MASK_ALPHA;
    img->nplanes = png_get_channels(r->png, r->info);
    img->meta->interlaced =
        png_get_interlace_type(r->png, r->info) == PNG_INTERLACE_ADAM7;
}

static void read_palette(struct png_reader *r)
{
    struct meta *meta = r->img->meta;
    png_colorp colors;
    int n;
    if (!png_get_PLTE(r->png, r->info, &colors, &n))
        return;
    meta->ncolors = (unsigned)n;
    for (int i = 0; i < n; i++) {
        meta->palette[i][0] = colors[i].red;
        meta->palette[i][1] = colors[i].green;
        meta->palette[i][2] = colors[i].blue;
        meta->palette[i][3] = 255;
    }
}

static int open_rows(struct row_sink *rows, struct image *img,
                     const struct load_opts *opts,
                     const struct decode_plan *plan, struct err *err)
{
    const struct row_sink_opts sink = { .t = plan->turn,
                                        .turner = plan->turner,
                                        .limits = &opts->limits,
                                        .mem = opts->mem,
                                        .in_passes = img->meta->interlaced };
    return row_sink_open(rows, img, &sink, err);
}

/* Pixels that are not in a damaged picture are black. */
static void read_rows(struct png_reader *r)
{
    struct image *img = r->img;
    const struct meta *meta = img->meta;
    r->row =
        memory_alloc((size_t)img->width * img->nplanes * cell_size(img->cell));
    r->starved = !r->row;
    if (r->starved)
        png_error(r->png, "no memory for a row");
    png_read_update_info(r->png, r->info);
    if (open_rows(&r->rows, img, r->opts, r->plan, r->err) ||
        pass_rows_open(&r->passes, &r->rows, meta->interlaced, r->err))
        png_longjmp(r->png, 1);
    pass_rows_blacken(&r->passes);
    for (unsigned pass = 0; pass < r->passes.passes; pass++)
        for (uint32_t i = 0; i < r->passes.pass[pass].height; i++) {
            r->pixels = true;
            png_read_row(r->png, r->row, NULL);
            r->pixels = false; /* what fails now is no fault of the file */
            if (pass_rows_put(&r->passes, pass, i, r->row, r->err))
                png_longjmp(r->png, 1);
        }
    if (pass_rows_end(&r->passes, r->err))
        png_longjmp(r->png, 1);
    r->pixels = true;
}

static void read_head(struct png_reader *r)
{
    set_up(r);
    png_read_info(r->png, r->info);
    shape(r);
    read_palette(r);
}

static void warn_of_bytes_left(const struct png_reader *r)
{
    if (r->left.size)
        warn(r->opts->warnings,
             "%zu bytes after the end of the picture are not kept",
             r->left.size);
}

/* Reads the chunks behind samples that bypass libpng: versions 1.6.47 to 1.6.49
 * refuse an IEND there. A tolerant reader keeps what libpng would keep. */
static void read_behind(struct png_reader *r)
{
    struct chunk chunk;
    char text[32];
    skip(&r->left, (size_t)(r->idats.at + r->idats.size - r->left.at));
    for (;;) {
        if (!chunk_find(&chunk, r->left.at, r->left.size))
            png_error(r->png, "a chunk is cut short or malformed");
        skip(&r->left, chunk.size + CHUNK_AROUND);
        const bool sound = chunk_is_sound(&chunk);
        const bool late = chunk_is(&chunk, "PLTE") || chunk_is(&chunk, "IDAT");
        if (!sound || late) {
            snprintf(text, sizeof text, "%.4s: %s", (const char *)chunk.type,
                     sound ? "out of place" : "CRC error");
            if (!r->opts->tolerant || (!sound && !(chunk.type[0] & 0x20)))
                png_error(r->png, text);
            warn(r->opts->warnings, "%s", text);
        }
        if (chunk_is(&chunk, "IEND"))
            break;
        if (!late)
            keep_chunk(r, chunk.type, PNG_PLACE_AFTER_IDAT, chunk.data,
                       chunk.size);
    }
    if (chunk.size)
        png_error(r->png, "IEND: invalid");
    warn_of_bytes_left(r);
}

static void read_chunks(struct png_reader *r)
{
    read_head(r);
    read_behind(r);
}

/* Damage among the chunks behind the samples, which are elsewhere, is as it is
 * among samples. */
static void read_around(struct png_reader *r)
{
    read_head(r);
    r->pixels = true;
    read_behind(r);
}

static void warn_of_damage(const struct load_opts *opts, const struct err *err)
{
    warn(opts->warnings, "damaged, read as far as it goes: %s", err->text);
}

static void read_whole(struct png_reader *r)
{
    read_head(r);
    read_rows(r);
    png_read_end(r->png, r->info); /* without info it would skip chunks */
    warn_of_bytes_left(r);
}

/* Reads into r->img. If tolerant reading fails once there is a place for rows,
 * the rows so far are the picture. */
static int read_guarded(struct png_reader *r, void (*read)(struct png_reader *))
{
    if (setjmp(png_jmpbuf(r->png)) == 0) {
        read(r);
        return r->starved
                   ? fail_memory(r->err, "no memory for the whole picture")
                   : 0;
    }
    if (!r->opts->tolerant || !r->pixels || r->err->memory)
        return -1;
    warn_of_damage(r->opts, r->err);
    r->cut = read == read_whole;
    return r->cut ? pass_rows_end(&r->passes, r->err) : 0;
}

/* ---- Around libpng ------------------------------------------------------- */

/* Returns the chunks IDAT of a file if they can bypass libpng: if they stand in
 * one place. */
static struct png_range find_idats(struct bytes file)
{
    enum { HEADER_END = PNG_SIGNATURE + CHUNK_AROUND + 13 };
    struct png_range found = { .mapped = bytes_are_mapped(file) };
    struct bytes_passed passed = bytes_passed_begin(file);
    struct chunk chunk;
    size_t at = HEADER_END;
    while (at < file.size &&
           chunk_find(&chunk, file.data + at, file.size - at)) {
        size_t whole = chunk.size + CHUNK_AROUND;
        bytes_pass(&passed, chunk.type);
        if (chunk_is(&chunk, "IDAT")) {
            found.at = found.size ? found.at : file.data + at;
            found.size += whole;
        } else if (found.size) {
            return found;
        }
        at += whole;
    }
    return (struct png_range){ .at = NULL }; /* the file ends within them */
}

static int run_libpng(struct reader *reader, struct png_range idats,
                      void (*read)(struct png_reader *), struct err *err);

/* Begins reader->img, whatever it was, as codec_open() does. */
static int begin_image(struct reader *reader, struct err *err)
{
    reader->img =
        (struct image){ .orientation = 1, .meta = meta_new(&codec_png) };
    if (!reader->img.meta)
        return fail_memory(err, "no memory for the decoder");
    reader->img.meta->account = reader->opts->limits.account;
    return 0;
}

/* Behind damaged samples libpng reads no chunks, so all are read again without
 * the samples. `warned` is how many warnings there were before; err has the
 * damage. Returns 1 if the chunks cannot be read without them. */
static int read_rest(struct reader *reader, unsigned warned, struct err *err)
{
    const struct png_range idats = find_idats(reader->file);
    struct image cut = reader->img;
    struct err why;
    if (!idats.size)
        return 1;
    reader->opts->warnings->count = warned; /* the same come again */
    int status = begin_image(reader, &why);
    if (status == 0) {
        status = run_libpng(reader, idats, read_around, &why);
        struct meta *meta = cut.meta;
        cut.meta = reader->img.meta;
        cut.orientation = reader->img.orientation;
        reader->img.meta = meta;
    }
    image_free(&reader->img);
    reader->img = cut;
    if (status == 0)
        warn_of_damage(reader->opts, err);
    else
        *err = why;
    return status;
}

/* Reads into reader->img, which is empty but for an empty meta, through libpng:
 * all but the samples, or without idats the samples too. */
static int run_libpng(struct reader *reader, struct png_range idats,
                      void (*read)(struct png_reader *), struct err *err)
{
    static const struct decode_plan no_plan = { .turn = XFORM_NONE };
    struct png_reader r = { .file = reader->file,
                            .idats = idats,
                            .left = { .at = reader->file.data,
                                      .size = reader->file.size },
                            .opts = reader->opts,
                            .img = &reader->img,
                            .plan = reader->plan ? reader->plan : &no_plan,
                            .err = err };
    const unsigned warned = reader->opts->warnings->count;
    int status = -1;
    r.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &r, on_error,
                                     on_warning, &r.starved,
                                     libpng_memory_alloc, libpng_memory_free);
    r.info = r.png ? png_create_info_struct(r.png) : NULL;
    if (r.info)
        status = read_guarded(&r, read);
    else
        fail_memory(err, "no memory for the decoder");
    png_destroy_read_struct(&r.png, &r.info, NULL);
    pass_rows_close(&r.passes);
    row_sink_close(&r.rows);
    memory_free(r.row);
    if (status)
        return -1;
    if (r.cut && (status = read_rest(reader, warned, err)) <= 0)
        return status;
    chunks_note_transparency(&reader->img, reader->opts->warnings);
    if (read != read_head && frames_read(&reader->img, reader->opts, err))
        return -1;
    return metadata_read_orientation(&reader->img, &chunks_format, err);
}

/* ---- Open, then decode or describe --------------------------------------- */

struct png_state {
    struct png_range
        idats;       /* the samples, if all other chunks have been read */
    unsigned warned; /* number of warnings before */
};

/* If anything is wrong, libpng reads the whole file: it decides whether that is
 * a picture, and gives the reason. */
static int start_again(struct reader *reader, void (*read)(struct png_reader *),
                       struct err *err)
{
    struct png_state *state = reader->state;
    state->idats.size = 0;
    reader->opts->warnings->count = state->warned;
    image_free(&reader->img);
    if (begin_image(reader, err))
        return -1;
    return run_libpng(reader, state->idats, read, err);
}

int open_png(struct reader *reader, struct err *err)
{
    struct png_state *state = reader->state =
        memory_alloc_zeroed(1, sizeof *state);
    if (!state)
        return fail_memory(err, "no memory for the decoder");
    if (!reader->opts->libraries)
        state->idats = find_idats(reader->file);
    state->warned = reader->opts->warnings->count;
    if (state->idats.size &&
        run_libpng(reader, state->idats, read_chunks, err) == 0)
        return 0;
    return start_again(reader, read_head, err);
}

/* DEFLATE makes at most 1032 bytes of one (RFC 1951: a match of 258 bytes takes
 * two bits or more), so a file that claims more is refused before memory is
 * allocated for it. */
static int check_size(const struct reader *reader, bool reserve,
                      struct err *err)
{
    const struct image *img = &reader->img;
    struct limits limits = reader->opts->limits;
    uint64_t raw = (uint64_t)scanline_size(img) * img->height;
    if (!reader->opts->tolerant && raw / 1032 > reader->file.size)
        return fail(err, "the image data is cut short");
    if (!reserve)
        limits.reserve = NULL;
    if (image_check(img->width, img->height, img->nplanes, img->cell, &limits,
                    err))
        return -1;
    return reserve ? frames_check_size(&reader->img, reader->opts, err) : 0;
}

/* ---- Elsewhere ----------------------------------------------------------- */

/* Returns whether the plan lets a device turn this picture, and it is of a kind
 * that one takes. */
static bool suits_device(const struct reader *reader)
{
    const struct png_state *state = reader->state;
    const struct image *img = &reader->img;
    const uint64_t raw = (uint64_t)scanline_size(img) * img->height;
    return reader->plan->idat_turner && state->idats.size &&
           image_bits(img) >= 8 && !img->meta->interlaced &&
           !img->meta->animation.frames && raw <= IDAT_TURN_MOST &&
           image_choose_pixels(img, &reader->opts->limits) == PIXELS_ROWS;
}

/* Joins what the chunks IDAT hold, whose CRCs must be right. Returns false if
 * that is no stream with the usual window, or without memory. */
static bool join_idats(struct bytes *to, struct png_range idats)
{
    struct chunk chunk;
    if (!bytes_reserve(to, idats.size))
        return false;
    while (idats.size) {
        if (!chunk_find(&chunk, idats.at, idats.size) ||
            !chunk_is_sound(&chunk) ||
            !bytes_append(to, chunk.data, chunk.size))
            return false;
        skip(&idats, chunk.size + CHUNK_AROUND);
    }
    return to->size > 6 && to->data[0] == 0x78 && !(to->data[1] & 0x20) &&
           read_be16(to->data) % 31 == 0;
}

/* Has the picture turned by a device. Returns false if none does: then all is
 * as it was. */
static bool offer_idats(struct reader *reader)
{
    const struct png_state *state = reader->state;
    const struct idat_turner *turner = reader->plan->idat_turner;
    struct image *img = &reader->img;
    const enum xform t = reader->plan->turn;
    struct idat_turn turn = {
        .turn = t,
        .width = img->width,
        .height = img->height,
        .pixel = scanline_pixel(img),
        .continuous = img->color != COLOR_INDEXED,
    };
    const struct bytes *turned = NULL;
    if (join_idats(&turn.coded, state->idats))
        turned = turner->begin(turner->context, &turn);
    bytes_free(&turn.coded);
    if (!turned)
        return false;
    img->width = xform_transposes(t) ? turn.height : turn.width;
    img->height = xform_transposes(t) ? turn.width : turn.height;
    img->turned = t;
    img->pixels.kind = PIXELS_CODED;
    img->pixels.coded = turned;
    return true;
}

static int read_idats(struct reader *reader, struct err *err)
{
    const struct png_state *state = reader->state;
    const struct load_opts *opts = reader->opts;
    struct row_sink rows = { 0 };
    int status = open_rows(&rows, &reader->img, opts, reader->plan, err);
    if (status == 0 && !idat_read(&rows, state->idats, flates[0], opts->pool))
        status = fail(err, "the image data is damaged");
    row_sink_close(&rows);
    return status;
}

/* Frames are decoded when they are turned. Where nothing is turned, as the file
 * may be kept as it is, or where they are left out of another format, they are
 * tried: whether a file is sound does not hang on what is made of it. They are
 * not known before the file was read to its end, which may be only now. */
static int decode_frames(struct reader *reader, struct err *err)
{
    struct image *img = &reader->img;
    if (!img->meta->animation.frames)
        return 0;
    if (frames_check_size(img, reader->opts, err))
        return -1;
    if (reader->plan->turn != XFORM_NONE && !reader->opts->portable)
        return 0;
    return frames_try(img, reader->opts, err);
}

int decode_png(struct reader *reader, struct err *err)
{
    const struct png_state *state = reader->state;
    if (suits_device(reader)) {
        if (check_size(reader, false, err))
            return -1;
        if (offer_idats(reader))
            return 0;
    }
    if (check_size(reader, true, err) ||
        ((!state->idats.size || read_idats(reader, err)) &&
         start_again(reader, read_whole, err)))
        return -1;
    if (decode_frames(reader, err))
        return -1;
    return reader->opts->portable
               ? chunks_read_portable(reader->img.meta, reader->opts, err)
               : 0;
}

int describe_png(struct reader *reader, struct err *err)
{
    const struct png_state *state = reader->state;
    const struct image *img = &reader->img;
    if (image_check(img->width, img->height, img->nplanes, img->cell,
                    &reader->opts->limits, err))
        return -1;
    return state->idats.size ? 0 : start_again(reader, read_whole, err);
}

void close_png(struct reader *reader)
{
    memory_free(reader->state);
}
