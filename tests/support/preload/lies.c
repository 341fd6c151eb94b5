/* Loaded before the program (LD_PRELOAD), for tests of --verify: libraries that
 * do not decode what was encoded.
 *
 *   LIES=png   libpng makes the first sample of the second picture that it
 *              decodes another one
 *   LIES=jpeg  libjpeg does so to a coefficient */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

static int lies_to(const char *library)
{
    const char *lies = getenv("LIES");
    return lies && strcmp(lies, library) == 0;
}

void png_read_row(png_structrp png, png_bytep row, png_bytep shown)
{
    static int pictures;
    void (*next)(png_structrp, png_bytep, png_bytep);
    *(void **)&next = dlsym(RTLD_NEXT, "png_read_row");
    next(png, row, shown);
    if (png_get_current_row_number(png) == 1 && ++pictures == 2 &&
        lies_to("png"))
        row[0] ^= 1;
}

jvirt_barray_ptr *jpeg_read_coefficients(j_decompress_ptr d)
{
    static int pictures;
    jvirt_barray_ptr *(*next)(j_decompress_ptr);
    *(void **)&next = dlsym(RTLD_NEXT, "jpeg_read_coefficients");
    jvirt_barray_ptr *arrays = next(d);
    if (arrays && lies_to("jpeg") && ++pictures == 2) {
        JBLOCKARRAY rows =
            d->mem->access_virt_barray((j_common_ptr)d, arrays[0], 0, 1, TRUE);
        rows[0][0][0] ^= 1;
    }
    return arrays;
}
