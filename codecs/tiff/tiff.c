/* TIFF as a codec: the first picture for other formats, and from them. */
#include <stdio.h>
#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/ifd/retag.h"
#include "codecs/tiff/tiff.h"

struct tiff_state {
    struct directories all;
    const struct directory *dir;
    struct tiff_strips strips;
    bool common;    /* others have such samples: there is a plane for each */
    bool converted; /* as libtiff shows them */
    unsigned extra; /* samples behind the colors, which may be alpha */
};

/* ---- Reading ----------------------------------------------------------- */

static bool probe(const uint8_t *head, size_t size)
{
    const struct bytes bytes = { (uint8_t *)(uintptr_t)head, size, 0 };
    struct tiff_form form;
    return directories_probe(&form, bytes, false);
}

/* Gives img the shape of a picture whose samples others understand, if it is
 * one, or can be shown: colors that libtiff alone converts are. */
static int understand(struct tiff_state *state, struct image *img,
                      struct err *err)
{
    enum { INTEGER = 1, FLOAT = 3, UNKNOWN = 4 };
    static const unsigned converted[] = { MEANS_YCC, 8, 9, 10, 32844, 32845 };
    static const struct {
        unsigned photometric, colors, bits;
        enum color color;
    } kinds[] = {
        { MEANS_WHITE_IS_ZERO, 1, 16, COLOR_GRAY },
        { MEANS_BLACK_IS_ZERO, 1, 16, COLOR_GRAY },
        { MEANS_RGB, 3, 16, COLOR_RGB },
        { MEANS_PALETTE, 1, 8, COLOR_INDEXED },
        { MEANS_CMYK, 4, 8, COLOR_CMYK },
        { MEANS_YCC, 3, 16, COLOR_RGB },
    };
    struct tiff_strips *s = &state->strips;
    const struct coding *c = &s->coding;
    const uint64_t kind = directory_number(state->dir, TAG_EXTRA_SAMPLES, 0, 0);
    for (size_t i = 0; i < sizeof converted / sizeof *converted; i++)
        if (c->photometric == converted[i] && c->format != FLOAT)
            state->converted =
                c->photometric != MEANS_YCC || c->compression != CODED_JPEG;
    if (state->converted && strips_show(s, err))
        return -1;
    const bool floats = c->format == FLOAT,
               integers = c->format == INTEGER || c->format == UNKNOWN;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const unsigned colors = kinds[i].colors;
        if (kinds[i].photometric != c->photometric || c->samples < colors ||
            !(floats ? c->bits == 32 && kinds[i].bits == 16
                     : integers && c->bits <= kinds[i].bits) ||
            (c->photometric == MEANS_CMYK && c->bits != 8))
            continue;
        state->common = true;
        state->extra = c->samples - colors;
        s->unit = (struct unit){ floats         ? CELL_F32
                                 : c->bits <= 8 ? CELL_U8
                                                : CELL_U16,
                                 c->separate ? 1 : c->samples, c->bits };
        img->nplanes = c->samples;
        img->color = kinds[i].color;
        img->alpha = state->extra && (kind == 1 || kind == 2);
        img->maxval = floats ? 0 : (1u << c->bits) - 1;
    }
    img->cell = s->unit.cell;
    return 0;
}

/* The cells that samples are moved in say nothing of what the samples are. */
static int describe(struct reader *reader, struct err *err)
{
    const struct tiff_state *state = reader->state;
    (void)err;
    if (!state->common) {
        reader->img.nplanes = state->strips.coding.samples;
        reader->img.cell = CELL_U8;
    }
    return 0;
}

static void close(struct reader *reader)
{
    struct tiff_state *state = reader->state;
    if (state)
        directories_free(&state->all);
    memory_free(state);
    reader->state = NULL;
}

