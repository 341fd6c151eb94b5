/* Extended XMP, which only JPEG has: a second packet, in portions.
 *
 * XMP specification, part 3, 1.1.3: what does not fit into one block is a
 * second packet, cut into portions, which the first packet names by its GUID:
 * the MD5 digest of it as 32 hexadecimal digits. */
#ifndef CODECS_METADATA_XMP_EXTENDED_H
#define CODECS_METADATA_XMP_EXTENDED_H

#include "codecs/metadata/block_format.h"
#include "codecs/metadata/xmp_container.h"

/* Takes note in meta->orientation of what the packets say of it. Fails only
 * without memory. */
int xmp_extended_note(struct meta *meta, const struct block_format *format,
                      struct err *err);

/* Turns the packets as xmp_packet_turn() does, and cuts them where they were
 * cut before. Their GUIDs are made true here and in the packets that name them.
 * A packet of which a portion is missing does not grow. */
int xmp_extended_turn(struct meta *meta, const struct block_format *format,
                      const struct image *img, const struct save_opts *opts,
                      const struct lengths *lengths, struct err *err);

#endif
