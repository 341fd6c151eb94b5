/* The chunks of a WebP file: RIFF, whose integers have the low byte first, and
 * whose chunks begin at even bytes. What is refused is what libwebp refuses. */
#include "codecs/webp/webp.h"

#include <string.h>

#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/metadata/metadata.h"

enum { HEAD = 8, RIFF_HEAD = 12, VP8X = 10, ANIM = 6, ANMF = 16 };

struct riff_chunk {
    const uint8_t *name, *data;
    size_t size, end; /* end: in the file, with its padding */
};

static bool is(const struct riff_chunk *chunk, const char *name)
{
    return memcmp(chunk->name, name, 4) == 0;
}

static uint32_t read_le24(const uint8_t *p)
{
    return read_uint(p, 3, false);
}

static void write_le24(uint8_t *p, uint32_t value)
{
    write_uint(p, 3, false, value);
}

/* ---- Reading --------------------------------------------------------------*/

struct riff_parser {
    struct webp_file *webp;
    struct meta *meta; /* or NULL */
    struct bytes file;
    const struct load_opts *opts;
    const uint8_t *alpha; /* an ALPH chunk whose picture follows; or NULL */
    unsigned items;       /* ANIM and frames so far */
};

/* Padding may be missing at the end of the file. */
static int read_chunk(struct riff_chunk *chunk, const struct riff_parser *p,
                      size_t at, size_t end, struct err *err)
{
    const uint8_t *data = p->file.data + at;
    if (end - at < HEAD)
        return fail(err, "it is cut short in the head of a chunk");
    *chunk = (struct riff_chunk){ data, data + HEAD, read_le32(data + 4), 0 };
    const size_t left = end - at - HEAD;
    if (chunk->size > left && !p->opts->tolerant)
        return fail(err, "chunk %.4s is cut short: %zu of %zu bytes are there",
                    (const char *)data, left, chunk->size);
    if (chunk->size > left)
        warn(p->opts->warnings, "chunk %.4s is cut short", (const char *)data);
    p->webp->cut = p->webp->cut || chunk->size > left;
    chunk->size = chunk->size > left ? left : chunk->size;
    chunk->end = at + HEAD + chunk->size;
    chunk->end += chunk->end < end && (chunk->size & 1);
    return 0;
}

/* Takes a chunk of a frame, up to its picture, at whose begin is its size (RFC
 * 6386, 9.1; WebP Lossless Bitstream Specification, 3): then frame->data is
 * set. */
static int take_picture(struct riff_parser *p, struct webp_frame *frame,
                        const struct riff_chunk *chunk, struct err *err)
{
    const struct frame_place place = frame->place;
    const size_t number = p->webp->nframes + 1;
    const uint8_t *data = chunk->data;
    bool sound;
    if (is(chunk, "ALPH") && !p->alpha) {
        p->alpha = chunk->name;
        return 0;
    }
    if (!is(chunk, "VP8 ") && !is(chunk, "VP8L"))
        return fail(err, "frame %zu begins with another chunk, %.4s", number,
                    (const char *)chunk->name);
    frame->image = data;
    frame->image_size = chunk->size;
    frame->lossless = is(chunk, "VP8L");
    if (frame->lossless) {
        sound =
            chunk->size >= 5 && data[0] == 0x2f && !(data[4] >> 5) && !p->alpha;
        const uint32_t bits = sound ? read_le32(data + 1) : 0;
        frame->place.width = (bits & WEBP_SIDE) + 1;
        frame->place.height = (bits >> 14 & WEBP_SIDE) + 1;
        frame->alpha = bits >> 28 & 1;
    } else {
        sound = chunk->size >= 10 && !(data[0] & 1) &&
                memcmp(data + 3, "\x9d\x01\x2a", 3) == 0;
        frame->place.width = sound ? read_le16(data + 6) & WEBP_SIDE : 0;
        frame->place.height = sound ? read_le16(data + 8) & WEBP_SIDE : 0;
        frame->alpha = p->alpha;
    }
    if (!sound || !frame->place.width || !frame->place.height)
        return fail(err, "frame %zu is malformed", number);
    if (place.width && (place.width != frame->place.width ||
                        place.height != frame->place.height))
        return fail(err,
                    "frame %zu has %u x %u pixels, where its head says %u x %u",
                    number, frame->place.width, frame->place.height,
                    place.width, place.height);
    frame->data = p->alpha ? p->alpha : chunk->name;
    frame->size = (size_t)(p->file.data + chunk->end - frame->data);
    p->alpha = NULL;
    return 0;
}

static int add_frame(struct riff_parser *p, const struct webp_frame *frame,
                     struct err *err)
{
    struct webp_file *webp = p->webp;
    struct webp_frame *more =
        memory_extend(webp->frame, webp->nframes, sizeof *more);
    if (!more)
        return fail_memory(err, "no memory for the frames");
    webp->frame = more;
    webp->frame[webp->nframes++] = *frame;
    p->items++;
    return 0;
}

