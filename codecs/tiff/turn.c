/* All pictures of a TIFF file, turned each by its own tag. */
#include "codecs/tiff/tiff.h"

/* Samples that are more than this go to a file while they are coded: to copy
 * what was made of them takes longer. */
enum { FLUSHED = 16 << 20 };

struct tiff_turning {
    struct directories all;
    struct tiff_writer writer;
    const struct load_opts *opts;
    uint64_t pages;
    bool changes;
    unsigned lossy; /* pictures that are encoded anew with loss */
    unsigned
        shown[2]; /* pictures of subsampled chroma, or JPEG in the old style */
    bool read;    /* the samples of the picture at hand */
    unsigned thumbnails; /* that were left out */
};

/* Chooses the turn of each picture. A smaller version or a mask without a tag
 * lies as its picture does. */
static int plan(struct tiff_turning *w, enum xform t, struct err *err)
{
    enum { SMALLER = 1, MASK = 4 };
    const bool as_stored = w->opts->as_stored;
    for (struct directory *dir = w->all.first; dir; dir = dir->then) {
        const unsigned tag = directory_orientation(dir);
        const bool alone =
            !dir->tag &&
            !(directory_number(dir, TAG_SUBFILE, 0, 0) & (SMALLER | MASK));
        dir->turn = dir->lead ? dir->lead->turn : t;
        w->pages += !dir->tag;
        if (directory_is_picture(dir)) {
            if (as_stored)
                dir->turn = t;
            else if (tag || alone)
                dir->turn = xform_then(xform_from_exif(tag ? tag : 1), t);
            w->changes = w->changes || dir->turn != XFORM_NONE ||
                         (!as_stored && tag > 1);
        } else if (directory_find(dir, TAG_STRIP_OFFSETS) ||
                   directory_is_tiled(dir)) {
            return fail(err, "one of its pictures has no size");
        }
    }
    return 0;
}

/* ---- One picture ------------------------------------------------------- */

/* Copies the parts of a picture that is not turned. */
static int copy_parts(struct tiff_turning *w, struct directory *dir,
                      struct err *err)
{
    const bool tiled = directory_is_tiled(dir);
    const unsigned at = tiled ? TAG_TILE_OFFSETS : TAG_STRIP_OFFSETS;
    const unsigned size =
        directory_find(dir, TAG_TILE_SIZES) ? TAG_TILE_SIZES : TAG_STRIP_SIZES;
    const struct bytes file = w->all.file;
    const uint64_t count = directory_find(dir, at)->count;
    struct parts parts;
    int status = parts_alloc(&parts, count, err);
    for (uint64_t i = 0; i < count && status == 0; i++) {
        const uint64_t from = directory_number(dir, at, i, 0),
                       n = directory_number(dir, size, i, 0);
        parts.at[i] = tiff_writer_at(&w->writer);
        parts.size[i] = n;
        if (from > file.size || n > file.size - from)
            status = fail(err, "a strip or tile is not in the file");
        else
            tiff_writer_append(&w->writer, file.data + from, (size_t)n);
    }
    parts_set(&parts, dir, tiled);
    return status;
}

/* Chooses the parts of the turned picture. Tiles are turned; strips keep their
 * bytes where rows become columns, so that as many as before make it up. */
static void turn_cut(struct tiff_strips *s, uint64_t rows, enum xform t)
{
    struct coding *c = &s->coding;
    struct cut *cut = &s->cut;
    const bool flip = xform_transposes(t);
    uint32_t width = s->width, height = s->height,
             chunk_width = cut->chunk_width, chunk_height = cut->chunk_height;
    const uint32_t multiple =
        c->compression == CODED_JPEG ? 8 * (flip ? c->sub_x : c->sub_y) : 1;
    cut->width = s->width = flip ? height : width;
    cut->height = s->height = flip ? width : height;
    cut->chunk_width = flip ? chunk_height : chunk_width;
    cut->chunk_height = flip ? chunk_width : chunk_height;
    if (flip) {
        const unsigned sub_x = c->sub_x;
        c->sub_x = c->sub_y;
        c->sub_y = sub_x;
    }
    if (cut->tiled)
        return;
    if (s->shown && rows >= height)
        rows = strips_usual_rows((uint64_t)cut->width * c->samples);
    else if (rows >= height)
        rows = cut->height;
    else if (flip)
        rows = (rows * width + height / 2) / height;
    rows = (rows + multiple - 1) / multiple * multiple;
    rows = rows ? rows : 1;
    cut->chunk_height = rows < cut->height ? (uint32_t)rows : cut->height;
}

