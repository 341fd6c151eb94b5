/* The pictures behind the first one in a JPEG file, turned. */
#include "codecs/metadata/blocks.h"

#include <string.h>

#include "codecs/metadata/tiff.h"

struct trailer {
    struct turned *turned;
    struct metadata_block *list;  /* the first MPF; NULL: there is none */
    struct bytes body;            /* of it */
    struct mpf mpf;               /* empty if there is no list */
    struct metadata_block *block; /* the trailer; NULL: there is none */
    size_t begin;                 /* where it begins, as MPF counts */
};

/* Appends the picture to `made`, turned, or as it was. It may be as large as
 * the first one. What there is to warn of is said with its number in the file,
 * from 2 on. */
static int add_turned(struct bytes *made, const struct turned *t,
                      struct bytes file, size_t number, bool preview,
                      struct err *err)
{
    enum { BYTES_MIN = 1 << 26, BYTES_A_PIXEL = 16 };
    const struct image *img = t->img;
    const struct save_opts *opts = t->opts;
    uint64_t pixels = (uint64_t)img->width * img->height;
    if (pixels < PIXELS_MIN)
        pixels = PIXELS_MIN;
    struct embedded_jpeg inner = {
        .outer = img,
        .limits = { .pixels = pixels,
                    .bytes = pixels * BYTES_A_PIXEL + BYTES_MIN },
        .fit = preview ? FIT_SIDE : FIT_SHAPE,
        .view = true,
    };
    struct warnings said = { 0 };
    struct save_opts save = *opts;
    struct err why = { .text = "" };
    struct bytes turned = { 0 };
    save.inner = true;
    save.suffix = "jpg";
    save.warnings = &said;
    bool done = embedded_jpeg_turn(&turned, file, &inner, &save, &why) == 0;
    if (inner.refused || why.memory) {
        bytes_free(&turned);
        return fail_with(err, &why, "picture %zu in the file: %s", number,
                         why.text);
    }
    for (unsigned i = 0; done && i < said.count && i < WARNINGS_MAX; i++)
        warn(opts->warnings, "picture %zu in the file: %s", number,
             said.list[i].text);
    if (!done)
        warn(opts->warnings,
             "picture %zu in the file is kept as it was, not "
             "turned%s: %s",
             number, opts->drop ? ", and with all its metadata" : "", why.text);
    const struct bytes *from = done ? &turned : &file;
    bool kept = bytes_append(made, from->data, from->size);
    bytes_free(&turned);
    return kept ? 0 : fail_memory(err, "no memory for picture %zu", number);
}

/* Finds picture i of the list in the trailer. Returns false if it is not
 * there. */
static bool find(const struct trailer *trailer, size_t i, struct bytes *file)
{
    const struct mpf_entry entry = mpf_get(&trailer->mpf, i);
    const size_t at = entry.offset - trailer->begin;
    if (!trailer->block || entry.offset < trailer->begin ||
        at > trailer->block->size || entry.size > trailer->block->size - at)
        return false;
    *file = (struct bytes){ trailer->block->data + at, entry.size, 0 };
    return true;
}

static bool is_jpeg(struct bytes file)
{
    return file.size >= 4 && memcmp(file.data, "\xff\xd8\xff", 3) == 0;
}

/* Makes the trailer and the list anew: what is listed stands in the order of
 * the list. */
static int turn_pictures(struct trailer *trailer, struct err *err)
{
    static const char full[] = "no memory for what stands behind the picture";
    struct turned *t = trailer->turned;
    const uint8_t *done = trailer->block->data,
                  *end = done + trailer->block->size;
    struct bytes made = { 0 }, file;
    int status = 0;
    for (size_t i = 1; i < trailer->mpf.count && status == 0; i++) {
        struct mpf_entry entry = mpf_get(&trailer->mpf, i);
        if (!find(trailer, i, &file))
            continue;
        const bool turns = is_jpeg(file) && t->lengths.count < LENGTHS_MAX;
        if (!bytes_append(&made, done, (size_t)(file.data - done))) {
            status = fail_memory(err, full);
            break;
        }
        const size_t to = made.size;
        if (turns)
            status = add_turned(&made, t, file, i + 1, entry.preview, err);
        else if (!bytes_append(&made, file.data, file.size))
            status = fail_memory(err, full);
        if (turns)
            t->lengths.list[t->lengths.count++] =
                (struct length){ file.size, made.size - to };
        entry.offset = (uint32_t)(trailer->begin + to);
        entry.size = (uint32_t)(made.size - to);
        mpf_put(&trailer->mpf, trailer->body.data, i, entry);
        done = file.data + file.size;
    }
    if (status == 0 && !bytes_append(&made, done, (size_t)(end - done)))
        status = fail_memory(err, full);
    if (status == 0 && (t->format->close(trailer->block, &made, err) ||
                        t->format->close(trailer->list, &trailer->body, err)))
        status = -1;
    bytes_free(&made);
    return status;
}

/* Turns the pictures, unless they overlap or stand in another order than that
 * of the list. */
int trailing_pictures_turn(struct turned *t, struct err *err)
{
    struct meta *meta = t->img->meta;
    struct trailer trailer = { .turned = t, .begin = meta->mpf_trailer };
    struct warnings *warnings = t->opts->warnings;
    const uint8_t *end = NULL; /* of the picture before */
    size_t lost = 0, pictures = 0;
    bool overlap = false;
    struct bytes file;
    const struct save_opts *opts = t->opts;
    bool tagged = opts->orientation && opts->orientation != t->img->orientation;
    if (opts->inner || (t->img->turned == XFORM_NONE && !tagged && !opts->drop))
        return 0;
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        if (block->dropped)
            continue;
        if (block->kind == BLOCK_MPF && !trailer.list)
            trailer.list = block;
        if (block->kind == BLOCK_TRAILER)
            trailer.block = block;
    }
    if (!trailer.list || !trailer.begin)
        return 0;
    if (block_open(&trailer.body, trailer.list, t->format, meta->account, err))
        return -1;
    mpf_open(&trailer.mpf, trailer.body.data, trailer.body.size);
    for (size_t i = 1; i < trailer.mpf.count; i++) {
        if (!find(&trailer, i, &file)) {
            lost++;
            continue;
        }
        overlap = overlap || (end && file.data < end);
        pictures += is_jpeg(file);
        end = file.data + file.size;
    }
    if (lost)
        warn(warnings,
             "%zu of the pictures that MPF lists are not where it says", lost);
    if (pictures > LENGTHS_MAX)
        warn(warnings,
             "%zu more pictures behind the first one are kept as they were, "
             "not turned",
             pictures - LENGTHS_MAX);
    if (pictures && overlap)
        warn(warnings, "the pictures behind the first one overlap, or are "
                       "not in order, so they were not turned");
    const int status = pictures && !overlap ? turn_pictures(&trailer, err) : 0;
    bytes_free(&trailer.body);
    return status;
}