static int open(struct reader *reader, struct err *err)
{
    struct image *img = &reader->img;
    struct meta *meta = img->meta;
    struct tiff_state *state = memory_alloc_zeroed(1, sizeof *state);
    reader->state = state;
    if (!state)
        return fail_memory(err, "no memory for a TIFF");
    state->all =
        (struct directories){ .file = reader->file, .opts = reader->opts };
    if (directories_read(&state->all, err))
        return -1;
    const struct directory *dir = state->dir = directories_picture(&state->all);
    if (!dir)
        return fail(err, "it has no picture");
    if (strips_open(&state->strips, img, &state->all, dir, err))
        return -1;
    reader->info.lossy =
        state->strips.shown || state->strips.coding.compression == CODED_JPEG;
    if (understand(state, img, err))
        return -1;
    const unsigned tag = directory_orientation(dir);
    orientation_note(&meta->orientation, TAG_IFD, tag);
    img->orientation = tag ? tag : 1;
    if (img->color != COLOR_INDEXED)
        return 0;
    /* Entries of 16 bits, or of 8 in files of some programs. */
    const unsigned n = 1u << state->strips.coding.bits;
    unsigned shift = 0;
    for (unsigned i = 0; i < 3 * n; i++)
        if (directory_number(dir, TAG_COLOR_MAP, i, 0) > 255)
            shift = 8;
    meta->ncolors = n;
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < 3; k++)
            meta->palette[i][k] =
                (uint8_t)(directory_number(dir, TAG_COLOR_MAP, k * n + i, 0) >>
                          shift);
        meta->palette[i][3] = 255;
    }
    return 0;
}

/* Returns whether a tag says how the samples lie in their own file. */
static bool is_of_file(unsigned tag)
{
    return tag < 269 || (tag >= 273 && tag < 300 && tag != 285) || tag == 317 ||
           (tag >= 320 && tag <= 347) || (tag > 512 && tag < 540);
}

static bool says(const struct tiff_state *state, const char *what)
{
    const struct field *f = directory_find(state->dir, TAG_DESCRIPTION);
    return f && f->data && memmem(f->data, f->size, what, strlen(what));
}

/* Returns whether other pictures are behind the first one: in directories, or
 * without one, as tifffile and ImageJ may write them. */
static bool has_more(const struct tiff_state *state)
{
    return state->dir->next ||
           (says(state, "{\"shape\":") && says(state, "\"truncated\": true")) ||
           (says(state, "ImageJ=") && says(state, "\nimages=") &&
            !says(state, "\nimages=1\n"));
}

/* Each tag of the directory goes to the block of EXIF; but not a description of
 * how the pages of this file lie, nor what EXIF has no place for: that becomes
 * a block without data, that a warning may name it. */
static int read_tags(const struct tiff_state *state, struct meta *meta,
                     struct err *err)
{
    static const uint16_t tags[] = { 271, 272,   305,          306,
                                     315, 33432, TAG_EXIF_IFD, TAG_GPS_IFD };
    const bool of_pages = says(state, "{\"shape\":") ||
                          says(state, "ImageJ=") || says(state, "<OME") ||
                          says(state, "<ome:OME");
    struct directory dir = { .form = { state->all.form.big_endian, false } };
    struct tiff_writer w = { .form = dir.form, .out = &meta->exif, .err = err };
    bool failed = false;
    for (size_t i = 0; i < state->dir->nfields && !failed; i++) {
        const struct field *field = &state->dir->field[i];
        const unsigned tag = field->tag;
        bool of_exif = tag == TAG_DESCRIPTION && !of_pages;
        char name[16];
        for (size_t k = 0; k < sizeof tags / sizeof *tags; k++)
            of_exif = of_exif || tag == tags[k];
        snprintf(name, sizeof name, "tag %u", tag);
        if (of_exif)
            directory_copy(&dir, field);
        else if (!is_of_file(tag) && tag != TAG_ICC && tag != TAG_PACKET &&
                 !meta_is_full(meta))
            failed = !meta_add(meta,
                               tag == TAG_IPTC          ? "IPTC"
                               : tag == TAG_DESCRIPTION ? "description"
                                                        : name,
                               0, "", 0);
    }
    if (dir.nfields || dir.failed) {
        tiff_writer_begin(&w);
        tiff_writer_directory(&w, &dir);
    }
    directory_clear(&dir);
    return failed ? fail_memory(err, "no memory for a tag") : w.failed;
}

