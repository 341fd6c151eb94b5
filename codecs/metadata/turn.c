/* The metadata stage: each block is opened, what it holds is read or turned,
 * and it is closed again. */
#include <string.h>

#include "codecs/base/account.h"
#include "codecs/metadata/blocks.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/xmp.h"

int block_open(struct bytes *body, const struct metadata_block *block,
               const struct block_format *format, struct account *account,
               struct err *err)
{
    if (account_spend(account, block->size, err) ||
        format->open(body, block, err))
        return -1;
    if (body->size <= block->size ||
        account_spend(account, body->size - block->size, err) == 0)
        return 0;
    bytes_free(body);
    return -1;
}

/* Opens a block, and a text in hexadecimal that it may be: *kind is that of the
 * body. */
static int open_body(struct bytes *body, enum block_kind *kind,
                     const struct metadata_block *block,
                     const struct block_format *format, struct account *account,
                     struct err *err)
{
    *kind = block->kind;
    if (block_open(body, block, format, account, err))
        return -1;
    if (*kind != BLOCK_RAW_PROFILE || raw_profile_open(body, kind, err) == 0)
        return 0;
    bytes_free(body);
    return -1;
}

/* ---- What the blocks say of the orientation -------------------------------*/

/* Notes what a block says, or what is in a text. A damaged block counts as
 * empty. `more`: there was EXIF before. */
static int note_block(struct meta *meta, const struct metadata_block *block,
                      const struct block_format *format, bool *more,
                      struct err *err)
{
    struct orientation *o = &meta->orientation;
    struct bytes body = { 0 };
    struct err why = { .text = "" };
    enum block_kind kind;
    if (open_body(&body, &kind, block, format, meta->account, &why) &&
        why.memory) {
        *err = why;
        return -1;
    }
    if (kind == BLOCK_EXIF) {
        orientation_note(o, *more ? TAG_MORE_EXIF : TAG_EXIF,
                         exif_tag(body.data, body.size));
        *more = true;
    } else if (kind == BLOCK_XMP) {
        xmp_note(body.data, body.size, o);
    } else if (kind != BLOCK_RAW_PROFILE && body.size == 1 && *body.data >= 1 &&
               *body.data <= 8) {
        orientation_note(o, TAG_ORNT, *body.data);
    }
    bytes_free(&body);
    return 0;
}

/* Readers take the first EXIF there is, and a block of its own before a text.
 */
int metadata_read_orientation(struct image *img,
                              const struct block_format *format,
                              struct err *err)
{
    static const unsigned passes[] = {
        1u << BLOCK_EXIF | 1u << BLOCK_ORIENTATION,
        1u << BLOCK_XMP | 1u << BLOCK_RAW_PROFILE,
    };
    struct meta *meta = img->meta;
    bool more = false;
    int status = 0;
    meta->orientation = (struct orientation){ 0 };
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < meta->nblocks && status == 0; i++)
            if (passes[pass] >> meta->block[i].kind & 1)
                status = note_block(meta, &meta->block[i], format, &more, err);
    if (status == 0)
        status = xmp_extended_note(meta, format, err);
    if (status == 0)
        img->orientation =
            meta->orientation.value ? meta->orientation.value : 1;
    return account_spend(meta->account, 0, err) ? -1 : status;
}

/* ---- What other formats hold as well --------------------------------------*/

int metadata_read_portable(struct meta *meta, const struct block_format *format,
                           const struct load_opts *opts, struct err *err)
{
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        const enum block_kind kind = block->kind;
        struct bytes *field = kind == BLOCK_EXIF      ? &meta->exif
                              : kind == BLOCK_XMP     ? &meta->xmp
                              : kind == BLOCK_COMMENT ? &meta->comment
                              : kind == BLOCK_ICC     ? &meta->icc
                                                      : NULL;
        if (!field || field->size) /* none, or filled by another block */
            continue;
        if (block_open(field, block, format, meta->account, err) == 0) {
            block->portable = true;
            continue;
        }
        if (!opts->tolerant || err->memory)
            return -1;
        warn(opts->warnings, "%s cannot be read: %s", block->name, err->text);
    }
    return meta_comment_utf8(meta, err);
}

void metadata_drop_portable(struct meta *meta, unsigned drop)
{
    if (drop & DROP_ICC)
        bytes_free(&meta->icc);
    if (drop & DROP_EXIF)
        bytes_free(&meta->exif);
    if (drop & DROP_XMP)
        bytes_free(&meta->xmp);
    for (size_t i = 0; i < meta->nblocks; i++)
        if (drop & meta->block[i].drop)
            meta->block[i].portable = true;
}

