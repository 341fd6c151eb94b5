/* Batches of PNG pictures that an engine turns, held against zlib and plain
 * loops; the same trials on the host and on a GPU. */
#ifndef TESTS_SUPPORT_IDAT_TRIALS_H
#define TESTS_SUPPORT_IDAT_TRIALS_H

#include "cuda/jpeg/scan_engine.h"
#include "tests/support/test.h"

/* Random pictures of all pixels, turns, filters, and ways of zlib to deflate.
 */
void idat_try_pictures(const struct scan_engine_type *engine, unsigned batches);

/* Streams of which bits were changed, or that were cut: each is refused if zlib
 * refuses it, else turned rightly or refused. */
void idat_try_damage(const struct scan_engine_type *engine, unsigned batches);

/* Streams that cost a decoder much: refused, or turned, and soon. */
void idat_try_costly(const struct scan_engine_type *engine);

/* The tests of an engine, where it can run. */
#define TEST_IDAT_ENGINE(engine, usable, batches)                              \
    TEST(pictures)                                                             \
    {                                                                          \
        if (usable)                                                            \
            idat_try_pictures(&(engine), batches);                             \
    }                                                                          \
    TEST(damage)                                                               \
    {                                                                          \
        if (usable)                                                            \
            idat_try_damage(&(engine), batches);                               \
    }                                                                          \
    TEST(costly)                                                               \
    {                                                                          \
        if (usable)                                                            \
            idat_try_costly(&(engine));                                        \
    }

#endif
