/* The cost model of --backend auto for JPEG files whose coded scans a device
 * can turn, or make samples of: seconds on the processors alone, and with a
 * device. Its constants were measured with an H200 and 16 processors
 * (BENCHMARKS.md). */
#ifndef CLI_SCHEDULE_SCAN_MODEL_H
#define CLI_SCHEDULE_SCAN_MODEL_H

/* What is to be done: so many pictures, of so many bytes, that become so many
 * bytes of samples, or that have so many samples of components that are encoded
 * again. */
struct scan_load {
    double pictures, bytes, samples, encoded;
};

struct scan_estimate {
    double pictures;
    double by_processors, by_device; /* seconds */
};

/* Estimates it on so many processors, with one device. */
struct scan_estimate scan_model_estimate(const struct scan_load *load,
                                         unsigned processors);

#endif
