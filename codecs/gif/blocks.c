/* The parts of a GIF, and those that are metadata. */
#include <stdio.h>
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/gif/gif.h"

/* ---- Sub-blocks ----------------------------------------------------------*/

enum { SUB_BLOCK = 255 };

/* Returns where they end, behind the empty one; 0 if that is missing. */
static size_t chain_end(struct bytes file, size_t at)
{
    while (at < file.size && file.data[at])
        at += 1u + file.data[at];
    return at < file.size ? at + 1 : 0;
}

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

/* An application's name, in a sub-block of 11 bytes, is followed by what it
 * says; by XMP without sub-blocks, and by a trailer that ends it for readers
 * who take its letters for sizes of them (XMP Specification, part 3, 1.1.2). */
enum { NAME = 11, LEAD = 3 + NAME, MAGIC = 258 };

static void make_magic(uint8_t magic[MAGIC])
{
    for (int i = 1; i < MAGIC; i++)
        magic[i] = (uint8_t)(256 - i);
    magic[0] = 1;
    magic[MAGIC - 1] = 0;
}

/* Those of which something is known. */
static const char loops[] = "NETSCAPE2.0", other_loops[] = "ANIMEXTS1.0",
                  icc[] = "ICCRGBG1012", xmp[] = "XMP DataXMP";

/* Finds what an application's block is, and how often frames are played. */
static void note_application(struct metadata_block *block,
                             struct animation *animation)
{
    const uint8_t *said = block->data + LEAD;
    uint8_t magic[MAGIC];
    if (block->size < LEAD || block->data[2] != NAME)
        return;
    memcpy(block->name, block->data + 3, NAME);
    block->name[NAME] = '\0';
    make_magic(magic);
    if (strcmp(block->name, icc) == 0) {
        block->kind = BLOCK_ICC;
        block->drop = DROP_ICC;
    } else if (strcmp(block->name, xmp) == 0) {
        block->drop = DROP_XMP;
        if (block->size >= LEAD + MAGIC &&
            memcmp(block->data + block->size - MAGIC, magic, MAGIC) == 0)
            block->kind = BLOCK_XMP;
    } else if (strcmp(block->name, loops) == 0 ||
               strcmp(block->name, other_loops) == 0) {
        block->kind = BLOCK_ESSENTIAL;
        block->portable = true;
        /* So many times it begins again. */
        if (block->size >= LEAD + 5 && said[0] == 3 && said[1] == 1)
            animation->plays =
                read_le16(said + 2) ? read_le16(said + 2) + 1 : 0;
    }
}

/* Adds an extension, which begins at `begin` in its file. */
static int note_extension(struct meta *meta, const uint8_t *data, size_t size,
                          size_t begin, struct err *err)
{
    const unsigned kind = GIF_EXTENSION << 8 | data[1];
    char name[32] = "comment";
    if (kind != GIF_COMMENT)
        snprintf(name, sizeof name, "extension %02x", data[1]);
    if (meta_is_full(meta))
        return fail(err, "it has more than %zu blocks of metadata",
                    meta->nblocks);
    struct metadata_block *block = meta_add(meta, name, 0, data, size);
    if (!block)
        return fail_memory(err, "no memory for metadata");
    block->begin = begin;
    if (kind == GIF_COMMENT)
        block->kind = BLOCK_COMMENT;
    else if (kind == GIF_APPLICATION)
        note_application(block, &meta->animation);
    return 0;
}

static int open_block(struct bytes *body, const struct metadata_block *block,
                      struct err *err)
{
    const struct bytes file = { block->data, block->size, 0 };
    const bool kept =
        block->kind == BLOCK_XMP
            ? bytes_append(body, block->data + LEAD, block->size - LEAD - MAGIC)
            : gif_join(body, file, block->kind == BLOCK_COMMENT ? 2 : LEAD);
    return kept ? 0 : fail_memory(err, "no memory for metadata");
}

