/* The metadata stage: each block is opened, what it holds is turned, and it is
 * closed again. */
#include "codecs/metadata/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/image/budget.h"
#include "codecs/metadata/axes.h"
#include "codecs/metadata/block_format.h"
#include "codecs/metadata/drop.h"
#include "codecs/metadata/embedded_jpeg.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/exif_thumbnail.h"
#include "codecs/metadata/jfif.h"
#include "codecs/metadata/photoshop.h"
#include "codecs/metadata/raw_profile.h"
#include "codecs/metadata/thumbnail.h"
#include "codecs/metadata/trailing_pictures.h"
#include "codecs/metadata/xmp_extended.h"
#include "codecs/metadata/xmp_packet.h"

/* ---- What is left out -----------------------------------------------------*/

static bool is_left_out(const struct metadata_block *block,
                        const struct save_opts *opts)
{
    enum block_kind kind = block->kind;
    if (kind == BLOCK_ESSENTIAL || kind == BLOCK_JFIF || kind == BLOCK_FRAME)
        return false;
    if (opts->drop & block->drop || opts->strip == STRIP_ALL)
        return true;
    return opts->strip == STRIP_METADATA && kind != BLOCK_COLOR &&
           kind != BLOCK_ICC && kind != BLOCK_ICC_PORTION;
}

static void leave_out(struct meta *meta, const struct image *img,
                      const struct save_opts *opts)
{
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        bool to_file = block->kind == BLOCK_TIED_TO_FILE;
        bool to_pixels = block->kind == BLOCK_TIED && img->turned != XFORM_NONE;
        block->dropped = is_left_out(block, opts);
        if (block->dropped || (!to_file && !to_pixels))
            continue;
        warn(opts->warnings,
             "chunk %s is tied to the %s as they were, so it is not kept",
             block->name, to_file ? "bytes of the file" : "pixels");
        block->dropped = true;
    }
}

/* ---- What a turn makes of a block -----------------------------------------*/

/* The picture that was turned, and how it is to be written. */
struct turned {
    const struct image *img;
    const struct save_opts *opts;
    const struct block_format *format;
    struct lengths lengths; /* of the pictures behind it */
    bool retag; /* only tags change, by `op`: the pixels stay as stored */
    enum xform op;
};

static int turn_exif(struct bytes *exif, size_t room, const struct turned *t,
                     struct err *err)
{
    const struct image *img = t->img;
    const struct save_opts *opts = t->opts;
    const struct change change = image_change(img);
    if (t->retag) {
        exif_retag(exif->data, exif->size, opts->orientation, t->op);
        return 0;
    }
    if (drop_in_exif(exif, opts->drop, err))
        return -1;
    const unsigned tag = exif_thumbnail_orientation(exif->data, exif->size);
    exif_turn(exif->data, exif->size, img->turned, opts->orientation,
              change.kept_width, change.kept_height);
    if (thumbnail_turn_exif(exif, room, tag, img, opts, err))
        return -1;
    if (change_trims(&change))
        exif_set_size(exif->data, exif->size, img->width, img->height);
    return 0;
}

static int turn_xmp(struct bytes *packet, size_t room, const struct turned *t,
                    struct err *err)
{
    return xmp_packet_turn(packet, room, t->img, t->opts, &t->lengths, err);
}

static int turn_profile(struct raw_profile *profile, const struct turned *t,
                        bool *kept, struct err *err)
{
    bool xmp = profile->kind == RAW_PROFILE_XMP;
    if (profile->kind == RAW_PROFILE_NONE)
        return 0;
    *kept = !(t->opts->drop & (xmp ? DROP_XMP : DROP_EXIF));
    if (!*kept)
        return 0;
    return xmp ? turn_xmp(&profile->body, SIZE_MAX, t, err)
               : turn_exif(&profile->body, SIZE_MAX, t, err);
}

