/* Any bytes as an XMP packet and as a profile in PNG text: nothing outside of
 * them is accessed, an orientation that was set is read again, a packet with
 * regions does not outgrow its room. */
#include "codecs/metadata/xmp.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/metadata/blocks.h"
#include "codecs/metadata/exif.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/must.h"

static void turn_profile(const uint8_t *data, size_t size, enum xform t)
{
    enum block_kind kind = BLOCK_RAW_PROFILE;
    owned_bytes text = { 0 }, body = { 0 };
    struct err err;
    if (bytes_append(&text, data, size) && bytes_append(&body, data, size) &&
        raw_profile_open(&body, &kind, &err) == 0 &&
        kind != BLOCK_RAW_PROFILE) {
        const struct change change = { t, 23, 11, 23, 11 };
        if (kind == BLOCK_EXIF)
            exif_turn(body.data, body.size, &change, 5);
        else if (size % 2 == 0) /* another size */
            body.size /= 2;
        must(raw_profile_close(&text, &body, &err) == 0);
    }
}

static void turn_regions(const uint8_t *data, size_t size)
{
    for (int i = 0; i < 2 * XFORM_COUNT; i++) {
        const struct change change = {
            .turn = (enum xform)(i % XFORM_COUNT),
            .width = 640,
            .height = 480,
            .kept_width = i < XFORM_COUNT ? 640 : 624,
            .kept_height = 480,
        };
        const struct lengths lengths = { 1, { { size % 97, 123456 } } };
        struct warnings warnings = { 0 };
        owned_bytes packet = { 0 };
        struct err err;
        size_t room = size + size % 7 * 4;
        if (size == 0 || !bytes_append(&packet, data, size) ||
            xmp_edit(&packet, room, &change, &lengths, &warnings, &err))
            return;
        if (packet.size > room && packet.size != size)
            abort();
    }
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
    must(memcmp(packet, data, size) == 0);
    xmp_turn(packet, size, t, 5);
    must(xmp_orientation(packet, size) == (was ? 5u : 0));
    free(packet);
    turn_profile(data, size, t);
    turn_regions(data, size);
    return 0;
}