/* ---- What a turn makes of a block -----------------------------------------*/

/* PNG's sCAL: a unit, the width of a pixel in decimal, a zero, its height. */
static void exchange_scale(struct bytes *data)
{
    uint8_t text[128];
    if (data->size < 2 || data->size > sizeof text)
        return;
    uint8_t *x = data->data + 1;
    uint8_t *zero = memchr(x, 0, data->size - 1);
    if (!zero)
        return;
    size_t nx = (size_t)(zero - x), ny = data->size - nx - 2;
    memcpy(text, zero + 1, ny);
    text[ny] = 0;
    memcpy(text + ny + 1, x, nx);
    memcpy(x, text, nx + ny + 1);
}

/* ITU-T T.871, 10.1: behind "JFIF\0" stand 2 bytes of version, a unit, two
 * densities of 2 bytes, and a thumbnail: its size in 2 bytes, and pixels, which
 * nobody writes and which are not turned. */
static void turn_jfif(struct bytes *body, const struct turned *t)
{
    enum { UNIT = 2, DENSITY_X = 3, DENSITY_Y = 5, SIZE = 7, PIXELS = 9 };
    static const uint8_t no_density[5] = { 0, 0, 1, 0, 1 };
    const struct save_opts *opts = t->opts;
    const bool dropped =
        opts->strip != STRIP_NOTHING || opts->drop & DROP_THUMBNAIL;
    uint8_t *p = body->data;
    if (body->size < PIXELS)
        return;
    if (opts->strip != STRIP_NOTHING)
        memcpy(p + UNIT, no_density, sizeof no_density);
    if (xform_transposes(t->img->turned))
        axes_exchange(p + DENSITY_X, p + DENSITY_Y, 2);
    if (!dropped && (t->img->turned == XFORM_NONE || !p[SIZE] || !p[SIZE + 1]))
        return;
    if (!dropped)
        warn(opts->warnings,
             "the JFIF thumbnail is not turned, so it is not kept");
    memset(p + SIZE, 0, 2);
    body->size = PIXELS;
}

/* Sets *kept to false for a block that is dropped. */
static int turn_body(struct bytes *body, enum block_kind kind, size_t room,
                     const struct turned *t, bool *kept, struct err *err)
{
    const bool exchanged = xform_transposes(t->img->turned);
    const struct change change = image_change(t->img);
    unsigned tag;
    switch (kind) {
    case BLOCK_EXIF:
        if (t->retag) {
            exif_retag(body->data, body->size, t->opts->orientation,
                       t->retag->op);
            break;
        }
        if (exif_drop(body, t->opts->drop, err))
            return -1;
        tag = exif_thumbnail_find(body->data, body->size).orientation;
        exif_turn(body->data, body->size, &change, t->opts->orientation);
        return thumbnail_turn_exif(body, room, tag, t->img, t->opts, err);
    case BLOCK_XMP:
        return xmp_packet_turn(body, room, t->img, t->opts, &t->lengths, err);
    case BLOCK_PHOTOSHOP:
        return photoshop_turn(body, t->img, t->opts, err);
    case BLOCK_RAW_PROFILE: /* which holds neither */
        break;
    case BLOCK_JFIF:
        turn_jfif(body, t);
        break;
    case BLOCK_JFXX: /* an extension of it, which is a thumbnail */
        *kept = t->img->turned == XFORM_NONE;
        if (!*kept)
            warn(t->opts->warnings,
                 "the JFXX thumbnail is not turned, so it is not kept");
        break;
    case BLOCK_ORIENTATION:
        if (t->opts->orientation && body->size == 1)
            *body->data = (uint8_t)t->opts->orientation;
        break;
    case BLOCK_SCALE:
        if (exchanged)
            exchange_scale(body);
        break;
    default: /* two numbers of 4 bytes, or four */
        if (exchanged && body->size >= 8)
            axes_exchange(body->data, body->data + 4, 4);
        if (exchanged && kind == BLOCK_CANVAS && body->size == 16)
            axes_exchange(body->data + 8, body->data + 12, 4);
    }
    return 0;
}

/* A block in which nothing changes stays as it is: deflated as it was. One that
 * cannot be read may say what is no longer true. */
