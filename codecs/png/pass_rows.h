/* Puts the rows of a picture as a file has them into a row_sink: those of an
 * interlaced one come in seven passes.
 *
 * In memory each goes to its place at once. A picture that gets bands is put
 * together row by row: the last pass has its odd rows, and comes in their
 * order; the other passes wait in a temporary file of their own until it
 * does. */
#ifndef CODECS_PNG_PASS_ROWS_H
#define CODECS_PNG_PASS_ROWS_H

#include "codecs/image/rows.h"
#include "codecs/png/scanline.h"

struct pass_rows {
    struct row_sink *rows;
    struct adam7_pass pass[ADAM7_PASSES];
    unsigned passes;
    bool interlaced;
    struct image line;         /* a row of a pass that has not all columns */
    uint32_t complete;         /* rows, which the sink was told of */
    struct waiting_rows *wait; /* NULL: none do */
};

/* Takes a sink that is open for the whole picture, whose rows come in passes if
 * it is interlaced. On failure pass_rows_close() is needed, too. */
int pass_rows_open(struct pass_rows *p, struct row_sink *rows, bool interlaced,
                   struct err *err);

/* Makes the pixels black that have not come until pass_rows_end(). */
void pass_rows_blacken(struct pass_rows *p);

/* Takes row i of a pass: passes come in order, and so do rows. */
int pass_rows_put(struct pass_rows *p, unsigned pass, uint32_t i,
                  const uint8_t *row, struct err *err);

/* Completes the picture. Rows that have not come are black, but for those of an
 * interlaced picture in memory. */
int pass_rows_end(struct pass_rows *p, struct err *err);

/* Frees all but the sink. Fine on {0}. */
void pass_rows_close(struct pass_rows *p);

#endif
