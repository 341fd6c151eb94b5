/* What PNG chunks are to a turn and to --strip, and what other formats can hold
 * of them. PNG (Third Edition), section 11.3. */
#include "codecs/png/png.h"

#include <string.h>
#include <zlib.h>

#include "codecs/base/byte_order.h"
#include "codecs/image/meta.h"
#include "codecs/metadata/xmp.h"

/* ---- Texts and profiles ---------------------------------------------------*/

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
    return fail(
        err, more ? "a chunk inflates to more than 64 MiB, which is the limit"
                  : "a compressed chunk is damaged");
}

/* Appends a profile or a text to `out`, deflated. Fails only without memory. */
static int chunk_text_deflate(struct bytes *out, const struct bytes *text,
                              struct err *err)
{
    uLongf made = compressBound(text->size);
    if (!bytes_reserve(out, made) ||
        compress2(out->data + out->size, &made, text->data, text->size,
                  Z_BEST_COMPRESSION) != Z_OK)
        return fail_memory(err, "no memory to deflate a chunk");
    out->size += made;
    return 0;
}

/* The string that begins at `at` ends in front of what is returned; 0: it does
 * not end. */
static size_t skip_string(const uint8_t *data, size_t size, size_t at)
{
    const uint8_t *zero = memchr(data + at, 0, size - at);
    return zero ? (size_t)(zero - data) + 1 : 0;
}

/* What a chunk of text or a profile holds: behind a keyword, and deflated or
 * not (PNG, Third Edition, 11.3.2.3 and 11.3.3). */
struct chunk_text {
    size_t begin; /* of the text in the chunk; 0: the chunk is malformed */
    bool deflated;
};

/* Finds the text of a tEXt, zTXt, iTXt or iCCP chunk, of `size` bytes. Between
 * it and the keyword stand: in iTXt whether it is deflated and the method, then
 * a language and a translated keyword; in zTXt and iCCP the method, which is 0.
 */
static struct chunk_text chunk_text_find(const char *name, const uint8_t *data,
                                         size_t size)
{
    const struct chunk_text malformed = { 0, false };
    const bool profile = strcmp(name, "iCCP") == 0;
    size_t at = size ? skip_string(data, size, 0) : 0;
    if (at == 0)
        return malformed;
    if (*name == 't')
        return (struct chunk_text){ at, false };
    if (profile || *name == 'z') {
        const bool whole = profile ? at + 1 < size : at < size && data[at] == 0;
        return whole ? (struct chunk_text){ at + 1, true } : malformed;
    }
    if (size - at < 2)
        return malformed;
    const bool deflated = data[at] != 0;
    at = skip_string(data, size, at + 2);
    at = at ? skip_string(data, size, at) : 0;
    return (struct chunk_text){ at, deflated };
}

/* Returns whether the keyword of such a chunk is this one. */
static bool chunk_text_has_keyword(const uint8_t *data, size_t size,
                                   const char *keyword)
{
    size_t n = strlen(keyword) + 1; /* with its zero */
    return size >= n && memcmp(data, keyword, n) == 0;
}

/* ---- What a chunk is ------------------------------------------------------*/

/* vpAg, caNv and orNT are ImageMagick's. iDOT is Apple's and has offsets into
 * the image data; caBX is a signature of the file by C2PA. */
static const struct {
    char name[5];
    enum block_kind kind;
    bool samples;
} known[] = {
    { "tRNS", BLOCK_ESSENTIAL, true },    { "gAMA", BLOCK_COLOR, false },
    { "cHRM", BLOCK_COLOR, false },       { "sRGB", BLOCK_COLOR, false },
    { "iCCP", BLOCK_ICC, false },         { "cICP", BLOCK_COLOR, false },
    { "mDCV", BLOCK_COLOR, false },       { "mDCv", BLOCK_COLOR, false },
    { "cLLI", BLOCK_COLOR, false },       { "cLLi", BLOCK_COLOR, false },
    { "sBIT", BLOCK_COLOR, true },        { "bKGD", BLOCK_OTHER, true },
    { "hIST", BLOCK_OTHER, true },        { "sPLT", BLOCK_OTHER, false },
    { "pCAL", BLOCK_OTHER, true },        { "tIME", BLOCK_OTHER, false },
    { "pHYs", BLOCK_AXES, false },        { "oFFs", BLOCK_AXES, false },
    { "vpAg", BLOCK_AXES, false },        { "caNv", BLOCK_CANVAS, false },
    { "sCAL", BLOCK_SCALE, false },       { "orNT", BLOCK_ORIENTATION, false },
    { "eXIf", BLOCK_EXIF, false },        { "tEXt", BLOCK_OTHER, false },
    { "zTXt", BLOCK_OTHER, false },       { "iTXt", BLOCK_OTHER, false },
    { "acTL", BLOCK_FRAME, true },        { "fcTL", BLOCK_FRAME, true },
    { "fdAT", BLOCK_FRAME, true },        { "iDOT", BLOCK_TIED_TO_FILE, true },
    { "caBX", BLOCK_TIED_TO_FILE, true },
};
enum { KNOWN = sizeof known / sizeof *known };

