/* TGA through stb_image and stb_image_write. Truevision TGA File Format
 * Specification 2.0. */
#include <string.h>

#include "codecs/stb.h"

enum {
    HEADER = 18,
    AT_ID = 0, /* bytes of text behind the header */
    AT_MAP = 1,
    AT_TYPE = 2,
    AT_MAP_FIRST = 3,
    AT_MAP_LENGTH = 5,
    AT_MAP_BITS = 7,
    AT_WIDTH = 12,
    AT_HEIGHT = 14,
    AT_BITS = 16,
    AT_DESCRIPTOR = 17,
    ALPHA_BITS = 0x0f, /* of the descriptor: how many a pixel has */
    RIGHT_TO_LEFT = 0x10,
    INTERLEAVED = 0xc0,
    MAPPED = 1,           /* types; or-ed with PACKED if run-length coded */
    COLORS = 2,
    GRAYS = 3,
    PACKED = 8,
    FOOTER = 26,
};

/* No bytes of a TGA are the same in all: its header must make sense. */
static bool probe(const uint8_t *p, size_t size)
{
    if (size < HEADER || p[AT_MAP] > 1 || !little16(p + AT_WIDTH) ||
        !little16(p + AT_HEIGHT))
        return false;
    unsigned bits = p[AT_BITS], map = p[AT_MAP_BITS];
    bool map_good = map == 15 || map == 16 || map == 24 || map == 32;
    switch (p[AT_TYPE] & ~PACKED) {
    case MAPPED:
        return p[AT_MAP] == 1 && (bits == 8 || bits == 16) && map_good;
    case COLORS:
        return bits == 15 || bits == 16 || bits == 24 || bits == 32;
    case GRAYS:
        return bits == 8 || bits == 16;
    default:
        return false;
    }
}

/* ---- Reading ------------------------------------------------------------ */

/* Where the pixels begin. */
static size_t pixels_at(const uint8_t *p)
{
    size_t map = little16(p + AT_MAP_LENGTH) *
                 (size_t)((p[AT_MAP_BITS] + 7) / 8);
    return HEADER + (size_t)p[AT_ID] + (p[AT_MAP] ? map : 0);
}

static size_t pixel_size(const uint8_t *p)
{
    return (p[AT_BITS] + 7) / 8;
}

/* Where run-length coded pixels end; past the file if they are cut short. A
 * packet is a pixel that is repeated, or several as they are. */
static size_t packets_end(struct bytes file)
{
    const uint8_t *p = file.data;
    uint64_t left = (uint64_t)little16(p + AT_WIDTH) * little16(p + AT_HEIGHT);
    size_t at = pixels_at(p);
    while (left > 0 && at < file.size) {
        size_t n = 1 + (p[at] & 127);
        at += 1 + (p[at] & 128 ? 1 : n) * pixel_size(p);
        left = left > n ? left - n : 0;
    }
    return left > 0 ? SIZE_MAX : at;
}

static size_t pixels_end(struct bytes file)
{
    const uint8_t *p = file.data;
    if (p[AT_TYPE] & PACKED)
        return packets_end(file);
    return pixels_at(p) + (size_t)little16(p + AT_WIDTH) *
                              little16(p + AT_HEIGHT) * pixel_size(p);
}

static int check_head(const uint8_t *p, struct err *err)
{
    if (p[AT_MAP] && (p[AT_TYPE] & ~PACKED) != MAPPED)
        return fail(err, "a palette beside the colors; only one can be read");
    if (p[AT_MAP] && (little16(p + AT_MAP_FIRST) ||
                      !little16(p + AT_MAP_LENGTH)))
        return fail(err, "a palette of %u colors from number %u on; it must "
                         "begin at 0",
                    little16(p + AT_MAP_LENGTH), little16(p + AT_MAP_FIRST));
    if (p[AT_DESCRIPTOR] & INTERLEAVED)
        return fail(err, "its rows are interleaved; only plain ones can be "
                         "read");
    return 0;
}

static int shape(struct image *img, const uint8_t *p,
                 const struct load_opts *opts, struct err *err)
{
    bool gray = (p[AT_TYPE] & ~PACKED) == GRAYS;
    unsigned bits = p[AT_MAP] ? p[AT_MAP_BITS] : p[AT_BITS];
    unsigned n = gray ? bits / 8 : bits == 32 ? 4 : 3;
    return stb_shape(img, little16(p + AT_WIDTH), little16(p + AT_HEIGHT), n,
                     CELL_U8, opts, err);
}

/* stb_image passes this bit over. */
static void mirror(struct image *img)
{
    for (unsigned i = 0; i < img->nplanes; i++)
        for (uint32_t y = 0; y < img->height; y++) {
            uint8_t *row = plane_row(&img->plane[i], y);
            for (uint32_t a = 0, b = img->width - 1; a < b; a++, b--) {
                uint8_t keep = row[a];
                row[a] = row[b];
                row[b] = keep;
            }
        }
}