/* A frame has its ALPH, its picture, and what is unknown. */
static int take_anmf(struct riff_parser *p, const struct riff_chunk *anmf,
                     struct err *err)
{
    const uint8_t *data = anmf->data;
    const size_t begin = (size_t)(data - p->file.data),
                 end = begin + anmf->size;
    const struct webp_file *webp = p->webp;
    struct riff_chunk chunk;
    if (anmf->size < ANMF)
        return fail(err, "frame %zu is cut short", webp->nframes + 1);
    struct webp_frame frame = {
        .place = { 2 * read_le24(data), 2 * read_le24(data + 3),
                   read_le24(data + 6) + 1, read_le24(data + 9) + 1 },
        .duration = read_le24(data + 12),
        .flags = data[15],
    };
    if ((uint64_t)frame.place.x + frame.place.width > webp->width ||
        (uint64_t)frame.place.y + frame.place.height > webp->height)
        return fail(err, "frame %zu is not within the picture of %u x %u",
                    webp->nframes + 1, webp->width, webp->height);
    for (size_t at = begin + ANMF; at < end && !frame.data; at = chunk.end)
        if (read_chunk(&chunk, p, at, end, err) ||
            take_picture(p, &frame, &chunk, err))
            return -1;
    if (!frame.data)
        return fail(err, "frame %zu has no picture", webp->nframes + 1);
    frame.rest = p->file.data + chunk.end;
    frame.rest_size = end - chunk.end;
    return add_frame(p, &frame, err);
}

/* Chunks that are known, and the flags of VP8X that tell of them. */
static const struct {
    const char *name;
    enum block_kind kind;
    unsigned drop, flag;
} known[] = {
    { "EXIF", BLOCK_EXIF, DROP_EXIF, WEBP_EXIF },
    { "XMP ", BLOCK_XMP, DROP_XMP, WEBP_XMP },
    { "ICCP", BLOCK_ICC, DROP_ICC, WEBP_ICC },
    { "C2PA", BLOCK_JUMBF, 0, 0 },
};

/* EXIF, XMP and a profile that VP8X does not tell of are passed over by
 * readers, so they are unknown chunks. */
static int take_block(struct riff_parser *p, const struct riff_chunk *chunk,
                      struct err *err)
{
    char name[5] = "";
    memcpy(name, chunk->name, 4);
    if (!p->meta)
        return 0;
    struct metadata_block *block =
        meta_add(p->meta, name, p->items, chunk->data, chunk->size);
    if (!block)
        return fail_memory(err, "no memory for so many chunks");
    block->begin = (size_t)(chunk->name - p->file.data);
    block->end = block->begin + HEAD + chunk->size;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!is(chunk, known[i].name))
            continue;
        block->drop = known[i].drop;
        if ((p->webp->vp8x[0] & known[i].flag) == known[i].flag)
            block->kind = known[i].kind;
        else
            warn(p->opts->warnings,
                 "chunk %s is kept but not read: VP8X does not tell of it, so "
                 "that readers pass it over",
                 name);
    }
    return 0;
}

/* Takes the first chunk, VP8X or else the picture, or one behind it. */
static int take_chunk(struct riff_parser *p, const struct riff_chunk *chunk,
                      struct err *err)
{
    struct webp_file *webp = p->webp;
    const bool first = chunk->name == p->file.data + RIFF_HEAD,
               picture =
                   is(chunk, "VP8 ") || is(chunk, "VP8L") || is(chunk, "ALPH");
    if (first && !is(chunk, "VP8 ") && !is(chunk, "VP8L")) {
        if (!is(chunk, "VP8X"))
            return fail(err, "its first chunk, %.4s, has no picture",
                        (const char *)chunk->name);
        if (chunk->size < VP8X)
            return fail(err, "chunk VP8X is malformed");
        webp->extended = true;
        memcpy(webp->vp8x, chunk->data, 4);
        webp->width = read_le24(chunk->data + 4) + 1;
        webp->height = read_le24(chunk->data + 7) + 1;
        return 0;
    }
    struct webp_frame frame = { .place = { 0, 0, webp->width, webp->height } };
    if (!webp_is_animated(webp) && picture && !webp->nframes)
        return take_picture(p, &frame, chunk, err) ||
                       (frame.data && add_frame(p, &frame, err))
                   ? -1
                   : 0;
    if (webp_is_animated(webp) && p->items && is(chunk, "ANMF"))
        return take_anmf(p, chunk, err);
    if (webp_is_animated(webp) && !p->items && is(chunk, "ANIM") &&
        chunk->size >= ANIM) {
        memcpy(webp->anim, chunk->data, ANIM);
        p->items++;
        return 0;
    }
    /* Readers do not look behind the picture of a file without VP8X. */
    if (webp->extended && (picture || is(chunk, "ANIM") || is(chunk, "ANMF") ||
                           is(chunk, "VP8X")))
        return fail(err, "chunk %.4s stands where it has no meaning",
                    (const char *)chunk->name);
    return take_block(p, chunk, err);
}

