/* Turns coded scans as a device does, on the host. */
#include "tests/support/host_turn.h"

#include "codecs/jpeg/entropy/sequential.h"

bool host_turn(struct bytes *made, struct entropy_scan *to,
               const struct entropy_scan *from, enum xform turn, bool optimize,
               struct bytes data)
{
    static const uint8_t eoi[] = { 0xff, MARKER_EOI };
    struct entropy_blocks blocks = { 0 };
    struct bytes coded = { 0 };
    struct err err;
    size_t used;
    bool turned = bytes_append(&coded, data.data, data.size) &&
                  bytes_append(&coded, eoi, sizeof eoi) &&
                  entropy_decode(&blocks, from, coded.data, coded.size, &used,
                                 xform_transposes(turn), NULL, &err) == 0 &&
                  used == data.size;
    const struct entropy_source source = { &blocks, from, turn };
    turned = turned && sequential_encode_scan(made, to, &source, optimize, NULL,
                                              &err) == 0;
    entropy_blocks_free(&blocks);
    bytes_free(&coded);
    return turned;
}
