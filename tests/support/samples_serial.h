/* The kernels of components that go through samples, in plain loops. */
#ifndef TESTS_SUPPORT_SAMPLES_SERIAL_H
#define TESTS_SUPPORT_SAMPLES_SERIAL_H

#include "cuda/jpeg/scan_pixels.h"

/* Each does what a block of a kernel does; its shared memory begins as garbage.
 * Two of them return whether no picture is to be refused. */
bool samples_serial_decode(const struct samples_params *p, uint32_t tile);
void samples_serial_units(const struct samples_params *p, uint32_t tile);
void samples_serial_cap(const struct samples_params *p, uint32_t component);
bool samples_serial_blocks(const struct samples_params *p, uint32_t tile);
void samples_serial_pixels(const struct pixels_params *p,
                           const struct samples_params *samples, uint32_t tile);

#endif
