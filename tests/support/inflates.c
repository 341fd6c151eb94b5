/* Whether deflated bytes are right; see inflates.h. */
#include "tests/support/inflates.h"

#include <string.h>
#include <zlib.h>

#include "tests/support/must.h"

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