static size_t known_index(const char *name)
{
    size_t i = 0;
    while (i < KNOWN && strcmp(known[i].name, name) != 0)
        i++;
    return i;
}

static bool is_text(const char *name)
{
    return strcmp(name, "tEXt") == 0 || strcmp(name, "zTXt") == 0 ||
           strcmp(name, "iTXt") == 0;
}

/* Texts that hold metadata. "Raw profile type APP1" is EXIF or XMP: its text
 * tells. */
static const struct {
    const char *keyword;
    enum block_kind kind;
    unsigned drop;
} texts[] = {
    { "XML:com.adobe.xmp", BLOCK_XMP, DROP_XMP },
    { "Raw profile type xmp", BLOCK_RAW_PROFILE, DROP_XMP },
    { "Raw profile type exif", BLOCK_RAW_PROFILE, DROP_EXIF },
    { "Raw profile type APP1", BLOCK_RAW_PROFILE, 0 },
    { "Raw profile type icc", BLOCK_OTHER, DROP_ICC },
    { "Raw profile type icm", BLOCK_OTHER, DROP_ICC },
    { "Comment", BLOCK_COMMENT, 0 },
};
enum { TEXTS = sizeof texts / sizeof *texts };

static size_t text_index(const uint8_t *data, size_t size)
{
    size_t i = 0;
    while (i < TEXTS && !chunk_text_has_keyword(data, size, texts[i].keyword))
        i++;
    return i;
}

/* A malformed text or profile says nothing. A chunk that nobody here knows may
 * be copied to a changed picture if its name says so: the fourth letter is
 * lower case (section 5.4). */
static enum block_kind kind_of(const char *name, const uint8_t *data,
                               size_t size)
{
    size_t i = known_index(name), text = TEXTS;
    enum block_kind kind = i < KNOWN        ? known[i].kind
                           : name[3] & 0x20 ? BLOCK_OTHER
                                            : BLOCK_TIED;
    if (is_text(name))
        text = text_index(data, size);
    if (kind != BLOCK_ICC && text == TEXTS)
        return kind;
    bool malformed = chunk_text_find(name, data, size).begin == 0;
    if (kind == BLOCK_ICC)
        return malformed ? BLOCK_COLOR : BLOCK_ICC;
    return malformed ? BLOCK_OTHER : texts[text].kind;
}

bool chunks_may_orient(const uint8_t type[4], const uint8_t *data, size_t size)
{
    char name[5] = "";
    memcpy(name, type, 4);
    enum block_kind kind = kind_of(name, data, size);
    return kind == BLOCK_EXIF || kind == BLOCK_ORIENTATION ||
           kind == BLOCK_XMP || kind == BLOCK_RAW_PROFILE;
}

/* ImageMagick writes each tag of EXIF, and of GPS, as a text as well. */
static unsigned drop_of_text(const uint8_t *data, size_t size)
{
    const char *key = (const char *)data;
    size_t length = strnlen(key, size), i = text_index(data, size);
    unsigned drop = i < TEXTS ? texts[i].drop : 0;
    if (length >= 5 && memcmp(key, "exif:", 5) == 0)
        drop |= DROP_EXIF;
    if (xmp_names_place((const uint8_t *)key, length))
        drop |= DROP_GPS;
    return drop;
}

