/* NPY as a codec.
 *
 * An array that stays one is turned as it is, by grid.c. To become a picture of
 * another format, or to get samples of another depth, it must hold one picture
 * of u1, u2 or f4: 1 channel is gray, 2 are gray and alpha, 3 RGB, 4 RGB and
 * alpha, and any other number has no meaning that is known here. */
#include <stdio.h>
#include <string.h>

#include "codecs/image/interleave.h"
#include "codecs/image/scan_turner.h"
#include "codecs/npy/header.h"

static const char *const types[] = { "u1", "u2", "f4" };
enum { TYPES = sizeof types / sizeof *types };

/* The bytes from a cell of an array to the next in the same row, in the same
 * column, and in the same pixel. */
struct strides {
    size_t x, y, channel;
};

static struct strides strides_of(const struct npy_header *header,
                                 enum layout layout, size_t cell)
{
    const char *name = layout_name[layout];
    struct strides strides = { 0 };
    for (unsigned i = 0; i < header->naxes; i++) {
        unsigned axis = header->fortran ? i : header->naxes - 1 - i;
        if (name[axis] == 'w')
            strides.x = cell;
        if (name[axis] == 'h')
            strides.y = cell;
        if (name[axis] == 'c')
            strides.channel = cell;
        cell *= (size_t)header->shape[axis];
    }
    return strides;
}

/* The size of the axis with this letter; 1 if the layout has none. */
static uint64_t axis_size(const struct npy_header *header, enum layout layout,
                          char letter)
{
    const char *name = layout_name[layout];
    const char *at = strchr(name, letter);
    return at ? header->shape[at - name] : 1;
}

/* ---- Reading --------------------------------------------------------------*/

/* The array of a file. */
struct array {
    struct npy_header header;
    enum layout layout;
    size_t cell; /* bytes */
    struct npy_grid grid;
    struct bytes data; /* of the file, which it borrows */
};

/* Finds the cells of an array whose header is set. Fails if it cannot be
 * turned. */
static int find_array(struct array *a, struct bytes file,
                      const struct load_opts *opts, struct err *err)
{
    struct npy_header *header = &a->header;
    if (npy_suits(header, &a->cell, err) ||
        layout_choose(&a->layout, opts->layout, header->shape, header->naxes,
                      err) ||
        grid_of(&a->grid, header, a->layout, a->cell, &opts->limits, err))
        return -1;
    a->data =
        (struct bytes){ file.data + header->size, file.size - header->size, 0 };
    const size_t need = grid_size(&a->grid);
    if (a->data.size == need)
        return 0;
    if (!opts->tolerant)
        return fail(err, "%zu bytes of data, where its shape needs %zu",
                    a->data.size, need);
    if (limit_check_cut(a->data.size, need, &opts->limits, err))
        return -1;
    warn(opts->warnings, "%zu bytes of data, where its shape needs %zu",
         a->data.size, need);
    return 0;
}

static int shape_cells(struct image *img, const char *descr, struct err *err)
{
    struct npy_state *state = img->meta->state;
    bool native = strchr("|=", *descr) != NULL;
    for (int i = 0; i < TYPES; i++)
        if (*descr && strchr("<>=|", *descr) &&
            strcmp(descr + 1, types[i]) == 0) {
            img->cell = (enum cell)i;
            img->maxval = i == CELL_U8 ? 255 : i == CELL_U16 ? 65535 : 0;
            state->big_endian =
                *descr == '>' || (native && interleave_big_endian());
            return 0;
        }
    return fail(err,
                "cells of '%s' can be turned as NPY, but not converted; "
                "numpy.astype makes them u1, u2 or f4, which can",
                descr);
}

