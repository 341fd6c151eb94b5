/* The libraries that the codecs are built on, and their versions. */
#include "codecs/libraries.h"

#include <stdio.h>

#include <jpeglib.h>
#include <nettle/version.h>
#include <png.h>

#include "codecs/deflate/flate.h"

#define TEXT_OF(tokens) #tokens
#define TEXT(macro)     TEXT_OF(macro)

#define NETTLE_VERSION TEXT(NETTLE_VERSION_MAJOR) "." TEXT(NETTLE_VERSION_MINOR)

/* libjpeg-turbo has its version in its header alone. */
#ifdef LIBJPEG_TURBO_VERSION
#define JPEG_NAME    "libjpeg-turbo"
#define JPEG_VERSION TEXT(LIBJPEG_TURBO_VERSION)
#else
#define JPEG_NAME    "libjpeg"
#define JPEG_VERSION TEXT(JPEG_LIB_VERSION)
#endif

const char *libraries_loaded(void)
{
    return LOADED;
}

size_t libraries_list(struct library list[LIBRARIES_MAX])
{
    size_t n = 0;
    list[n++] = (struct library){ "libpng", png_get_libpng_ver(NULL) };
    list[n++] = (struct library){ JPEG_NAME, JPEG_VERSION };
    list[n++] = (struct library){ "nettle", NETTLE_VERSION };
    for (const struct flate *const *flate = flates; *flate; flate++)
        list[n++] = (struct library){ (*flate)->name, (*flate)->version() };
    return n;
}
