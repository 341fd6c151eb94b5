/* What PNG chunks say: what of it a turn makes false, what other formats can
 * hold, and what --strip may drop. PNG (Third Edition), section 11.3. */
#include "codecs/png/png.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "codecs/base/byte_order.h"
#include "codecs/metadata/drop.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/raw_profile.h"
#include "codecs/metadata/thumbnail.h"
#include "codecs/metadata/xmp.h"
#include "codecs/metadata/xmp_packet.h"

/* What a chunk is to a turn, and to --strip. */
enum kind {
    KIND_PLAIN,  /* true of the picture in every position */
    KIND_COLOR,  /* the same, and says how samples look: --strip keeps it */
    KIND_ALPHA,  /* belongs to the pixels: always kept */
    KIND_SAMPLE, /* holds samples, of this depth and color type */
    KIND_AXES,   /* two 4-byte numbers, for x and for y, lead it */
    KIND_CANVAS, /* two such pairs */
    KIND_SCALE,  /* sCAL: two numbers in decimal */
    KIND_ORIENT, /* one byte: an EXIF orientation */
    KIND_EXIF,
    KIND_TEXT, /* tEXt, zTXt, iTXt: may be XMP or EXIF within */
    KIND_TIED, /* says nothing true of pixels that were moved */
};

/* vpAg, caNv and orNT are ImageMagick's. */
static const struct {
    char name[5];
    enum kind kind;
} known[] = {
    { "tRNS", KIND_ALPHA },  { "gAMA", KIND_COLOR },  { "cHRM", KIND_COLOR },
    { "sRGB", KIND_COLOR },  { "iCCP", KIND_COLOR },  { "cICP", KIND_COLOR },
    { "mDCV", KIND_COLOR },  { "mDCv", KIND_COLOR },  { "cLLI", KIND_COLOR },
    { "cLLi", KIND_COLOR },  { "sBIT", KIND_COLOR },  { "bKGD", KIND_SAMPLE },
    { "hIST", KIND_SAMPLE }, { "sPLT", KIND_PLAIN },  { "pCAL", KIND_SAMPLE },
    { "tIME", KIND_PLAIN },  { "pHYs", KIND_AXES },   { "oFFs", KIND_AXES },
    { "vpAg", KIND_AXES },   { "caNv", KIND_CANVAS }, { "sCAL", KIND_SCALE },
    { "orNT", KIND_ORIENT }, { "eXIf", KIND_EXIF },   { "tEXt", KIND_TEXT },
    { "zTXt", KIND_TEXT },   { "iTXt", KIND_TEXT },
};

/* A chunk that nobody here knows may be copied to a changed picture if its
 * name says so: the fourth letter is lower case (section 5.4). */
static enum kind kind_of(const struct metadata_block *block)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, block->name) == 0)
            return known[i].kind;
    return block->name[3] & 0x20 ? KIND_PLAIN : KIND_TIED;
}

/* ---- Compressed data --------------------------------------------------- */

/* No profile and no text is larger; a bomb of 100 KB would be. */
enum { INFLATED_MAX = 64 << 20 };

/* Fills `out`, which is empty, with what `size` bytes of a zlib stream inflate
 * to. It stays empty on failure. */
static int inflate_to(struct bytes *out, const uint8_t *data, size_t size,
                      struct err *err)
{
    z_stream z = { .next_in = (z_const Bytef *)data };
    int status = Z_OK;
    bool memory = size <= UINT32_MAX && inflateInit(&z) == Z_OK;
    if (!memory)
        return fail_memory(err, "no memory to inflate a chunk");
    z.avail_in = (uInt)size;
    while (status == Z_OK && out->size < INFLATED_MAX) {
        enum { STEP = 1 << 16 };
        memory = bytes_reserve(out, STEP);
        if (!memory)
            break;
        z.next_out = out->data + out->size;
        z.avail_out = STEP;
        status = inflate(&z, Z_NO_FLUSH);
        out->size += STEP - z.avail_out;
    }
    inflateEnd(&z);
    if (status == Z_STREAM_END)
        return 0;
    memory = memory && status != Z_MEM_ERROR;
    bool more = out->size >= INFLATED_MAX;
    bytes_free(out);
    if (!memory)
        return fail_memory(err, "no memory to inflate a chunk");
    return fail(err, more ? "a chunk inflates to more than 64 MiB, which is the limit"
                          : "a compressed chunk is damaged");
}

