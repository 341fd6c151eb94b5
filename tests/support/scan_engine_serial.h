/* A scan engine that runs the kernels of cuda/jpeg/ on the host: all blocks of
 * a launch one after the other, and of each block all threads, from one barrier
 * to the next. */
#ifndef TESTS_SUPPORT_SCAN_ENGINE_SERIAL_H
#define TESTS_SUPPORT_SCAN_ENGINE_SERIAL_H

#include "cuda/jpeg/scan_engine.h"

extern const struct scan_engine_type scan_engine_serial;

#endif
