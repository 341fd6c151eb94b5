/* gimgxf bench: times the kernels of the literature, the libraries and
 * gimgxf's own stage, and verifies what they did. In come its options; out
 * go a table or JSON. What is run are cases of beds
 * (cuda/bench/kernel_suite.h): those of a GPU; planes of the CPU (host.c);
 * coded JPEG scans (jpeg.c); image data of PNG (png.c). bench.c times them all
 * in one loop, and prints. The room knows nothing of files. */
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
 * PNG's image data, that a device turns, if there is one, beside NVIDIA's
 * codec, libraries and the processors. */
extern const struct suite_bed_type bench_host_bed, bench_jpeg_bed,
    bench_png_bed;

/* Returns what turns such coded data on a device, or NULL if there is none. */
const struct scan_engine_type *bench_engine(void);

/* Makes a picture as photographs are, RGB of 8 bits, which the caller frees.
 * Equal numbers make equal pictures. */
int bench_photograph(struct image *img, struct suite_shape shape,
                     uint32_t number, struct err *err);

/* Returns how many processors there are. */
unsigned bench_processors(void);

#endif
