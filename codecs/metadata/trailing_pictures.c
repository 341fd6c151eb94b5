/* The pictures behind the first one in a JPEG file, turned. */
#include "codecs/metadata/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/base/account.h"
#include "codecs/metadata/tiff.h"

/* One picture in the trailer. */
struct inlay {
    size_t number;   /* in the file, from 2 on, for people */
    size_t at, size; /* as they were */
    size_t to;       /* where it comes to stand */
    size_t made;     /* the size that it has then */
    bool preview;
};

/* A file may hold more; they stay as they are. */
enum { INLAYS_MAX = LENGTHS_MAX };

struct trailer {
    struct turned *turned;
    struct metadata_block *list;  /* the first MPF; NULL: there is none */
    struct bytes body;            /* of it */
    struct mpf mpf;               /* empty if there is no list */
    struct metadata_block *block; /* the trailer; NULL: there is none */
    size_t begin;                 /* where it begins, as MPF counts */
    struct inlay inlay[INLAYS_MAX];
    size_t count;
    size_t more; /* that there was no room for */
};

/* ---- Finding --------------------------------------------------------------*/

static void add_inlay(struct trailer *trailer, struct inlay inlay)
{
    const uint8_t *data = trailer->block->data + inlay.at;
    if (inlay.size < 4 || memcmp(data, "\xff\xd8\xff", 3) != 0)
        return;
    for (size_t i = 0; i < trailer->count; i++)
        if (trailer->inlay[i].at == inlay.at &&
            trailer->inlay[i].size == inlay.size)
            return; /* listed twice */
    if (trailer->count < INLAYS_MAX)
        trailer->inlay[trailer->count++] = inlay;
    else
        trailer->more++;
}

/* Counts that an entry of the list is compared with all pictures. */
static bool look(const struct trailer *trailer)
{
    return account_look((trailer->count + 1) * sizeof *trailer->inlay);
}

static int compare_inlays(const void *a, const void *b)
{
    const struct inlay *left = a, *right = b;
    return (left->at > right->at) - (left->at < right->at);
}

/* Sorts the pictures by where they are. Returns false if any overlap, so that
 * none of them can be rewritten. */
static bool sort_inlays(struct trailer *trailer)
{
    struct inlay *inlay = trailer->inlay;
    qsort(inlay, trailer->count, sizeof *inlay, compare_inlays);
    for (size_t i = 1; i < trailer->count; i++)
        if (inlay[i].at - inlay[i - 1].at < inlay[i - 1].size)
            return false;
    return true;
}

/* ---- The turn -------------------------------------------------------------*/

/* Appends the picture to `made`, turned, or as it was. It may be as large as
 * the first one. What there is to warn of is said with its number. */
static int add_turned(struct bytes *made, const struct trailer *trailer,
                      struct inlay *inlay, struct err *err)
{
    enum { BYTES_MIN = 1 << 26, BYTES_A_PIXEL = 16 };
    const struct image *img = trailer->turned->img;
    const struct save_opts *opts = trailer->turned->opts;
    uint64_t pixels = (uint64_t)img->width * img->height;
    if (pixels < PIXELS_MIN)
        pixels = PIXELS_MIN;
    struct embedded_jpeg inner = {
        .outer = img,
        .limits = { .pixels = pixels,
                    .bytes = pixels * BYTES_A_PIXEL + BYTES_MIN },
        .fit = inlay->preview ? FIT_SIDE : FIT_SHAPE,
        .view = true,
    };
    struct warnings said = { 0 };
    struct save_opts save = *opts;
    struct err why = { .text = "" };
    struct bytes file = { .data = trailer->block->data + inlay->at,
                          .size = inlay->size };
    struct bytes turned = { 0 };
    save.inner = true;
    save.suffix = "jpg";
    save.warnings = &said;
    bool done = embedded_jpeg_turn(&turned, file, &inner, &save, &why) == 0;
    if (inner.refused || why.memory) {
        bytes_free(&turned);
        return fail_with(err, &why, "picture %zu in the file: %s",
                         inlay->number, why.text);
    }
    for (unsigned i = 0; done && i < said.count && i < WARNINGS_MAX; i++)
        warn(opts->warnings, "picture %zu in the file: %s", inlay->number,
             said.list[i].text);
    if (!done)
        warn(opts->warnings,
             "picture %zu in the file is kept as it was, not "
             "turned%s: %s",
             inlay->number, opts->drop ? ", and with all its metadata" : "",
             why.text);
    const struct bytes *from = done ? &turned : &file;
    inlay->to = made->size;
    inlay->made = from->size;
    bool kept = bytes_append(made, from->data, from->size);
    bytes_free(&turned);
    return kept ? 0
                : fail_memory(err, "no memory for picture %zu", inlay->number);
}