static int turn_block(struct metadata_block *block, const struct turned *t,
                      struct err *err)
{
    struct account *account = t->img->meta->account;
    struct bytes body = { 0 }, before = { 0 }, text = { 0 };
    struct err why = { .text = "" };
    enum block_kind kind;
    int status = 0;
    if (open_body(&body, &kind, block, t->format, account, &why)) {
        if (why.memory) {
            *err = why;
            return -1;
        }
        block->dropped = !t->retag;
        if (block->dropped)
            warn(t->opts->warnings, "%s with %s is not kept: %s", block->name,
                 (const char *)block->data, why.text);
        return 0;
    }
    bool kept = kind == block->kind ||
                !(t->opts->drop & (kind == BLOCK_XMP ? DROP_XMP : DROP_EXIF));
    if (kept && !bytes_append(&before, body.data, body.size))
        status = fail_memory(err, "no memory for %s", block->name);
    else if (kept)
        status =
            turn_body(&body, kind, t->format->room(block->kind), t, &kept, err);
    if (status == 0 && kept &&
        (body.size != before.size ||
         (body.size && memcmp(body.data, before.data, body.size) != 0))) {
        if (kind != block->kind && (t->format->open(&text, block, err) ||
                                    raw_profile_close(&text, &body, err)))
            status = -1;
        else
            status = t->format->close(block,
                                      kind == block->kind ? &body : &text, err);
    }
    block->dropped = !kept;
    bytes_free(&before);
    bytes_free(&text);
    bytes_free(&body);
    return account_spend(account, 0, err) ? -1 : status;
}

/* Turns the blocks of these kinds: 1 << kind, or-ed. */
static int turn_blocks(unsigned kinds, const struct turned *t, struct err *err)
{
    struct meta *meta = t->img->meta;
    for (size_t i = 0; i < meta->nblocks; i++)
        if (!meta->block[i].dropped && kinds >> meta->block[i].kind & 1 &&
            turn_block(&meta->block[i], t, err))
            return -1;
    return 0;
}

/* ---- All of it ------------------------------------------------------------*/

/* Makes the first block of EXIF, or one that is put in, say the orientation. */
static int add_tag(const struct turned *t, size_t at, struct err *err)
{
    const unsigned orientation = t->opts->orientation;
    struct meta *meta = t->img->meta;
    struct metadata_block *block = NULL;
    struct bytes exif = { 0 };
    int status = 0;
    for (size_t i = 0; i < meta->nblocks && !block; i++)
        if (!meta->block[i].dropped && meta->block[i].kind == BLOCK_EXIF)
            block = &meta->block[i];
    if (!block) {
        block = t->format->insert_exif(meta);
        if (!block)
            return fail_memory(err, "no memory for EXIF");
        block->begin = block->end = at;
    } else if (block_open(&exif, block, t->format, meta->account, err)) {
        return -1;
    }
    if (!block->size || exif_tag(exif.data, exif.size) != orientation)
        status = exif_add_orientation(&exif, orientation) ||
                         exif.size > t->format->room(BLOCK_EXIF)
                     ? fail(err, "EXIF is damaged or full, so that it cannot "
                                 "hold an orientation")
                     : t->format->close(block, &exif, err);
    bytes_free(&exif);
    return status;
}

bool metadata_is_dropped(const struct metadata_block *block,
                         const struct save_opts *opts)
{
    const enum block_kind kind = block->kind;
    const bool color =
        kind == BLOCK_COLOR || kind == BLOCK_ICC || kind == BLOCK_ICC_PORTION;
    return kind != BLOCK_ESSENTIAL && kind != BLOCK_JFIF &&
           kind != BLOCK_FRAME &&
           (opts->drop & block->drop || opts->strip == STRIP_ALL ||
            (opts->strip == STRIP_METADATA && !color));
}

void metadata_warn_of_place(const struct metadata_block *block,
                            struct warnings *warnings)
{
    if (xmp_tells_place(block->data, block->size))
        warn(warnings, "%s seems to contain coordinates, and is kept",
             block->name);
}

/* Signed files are changed like any other; what reads them will say so. What is
 * not understood may tell a place, and stays. */
static int turn_all(struct turned *t, struct err *err)
{
    const unsigned first =
        1u << BLOCK_EXIF | 1u << BLOCK_RAW_PROFILE | 1u << BLOCK_PHOTOSHOP |
        1u << BLOCK_JFIF | 1u << BLOCK_JFXX | 1u << BLOCK_ORIENTATION |
        1u << BLOCK_AXES | 1u << BLOCK_CANVAS | 1u << BLOCK_SCALE;
    struct meta *meta = t->img->meta;
    bool is_signed = false;
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        const bool to_file = block->kind == BLOCK_TIED_TO_FILE,
                   to_pixels = block->kind == BLOCK_TIED &&
                               t->img->turned != XFORM_NONE;
        block->dropped = metadata_is_dropped(block, t->opts);
        is_signed |= !block->dropped && block->kind == BLOCK_JUMBF;
        if (block->dropped || (!to_file && !to_pixels))
            continue;
        warn(t->opts->warnings,
             "chunk %s is tied to the %s as they were, so it is not kept",
             block->name, to_file ? "bytes of the file" : "pixels");
        block->dropped = true;
    }
    if (turn_blocks(first, t, err))
        return -1;
    if (is_signed && t->img->turned != XFORM_NONE)
        warn(t->opts->warnings, "what JUMBF (C2PA) says of the pixels, such as "
                                "a signature, no longer holds");
    if (trailing_pictures_turn(t, err) ||
        turn_blocks(1u << BLOCK_XMP, t, err) || xmp_extended_turn(t, err))
        return -1;
    for (size_t i = 0; i < meta->nblocks && t->opts->drop & DROP_GPS; i++) {
        const struct metadata_block *block = &meta->block[i];
        if (!t->opts->inner && !block->dropped)
            metadata_warn_of_place(block, t->opts->warnings);
    }
    return t->opts->orientation > 1 ? add_tag(t, 0, err) : 0;
}

