/* Huffman tables of JPEG in the forms in which they are used (T.81, Annex C).
 */
#ifndef CODECS_JPEG_ENTROPY_HUFFMAN_TABLE_H
#define CODECS_JPEG_ENTROPY_HUFFMAN_TABLE_H

#include <stdbool.h>

#include "codecs/base/each_cpu.h"
#include "codecs/jpeg/entropy/entropy.h"

#define ENTROPY_INLINE static inline __attribute__((always_inline))

/* How many bits are looked up at once: most symbols take fewer with their
 * value, and many pairs of them. */
enum { HUFFMAN_LOOKUP = 10 };

/* What a symbol means, and with it often the one behind it, as one number,
 * whose parts are shift counts:
 *
 *   bits 0..5    the bits that all codes and values take
 *   bits 8..12   the bits that the first code takes
 *   bit  14      HUFFMAN_SPECIAL: the first symbol has no value
 *   bits 16..21  63 - the bits that its value takes
 *   bits 24..31  how many coefficients it moves on by; HUFFMAN_END: the block
 *                ends
 *   bits 32..39  how many the second one moves on by; 0: there is none
 *   bits 48..63  the value of the second one, 1 << size | bits
 *
 * 0: no code is this short, or it is none. */
enum { HUFFMAN_SPECIAL = 1 << 14, HUFFMAN_END = 128 };

struct huffman_decoder {
    uint64_t entry[1 << HUFFMAN_LOOKUP];
    uint32_t limit[17]; /* the first code, of 16 bits, that is longer than so
                           many bits */
    int32_t offset[17]; /* from a code of so many bits to its symbol */
    uint8_t symbols[256];
    bool ac;
};

/* Makes the decoder of a table. Returns false if the table is none (T.81,
 * Annex C), or has symbols that no sequential scan of 8 bits has. */
bool huffman_decoder_make(struct huffman_decoder *decoder,
                          const struct huffman_spec *spec, bool ac);

/* Returns the entry, of one symbol, of a code that is longer than
 * HUFFMAN_LOOKUP bits; `bits` are the next 16 of the data. Returns 0 if it is
 * no code. */
uint32_t huffman_decoder_find(const struct huffman_decoder *decoder,
                              uint32_t bits);

/* For each symbol, whose value has `size` bits, the lowest 4 of the symbol:
 * its code << size << 8 | the bits that its code and its value take. Symbols
 * without a code have HUFFMAN_NONE set as well. */
enum { HUFFMAN_NONE = 0x80 };
struct huffman_encoder {
    uint64_t code[256];
};

/* Makes the shortest table for symbols that occur so often, as T.81, K.2 and
 * libjpeg make it. Returns false if they cannot all have a code. */
bool huffman_spec_make(struct huffman_spec *spec, const uint64_t counts[256]);

/* Gives a code to each symbol that the table lacks: the others get about as
 * long ones as they have. Returns whether it lacked any. */
bool huffman_spec_complete(struct huffman_spec *spec, bool ac);

/* The same for all tables of a scan. */
void huffman_complete(struct entropy_scan *scan);

/* Makes the encoder of a table, for which a decoder could be made. */
void huffman_encoder_make(struct huffman_encoder *encoder,
                          const struct huffman_spec *spec);

#endif
