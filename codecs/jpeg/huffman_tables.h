/* Huffman tables made for one picture (T.81, K.2). */
#ifndef CODECS_JPEG_HUFFMAN_TABLES_H
#define CODECS_JPEG_HUFFMAN_TABLES_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/image/image.h"
#include "codecs/jpeg/mcus.h"

/* Gives c the tables that libjpeg would make for the blocks of img, with which
 * one scan of all of them, whose MCUs are m, is shortest, and clears its
 * optimize_coding. Returns false if that is left to libjpeg. */
bool huffman_tables_make(j_compress_ptr c, const struct mcus *m,
                         const struct image *img, struct thread_pool *pool);

#endif
