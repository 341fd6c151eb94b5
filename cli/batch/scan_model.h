/* The cost model of --backend auto for JPEG files whose coded scans a device
 * can turn, or make samples of: seconds on the processors alone, and with a
 * device. Its constants were measured (BENCHMARKS.md); only their ratios
 * matter, which differ less between machines than they themselves. */
#ifndef CLI_BATCH_SCAN_MODEL_H
#define CLI_BATCH_SCAN_MODEL_H

#include <stdint.h>

struct scan_estimate {
    double pictures;
    double bytes;                    /* of their files */
    double by_processors, by_device; /* seconds */
};

/* Estimates so many pictures, of so many bytes, that become so many bytes of
 * samples, or none; on so many processors, with one device. */
struct scan_estimate scan_model_estimate(double pictures, double bytes,
                                         double samples, unsigned processors);

#endif
