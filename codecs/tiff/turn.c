/* All pictures of a TIFF file, turned each by its own tag. */
#include "codecs/tiff/turn.h"

#include <string.h>

#include "codecs/base/memory.h"

/* Samples that are more than this go to a file while they are coded: to copy
 * what was made of them takes longer. */
enum { FLUSHED = 16 << 20 };

struct tiff_turning {
    struct directories *all;
    struct tiff_writer writer;
    const struct load_opts *opts;
    enum xform t;
    uint64_t pages, pictures;
    bool changes;
    unsigned lossy; /* pictures that are encoded anew with loss */
};

static struct tiff_turn turn_of(const struct tiff_turning *w,
                                const struct directory *dir)
{
    const struct tiff_form form = w->all->form;
    return (struct tiff_turn){
        .form = form,
        .t = dir->turn,
        .width = (uint32_t)directory_number(form, dir, TAG_WIDTH, 0, 0),
        .height = (uint32_t)directory_number(form, dir, TAG_HEIGHT, 0, 0),
        .samples = (unsigned)directory_number(form, dir, TAG_SAMPLES, 0, 1),
        .separate = directory_number(form, dir, TAG_PLANAR, 0, 1) == 2,
        .save = w->opts->save,
    };
}

/* ---- Which turn -------------------------------------------------------- */

/* A smaller version or a mask without a tag lies as its picture does. */
static int plan(struct tiff_turning *w, struct directory *dir, enum xform turn,
                unsigned depth, struct err *err)
{
    enum { SMALLER = 1, MASK = 4 };
    const struct tiff_form form = w->all->form;
    for (; dir; dir = dir->next) {
        const uint64_t tag = directory_number(form, dir, TAG_ORIENTATION, 0, 0);
        const bool alone =
            depth == 0 && !(directory_number(form, dir, TAG_SUBFILE, 0, 0) &
                            (SMALLER | MASK));
        const bool known = tag >= 1 && tag <= 8;
        if (directory_is_picture(dir)) {
            if (w->opts->as_stored)
                turn = w->t;
            else if (known || alone)
                turn = xform_then(xform_from_exif(known ? (unsigned)tag : 1),
                                  w->t);
            dir->turn = turn;
            w->pictures++;
            w->changes = w->changes || turn != XFORM_NONE ||
                         (!w->opts->as_stored && known && tag != 1);
        } else if (directory_find(dir, TAG_STRIP_OFFSETS) ||
                   directory_find(dir, TAG_TILE_OFFSETS))
            return fail(err, "one of its pictures has no size");
        w->pages += depth == 0;
        for (size_t i = 0; i < dir->nfields; i++)
            for (struct directory *child = dir->field[i].child; child;
                 child = child->sibling)
                if (plan(w, child, turn, depth + 1, err))
                    return -1;
    }
    return 0;
}

/* ---- One picture ------------------------------------------------------- */

/* Sets where the parts of a picture are, and their sizes. */
static int set_parts(struct tiff_turning *w, struct directory *dir,
                     const struct parts *parts, bool tiled, struct err *err)
{
    const unsigned type = w->all->form.big ? FIELD_LONG8 : FIELD_LONG;
    struct field at = { .tag = tiled ? TAG_TILE_OFFSETS : TAG_STRIP_OFFSETS,
                        .type = (uint16_t)type,
                        .count = parts->count };
    struct field size = at;
    size.tag = tiled ? TAG_TILE_SIZES : TAG_STRIP_SIZES;
    return directory_set_numbers(w->all->form, dir, &at, parts->at, err) ||
                   directory_set_numbers(w->all->form, dir, &size, parts->size,
                                         err)
               ? -1
               : 0;
}

/* Copies the parts of a picture that is not turned. */
static int copy_parts(struct tiff_turning *w, struct directory *dir,
                      struct err *err)
{
    const bool tiled = directory_find(dir, TAG_TILE_OFFSETS) != NULL;
    const unsigned at = tiled ? TAG_TILE_OFFSETS : TAG_STRIP_OFFSETS;
    const unsigned size =
        directory_find(dir, TAG_TILE_SIZES) ? TAG_TILE_SIZES : TAG_STRIP_SIZES;
    const struct bytes file = w->all->file;
    struct parts parts = { .count = directory_find(dir, at)->count };
    parts.at = memory_alloc((size_t)parts.count * 8 + 1);
    parts.size = memory_alloc((size_t)parts.count * 8 + 1);
    int status = parts.at && parts.size
                     ? 0
                     : fail_memory(err, "no memory for strips or tiles");
    for (uint64_t i = 0; i < parts.count && status == 0; i++) {
        const uint64_t from = directory_number(w->all->form, dir, at, i, 0),
                       n = directory_number(w->all->form, dir, size, i, 0);
        parts.at[i] = tiff_writer_at(&w->writer);
        parts.size[i] = n;
        if (from > file.size || n > file.size - from)
            status = fail(err, "a strip or tile is not in the file");
        else
            status = tiff_writer_append(&w->writer, file.data + from, (size_t)n,
                                        err);
    }
    if (status == 0)
        status = set_parts(w, dir, &parts, tiled, err);
    memory_free(parts.at);
    memory_free(parts.size);
    return status;
}

