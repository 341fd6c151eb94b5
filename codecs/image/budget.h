/* What one file may cost: memory and work in proportion to its size.
 *
 * A sound file has its picture in so many bytes, so a few bytes that claim much
 * more are refused before they cost it. The figures are what the most
 * compressed sound files need, and room for files so small that nobody minds
 * what they take. */
#ifndef CODECS_IMAGE_BUDGET_H
#define CODECS_IMAGE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "codecs/base/err.h"

struct budget {
    uint64_t work;  /* bytes that may be looked at */
    uint64_t spent; /* of them */
    double end;     /* when the time is over, as now() counts; 0: never */
    double seconds; /* that it was */
};

/* Begins the budget of a file of so many bytes, for which there are so many
 * seconds from now on; 0: without a limit. */
void budget_begin(struct budget *budget, uint64_t file, double seconds);

/* DEFLATE makes at most 1032 bytes of one (RFC 1951: a match of 258 bytes takes
 * two bits or more). A progressive JPEG has a bit or more for a block of 128
 * bytes, which is less by a little. */
enum { BUDGET_CELLS_OF_BYTE = 1032 };

/* Returns the bytes of memory that the samples of such a file may take, before
 * and after the turn; and that all else may take in sum, beside what is planned
 * for samples that are there (codecs/base/memory.h): the file, its metadata,
 * the output, and what libraries take.
 *
 * That is 2064 times the file. A lower figure would refuse sound files where
 * nothing goes through a temporary file: to be compared, or to become a JPEG.
 * Cells are bytes also where samples are bits, so a drawing of 13,000 x 19,000
 * pixels, black on white, takes 250 MB, twice with its turn, of a file of some
 * 300 KB. */
uint64_t budget_memory(uint64_t file);

/* Returns the bytes of memory that the samples of two pictures may take that
 * are compared, whose files have so many bytes together. Both are in memory, so
 * that is less than budget_memory(): 246 MiB, which keeps the process below
 * 256, or 256 times the files, which is 128 bytes for a byte of a file. */
uint64_t budget_compared(uint64_t files);

/* Returns the bytes that one copy of the cells of a file may take, a byte of
 * which becomes so many at most, and 64 MiB: as many in memory as a temporary
 * file can hold beyond that, and in that file, so that a small one cannot fill
 * a disk. Of a damaged file they are as many as its bytes can have been a part
 * of. */
uint64_t budget_cells(uint64_t file, uint64_t of_byte);

/* Allows more work, for a picture of so many pixels. */
void budget_allow_pixels(struct budget *budget, uint64_t pixels);

/* Counts bytes that are about to be looked at. Fails, then and from then on, if
 * they are more than there may be. Fine without a budget: NULL. By one thread
 * at a time. */
int budget_spend(struct budget *budget, uint64_t bytes, struct err *err);

/* Has what this thread looks at counted for a budget from now on; NULL changes
 * nothing. Returns for which it was counted, to be given to budget_leave(). */
struct budget *budget_enter(struct budget *budget);
void budget_leave(struct budget *before);

/* Counts as budget_spend() does, where nothing can fail. Returns false if there
 * may be no more: who looks for something then has not found it, and the next
 * budget_spend(), of no bytes, fails. */
bool budget_look(uint64_t bytes);

/* Gives a budget the end of another one. */
void budget_share_time(struct budget *budget, const struct budget *other);

/* Fails if the time is over, and so it does from then on. Any thread may ask.
 * Fine on NULL. */
int budget_check_time(const struct budget *budget, struct err *err);

#endif
