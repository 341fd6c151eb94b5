/* What the blocks of a file say of its orientation, and what of them other
 * formats hold as well. */
#include "codecs/metadata/metadata.h"

#include "codecs/image/budget.h"
#include "codecs/metadata/block_format.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/raw_profile.h"
#include "codecs/metadata/xmp.h"
#include "codecs/metadata/xmp_extended.h"

/* Opens a block. A damaged one counts as empty. */
static int open_sound(struct bytes *body, const struct metadata_block *block,
                      const struct block_format *format, struct budget *budget,
                      struct err *err)
{
    struct err why = { .text = "" };
    if (block_open(body, block, format, budget, &why) == 0 || !why.memory)
        return 0;
    *err = why;
    return -1;
}

static void note_exif(struct orientation *o, const uint8_t *exif, size_t size,
                      bool *more)
{
    orientation_note(o, *more ? TAG_MORE_EXIF : TAG_EXIF, exif_tag(exif, size));
    *more = true;
}

static int note_raw_profile(struct orientation *o, const struct bytes *text,
                            bool *more, struct err *err)
{
    struct raw_profile profile;
    if (raw_profile_open(&profile, text, err))
        return -1;
    const struct bytes *body = &profile.body;
    if (profile.kind == RAW_PROFILE_XMP)
        xmp_note(body->data, body->size, o);
    else if (profile.kind == RAW_PROFILE_EXIF)
        note_exif(o, body->data, body->size, more);
    raw_profile_free(&profile);
    return 0;
}

/* `more`: there was EXIF before. */
static int note_block(struct orientation *o, const struct metadata_block *block,
                      const struct block_format *format, struct budget *budget,
                      bool *more, struct err *err)
{
    struct bytes body = { 0 };
    int status = 0;
    if (open_sound(&body, block, format, budget, err))
        return -1;
    if (block->kind == BLOCK_EXIF)
        note_exif(o, body.data, body.size, more);
    else if (block->kind == BLOCK_XMP)
        xmp_note(body.data, body.size, o);
    else if (block->kind == BLOCK_RAW_PROFILE)
        status = note_raw_profile(o, &body, more, err);
    else if (body.size == 1 && *body.data >= 1 && *body.data <= 8)
        orientation_note(o, TAG_ORNT, *body.data);
    bytes_free(&body);
    return status;
}

/* Readers take the first EXIF there is, and a block of its own before a text.
 */
static int read_orientation(struct image *img,
                            const struct block_format *format, struct err *err)
{
    static const unsigned passes[] = {
        1u << BLOCK_EXIF | 1u << BLOCK_ORIENTATION,
        1u << BLOCK_XMP | 1u << BLOCK_RAW_PROFILE,
    };
    struct meta *meta = img->meta;
    struct orientation *o = &meta->orientation;
    bool more = false;
    *o = (struct orientation){ 0 };
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < meta->nblocks; i++)
            if (passes[pass] >> meta->block[i].kind & 1 &&
                note_block(o, &meta->block[i], format, meta->budget, &more,
                           err))
                return -1;
    if (xmp_extended_note(meta, format, err))
        return -1;
    img->orientation = o->value ? o->value : 1;
    return 0;
}

int metadata_read_orientation(struct image *img,
                              const struct block_format *format,
                              struct err *err)
{
    struct budget *budget = img->meta->budget, *before = budget_enter(budget);
    int status = read_orientation(img, format, err);
    budget_leave(before);
    return budget_spend(budget, 0, err) ? -1 : status;
}

/* Returns the portable field that a block of this kind fills; NULL if there is
 * none, or another block has filled it. */
static struct bytes *portable_field(struct meta *meta, enum block_kind kind)
{
    struct bytes *field = kind == BLOCK_EXIF      ? &meta->exif
                          : kind == BLOCK_XMP     ? &meta->xmp
                          : kind == BLOCK_COMMENT ? &meta->comment
                          : kind == BLOCK_ICC     ? &meta->icc
                                                  : NULL;
    return field && !field->size ? field : NULL;
}

int metadata_read_portable(struct meta *meta, const struct block_format *format,
                           const struct load_opts *opts, struct err *err)
{
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        struct bytes *field = portable_field(meta, block->kind);
        if (!field)
            continue;
        if (block_open(field, block, format, meta->budget, err) == 0) {
            block->portable = true;
            continue;
        }
        if (!opts->tolerant || err->memory)
            return -1;
        warn(opts->warnings, "%s cannot be read: %s", block->name, err->text);
    }
    return meta_comment_utf8(meta, err);
}
