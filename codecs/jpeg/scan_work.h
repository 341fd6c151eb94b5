/* What it takes to read the scans of a file: however few bits a scan has, each
 * block of its components is visited. So a megabyte of scans can take a
 * minute. */
#ifndef CODECS_JPEG_SCAN_WORK_H
#define CODECS_JPEG_SCAN_WORK_H

#include <stdio.h>

#include <jpeglib.h>

#include "codecs/base/bytes.h"

/* Returns the work of the scan whose header was read, in bytes as struct budget
 * counts. */
uint64_t scan_work_of(const struct jpeg_decompress_struct *d);

/* Returns that of all scans in a file whose first one that is, as far as its
 * markers tell. */
uint64_t scan_work_of_all(const struct jpeg_decompress_struct *d,
                          struct bytes file);

/* Returns the bytes of all coefficients, which libjpeg keeps where a file has
 * several scans. */
uint64_t scan_work_memory(const struct jpeg_decompress_struct *d);

#endif
