/* An XMP packet, made true of a turned picture: all that is said of it. */
#ifndef CODECS_METADATA_XMP_PACKET_H
#define CODECS_METADATA_XMP_PACKET_H

#include "codecs/codec.h"

/* The packet, which owns its memory, grows to no more than `room`; what does
 * not fit, or is not understood, stays and is named in a warning. Fails only
 * without memory. */
int xmp_packet_turn(struct bytes *packet, size_t room, const struct image *img,
                    const struct save_opts *opts, struct err *err);

#endif