/* Chooses the parts of the turned picture. Tiles are turned; strips keep their
 * bytes where rows become columns, so that as many as before make it up. */
static void turn_cut(struct tiff_strips *s, const struct tiff_strips *was,
                     uint64_t rows, enum xform t)
{
    const struct coding *c = &was->coding;
    struct cut *cut = &s->cut, from = was->cut;
    const bool flip = xform_transposes(t);
    const uint32_t multiple = c->compression == CODED_JPEG ? 8 * c->sub_y : 1;
    if (was->spread) {
        from.width = was->width;
        from.height = was->height;
        from.chunk_width *= c->sub_x;
        from.chunk_height *= c->sub_y;
    } else if (strips_have_blocks(c)) {
        rows = (rows + c->sub_y - 1) / c->sub_y;
    }
    cut->width = flip ? from.height : from.width;
    cut->height = flip ? from.width : from.height;
    s->width = flip ? was->height : was->width;
    s->height = flip ? was->width : was->height;
    cut->chunk_width = flip ? from.chunk_height : from.chunk_width;
    cut->chunk_height = flip ? from.chunk_width : from.chunk_height;
    if (cut->tiled)
        return;
    if (rows >= from.height)
        rows = cut->height;
    else if (flip)
        rows = (rows * from.width + from.height / 2) / from.height;
    rows = (rows + multiple - 1) / multiple * multiple;
    rows = rows ? rows : 1;
    cut->chunk_height = rows < cut->height ? (uint32_t)rows : cut->height;
}

/* Makes the tags of a turned picture say how it lies in the file. */
static int set_shape(struct tiff_turning *w, struct directory *dir,
                     const struct tiff_strips *s, struct err *err)
{
    const struct tiff_form form = w->all->form;
    const struct coding *c = &s->coding;
    const bool blocks = strips_have_blocks(c);
    const uint64_t sub[2] = { c->sub_x, c->sub_y };
    const struct field subsampling = { .tag = TAG_SUBSAMPLING,
                                       .type = FIELD_SHORT,
                                       .count = 2 };
    const uint32_t rows = s->cut.chunk_height * (blocks ? c->sub_y : 1);
    if (xform_transposes(dir->turn)) {
        directory_exchange(dir, TAG_WIDTH, TAG_HEIGHT);
        directory_exchange(dir, TAG_TILE_WIDTH, TAG_TILE_HEIGHT);
    }
    if (!s->cut.tiled && directory_find(dir, TAG_ROWS_PER_STRIP) &&
        (s->cut.down > 1 ||
         directory_number(form, dir, TAG_ROWS_PER_STRIP, 0, 0) < s->height) &&
        directory_set_number(form, dir, TAG_ROWS_PER_STRIP, rows, err))
        return -1;
    if (c->photometric == MEANS_YCC &&
        (xform_transposes(dir->turn) ||
         (directory_find(dir, TAG_SUBSAMPLING) && c->sub_x * c->sub_y == 1)) &&
        directory_set_numbers(form, dir, &subsampling, sub, err))
        return -1;
    directory_remove(dir, TAG_JPEG_TABLES);
    return 0;
}

/* Says what is lost where samples are encoded anew, which the options may
 * refuse. */
static int note_loss(struct tiff_turning *w, struct tiff_strips *s,
                     struct err *err)
{
    const struct save_opts *save = w->opts->save;
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
    struct parts parts = { 0 };
    if (in->spread) {
        out.coding.sub_x = out.coding.sub_y = 1;
        out.spread = false;
    } else if (xform_transposes(dir->turn)) {
        out.coding.sub_x = in->coding.sub_y;
        out.coding.sub_y = in->coding.sub_x;
    }
    const uint64_t rows =
        directory_number(w->all->form, dir, TAG_ROWS_PER_STRIP, 0, UINT32_MAX);
    turn_cut(&out, in, rows, dir->turn);
    int status = strips_measure(&out, err) || note_loss(w, &out, err) ||
                         row_sink_open(&sink, img, &how, err)
                     ? -1
                     : strips_read(in, &sink, err);
    if (status == 0) {
        if (image_has_bands(img) ||
            (opts->limits.scratch && img->pixels.rows.size >= FLUSHED))
            w->writer.flush = opts->flush;
        status = strips_write(&w->writer, &parts, &out, img, err);
    }
    row_sink_close(&sink);
    if (status == 0)
        status = set_shape(w, dir, &out, err);
    if (status == 0)
        status = set_parts(w, dir, &parts, out.cut.tiled, err);
    memory_free(parts.at);
    memory_free(parts.size);
    return status;
}

