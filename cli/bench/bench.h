/* gimgxf bench: times the kernels of the literature, the libraries and
 * gimgxf's own stage, and verifies what they did. In come its options; out
 * go a table or JSON. What is run are cases of beds
 * (cuda/bench/kernel_suite.h): those of a GPU; planes of the CPU (host.c);
 * coded JPEG scans (jpeg.c). bench.c times them all in one loop, show.c prints.
 * The room knows nothing of files. */
#ifndef CLI_BENCH_BENCH_H
#define CLI_BENCH_BENCH_H

#include "cli/options/options.h"
#include "cli/options/parser.h"
#include "cuda/bench/kernel_suite.h"

/* The options of bench. */
extern const struct parser_table bench_table;

struct bench_opts {
    bool help, cpu, sweep, profile, json;
    const char *only;        /* NULL: not asked for */
    struct suite_shape size; /* {0}: each its own */
    int device;              /* of a GPU; -1: not asked for */
    int rounds;              /* 0: as many as are good here */
};

/* One line of the table. */
struct bench_row {
    struct suite_entry entry;
    struct suite_shape shape;
    struct suite_result result;
    bool part;                 /* of the case whose row follows */
    const char *name, *cell;   /* "rotate90", "u8" */
    char title[128], size[48]; /* what ran, and the cells and the size */
    /* 0 where nothing was timed: GB/s, and those of the baseline; what the bar
     * shows; of JPEG files microseconds of one, and how many a second. */
    struct bench_speed {
        double gbs, copy_gbs, share, us, rate;
    } speed;
};

/* Everything that was run. */
struct bench {
    struct bench_opts opts;
    char machine[400];       /* the GPU if one is used, else the CPU */
    int gpus;                /* that there are; 0 if none is used */
    struct err gpu_left_out; /* why; "" if it was not */
    struct bench_row *row;
    size_t nrows;
    unsigned wrong;     /* rows with wrong results that nobody knew of */
    char sections[160]; /* of all that could be run: "nvidia, book" */
    double sample[SUITE_TIMES][SUITE_ROUNDS]; /* of the case that runs */
};

/* Runs `gimgxf bench`; argv[0] is "bench". Returns the exit status. */
int bench_main(int argc, char **argv);

/* Prints its help on stdout. */
void bench_help(void);

/* Beds: planes that the CPU turns, beside memcpy; and coded JPEG scans that a
 * device turns, if there is one, beside NVIDIA's codec and the processors. */
extern const struct suite_bed_type bench_host_bed, bench_jpeg_bed;

/* Returns how many processors there are. */
unsigned bench_processors(void);

/* Print a row, the first one below the name of the machine; all rows as JSON
 * (show.c). */
void bench_show_row(const struct bench *bench, const struct bench_row *row);
void bench_show_json(const struct bench *bench);

#endif