static int shape_planes(struct image *img, const struct array *a,
                        const struct load_opts *opts, struct err *err)
{
    const struct npy_header *header = &a->header;
    struct limits limits = opts->limits;
    uint64_t n = axis_size(header, a->layout, 'n');
    uint64_t planes = axis_size(header, a->layout, 'c');
    uint64_t width = axis_size(header, a->layout, 'w');
    uint64_t height = axis_size(header, a->layout, 'h');
    if (n != 1)
        return fail(err,
                    "%llu pictures in an array can be turned as NPY, but "
                    "not converted; save each as an array of its own",
                    (unsigned long long)n);
    if (planes > IMAGE_PLANES)
        return fail(err,
                    "%llu channels can be turned as NPY, but not "
                    "converted; up to %d can",
                    (unsigned long long)planes, IMAGE_PLANES);
    limits.reserve = NULL;
    if (image_check(width, height, (unsigned)planes, img->cell, &limits, err))
        return -1;
    img->width = (uint32_t)width;
    img->height = (uint32_t)height;
    img->nplanes = (unsigned)planes;
    img->color = planes > 4 ? COLOR_OTHER : planes > 2 ? COLOR_RGB : COLOR_GRAY;
    img->alpha = planes == 2 || planes == 4;
    struct npy_state *state = img->meta->state;
    state->layout = a->layout;
    return 0;
}

/* Copies cells of `size` bytes that stand `to_step` and `from_step` bytes
 * apart. */
static void copy_cells(uint8_t *to, size_t to_step, const uint8_t *from,
                       size_t from_step, size_t size, uint32_t count)
{
    if (to_step == size && from_step == size)
        memcpy(to, from, count * size);
    else
        for (uint32_t x = 0; x < count; x++)
            memcpy(to + x * to_step, from + x * from_step, size);
}

/* Returns whether the channels of a pixel, and the pixels of a row, are
 * neighbors. */
static bool is_interleaved(const struct image *img, struct strides strides)
{
    size_t size = cell_size(img->cell);
    return img->nplanes > 1 && strides.channel == size &&
           strides.x == img->nplanes * size;
}

static int open(struct reader *reader, struct err *err)
{
    struct npy_state *state = reader->img.meta->state;
    return npy_read_header(&state->header, reader->file, err);
}

/* An array that cannot be turned, or only with --layout, is described as well.
 */
static int describe(struct reader *reader, struct err *err)
{
    struct image *img = &reader->img;
    const struct npy_state *state = img->meta->state;
    struct array a = { .header = state->header };
    struct err ignored;
    struct array_note *note = meta_note_array(img->meta);
    img->color = COLOR_OTHER;
    if (!note)
        return fail_memory(err, "no memory for the decoder");
    npy_note(note, &a.header, reader->opts->layout);
    if (note->layout == LAYOUT_AUTO)
        return 0;
    if (find_array(&a, reader->file, reader->opts, err))
        return -1;
    img->width = (uint32_t)axis_size(&a.header, a.layout, 'w');
    img->height = (uint32_t)axis_size(&a.header, a.layout, 'h');
    if (shape_cells(img, a.header.descr, &ignored) == 0)
        (void)shape_planes(img, &a, reader->opts, &ignored);
    return 0;
}

/* Has the array turned by a device, to the image data of a PNG. Returns false
 * if none does. */
static bool offer(struct reader *reader, const struct array *a)
{
    const struct decode_plan *plan = reader->plan;
    struct image *img = &reader->img;
    const struct npy_state *state = img->meta->state;
    const struct strides strides = strides_of(&a->header, a->layout, a->cell);
    struct idat_turn idat = {
        .width = img->width,
        .height = img->height,
        .pixel = (unsigned)(img->nplanes * a->cell),
        .wide = img->cell == CELL_U16,
        .x_step = (uint32_t)strides.x,
        .y_step = (uint32_t)strides.y,
    };
    const struct scan_turn picture = { .idat = &idat,
                                       .turn = plan->turn,
                                       .coded = a->data };
    if (!plan->scan_turner || img->color == COLOR_OTHER ||
        img->cell == CELL_F32 || grid_size(&a->grid) > IDAT_TURN_MOST ||
        image_choose_pixels(img, &reader->opts->limits) != PIXELS_ROWS)
        return false;
    for (unsigned i = 0; i < idat.pixel; i++) {
        const size_t byte = i % a->cell;
        idat.byte[i] =
            (uint32_t)(i / a->cell * strides.channel +
                       (state->big_endian ? byte : a->cell - 1 - byte));
    }
    return scan_turner_offer(plan->scan_turner, img, &picture, NULL);
}

