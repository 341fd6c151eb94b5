/* Colors as CSS writes them (CSS Color Module Level 4, 5.2 and 6.1). */
#ifndef CLI_OPTIONS_COLORS_H
#define CLI_OPTIONS_COLORS_H

#include <stdint.h>

#include "codecs/base/err.h"

/* Reads the name of a color, in upper or lower case, or #RRGGBB or #RGB, in
 * which # may be left out. Returns 0; on failure -1, and `err` says what is
 * expected. */
int colors_parse(uint8_t rgb[3], const char *text, struct err *err);

#endif
