/* Conditions of a test that are not under test themselves: memory, files,
 * libraries; and what is freed at the end of the block that declares it:
 *
 *     owned_bytes file = make_png(&shape, 0, SIZE_MAX), copy = { 0 };
 *     owned_image img = shape_image(&shape);
 *     owned_fixture *f = fixture_new(&codec_png);
 *     owned_memory uint8_t *row = malloc(size); */
#ifndef TESTS_SUPPORT_MUST_H
#define TESTS_SUPPORT_MUST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must_at(const char *file, int line, const char *condition,
                           bool holds)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: must hold: %s\n", file, line, condition);
    abort();
}

/* Ends the test, and says where, if the condition does not hold. */
#define must(condition) must_at(__FILE__, __LINE__, #condition, condition)

#define owned_bytes   __attribute__((cleanup(bytes_free))) struct bytes
#define owned_image   __attribute__((cleanup(image_free))) struct image
#define owned_fixture __attribute__((cleanup(fixture_free_at))) struct fixture
#define owned_memory  __attribute__((cleanup(must_free_at)))

/* Frees what the variable at this address points to. */
static inline void must_free_at(void *variable)
{
    free(*(void **)variable);
}

#endif
