/* The blocks of a GIF, and those that are metadata. */
#include "codecs/gif/gif.h"

#include <stdio.h>
#include <string.h>

#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"

/* ---- Finding them ------------------------------------------------------- */

/* Returns where sub-blocks end, behind the empty one; 0 if that is missing. */
static size_t chain_end(struct bytes file, size_t at)
{
    while (at < file.size && file.data[at])
        at += 1u + file.data[at];
    return at < file.size ? at + 1 : 0;
}

static int fail_cut(struct err *err, const char *what, size_t at)
{
    return fail(err, "the file is cut short in %s that begins at byte %zu",
                what, at);
}

static int frame_at(struct gif_block *block, struct bytes file, struct err *err)
{
    const uint8_t *p = file.data + block->begin;
    block->body = block->begin + GIF_IMAGE;
    if (block->body < file.size && p[9] & 0x80)
        block->body += (size_t)GIF_COLOR << ((p[9] & 7) + 1);
    if (block->body + 1 >= file.size)
        return fail_cut(err, "a frame", block->begin);
    block->end = chain_end(file, block->body + 1);
    block->cut = block->end == 0;
    if (block->cut)
        block->end = file.size;
    return 0;
}

static int extension_at(struct gif_block *block, struct bytes file,
                        struct err *err)
{
    block->body = block->begin + 2;
    block->end = chain_end(file, block->body);
    if (block->end == 0)
        return fail_cut(err, "an extension", block->begin);
    block->kind = file.data[block->begin + 1];
    if (block->kind == GIF_ZEROS || block->kind == GIF_FRAME ||
        block->kind == GIF_TRAILER)
        block->kind = GIF_EXTENSION;
    const uint8_t *p = file.data + block->body;
    if (block->kind == GIF_CONTROL && p[0] >= 4) {
        block->transparent = p[1] & 1 ? p[4] : -1;
        block->delay = read_le16(p + 2);
    }
    return 0;
}

int gif_next(struct gif_block *block, struct bytes file, struct err *err)
{
    const size_t at = block->end;
    if (block->kind == GIF_FRAME || block->kind == GIF_TEXT) {
        block->transparent = -1;
        block->delay = 0;
    }
    block->begin = at;
    block->kind = at < file.size ? file.data[at] : GIF_NOTHING;
    switch (block->kind) {
    case GIF_NOTHING:
        return 0;
    case GIF_TRAILER:
        block->end++;
        return 0;
    case GIF_ZEROS:
        while (block->end < file.size && file.data[block->end] == 0)
            block->end++;
        return 0;
    case GIF_FRAME:
        return frame_at(block, file, err);
    case GIF_EXTENSION:
        return extension_at(block, file, err);
    default:
        return fail(err, "at byte %zu stands %02x, with which no block begins",
                    at, block->kind);
    }
}

bool gif_is_metadata(const struct gif_block *block)
{
    return block->kind != GIF_ZEROS && block->kind != GIF_TEXT &&
           block->kind != GIF_FRAME && block->kind != GIF_CONTROL;
}

struct gif_rect gif_rect_of(const struct gif *gif,
                            const struct gif_block *frame)
{
    const uint8_t *p = gif->file.data + frame->begin + 1;
    struct gif_rect r = { read_le16(p), read_le16(p + 2), read_le16(p + 4),
                          read_le16(p + 6) };
    if (r.x >= gif->width || r.y >= gif->height) {
        r.x = UINT32_MAX;
        return r;
    }
    const uint32_t right = gif->width - r.x, below = gif->height - r.y;
    r.width = r.width < right ? r.width : right;
    r.height = r.height < below ? r.height : below;
    return r;
}

/* ---- Metadata ----------------------------------------------------------- */

/* An application's name, in a sub-block of 11 bytes, is followed by what it
 * says; by XMP without sub-blocks, and by a trailer that ends it for readers
 * who take its letters for sizes of them (XMP Specification, part 3, 1.1.2). */
enum { NAME = 11, LEAD = 3 + NAME, MAGIC = 258 };

static void make_magic(uint8_t magic[MAGIC])
{
    magic[0] = 1;
    for (unsigned i = 0; i < 256; i++)
        magic[1 + i] = (uint8_t)(255 - i);
    magic[MAGIC - 1] = 0;
}

static const struct {
    char name[NAME + 1];
    enum block_kind kind;
    unsigned drop;
} applications[] = {
    { "NETSCAPE2.0", BLOCK_ESSENTIAL, 0 },
    { "ANIMEXTS1.0", BLOCK_ESSENTIAL, 0 },
    { "ICCRGBG1012", BLOCK_ICC, DROP_ICC },
    { "XMP DataXMP", BLOCK_XMP, DROP_XMP },
};