static bool is_old_jpeg(const struct directory *dir)
{
    return directory_number(dir, TAG_COMPRESSION, 0, 1) == CODED_OLD_JPEG;
}

static void remove_jpeg_file(struct directory *dir)
{
    directory_remove(dir, TAG_JPEG_FILE);
    directory_remove(dir, TAG_JPEG_SIZE);
}

/* Makes the tags of a turned picture say how it lies in the file. */
static void set_shape(struct directory *dir, const struct tiff_strips *s)
{
    /* The order of bits, and those of JPEG in the old style, and of YCbCr. */
    static const uint16_t of_coding[] = { 266, 512, 515, 517, 518, 519,
                                          520, 521, 529, 530, 531, 532 };
    const bool old = is_old_jpeg(dir);
    const struct coding *c = &s->coding;
    const uint64_t sub[2] = { c->sub_x, c->sub_y };
    const uint64_t was =
        directory_number(dir, TAG_ROWS_PER_STRIP, 0, UINT32_MAX);
    if (!s->cut.tiled &&
        (s->shown || (directory_find(dir, TAG_ROWS_PER_STRIP) &&
                      (s->cut.down > 1 || was < s->height))))
        directory_set_number(dir, TAG_ROWS_PER_STRIP, s->cut.chunk_height);
    if (c->photometric == MEANS_YCC &&
        (xform_transposes(dir->turn) ||
         directory_number(dir, TAG_SUBSAMPLING, 0, 2) != sub[0] ||
         directory_number(dir, TAG_SUBSAMPLING, 1, 2) != sub[1]))
        directory_set_numbers(dir, TAG_SUBSAMPLING, FIELD_SHORT, sub, 2);
    directory_remove(dir, TAG_JPEG_TABLES);
    if (!s->shown)
        return;
    tags_set_coding(dir, c);
    for (size_t i = 0; i < sizeof of_coding / sizeof *of_coding; i++)
        directory_remove(dir, of_coding[i]);
    if (old) /* else they are of a thumbnail */
        remove_jpeg_file(dir);
}

/* Says what is lost where samples are encoded anew, which the options may
 * refuse. */
static int note_loss(struct tiff_turning *w, struct tiff_strips *s,
                     const struct directory *dir, struct err *err)
{
    const struct save_opts *save = w->opts->save;
    const bool old = is_old_jpeg(dir);
    if (s->shown && !old && save->lossless)
        return fail(err, "its subsampled YCbCr would be stored as RGB, with "
                         "loss; --lossless refuses");
    if (s->shown && !old)
        *save->encoded_anew = true;
    if (s->shown && w->shown[old]++ == 0)
        warn(save->warnings, "%s, which takes more bytes",
             old ? "JPEG in the old style is decoded, and stored as Deflate"
                 : "subsampled YCbCr is stored as RGB");
    if (s->coding.compression == CODED_WEBP && s->coding.samples == 4) {
        if (save->lossless)
            return fail(err, "its samples are coded as WebP, and would lose "
                             "the colors of transparent pixels; --lossless "
                             "refuses");
        if (w->lossy++ == 0)
            warn(save->warnings, "WebP in a TIFF keeps no colors of pixels "
                                 "that are transparent");
    }
    if (s->coding.compression != CODED_JPEG)
        return 0;
    if (save->lossless)
        return fail(err, "its samples are coded as JPEG, and would be encoded "
                         "anew with loss; --lossless refuses");
    s->quality = save->quality ? (unsigned)save->quality : 90;
    *save->encoded_anew = true;
    if (w->lossy++ == 0)
        warn(save->warnings, "JPEG in a TIFF is encoded anew, with loss; "
                             "--lossless refuses");
    return 0;
}

static int turn_samples(struct tiff_turning *w, struct tiff_strips *in,
                        struct image *img, struct directory *dir,
                        struct err *err)
{
    const struct load_opts *opts = w->opts;
    const struct row_sink_opts how = { .t = dir->turn,
                                       .turner = opts->turner,
                                       .limits = &opts->limits,
                                       .mem = opts->mem };
    struct tiff_strips out = *in;
    struct row_sink sink = { 0 };
    turn_cut(&out, directory_number(dir, TAG_ROWS_PER_STRIP, 0, UINT32_MAX),
             dir->turn);
    w->read = strips_measure(&out, err) == 0 &&
              row_sink_open(&sink, img, &how, err) == 0 &&
              strips_read(in, &sink, err) == 0;
    int status = w->read ? note_loss(w, &out, dir, err) : -1;
    if (status == 0 &&
        (image_has_bands(img) ||
         (opts->limits.scratch && img->pixels.rows.size >= FLUSHED)))
        w->writer.flush = opts->flush;
    if (status == 0)
        status = strips_write(&w->writer, dir, &out, img, err);
    row_sink_close(&sink);
    if (status == 0)
        set_shape(dir, &out);
    return status;
}

