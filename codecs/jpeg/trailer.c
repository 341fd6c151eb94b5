/* What stands behind the picture in a JPEG file: pictures, a film, anything.
 *
 * The list in an MPF segment, or else the container directory in XMP, says
 * where pictures are: gain maps, previews, other views. Those that lie as the
 * first one does are turned as it was. All other bytes stay what they are, and
 * in their order, so that what is counted from the end of the file, as the film
 * of a motion photo is, stays true as well.
 *
 * The list counts from a place before the first picture's end. It is rewritten
 * as if that end had not moved, before anything is written, and by how much it
 * did when all is. */
#include "codecs/jpeg/jpeg.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/jpeg/parameters.h"
#include "codecs/metadata/embedded_jpeg.h"
#include "codecs/metadata/mpf.h"

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
    struct bytes *block; /* out[i] of the first MPF; NULL: none */
    struct mpf mpf;      /* empty if there is no list */
    struct bytes *bytes; /* out[i] of the trailer; NULL: none */
    size_t behind;       /* where it began, as MPF counts */
    struct inlay inlay[INLAYS_MAX];
    size_t count;
    size_t more; /* that there was no room for */
};

/* Of an MPF segment, "MPF\0". */
enum { MPF_HEAD = 4 };

/* ---- Finding --------------------------------------------------------------*/

/* Where the block in the first MPF segment of a file begins; 0: there is none.
 */
static size_t find_block(struct bytes file)
{
    enum { SOS = 0xda, APP2 = 0xe2 };
    size_t size;
    for (size_t at = 2;
         (size = parameters_segment_size(file.data + at, file.size - at));
         at += size) {
        const uint8_t *p = file.data + at;
        if (p[1] == SOS)
            break;
        if (p[1] == APP2 && size >= 4 + MPF_HEAD &&
            memcmp(p + 4, "MPF\0", MPF_HEAD) == 0)
            return at + 4 + MPF_HEAD;
    }
    return 0;
}

int trailer_take(struct meta *meta, struct bytes file, size_t behind,
                 struct err *err)
{
    if (file.size < 4 || behind > file.size)
        return 0;
    size_t block = find_block(file), end = file.size - behind;
    if (block && block < end)
        parameters_of(meta)->mpf_to_end = end - block;
    if (behind == 0)
        return 0;
    return segment_add(meta, TRAILER, file.data + end, behind, err);
}

static void open_trailer(struct trailer *trailer, struct bytes *out,
                         const struct meta *meta)
{
    *trailer = (struct trailer){ .behind = parameters_of(meta)->mpf_to_end };
    for (size_t i = 0; i < meta->nblocks; i++) {
        enum segment segment = segment_of(&meta->block[i]);
        if (segment == SEGMENT_MPF && !trailer->block && out[i].data)
            trailer->block = &out[i];
        if (segment == SEGMENT_TRAILER && out[i].data)
            trailer->bytes = &out[i];
    }
    if (trailer->block && trailer->behind)
        mpf_open(&trailer->mpf, trailer->block->data + MPF_HEAD,
                 trailer->block->size - MPF_HEAD);
}

static bool is_within(const struct trailer *trailer, size_t at, size_t size)
{
    return at <= trailer->bytes->size && size <= trailer->bytes->size - at;
}