static int decode(struct reader *reader, struct err *err)
{
    struct image *img = &reader->img;
    const struct npy_state *state = img->meta->state;
    struct array a = { .header = state->header };
    if (find_array(&a, reader->file, reader->opts, err) ||
        shape_cells(img, a.header.descr, err) ||
        shape_planes(img, &a, reader->opts, err))
        return -1;
    if (offer(reader, &a))
        return 0;
    if (image_check(img->width, img->height, img->nplanes, img->cell,
                    &reader->opts->limits, err) ||
        image_alloc(img, reader->opts->mem, err))
        return -1;
    const size_t need = grid_size(&a.grid);
    if (!bytes_pad(&a.data, a.data, need))
        return fail_memory(err, "no memory for %zu bytes of data", need);
    struct strides strides = strides_of(&a.header, a.layout, a.cell);
    bool split = is_interleaved(img, strides);
    for (uint32_t y = 0; y < img->height; y++) {
        const uint8_t *from = a.data.data + y * strides.y;
        if (split)
            interleave_split_row(img, y, from);
        for (unsigned i = 0; i < img->nplanes; i++) {
            uint8_t *row = plane_row(&img->plane[i], y);
            if (!split)
                copy_cells(row, a.cell, from + i * strides.channel, strides.x,
                           a.cell, img->width);
            interleave_set_order(img->cell, row, img->width, state->big_endian);
        }
    }
    bytes_free(&a.data);
    return 0;
}

/* ---- Turning an array as it is --------------------------------------------*/

/* In memory the turn is another one where rows are columns, in Fortran order.
 */
static int turn(struct bytes *out, struct image *img, struct bytes file,
                enum xform t, const struct load_opts *opts, struct err *err)
{
    struct array a = { 0 };
    if (npy_read_header(&a.header, file, err) ||
        find_array(&a, file, opts, err))
        return -1;
    struct npy_header header = a.header;
    const char *name = layout_name[a.layout];
    const size_t h = (size_t)(strchr(name, 'h') - name);
    if (xform_transposes(t)) {
        header.shape[h] = a.header.shape[h + 1];
        header.shape[h + 1] = a.header.shape[h];
    }
    img->width = (uint32_t)axis_size(&header, a.layout, 'w');
    img->height = (uint32_t)axis_size(&header, a.layout, 'h');
    if (t == XFORM_NONE && a.data.size == grid_size(&a.grid))
        return 0;
    if (header.fortran)
        t = xform_then(xform_then(XFORM_TRANSPOSE, t), XFORM_TRANSPOSE);
    if (bytes_are_mapped(file))
        a.data.capacity = SIZE_MAX;
    return grid_plan(&a.grid, &a.header, &opts->limits, err) ||
                   npy_write_header(out, &header, err) ||
                   grid_turn(out, a.data, &a.grid, t, opts, err)
               ? -1
               : 0;
}

/* ---- Writing --------------------------------------------------------------*/

static struct npy_header header_of(const struct image *img, enum layout layout,
                                   const struct npy_state *state)
{
    const char *name = layout_name[layout];
    struct npy_header header = {
        .naxes = (unsigned)strlen(name),
        .fortran = state->header.fortran,
    };
    char order = img->cell == CELL_U8 ? '|' : state->big_endian ? '>' : '<';
    snprintf(header.descr, sizeof header.descr, "%c%s", order,
             types[img->cell]);
    for (unsigned i = 0; i < header.naxes; i++)
        header.shape[i] = name[i] == 'h'   ? img->height
                          : name[i] == 'w' ? img->width
                          : name[i] == 'c' ? img->nplanes
                                           : 1;
    return header;
}

