/* The markers of a JPEG file and the segments behind them (T.81, B.1.1). */
#ifndef CODECS_JPEG_ENTROPY_MARKER_H
#define CODECS_JPEG_ENTROPY_MARKER_H

#include <stdbool.h>

#include "codecs/base/bytes.h"

/* Second bytes of markers (T.81, table B.1). */
enum {
    MARKER_TEM = 0x01,
    MARKER_SOF0 = 0xc0,
    MARKER_SOF1 = 0xc1,
    MARKER_DHT = 0xc4,
    MARKER_JPG = 0xc8,
    MARKER_DAC = 0xcc,
    MARKER_SOF15 = 0xcf,
    MARKER_RST0 = 0xd0,
    MARKER_SOI = 0xd8,
    MARKER_EOI = 0xd9,
    MARKER_SOS = 0xda,
    MARKER_DQT = 0xdb,
    MARKER_DRI = 0xdd,
    MARKER_APP0 = 0xe0,
    MARKER_COM = 0xfe,
};

/* One of them, with what its segment holds. */
struct marker {
    uint8_t code;
    const uint8_t *at; /* its first byte, 0xff */
    const uint8_t *data;
    size_t size;
    const uint8_t *behind; /* the first byte behind the segment */
};

/* Returns where the first marker stands; NULL if there is none. */
const uint8_t *marker_first(struct bytes file);

/* Reads the marker that stands at `p`, behind fill bytes. Returns false if none
 * stands there, or one without a complete segment: then its code is set if
 * there is any, else 0. */
bool marker_read(struct marker *m, const uint8_t *p, const uint8_t *end);

/* Finds the end of the coded data at `p`: a marker that is not of a restart, or
 * the fill bytes before it. Returns NULL if there is none, or if these stand
 * before a stuffed byte. */
const uint8_t *marker_find(const uint8_t *p, const uint8_t *end);

/* Returns whether this is the code of a frame header. */
bool marker_is_frame(unsigned code);

/* Returns whether this is the code of an APPn or COM segment. */
bool marker_is_metadata(unsigned code);

/* Appends a segment. Returns false without memory. */
bool marker_put(struct bytes *file, unsigned code, const void *data,
                size_t size);

#endif
