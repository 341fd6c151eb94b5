/* Any bytes as the zlib stream of PNG samples: each library accepts what zlib
 * accepts and inflates it to the same. The checksum is corrected, as few
 * mutated inputs would pass otherwise. */
#include "codecs/png/png.h"

#include "codecs/deflate/flate.h"

#include <stdlib.h>
#include <zlib.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/must.h"
#include "tests/support/png_file.h"

static const uint8_t kinds[][2] = {
    { 1, GRAY }, { 8, GRAY }, { 8, RGB }, { 16, GRAY }, { 8, RGB_ALPHA },
};

/* Inflates to `rows`, of want + 1 bytes, and says how many of the stream were
 * read and what zlib said. */
static int inflate_rows(uint8_t *stream, size_t size, uint8_t *rows,
                        size_t want, size_t *made, size_t *read)
{
    z_stream z = { .next_in = stream, .avail_in = (uInt)size };
    must(inflateInit(&z) == Z_OK);
    z.next_out = rows;
    z.avail_out = (uInt)want + 1;
    int status = inflate(&z, Z_FINISH);
    *made = z.total_out;
    *read = z.total_in;
    inflateEnd(&z);
    return status;
}

/* The rows that the stream holds, filtered; NULL: zlib refuses it, or it holds
 * more or less. */
static uint8_t *zlib_rows(uint8_t *stream, size_t size, size_t want)
{
    size_t made, read;
    uint8_t *rows = malloc(want + 1);
    must(rows);
    int status = inflate_rows(stream, size, rows, want, &made, &read);
    if (status == Z_DATA_ERROR && made == want && read >= 4) {
        uLong sum = adler32(1, rows, (uInt)want);
        for (int i = 0; i < 4; i++)
            stream[read - 4 + i] = sum >> (24 - 8 * i) & 255;
        status = inflate_rows(stream, size, rows, want, &made, &read);
    }
    if (status == Z_STREAM_END && made == want && read == size)
        return rows;
    free(rows);
    return NULL;
}

/* The samples of the rows. Returns NULL if a filter has an unknown type. */
static uint16_t *cells_of(const struct shape *s, const uint8_t *rows,
                          size_t size)
{
    uint16_t *cells =
        calloc((size_t)s->width * s->height * shape_channels(s), sizeof *cells);
    must(cells);
    if (unpack_rows(s, rows, rows + size, cells))
        return cells;
    free(cells);
    return NULL;
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
    size_t want = (pass_row_bytes(&s, pass) + 1) * s.height;
    owned_bytes stream = { 0 }, file = { 0 };
    must(bytes_append(&stream, data + 3, size - 3));
    uint8_t *rows = zlib_rows(stream.data, stream.size, want);
    uint16_t *cells = rows ? cells_of(&s, rows, want) : NULL;
    add_chunk(&file, "IDAT", stream.data, stream.size);
    for (int i = 0; flates[i]; i++) {
        owned_image img = shape_image(&s);
        struct bytes idats = { .data = file.data, .size = file.size };
        struct row_sink to = { .img = &img, .height = img.height };
        if (idat_read(&to, idats, flates[i], NULL))
            must(cells && image_holds(&img, cells));
    }
    free(cells);
    free(rows);
    return 0;
}
