/* The list of DEFLATE libraries, and zlib (zlib.h), which is always among them:
 * the one place that depends on which were found when the program was built. */
#include "codecs/deflate/flate.h"

#include <zlib.h>

#include "codecs/base/memory.h"

static uint32_t zlib_crc32(uint32_t crc, const uint8_t *data, size_t size)
{
    return (uint32_t)crc32_z(crc, data, size);
}

static uint32_t zlib_adler32(uint32_t adler, const uint8_t *data, size_t size)
{
    return (uint32_t)adler32_z(adler, data, size);
}

static voidpf on_alloc(voidpf context, uInt n, uInt size)
{
    (void)context;
    return memory_alloc((size_t)n * size);
}

static void on_free(voidpf context, voidpf memory)
{
    (void)context;
    memory_free(memory);
}

static z_stream *new_stream(void)
{
    z_stream *z = memory_alloc(sizeof *z);
    if (z)
        *z = (z_stream){ .zalloc = on_alloc, .zfree = on_free };
    return z;
}

static void *zlib_inflate_open(bool raw)
{
    z_stream *z = new_stream();
    if (z && inflateInit2(z, raw ? -MAX_WBITS : MAX_WBITS) != Z_OK) {
        memory_free(z);
        return NULL;
    }
    return z;
}

static enum flate_status zlib_inflate(void *inflater, struct flate_io *io)
{
    z_stream *z = inflater;
    int status;
    do {
        uInt in = flate_step(io->in_size), out = flate_step(io->out_size);
        z->next_in = (z_const Bytef *)io->in;
        z->avail_in = in;
        z->next_out = io->out;
        z->avail_out = out;
        status = inflate(z, Z_NO_FLUSH);
        io->in = z->next_in;
        io->in_size -= in - z->avail_in;
        io->out = z->next_out;
        io->out_size -= out - z->avail_out;
    } while (status == Z_OK && io->out_size && (io->in_size || !z->avail_out));
    /* Z_BUF_ERROR: there was nothing to do. */
    return status == Z_STREAM_END                    ? FLATE_END
           : status == Z_OK || status == Z_BUF_ERROR ? FLATE_MORE
                                                     : FLATE_BAD;
}

static void zlib_inflate_close(void *inflater)
{
    inflateEnd(inflater); /* fine on NULL */
    memory_free(inflater);
}

/* Z_FILTERED ignores matches below 6 bytes: in filtered rows, Huffman codes
 * save as much as such short matches do. */
static void *zlib_deflate_open(int level)
{
    z_stream *z = new_stream();
    if (z && deflateInit2(z, level, Z_DEFLATED, -15, 9, Z_FILTERED) != Z_OK) {
        memory_free(z);
        return NULL;
    }
    return z;
}

static size_t zlib_deflate(void *deflater, uint8_t *out, size_t room,
                           const uint8_t *data, size_t before, size_t size,
                           bool final)
{
    z_stream *z = deflater;
    uInt known = (uInt)(before < FLATE_WINDOW ? before : FLATE_WINDOW);
    if (size > FLATE_STEP || deflateReset(z) != Z_OK)
        return 0;
    if (known && deflateSetDictionary(z, data - known, known) != Z_OK)
        return 0;
    z->next_in = (z_const Bytef *)data;
    z->avail_in = (uInt)size;
    z->next_out = out;
    z->avail_out = (uInt)(room < UINT32_MAX ? room : UINT32_MAX);
    int status = deflate(z, final ? Z_FINISH : Z_SYNC_FLUSH);
    /* A flush is complete if room is left. */
    if (status != (final ? Z_STREAM_END : Z_OK) || !z->avail_out)
        return 0;
    return (size_t)(z->next_out - out);
}

static void zlib_deflate_close(void *deflater)
{
    deflateEnd(deflater); /* fine on NULL */
    memory_free(deflater);
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

#ifndef HAVE_ISAL
#error "the Makefile says whether there is ISA-L"
#endif

const struct flate *const flates[] = {
#if HAVE_ISAL
    &flate_isal,
#endif
    &flate_zlib,
    NULL,
};
