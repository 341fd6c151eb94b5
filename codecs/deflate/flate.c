/* The list of DEFLATE libraries: the one place that depends on which of them
 * were found when the program was built. */
#include "codecs/deflate/flate.h"

#ifndef HAVE_ISAL
#error "the Makefile says whether there is ISA-L"
#endif

const struct flate *const flates[] = {
#if HAVE_ISAL
    &flate_isal,
#endif
    &flate_zlib,
    NULL,
};