/* Chroma that is subsampled stays so, unless an axis that runs backwards is not
 * whole blocks: then each pixel gets the sample that it was shown with. */
static void choose_blocks(struct tiff_strips *in, struct image *img,
                          enum xform t)
{
    const struct coding *c = &in->coding;
    if (!strips_have_blocks(c))
        return;
    if ((xform_reverses_x(t) && in->width % c->sub_x) ||
        (xform_reverses_y(t) && in->height % c->sub_y)) {
        in->spread = true;
        img->width = in->width;
        img->height = in->height;
        img->nplanes = 3;
    } else {
        strips_turn_blocks(in, t);
    }
}

static int turn_picture(struct tiff_turning *w, struct directory *dir,
                        struct err *err)
{
    struct tiff_turn turn = turn_of(w, dir);
    struct tiff_strips in;
    struct image img = { 0 };
    if (tags_check(&turn, dir, w->pages, err))
        return -1;
    if (dir->turn == XFORM_NONE &&
        directory_number(w->all->form, dir, TAG_COMPRESSION, 0, 1) !=
            CODED_OLD_JPEG &&
        (directory_find(dir, TAG_STRIP_SIZES) ||
         directory_find(dir, TAG_TILE_SIZES))) {
        return copy_parts(w, dir, err) || tags_turn(&turn, dir, err) ? -1 : 0;
    }
    if (strips_open(&in, &img, w->all, dir, err))
        return -1;
    choose_blocks(&in, &img, dir->turn);
    int status = turn_samples(w, &in, &img, dir, err);
    image_free(&img);
    return status ? -1 : tags_turn(&turn, dir, err);
}

/* Turns the pictures of a chain of directories, and of those that they lead
 * to. */
static int turn_all(struct tiff_turning *w, struct directory *dir, bool chain,
                    struct err *err)
{
    for (; dir; dir = dir->next) {
        if (directory_is_picture(dir) && turn_picture(w, dir, err))
            return -1;
        for (size_t i = 0; i < dir->nfields; i++)
            for (struct directory *child = dir->field[i].child; child;
                 child = child->sibling)
                if (turn_all(w, child, false, err))
                    return -1;
        if (chain && tiff_writer_directory(&w->writer, dir, err))
            return -1;
    }
    return 0;
}

/* ---- The file ---------------------------------------------------------- */

/* Reads the pictures of a chain, and makes nothing of them. */
static int read_all(struct directories *all, const struct directory *dir,
                    struct err *err)
{
    int status = 0;
    for (; dir && status == 0; dir = dir->next) {
        struct tiff_strips in;
        struct image img = { 0 };
        if (directory_is_picture(dir))
            status = strips_open(&in, &img, all, dir, err) ||
                             strips_read(&in, NULL, err)
                         ? -1
                         : 0;
        for (size_t i = 0; i < dir->nfields && status == 0; i++)
            for (struct directory *child = dir->field[i].child;
                 child && status == 0; child = child->sibling)
                status = read_all(all, child, err);
    }
    return status;
}

static int write_file(struct tiff_turning *w, struct err *err)
{
    return tiff_writer_begin(&w->writer, err) ||
                   turn_all(w, w->all->first, true, err)
               ? -1
               : 0;
}

static const struct directory *first_picture(const struct directory *dir)
{
    while (dir && !directory_is_picture(dir))
        dir = dir->next;
    return dir;
}

int tiff_turn(struct bytes *out, struct image *img, struct bytes file,
              enum xform t, const struct load_opts *opts, struct err *err)
{
    struct directories all;
    const struct save_opts *save = opts->save;
    struct tiff_turning w = { .all = &all, .opts = opts, .t = t };
    int status = directories_read(&all, file, opts, err);
    const struct directory *first = first_picture(all.first);
    if (status == 0)
        status = first ? plan(&w, all.first, t, 0, err)
                       : fail(err, "it has no picture");
    if (status == 0) {
        const struct tiff_turn turn = turn_of(&w, first);
        const bool flip = xform_transposes(first->turn);
        img->width = flip ? turn.height : turn.width;
        img->height = flip ? turn.width : turn.height;
        img->orientation =
            opts->as_stored ? (unsigned)directory_number(all.form, first,
                                                         TAG_ORIENTATION, 0, 1)
                            : 1;
    }
    if (status == 0 && !opts->turner)
        status = read_all(&all, all.first, err);
    else if (status == 0 && (w.changes || save->strip || save->drop)) {
        w.writer = (struct tiff_writer){ .form = all.form, .out = out };
        status = write_file(&w, err);
    }
    directories_free(&all);
    return status;
}