/* Notes what an application's block is, and how often frames are played. */
static void note_application(struct metadata_block *block,
                             struct animation *animation)
{
    const uint8_t *loop = block->data + LEAD;
    uint8_t magic[MAGIC];
    make_magic(magic);
    block->kind = BLOCK_OTHER;
    if (block->size < LEAD || block->data[2] != NAME)
        return;
    memcpy(block->name, block->data + 3, NAME);
    block->name[NAME] = '\0';
    for (size_t i = 0; i < sizeof applications / sizeof *applications; i++)
        if (strcmp(block->name, applications[i].name) == 0) {
            block->kind = applications[i].kind;
            block->drop = applications[i].drop;
        }
    block->portable = block->kind == BLOCK_ESSENTIAL;
    if (block->kind == BLOCK_XMP &&
        (block->size < LEAD + MAGIC ||
         memcmp(block->data + block->size - MAGIC, magic, MAGIC) != 0))
        block->kind = BLOCK_OTHER;
    /* So many times it begins again. */
    if (block->portable && block->size >= LEAD + 5 && loop[0] == 3 &&
        loop[1] == 1)
        animation->plays = read_le16(loop + 2) ? read_le16(loop + 2) + 1 : 0;
}

static int note_block(struct meta *meta, const struct gif_block *block,
                      struct bytes file, struct err *err)
{
    char name[32] = "comment";
    if (block->kind != GIF_COMMENT)
        snprintf(name, sizeof name, "extension %02x",
                 file.data[block->begin + 1]);
    if (meta_is_full(meta))
        return fail(err, "it has more than %zu blocks of metadata",
                    meta->nblocks);
    struct metadata_block *made = meta_add(
        meta, name, 0, file.data + block->begin, block->end - block->begin);
    if (!made)
        return fail_memory(err, "no memory for metadata");
    made->begin = block->begin;
    made->kind = block->kind == GIF_COMMENT ? BLOCK_COMMENT : BLOCK_OTHER;
    if (block->kind == GIF_APPLICATION)
        note_application(made, &meta->animation);
    return 0;
}

static int open_block(struct bytes *body, const struct metadata_block *block,
                      struct err *err)
{
    size_t at = block->kind == BLOCK_COMMENT ? 2 : LEAD;
    bool kept = true;
    if (block->kind == BLOCK_XMP)
        kept =
            bytes_append(body, block->data + LEAD, block->size - LEAD - MAGIC);
    else
        for (; kept && block->data[at]; at += 1u + block->data[at])
            kept = bytes_append(body, block->data + at + 1, block->data[at]);
    return kept ? 0 : fail_memory(err, "no memory for metadata");
}

/* Appends an extension, of an application unless its name is NULL. */
static bool put_extension(struct bytes *to, const char *name,
                          const struct bytes *body)
{
    uint8_t lead[LEAD] = { GIF_EXTENSION, GIF_APPLICATION, NAME };
    uint8_t magic[MAGIC];
    bool kept = name || bytes_append(to, "\x21\xfe", 2);
    make_magic(magic);
    if (name) {
        memcpy(lead + 3, name, NAME);
        kept = bytes_append(to, lead, LEAD);
    }
    if (name && *name == 'X')
        return kept && bytes_append(to, body->data, body->size) &&
               bytes_append(to, magic, MAGIC);
    for (size_t at = 0; kept && at < body->size; at += 255) {
        const size_t left = body->size - at, n = left < 255 ? left : 255;
        const uint8_t size = (uint8_t)n;
        kept =
            bytes_append(to, &size, 1) && bytes_append(to, body->data + at, n);
    }
    return kept && bytes_append(to, "", 1);
}

static int close_block(struct metadata_block *block, const struct bytes *body,
                       struct err *err)
{
    struct bytes made = { 0 };
    const char *name = block->kind == BLOCK_COMMENT ? NULL : block->name;
    bool kept = put_extension(&made, name, body) &&
                metadata_block_set(block, NULL, 0, made.data, made.size);
    bytes_free(&made);
    return kept ? 0 : fail_memory(err, "no memory for metadata");
}

static size_t room_of(enum block_kind kind)
{
    (void)kind;
    return SIZE_MAX;
}

static int from_portable(struct meta *made, const struct meta *from,
                         struct warnings *warnings, struct err *err)
{
    const struct {
        const char *name;
        const struct bytes *body;
    } fields[] = { { "ICCRGBG1012", &from->icc },
                   { "XMP DataXMP", &from->xmp },
                   { NULL, &from->comment } };
    bool kept = true;
    (void)warnings;
    for (size_t i = 0; i < sizeof fields / sizeof *fields && kept; i++) {
        struct bytes file = { 0 };
        if (fields[i].body->size == 0)
            continue;
        kept = put_extension(&file, fields[i].name, fields[i].body);
        const struct gif_block block = { .kind = fields[i].name
                                                     ? GIF_APPLICATION
                                                     : GIF_COMMENT,
                                         .end = file.size };
        int status = kept ? note_block(made, &block, file, err) : 0;
        bytes_free(&file);
        if (status)
            return -1;
    }
    return kept ? 0 : fail_memory(err, "no memory for metadata");
}

