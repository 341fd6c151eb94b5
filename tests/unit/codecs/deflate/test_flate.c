/* DEFLATE by the libraries: zlib inflates what each of them writes, and that
 * depends on nothing but the data, not even on where memory lies. */
#include "codecs/deflate/flate.h"

#include <malloc.h>
#include <sys/mman.h>

#include "tests/support/inflates.h"
#include "tests/support/test.h"

enum { ROWS = 870, ROW = 603, SIZE = ROWS * ROW, PLACES = 8192 };

/* Rows of black and white, most of them repetitions. */
static uint8_t *make_text(void)
{
    uint8_t *data = malloc(SIZE);
    for (unsigned y = 0; y < ROWS; y++)
        for (unsigned x = 0; x < ROW; x++)
            data[y * ROW + x] =
                x == 0 || ((x - 1) / 2 * 7 + y / 9 * 5) % 91 % 8 == 0 ? 0 : 255;
    return data;
}

static void check_band(const struct flate *flate, const uint8_t *data,
                       size_t before, size_t n, bool final)
{
    void *deflater = flate->deflate_open(1);
    owned_memory uint8_t *out = malloc(flate_bound(n));
    size_t size =
        flate->deflate(deflater, out, flate_bound(n), data, before, n, final);
    CHECK(size && inflates_to(out, size, data, before, n, final),
          "%s, %zu bytes after %zu, final %d: %zu", flate->name, n, before,
          final, size);
    for (size_t room = 0; room < size; room += 1 + size / 40) {
        CHECK(flate->deflate(deflater, out, room, data, before, n, final) == 0,
              "%s, %zu bytes after %zu in %zu of %zu", flate->name, n, before,
              room, size);
    }
    flate->deflate_close(deflater);
}

TEST(bands)
{
    static const size_t sizes[] = { 0, 1, 7, 8, 9, 15, 16, 100, 70000 };
    owned_memory uint8_t *text = make_text();
    for (int f = 0; flates[f]; f++)
        for (size_t i = 0; i < COUNT(sizes); i++)
            for (int final = 0; final < 2; final++) {
                check_band(flates[f], text + 40000, 0, sizes[i], final);
                check_band(flates[f], text + 40000, 1, sizes[i], final);
                check_band(flates[f], text + 40000, 40000, sizes[i], final);
            }
}

/* A deflater is memory that each band sets up anew, so that this test can lay
 * it wherever it likes. */
TEST(places)
{
    uint8_t *text = make_text(), *out = malloc(2 * flate_bound(SIZE));
    uint8_t *other = out + flate_bound(SIZE);
    void *deflater = flates[0]->deflate_open(1);
    const size_t state = malloc_usable_size(deflater), step = 1 << 16;
    uint8_t *places = mmap(NULL, PLACES * step + state, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t size = flates[0]->deflate(deflater, out, flate_bound(SIZE), text, 0,
                                     SIZE, false);
    for (size_t i = 0; flates[1] && places != MAP_FAILED && i < PLACES; i++) {
        size_t n = flates[0]->deflate(places + i * step, other,
                                      flate_bound(SIZE), text, 0, SIZE, false);
        CHECK(n == size && memcmp(out, other, n) == 0, "place %zu: other bytes",
              i);
        madvise(places + i * step, state, MADV_DONTNEED);
    }
    if (!flates[1])
        test_skip("there is only zlib, whose state is not one piece of memory");
    if (places != MAP_FAILED)
        munmap(places, PLACES * step + state);
    flates[0]->deflate_close(deflater);
    free(out);
    free(text);
}