static int deflate_to(struct bytes *out, const uint8_t *data, size_t size,
                      struct err *err)
{
    uLongf made = compressBound(size);
    if (!bytes_reserve(out, made) ||
        compress2(out->data + out->size, &made, data, size,
                  Z_BEST_COMPRESSION) != Z_OK)
        return fail_memory(err, "no memory to deflate a chunk");
    out->size += made;
    return 0;
}

/* ---- Texts ------------------------------------------------------------- */

/* Where the text of a tEXt, zTXt or iTXt chunk begins; 0: it is malformed. */
static size_t text_begin(const struct metadata_block *block, bool *deflated)
{
    const uint8_t *p = block->data, *end = p + block->size;
    const uint8_t *zero = memchr(p, 0, block->size);
    *deflated = block->name[0] == 'z';
    if (!zero)
        return 0;
    p = zero + 1;
    if (block->name[0] == 't')
        return (size_t)(p - block->data);
    if (block->name[0] == 'z') /* one byte: the method, 0 */
        return p < end && *p == 0 ? (size_t)(p + 1 - block->data) : 0;
    if (end - p < 2)
        return 0;
    *deflated = p[0] != 0;
    p += 2;
    for (int i = 0; i < 2; i++) { /* language, translated keyword */
        zero = memchr(p, 0, (size_t)(end - p));
        if (!zero)
            return 0;
        p = zero + 1;
    }
    return (size_t)(p - block->data);
}

static bool has_keyword(const struct metadata_block *block, const char *keyword)
{
    size_t n = strlen(keyword) + 1; /* with its zero */
    return block->size >= n && memcmp(block->data, keyword, n) == 0;
}

static bool is_xmp(const struct metadata_block *block)
{
    return has_keyword(block, "XML:com.adobe.xmp");
}

static bool is_raw_profile(const struct metadata_block *block)
{
    return has_keyword(block, "Raw profile type exif") ||
           has_keyword(block, "Raw profile type xmp") ||
           has_keyword(block, "Raw profile type APP1");
}

/* Fills `text`, which is empty, with the text of a chunk. */
static int text_of(const struct metadata_block *block, struct bytes *text, struct err *err)
{
    bool deflated;
    size_t begin = text_begin(block, &deflated);
    if (begin == 0)
        return 0;
    const uint8_t *data = block->data + begin;
    size_t size = block->size - begin;
    if (deflated)
        return inflate_to(text, data, size, err);
    if (bytes_append(text, data, size))
        return 0;
    return fail_memory(err, "no memory for a text");
}

/* ---- What is read out of chunks ---------------------------------------- */

/* tRNS: alphas of the palette, or the color that is transparent. */
static void note_transparency(struct image *img, const struct metadata_block *block)
{
    struct meta *meta = img->meta;
    if (block->where == PNG_PLACE_AFTER_IDAT)
        return; /* out of place: viewers pass it over */
    if (img->color == COLOR_INDEXED) {
        for (size_t i = 0; i < block->size && i < meta->ncolors; i++)
            meta->palette[i][3] = block->data[i];
        meta->nalphas = (unsigned)(block->size < 256 ? block->size : 256);
    } else if (!img->alpha && block->size == 2 * img->nplanes) {
        /* Bits above the depth shall be ignored (11.3.1.1). */
        for (unsigned i = 0; i < img->nplanes; i++)
            meta->key[i] =
                (uint16_t)(read_be16(block->data + 2 * i) & img->maxval);
        meta->keyed = true;
    }
}

