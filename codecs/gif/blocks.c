/* The parts of a GIF, and those that are metadata. */
#include <stdio.h>
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/gif/gif.h"

/* ---- Sub-blocks ----------------------------------------------------------*/

enum { SUB_BLOCK = 255 };

bool gif_join(struct bytes *to, struct bytes file, size_t at)
{
    bool kept = bytes_reserve(to, 4);
    while (kept && at < file.size && file.data[at]) {
        const size_t left = file.size - ++at, n = file.data[at - 1];
        kept = bytes_append(to, file.data + at, n < left ? n : left) &&
               bytes_reserve(to, 4);
        at += n;
    }
    return kept;
}

bool gif_split(struct bytes *to, const struct bytes *from)
{
    bool kept = true;
    for (size_t at = 0; kept && at < from->size; at += SUB_BLOCK) {
        const size_t left = from->size - at;
        const uint8_t n = left < SUB_BLOCK ? (uint8_t)left : SUB_BLOCK;
        kept = bytes_append(to, &n, 1) && bytes_append(to, from->data + at, n);
    }
    return kept && bytes_append(to, "", 1);
}

/* ---- Metadata ------------------------------------------------------------*/

/* Adds an extension. An application's has its name in a sub-block of 11 bytes;
 * it may say how often frames are played: so many times they begin again. */
static int note_extension(struct meta *meta, const uint8_t *data, size_t size,
                          size_t begin, struct err *err)
{
    enum { NAME = 11, LEAD = 3 + NAME };
    static const struct {
        const char *name;
        enum block_kind kind;
        unsigned drop;
    } known[] = {
        { "NETSCAPE2.0", BLOCK_ESSENTIAL, 0 },
        { "ANIMEXTS1.0", BLOCK_ESSENTIAL, 0 },
        { "ICCRGBG1012", BLOCK_COLOR, DROP_ICC },
        { "XMP DataXMP", BLOCK_XMP, DROP_XMP },
        { "comment", BLOCK_COMMENT, 0 },
    };
    const unsigned kind = GIF_EXTENSION << 8 | data[1];
    const uint8_t *said = data + LEAD;
    char name[32] = "comment";
    if (kind == GIF_APPLICATION && size >= LEAD && data[2] == NAME)
        snprintf(name, sizeof name, "%.*s", NAME, (const char *)data + 3);
    else if (kind != GIF_COMMENT)
        snprintf(name, sizeof name, "extension %02x", data[1]);
    if (meta_is_full(meta))
        return fail(err, "it has more than %zu blocks of metadata",
                    meta->nblocks);
    struct metadata_block *block = meta_add(meta, name, 0, data, size);
    if (!block)
        return fail_memory(err, "no memory for metadata");
    block->begin = begin;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0) {
            block->kind = known[i].kind;
            block->drop = known[i].drop;
        }
    block->portable = block->kind == BLOCK_ESSENTIAL;
    if (block->portable && size >= LEAD + 5 && said[0] == 3 && said[1] == 1)
        meta->animation.plays =
            read_le16(said + 2) ? read_le16(said + 2) + 1 : 0;
    return 0;
}

/* ---- Parts ---------------------------------------------------------------*/

int gif_find_part(struct gif_part *part, struct bytes file, size_t at,
                  struct err *err)
{
    const uint8_t *p = file.data + at;
    const bool is_frame = at < file.size && *p == GIF_FRAME;
    *part = (struct gif_part){ .begin = at };
    part->kind = at < file.size ? *p : GIF_NOTHING;
    switch (part->kind) {
    case GIF_NOTHING:
    case GIF_TRAILER:
        return 0;
    case GIF_ZEROS:
        for (part->end = at; part->end < file.size && !file.data[part->end];)
            part->end++;
        return 0;
    case GIF_FRAME:
    case GIF_EXTENSION:
        part->body = at + (is_frame ? GIF_IMAGE : 2);
        if (is_frame && part->body < file.size)
            part->body += gif_palette_size(p[9]);
        at = part->body + is_frame;
        part->cut = at >= file.size;
        while (at < file.size && file.data[at])
            at += 1u + file.data[at];
        part->end = at < file.size ? at + 1 : file.size;
        if (part->cut || (at >= file.size && !is_frame))
            return fail(err,
                        "the file is cut short in %s that begins at byte %zu",
                        is_frame ? "a frame" : "an extension", part->begin);
        part->cut = at >= file.size;
        part->kind = is_frame ? GIF_FRAME : GIF_EXTENSION << 8 | p[1];
        return 0;
    default:
        return fail(err, "at byte %zu stands %02x, with which no block begins",
                    at, part->kind);
    }
}

