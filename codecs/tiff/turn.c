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
    bool read; /* the samples of the picture at hand */
    /* Of these there was one, of which a warning has told. */
    bool jpeg, webp, shown, thumbnail;
};

/* Chooses the turn of each picture. A smaller version or a mask without a tag
 * lies as its picture does. */
static int plan(struct tiff_turning *w, enum xform t, struct err *err)
{
    enum { SMALLER = 1, MASK = 4 };
    const bool as_stored = w->opts->save && !w->opts->save->orientation;
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
    struct tiff_writer *to = &w->writer;
    struct directory_parts was, is;
    if (directory_parts_find(&was, &w->all, dir, err) ||
        directory_parts_make(&is, dir, directory_is_tiled(dir), was.count, err))
        return -1;
    for (uint64_t i = 0; i < was.count && !to->failed; i++) {
        const uint64_t size = directory_part(&was, PART_SIZE, i);
        directory_part_set(&is, PART_AT, i, tiff_writer_at(to));
        directory_part_set(&is, PART_SIZE, i, size);
        tiff_writer_append(to,
                           w->all.file.data + directory_part(&was, PART_AT, i),
                           (size_t)size);
    }
    return to->failed;
}

/* Chooses the parts of the turned picture. Tiles are turned; strips keep their
 * bytes where rows become columns, so that as many as before make it up. */
static void turn_cut(struct tiff_strips *s, uint64_t rows, enum xform t)
{
    struct coding *c = &s->coding;
    struct cut *cut = &s->cut;
    const struct cut was = *cut;
    if (xform_transposes(t)) {
        const unsigned sub_x = c->sub_x;
        c->sub_x = c->sub_y;
        c->sub_y = sub_x;
        cut->width = was.height;
        cut->height = was.width;
        cut->chunk_width = was.chunk_height;
        cut->chunk_height = was.chunk_width;
    }
    if (cut->tiled)
        return;
    const uint32_t multiple = c->compression == CODED_JPEG ? 8 * c->sub_y : 1;
    if (s->shown && rows >= was.height)
        rows = strips_usual_rows((uint64_t)cut->width * c->samples);
    else if (rows >= was.height)
        rows = cut->height;
    else if (xform_transposes(t))
        rows = (rows * was.width + was.height / 2) / was.height;
    rows = (rows + multiple - 1) / multiple * multiple;
    rows = rows ? rows : 1;
    cut->chunk_height = rows < cut->height ? (uint32_t)rows : cut->height;
}

/* Says once what is lost where samples are encoded anew, which --lossless
 * refuses. */
static int note_loss(struct tiff_turning *w, struct tiff_strips *s,
                     struct err *err)
{
    const struct save_opts *save = w->opts->save;
    const struct {
        bool is;
        bool *told;
        const char *refused, *warning;
    } losses[] = {
        { s->shown, &w->shown,
          "its subsampled YCbCr, or JPEG in the old style, would be stored as "
          "RGB",
          "subsampled YCbCr, or JPEG in the old style, is stored as RGB by "
          "Deflate, which takes more bytes" },
        { s->coding.compression == CODED_WEBP && s->coding.samples == 4,
          &w->webp,
          "its samples are coded as WebP, and would lose the colors of "
          "transparent pixels",
          "WebP in a TIFF keeps no colors of pixels that are transparent" },
        { s->coding.compression == CODED_JPEG, &w->jpeg,
          "its samples are coded as JPEG, and would be encoded anew with loss",
          "JPEG in a TIFF is encoded anew, with loss; --lossless refuses" },
    };
    s->quality = save->quality ? (unsigned)save->quality : 90;
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        if (!losses[i].is)
            continue;
        if (save->lossless)
            return fail(err, "%s; --lossless refuses", losses[i].refused);
        if (losses[i].told != &w->webp)
            *save->encoded_anew = true;
        if (!*losses[i].told)
            warn(save->warnings, "%s", losses[i].warning);
        *losses[i].told = true;
    }
    return 0;
}

