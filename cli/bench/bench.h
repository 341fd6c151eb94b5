/* The sub-command bench: what is timed, the table, the chart. */
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

/* One line of the table. What runs on the CPU has an entry as well. */
struct bench_row {
    struct suite_entry entry;
    struct suite_shape shape;
    struct suite_banks banks;
    struct suite_result result;
    unsigned threads;        /* of the CPU; 0: it ran on a GPU */
    unsigned devices, lanes; /* GPUs, and lanes of each, of a stream; else 0 */
};

/* All that was run. */
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

/* Whether --only lets this through. */
bool bench_wants(const struct bench *bench, const struct suite_entry *entry);

/* The size at which an entry made for `shape` is to be run: that of --size, in
 * pixels, if it was given. */
struct suite_shape bench_shape(const struct bench *bench,
                               const struct suite_entry *entry,
                               struct suite_shape shape);

/* Keeps a row, counts it if it is wrong, and prints it. */
int bench_add(struct bench *bench, const struct bench_row *row,
              struct err *err);

/* Times the CPU stage beside memcpy: cli/bench/cpu.c. And the sections that it
 * has. */
extern const char bench_cpu_sections[];
int bench_cpu(struct bench *bench, struct err *err);

/* Takes pictures from the host to these GPUs and back, beside plain copies:
 * cli/bench/stream.c. Several GPUs are used together, and the first alone. */
extern const char bench_stream_section[];
int bench_stream(struct bench *bench, const struct kernel_suite *suite,
                 const int *device, unsigned ndevices, struct err *err);

/* What was run, in words, as JSON, as SVG: cli/bench/show.c. The first row also
 * names the machine. */
void bench_show_row(const struct bench *bench, const struct bench_row *row);
void bench_show_json(const struct bench *bench);
int bench_show_svg(const struct bench *bench, struct err *err);

#endif
