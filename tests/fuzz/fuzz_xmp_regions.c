/* Any bytes as an XMP packet with regions: nothing outside of it is accessed,
 * it does not outgrow its room, and no turn changes nothing. */
#include "codecs/metadata/xmp.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int i = 0; i < 2 * XFORM_COUNT; i++) {
        const struct change change = {
            .turn = (enum xform)(i % XFORM_COUNT),
            .width = 640,
            .height = 480,
            .kept_width = i < XFORM_COUNT ? 640 : 624,
            .kept_height = 480,
        };
        struct warnings warnings = { 0 };
        struct bytes packet = { 0 };
        struct err err;
        size_t room = size + size % 7 * 4;
        if (size == 0 || !bytes_append(&packet, data, size) ||
            xmp_regions_turn(&packet, room, &change, &warnings, &err) ||
            xmp_iptc_turn(&packet, room, &change, &warnings, &err))
            return 0;
        if (packet.size > room && packet.size != size)
            abort();
        if (change_is_none(&change) &&
            (packet.size != size || memcmp(packet.data, data, size)))
            abort();
        bytes_free(&packet);
    }
    return 0;
}
