/* Any bytes as resources of Photoshop: nothing outside of them is accessed, and
 * they do not grow. */
#include "codecs/metadata/blocks.h"

#include "tests/fuzz/fuzz.h"
#include "tests/support/fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (EACH_TURN(t)) {
        const struct image img = {
            .width = 8, .height = 8, .orientation = 1, .turned = (enum xform)t
        };
        struct warnings warnings = { 0 };
        struct save_opts opts = plain_save(&warnings);
        owned_bytes block = { 0 };
        struct err err;
        if (size == 0 || !bytes_append(&block, data, size))
            return 0;
        if (photoshop_turn(&block, &img, &opts, &err) || block.size > size)
            abort();
        if (t == XFORM_NONE &&
            (block.size != size || memcmp(block.data, data, size) != 0))
            abort();
    }
    return 0;
}