const struct block_format gif_blocks = {
    .open = open_block,
    .close = close_block,
    .room = room_of,
    .from_portable = from_portable,
};

/* ---- All blocks --------------------------------------------------------- */

static int read_head(struct gif *gif, struct bytes file, struct err *err)
{
    const uint8_t *p = file.data;
    *gif = (struct gif){ .file = file, .begin = GIF_HEAD };
    if (file.size < GIF_HEAD)
        return fail(err, "the file is cut short");
    gif->width = read_le16(p + 6);
    gif->height = read_le16(p + 8);
    if (p[10] & 0x80)
        gif->begin += (size_t)GIF_COLOR << ((p[10] & 7) + 1);
    return gif->begin > file.size ? fail(err, "the file is cut short") : 0;
}

/* The first frame makes the screen larger, as for browsers. Others do not. */
static int take_frame(struct gif *gif, const struct gif_block *block,
                      const struct load_opts *opts, struct err *err)
{
    const uint8_t *p = gif->file.data + block->begin + 1;
    const uint32_t width = read_le16(p + 4), height = read_le16(p + 6),
                   right = read_le16(p) + width,
                   below = read_le16(p + 2) + height;
    const struct image row = { .cell = CELL_U8, .nplanes = 1 };
    const size_t coded = block->end - block->body;
    const uint64_t pixels = (uint64_t)width * height,
                   cells = image_row_bytes(&row, width) * height +
                           image_row_bytes(&row, height) * width;
    struct gif_sums *sums = &gif->sums;
    if (gif->frames++ == 0)
        gif->first = *block;
    if (gif->frames == 1 && pixels) {
        gif->width = gif->width < right ? right : gif->width;
        gif->height = gif->height < below ? below : gif->height;
        if (gif->width > UINT16_MAX || gif->height > UINT16_MAX)
            return fail(err,
                        "its first frame reaches to %u, %u; no screen is "
                        "larger than 65535",
                        right, below);
    }
    const struct gif_rect shown = gif_rect_of(gif, block);
    gif->outside += shown.width < width || shown.height < height;
    sums->pixels += pixels;
    sums->coded += coded;
    sums->cells += cells;
    sums->most = pixels + cells > sums->most ? pixels + cells : sums->most;
    if (pixels <= LZW_OF_BYTE * coded)
        return 0;
    if (!opts->tolerant)
        return fail(err,
                    "frame %u is cut short: its %zu bytes are too few for "
                    "%u x %u pixels",
                    gif->frames, coded, width, height);
    return limit_check_cut(coded, pixels, &opts->limits, err);
}

static int take_block(struct gif *gif, const struct gif_block *block,
                      struct meta *meta, const struct load_opts *opts,
                      struct err *err)
{
    gif->texts = gif->texts || block->kind == GIF_TEXT;
    if (block->kind == GIF_FRAME) {
        if (meta)
            animation_add(&meta->animation, block->delay / 100.0, !gif->frames);
        return take_frame(gif, block, opts, err);
    }
    return meta && gif_is_metadata(block)
               ? note_block(meta, block, gif->file, err)
               : 0;
}

int gif_scan(struct gif *gif, struct meta *meta, struct bytes file,
             const struct load_opts *opts, struct err *err)
{
    struct err why;
    if (read_head(gif, file, err))
        return -1;
    struct gif_block block = gif_before(gif);
    if (meta)
        meta->animation.plays = 1;
    while (!gif->cut) {
        gif->end = block.end;
        if (gif_next(&block, file, &why)) {
            if (!opts->tolerant || gif->frames == 0) {
                *err = why;
                return -1;
            }
            warn(opts->warnings, "%s; it ends before that now", why.text);
            gif->cut = true;
        } else if (block.kind == GIF_TRAILER || block.kind == GIF_NOTHING) {
            break;
        } else if (take_block(gif, &block, meta, opts, err)) {
            return -1;
        }
    }
    if (gif->frames == 0)
        return fail(err, "it holds no picture");
    if (block.kind == GIF_NOTHING && !gif->cut)
        warn(opts->warnings,
             "its end is missing: there may have been more than %u frame%s",
             gif->frames, gif->frames > 1 ? "s" : "");
    if (meta) {
        meta->animation.frames = gif->frames > 1 ? gif->frames : 0;
        meta->interlaced = file.data[gif->first.begin + 9] & 0x40;
    }
    return 0;
}