static int read_meta(const struct tiff_state *state, struct meta *meta,
                     struct err *err)
{
    const struct field *icc = directory_find(state->dir, TAG_ICC);
    const struct field *xmp = directory_find(state->dir, TAG_PACKET);
    const uint64_t unit =
        directory_number(state->dir, TAG_RESOLUTION_UNIT, 0, 2);
    double density[2] = { 0 };
    for (unsigned i = 0; i < 2; i++) {
        const struct field *field =
            directory_find(state->dir, TAG_X_RESOLUTION + i);
        const bool is =
            field && field->type == FIELD_RATIONAL && field->count == 1;
        const uint64_t n = is ? tiff_read(state->all.form, field->data, 4) : 0,
                       of = is ? tiff_read(state->all.form, field->data + 4, 4)
                               : 0;
        if (of)
            density[i] = (unit == 3 ? 100 : 1) * ((double)n / (double)of);
    }
    meta->density = (struct density){ unit == 3   ? DENSITY_METER
                                      : unit == 2 ? DENSITY_INCH
                                                  : DENSITY_ASPECT,
                                      density[0], density[1] };
    if (!(meta->density.x > 0) || !(meta->density.y > 0))
        meta->density.unit = DENSITY_NONE;
    if ((icc && !bytes_append(&meta->icc, icc->data, icc->size)) ||
        (xmp && !bytes_append(&meta->xmp, xmp->data, xmp->size)))
        return fail_memory(err, "no memory for a tag");
    return read_tags(state, meta, err);
}

/* Gray of which 0 is white; and colors that were multiplied by alpha. */
static void correct(const struct tiff_state *state, const struct image *img)
{
    const bool white = state->strips.coding.photometric == MEANS_WHITE_IS_ZERO;
    const bool multiplied =
        img->alpha &&
        directory_number(state->dir, TAG_EXTRA_SAMPLES, 0, 0) == 1;
    const unsigned colors = img->nplanes - img->alpha;
    const uint32_t most = img->maxval;
    for (size_t i = 0; i < (size_t)img->height * colors; i++) {
        uint8_t *p = plane_row(&img->plane[i % colors], i / colors);
        uint8_t *q = plane_row(&img->plane[img->nplanes - 1], i / colors);
        float *f = (float *)(void *)p, *alpha = (float *)(void *)q;
        uint16_t *wide = (uint16_t *)(void *)p, *a16 = (uint16_t *)(void *)q;
        for (uint32_t x = 0; x < img->width && (white || multiplied); x++) {
            if (img->cell == CELL_F32) {
                f[x] = white ? 1 - f[x] : alpha[x] > 0 ? f[x] / alpha[x] : 0;
                continue;
            }
            uint32_t v = img->cell == CELL_U16 ? wide[x] : p[x],
                     a = img->cell == CELL_U16 ? a16[x] : q[x];
            v = white ? most - v : v;
            if (multiplied && a)
                v = (uint32_t)(((uint64_t)v * most + a / 2) / a);
            v = v < most ? v : most;
            if (img->cell == CELL_U16)
                wide[x] = (uint16_t)v;
            else
                p[x] = (uint8_t)v;
        }
    }
}

/* Returns what another format does not get of the file; NULL if nothing. */
static const char *loss_of(const struct tiff_state *state,
                           const struct image *img)
{
    for (const struct directory *d = state->dir->next; d; d = d->next)
        if (!(directory_number(d, TAG_SUBFILE, 0, 0) & 1)) /* no thumbnail */
            return "its other pictures would be lost";
    if (!state->dir->next && has_more(state))
        return "its other pictures would be lost";
    if (state->extra > img->alpha)
        return "samples that are neither color nor alpha would be lost";
    if (img->alpha &&
        directory_number(state->dir, TAG_EXTRA_SAMPLES, 0, 0) == 1)
        return "colors that are multiplied by alpha would be divided";
    return state->converted ? "its colors would be converted" : NULL;
}

