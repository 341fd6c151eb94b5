/* The cost model of --backend auto for JPEG files. */
#include "cli/schedule/scan_model.h"

/* Seconds until a device is open, while the processors turn pictures alone: its
 * driver and its context take 0.1 s each, the code and memory of batches the
 * rest. Seconds that the process takes longer to end. */
static const double opening = 0.3, ending = 0.1;

/* Seconds of one processor. */
static const struct scan_load alone = {
    .pictures = 0.4e-3, .bytes = 22e-9, .samples = 1.8e-9, .encoded = 10e-9
};

/* The same where a device turns them: files are read, copied twice and
 * written. */
static const struct scan_load beside = {
    .pictures = 0.35e-3, .bytes = 1.6e-9, .samples = 0.5e-9, .encoded = 0
};

/* Seconds of the device. */
static const struct scan_load device = {
    .pictures = 5e-6, .bytes = 0.15e-9, .samples = 0.02e-9, .encoded = 0.15e-9
};

static double cost(const struct scan_load *load, const struct scan_load *each)
{
    return load->pictures * each->pictures + load->bytes * each->bytes +
           load->samples * each->samples + load->encoded * each->encoded;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

struct scan_estimate scan_model_estimate(const struct scan_load *load,
                                         unsigned processors)
{
    const double by_processors = cost(load, &alone) / processors;
    const double with_device =
        larger(cost(load, &beside) / processors, cost(load, &device));
    const double left =
        by_processors > opening ? 1 - opening / by_processors : 0;
    return (struct scan_estimate){
        .pictures = load->pictures,
        .by_processors = by_processors,
        .by_device = opening + left * with_device + ending,
    };
}