/* Keeps the image ID, and how many bits of a pixel are said to be alpha. */
static int take_meta(struct image *img, const uint8_t *p, struct err *err)
{
    img->meta = meta_new(&codec_tga);
    if (!img->meta || (p[AT_ID] && !meta_add(img->meta, "image ID", 0,
                                             p + HEADER, p[AT_ID])))
        return fail(err, "no memory for the decoder");
    img->meta->kind[0] = (char)('0' + (p[AT_DESCRIPTOR] & ALPHA_BITS));
    return 0;
}

static void warn_lost(struct bytes file, size_t pixels,
                      struct warnings *warnings)
{
    const uint8_t *p = file.data;
    const uint8_t *end = p + file.size;
    bool footer = file.size >= HEADER + FOOTER &&
                  memcmp(end - 18, "TRUEVISION-XFILE.", 18) == 0;
    if (footer && (little32(end - 26) || little32(end - 22)))
        warn(warnings, "its extension and developer areas are not kept");
    else if (!footer && file.size > pixels)
        warn(warnings, "%zu bytes after the picture are not kept",
             file.size - pixels);
    if ((p[AT_TYPE] & ~PACKED) == MAPPED)
        warn(warnings, "its palette is not kept, only its colors");
    else if (p[AT_BITS] < 24 && (p[AT_TYPE] & ~PACKED) == COLORS)
        warn(warnings, "its %u bits a pixel become 24%s", p[AT_BITS],
             p[AT_DESCRIPTOR] & ALPHA_BITS ? " without alpha" : "");
}

/* A copy of the file which is as long as it would have to be. */
static int complete(struct bytes *whole, struct bytes file,
                    const struct image *img, struct err *err)
{
    size_t need = pixels_at(file.data) + (size_t)img->width * img->height *
                                             pixel_size(file.data);
    if (need < file.size)
        need = file.size;
    if (!bytes_append(whole, file.data, file.size) ||
        !bytes_reserve(whole, need - file.size))
        return fail(err, "no memory for the pixels");
    memset(whole->data + file.size, 0, need - file.size);
    whole->size = need;
    return 0;
}

static int read_pixels(struct image *img, struct bytes file,
                       const struct load_opts *opts, struct err *err)
{
    struct bytes whole = { 0 };
    size_t end = pixels_end(file);
    if (end <= file.size) {
        warn_lost(file, end, opts->warnings);
        return stb_read(img, file, opts, err);
    }
    if (!opts->tolerant)
        return fail(err, "the image data is cut short");
    stb_warn_cut(opts);
    warn_lost(file, file.size, opts->warnings);
    int status = complete(&whole, file, img, err);
    if (status == 0)
        status = stb_read(img, whole, opts, err);
    bytes_free(&whole);
    return status;
}

static int decode(struct image *img, struct bytes file,
                  const struct load_opts *opts, struct err *err)
{
    const uint8_t *p = file.data;
    if (file.size < HEADER + (size_t)p[AT_ID])
        return fail(err, "the file is cut short");
    if (check_head(p, err) || shape(img, p, opts, err) ||
        take_meta(img, p, err) || read_pixels(img, file, opts, err)) {
        image_free(img);
        return -1;
    }
    if (p[AT_DESCRIPTOR] & RIGHT_TO_LEFT)
        mirror(img);
    return 0;
}

/* ---- Writing ------------------------------------------------------------ */

/* What stb_image_write has no argument for. */
static int put_meta(struct bytes *file, const struct image *img,
                    enum strip strip, struct err *err)
{
    const struct meta *meta = img->meta;
    uint8_t *p = file->data;
    if (img->alpha)
        p[AT_DESCRIPTOR] = (uint8_t)((p[AT_DESCRIPTOR] & ~ALPHA_BITS) |
                                     (meta->kind[0] - '0'));
    if (strip != STRIP_NOTHING || meta->nparts == 0)
        return 0;
    const struct part *id = &meta->part[0];
    if (!bytes_reserve(file, id->size))
        return fail(err, "no memory for the file");
    p = file->data;
    memmove(p + HEADER + id->size, p + HEADER, file->size - HEADER);
    memcpy(p + HEADER, id->data, id->size);
    p[AT_ID] = (uint8_t)id->size;
    file->size += id->size;
    return 0;
}

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    bool own = codec_is_own(&codec_tga, img);
    if (img->width > 65535 || img->height > 65535)
        return fail(err, "%u x %u pixels are too many; a TGA has up to 65535 "
                         "each way",
                    img->width, img->height);
    if (!own && opts->strip == STRIP_NOTHING)
        meta_warn_lost(img->meta, codec_tga.holds.metadata, "TGA",
                       opts->warnings);
    if (stb_write(file, img, STB_TGA, opts, err))
        return -1;
    return own ? put_meta(file, img, opts->strip, err) : 0;
}

static const char *const suffixes[] = { "tga", "vda", "icb", "vst", NULL };

const struct codec codec_tga = {
    .name = "tga",
    .title = "TGA",
    .suffixes = suffixes,
    .holds = {
        .cells = 1 << CELL_U8,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_RGB,
        .alpha = true,
    },
    .probe = probe,
    .decode = decode,
    .encode = encode,
};
