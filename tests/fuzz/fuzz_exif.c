/* Any bytes as an EXIF block: nothing outside of it is accessed, its thumbnail
 * lies within it, and no place is left where GPS was dropped. */
#include "codecs/metadata/exif.h"

#include "tests/fuzz/fuzz.h"
#include "tests/support/fixture.h"

static void set_and_find(struct bytes *exif, size_t length)
{
    uint8_t jpeg[300] = { 0xff, 0xd8 };
    struct exif_thumbnail t = exif_thumbnail_find(exif->data, exif->size);
    if (!t.length)
        return;
    must(exif_thumbnail_set(exif, jpeg, length) == 0);
    t = exif_thumbnail_find(exif->data, exif->size);
    must(t.length == length && !memcmp(exif->data + t.at, jpeg, length));
}

static void drop_gps(const uint8_t *data, size_t size)
{
    owned_bytes exif = { 0 };
    struct err err;
    must(bytes_append(&exif, data, size));
    if (exif_drop(&exif, DROP_GPS, &err) == 0) {
        owned_bytes again = { 0 };
        must(exif_tag(exif.data, exif.size) == exif_tag(data, size));
        must(bytes_append(&again, exif.data, exif.size));
        must(exif_drop(&again, DROP_GPS, &err) == 0);
        must(same_bytes(again, exif));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    owned_bytes exif = { 0 };
    if (size < 6 || !bytes_append(&exif, data + 5, size - 5))
        return 0;
    drop_gps(data + 5, size - 5);
    unsigned width = data[0] | data[1] << 8, height = data[2] | data[3] << 8;
    enum xform t = (enum xform)(data[4] & 7);
    unsigned orientation = (data[4] >> 3) % 9;

    const struct change change = { t, width, height, width - width / 8,
                                   height };
    must(exif_tag(exif.data, exif.size) <= 8);
    exif_turn(exif.data, exif.size, &change, orientation);
    must(exif_tag(exif.data, exif.size) <= 8);
    set_and_find(&exif, 2 + data[0] % 100);
    set_and_find(&exif, 2 + data[2]);
    exif_thumbnail_drop(&exif);
    must(!exif_thumbnail_find(exif.data, exif.size).exists);
    if (exif_add_orientation(&exif, 1 + orientation % 8) == 0)
        must(exif_tag(exif.data, exif.size) == 1 + orientation % 8);
    return 0;
}
