/* The GPS directory of an EXIF block, taken out. */
#ifndef CODECS_METADATA_EXIF_GPS_H
#define CODECS_METADATA_EXIF_GPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Puts zeros in the place of the GPS directory and its values, and takes the
 * entries away that lead there. Returns false if that would harm what lies in
 * the same bytes, or if the block is malformed; some of it may be gone then. */
bool exif_gps_drop(uint8_t *exif, size_t size);

#endif
