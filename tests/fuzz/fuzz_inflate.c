/* Any bytes as the zlib stream of PNG samples: what each library accepts libpng
 * accepts, and reads as the same. The checksum is corrected, as few mutated
 * inputs would pass otherwise. */
#include "codecs/png/png.h"

#include "codecs/deflate/flate.h"

#include <stdlib.h>
#include <zlib.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/must.h"
#include "tests/support/plain_picture.h"
#include "tests/support/png_file.h"

static const uint8_t kinds[][2] = {
    { 1, GRAY }, { 8, GRAY }, { 8, RGB }, { 16, GRAY }, { 8, RGB_ALPHA },
};

/* Of a stream that inflates to so many bytes. */
static void correct_checksum(struct bytes stream, size_t bytes)
{
    owned_memory uint8_t *rows = malloc(bytes + 1);
    z_stream z = { .next_in = stream.data,
                   .avail_in = (uInt)stream.size,
                   .next_out = rows,
                   .avail_out = (uInt)bytes + 1 };
    must(rows && inflateInit(&z) == Z_OK);
    if (inflate(&z, Z_FINISH) == Z_DATA_ERROR && z.total_out == bytes &&
        z.total_in >= 4)
        write_be32(stream.data + z.total_in - 4, adler32(1, rows, (uInt)bytes));
    inflateEnd(&z);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    const uint8_t *kind = kinds[data[0] % (sizeof kinds / sizeof *kinds)];
    struct shape s = { data[1] + 1u, data[2] % 64 + 1u, kind[0], kind[1],
                       false };
    struct pass pass[7];
    shape_passes(&s, pass);
    owned_bytes stream = { 0 }, file = { 0 };
    struct plain_picture want;
    must(bytes_append(&stream, data + 3, size - 3));
    correct_checksum(stream, (pass_row_bytes(&s, pass) + 1) * s.height);
    add_head(&file, &s);
    const size_t begin = file.size;
    add_chunk(&file, "IDAT", stream.data, stream.size);
    const size_t end = file.size;
    add_end(&file);
    const struct bytes idats = { file.data + begin, end - begin, 0 };
    plain_picture_read_stored(&want, file);
    for (int i = 0; flates[i]; i++) {
        owned_image img = shape_image(&s);
        struct row_sink to = { .img = &img, .height = img.height };
        if (idat_read(&to, idats, flates[i], NULL))
            must(want.sound && image_holds(&img, want.samples));
    }
    plain_picture_free(&want);
    return 0;
}
