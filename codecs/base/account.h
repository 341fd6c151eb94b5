/* What one job may cost, and has cost: memory, work and time.
 *
 * A sound file has its picture in so many bytes, so a few bytes that claim much
 * more are refused before they cost it. The figures are what the most
 * compressed sound files need, and room for files so small that nobody minds
 * what they take.
 *
 * Who reads or writes a file is given its account, which may be NULL: then
 * there are no limits. Memory is counted where it is taken (memory.h), deep in
 * libraries too, so a thread has the account of the job that it works for:
 * account_enter(). The threads of a pool have that of the thread whose task
 * they do (thread_pool.h). */
#ifndef CODECS_BASE_ACCOUNT_H
#define CODECS_BASE_ACCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "codecs/base/err.h"

/* {0} is without a limit. */
struct account {
    atomic_llong taken;   /* bytes of memory, now */
    atomic_llong planned; /* bytes that may be taken beyond the limit */
    long long limit;      /* of memory; 0: there is none */
    atomic_bool refused;  /* a block would have been beyond it */
    atomic_ullong work;   /* bytes that may be looked at; 0: without a limit */
    atomic_ullong spent;  /* of them */
    double end;           /* when the time is over, as now() counts; 0: never */
    double seconds;       /* that it was */
};

/* Makes this thread work for a job from now on; NULL: for none. Returns for
 * which it has worked. */
struct account *account_enter(struct account *account);

/* Returns for which job this thread works; NULL: for none. */
struct account *account_current(void);

/* ---- By the size of a file ----------------------------------------------- */

/* DEFLATE makes at most 1032 bytes of one (RFC 1951: a match of 258 bytes takes
 * two bits or more). A progressive JPEG has a bit or more for a block of 128
 * bytes, which is less by a little. */
enum { ACCOUNT_CELLS_OF_BYTE = 1032 };

/* Returns the bytes of memory that the samples of a file of so many bytes may
 * take, before and after the turn; and that all else may take in sum, beside
 * what is planned for samples that are there: the file, its metadata, the
 * output, and what libraries take.
 *
 * That is 2064 times the file. A lower figure would refuse sound files where
 * nothing goes through a temporary file: to be compared, or to become a JPEG.
 * Cells are bytes also where samples are bits, so a drawing of 13,000 x 19,000
 * pixels, black on white, takes 250 MB, twice with its turn, of a file of some
 * 300 KB. */
uint64_t account_memory_of(uint64_t file);

/* Returns the bytes of memory that the samples of two pictures may take that
 * are compared, whose files have so many bytes together. Both are in memory, so
 * that is less than account_memory_of(): 246 MiB, which keeps the process below
 * 256, or 256 times the files, which is 128 bytes for a byte of a file. */
uint64_t account_compared_of(uint64_t files);

/* Returns the bytes that one copy of the cells of a file may take, a byte of
 * which becomes so many at most, and 64 MiB: as many in memory as a temporary
 * file can hold beyond that, and in that file, so that a small one cannot fill
 * a disk. Of a damaged file they are as many as its bytes can have been a part
 * of. */
uint64_t account_cells_of(uint64_t file, uint64_t of_byte);

/* ---- Work and time ------------------------------------------------------- */

/* Ends the time in so many seconds from now on; 0: never. */
void account_set_time(struct account *account, double seconds);

/* Allows the work, or more work, for files of so many bytes; and for a picture
 * of so many pixels. */
void account_allow_file(struct account *account, uint64_t file);
void account_allow_pixels(struct account *account, uint64_t pixels);

/* Counts bytes that are about to be looked at. Fails, then and from then on, if
 * they are more than there may be, or if the time is over. Any thread may,
 * as frames are decoded side by side. */
int account_spend(struct account *account, uint64_t bytes, struct err *err);

/* Fails as account_spend() does, but counts nothing. */
int account_check_work(const struct account *account, uint64_t bytes,
                       struct err *err);

/* Counts for the job of this thread, where nothing can fail. Returns false if
 * there may be no more: who looks for something then has not found it, and the
 * next account_spend(), of no bytes, fails. */
bool account_look(uint64_t bytes);

/* Fails if the time is over, and so it does from then on. Any thread may ask.
 */
int account_check_time(const struct account *account, struct err *err);

/* Returns whether the time of this thread's job is over: who is in the midst of
 * long work then gives it up. The clock is read only where there is an end. */
bool account_is_over(void);

#endif
