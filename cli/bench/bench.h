/* gimgxf bench: times the kernels of the literature, the libraries and
 * gimgxf's own stage, and verifies what they did. In come its options; out
 * go a table, JSON or a chart. bench.c reads the options and runs the suite
 * of the GPU (cuda/bench/kernel_suite.h), stream.c takes pictures to GPUs
 * and back, jpeg.c turns coded JPEG scans, cpu.c runs the stage on the CPU, and
 * show.c and chart.c print. The room knows nothing of files, but for the chart
 * that it writes. */
#ifndef CLI_BENCH_BENCH_H
#define CLI_BENCH_BENCH_H

#include "cli/options/options.h"
#include "cuda/bench/kernel_suite.h"

struct bench_opts {
    bool help, cpu, sweep, profile, json;
    const char *only, *svg;  /* NULL: not asked for */
    struct suite_shape size; /* {0}: each its own */
    struct device_list devices;
    int rounds; /* 0: as many as are good here */
};

/* One line of the table. A row of the CPU has an entry as well. */
struct bench_row {
    struct suite_entry entry;
    struct suite_shape shape;
    struct suite_banks banks;
    struct suite_result result;
    unsigned threads;        /* of the CPU; 0: it ran on a GPU */
    unsigned devices, lanes; /* GPUs, and lanes of each, of a stream; else 0 */
    /* JPEG files, whose number in result.median is shown instead of GB/s; 0:
     * it is cells that are turned. */
    unsigned pictures;
    double share; /* of these, what the table says */
    bool part;    /* a part of what is done to them */
};

/* Everything that was run. */
struct bench {
    struct bench_opts opts;
    char machine[512]; /* in words; the GPU if one is used, else the CPU */
    int gpus;          /* that there are; 0 if none is used */
    struct err gpu_left_out; /* why; "" if it was not */
    struct bench_row *row;
    size_t nrows;
    unsigned wrong; /* rows with wrong results that nobody knew of */
};

/* Runs `gimgxf bench`; argv[0] is "bench". Returns the exit status. */
int bench_main(int argc, char **argv);

/* Prints its help on stdout. */
void bench_help(void);

/* Returns whether --only lets this entry run. */
bool bench_wants(const struct bench *bench, const struct suite_entry *entry);

/* Returns the size at which an entry made for `shape` is run: that of
 * --size, in pixels, if it was given. */
struct suite_shape bench_shape(const struct bench *bench,
                               const struct suite_entry *entry,
                               struct suite_shape shape);

/* Appends a row, counts it if it is wrong, and prints it unless JSON was
 * asked for. Returns 0, or -1 without memory. */
int bench_add(struct bench *bench, const struct bench_row *row,
              struct err *err);

/* Times the CPU stage beside memcpy (cpu.c), and names its sections. Returns
 * 0; on failure -1, with the reason in `err`. */
extern const char bench_cpu_sections[];
int bench_cpu(struct bench *bench, struct err *err);

/* Takes pictures from the host to these GPUs and back, beside plain copies
 * (stream.c): through the first GPU alone, then through all together.
 * Returns 0; on failure -1, with the reason in `err`. */
extern const char bench_stream_section[];
int bench_stream(struct bench *bench, const struct kernel_suite *suite,
                 const int *device, unsigned ndevices, struct err *err);

/* Turns coded scans of JPEG files where there is a device for that, beside
 * NVIDIA's codec and the processors (jpeg.c). `suite` may be NULL. Returns 0;
 * on failure -1, with the reason in `err`. */
extern const char bench_jpeg_section[];
int bench_jpeg(struct bench *bench, const struct kernel_suite *suite,
               struct err *err);

/* Returns how many processors there are. */
unsigned bench_processors(void);

/* Print a row in words, the first one below the name of the machine; all
 * rows as JSON (show.c); all rows as an SVG chart, to the file of --svg
 * (chart.c). */
void bench_show_row(const struct bench *bench, const struct bench_row *row);
void bench_show_json(const struct bench *bench);
int bench_show_svg(const struct bench *bench, struct err *err);

#endif