static void add_inlay(struct trailer *trailer, struct inlay inlay)
{
    const uint8_t *data = trailer->bytes->data + inlay.at;
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

static void find_by_mpf(struct trailer *trailer, struct warnings *warnings)
{
    const uint8_t *block = trailer->block->data + MPF_HEAD;
    size_t lost = 0;
    for (size_t i = 1; i < trailer->mpf.count; i++) {
        struct mpf_entry entry = mpf_get(&trailer->mpf, block, i);
        if (!trailer->bytes || entry.offset < trailer->behind ||
            !is_within(trailer, entry.offset - trailer->behind, entry.size)) {
            lost++;
            continue;
        }
        add_inlay(trailer, (struct inlay){
                               .number = i + 1,
                               .at = entry.offset - trailer->behind,
                               .size = entry.size,
                               .preview = entry.preview,
                           });
    }
    if (lost)
        warn(warnings,
             "%zu of the pictures that MPF tells of are not where it "
             "says",
             lost);
}

/* The first packet with a directory counts. */
static void find_by_container(struct trailer *trailer, const struct meta *meta)
{
    struct xmp_container_item item[INLAYS_MAX];
    size_t lead, count = 0;
    segment_head(SEGMENT_XMP, &lead);
    for (size_t i = 0; i < meta->nblocks && count == 0; i++)
        if (segment_of(&meta->block[i]) == SEGMENT_XMP)
            count = xmp_container_items(meta->block[i].data + lead,
                                        meta->block[i].size - lead, item,
                                        INLAYS_MAX);
    size_t at = count ? item[0].padding : 0;
    for (size_t i = 1; i < count && is_within(trailer, at, item[i].length);
         i++) {
        add_inlay(trailer, (struct inlay){ .number = i + 1,
                                           .at = at,
                                           .size = item[i].length });
        at += item[i].length + item[i].padding;
    }
}

static int compare_inlays(const void *a, const void *b)
{
    const struct inlay *left = a, *right = b;
    return (left->at > right->at) - (left->at < right->at);
}

/* False: pictures overlap, so that none of them can be rewritten. */
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

/* What there is to warn of in a picture is said with its number. */
static void relay(struct warnings *warnings, const struct warnings *from,
                  size_t number)
{
    for (unsigned i = 0; i < from->count && i < WARNINGS_MAX; i++)
        warn(warnings, "picture %zu in the file: %s", number,
             from->list[i].text);
}

/* It may be as large as the first one. */
static struct limits limits_of(const struct image *img)
{
    enum { BYTES_MIN = 1 << 26, BYTES_A_PIXEL = 16 };
    uint64_t pixels = (uint64_t)img->width * img->height;
    if (pixels < PIXELS_MIN)
        pixels = PIXELS_MIN;
    return (struct limits){
        .pixels = pixels,
        .bytes = pixels * BYTES_A_PIXEL + BYTES_MIN,
    };
}

/* Appends the picture to `made`, turned, or as it was. */
static int add_turned(struct bytes *made, struct trailer *trailer,
                      struct inlay *inlay, const struct image *img,
                      const struct save_opts *opts, struct err *err)
{
    struct embedded_jpeg inner = {
        .outer = img,
        .limits = limits_of(img),
        .fit = inlay->preview ? FIT_SIDE : FIT_SHAPE,
        .view = true,
    };
    struct warnings said = { 0 };
    struct save_opts save = *opts;
    struct err why = { .text = "" };
    const size_t before = made->size;
    struct bytes file = { .data = trailer->bytes->data + inlay->at,
                          .size = inlay->size };
    struct bytes turned = { 0 };
    save.inner = true;
    save.suffix = "jpg";
    save.warnings = &said;
    bool done = embedded_jpeg_turn(&turned, file, &inner, &save, &why) == 0;
    if (inner.refused || why.memory) {
        bytes_free(&turned);
        fail(err, "picture %zu in the file: %s", inlay->number, why.text);
        err->memory = why.memory;
        return -1;
    }
    if (done)
        relay(opts->warnings, &said, inlay->number);
    else
        warn(opts->warnings,
             "picture %zu in the file is kept as it was, not "
             "turned%s: %s",
             inlay->number, opts->drop ? ", and with all its metadata" : "",
             why.text);
    const struct bytes *from = done ? &turned : &file;
    bool kept = bytes_append(made, from->data, from->size);
    bytes_free(&turned);
    inlay->to = before;
    inlay->made = made->size - before;
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

static void rewrite_list(const struct trailer *trailer, size_t size)
{
    uint8_t *block = trailer->block->data + MPF_HEAD;
    for (size_t i = 1; i < trailer->mpf.count; i++) {
        struct mpf_entry entry = mpf_get(&trailer->mpf, block, i);
        if (entry.offset < trailer->behind ||
            entry.offset - trailer->behind > size)
            continue;
        size_t at = entry.offset - trailer->behind;
        for (size_t k = 0; k < trailer->count; k++)
            if (trailer->inlay[k].at == at &&
                trailer->inlay[k].size == entry.size)
                entry.size = (uint32_t)trailer->inlay[k].made;
        entry.offset = (uint32_t)(trailer->behind + moved(trailer, at));
        mpf_put(&trailer->mpf, block, i, entry);
    }
}

static int turn_inlays(struct trailer *trailer, const struct image *img,
                       const struct save_opts *opts, struct lengths *lengths,
                       struct err *err)
{
    struct bytes made = { 0 };
    size_t done = 0, size = trailer->bytes->size;
    bool kept = true;
    for (size_t i = 0; i < trailer->count && kept; i++) {
        struct inlay *inlay = &trailer->inlay[i];
        kept =
            bytes_append(&made, trailer->bytes->data + done, inlay->at - done);
        done = inlay->at + inlay->size;
        if (kept && add_turned(&made, trailer, inlay, img, opts, err)) {
            bytes_free(&made);
            return -1;
        }
        lengths->list[lengths->count++] =
            (struct length){ inlay->size, inlay->made };
    }
    if (!kept ||
        !bytes_append(&made, trailer->bytes->data + done, size - done)) {
        bytes_free(&made);
        return fail_memory(err, "no memory for what stands behind the picture");
    }
    bytes_free(trailer->bytes);
    *trailer->bytes = made;
    if (trailer->mpf.count)
        rewrite_list(trailer, size);
    return 0;
}

int trailer_turn(struct bytes *out, const struct meta *meta,
                 const struct image *img, const struct save_opts *opts,
                 struct lengths *lengths, struct err *err)
{
    struct trailer trailer;
    bool tagged = opts->orientation && opts->orientation != img->orientation;
    if (opts->inner ||
        (img->turned == XFORM_NONE && !tagged && !opts->drop))
        return 0;
    open_trailer(&trailer, out, meta);
    if (trailer.mpf.places && img->turned != XFORM_NONE)
        warn(opts->warnings, "MPF tells how pictures lie to one another, and "
                             "that was not turned");
    if (trailer.mpf.count)
        find_by_mpf(&trailer, opts->warnings);
    else if (trailer.bytes)
        find_by_container(&trailer, meta);
    if (trailer.more)
        warn(opts->warnings,
             "%zu more pictures behind the first one are kept "
             "as they were, not turned",
             trailer.more);
    if (trailer.count == 0)
        return 0;
    if (sort_inlays(&trailer))
        return turn_inlays(&trailer, img, opts, lengths, err);
    warn(opts->warnings, "the pictures behind the first one overlap, so they "
                         "were not turned");
    return 0;
}

/* ---- Writing --------------------------------------------------------------*/

/* By how much the end of the first picture has moved, its list counts more. */
static int move_list(struct bytes *file, size_t block, size_t limit, size_t was,
                     size_t behind, size_t end, struct err *err)
{
    struct mpf mpf;
    if (!mpf_open(&mpf, file->data + block, limit))
        return 0;
    if (file->size - block > UINT32_MAX)
        return fail(err, "the file is too large for its MPF");
    struct mpf_entry first = mpf_get(&mpf, file->data + block, 0);
    first.size = (uint32_t)end;
    mpf_put(&mpf, file->data + block, 0, first);
    for (size_t i = 1; i < mpf.count; i++) {
        struct mpf_entry entry = mpf_get(&mpf, file->data + block, i);
        if (entry.offset < was || entry.offset - was > behind)
            continue;
        entry.offset = (uint32_t)(entry.offset - was + (end - block));
        mpf_put(&mpf, file->data + block, i, entry);
    }
    return 0;
}

void trailer_follow(struct bytes *file, struct bytes before)
{
    const size_t was = find_block(before), is = find_block(*file);
    struct mpf mpf;
    if (!was || !is || file->size == before.size)
        return;
    uint8_t *block = file->data + is;
    size_t limit = (size_t)read_be16(block - MPF_HEAD - 2) - 2 - MPF_HEAD;
    uint32_t longer = (uint32_t)(file->size - before.size);
    uint32_t farther = (uint32_t)(file->size - is - (before.size - was));
    if (!mpf_open(&mpf, block, limit))
        return;
    for (size_t i = 0; i < mpf.count; i++) {
        struct mpf_entry entry = mpf_get(&mpf, block, i);
        if (entry.offset == 0)
            entry.size += longer;
        else
            entry.offset += farther;
        mpf_put(&mpf, block, i, entry);
    }
}

int trailer_append(struct bytes *file, const struct meta *meta,
                   const struct bytes *out, struct err *err)
{
    const size_t end = file->size, was = parameters_of(meta)->mpf_to_end;
    for (size_t i = 0; i < meta->nblocks; i++)
        if (out[i].data && segment_of(&meta->block[i]) == SEGMENT_TRAILER &&
            !bytes_append(file, out[i].data, out[i].size))
            return fail_memory(err,
                               "no memory for what stands behind the picture");
    size_t block = find_block(*file);
    if (!block || !was)
        return 0;
    size_t limit =
        (size_t)read_be16(file->data + block - MPF_HEAD - 2) - 2 - MPF_HEAD;
    return move_list(file, block, limit, was, file->size - end, end, err);
}
