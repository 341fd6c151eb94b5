/* The table of the PNG codec. */
#include "codecs/png/png.h"

#include <string.h>

static bool probe(const uint8_t *head, size_t size)
{
    static const uint8_t signature[8] = "\x89PNG\r\n\x1a\n";
    return size >= 8 && memcmp(head, signature, 8) == 0;
}

const struct codec codec_png = {
    .name = "png",
    .title = "PNG",
    .suffixes = (const char *const[]){ "png", NULL },
    .capabilities = {
        .cells = 1 << CELL_U8 | 1 << CELL_U16,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_INDEXED | 1 << COLOR_RGB,
        .alpha = true,
        .gray_bits = true,
        .metadata = HOLDS_ICC | HOLDS_EXIF | HOLDS_XMP | HOLDS_COMMENT |
                    HOLDS_DENSITY,
    },
    .blocks = &chunks_format,
    .stores = true,
    .probe = probe,
    .open = open_png,
    .decode = decode_png,
    .describe = describe_png,
    .close = close_png,
    .retag = retag_png,
    .encode = write_png,
    .check = check_png,
};