static int decode(struct reader *reader, struct err *err)
{
    struct tiff_state *state = reader->state;
    const struct coding *c = &state->strips.coding;
    const struct load_opts *opts = reader->opts;
    struct image *img = &reader->img;
    static const char *const formats[7] = { "of an unknown format",
                                            "unsigned integers",
                                            "signed integers",
                                            "floats",
                                            "undefined",
                                            "complex integers",
                                            "complex floats" };
    if (opts->portable && !state->common)
        return fail_unread(err,
                           "samples of %u bits (%s, photometric interpretation "
                           "%u) can be turned as TIFF, but not converted",
                           c->bits, formats[c->format % 7], c->photometric);
    const char *loss =
        opts->portable && opts->lossless ? loss_of(state, img) : NULL;
    if (loss)
        return fail(err, "%s, which --lossless refuses", loss);
    if (image_check(img->width, img->height, img->nplanes, img->cell,
                    &opts->limits, err) ||
        strips_read(&state->strips, img, reader->plan->turn,
                    reader->plan->turner, err))
        return -1;
    if (state->common) {
        const unsigned more = state->extra - img->alpha;
        img->nplanes -= more;
        correct(state, img);
        if (more)
            warn(opts->warnings,
                 "%u sample%s of each pixel %s neither color nor alpha: not "
                 "kept",
                 more, more > 1 ? "s" : "", more > 1 ? "are" : "is");
    }
    img->meta->paged = state->dir->next != NULL;
    if (!opts->portable)
        return 0;
    if (state->converted)
        warn(opts->warnings, "its colors are converted to RGB of 8 bits by "
                             "libtiff");
    if (has_more(state))
        warn(opts->warnings, "only the first of its pictures is converted");
    return read_meta(state, img->meta, err);
}

/* ---- Writing ----------------------------------------------------------- */

static void set_resolution(struct directory *dir, const struct density *density)
{
    const bool meter = density->unit == DENSITY_METER;
    const double value[] = { density->x, density->y };
    if (density->unit == DENSITY_NONE)
        return;
    for (unsigned i = 0; i < 2; i++) {
        uint8_t ratio[8];
        const double d = meter ? value[i] / 100 : value[i];
        if (!(d > 0) || d > 1e6)
            return;
        tiff_write(dir->form, ratio, 4, (uint64_t)(d * 1000 + 0.5));
        tiff_write(dir->form, ratio + 4, 4, 1000);
        directory_set(dir, TAG_X_RESOLUTION + i, FIELD_RATIONAL, ratio, 1);
    }
    directory_set_number(dir, TAG_RESOLUTION_UNIT,
                         density->unit == DENSITY_INCH ? 2
                         : meter                       ? 3
                                                       : 1);
}

/* Writes strips of some 256 KiB, coded by Deflate: horizontal differences of
 * integers, and the predictor of floats. */
