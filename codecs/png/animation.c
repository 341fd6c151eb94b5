/* The order and the fields of the chunks of an animated PNG. */
#include "codecs/png/animation.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/png/chunk.h"
#include "codecs/png/png.h"

/* ---- Places -------------------------------------------------------------- */

struct frame_place frame_place_read(const uint8_t *fctl)
{
    return (struct frame_place){
        .width = read_be32(fctl + 4),
        .height = read_be32(fctl + 8),
        .x = read_be32(fctl + 12),
        .y = read_be32(fctl + 16),
    };
}

void frame_place_write(uint8_t *fctl, struct frame_place place)
{
    write_be32(fctl + 4, place.width);
    write_be32(fctl + 8, place.height);
    write_be32(fctl + 12, place.x);
    write_be32(fctl + 16, place.y);
}

/* ---- Chunks -------------------------------------------------------------- */

/* A wrong number is passed over if that is allowed. */
static int wrong_number(struct animation_parser *p, const struct err *why,
                        struct err *err)
{
    if (p->lenient && !*p->wrong.text)
        p->wrong = *why;
    if (p->lenient)
        return 0;
    *err = *why;
    return -1;
}

static int take_number(struct animation_parser *p, const char *name,
                       const uint8_t *data, struct err *err)
{
    struct err why;
    uint32_t number = read_be32(data), expected = p->sequence;
    p->sequence = number + 1;
    if (number == expected)
        return 0;
    fail(&why, "%s has the sequence number %u, where %u should follow", name,
         number, expected);
    return wrong_number(p, &why, err);
}

static int take_actl(struct animation_parser *p, const uint8_t *data,
                     size_t size, struct err *err)
{
    if (p->declared)
        return fail(err, "acTL is there twice");
    if (p->after_idat)
        return fail(err, "acTL stands behind the image data");
    if (size != ACTL || read_be32(data) == 0)
        return fail(err, "acTL is malformed");
    p->declared = true;
    p->found.frames = read_be32(data);
    p->found.plays = read_be32(data + 4);
    return 0;
}

/* Fails if a frame has begun that has no samples; then it is none. */
static int end_frame(struct animation_parser *p, struct err *err)
{
    if (!p->empty)
        return 0;
    p->wrong_at = p->begun_at;
    p->empty = p->open = false;
    return fail(err, "frame %u has no image data", p->frames--);
}

static int check_place(const struct animation_parser *p,
                       struct frame_place place, struct err *err)
{
    const uint32_t w = p->width, h = p->height;
    if (place.width == 0 || place.height == 0 || place.width > w ||
        place.height > h || place.x > w - place.width ||
        place.y > h - place.height)
        return fail(err,
                    "frame %u, of %u x %u pixels at %u, %u, is not within "
                    "the picture of %u x %u",
                    p->frames + 1, place.width, place.height, place.x, place.y,
                    w, h);
    if (!p->after_idat && (place.width != w || place.height != h))
        return fail(err,
                    "frame 1, the default image, is said to be %u x %u "
                    "pixels large",
                    place.width, place.height);
    return 0;
}

static int take_fctl(struct animation_parser *p, const uint8_t *data,
                     size_t size, struct err *err)
{
    enum { DELAY = 20, UNIT = 22, DISPOSE = 24, BLEND = 25 };
    if (!p->after_idat && p->frames)
        return fail(err, "two fcTL stand before the image data");
    if (end_frame(p, err))
        return -1;
    p->open = false;
    if (size != FCTL || data[DISPOSE] > 2 || data[BLEND] > 1)
        return fail(err, "the fcTL of frame %u is malformed", p->frames + 1);
    if (take_number(p, "fcTL", data, err) ||
        check_place(p, frame_place_read(data), err))
        return -1;
    const unsigned unit = read_be16(data + UNIT);
    animation_add(&p->found,
                  (double)read_be16(data + DELAY) / (unit ? unit : 100),
                  p->frames == 0);
    p->begun_at = p->at;
    p->open = p->empty = true;
    p->frames++;
    return 0;
}

static int take_fdat(struct animation_parser *p, const uint8_t *data,
                     size_t size, struct err *err)
{
    if (!p->open)
        return fail(err, "an fdAT belongs to no fcTL");
    if (size < SEQUENCE)
        return fail(err, "an fdAT of frame %u is malformed", p->frames);
    if (take_number(p, "fdAT", data, err))
        return -1;
    p->empty = false;
    return 0;
}

/* IDAT has the samples of the frame that has begun before it. */
static void pass_idat(struct animation_parser *p)
{
    p->after_idat = true;
    p->open = p->empty = false;
    p->found.apart = p->frames == 0;
}

int animation_take(struct animation_parser *p, const char *name,
                   const uint8_t *data, size_t size, bool after_idat,
                   struct err *err)
{
    if (after_idat && !p->after_idat)
        pass_idat(p);
    p->wrong_at = p->at;
    if (strcmp(name, "acTL") == 0)
        return take_actl(p, data, size, err);
    if (strcmp(name, "fcTL") == 0)
        return take_fctl(p, data, size, err);
    return p->after_idat ? take_fdat(p, data, size, err)
                         : fail(err, "an fdAT stands before the image data");
}

