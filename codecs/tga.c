/* TGA through stb_image and stb_image_write. Truevision TGA File Format
 * Specification 2.0. */
#include <string.h>

#include "codecs/stb.h"

enum {
    HEADER = 18,
    AT_ID = 0, /* bytes of text behind the header */
    AT_MAP = 1,
    AT_TYPE = 2,
    AT_MAP_LENGTH = 5,
    AT_MAP_BITS = 7,
    AT_WIDTH = 12,
    AT_HEIGHT = 14,
    AT_BITS = 16,
    AT_DESCRIPTOR = 17,
    RIGHT_TO_LEFT = 0x10, /* of the descriptor */
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

/* Where the pixels begin. */
static size_t pixels_at(const uint8_t *p)
{
    size_t map = little16(p + AT_MAP_LENGTH) *
                 (size_t)((p[AT_MAP_BITS] + 7) / 8);
    return HEADER + (size_t)p[AT_ID] + (p[AT_MAP] ? map : 0);
}

static uint64_t pixels_size(const uint8_t *p)
{
    return (uint64_t)little16(p + AT_WIDTH) * little16(p + AT_HEIGHT) *
           ((p[AT_BITS] + 7) / 8);
}

static int check_size(struct bytes file, const struct load_opts *opts,
                      struct err *err)
{
    const uint8_t *p = file.data;
    uint64_t need = pixels_at(p) + pixels_size(p);
    if (p[AT_TYPE] & PACKED || file.size >= need || opts->tolerant)
        return 0;
    return fail(err, "the image data is cut short: %zu bytes of %llu",
                file.size, (unsigned long long)need);
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

static void warn_lost(struct bytes file, struct warnings *warnings)
{
    const uint8_t *p = file.data;
    const uint8_t *end = p + file.size;
    bool footer = file.size >= HEADER + FOOTER &&
                  memcmp(end - 18, "TRUEVISION-XFILE.", 18) == 0;
    if (p[AT_ID])
        warn(warnings, "its image ID is not kept");
    if (footer && (little32(end - 26) || little32(end - 22)))
        warn(warnings, "its extension and developer areas are not kept");
    if ((p[AT_TYPE] & ~PACKED) == MAPPED)
        warn(warnings, "its palette is not kept, only its colors");
    else if (p[AT_BITS] < 24 && (p[AT_TYPE] & ~PACKED) == COLORS)
        warn(warnings, "its %u bits a pixel become 24", p[AT_BITS]);
}

static int decode(struct image *img, struct bytes file,
                  const struct load_opts *opts, struct err *err)
{
    if (check_size(file, opts, err))
        return -1;
    img->meta = meta_new(&codec_tga);
    if (!img->meta)
        return fail(err, "no memory for the decoder");
    if (stb_read(img, file, false, opts, err)) {
        image_free(img);
        return -1;
    }
    if (file.data[AT_DESCRIPTOR] & RIGHT_TO_LEFT)
        mirror(img);
    warn_lost(file, opts->warnings);
    return 0;
}

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    if (img->width > 65535 || img->height > 65535)
        return fail(err, "%u x %u pixels are too many; a TGA has up to 65535 "
                         "each way",
                    img->width, img->height);
    if (!codec_is_own(&codec_tga, img) && opts->strip == STRIP_NOTHING)
        meta_warn_lost(img->meta, codec_tga.holds.metadata, "TGA",
                       opts->warnings);
    return stb_write(file, img, STB_TGA, err);
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
