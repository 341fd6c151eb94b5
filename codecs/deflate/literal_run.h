/* Writes runs of literals in Huffman codes.
 *
 * By plain C that takes half of the time in which a photograph is encoded, so
 * that long runs have a function of their own, for several kinds of CPU. All of
 * them write the same bits. */
#ifndef CODECS_DEFLATE_LITERAL_RUN_H
#define CODECS_DEFLATE_LITERAL_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "codecs/deflate/huffman_code.h"

enum {
    LITERAL_LIMIT = 14, /* bits of a code: four of them are written at a time */
    LITERAL_RUN = 256,  /* bytes: shorter runs take longer to prepare for */
};

/* Writes `size` bytes, of which each has a code in `code`. */
static inline void literal_run_put(struct bit_writer *b, const uint32_t *code,
                                   const uint8_t *data, size_t size)
{
    size_t i = 0;
    for (; i + 4 <= size; i += 4) {
        unsigned m, n;
        uint64_t low = huffman_code_pair(code[data[i]], code[data[i + 1]], &m);
        uint64_t high =
            huffman_code_pair(code[data[i + 2]], code[data[i + 3]], &n);
        bit_writer_put(b, low | high << m, m + n);
    }
    for (; i < size; i++)
        huffman_code_put(b, code[data[i]]);
}

/* Does the same, in less time if there are many bytes. */
void literal_run_put_long(struct bit_writer *b, const uint32_t *code,
                          const uint8_t *data, size_t size);

/* ---- The same for several kinds of CPU -----------------------------------*/

struct literal_runs {
    const char *name;
    bool (*usable)(void); /* on this machine */
    void (*put)(struct bit_writer *b, const uint32_t *code, const uint8_t *data,
                size_t size);
};

/* The best first; the last is portable. Ended by NULL. Tests take each of them
 * from here, whichever this machine would choose. */
extern const struct literal_runs *const literal_runs[];
extern const struct literal_runs literal_runs_avx512;

#endif