/* Appends an extension: of this application, or a comment. */
static bool put_extension(struct bytes *to, const char *name,
                          const struct bytes *body)
{
    uint8_t lead[LEAD] = { GIF_EXTENSION, GIF_APPLICATION & 0xff, NAME };
    uint8_t magic[MAGIC];
    if (!name)
        return bytes_append(to, "\x21\xfe", 2) && gif_split(to, body);
    memcpy(lead + 3, name, NAME);
    make_magic(magic);
    return bytes_append(to, lead, LEAD) &&
           (strcmp(name, xmp) == 0 ? bytes_append(to, body->data, body->size) &&
                                         bytes_append(to, magic, MAGIC)
                                   : gif_split(to, body));
}

static int close_block(struct metadata_block *block, const struct bytes *body,
                       struct err *err)
{
    struct bytes made = { 0 };
    const char *name = block->kind == BLOCK_COMMENT ? NULL : block->name;
    const bool kept = put_extension(&made, name, body) &&
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
    } fields[] = { { icc, &from->icc },
                   { xmp, &from->xmp },
                   { NULL, &from->comment } };
    int status = 0;
    (void)warnings;
    for (size_t i = 0; i < sizeof fields / sizeof *fields && status == 0; i++) {
        struct bytes file = { 0 };
        if (fields[i].body->size)
            status = put_extension(&file, fields[i].name, fields[i].body)
                         ? note_extension(made, file.data, file.size, 0, err)
                         : fail_memory(err, "no memory for metadata");
        bytes_free(&file);
    }
    return status;
}

const struct block_format gif_blocks = {
    .open = open_block,
    .close = close_block,
    .room = room_of,
    .from_portable = from_portable,
};

/* ---- Parts ---------------------------------------------------------------*/

static int fail_cut(struct err *err, const char *what, size_t at)
{
    return fail(err, "the file is cut short in %s that begins at byte %zu",
                what, at);
}

/* What a control has said of the frame that comes next. */
struct gif_control {
    int transparent;
    unsigned delay; /* in hundredths of a second */
};
static const struct gif_control no_control = { .transparent = -1 };

