/* Colors as CSS writes them (CSS Color Module Level 4, 5.2 and 6.1). */
#ifndef CLI_OPTIONS_COLORS_H
#define CLI_OPTIONS_COLORS_H

#include <stdint.h>

#include "codecs/base/err.h"

/* Reads the name of a color, in any case, or #RRGGBB or #RGB, where the # may
 * be left out. On failure `err` says what would be one. */
int colors_parse(uint8_t rgb[3], const char *text, struct err *err);

#endif