static int turn_samples(struct tiff_turning *w, struct directory *dir,
                        struct err *err)
{
    /* The order of bits, and those of JPEG in the old style, and of YCbCr. */
    static const uint16_t of_coding[] = { 266, 512, 513, 514, 515, 517, 518,
                                          519, 520, 521, 529, 530, 531, 532 };
    const struct load_opts *opts = w->opts;
    const uint64_t rows =
        directory_number(dir, TAG_ROWS_PER_STRIP, 0, UINT32_MAX);
    struct tiff_strips in, out;
    struct image img = { 0 };
    int status = strips_open(&in, &img, &w->all, dir, err);
    if (status == 0) {
        out = in;
        turn_cut(&out, rows, dir->turn);
        w->read =
            strips_measure(&out, err) == 0 &&
            strips_read(&in, &img, dir->turn, opts->save->turner, err) == 0;
        status = w->read ? note_loss(w, &out, err) : -1;
    }
    if (status == 0 &&
        (image_has_bands(&img) ||
         (opts->limits.scratch && img.pixels.rows.size >= FLUSHED)))
        w->writer.flush = opts->flush;
    if (status == 0)
        status = strips_write(&w->writer, dir, &out, &img, err);
    image_free(&img);
    if (status)
        return -1;
    /* Makes the tags say how it lies in the file. */
    const struct cut *cut = &out.cut;
    const uint64_t sub[2] = { out.coding.sub_x, out.coding.sub_y };
    if (!cut->tiled && (out.shown || (directory_find(dir, TAG_ROWS_PER_STRIP) &&
                                      (cut->down > 1 || rows < cut->height))))
        directory_set_number(dir, TAG_ROWS_PER_STRIP, cut->chunk_height);
    if (out.coding.photometric == MEANS_YCC &&
        (xform_transposes(dir->turn) ||
         directory_number(dir, TAG_SUBSAMPLING, 0, 2) != sub[0] ||
         directory_number(dir, TAG_SUBSAMPLING, 1, 2) != sub[1]))
        directory_set_numbers(dir, TAG_SUBSAMPLING, FIELD_SHORT, sub, 2);
    directory_remove(dir, TAG_JPEG_TABLES);
    if (out.shown) {
        tags_set_coding(dir, &out.coding);
        for (size_t i = 0; i < sizeof of_coding / sizeof *of_coding; i++)
            directory_remove(dir, of_coding[i]);
    }
    return 0;
}

/* A smaller version that cannot be read stays as it was. */
static int turn_picture(struct tiff_turning *w, struct directory *dir,
                        struct err *err)
{
    const struct save_opts *save = w->opts->save;
    const bool old = directory_number(dir, TAG_COMPRESSION, 0, 1) ==
                     CODED_OLD_JPEG,
               smaller = dir->tag == TAG_SUB_IFDS &&
                         directory_number(dir, TAG_SUBFILE, 0, 0) & 1 && !old;
    if (tags_check(dir, w->pages, save, err))
        return -1;
    w->read = false;
    int status = dir->turn == XFORM_NONE && !old &&
                         (directory_find(dir, TAG_STRIP_SIZES) ||
                          directory_find(dir, TAG_TILE_SIZES))
                     ? copy_parts(w, dir, err)
                     : turn_samples(w, dir, err);
    if (status && !w->read && smaller && dir->turn != XFORM_NONE &&
        !err->memory && !err->unread) {
        warn(save->warnings, "a thumbnail within it stays as it was: %s",
             err->text);
        dir->turn = XFORM_NONE;
        status = copy_parts(w, dir, err);
    }
    return status ? -1 : tags_turn(dir, save, err);
}

/* ---- The file ---------------------------------------------------------- */

/* Writes each page behind the samples of all that it leads to. */
static int write_file(struct tiff_turning *w, struct err *err)
{
    struct directory *page = w->all.first;
    tiff_writer_begin(&w->writer);
    for (struct directory *dir = page; dir; dir = dir->then) {
        /* A thumbnail that is a JPEG file beside the samples, or all that a
         * directory has. */
        const bool picture = directory_is_picture(dir);
        if (directory_find(dir, TAG_JPEG_FILE) &&
            !(picture &&
              directory_number(dir, TAG_COMPRESSION, 0, 1) == CODED_OLD_JPEG)) {
            if (!w->thumbnail)
                warn(w->opts->save->warnings,
                     "a thumbnail that is a JPEG file beside the pictures is "
                     "not kept");
            w->thumbnail = true;
            directory_remove(dir, TAG_JPEG_FILE);
            directory_remove(dir, TAG_JPEG_SIZE);
            if (!picture) /* it may have nothing else */
                directory_set_number(dir, TAG_SUBFILE, 1);
        }
        if (picture && turn_picture(w, dir, err))
            return -1;
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
    struct directory *dir = directories_picture(&w.all);
    if (status == 0)
        status = dir ? plan(&w, t, err) : fail(err, "it has no picture");
    if (status == 0) {
        const bool flip = xform_transposes(dir->turn);
        img->width = (uint32_t)directory_number(
            dir, flip ? TAG_HEIGHT : TAG_WIDTH, 0, 0);
        img->height = (uint32_t)directory_number(
            dir, flip ? TAG_WIDTH : TAG_HEIGHT, 0, 0);
        img->orientation =
            save && !save->orientation
                ? (unsigned)directory_number(dir, TAG_ORIENTATION, 0, 1)
                : 1;
    }
    /* Without `save` all pictures are read, and nothing is made of them. */
    for (dir = w.all.first; dir && status == 0 && !save; dir = dir->then) {
        struct tiff_strips in;
        struct image kind = { 0 };
        if (directory_is_picture(dir))
            status = strips_open(&in, &kind, &w.all, dir, err) ||
                     strips_read(&in, NULL, XFORM_NONE, NULL, err);
    }
    if (status == 0 && save && (w.changes || save->strip || save->drop)) {
        w.writer =
            (struct tiff_writer){ .form = w.all.form, .out = out, .err = err };
        status = write_file(&w, err);
    }
    directories_free(&w.all);
    return status ? -1 : 0;
}