struct frame_place gif_place_of(const struct gif *gif,
                                const struct gif_part *frame)
{
    const uint8_t *p = gif->file.data + frame->begin + 1;
    return (struct frame_place){ read_le16(p), read_le16(p + 2),
                                 read_le16(p + 4), read_le16(p + 6) };
}

/* The screen is made large enough for all frames. */
static int add_frame(struct gif *gif, const struct gif_part *part,
                     const struct load_opts *opts, struct err *err)
{
    /* No string is longer than there are codes, and where one is long each has
     * 12 bits. */
    enum { PIXELS_OF_BYTE = 4096 * 8 / 12 + 1 };
    const struct frame_place r = gif_place_of(gif, part);
    const uint32_t right = r.x + r.width, below = r.y + r.height;
    const uint64_t pixels = (uint64_t)r.width * r.height;
    const size_t coded = part->end - part->body;
    const struct image indices = { .cell = CELL_U8, .nplanes = 1 };
    struct gif_part *more =
        memory_extend(gif->frame, gif->size.frames, sizeof *more);
    if (!more)
        return fail_memory(err, "no memory for so many frames");
    gif->frame = more;
    more[gif->size.frames] = *part;
    frames_add(&gif->size, &indices, r.width, r.height, 1, coded);
    if (pixels && (right > gif->width || below > gif->height)) {
        gif->outside += gif->size.frames > 1;
        gif->width = gif->width < right ? right : gif->width;
        gif->height = gif->height < below ? below : gif->height;
    }
    if (gif->width > UINT16_MAX || gif->height > UINT16_MAX)
        return fail(err,
                    "frame %u reaches to %u, %u; no screen is larger than "
                    "65535",
                    gif->size.frames, right, below);
    if (pixels <= PIXELS_OF_BYTE * coded)
        return 0;
    return opts->tolerant
               ? limit_check_cut(coded, pixels, &opts->limits, err)
               : fail(err,
                      "frame %u is cut short: its %zu bytes are too few for "
                      "%u x %u pixels",
                      gif->size.frames, coded, r.width, r.height);
}

/* Takes the next part. */
static int take_part(struct gif *gif, struct gif_part *part, struct meta *meta,
                     const struct load_opts *opts, struct err *err)
{
    const uint8_t *p = gif->file.data + part->body;
    switch (part->kind) {
    case GIF_ZEROS:
        return 0;
    case GIF_CONTROL:
        if (p[0] >= 4)
            gif->control = gif->file.data + part->body;
        return 0;
    case GIF_FRAME:
        p = gif->control;
        part->transparent = p && p[1] & 1 ? p[4] : -1;
        animation_add(&meta->animation, (p ? read_le16(p + 2) : 0) / 100.0,
                      gif->size.frames == 0);
        gif->control = NULL;
        return add_frame(gif, part, opts, err);
    case GIF_TEXT:
        gif->control = NULL;
        return 0;
    default:
        return note_extension(meta, gif->file.data + part->begin,
                              part->end - part->begin, part->begin, err);
    }
}

int gif_scan(struct gif *gif, struct meta *meta, struct bytes file,
             const struct load_opts *opts, struct err *err)
{
    struct gif_part part;
    struct err why;
    *gif = (struct gif){ .file = file };
    if (file.size >= GIF_HEAD)
        gif->begin = gif->end = GIF_HEAD + gif_palette_size(file.data[10]);
    if (file.size < GIF_HEAD || gif->end > file.size)
        return fail(err, "the file is cut short");
    gif->width = read_le16(file.data + 6);
    gif->height = read_le16(file.data + 8);
    meta->animation.plays = 1;
    for (;; gif->end = part.end) {
        gif->cut = gif_find_part(&part, file, gif->end, &why);
        if (gif->cut || part.kind == GIF_TRAILER || part.kind == GIF_NOTHING)
            break;
        if (take_part(gif, &part, meta, opts, err))
            return -1;
    }
    const uint32_t frames = gif->size.frames;
    if (gif->cut && (!opts->tolerant || frames == 0))
        return fail(err, "%s", why.text);
    if (frames == 0)
        return fail(err, "it holds no picture");
    if (gif->cut)
        warn(opts->warnings, "%s; it ends before that now", why.text);
    else if (part.kind == GIF_NOTHING)
        warn(opts->warnings,
             "its end is missing: there may have been more than %u frame%s",
             frames, frames > 1 ? "s" : "");
    meta->animation.frames = frames > 1 ? frames : 0;
    meta->interlaced = file.data[gif->frame->begin + 9] & 0x40;
    return 0;
}