/* Reads all chunks. What is damaged behind a picture without VP8X is none, and
 * tolerant, the frames before one that is damaged are enough. */
static int read_file(struct riff_parser *p, struct err *err)
{
    const struct bytes file = p->file;
    struct webp_file *webp = p->webp;
    struct riff_chunk chunk;
    if (file.size < RIFF_HEAD + HEAD)
        return fail(err, "it is cut short");
    const uint64_t end = (uint64_t)read_le32(file.data + 4) + HEAD;
    webp->end = end > file.size ? file.size : (size_t)end;
    if (end > file.size + 1 && !p->opts->tolerant)
        return fail(err, "it is cut short: %zu of %llu bytes are there",
                    file.size, (unsigned long long)end);
    if (webp->end < RIFF_HEAD + HEAD)
        return fail(err, "its RIFF header is malformed");
    for (size_t at = RIFF_HEAD; at < webp->end; at = chunk.end) {
        const bool cut = read_chunk(&chunk, p, at, webp->end, err);
        if (!cut && take_chunk(p, &chunk, err) == 0)
            continue;
        if (!webp->nframes || err->memory ||
            (cut ? webp->extended : !p->opts->tolerant))
            return -1;
        if (!cut)
            warn(p->opts->warnings, "only the %zu frames before are read: %s",
                 webp->nframes, err->text);
        webp->end = at;
        break;
    }
    if (!webp->nframes || p->alpha)
        return fail(err, "the file holds no picture");
    if (!webp->extended) {
        webp->width = webp->frame->place.width;
        webp->height = webp->frame->place.height;
    }
    if (!p->meta || webp->end == file.size)
        return 0;
    struct metadata_block *block =
        meta_add(p->meta, "bytes behind the end", WEBP_BEHIND_FILE,
                 file.data + webp->end, file.size - webp->end);
    if (!block)
        return fail_memory(err, "no memory for the bytes behind the end");
    block->begin = webp->end;
    block->end = file.size;
    return 0;
}

int webp_read(struct webp_file *webp, struct meta *meta, struct bytes file,
              const struct load_opts *opts, struct err *err)
{
    struct riff_parser p = {
        .webp = webp, .meta = meta, .file = file, .opts = opts
    };
    *webp = (struct webp_file){ .frame = NULL };
    if (read_file(&p, err) == 0)
        return 0;
    memory_free(webp->frame);
    webp->frame = NULL;
    return -1;
}

/* ---- Writing --------------------------------------------------------------*/

static bool put_chunk(struct bytes *out, const char *name, const void *data,
                      size_t size)
{
    uint8_t head[HEAD];
    memcpy(head, name, 4);
    write_le32(head + 4, (uint32_t)size);
    return bytes_append(out, head, HEAD) && bytes_append(out, data, size) &&
           bytes_append(out, "", size & 1);
}

static bool put_block(struct bytes *out, const struct metadata_block *block)
{
    return block->where == WEBP_BEHIND_FILE
               ? bytes_append(out, block->data, block->size)
               : put_chunk(out, block->name, block->data, block->size);
}

/* Writes the blocks from *next on that stand at `last` or before: blocks are in
 * the order of their places. They are counted as work, of which webp_write()
 * asks whether it was too much. */
static bool put_blocks(struct bytes *out, const struct meta *meta, size_t *next,
                       unsigned last)
{
    bool put = true;
    for (; meta && put && *next < meta->nblocks; ++*next) {
        const struct metadata_block *block = &meta->block[*next];
        account_look(sizeof *block);
        if (block->where > last)
            break;
        if (!block->dropped)
            put = put_block(out, block);
    }
    return put;
}

static bool put_frame(struct bytes *out, const struct webp_frame *frame,
                      bool animated)
{
    const struct frame_place *place = &frame->place;
    uint8_t head[HEAD + ANMF] = "ANMF";
    const size_t padding = frame->size & 1;
    write_le32(head + 4,
               (uint32_t)(ANMF + frame->size + padding + frame->rest_size));
    write_le24(head + HEAD, place->x / 2);
    write_le24(head + HEAD + 3, place->y / 2);
    write_le24(head + HEAD + 6, place->width - 1);
    write_le24(head + HEAD + 9, place->height - 1);
    write_le24(head + HEAD + 12, frame->duration);
    head[HEAD + 15] = frame->flags;
    return (!animated || bytes_append(out, head, sizeof head)) &&
           bytes_append(out, frame->data, frame->size) &&
           bytes_append(out, "", padding) &&
           (!animated || (bytes_append(out, frame->rest, frame->rest_size) &&
                          bytes_append(out, "", frame->rest_size & 1)));
}

