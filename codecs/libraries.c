/* The libraries that the codecs are built on, and their versions. */
#include "codecs/libraries.h"

#include <stdio.h>

#include <jpeglib.h>
#include <png.h>

#include "codecs/base/sha256.h"
#include "codecs/deflate/flate.h"

#define TEXT_OF(tokens) #tokens
#define TEXT(macro)     TEXT_OF(macro)

/* libjpeg-turbo has its version in its header alone. */
#ifdef LIBJPEG_TURBO_VERSION
#define JPEG_NAME    "libjpeg-turbo"
#define JPEG_VERSION TEXT(LIBJPEG_TURBO_VERSION)
#else
#define JPEG_NAME    "libjpeg"
#define JPEG_VERSION TEXT(JPEG_LIB_VERSION)
#endif

size_t libraries_list(struct library list[LIBRARIES_MAX])
{
    size_t n = 0;
    list[n++] = (struct library){ "libpng", png_get_libpng_ver(NULL) };
    list[n++] = (struct library){ JPEG_NAME, JPEG_VERSION };
    if (sha256_nettle)
        list[n++] = (struct library){ "nettle", sha256_nettle };
    for (const struct flate *const *flate = flates; *flate; flate++)
        list[n++] = (struct library){ (*flate)->name, (*flate)->version() };
    return n;
}