/* Returns whether a picture is a smaller version of the one that leads to it.
 */
static bool is_thumbnail(const struct directory *dir)
{
    return dir->tag == TAG_SUB_IFDS &&
           directory_number(dir, TAG_SUBFILE, 0, 0) & 1 && !is_old_jpeg(dir);
}

static int turn_picture(struct tiff_turning *w, struct directory *dir,
                        struct err *err)
{
    const struct save_opts *save = w->opts->save;
    struct tiff_strips in;
    struct image img = { 0 };
    int status = tags_check(dir, w->pages, save->warnings, err);
    w->read = false;
    if (status == 0 && dir->turn == XFORM_NONE && !is_old_jpeg(dir) &&
        (directory_find(dir, TAG_STRIP_SIZES) ||
         directory_find(dir, TAG_TILE_SIZES))) {
        status = copy_parts(w, dir, err);
    } else if (status == 0) {
        status = strips_open(&in, &img, &w->all, dir, err);
        if (status == 0)
            status = turn_samples(w, &in, &img, dir, err);
        image_free(&img);
        if (status && !w->read && is_thumbnail(dir) && !err->memory &&
            !err->unread) {
            warn(save->warnings, "a thumbnail within it stays as it was: %s",
                 err->text);
            dir->turn = XFORM_NONE;
            status = copy_parts(w, dir, err);
        }
    }
    return status ? -1 : tags_turn(dir, save, err);
}

/* ---- The file ---------------------------------------------------------- */

/* Reads all pictures, and makes nothing of them. */
static int read_all(const struct directories *all, struct err *err)
{
    for (struct directory *dir = all->first; dir; dir = dir->then) {
        struct tiff_strips in;
        struct image img = { 0 };
        if (directory_is_picture(dir) &&
            (strips_open(&in, &img, all, dir, err) ||
             strips_read(&in, NULL, err)))
            return -1;
    }
    return 0;
}

/* Leaves out a thumbnail that is a JPEG file beside the samples, or all that a
 * directory has. */
static void drop_thumbnail(struct tiff_turning *w, struct directory *dir)
{
    if (!directory_find(dir, TAG_JPEG_FILE))
        return;
    if (w->thumbnails++ == 0)
        warn(w->opts->save->warnings, "a thumbnail that is a JPEG file beside "
                                      "the pictures is not kept");
    remove_jpeg_file(dir);
    if (!directory_is_picture(dir)) /* it may have nothing else */
        directory_set_number(dir, TAG_SUBFILE, 1);
}

/* Writes each page behind the samples of all that it leads to. */
static int write_file(struct tiff_turning *w, struct err *err)
{
    struct directory *page = w->all.first;
    tiff_writer_begin(&w->writer);
    for (struct directory *dir = page; dir; dir = dir->then) {
        if (directory_is_picture(dir) && turn_picture(w, dir, err))
            return -1;
        drop_thumbnail(w, dir);
        if (!dir->then || !dir->then->tag) {
            tiff_writer_directory(&w->writer, page);
            page = dir->then;
        }
        if (w->writer.failed)
            return -1;
    }
    return 0;
}

int tiff_turn(struct bytes *out, struct image *img, struct bytes file,
              enum xform t, const struct load_opts *opts, struct err *err)
{
    const struct save_opts *save = opts->save;
    struct tiff_turning w = { .all = { .file = file, .opts = opts },
                              .opts = opts };
    int status = directories_read(&w.all, err);
    const struct directory *first = directories_picture(&w.all);
    if (status == 0)
        status = first ? plan(&w, t, err) : fail(err, "it has no picture");
    if (status == 0) {
        const bool flip = xform_transposes(first->turn);
        const unsigned width = flip ? TAG_HEIGHT : TAG_WIDTH,
                       height = flip ? TAG_WIDTH : TAG_HEIGHT;
        img->width = (uint32_t)directory_number(first, width, 0, 0);
        img->height = (uint32_t)directory_number(first, height, 0, 0);
        img->orientation =
            opts->as_stored
                ? (unsigned)directory_number(first, TAG_ORIENTATION, 0, 1)
                : 1;
    }
    if (status == 0 && !opts->turner)
        status = read_all(&w.all, err);
    else if (status == 0 && (w.changes || save->strip || save->drop)) {
        w.writer =
            (struct tiff_writer){ .form = w.all.form, .out = out, .err = err };
        status = write_file(&w, err);
    }
    directories_free(&w.all);
    return status;
}