static int turn_raw_profile(struct bytes *text, const struct turned *t,
                            bool *kept, struct err *err)
{
    struct raw_profile profile;
    int status = raw_profile_open(&profile, text, err);
    if (status == 0)
        status = turn_profile(&profile, t, kept, err);
    if (status == 0)
        status = raw_profile_close(text, &profile, err);
    raw_profile_free(&profile);
    return status;
}

static int turn_photoshop(struct bytes *resources, size_t room,
                          const struct turned *t, struct err *err)
{
    return photoshop_drop(resources, t->opts, err)
               ? -1
               : photoshop_turn(resources, room, t->img, t->opts, err);
}

/* Sets *kept to false for a block that is dropped. */
static int turn_body(struct bytes *body, enum block_kind kind,
                     const struct turned *t, bool *kept, struct err *err)
{
    const size_t room = t->format->room(kind);
    switch (kind) {
    case BLOCK_EXIF:
        return turn_exif(body, room, t, err);
    case BLOCK_XMP:
        return turn_xmp(body, room, t, err);
    case BLOCK_RAW_PROFILE:
        return turn_raw_profile(body, t, kept, err);
    case BLOCK_PHOTOSHOP:
        return turn_photoshop(body, room, t, err);
    case BLOCK_JFIF:
        return jfif_turn(body, t->img, t->opts, err);
    case BLOCK_JFXX:
        return jfif_turn_extension(body, room, t->img, t->opts, kept, err);
    case BLOCK_ORIENTATION:
        if (t->opts->orientation && body->size == 1)
            *body->data = (uint8_t)t->opts->orientation;
        return 0;
    default:
        if (xform_transposes(t->img->turned))
            axes_exchange(body, kind);
        return 0;
    }
}

