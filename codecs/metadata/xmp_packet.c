/* An XMP packet, made true of a turned picture. */
#include "codecs/metadata/xmp_packet.h"

#include "codecs/metadata/xmp_iptc.h"
#include "codecs/metadata/xmp_regions.h"
#include "codecs/metadata/xmp.h"

int xmp_packet_turn(struct bytes *packet, size_t room, const struct image *img,
                    const struct save_opts *opts, struct err *err)
{
    const struct change change = image_change(img);
    xmp_turn(packet->data, packet->size, img->turned, opts->orientation);
    if (change_trims(&change) &&
        xmp_set_size(packet, room, img->width, img->height, opts->warnings,
                     err))
        return -1;
    if (xmp_regions_turn(packet, room, &change, opts->warnings, err))
        return -1;
    return xmp_iptc_turn(packet, room, &change, opts->warnings, err);
}
