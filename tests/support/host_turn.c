/* Turns coded scans as a device does, on the host. */
#include "tests/support/host_turn.h"

#include "codecs/jpeg/entropy/sequential.h"

bool host_turn(struct bytes *made, struct entropy_scan *to,
               const struct entropy_scan *from, enum xform turn, bool optimize,
               struct bytes data)
{
    struct entropy_blocks blocks = { 0 };
    struct err err;
    bool turned = entropy_decode(&blocks, from, data, xform_transposes(turn),
                                 NULL, &err) == 0;
    const struct entropy_source source = { &blocks, from, turn };
    turned = turned && sequential_encode_scan(made, to, &source, optimize, NULL,
                                              &err) == 0;
    entropy_blocks_free(&blocks);
    return turned;
}
