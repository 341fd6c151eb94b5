/* An XMP packet, made true of a turned picture. */
#include "codecs/metadata/xmp_packet.h"

#include "codecs/metadata/drop.h"
#include "codecs/metadata/xmp.h"
#include "codecs/metadata/xmp_iptc.h"
#include "codecs/metadata/xmp_regions.h"

int xmp_packet_turn(struct bytes *packet, size_t room, const struct image *img,
                    const struct save_opts *opts, const struct lengths *lengths,
                    struct err *err)
{
    const struct change change = image_change(img);
    struct warnings *warnings = opts->warnings;
    if (drop_in_xmp(packet->data, packet->size, opts->drop, err) ||
        xmp_container_set_lengths(packet, room, lengths, warnings, err))
        return -1;
    xmp_turn(packet->data, packet->size, img->turned, opts->orientation);
    if (change_trims(&change) &&
        xmp_set_size(packet, room, img->width, img->height, warnings, err))
        return -1;
    return xmp_regions_turn(packet, room, &change, warnings, err) ||
                   xmp_iptc_turn(packet, room, &change, warnings, err)
               ? -1
               : 0;
}
