/* Turns coded scans as a device does, byte for byte, on the host. */
#ifndef TESTS_SUPPORT_HOST_TURN_H
#define TESTS_SUPPORT_HOST_TURN_H

#include "codecs/jpeg/entropy/scan_turner.h"

/* Turns the data of a scan, and appends what `to` becomes, whose tables may be
 * replaced. Returns false where a device refuses: the data is damaged, or
 * memory has run out. `data` need not have a marker behind it. */
bool host_turn(struct bytes *made, struct entropy_scan *to,
               const struct entropy_scan *from, enum xform turn, bool optimize,
               struct bytes data);

#endif
