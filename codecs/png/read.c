/* Reads PNG. libpng reads the chunks before the samples. The samples are left
 * to idat_read.c, and the chunks behind them are read here, before the samples
 * are decoded. If anything is damaged, libpng reads the whole file: it gives
 * the reason, or all rows before the damage. It does so too where one decoder
 * is held against another.
 *
 * libpng leaves by longjmp(). All that changes after setjmp() stands in a
 * struct png_reader, which run_libpng() sets up and takes down. */
#include "codecs/base/memory.h"
#include "codecs/png/png.h"

#include <png.h>
#include <string.h>

#include "codecs/deflate/flate.h"
#include "codecs/image/scan_turner.h"
#include "codecs/metadata/metadata.h"
#include "codecs/png/chunk.h"
#include "codecs/png/libpng_memory.h"
#include "codecs/png/pass_rows.h"
#include "codecs/png/scanline.h"

struct png_reader {
    png_structp png;
    png_infop info;
    struct reader *of;  /* whose picture gets what is read */
    struct bytes idats; /* that bypass libpng; none: it reads all */
    struct bytes left;  /* the bytes that have yet to be read */
    struct row_sink rows;
    struct pass_rows passes; /* of these */
    uint8_t *row;
    unsigned warned; /* warnings so far: before the file, then of its head */
    bool pixels;     /* the sink has the samples that were read so far */
    bool starved;    /* memory has run out: libpng may go on without a chunk */
    struct err *err;
};

/* Of an IHDR libpng says what is wrong by warnings, and then only that it is
 * invalid. */
static void on_error(png_structp png, png_const_charp text)
{
    const uint32_t ihdr = 0x49484452;
    struct png_reader *r = png_get_error_ptr(png);
    const struct warnings *said = r->of->opts->warnings;
    if (png_get_io_chunk_type(png) == ihdr && said->count > r->warned &&
        said->count <= WARNINGS_MAX)
        text = said->list[said->count - 1].text;
    fail(r->err, "%s", text);
    r->err->memory = r->starved;
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    struct png_reader *r = png_get_error_ptr(png);
    warn(r->of->opts->warnings, "%s", text);
}

