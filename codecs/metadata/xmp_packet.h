/* An XMP packet, made true of a turned picture: all that is said of it. */
#ifndef CODECS_METADATA_XMP_PACKET_H
#define CODECS_METADATA_XMP_PACKET_H

#include "codecs/codec.h"
#include "codecs/metadata/xmp_container.h"

/* Takes out what opts->drop names, gives the pictures behind the first one
 * their lengths, and turns orientation, sizes, densities and regions. The
 * packet, which owns its memory, grows to no more than `room`; what does not
 * fit, or is not understood, stays and is named in a warning. Fails without
 * memory, or if nothing can be taken out. */
int xmp_packet_turn(struct bytes *packet, size_t room, const struct image *img,
                    const struct save_opts *opts, const struct lengths *lengths,
                    struct err *err);

#endif
