/* Reads values of options. A message says what was expected; the caller puts
 * the name of the option before it. */
#ifndef CLI_OPTIONS_VALUE_H
#define CLI_OPTIONS_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "codecs/base/err.h"

/* Reads a whole number from `least` to `most`, which are not negative. Returns
 * 0, or -1 with the reason. */
int value_read_int(const char *text, int least, int most, int *value,
                   struct err *err);

/* Reads seconds, which may have decimals: a millisecond or more. Returns 0, or
 * -1 with the reason. */
int value_read_seconds(const char *text, double *value, struct err *err);

/* Reads a whole number, not 0. K, M or G behind it stand for base, base^2 or
 * base^3; base is 1024 for bytes, else 1000. Returns 0, or -1 with the
 * reason. */
int value_read_amount(const char *text, unsigned base, uint64_t *value,
                      struct err *err);

/* Finds a value among `names`. Returns its index, or -1 with the reason,
 * which lists all names and suggests the nearest. */
int value_read_choice(const char *text, const char *const *names, size_t nnames,
                      struct err *err);

/* Writes "a", "a or b", or "a, b or c" to `text`, of `size` bytes. */
void value_list_names(char *text, size_t size, const char *const *names,
                      size_t nnames);

#endif
