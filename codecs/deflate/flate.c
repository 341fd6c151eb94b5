/* The list of libraries that know deflate: the one place that depends on what
 * was there to build with. */
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
