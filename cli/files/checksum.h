/* The checksum of a file. */
#ifndef CLI_FILES_CHECKSUM_H
#define CLI_FILES_CHECKSUM_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/files/resolve.h"

/* Reads a file and finds its size in bytes and its CRC-32 (ISO 3309). The name
 * is confined to the root, unless that is NULL. Returns whether the file could
 * be read. */
bool checksum_file(struct root *root, const char *name, uint64_t *size,
                   uint32_t *crc);

#endif
