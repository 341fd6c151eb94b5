/* Pictures that an engine makes samples of: they are those of libjpeg, turned
 * by the oracle. */
#ifndef TESTS_SUPPORT_PIXELS_TRIALS_H
#define TESTS_SUPPORT_PIXELS_TRIALS_H

#include "cuda/jpeg/scan_engine.h"

/* All samplings, turns and packings, of bytes and of floats, in small sizes;
 * and large pictures. */
void pixels_trial_samplings(const struct scan_engine_type *type);
void pixels_trial_large(const struct scan_engine_type *type);

/* Steps that are so long that decoders differ: what is not refused is right. */
void pixels_trial_long_steps(const struct scan_engine_type *type);

/* Samples about which libjpeg's C code and its vectors differ are refused. */
void pixels_trial_out_of_range(const struct scan_engine_type *type);

/* Beside pictures that become JPEG again. */
void pixels_trial_mixed(const struct scan_engine_type *type);

#endif
