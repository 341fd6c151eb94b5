/* What is said of a row of bench, in the table, in JSON and in the chart. */
#ifndef CLI_BENCH_ROW_H
#define CLI_BENCH_ROW_H

#include "cli/bench/bench.h"

const char *bench_row_name(const struct bench_row *row);

/* Returns what is turned: "u8", "jpeg". */
const char *bench_row_cell(const struct bench_row *row);

/* GB/s, read and written, and those of a plain copy; the share that the bar
 * shows. 0 where nothing was timed. */
double bench_row_gbs(const struct bench_row *row);
double bench_row_copy_gbs(const struct bench_row *row);
double bench_row_share(const struct bench_row *row);

/* Of rows of files: microseconds of one, and how many a second. */
double bench_row_us(const struct bench_row *row);
double bench_row_rate(const struct bench_row *row);

/* Write what a row ran, and the size, for one line. */
void bench_row_title(const struct bench_row *row, char *title, size_t size);
void bench_row_size(const struct bench_row *row, char *text, size_t size);

#endif
