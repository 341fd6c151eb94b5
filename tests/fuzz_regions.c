/* Any bytes as an XMP packet that tells of regions: nothing outside is touched,
 * no more room is taken than there is, and no turn changes nothing. */
#include "codecs/regions.h"

#include <string.h>

#include "tests/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int t = 0; t < XFORM_COUNT; t++) {
        struct warnings warnings = { 0 };
        struct bytes packet = { 0 };
        struct err err;
        size_t room = size + size % 7 * 4;
        if (size == 0 || !bytes_append(&packet, data, size) ||
            regions_turn(&packet, room, (enum xform)t, &warnings, &err))
            return 0;
        if (packet.size > room && packet.size != size)
            abort();
        if (t == XFORM_NONE &&
            (packet.size != size || memcmp(packet.data, data, size)))
            abort();
        bytes_free(&packet);
    }
    return 0;
}