void chunks_note(struct image *img)
{
    struct meta *meta = img->meta;
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        enum kind kind = kind_of(block);
        block->color = kind == KIND_COLOR;
        block->samples = kind == KIND_SAMPLE || kind == KIND_ALPHA ||
                        kind == KIND_TIED || strcmp(block->name, "sBIT") == 0;
        if (kind == KIND_ALPHA)
            note_transparency(img, block);
    }
}

/* A damaged text says nothing. */
static int note_text(struct orientation *o, const struct metadata_block *block,
                     enum tag_place *exif, struct err *err)
{
    struct bytes text = { 0 };
    bool xmp = is_xmp(block);
    int status = 0;
    if (!xmp && !is_raw_profile(block))
        return 0;
    if (text_of(block, &text, err))
        return err->memory ? -1 : 0;
    if (xmp)
        xmp_note(text.data, text.size, o);
    else
        status = raw_profile_note(text.data, text.size, o, exif, err);
    bytes_free(&text);
    return status;
}

/* Readers take the first EXIF there is, and a chunk of its own before a text. */
int chunks_orientation(struct image *img, struct err *err)
{
    struct orientation *o = &img->meta->orientation;
    const struct meta *meta = img->meta;
    enum tag_place exif = TAG_EXIF;
    *o = (struct orientation){ 0 };
    for (size_t i = 0; i < meta->nblocks; i++) {
        const struct metadata_block *block = &meta->block[i];
        if (kind_of(block) == KIND_EXIF) {
            orientation_note(o, exif, exif_tag(block->data, block->size));
            exif = TAG_MORE_EXIF;
        }
        if (kind_of(block) == KIND_ORIENT && block->size == 1 &&
            *block->data >= 1 && *block->data <= 8)
            orientation_note(o, TAG_ORNT, *block->data);
    }
    for (size_t i = 0; i < meta->nblocks; i++)
        if (kind_of(&meta->block[i]) == KIND_TEXT &&
            note_text(o, &meta->block[i], &exif, err))
            return -1;
    img->orientation = o->value ? o->value : 1;
    return 0;
}

bool chunk_may_orient(const uint8_t type[4], const uint8_t *data, size_t size)
{
    struct metadata_block block = { .data = (uint8_t *)(uintptr_t)data, .size = size };
    memcpy(block.name, type, 4);
    enum kind kind = kind_of(&block);
    return kind == KIND_EXIF || kind == KIND_ORIENT ||
           (kind == KIND_TEXT && (is_xmp(&block) || is_raw_profile(&block)));
}

static int profile_to_portable(struct meta *meta, struct metadata_block *block,
                              struct err *err)
{
    const uint8_t *zero = memchr(block->data, 0, block->size);
    size_t begin = zero ? (size_t)(zero - block->data) + 2 : block->size;
    if (begin >= block->size)
        return 0;
    block->portable = true;
    return inflate_to(&meta->icc, block->data + begin, block->size - begin, err);
}

static bool density_to_portable(struct meta *meta, const struct metadata_block *block)
{
    if (block->size != 9)
        return false;
    meta->density = (struct density){
        block->data[8] == 1 ? DENSITY_METER : DENSITY_ASPECT,
        read_be32(block->data),
        read_be32(block->data + 4),
    };
    return true;
}

static int block_to_portable(struct meta *meta, struct metadata_block *block,
                           struct err *err)
{
    const char *name = block->name;
    struct bytes *into = NULL;
    bool deflated;
    if (strcmp(name, "sRGB") == 0)
        block->portable = true; /* it is what all other formats mean */
    if (strcmp(name, "tRNS") == 0)
        block->portable = meta->keyed || meta->nalphas;
    if (strcmp(name, "pHYs") == 0)
        block->portable = density_to_portable(meta, block);
    if (strcmp(name, "iCCP") == 0 && !meta->icc.size)
        return profile_to_portable(meta, block, err);
    if (strcmp(name, "eXIf") == 0 && !meta->exif.size) {
        block->portable = true;
        return bytes_append(&meta->exif, block->data, block->size)
                   ? 0
                   : fail_memory(err, "no memory for EXIF");
    }
    if (kind_of(block) == KIND_TEXT) {
        if (is_xmp(block) && !meta->xmp.size)
            into = &meta->xmp;
        if (has_keyword(block, "Comment") && !meta->comment.size)
            into = &meta->comment;
    }
    if (!into)
        return 0;
    block->portable = text_begin(block, &deflated) > 0;
    return text_of(block, into, err);
}