static int write_file(struct tiff_writer *w, struct directory *dir,
                      const struct image *img, const struct load_opts *opts,
                      struct err *err)
{
    const struct save_opts *save = opts->save;
    const bool flip = xform_transposes(img->turned),
               floats = img->cell == CELL_F32;
    const unsigned bits = floats ? 32 : image_bits(img);
    const struct meta *meta = img->meta;
    struct tiff_strips s = {
        .coding = { .compression = CODED_DEFLATE,
                    .predictor = floats     ? 3
                                 : bits < 8 ? 1
                                            : 2,
                    .photometric = img->color == COLOR_RGB
                                       ? MEANS_RGB
                                       : MEANS_BLACK_IS_ZERO,
                    .bits = bits,
                    .samples = img->nplanes,
                    .format = floats ? 3 : 1,
                    .fill_order = 1,
                    .sub_x = 1,
                    .sub_y = 1,
                    .big_endian = w->form.big_endian },
        .cut = { .width = img->width,
                 .height = img->height,
                 .chunk_height =
                     strips_usual_rows((uint64_t)img->width * img->nplanes *
                                       cell_size(img->cell)) },
        .opts = opts,
    };
    dir->turn = img->turned;
    directory_set_number(dir, TAG_WIDTH, flip ? img->height : img->width);
    directory_set_number(dir, TAG_HEIGHT, flip ? img->width : img->height);
    if (meta && meta->xmp.size)
        directory_set(dir, TAG_PACKET, FIELD_BYTE, meta->xmp.data,
                      meta->xmp.size);
    if (meta && meta->icc.size)
        directory_set(dir, TAG_ICC, FIELD_UNDEFINED, meta->icc.data,
                      meta->icc.size);
    if (tags_turn(dir, save, err) || strips_measure(&s, err))
        return -1;
    s.unit = (struct unit){ img->cell, img->nplanes, bits };
    if (meta)
        set_resolution(dir, &meta->density);
    tags_set_coding(dir, &s.coding);
    directory_set_number(dir, TAG_ROWS_PER_STRIP, s.cut.chunk_height);
    if (save->orientation > 1)
        directory_set_number(dir, TAG_ORIENTATION, save->orientation);
    tiff_writer_begin(w);
    if (strips_write(w, dir, &s, img, err))
        return -1;
    tiff_writer_directory(w, dir);
    return w->failed;
}

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    const uint64_t size = (uint64_t)img->width * img->height * img->nplanes *
                          cell_size(img->cell);
    struct warnings unheard = { 0 };
    struct err untold;
    const struct load_opts load = {
        .limits = { .bytes = UINT64_MAX },
        .tolerant = true,
        .pool = opts->pool,
        .save = opts,
        .warnings = &unheard,
    };
    struct directories exif = { .opts = &load };
    if (tiff_load(err))
        return -1;
    if (img->meta && img->meta->codec == &codec_tiff && !opts->strip)
        meta_warn_lost(img->meta, ~0u, "TIFF of another depth", opts->warnings);
    if (img->meta)
        exif.file = img->meta->exif;
    const bool has_exif =
        exif.file.size && directories_read(&exif, &untold) == 0;
    const struct tiff_form form = { .big_endian = exif.form.big_endian,
                                    .big =
                                        size > UINT32_MAX - (UINT32_MAX >> 4) };
    struct directory dir = { .form = form };
    struct tiff_writer w = {
        .form = form, .out = file, .flush = opts->flush, .err = err
    };
    /* What says nothing of its own file. */
    for (size_t i = 0; has_exif && i < exif.first->nfields; i++) {
        const unsigned tag = exif.first->field[i].tag;
        if (tag >= TAG_DESCRIPTION && tag != TAG_ORIENTATION &&
            (tag < 273 || tag >= 300) && (tag <= 512 || tag >= 540))
            directory_copy(&dir, &exif.first->field[i]);
    }
    const int status = write_file(&w, &dir, img, &load, err);
    directory_clear(&dir);
    directories_free(&exif);
    return status;
}

static int check(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err)
{
    struct warnings unheard = { 0 };
    const struct load_opts load = { .warnings = &unheard };
    struct directories all = { .file = file, .opts = &load };
    (void)opts;
    int status = directories_read(&all, err);
    if (status == 0 && img &&
        (directory_number(all.first, TAG_WIDTH, 0, 0) != img->width ||
         directory_number(all.first, TAG_HEIGHT, 0, 0) != img->height))
        status = fail(err, "its header is of another picture");
    struct directory_parts parts;
    for (struct directory *dir = all.first; dir && status == 0; dir = dir->then)
        status = directory_parts_find(&parts, &all, dir, err);
    directories_free(&all);
    return status;
}

const struct codec codec_tiff = {
    .name = "tiff",
    .title = "TIFF",
    .suffixes = (const char *const[]){ "tif", "tiff", "btf", NULL },
    .stores = true,
    .capabilities = {
        .cells = 1 << CELL_U8 | 1 << CELL_U16 | 1 << CELL_F32,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_RGB,
        .alpha = true,
        .gray_bits = true,
        .metadata = HOLDS_ICC | HOLDS_EXIF | HOLDS_XMP | HOLDS_DENSITY,
    },
    .probe = probe,
    .load = tiff_load,
    .open = open,
    .describe = describe,
    .decode = decode,
    .close = close,
    .retag = retag_tiff,
    .turn = tiff_turn,
    .encode = encode,
    .check = check,
};
