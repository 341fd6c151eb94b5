/* stb_image and stb_image_write as this program has them. */
#ifndef CODECS_STB_LIBRARY_H
#define CODECS_STB_LIBRARY_H

#define STBI_ONLY_BMP
#define STBI_ONLY_TGA
#define STBI_ONLY_HDR
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS 0x7fffffff /* image_check() is stricter */

#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#endif