int webp_write(struct bytes *out, const struct webp_file *webp,
               const struct meta *meta, struct err *err)
{
    const bool animated = webp_is_animated(webp);
    unsigned flags = webp->vp8x[0] & ~(WEBP_XMP | WEBP_EXIF | WEBP_ICC);
    uint8_t vp8x[VP8X];
    unsigned items = 0;
    size_t next = 0;
    for (size_t i = 0; meta && i < meta->nblocks; i++)
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (!meta->block[i].dropped && meta->block[i].kind == known[k].kind)
                flags |= known[k].flag;
    const bool alpha = !webp->extended && webp->frame->alpha,
               needed = webp->extended || flags != 0 ||
                        (alpha && !webp->frame->lossless);
    memcpy(vp8x, webp->vp8x, 4);
    vp8x[0] = (uint8_t)(flags | (alpha ? WEBP_ALPHA : 0));
    write_le24(vp8x + 4, webp->width - 1);
    write_le24(vp8x + 7, webp->height - 1);
    bool put = bytes_append(out, "RIFF\0\0\0\0WEBP", RIFF_HEAD) &&
               (!needed || put_chunk(out, "VP8X", vp8x, VP8X));
    if (animated)
        put = put && put_blocks(out, meta, &next, items) &&
              put_chunk(out, "ANIM", webp->anim, ANIM);
    items += animated;
    for (size_t i = 0; put && i < webp->nframes; i++, items++)
        put = put_blocks(out, meta, &next, items) &&
              put_frame(out, &webp->frame[i], animated);
    if (!put || !put_blocks(out, meta, &next, WEBP_BEHIND_FRAMES))
        return fail_memory(err, "no memory for the file");
    if (out->size - HEAD > UINT32_MAX - 1)
        return fail(err, "a WebP file can have no more than 4 GiB");
    write_le32(out->data + 4, (uint32_t)(out->size - HEAD));
    return put_blocks(out, meta, &next, WEBP_BEHIND_FILE)
               ? account_spend(account_current(), 0, err)
               : fail_memory(err, "no memory for the file");
}

/* ---- Blocks ---------------------------------------------------------------*/

/* Some programs put before EXIF what it has before it in a JPEG. */
static size_t lead_of(const struct metadata_block *block)
{
    const bool led = block->kind == BLOCK_EXIF && block->size >= 6 &&
                     memcmp(block->data, "Exif\0\0", 6) == 0;
    return led ? 6 : 0;
}

static int open_block(struct bytes *body, const struct metadata_block *block,
                      struct err *err)
{
    const size_t lead = lead_of(block);
    return bytes_append(body, block->data + lead, block->size - lead)
               ? 0
               : fail_memory(err, "no memory for chunk %s", block->name);
}

static int close_block(struct metadata_block *block, const struct bytes *body,
                       struct err *err)
{
    return metadata_block_set(block, block->data, lead_of(block), body->data,
                              body->size)
               ? 0
               : fail_memory(err, "no memory for chunk %s", block->name);
}

static size_t room_of(enum block_kind kind)
{
    (void)kind;
    return UINT32_MAX / 2;
}

/* Inserts a block before the bytes behind the end, if there are any. */
static struct metadata_block *insert(struct meta *meta, const char *name,
                                     enum block_kind kind,
                                     const struct bytes *data)
{
    size_t at = meta->nblocks;
    if (at && meta->block[at - 1].where == WEBP_BEHIND_FILE)
        at--;
    struct metadata_block *block = meta_insert(
        meta, at, name, kind == BLOCK_ICC ? WEBP_AT_FRONT : WEBP_BEHIND_FRAMES,
        data->data, data->size);
    if (block)
        block->kind = kind;
    return block;
}

static struct metadata_block *insert_exif(struct meta *meta)
{
    const struct bytes none = { 0 };
    return insert(meta, "EXIF", BLOCK_EXIF, &none);
}

static int from_portable(struct meta *made, const struct meta *from,
                         struct warnings *warnings, struct err *err)
{
    (void)warnings;
    if ((from->icc.size && !insert(made, "ICCP", BLOCK_ICC, &from->icc)) ||
        (from->exif.size && !insert(made, "EXIF", BLOCK_EXIF, &from->exif)) ||
        (from->xmp.size && !insert(made, "XMP ", BLOCK_XMP, &from->xmp)))
        return fail_memory(err, "no memory for the metadata");
    return 0;
}

const struct block_format webp_blocks = {
    .open = open_block,
    .close = close_block,
    .room = room_of,
    .insert_exif = insert_exif,
    .frame = put_block,
    .from_portable = from_portable,
};
