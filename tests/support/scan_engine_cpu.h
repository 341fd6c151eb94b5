/* A scan engine that needs no device: the coder of codecs/jpeg/entropy. What
 * others do is compared with it, and whoever uses engines is tested with it. */
#ifndef TESTS_SUPPORT_SCAN_ENGINE_CPU_H
#define TESTS_SUPPORT_SCAN_ENGINE_CPU_H

#include "cuda/jpeg/scan_engine.h"

extern const struct scan_engine_type scan_engine_cpu;

#endif
