/* Whether deflated bytes are right; see inflates.h. */
#include "tests/support/inflates.h"

#include <string.h>
#include <zlib.h>

#include "tests/support/must.h"
#include "tests/support/test.h"

bool inflates_to(uint8_t *in, size_t size, const uint8_t *data, size_t before,
                 size_t n, bool final)
{
    enum { WINDOW = 32768 };
    owned_memory uint8_t *out = malloc(n + 1);
    z_stream z = { .next_in = in, .avail_in = (uInt)size };
    bool right = inflateInit2(&z, -15) == Z_OK;
    size_t known = before < WINDOW ? before : WINDOW;
    if (known)
        inflateSetDictionary(&z, data - known, (uInt)known);
    z.next_out = out;
    z.avail_out = (uInt)n + 1;
    int status = inflate(&z, Z_SYNC_FLUSH);
    right = right && status == (final ? Z_STREAM_END : Z_OK) &&
            z.avail_in == 0 && z.total_out == n && memcmp(out, data, n) == 0;
    inflateEnd(&z);
    return right;
}

const char *const data_names[DATA_KINDS] = { "constant", "two",   "noise",
                                             "photo",    "steep", "words",
                                             "mixed",    "echo" };

static uint8_t laplace(uint64_t r)
{
    return (uint8_t)((int)(r >> 20 & 7) - (int)(r >> 30 & 7) +
                     (int)(r >> 40 & 3) * (int)(r >> 50 & 3));
}

static uint8_t byte_of(enum data_kind kind, size_t i, uint64_t r)
{
    switch (kind) {
    case CONSTANT:
        return 7;
    case TWO:
        return r >> 40 & 63 ? 0 : 255;
    case NOISE:
    case ECHO:
        return (uint8_t)(r >> 32);
    case PHOTO:
        return laplace(r);
    case STEEP:
        return (uint8_t)(r ? __builtin_ctzll(r) : 63);
    default:
        return (uint8_t)("etaoinsh"[i * i / 7 % 8]);
    }
}

void data_fill(uint8_t *data, size_t n, enum data_kind kind)
{
    uint64_t state = n + 1;
    for (size_t i = 0, word = 0; i < n; i++) {
        uint64_t r = test_random(&state);
        if (r >> 58 == 0)
            word = r >> 20 & 255;
        enum data_kind now =
            kind == MIXED ? (enum data_kind)(i / 20000 % MIXED) : kind;
        data[i] = byte_of(now, i + word, r);
        if (kind == ECHO && i % 1000 < 40 && i >= 1000)
            data[i] = data[i - 500];
    }
}
