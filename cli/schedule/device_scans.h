/* Pictures whose coded scans a device turns: whether that is worthwhile, and
 * the way of each from its worker to the pipeline and back. */
#ifndef CLI_SCHEDULE_DEVICE_SCANS_H
#define CLI_SCHEDULE_DEVICE_SCANS_H

#include "cli/job/job.h"
#include "cli/schedule/resource_limits.h"
#include "cli/schedule/scan_pipeline.h"

/* The cost model of --backend auto for JPEG files whose coded scans a device
 * can turn, or make samples of: seconds on the processors alone, and with a
 * device. Its constants were measured with an H200 and 16 processors
 * (BENCHMARKS.md). */

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
struct scan_estimate device_scans_model(const struct scan_load *load,
                                        unsigned processors);

/* ---- The way of a picture ---- */

struct device_scans;

/* Returns whether `auto` may have a device turn scans of so many jobs. Fewer
 * than there are processors are done sooner by these. */
bool device_scans_may_start(const struct options *opts, size_t jobs);

/* Opens it for jobs that are done with this backend; `endless` if nobody knows
 * how many there are. Returns NULL if no device is to turn scans. */
struct device_scans *device_scans_open(const struct options *opts,
                                       const struct backend *backend,
                                       bool endless);

/* Returns how many pictures the slots of a device hold. */
size_t device_scans_most(const struct device_scans *scans);

/* Fine on NULL. */
void device_scans_close(struct device_scans *scans);

/* See scan_pipeline_failure(). */
bool device_scans_failure(struct device_scans *scans, struct err *why);

/* Returns whether `auto` has weighed it, and the estimate that it decided by.
 */
bool device_scans_estimate(struct device_scans *scans,
                           struct scan_estimate *estimate);

/* What a job holds. {0} at first. */
struct device_picture {
    struct device_scans *scans;
    struct resource_share *share; /* takes a processor if no device takes the
                                     picture */
    size_t left;                  /* jobs that are to be done */
    enum device_use use;
    struct scan_ticket ticket;
    struct scan_turner turner;
};

/* Prepares a job that has been read, of which `left` are left. Returns what is
 * to be its turner of scans; NULL if it has none. With one it is to hold no
 * processor: it gets one if its scans are offered and no device takes them. */
const struct scan_turner *device_scans_prepare(struct device_scans *scans,
                                               struct device_picture *picture,
                                               const struct result *result,
                                               struct resource_share *share,
                                               size_t left);

/* Returns whether the turner has taken the picture, even if the device has
 * refused it meanwhile, until it is released. */
bool device_scans_has(const struct device_picture *picture);

/* See scan_pipeline_park(). */
bool device_scans_park(struct device_picture *picture,
                       void (*resume)(void *context), void *context);

/* Waits for a picture that has failed after it was taken, and gives its place
 * back. */
void device_scans_abandon(struct device_picture *picture);

/* Gives the place back of a picture that is encoded, or was refused. */
void device_scans_release(struct device_picture *picture);

/* Sets what the device did for the job, whose result is complete. */
void device_scans_note(const struct device_picture *picture,
                       struct result *result);

#endif
