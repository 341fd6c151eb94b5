/* Data to deflate, and whether zlib inflates what was made of them. */
#ifndef TESTS_SUPPORT_INFLATES_H
#define TESTS_SUPPORT_INFLATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether zlib inflates `size` bytes of deflate to exactly `n` of data, which
 * may refer to the `before` bytes that stand before these. */
bool inflates_to(uint8_t *in, size_t size, const uint8_t *data, size_t before,
                 size_t n, bool final);

/* PHOTO is about a Laplace distribution around 0, as filtered rows are. STEEP
 * has counts like Fibonacci numbers, whose tree is as deep as trees get. WORDS
 * are of a small vocabulary; MIXED is now this, now that; ECHO is noise in
 * which a little comes again, among positions that are passed over. */
enum data_kind {
    CONSTANT,
    TWO,
    NOISE,
    PHOTO,
    STEEP,
    WORDS,
    MIXED,
    ECHO,
    DATA_KINDS
};
extern const char *const data_names[DATA_KINDS];

/* Makes data of a kind, the same each time. */
void data_fill(uint8_t *data, size_t n, enum data_kind kind);

#endif