struct metadata_block *chunks_add(struct meta *meta, const char *name,
                                  unsigned where, const void *data, size_t size)
{
    struct metadata_block *block = meta_add(meta, name, where, data, size);
    size_t i = known_index(name);
    if (!block)
        return NULL;
    block->kind = kind_of(name, data, size);
    block->samples = i < KNOWN ? known[i].samples : block->kind == BLOCK_TIED;
    block->drop = strcmp(name, "iCCP") == 0   ? DROP_ICC
                  : block->kind == BLOCK_EXIF ? DROP_EXIF
                  : is_text(name) && size     ? drop_of_text(data, size)
                                              : 0;
    return block;
}

/* ---- How a chunk is opened and closed -------------------------------------*/

static bool has_text(const struct metadata_block *block)
{
    return block->kind == BLOCK_ICC || is_text(block->name);
}

static struct chunk_text find_text(const struct metadata_block *block)
{
    return has_text(block)
               ? chunk_text_find(block->name, block->data, block->size)
               : (struct chunk_text){ 0, false };
}

static int open_chunk(struct bytes *body, const struct metadata_block *block,
                      struct err *err)
{
    const struct chunk_text at = find_text(block);
    const uint8_t *data = block->data + at.begin;
    const size_t size = block->size - at.begin;
    if (at.deflated)
        return inflate_to(body, data, size, err);
    return bytes_append(body, data, size)
               ? 0
               : fail_memory(err, "no memory for chunk %s", block->name);
}

/* A text is deflated if the one before was. */
static int close_chunk(struct metadata_block *block, const struct bytes *body,
                       struct err *err)
{
    const struct chunk_text at = find_text(block);
    struct bytes deflated = { 0 };
    int status = at.deflated ? chunk_text_deflate(&deflated, body, err) : 0;
    body = at.deflated ? &deflated : body;
    if (status == 0 && !metadata_block_set(block, block->data, at.begin,
                                           body->data, body->size))
        status = fail_memory(err, "no memory for chunk %s", block->name);
    bytes_free(&deflated);
    return status;
}

static size_t room_of(enum block_kind kind)
{
    (void)kind;
    return SIZE_MAX;
}

static struct metadata_block *insert_exif(struct meta *meta)
{
    size_t i = 0;
    while (i < meta->nblocks && meta->block[i].where != PNG_PLACE_AFTER_IDAT)
        i++;
    struct metadata_block *block =
        meta_insert(meta, i, "eXIf", PNG_PLACE_BEFORE_IDAT, NULL, 0);
    if (block)
        block->kind = BLOCK_EXIF;
    return block;
}

/* ---- What is read out of chunks -------------------------------------------*/

/* Returns why viewers, as libpng, pass a tRNS over; or NULL. */
static const char *why_not_shown(const struct image *img,
                                 const struct metadata_block *block)
{
    const struct meta *meta = img->meta;
    const bool indexed = img->color == COLOR_INDEXED;
    if (meta->keyed || meta->nalphas)
        return "there is one before it";
    if (block->where == PNG_PLACE_AFTER_IDAT)
        return "it stands behind the image data";
    if (block->where == PNG_PLACE_BEFORE_PLTE && meta->ncolors)
        return "it stands before the palette";
    if (img->alpha)
        return "the picture has an alpha channel";
    if (indexed && block->size > meta->ncolors)
        return "it has more entries than the palette";
    if (block->size == 0 || (!indexed && block->size != 2 * img->nplanes))
        return "its size is wrong";
    return NULL;
}

/* tRNS: alphas of the palette, or the color that is transparent. */
static void note_transparency(struct image *img,
                              const struct metadata_block *block)
{
    struct meta *meta = img->meta;
    if (img->color == COLOR_INDEXED) {
        for (size_t i = 0; i < block->size; i++)
            meta->palette[i][3] = block->data[i];
        meta->nalphas = (unsigned)block->size;
        return;
    }
    /* Bits above the depth are to be ignored (11.3.1.1). */
    for (unsigned i = 0; i < img->nplanes; i++)
        meta->key[i] = (uint16_t)(read_be16(block->data + 2 * i) & img->maxval);
    meta->keyed = true;
}

void chunks_note_transparency(struct image *img, struct warnings *warnings)
{
    for (size_t i = 0; i < img->meta->nblocks; i++) {
        const struct metadata_block *block = &img->meta->block[i];
        const char *why;
        if (strcmp(block->name, "tRNS") != 0)
            continue;
        if ((why = why_not_shown(img, block)))
            warn(warnings, "chunk tRNS makes nothing transparent: %s", why);
        else
            note_transparency(img, block);
    }
}