/* Where what stood at `at` in the trailer stands now. */
static size_t moved(const struct trailer *trailer, size_t at)
{
    size_t to = at;
    for (size_t i = 0; i < trailer->count && trailer->inlay[i].at <= at; i++) {
        const struct inlay *inlay = &trailer->inlay[i];
        to = at == inlay->at
                 ? inlay->to
                 : inlay->to + inlay->made + (at - inlay->at - inlay->size);
    }
    return to;
}

static int turn_inlays(struct trailer *trailer, struct err *err)
{
    static const char no_memory[] =
        "no memory for what stands behind the picture";
    struct lengths *lengths = &trailer->turned->lengths;
    const uint8_t *data = trailer->block->data;
    const size_t size = trailer->block->size;
    struct bytes made = { 0 };
    size_t done = 0;
    int status = 0;
    for (size_t i = 0; i < trailer->count && status == 0; i++) {
        struct inlay *inlay = &trailer->inlay[i];
        status = bytes_append(&made, data + done, inlay->at - done)
                     ? add_turned(&made, trailer, inlay, err)
                     : fail_memory(err, "%s", no_memory);
        done = inlay->at + inlay->size;
        lengths->list[lengths->count++] =
            (struct length){ inlay->size, inlay->made };
    }
    if (status == 0 && !bytes_append(&made, data + done, size - done))
        status = fail_memory(err, "%s", no_memory);
    if (status == 0)
        status = trailer->turned->format->close(trailer->block, &made, err);
    if (status == 0) {
        /* The list in MPF becomes true of the new trailer; the old one had
         * `size` bytes. */
        for (size_t i = 1; i < trailer->mpf.count && look(trailer); i++) {
            struct mpf_entry entry = mpf_get(&trailer->mpf, i);
            if (entry.offset < trailer->begin ||
                entry.offset - trailer->begin > size)
                continue;
            size_t at = entry.offset - trailer->begin;
            for (size_t k = 0; k < trailer->count; k++)
                if (trailer->inlay[k].at == at &&
                    trailer->inlay[k].size == entry.size)
                    entry.size = (uint32_t)trailer->inlay[k].made;
            entry.offset = (uint32_t)(trailer->begin + moved(trailer, at));
            mpf_put(&trailer->mpf, trailer->body.data, i, entry);
        }
        status =
            trailer->turned->format->close(trailer->list, &trailer->body, err);
    }
    bytes_free(&made);
    return status;
}

/* Finds the pictures, and turns them unless they overlap. */
static int turn_all(struct trailer *trailer, struct err *err)
{
    struct warnings *warnings = trailer->turned->opts->warnings;
    size_t lost = 0;
    for (size_t i = 1; i < trailer->mpf.count && look(trailer); i++) {
        struct mpf_entry entry = mpf_get(&trailer->mpf, i);
        size_t at = entry.offset - trailer->begin;
        if (!trailer->block || entry.offset < trailer->begin ||
            at > trailer->block->size || entry.size > trailer->block->size - at)
            lost++;
        else
            add_inlay(trailer, (struct inlay){ .number = i + 1,
                                               .at = at,
                                               .size = entry.size,
                                               .preview = entry.preview });
    }
    if (lost)
        warn(warnings,
             "%zu of the pictures that MPF lists are not where it says", lost);
    if (trailer->more)
        warn(warnings,
             "%zu more pictures behind the first one are kept as they were, "
             "not turned",
             trailer->more);
    if (trailer->count == 0)
        return 0;
    if (sort_inlays(trailer))
        return turn_inlays(trailer, err);
    warn(warnings, "the pictures behind the first one overlap, so they were "
                   "not turned");
    return 0;
}

int trailing_pictures_turn(struct turned *t, struct err *err)
{
    struct meta *meta = t->img->meta;
    struct trailer trailer = { .turned = t, .begin = meta->mpf_trailer };
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
    int status = turn_all(&trailer, err);
    bytes_free(&trailer.body);
    return status;
}
