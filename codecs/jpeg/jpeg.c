/* The table of functions of JPEG. */
#include "codecs/jpeg/jpeg.h"

#include <string.h>

#include "codecs/jpeg/parameters.h"

static bool probe(const uint8_t *head, size_t size)
{
    return size >= 3 && memcmp(head, "\xff\xd8\xff", 3) == 0;
}

static const char *const suffixes[] = { "jpeg", "jpg", "jpe", "jfif", NULL };

const struct codec codec_jpeg = {
    .name = "jpeg",
    .title = "JPEG",
    .suffixes = suffixes,
    .lossy = true,
    .capabilities = {
        .cells = 1 << CELL_U8,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_RGB | 1 << COLOR_YCC |
                  1 << COLOR_CMYK | 1 << COLOR_YCCK,
        .metadata = HOLDS_ICC | HOLDS_EXIF | HOLDS_XMP | HOLDS_COMMENT |
                    HOLDS_DENSITY,
    },
    .blocks = &segments_format,
    .state_size = sizeof(struct jpeg_parameters),
    .probe = probe,
    .open = open_jpeg,
    .decode = decode_jpeg,
    .describe = describe_jpeg,
    .close = close_jpeg,
    .closest = REPRESENTATION_COEFFICIENTS,
    .retag = retag_jpeg,
    .encode = write_jpeg,
    .check = check_jpeg,
};