int animation_end(struct animation_parser *p, struct err *err)
{
    struct err why;
    if (!p->after_idat)
        pass_idat(p);
    if (end_frame(p, err))
        return -1;
    if (p->frames == p->found.frames)
        return 0;
    fail(&why, "acTL says that there are %u frames, but %u are there",
         p->found.frames, p->frames);
    return wrong_number(p, &why, err);
}

/* ---- A frame as a file of its own -----------------------------------------*/

bool is_frame_block(const struct metadata_block *block, const char *name)
{
    return block->kind == BLOCK_FRAME && !block->dropped &&
           strcmp(block->name, name) == 0;
}

bool frame_find(struct frame_blocks *frame, const struct meta *meta, size_t *at)
{
    size_t i = *at, end;
    while (i < meta->nblocks && !is_frame_block(&meta->block[i], "fcTL"))
        i++;
    if (i == meta->nblocks)
        return false;
    for (end = i + 1; end < meta->nblocks; end++)
        if (is_frame_block(&meta->block[end], "fcTL"))
            break;
    *frame = (struct frame_blocks){ i, end };
    *at = end;
    return true;
}

bool frame_is_default(const struct meta *meta, struct frame_blocks frame)
{
    return meta->block[frame.begin].where != PNG_PLACE_AFTER_IDAT;
}

static bool add_chunk(struct bytes *file, const char *name, const void *data,
                      size_t size)
{
    struct metadata_block block = { .data = (uint8_t *)(uintptr_t)data,
                                    .size = size };
    memcpy(block.name, name, 5);
    return chunks_frame(file, &block);
}

static bool add_head(struct bytes *file, const struct image *img,
                     struct frame_place place)
{
    const struct meta *meta = img->meta;
    uint8_t ihdr[13] = { [8] = (uint8_t)image_bits(img),
                         [9] = ihdr_color_type(img),
                         [12] = meta->interlaced };
    uint8_t colors[256 * 3];
    write_be32(ihdr, place.width);
    write_be32(ihdr + 4, place.height);
    for (unsigned i = 0; i < meta->ncolors; i++)
        memcpy(colors + 3 * i, meta->palette[i], 3);
    return bytes_append(file, "\x89PNG\r\n\x1a\n", PNG_SIGNATURE) &&
           add_chunk(file, "IHDR", ihdr, sizeof ihdr) &&
           (meta->ncolors == 0 ||
            add_chunk(file, "PLTE", colors, 3 * meta->ncolors));
}

/* Appends a file of the frame: IHDR, PLTE, tRNS, IDAT and IEND. Returns false
 * without memory; then the caller frees what is there. */
static bool make_file(struct bytes *file, const struct image *img,
                      struct frame_blocks frame)
{
    const struct metadata_block *block = img->meta->block;
    const struct meta *meta = img->meta;
    uint8_t alphas[256], key[3 * 2];
    for (unsigned i = 0; i < meta->nalphas; i++)
        alphas[i] = meta->palette[i][3];
    for (unsigned i = 0; meta->keyed && i < img->nplanes; i++)
        write_be16(key + 2 * i, meta->key[i]);
    /* The tRNS is of what the meta says: to look for that of the picture, among
     * many blocks, for each of many frames would take long. */
    bool made =
        add_head(file, img, frame_place_read(block[frame.begin].data)) &&
        (meta->nalphas == 0 ||
         add_chunk(file, "tRNS", alphas, meta->nalphas)) &&
        (!meta->keyed || add_chunk(file, "tRNS", key, 2 * img->nplanes));
    for (size_t i = frame.begin; i < frame.end && made; i++)
        if (is_frame_block(&block[i], "fdAT"))
            made = add_chunk(file, "IDAT", block[i].data + SEQUENCE,
                             block[i].size - SEQUENCE);
    return made && add_chunk(file, "IEND", NULL, 0);
}

int frame_decode(struct image *frame, const struct image *img,
                 struct frame_blocks blocks, const struct load_opts *opts,
                 const struct decode_plan *plan, struct err *err)
{
    /* For fewer pixels threads are not worth their start. */
    enum { WORTH_THREADS = 1 << 16 };
    const struct frame_place place =
        frame_place_read(img->meta->block[blocks.begin].data);
    const bool large = (uint64_t)place.width * place.height >= WORTH_THREADS;
    const struct load_opts load = {
        .limits = { .pixels = UINT64_MAX,
                    .bytes = opts->limits.bytes,
                    .scratch = opts->limits.scratch,
                    .stored = UINT64_MAX },
        .mem = mem_plain,
        .tolerant = opts->tolerant,
        .libraries = opts->libraries,
        .pool = large ? opts->pool : NULL,
        .warnings = opts->warnings,
    };
    struct bytes file = { 0 };
    int status =
        make_file(&file, img, blocks)
            ? codec_decode_file(&codec_png, frame, file, &load, plan, err)
            : fail_memory(err, "no memory for a frame");
    bytes_free(&file);
    return status;
}