int gif_find_part(struct gif_part *part, struct bytes file, size_t at,
                  struct err *err)
{
    const uint8_t *p = file.data + at;
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
        part->body = at + GIF_IMAGE;
        if (part->body < file.size)
            part->body += gif_palette_size(p[9]);
        if (part->body + 1 >= file.size)
            return fail_cut(err, "a frame", at);
        part->end = chain_end(file, part->body + 1);
        part->cut = part->end == 0;
        part->end = part->cut ? file.size : part->end;
        return 0;
    case GIF_EXTENSION:
        part->body = at + 2;
        part->end = chain_end(file, part->body);
        if (part->end == 0)
            return fail_cut(err, "an extension", at);
        part->kind = GIF_EXTENSION << 8 | p[1];
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

struct frame_place gif_place_shown(const struct gif *gif,
                                   const struct gif_part *frame)
{
    struct frame_place r = gif_place_of(gif, frame);
    if (r.x >= gif->width || r.y >= gif->height) {
        r.x = UINT32_MAX;
        return r;
    }
    const uint32_t right = gif->width - r.x, below = gif->height - r.y;
    r.width = r.width < right ? r.width : right;
    r.height = r.height < below ? r.height : below;
    return r;
}

/* The first frame makes the screen larger, as for browsers. Others do not. */
static int note_frame(struct gif *gif, const struct gif_part *part,
                      const struct load_opts *opts, struct err *err)
{
    const struct frame_place r = gif_place_of(gif, part);
    const uint32_t right = r.x + r.width, below = r.y + r.height;
    const uint64_t pixels = (uint64_t)r.width * r.height;
    const size_t coded = part->end - part->body;
    const struct image indices = { .cell = CELL_U8, .nplanes = 1 };
    frames_add(&gif->size, &indices, r.width, r.height, 1, coded);
    if (gif->size.frames == 1 && pixels) {
        gif->width = gif->width < right ? right : gif->width;
        gif->height = gif->height < below ? below : gif->height;
        if (gif->width > UINT16_MAX || gif->height > UINT16_MAX)
            return fail(err,
                        "its first frame reaches to %u, %u; no screen is "
                        "larger than 65535",
                        right, below);
    }
    const struct frame_place shown = gif_place_shown(gif, part);
    gif->outside += pixels && (shown.width < r.width ||
                               shown.height < r.height || shown.x > UINT16_MAX);
    if (pixels <= GIF_PIXELS_OF_BYTE * coded)
        return 0;
    if (!opts->tolerant)
        return fail(err,
                    "frame %u is cut short: its %zu bytes are too few for "
                    "%u x %u pixels",
                    gif->size.frames, coded, r.width, r.height);
    return limit_check_cut(coded, pixels, &opts->limits, err);
}

/* Takes the next part. */
static int take_part(struct gif *gif, struct gif_part *part,
                     struct gif_control *control, struct meta *meta,
                     const struct load_opts *opts, struct err *err)
{
    const uint8_t *begin = gif->file.data + part->begin,
                  *p = gif->file.data + part->body;
    struct gif_part *more;
    switch (part->kind) {
    case GIF_ZEROS:
        return 0;
    case GIF_CONTROL:
        if (p[0] >= 4)
            *control =
                (struct gif_control){ p[1] & 1 ? p[4] : -1, read_le16(p + 2) };
        return 0;
    case GIF_FRAME:
        part->transparent = control->transparent;
        if (meta)
            animation_add(&meta->animation, control->delay / 100.0,
                          gif->size.frames == 0);
        *control = no_control;
        more = memory_extend(gif->frame, gif->size.frames, sizeof *more);
        if (!more)
            return fail_memory(err, "no memory for so many frames");
        gif->frame = more;
        more[gif->size.frames] = *part;
        return note_frame(gif, part, opts, err);
    case GIF_TEXT:
        gif->texts = true;
        *control = no_control;
        return 0;
    default:
        return meta ? note_extension(meta, begin, part->end - part->begin,
                                     part->begin, err)
                    : 0;
    }
}

static int read_head(struct gif *gif, struct bytes file, struct err *err)
{
    const uint8_t *p = file.data;
    *gif = (struct gif){ .file = file };
    if (file.size >= GIF_HEAD)
        gif->begin = gif->end = GIF_HEAD + gif_palette_size(p[10]);
    if (file.size < GIF_HEAD || gif->end > file.size)
        return fail(err, "the file is cut short");
    gif->width = read_le16(p + 6);
    gif->height = read_le16(p + 8);
    return 0;
}

int gif_scan(struct gif *gif, struct meta *meta, struct bytes file,
             const struct load_opts *opts, struct err *err)
{
    struct gif_control control = no_control;
    struct gif_part part;
    struct err why;
    if (read_head(gif, file, err))
        return -1;
    if (meta)
        meta->animation.plays = 1;
    for (;; gif->end = part.end) {
        gif->cut = gif_find_part(&part, file, gif->end, &why);
        if (gif->cut || part.kind == GIF_TRAILER || part.kind == GIF_NOTHING)
            break;
        if (take_part(gif, &part, &control, meta, opts, err))
            return -1;
    }
    const uint32_t frames = gif->size.frames;
    if (gif->cut && (!opts->tolerant || frames == 0)) {
        *err = why;
        return -1;
    }
    if (frames == 0)
        return fail(err, "it holds no picture");
    if (gif->cut)
        warn(opts->warnings, "%s; it ends before that now", why.text);
    else if (part.kind == GIF_NOTHING)
        warn(opts->warnings,
             "its end is missing: there may have been more than %u frame%s",
             frames, frames > 1 ? "s" : "");
    if (meta) {
        meta->animation.frames = frames > 1 ? frames : 0;
        meta->interlaced = file.data[gif->frame->begin + 9] & 0x40;
    }
    return 0;
}

void gif_free(struct gif *gif)
{
    memory_free(gif->frame);
}
