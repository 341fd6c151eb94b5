/* The memory of libpng. */
#include "codecs/png/libpng_memory.h"

#include "codecs/base/memory.h"

png_voidp libpng_memory_alloc(png_structp png, png_alloc_size_t size)
{
    bool *starved = png_get_mem_ptr(png);
    void *memory = memory_alloc(size);
    *starved = *starved || !memory;
    return memory;
}

void libpng_memory_free(png_structp png, png_voidp memory)
{
    (void)png;
    memory_free(memory);
}