static int turn_metadata(struct image *img, const struct codec *to,
                         const struct save_opts *opts, struct err *err)
{
    struct meta *meta = img->meta;
    struct turned t = { .img = img, .opts = opts, .format = to->blocks };
    const uint32_t first = meta->animation.apart ? 1 : 2,
                   last = meta->animation.frames;
    bool animated = false;
    for (size_t i = 0; i < meta->nblocks && meta->codec == to; i++)
        animated = animated || meta->block[i].kind == BLOCK_FRAME;
    if (!animated && first < last)
        warn(opts->warnings,
             "frames %u to %u of the animation are not converted: only the "
             "default image is kept",
             first, last);
    else if (!animated && first == last)
        warn(opts->warnings,
             "frame %u of the animation is not converted: only the default "
             "image is kept",
             first);
    if (!animated)
        meta->animation = (struct animation){ 0 };
    if (opts->strip == STRIP_NOTHING && meta->codec != to)
        meta_warn_lost(meta, to->capabilities.metadata, to->title,
                       opts->warnings);
    if (opts->strip != STRIP_NOTHING)
        meta->density.unit = DENSITY_NONE;
    if (opts->strip == STRIP_ALL)
        bytes_free(&meta->icc);
    if (to->blocks && meta->codec != to) {
        /* Its blocks come in the place of those of the other format. */
        struct meta *made = meta_new(to);
        int failed =
            made ? to->blocks->from_portable(made, meta, opts->warnings, err)
                 : fail_memory(err, "no memory for the metadata");
        if (made)
            meta_swap_blocks(meta, made);
        meta_free(made);
        if (failed)
            return -1;
    }
    if (xform_transposes(img->turned))
        meta->density = (struct density){ meta->density.unit, meta->density.y,
                                          meta->density.x };
    if (!to->blocks)
        return 0;
    int status = turn_all(&t, err);
    if (status == 0 && meta->animation.frames)
        status = to->blocks->turn_frames(img, opts, err);
    meta_remove_dropped(meta);
    return status;
}

int metadata_turn(struct image *img, const struct codec *to,
                  const struct save_opts *opts, struct err *err)
{
    if (!img->meta)
        return 0;
    int status = turn_metadata(img, to, opts, err);
    return account_spend(img->meta->account, 0, err) ? -1 : status;
}

/* ---- Tags alone -----------------------------------------------------------*/

int metadata_retag(struct bytes *out, struct bytes file, struct image *img,
                   const struct retag *retag, struct err *err)
{
    const unsigned kinds = 1u << BLOCK_EXIF | 1u << BLOCK_RAW_PROFILE |
                           1u << BLOCK_XMP | 1u << BLOCK_ORIENTATION;
    struct meta *meta = img->meta;
    const struct save_opts save = {
        .orientation = xform_retag(meta->orientation.value, retag->op),
        .warnings = retag->warnings,
    };
    const struct turned t = {
        .img = img, .opts = &save, .format = meta->codec->blocks, .retag = retag
    };
    size_t done = 0;
    if (turn_blocks(kinds, &t, err) || xmp_extended_turn(&t, err) ||
        (save.orientation > 1 && retag->exif_at &&
         add_tag(&t, retag->exif_at, err)) ||
        account_spend(meta->account, 0, err))
        return -1;
    bool kept = true;
    for (size_t i = 0; i < meta->nblocks && kept; i++) {
        const struct metadata_block *block = &meta->block[i];
        kept = bytes_append(out, file.data + done, block->begin - done) &&
               t.format->frame(out, block);
        done = block->end;
    }
    if (!kept || !bytes_append(out, file.data + done, file.size - done))
        return fail_memory(err, "no memory for the file");
    return 0;
}
