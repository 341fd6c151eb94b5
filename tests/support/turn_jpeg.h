/* Decodes, turns and encodes a JPEG file. */
#ifndef TESTS_SUPPORT_TURN_JPEG_H
#define TESTS_SUPPORT_TURN_JPEG_H

#include "codecs/codec.h"

/* Decodes a JPEG file by its samples, turns and encodes it; tags say 1
 * afterwards. Ends the test if it cannot be read. */
struct bytes turn_jpeg(struct bytes file, enum xform t,
                       struct warnings *warnings);

#endif