static void on_read(png_structp png, png_bytep data, size_t size)
{
    struct png_reader *r = png_get_io_ptr(png);
    if (size > r->left.size)
        png_error(png, "the file is cut short");
    memcpy(data, r->left.data, size);
    r->left.data += size;
    r->left.size -= size;
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
    if (chunks_add(r->of->img.meta, name, where, data, size))
        return;
    const bool full = meta_is_full(r->of->img.meta);
    r->starved = r->starved || !full;
    png_error(r->png, !full
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
    png_set_chunk_malloc_max(png, r->of->file.size);
    png_set_user_limits(png, IMAGE_DIMENSION, IMAGE_DIMENSION);
    /* An index beyond the palette is kept as it is. */
    png_set_check_for_invalid_index(png, 0);
    png_set_benign_errors(png, r->of->opts->tolerant);
    if (!r->of->opts->tolerant)
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
    struct image *img = &r->of->img;
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
    struct meta *meta = r->of->img.meta;
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

static int open_rows(struct row_sink *rows, struct reader *reader,
                     struct err *err)
{
    const struct row_sink_opts sink = { .t = reader->plan->turn,
                                        .turner = reader->plan->turner,
                                        .limits = &reader->opts->limits,
                                        .mem = reader->opts->mem,
                                        .in_passes =
                                            reader->img.meta->interlaced };
    return row_sink_open(rows, &reader->img, &sink, err);
}

/* Pixels that are not in a damaged picture are black. */
static void read_rows(struct png_reader *r)
{
    struct image *img = &r->of->img;
    const struct meta *meta = img->meta;
    r->row =
        memory_alloc((size_t)img->width * img->nplanes * cell_size(img->cell));
    r->starved = r->starved || !r->row;
    if (!r->row)
        png_error(r->png, "no memory for a row");
    png_read_update_info(r->png, r->info);
    if (open_rows(&r->rows, r->of, r->err) ||
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
    r->warned = r->of->opts->warnings->count;
}

static void warn_of_bytes_left(const struct png_reader *r)
{
    if (r->left.size)
        warn(r->of->opts->warnings,
             "%zu bytes after the end of the picture are not kept",
             r->left.size);
}

/* Reads the chunks behind samples that bypass libpng: versions 1.6.47 to 1.6.49
 * refuse an IEND there. A tolerant reader keeps what libpng would keep. */
static void read_behind(struct png_reader *r)
{
    const struct load_opts *opts = r->of->opts;
    struct chunk chunk;
    char text[32];
    r->left.data = r->idats.data + r->idats.size;
    r->left.size = (size_t)(r->of->file.data + r->of->file.size - r->left.data);
    for (;;) {
        if (!chunk_next(&chunk, &r->left))
            png_error(r->png, "a chunk is cut short or malformed");
        const bool sound = chunk_is_sound(&chunk);
        const bool late = chunk_is(&chunk, "PLTE") || chunk_is(&chunk, "IDAT");
        if (!sound || late) {
            snprintf(text, sizeof text, "%.4s: %s", (const char *)chunk.type,
                     sound ? "out of place" : "CRC error");
            if (!opts->tolerant || (!sound && !(chunk.type[0] & 0x20)))
                png_error(r->png, text);
            warn(opts->warnings, "%s", text);
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

static void read_whole(struct png_reader *r)
{
    read_head(r);
    read_rows(r);
    png_read_end(r->png, r->info); /* without info it would skip chunks */
    warn_of_bytes_left(r);
}

/* Returns the chunks IDAT of a file if they can bypass libpng: if they stand in
 * one place. */
static struct bytes find_idats(struct bytes file)
{
    struct bytes left = chunk_bytes(file), found = { .data = NULL };
    struct bytes_passed passed = bytes_passed_begin(file);
    struct chunk chunk;
    while (chunk_next(&chunk, &left)) {
        const size_t whole = chunk.size + CHUNK_AROUND;
        bytes_pass(&passed, chunk.type);
        if (!chunk_is(&chunk, "IDAT") && found.size)
            return found;
        if (!chunk_is(&chunk, "IDAT"))
            continue;
        if (!found.size)
            found = (struct bytes){ .data = left.data - whole,
                                    .capacity = file.capacity };
        found.size += whole;
    }
    return (struct bytes){ .data = NULL }; /* the file ends within them */
}

static void warn_of_damage(const struct png_reader *r)
{
    warn(r->of->opts->warnings, "damaged, read as far as it goes: %s",
         r->err->text);
}

/* Where tolerant reading has failed with a place for rows, the rows so far are
 * the picture. libpng goes no further; so all chunks behind the samples are
 * read here, and what it has said and kept of them is forgotten. */
static int read_on(struct png_reader *r)
{
    const struct err damage = *r->err;
    struct meta *meta = r->of->img.meta;
    r->of->opts->warnings->count = r->warned;
    for (size_t i = 0; i < meta->nblocks; i++)
        meta->block[i].dropped = meta->block[i].where == PNG_PLACE_AFTER_IDAT;
    meta_remove_dropped(meta);
    if (pass_rows_end(&r->passes, r->err))
        return -1;
    r->idats = find_idats(r->of->file);
    if (setjmp(png_jmpbuf(r->png)) == 0) {
        if (r->idats.size)
            read_behind(r);
    } else if (r->err->memory) {
        return -1;
    } else {
        warn_of_damage(r);
    }
    *r->err = damage;
    warn_of_damage(r);
    return 0;
}

static int read_guarded(struct png_reader *r, void (*read)(struct png_reader *))
{
    if (setjmp(png_jmpbuf(r->png)) == 0)
        read(r);
    else if (!r->of->opts->tolerant || !r->pixels || r->err->memory ||
             read_on(r))
        return -1;
    return r->starved ? fail_memory(r->err, "no memory for the whole picture")
                      : 0;
}

/* Reads into reader->img, which is empty but for an empty meta, through libpng:
 * all but the samples, or without idats the samples too. */
static int run_libpng(struct reader *reader, struct bytes idats,
                      void (*read)(struct png_reader *), struct err *err)
{
    struct png_reader r = { .of = reader,
                            .idats = idats,
                            .left = reader->file,
                            .warned = reader->opts->warnings->count,
                            .err = err };
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
    chunks_note_transparency(&reader->img, reader->opts->warnings);
    if (read != read_head && frames_read(&reader->img, reader->opts, err))
        return -1;
    return metadata_read_orientation(&reader->img, &chunks_format, err);
}

/* ---- Open, then decode or describe --------------------------------------- */

struct png_state {
    struct bytes idats; /* the samples, if all other chunks have been read */
    unsigned warned;    /* number of warnings before */
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
    reader->img =
        (struct image){ .orientation = 1, .meta = meta_new(&codec_png) };
    if (!reader->img.meta)
        return fail_memory(err, "no memory for the decoder");
    reader->img.meta->account = reader->opts->limits.account;
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

/* Fails if the picture is beyond the limits. DEFLATE makes at most 1032 bytes
 * of one (RFC 1951: a match of 258 bytes takes two bits or more), so a file
 * that claims more is refused before memory is allocated for it. */
static int check_size(const struct reader *reader, struct err *err)
{
    const struct image *img = &reader->img;
    struct limits limits = reader->opts->limits;
    uint64_t raw = (uint64_t)scanline_size(img) * img->height;
    if (!reader->opts->tolerant && raw / 1032 > reader->file.size)
        return fail(err, "the image data is cut short");
    limits.reserve = NULL;
    return image_check(img->width, img->height, img->nplanes, img->cell,
                       &limits, err);
}

/* ---- Elsewhere ----------------------------------------------------------- */

/* Returns whether the plan lets a device turn this picture, and it is of a kind
 * that one takes. */
static bool suits_device(const struct reader *reader)
{
    const struct png_state *state = reader->state;
    const struct image *img = &reader->img;
    const struct meta *meta = img->meta;
    const uint64_t raw = (uint64_t)scanline_size(img) * img->height;
    return reader->plan->scan_turner && state->idats.size &&
           image_bits(img) >= 8 && !meta->interlaced &&
           !meta->animation.frames && raw <= IDAT_TURN_MOST &&
           image_choose_pixels(img, &reader->opts->limits) == PIXELS_ROWS;
}

/* Joins what the chunks IDAT hold, whose CRCs must be right. Returns false if
 * that is no stream with the usual window, or without memory. */
static bool join_idats(struct bytes *to, struct bytes idats)
{
    struct chunk chunk;
    if (!bytes_reserve(to, idats.size))
        return false;
    while (idats.size) {
        if (!chunk_next(&chunk, &idats) || !chunk_is_sound(&chunk) ||
            !bytes_append(to, chunk.data, chunk.size))
            return false;
    }
    return to->size > 6 && to->data[0] == 0x78 && !(to->data[1] & 0x20) &&
           read_be16(to->data) % 31 == 0;
}

/* Has the picture turned by a device, to image data or to samples of colors and
 * alpha. Returns false if none does: then all is as it was. */
static bool offer_idats(struct reader *reader)
{
    const struct png_state *state = reader->state;
    const struct decode_plan *plan = reader->plan;
    struct image *img = &reader->img;
    const struct meta *meta = img->meta;
    const bool indexed = img->color == COLOR_INDEXED;
    const struct device_samples samples = {
        .packing = plan->packing,
        .cell = plan->cell,
        .color = indexed ? COLOR_RGB : img->color,
        .alpha = img->alpha || meta->keyed || (indexed && meta->nalphas),
    };
    struct idat_turn idat = {
        .width = img->width,
        .height = img->height,
        .pixel = scanline_pixel(img),
        .wide = img->cell == CELL_U16,
        .indexed = indexed,
        .keyed = meta->keyed,
    };
    struct scan_turn picture = { .idat = &idat, .turn = plan->turn };
    /* As codecs/convert has it: behind the palette is opaque black. */
    for (unsigned i = 0; i < 256; i++)
        for (unsigned c = 0; c < 4; c++)
            idat.palette[i][c] =
                i < meta->ncolors ? meta->palette[i][c] : 255 * (c == 3);
    for (unsigned c = 0; meta->keyed && c < img->nplanes; c++) {
        if (idat.wide)
            write_be16(idat.key + 2 * c, meta->key[c]);
        else
            idat.key[c] = (uint8_t)meta->key[c];
    }
    const bool taken =
        join_idats(&picture.coded, state->idats) &&
        scan_turner_offer(plan->scan_turner, img, &picture,
                          plan->packing == PACKING_ROWS ? NULL : &samples);
    bytes_free(&picture.coded);
    return taken;
}

static int read_idats(struct reader *reader, struct err *err)
{
    const struct png_state *state = reader->state;
    struct row_sink rows = { 0 };
    int status = open_rows(&rows, reader, err);
    if (status == 0 &&
        !idat_read(&rows, state->idats, flates[0], reader->opts->pool))
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
    if (check_size(reader, err))
        return -1;
    const bool taken = suits_device(reader) && offer_idats(reader);
    const struct image *img = &reader->img;
    if (!taken && (image_check(img->width, img->height, img->nplanes, img->cell,
                               &reader->opts->limits, err) ||
                   frames_check_size(img, reader->opts, err) ||
                   ((!state->idats.size || read_idats(reader, err)) &&
                    start_again(reader, read_whole, err)) ||
                   decode_frames(reader, err)))
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