/* Where sRGB stands, gAMA and cHRM only repeat it for old readers. */
static void mark_repeats(struct meta *meta)
{
    bool srgb = false;
    for (size_t i = 0; i < meta->nblocks; i++)
        srgb = srgb || strcmp(meta->block[i].name, "sRGB") == 0;
    for (size_t i = 0; srgb && i < meta->nblocks; i++) {
        const char *name = meta->block[i].name;
        if (strcmp(name, "gAMA") == 0 || strcmp(name, "cHRM") == 0)
            meta->block[i].portable = true;
    }
}

int chunks_to_portable(struct image *img, const struct load_opts *opts,
                      struct err *err)
{
    for (size_t i = 0; i < img->meta->nblocks; i++) {
        struct metadata_block *block = &img->meta->block[i];
        if (block_to_portable(img->meta, block, err) == 0)
            continue;
        if (!opts->tolerant || err->memory)
            return -1;
        warn(opts->warnings, "%s cannot be read: %s", block->name, err->text);
        block->portable = false;
    }
    mark_repeats(img->meta);
    return meta_comment_utf8(img->meta, err);
}

/* ---- What a turn makes of a chunk -------------------------------------- */

static void exchange(uint8_t *a, uint8_t *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t keep = a[i];
        a[i] = b[i];
        b[i] = keep;
    }
}

/* sCAL: a unit, the width of a pixel in decimal, a zero, its height. */
static void turn_scale(struct bytes *data)
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

/* Makes the text of a chunk true of the turned picture. */
static int turn_block(struct bytes *text, const struct metadata_block *block,
                      const struct image *img, const struct save_opts *opts,
                      struct err *err)
{
    bool exchanged = xform_transposes(img->turned);
    if (is_xmp(block) && drop_in_xmp(text->data, text->size, opts->drop, err))
        return -1;
    if (is_xmp(block))
        return xmp_packet_turn(text, SIZE_MAX, img, opts, err);
    if (raw_profile_drop(text->data, text->size, opts->drop, err))
        return -1;
    return raw_profile_turn(text->data, text->size, img->turned,
                            opts->orientation,
                            exchanged ? img->height : img->width,
                            exchanged ? img->width : img->height, err);
}

/* A text that cannot be read may say what is no longer true. One in which
 * nothing changes stays deflated as it was. */
static int turn_text(const struct metadata_block *block, const struct image *img,
                     const struct save_opts *opts, struct bytes *data,
                     bool *keep, struct err *err)
{
    struct bytes text = { 0 }, before = { 0 };
    struct err why = { .text = "" };
    bool deflated;
    size_t begin = text_begin(block, &deflated);
    int status = 0;

    if (begin == 0 || (!is_xmp(block) && !is_raw_profile(block)))
        return 0;
    if (text_of(block, &text, &why)) {
        if (why.memory) {
            *err = why;
            status = -1;
            goto out;
        }
        warn(opts->warnings, "%s with %s is not kept: %s", block->name,
             (const char *)block->data, why.text);
        *keep = false;
        goto out;
    }
    if (!bytes_append(&before, text.data, text.size)) {
        status = fail_memory(err, "no memory for a text");
        goto out;
    }
    status = turn_block(&text, block, img, opts, err);
    if (status || !text.size ||
        (text.size == before.size &&
         memcmp(text.data, before.data, text.size) == 0))
        goto out;
    data->size = begin;
    if (deflated)
        status = deflate_to(data, text.data, text.size, err);
    else if (!bytes_append(data, text.data, text.size))
        status = fail_memory(err, "no memory for a text");
out:
    bytes_free(&before);
    bytes_free(&text);
    return status;
}

