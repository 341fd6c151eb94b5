/* Any bytes as an MPF block, alone and in a file with a second picture: nothing
 * outside of it is accessed, and the written file can be read. */
#include "codecs/metadata/tiff.h"

#include "tests/fuzz/fuzz.h"
#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"

static void in_file(const uint8_t *data, size_t size, enum xform t)
{
    static const struct coding coding = { 16, 8, JCS_GRAYSCALE, .h = 1 };
    owned_bytes file = make_jpeg(&coding), behind = make_jpeg(&coding);
    owned_bytes segment = { 0 }, made = { 0 };
    struct warnings warnings = { 0 };
    struct load_opts load = small_load(&warnings);
    struct save_opts save = plain_save(&warnings);
    struct image img = { 0 };
    struct err err;
    size_t at = 0;
    must(bytes_append(&segment, "MPF", 4) &&
         bytes_append(&segment, data, size));
    add_segment(&file, &at, 0xe2, segment.data, segment.size);
    must(bytes_append(&file, behind.data, behind.size));
    must(codec_read(&codec_jpeg, &img, file, &load, &err) == 0);
    turn_image(&img, t);
    must(encode_as(&codec_jpeg, &made, &img, &save, &err) == 0);
    image_free(&img);
    must(codec_read(&codec_jpeg, &img, made, &load, &err) == 0);
    image_free(&img);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mpf mpf;
    uint8_t *block = size && size < 60000 ? malloc(size) : NULL;
    if (!block)
        return 0;
    memcpy(block, data, size);
    must(mpf_open(&mpf, block, size) == (mpf.count > 0));
    for (size_t i = 0; i < mpf.count; i++)
        mpf_put(&mpf, block, i, mpf_get(&mpf, i));
    must(memcmp(block, data, size) == 0);
    if (mpf.count)
        in_file(data, size, (enum xform)(size % XFORM_COUNT));
    free(block);
    return 0;
}
