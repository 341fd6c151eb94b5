/* Finds the word that was probably meant. */
#ifndef CLI_OPTIONS_SPELLING_H
#define CLI_OPTIONS_SPELLING_H

#include <stddef.h>

/* Counts the letters that have to be inserted, removed, replaced, or exchanged
 * with the next one, to make `a` of `b`. Upper and lower case of ASCII letters
 * are the same. Returns SPELLING_FAR for words of more than 40 bytes. */
enum { SPELLING_FAR = 1000 };
unsigned spelling_distance(const char *a, const char *b);

/* Returns the word of `words` that is nearest to `word`, the first of several,
 * or NULL if more than a third of its letters would be wrong. */
const char *spelling_nearest(const char *word, const char *const *words,
                             size_t nwords);

#endif