static int turn_chunk(const struct metadata_block *block, const struct image *img,
                      const struct save_opts *opts, struct bytes *data,
                      bool *keep, struct err *err)
{
    bool exchanged = xform_transposes(img->turned);
    switch (kind_of(block)) {
    case KIND_CANVAS:
        if (exchanged && data->size == 16)
            exchange(data->data + 8, data->data + 12, 4);
        /* fall through */
    case KIND_AXES:
        if (exchanged && data->size >= 8)
            exchange(data->data, data->data + 4, 4);
        return 0;
    case KIND_SCALE:
        if (exchanged)
            turn_scale(data);
        return 0;
    case KIND_ORIENT:
        if (opts->orientation && data->size == 1)
            data->data[0] = (uint8_t)opts->orientation;
        return 0;
    case KIND_EXIF:
        return drop_in_exif(data, opts->drop, err)
                   ? -1
                   : exif_turn_all(data, SIZE_MAX, img, opts, err);
    case KIND_TEXT:
        return turn_text(block, img, opts, data, keep, err);
    default:
        return 0;
    }
}

/* What has to be left out for a text to be left out. ImageMagick writes each tag
 * of EXIF, and of GPS, as a text as well. */
static unsigned drop_of_text(const struct metadata_block *block)
{
    const char *key = (const char *)block->data;
    size_t size = strnlen(key, block->size);
    unsigned drop = 0;
    if (is_xmp(block) || has_keyword(block, "Raw profile type xmp"))
        drop |= DROP_XMP;
    if (has_keyword(block, "Raw profile type exif") ||
        (size >= 5 && memcmp(key, "exif:", 5) == 0))
        drop |= DROP_EXIF;
    if (has_keyword(block, "Raw profile type icc") ||
        has_keyword(block, "Raw profile type icm"))
        drop |= DROP_ICC;
    if (drop_is_place(key, size))
        drop |= DROP_GPS;
    return drop;
}

static unsigned drop_of(const struct metadata_block *block)
{
    if (strcmp(block->name, "iCCP") == 0)
        return DROP_ICC;
    switch (kind_of(block)) {
    case KIND_EXIF:
        return DROP_EXIF;
    case KIND_TEXT:
        return block->size ? drop_of_text(block) : 0;
    default:
        return 0;
    }
}

/* "Raw profile type APP1" is EXIF or XMP: its text tells. A damaged one is
 * neither. */
static int drops_app1(const struct metadata_block *block, unsigned drop, bool *dropped,
                      struct err *err)
{
    struct bytes text = { 0 };
    enum raw_profile kind;
    if (!(drop & (DROP_EXIF | DROP_XMP)) ||
        !has_keyword(block, "Raw profile type APP1"))
        return 0;
    if (text_of(block, &text, err))
        return err->memory ? -1 : 0;
    int status = raw_profile_kind(text.data, text.size, &kind, err);
    *dropped = (kind == RAW_PROFILE_EXIF && drop & DROP_EXIF) ||
               (kind == RAW_PROFILE_XMP && drop & DROP_XMP);
    bytes_free(&text);
    return status;
}

static bool may_keep(const struct metadata_block *block, enum strip strip)
{
    enum kind kind = kind_of(block);
    return kind == KIND_ALPHA || strip == STRIP_NOTHING ||
           (strip == STRIP_METADATA && kind == KIND_COLOR);
}

