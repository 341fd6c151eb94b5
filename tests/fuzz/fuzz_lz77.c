/* Any bytes are deflated with matches, in bounded work: zlib inflates them to
 * the same. The first byte says how many of the others precede the band,
 * whether it is the last one, and how often it repeats; their number, the rows
 * that they are. */
#include "codecs/deflate/flate.h"
#include "codecs/deflate/lz77.h"
#include "codecs/deflate/optimal.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/inflates.h"
#include "tests/support/must.h"

static void check(const uint8_t *data, size_t before, size_t size, bool final)
{
    static const unsigned pixels[] = { 1, 2, 3, 4, 6, 8 };
    struct lz77 *m = lz77_new(1 + size % 97, pixels[size % 6]);
    owned_memory uint8_t *out = malloc(flate_bound(size));
    for (int search = LZ77_PIXELS; search <= LZ77_THREE; search++) {
        size_t made = lz77_deflate(m, out, data, before, size, final,
                                   (enum lz77_search)search);
        must(made <= flate_bound(size));
        must(lz77_steps(m) <= 5 * size + 1024);
        must(inflates_to(out, made, data, before, size, final));
    }
    struct optimal *o = optimal_new();
    size_t made = optimal_deflate(o, out, data, before, size, final);
    must(made <= flate_bound(size));
    must(inflates_to(out, made, data, before, size, final));
    optimal_free(o);
    lz77_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    unsigned how = data[0], copies = how >> 1 & 3 ? 1 : 40;
    size_t n = size - 1, all = n * copies, before = all * (how >> 3) / 32;
    /* of exactly that size, for the sanitizer */
    owned_memory uint8_t *bytes = malloc(all);
    for (unsigned i = 0; i < copies; i++)
        memcpy(bytes + i * n, data + 1, n);
    check(bytes + before, before, all - before, how & 1);
    return 0;
}