/* Where sRGB stands, gAMA and cHRM only repeat it for old readers; and it is
 * what all other formats mean. */
int chunks_read_portable(struct meta *meta, const struct load_opts *opts,
                         struct err *err)
{
    bool srgb = false;
    for (size_t i = 0; i < meta->nblocks; i++)
        srgb = srgb || strcmp(meta->block[i].name, "sRGB") == 0;
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        if (strcmp(block->name, "tRNS") == 0)
            block->portable = meta->keyed || meta->nalphas;
        if (strcmp(block->name, "pHYs") == 0 && block->size == 9) {
            block->portable = true;
            meta->density = (struct density){
                block->data[8] == 1 ? DENSITY_METER : DENSITY_ASPECT,
                read_be32(block->data),
                read_be32(block->data + 4),
            };
        }
        if (srgb && (strcmp(block->name, "gAMA") == 0 ||
                     strcmp(block->name, "cHRM") == 0 ||
                     strcmp(block->name, "sRGB") == 0))
            block->portable = true;
        if (block->kind == BLOCK_FRAME)
            block->portable = true; /* one warning tells of all frames */
    }
    return metadata_read_portable(meta, &chunks_format, opts, err);
}

/* ---- Chunks for what another format said ----------------------------------*/

static int add(struct meta *meta, const char *name, const struct bytes *data,
               struct err *err)
{
    if (!chunks_add(meta, name, PNG_PLACE_BEFORE_PLTE, data->data, data->size))
        return fail_memory(err, "no memory for chunk %s", name);
    return 0;
}

/* Adds an iCCP, whose text is deflated, or an iTXt, whose text is not. Zeros
 * follow the keyword: its own and the method, 0; or its own, not compressed,
 * method 0, no language, no translated keyword. */
static int add_text(struct meta *meta, const char *name, const char *keyword,
                    const struct bytes *text, struct err *err)
{
    struct bytes data = { 0 };
    bool profile = strcmp(name, "iCCP") == 0;
    int status = 0;
    if (!bytes_append(&data, keyword, strlen(keyword)) ||
        !bytes_append(&data, "\0\0\0\0", profile ? 2 : 5) ||
        (!profile && !bytes_append(&data, text->data, text->size)))
        status = fail_memory(err, "no memory for chunk %s", name);
    if (status == 0 && profile)
        status = chunk_text_deflate(&data, text, err);
    if (status == 0)
        status = add(meta, name, &data, err);
    bytes_free(&data);
    return status;
}

static int add_density(struct meta *meta, struct density d,
                       struct warnings *warnings, struct err *err)
{
    uint8_t data[9] = { [8] = d.unit != DENSITY_ASPECT };
    struct bytes chunk = { .data = data, .size = sizeof data };
    double scale = d.unit == DENSITY_INCH ? 1 / 0.0254 : 1;
    double x = d.x * scale + 0.5, y = d.y * scale + 0.5;
    if (!(x >= 1 && x < INT32_MAX && y >= 1 && y < INT32_MAX)) {
        warn(warnings, "a density of %g x %g is not kept", d.x, d.y);
        return 0;
    }
    write_be32(data, (uint32_t)x);
    write_be32(data + 4, (uint32_t)y);
    return add(meta, "pHYs", &chunk, err);
}

static int make_chunks(struct meta *made, const struct meta *from,
                       struct warnings *warnings, struct err *err)
{
    if (from->icc.size &&
        add_text(made, "iCCP", "ICC profile", &from->icc, err))
        return -1;
    if (from->density.unit != DENSITY_NONE &&
        add_density(made, from->density, warnings, err))
        return -1;
    if (from->exif.size && add(made, "eXIf", &from->exif, err))
        return -1;
    if (from->xmp.size &&
        add_text(made, "iTXt", "XML:com.adobe.xmp", &from->xmp, err))
        return -1;
    if (from->comment.size &&
        add_text(made, "iTXt", "Comment", &from->comment, err))
        return -1;
    return 0;
}

const struct block_format chunks_format = {
    .open = open_chunk,
    .close = close_chunk,
    .room = room_of,
    .insert_exif = insert_exif,
    .frame = chunks_frame,
    .from_portable = make_chunks,
    .turn_frames = frames_turn,
};
