/* stb_image and stb_image_write as this program has them. */
#ifndef CODECS_STB_LIBRARY_H
#define CODECS_STB_LIBRARY_H

#define STBI_ONLY_BMP
#define STBI_ONLY_TGA
#define STBI_ONLY_HDR
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS 0x7fffffff /* image_check() is stricter */

/* stb_image_write takes memory for a row of an HDR and does not look whether it
 * got any: it gets what stb_write() has set aside. */
#include <stddef.h>
#include <stdlib.h>
void *stb_lend(size_t size);
void stb_take_back(void *memory);
#define STBIW_MALLOC(size) stb_lend(size)
#define STBIW_REALLOC(memory, size) realloc(memory, size)
#define STBIW_FREE(memory) stb_take_back(memory)

#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#endif
