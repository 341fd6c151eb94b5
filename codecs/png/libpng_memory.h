/* The memory of libpng. */
#ifndef CODECS_PNG_LIBPNG_MEMORY_H
#define CODECS_PNG_LIBPNG_MEMORY_H

#include <stdbool.h>

#include <png.h>

/* Functions for png_create_read_struct_2() and its counterpart, whose pointer
 * is to a bool: it becomes true once there is no memory, after which libpng may
 * go on without a chunk. The memory is counted (codecs/base/memory.h). */
png_voidp libpng_memory_alloc(png_structp png, png_alloc_size_t size);
void libpng_memory_free(png_structp png, png_voidp memory);

#endif
