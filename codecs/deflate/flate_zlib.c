/* Deflate by zlib. */
#include "codecs/deflate/flate.h"

#include <stdlib.h>
#include <zlib.h>

/* zlib counts in 32 bits; so much at a time. */
static const size_t most = (size_t)1 << 30;

static uInt some(size_t size)
{
    return (uInt)(size < most ? size : most);
}

static uint32_t zlib_crc32(uint32_t crc, const uint8_t *data, size_t size)
{
    return (uint32_t)crc32_z(crc, data, size);
}

static uint32_t zlib_adler32(uint32_t adler, const uint8_t *data, size_t size)
{
    return (uint32_t)adler32_z(adler, data, size);
}

struct inflater {
    z_stream z;
};

static struct inflater *zlib_inflate_open(void)
{
    struct inflater *made = calloc(1, sizeof *made);
    if (made && inflateInit(&made->z) != Z_OK) {
        free(made);
        return NULL;
    }
    return made;
}

static enum flate_status zlib_inflate(struct inflater *inflater,
                                      struct flow *flow)
{
    z_stream *z = &inflater->z;
    int status;
    do {
        uInt in = some(flow->in_size), out = some(flow->out_size);
        z->next_in = (z_const Bytef *)flow->in;
        z->avail_in = in;
        z->next_out = flow->out;
        z->avail_out = out;
        status = inflate(z, Z_NO_FLUSH);
        flow->in = z->next_in;
        flow->in_size -= in - z->avail_in;
        flow->out = z->next_out;
        flow->out_size -= out - z->avail_out;
    } while (status == Z_OK && flow->in_size && flow->out_size);
    /* Z_BUF_ERROR: there was nothing to do. */
    return status == Z_STREAM_END                        ? FLATE_END
           : status == Z_OK || status == Z_BUF_ERROR ? FLATE_MORE
                                                         : FLATE_BAD;
}

static void zlib_inflate_close(struct inflater *inflater)
{
    if (!inflater)
        return;
    inflateEnd(&inflater->z);
    free(inflater);
}

struct deflater {
    z_stream z;
};

/* Z_FILTERED looks for no matches of less than 6 bytes: what short matches save
 * in filtered rows, Huffman codes save as well. */
static struct deflater *zlib_deflate_open(int level)
{
    struct deflater *made = calloc(1, sizeof *made);
    if (made && deflateInit2(&made->z, level, Z_DEFLATED, -15, 9,
                             Z_FILTERED) != Z_OK) {
        free(made);
        return NULL;
    }
    return made;
}

static size_t zlib_deflate(struct deflater *deflater, uint8_t *out, size_t room,
                           const uint8_t *data, size_t before, size_t size,
                           bool final)
{
    z_stream *z = &deflater->z;
    uInt known = (uInt)(before < FLATE_WINDOW ? before : FLATE_WINDOW);
    if (size > most || deflateReset(z) != Z_OK)
        return 0;
    if (known && deflateSetDictionary(z, data - known, known) != Z_OK)
        return 0;
    z->next_in = (z_const Bytef *)data;
    z->avail_in = (uInt)size;
    z->next_out = out;
    z->avail_out = (uInt)(room < UINT32_MAX ? room : UINT32_MAX);
    int status = deflate(z, final ? Z_FINISH : Z_SYNC_FLUSH);
    /* A flush is whole if there is room left. */
    if (status != (final ? Z_STREAM_END : Z_OK) || !z->avail_out)
        return 0;
    return (size_t)(z->next_out - out);
}

static void zlib_deflate_close(struct deflater *deflater)
{
    if (!deflater)
        return;
    deflateEnd(&deflater->z);
    free(deflater);
}

const struct flate flate_zlib = {
    .name = "zlib",
    .version = zlibVersion,
    .crc32 = zlib_crc32,
    .adler32 = zlib_adler32,
    .inflate_open = zlib_inflate_open,
    .inflate = zlib_inflate,
    .inflate_close = zlib_inflate_close,
    .deflate_open = zlib_deflate_open,
    .deflate = zlib_deflate,
    .deflate_close = zlib_deflate_close,
};
