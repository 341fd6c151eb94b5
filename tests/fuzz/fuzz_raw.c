/* Any bytes as a camera's raw file, and as a TIFF file whose tags are turned:
 * nothing outside of them is accessed, and only an IFD is added to them. */
#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"
#include "codecs/ifd/retag.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/must.h"

typedef int retag(struct bytes *out, struct stream_info *info,
                  struct bytes file, enum xform op,
                  const struct load_opts *opts, struct err *err);

/* The bytes of its largest IFD, and one more entry. */
enum { IFD = 2 + 65535 * 20 + 20 + 8 };

static void turn(retag *made_by, struct bytes file, uint8_t how, unsigned pages)
{
    const enum xform op = (enum xform)(how & 7);
    struct warnings warnings = { 0 };
    const struct load_opts opts = { .tolerant = how & 8,
                                    .warnings = &warnings };
    struct stream_info info = { 0 };
    owned_bytes out = { 0 };
    struct err err = { .text = "" };
    if (made_by(&out, &info, file, op, &opts, &err)) {
        must(*err.text);
    } else {
        must(info.orientation.value <= 8);
        must(out.size >= file.size);
        must(out.size - file.size <= (uint64_t)pages * IFD);
        must(op != XFORM_NONE || (out.size == file.size &&
                                  !memcmp(out.data, file.data, file.size)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct bytes file = { .data = malloc(size - 1), .size = size - 1 };
    must(file.data != NULL);
    memcpy(file.data, data + 1, file.size);
    if (codec_raw.probe(file.data, file.size))
        turn(codec_raw.retag, file, data[0], 1);
    turn(retag_tiff, file, data[0], 1 << 20);
    free(file.data);
    return 0;
}
