/* gimgxf bench: times the kernels of the literature, the libraries and
 * gimgxf's own stage, and verifies what they did. In come its options; out
 * go a table or JSON. What is run are cases of beds
 * (cuda/bench/kernel_suite.h): those of a GPU; planes of the CPU (host.c);
 * coded JPEG scans and image data of PNG (coded.c). bench.c times them all in
 * one loop, and prints. The room knows nothing of files. */
#ifndef CLI_BENCH_BENCH_H
#define CLI_BENCH_BENCH_H

#include "cli/options/parser.h"
#include "cuda/backend_choose.h"
#include "cuda/bench/kernel_suite.h"

/* The options of bench. */
extern const struct parser_table bench_table;

/* Runs `gimgxf bench`; argv[0] is "bench". Returns the exit status. */
int bench_main(int argc, char **argv);

/* Prints its help on stdout. */
void bench_help(void);

/* Beds: planes that the CPU turns, beside memcpy; and coded JPEG scans, and
 * PNG's image data, that a device turns, if there is one, beside libraries and
 * the processors. */
extern const struct suite_bed_type bench_host_bed, bench_jpeg_bed,
    bench_png_bed;

/* Returns how many processors there are. */
unsigned bench_processors(void);

#endif