static enum packing packing(enum layout layout)
{
    switch (layout) {
    case LAYOUT_AUTO:
    case LAYOUT_HWC:
    case LAYOUT_NHWC:
        return PACKING_PIXELS;
    case LAYOUT_CHW:
    case LAYOUT_NCHW:
        return PACKING_PLANES;
    default:
        return PACKING_ROWS;
    }
}

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    static const struct npy_state other = { 0 };
    const struct npy_state *state =
        codec_is_own(&codec_npy, img) ? img->meta->state : &other;
    const size_t cells = (size_t)img->width * img->height * img->nplanes;
    const enum layout asked = opts->layout;
    const bool one = img->nplanes == 1; /* it needs no axis of channels */
    const bool single =
        asked == LAYOUT_AUTO || asked == LAYOUT_HWC || asked == LAYOUT_CHW;
    if (!state->layout && !single && !one && asked == LAYOUT_NHW)
        return fail(err,
                    "--layout nhw has no axis for the %u channels; nhwc "
                    "and nchw have one",
                    img->nplanes);
    const enum layout layout = state->layout ? state->layout
                               : one         ? (single ? LAYOUT_HW : LAYOUT_NHW)
                               : !asked      ? LAYOUT_HWC
                                             : asked;
    const struct npy_header header = header_of(img, layout, state);
    if (npy_write_header(file, &header, err))
        return -1;
    const size_t begin = file->size, size = cell_size(img->cell);
    if (scan_turner_has_samples(img, packing(layout))) {
        if (scan_turner_append_samples(file, img, err))
            return -1;
    } else if (!bytes_reserve(file, cells * size)) {
        return fail_memory(err, "no memory for the file");
    } else {
        uint8_t *to = file->data + begin;
        struct strides strides = strides_of(&header, layout, size);
        size_t cell = cell_size(img->cell);
        bool join = is_interleaved(img, strides);
        for (uint32_t y = 0; y < img->height; y++, to += strides.y) {
            if (join)
                interleave_join_row(img, y, to);
            for (unsigned i = 0; !join && i < img->nplanes; i++)
                copy_cells(to + i * strides.channel, strides.x,
                           plane_row(&img->plane[i], y), cell, cell,
                           img->width);
        }
        file->size += cells * size;
    }
    interleave_set_order(img->cell, file->data + begin, cells,
                         state->big_endian);
    return 0;
}

/* The shape says how many cells there are; of a picture that was encoded, those
 * of the picture. */
static int check(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err)
{
    struct npy_header header = { 0 };
    uint64_t cells = 1;
    size_t size;
    (void)opts;
    if (!npy_is(file.data, file.size) || npy_read_header(&header, file, err) ||
        npy_suits(&header, &size, err))
        return fail(err, "its header is malformed");
    for (unsigned i = 0; i < header.naxes && i < LAYOUT_AXES; i++)
        cells *= header.shape[i];
    if (img && cells != (uint64_t)img->width * img->height * img->nplanes)
        return fail(err, "its header is of another picture");
    if (file.size - header.size != cells * size)
        return fail(err, "it has %zu bytes", file.size);
    return 0;
}

const struct codec codec_npy = {
    .name = "npy",
    .title = "NPY",
    .suffixes = (const char *const[]){ "npy", NULL },
    .stores = true,
    .arrays = true,
    .capabilities = {
        .cells = 1 << CELL_U8 | 1 << CELL_U16 | 1 << CELL_F32,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_RGB | 1 << COLOR_OTHER,
        .alpha = true,
    },
    .state_size = sizeof(struct npy_state),
    .probe = npy_is,
    .open = open,
    .decode = decode,
    .describe = describe,
    .turn = turn,
    .encode = encode,
    .packing = packing,
    .check = check,
};