int chunk_turned(const struct metadata_block *block, const struct image *img,
                 const struct save_opts *opts, struct bytes *data, bool *keep,
                 struct err *err)
{
    bool dropped = false;
    if (drops_app1(block, opts->drop, &dropped, err))
        return -1;
    *keep = may_keep(block, opts->strip) && !dropped &&
            !(opts->drop & drop_of(block));
    if (*keep && kind_of(block) == KIND_TIED && img->turned != XFORM_NONE) {
        warn(opts->warnings,
             "chunk %s is tied to the pixels as they were, so it is not kept",
             block->name);
        *keep = false;
    }
    if (!*keep)
        return 0;
    if (!bytes_append(data, block->data, block->size))
        return fail_memory(err, "no memory for chunk %s", block->name);
    if (turn_chunk(block, img, opts, data, keep, err))
        return -1;
    if (*keep && opts->drop & DROP_GPS &&
        drop_tells_place(data->data, data->size))
        warn(opts->warnings, "%s seems to tell coordinates, and is kept",
             block->name);
    return 0;
}

/* ---- Chunks for what another format said ------------------------------- */

static int add(struct meta *meta, const char *name, const struct bytes *data,
               struct err *err)
{
    if (!meta_add(meta, name, PNG_PLACE_BEFORE_PLTE, data->data, data->size))
        return fail_memory(err, "no memory for chunk %s", name);
    return 0;
}

static int add_profile(struct meta *meta, const struct bytes *icc,
                       struct err *err)
{
    static const char head[] = "ICC profile\0"; /* and the method, 0 */
    struct bytes data = { 0 };
    int status = -1;
    if (!bytes_append(&data, head, sizeof head))
        fail_memory(err, "no memory for an ICC profile");
    else if (deflate_to(&data, icc->data, icc->size, err) == 0)
        status = add(meta, "iCCP", &data, err);
    bytes_free(&data);
    return status;
}

static int add_text(struct meta *meta, const char *keyword,
                    const struct bytes *text, struct err *err)
{
    struct bytes data = { 0 };
    int status = -1;
    /* After the keyword's own zero: not compressed, method 0, no language, no
     * translated keyword. */
    if (bytes_append(&data, keyword, strlen(keyword) + 1) &&
        bytes_append(&data, "\0\0\0", 4) &&
        bytes_append(&data, text->data, text->size))
        status = add(meta, "iTXt", &data, err);
    else
        fail_memory(err, "no memory for a text");
    bytes_free(&data);
    return status;
}

static int add_density(struct meta *meta, struct density d,
                       const struct save_opts *opts, struct err *err)
{
    uint8_t data[9] = { [8] = d.unit != DENSITY_ASPECT };
    struct bytes chunk = { .data = data, .size = sizeof data };
    double scale = d.unit == DENSITY_INCH ? 1 / 0.0254 : 1;
    double x = d.x * scale + 0.5, y = d.y * scale + 0.5;
    if (!(x >= 1 && x < INT32_MAX && y >= 1 && y < INT32_MAX)) {
        warn(opts->warnings, "a density of %g x %g is not kept", d.x, d.y);
        return 0;
    }
    write_be32(data, (uint32_t)x);
    write_be32(data + 4, (uint32_t)y);
    return add(meta, "pHYs", &chunk, err);
}

/* Portable EXIF and XMP are already true of the turned picture when a chunk is
 * made of them: chunk_turned() sees to it for these as for any. */
int chunks_from_portable(struct meta *meta, const struct image *img,
                        const struct save_opts *opts, struct err *err)
{
    const struct meta *from = img->meta;
    if (!from)
        return 0;
    if (opts->strip == STRIP_NOTHING)
        meta_warn_lost(from, codec_png.holds.metadata, "PNG", opts->warnings);
    if (from->icc.size && add_profile(meta, &from->icc, err))
        return -1;
    if (from->density.unit != DENSITY_NONE && opts->strip == STRIP_NOTHING &&
        add_density(meta, from->density, opts, err))
        return -1;
    if (from->exif.size && add(meta, "eXIf", &from->exif, err))
        return -1;
    if (from->xmp.size &&
        add_text(meta, "XML:com.adobe.xmp", &from->xmp, err))
        return -1;
    if (from->comment.size && add_text(meta, "Comment", &from->comment, err))
        return -1;
    return 0;
}
