/* Any bytes as an XMP packet, and as a profile in PNG text: nothing outside is
 * touched, and an orientation that is set is read again. */
#include "codecs/metadata/xmp.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/metadata/raw_profile.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *packet = size ? malloc(size) : NULL;
    if (!packet)
        return 0;
    memcpy(packet, data, size);
    enum xform t = (enum xform)(size % XFORM_COUNT);
    struct err err;
    unsigned was = xmp_orientation(packet, size);
    xmp_turn(packet, size, XFORM_NONE, 0);
    if (memcmp(packet, data, size) != 0)
        abort();
    xmp_turn(packet, size, t, 5);
    if (xmp_orientation(packet, size) != (was ? 5 : 0))
        abort();
    memcpy(packet, data, size);
    raw_profile_turn(packet, size, t, 5, 23, 11, &err);
    free(packet);
    return 0;
}