static bool same_bytes(const struct bytes *a, const struct bytes *b)
{
    return a->size == b->size &&
           (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

/* A block in which nothing changes stays as it is: deflated as it was. */
static int turn_opened(struct metadata_block *block, struct bytes *body,
                       const struct turned *t, struct err *err)
{
    struct bytes before = { 0 };
    bool kept = true;
    int status = -1;
    if (!bytes_append(&before, body->data, body->size))
        fail_memory(err, "no memory for %s", block->name);
    else
        status = turn_body(body, block->kind, t, &kept, err);
    if (status == 0 && kept && !same_bytes(body, &before))
        status = t->format->close(block, body, err);
    block->dropped = !kept;
    bytes_free(&before);
    return status;
}

/* A block that cannot be read may say what is no longer true. */
static int turn_block(struct metadata_block *block, const struct turned *t,
                      struct err *err)
{
    struct budget *budget = t->img->meta->budget;
    struct bytes body = { 0 };
    struct err why = { .text = "" };
    if (block_open(&body, block, t->format, budget, &why) == 0) {
        int status = turn_opened(block, &body, t, err);
        bytes_free(&body);
        return budget_spend(budget, 0, err) ? -1 : status;
    }
    if (why.memory) {
        *err = why;
        return -1;
    }
    if (t->retag)
        return 0;
    warn(t->opts->warnings, "%s with %s is not kept: %s", block->name,
         (const char *)block->data, why.text);
    block->dropped = true;
    return 0;
}

/* Turns the blocks of these kinds: 1 << kind, or-ed. */
static int turn_blocks(struct meta *meta, unsigned kinds,
                       const struct turned *t, struct err *err)
{
    for (size_t i = 0; i < meta->nblocks; i++)
        if (!meta->block[i].dropped && kinds >> meta->block[i].kind & 1 &&
            turn_block(&meta->block[i], t, err))
            return -1;
    return 0;
}

/* ---- All of it ------------------------------------------------------------*/

/* Signed files are changed like any other; what reads them will say so. */
static void warn_of_signature(const struct meta *meta, const struct image *img,
                              struct warnings *warnings)
{
    for (size_t i = 0; i < meta->nblocks && img->turned != XFORM_NONE; i++)
        if (!meta->block[i].dropped && meta->block[i].kind == BLOCK_JUMBF) {
            warn(warnings, "what JUMBF (C2PA) says of the pixels, such as a "
                           "signature, no longer holds");
            return;
        }
}

/* What is not understood may tell a place, and stays. */
static void warn_of_places(const struct meta *meta,
                           const struct save_opts *opts)
{
    for (size_t i = 0; i < meta->nblocks && opts->drop & DROP_GPS; i++) {
        const struct metadata_block *block = &meta->block[i];
        if (!block->dropped && drop_tells_place(block->data, block->size))
            warn(opts->warnings, "%s seems to contain coordinates, and is kept",
                 block->name);
    }
}

/* Puts blocks of `to` in the place of those of another format. */
static int make_blocks(struct meta *meta, const struct codec *to,
                       const struct save_opts *opts, struct err *err)
{
    struct meta *made = meta_new(to);
    if (!made)
        return fail_memory(err, "no memory for the metadata");
    int status = to->blocks->from_portable(made, meta, opts->warnings, err);
    meta_swap_blocks(meta, made);
    meta_free(made);
    return status;
}

/* Makes the first block of EXIF, or one that is put in, say the orientation. */
static int add_tag(struct meta *meta, const struct turned *t, size_t at,
                   struct err *err)
{
    const unsigned orientation = t->opts->orientation;
    struct metadata_block *block = NULL;
    struct bytes exif = { 0 };
    for (size_t i = 0; i < meta->nblocks && !block; i++)
        if (!meta->block[i].dropped && meta->block[i].kind == BLOCK_EXIF)
            block = &meta->block[i];
    if (!block) {
        block = t->format->insert_exif(meta);
        if (!block)
            return fail_memory(err, "no memory for EXIF");
        block->begin = block->end = at;
    } else if (block_open(&exif, block, t->format, meta->budget, err)) {
        return -1;
    }
    int status = 0;
    if (block->size && exif_orientation(exif.data, exif.size) == orientation)
        status = 0;
    else if (exif_add_orientation(&exif, orientation) ||
             exif.size > t->format->room(BLOCK_EXIF))
        status = fail(err, "EXIF is damaged or full, so that it cannot hold an "
                           "orientation");
    else
        status = t->format->close(block, &exif, err);
    bytes_free(&exif);
    return status;
}

static int turn_all(struct meta *meta, struct turned *t, struct err *err)
{
    const unsigned first =
        1u << BLOCK_EXIF | 1u << BLOCK_RAW_PROFILE | 1u << BLOCK_PHOTOSHOP |
        1u << BLOCK_JFIF | 1u << BLOCK_JFXX | 1u << BLOCK_ORIENTATION |
        1u << BLOCK_AXES | 1u << BLOCK_CANVAS | 1u << BLOCK_SCALE;
    const struct save_opts *opts = t->opts;
    leave_out(meta, t->img, opts);
    if (turn_blocks(meta, first, t, err))
        return -1;
    warn_of_signature(meta, t->img, opts->warnings);
    if (trailing_pictures_turn(meta, t->format, t->img, opts, &t->lengths,
                               err) ||
        turn_blocks(meta, 1u << BLOCK_XMP, t, err) ||
        xmp_extended_turn(meta, t->format, t->img, opts, &t->lengths, err))
        return -1;
    if (!opts->inner)
        warn_of_places(meta, opts);
    return opts->orientation > 1 ? add_tag(meta, t, 0, err) : 0;
}

/* An animation that was converted has lost its frames. */
static void warn_of_frames(struct meta *meta, const struct codec *to,
                           struct warnings *warnings)
{
    const struct animation *a = &meta->animation;
    uint32_t first = a->apart ? 1 : 2;
    bool kept = false;
    for (size_t i = 0; i < meta->nblocks && !kept && meta->codec == to; i++)
        kept = meta->block[i].kind == BLOCK_FRAME;
    if (kept)
        return;
    if (first < a->frames)
        warn(warnings,
             "frames %u to %u of the animation are not converted: only the "
             "default image is kept",
             first, a->frames);
    else if (first == a->frames)
        warn(warnings,
             "frame %u of the animation is not converted: only the default "
             "image is kept",
             first);
    meta->animation = (struct animation){ 0 };
}

static int turn_metadata(struct image *img, const struct codec *to,
                         const struct save_opts *opts, struct err *err)
{
    struct meta *meta = img->meta;
    struct save_opts save = *opts;
    uint64_t allowance = embedded_jpeg_allowance(img);
    struct turned t = { .img = img, .opts = &save, .format = to->blocks };
    warn_of_frames(meta, to, opts->warnings);
    if (opts->strip == STRIP_NOTHING && meta->codec != to)
        meta_warn_lost(meta, to->capabilities.metadata, to->title,
                       opts->warnings);
    if (opts->strip != STRIP_NOTHING)
        meta->density.unit = DENSITY_NONE;
    if (opts->strip == STRIP_ALL)
        bytes_free(&meta->icc);
    if (to->blocks && meta->codec != to && make_blocks(meta, to, opts, err))
        return -1;
    if (xform_transposes(img->turned))
        meta->density = (struct density){ meta->density.unit, meta->density.y,
                                          meta->density.x };
    if (!to->blocks)
        return 0;
    if (!save.allowance)
        save.allowance = &allowance;
    int status = turn_all(meta, &t, err);
    if (status == 0 && meta->animation.frames)
        status = to->blocks->turn_frames(img, &save, err);
    meta_remove_dropped(meta);
    return status;
}

int metadata_turn(struct image *img, const struct codec *to,
                  const struct save_opts *opts, struct err *err)
{
    if (!img->meta)
        return 0;
    struct budget *budget = img->meta->budget, *before = budget_enter(budget);
    int status = turn_metadata(img, to, opts, err);
    budget_leave(before);
    return budget_spend(budget, 0, err) ? -1 : status;
}

/* ---- Tags alone -----------------------------------------------------------*/

static int write_blocks(struct bytes *out, struct bytes file,
                        const struct meta *meta,
                        const struct block_format *format, struct err *err)
{
    size_t done = 0;
    bool kept = true;
    for (size_t i = 0; i < meta->nblocks && kept; i++) {
        const struct metadata_block *block = &meta->block[i];
        kept = bytes_append(out, file.data + done, block->begin - done) &&
               format->frame(out, block);
        done = block->end;
    }
    if (!kept || !bytes_append(out, file.data + done, file.size - done))
        return fail_memory(err, "no memory for the file");
    return 0;
}

static int retag(struct bytes *out, struct bytes file, struct image *img,
                 enum xform op, size_t exif_at, struct warnings *warnings,
                 struct err *err)
{
    const unsigned kinds = 1u << BLOCK_EXIF | 1u << BLOCK_RAW_PROFILE |
                           1u << BLOCK_XMP | 1u << BLOCK_ORIENTATION;
    struct meta *meta = img->meta;
    const struct save_opts save = {
        .orientation = xform_retag(meta->orientation.value, op),
        .warnings = warnings,
    };
    const struct turned t = { .img = img,
                              .opts = &save,
                              .format = meta->codec->blocks,
                              .retag = true,
                              .op = op };
    if (turn_blocks(meta, kinds, &t, err) ||
        xmp_extended_turn(meta, t.format, img, &save, &t.lengths, err) ||
        (save.orientation > 1 && exif_at && add_tag(meta, &t, exif_at, err)))
        return -1;
    return write_blocks(out, file, meta, t.format, err);
}

int metadata_retag(struct bytes *out, struct bytes file, struct image *img,
                   enum xform op, size_t exif_at, struct warnings *warnings,
                   struct err *err)
{
    struct budget *budget = img->meta->budget, *before = budget_enter(budget);
    int status = retag(out, file, img, op, exif_at, warnings, err);
    budget_leave(before);
    return budget_spend(budget, 0, err) ? -1 : status;
}
