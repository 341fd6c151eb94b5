/* The cost model of --backend auto for JPEG files. */
#include "cli/batch/scan_model.h"

/* A context of CUDA takes 0.2 s, page-locking and the end of the process 0.1 s.
 * The processors turn pictures meanwhile, but not faster than without. */
static const double start = 0.3;

/* Seconds of one processor: of a file, of a byte of it, and of a byte of the
 * samples that it becomes. */
static const double file_alone = 0.4e-3, byte_alone = 11e-9,
                    sample_alone = 1.8e-9;

/* The same where a device turns it: the file is read, copied twice and written.
 */
static const double file_beside = 0.25e-3, byte_beside = 0.8e-9,
                    sample_beside = 0.5e-9;

/* Seconds of the device. */
static const double file_device = 5e-6, byte_device = 0.15e-9,
                    sample_device = 0.02e-9;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

struct scan_estimate scan_model_estimate(double pictures, double bytes,
                                         double samples, unsigned processors)
{
    const double alone =
        pictures * file_alone + bytes * byte_alone + samples * sample_alone;
    const double beside = (pictures * file_beside + bytes * byte_beside +
                           samples * sample_beside) /
                          processors;
    const double device =
        pictures * file_device + bytes * byte_device + samples * sample_device;
    return (struct scan_estimate){
        .pictures = pictures,
        .bytes = bytes,
        .by_processors = alone / processors,
        .by_device = start + larger(beside, device),
    };
}
