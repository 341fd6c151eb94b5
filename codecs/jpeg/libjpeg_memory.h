/* The memory of libjpeg, counted.
 *
 * libjpeg takes memory through the functions of cinfo->mem, which are replaced
 * here by some that count first (codecs/base/memory.h). It frees whole pools,
 * and what is in a pool is given back when that is. */
#ifndef CODECS_JPEG_LIBJPEG_MEMORY_H
#define CODECS_JPEG_LIBJPEG_MEMORY_H

#include <stdio.h>

#include <jpeglib.h>

struct libjpeg_memory {
    struct jpeg_error_mgr errors; /* which cinfo->err is: so this is found */
    struct jpeg_memory_mgr own;   /* libjpeg's functions */
    size_t taken[JPOOL_NUMPOOLS]; /* bytes of each pool */
};

/* Counts what is taken from now on, after jpeg_create_decompress() or its
 * counterpart, with &memory->errors as cinfo->err. Beyond the limit libjpeg
 * fails as without memory. */
void libjpeg_memory_count(struct libjpeg_memory *memory, j_common_ptr cinfo);

/* Ends cinfo, and gives back what it has. Fine if cinfo was not created. */
void libjpeg_memory_end(struct libjpeg_memory *memory, j_common_ptr cinfo);

#endif
