/* Any bytes as an XMP packet and as a profile in PNG text: nothing outside of
 * them is accessed, and an orientation that was set is read again. */
#include "codecs/metadata/xmp.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/metadata/exif.h"
#include "codecs/metadata/blocks.h"
#include "tests/fuzz/fuzz.h"

static void turn_profile(const uint8_t *data, size_t size, enum xform t)
{
    struct raw_profile profile;
    struct bytes text = { 0 };
    struct err err;
    if (bytes_append(&text, data, size) &&
        raw_profile_open(&profile, &text, &err) == 0) {
        struct bytes *body = &profile.body;
        if (profile.kind == RAW_PROFILE_EXIF)
            exif_turn(body->data, body->size, t, 5, 23, 11);
        else if (size % 2 == 0) /* another size */
            body->size /= 2;
        if (raw_profile_close(&text, &profile, &err))
            abort();
        raw_profile_free(&profile);
    }
    bytes_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *packet = size ? malloc(size) : NULL;
    if (!packet)
        return 0;
    memcpy(packet, data, size);
    enum xform t = (enum xform)(size % XFORM_COUNT);
    unsigned was = xmp_orientation(packet, size);
    xmp_turn(packet, size, XFORM_NONE, 0);
    if (memcmp(packet, data, size) != 0)
        abort();
    xmp_turn(packet, size, t, 5);
    if (xmp_orientation(packet, size) != (was ? 5 : 0))
        abort();
    free(packet);
    turn_profile(data, size, t);
    return 0;
}
