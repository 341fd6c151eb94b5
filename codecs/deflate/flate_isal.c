/* DEFLATE by ISA-L (igzip_lib.h). */
#include "codecs/deflate/flate.h"

#include <isa-l.h>
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"

#define TEXT_OF(tokens) #tokens
#define TEXT(macro)     TEXT_OF(macro)

/* The library itself does not say its version; its header does. */
static const char *isal_version(void)
{
    return TEXT(ISAL_MAJOR_VERSION) "." TEXT(ISAL_MINOR_VERSION) "." TEXT(
        ISAL_PATCH_VERSION);
}

static void *isal_inflate_open(bool raw)
{
    struct inflate_state *s = memory_alloc(sizeof *s);
    if (!s)
        return NULL;
    isal_inflate_init(s);
    s->crc_flag = raw ? ISAL_DEFLATE : ISAL_ZLIB;
    return s;
}

static enum flate_status isal_inflate_some(void *inflater, struct flate_io *io)
{
    struct inflate_state *s = inflater;
    int status;
    do {
        uint32_t in = flate_step(io->in_size), out = flate_step(io->out_size);
        s->next_in = (uint8_t *)io->in; /* which is only read */
        s->avail_in = in;
        s->next_out = io->out;
        s->avail_out = out;
        status = isal_inflate(s);
        io->in = s->next_in;
        io->in_size -= in - s->avail_in;
        io->out = s->next_out;
        io->out_size -= out - s->avail_out;
    } while (status == ISAL_DECOMP_OK && io->in_size && io->out_size &&
             s->block_state != ISAL_BLOCK_FINISH);
    if (status != ISAL_DECOMP_OK)
        return FLATE_BAD;
    if (s->block_state != ISAL_BLOCK_FINISH)
        return FLATE_MORE;
    /* It may have taken bytes that follow the end of the stream. */
    return s->read_in_length < 8 ? FLATE_END : FLATE_BAD;
}

struct isal_deflater {
    struct isal_zstream stream;
    uint8_t buffer[ISAL_DEF_LVL1_DEFAULT];
};

/* Every level is ISA-L's 1: its 2 and 3 are slower and do not make rows of
 * pixels smaller. */
static void *isal_deflate_open(int level)
{
    (void)level;
    return memory_alloc(sizeof(struct isal_deflater));
}

/* The bytes of a stream's beginning that are stored, and the head of a stored
 * block. */
enum { STORED = 8, STORED_HEAD = 5 };

/* Writes a stored block, which begins at a byte. */
static void put_stored(uint8_t *out, const uint8_t *data, uint16_t size,
                       bool final)
{
    out[0] = final;
    write_le16(out + 1, size);
    write_le16(out + 3, (uint16_t)~size);
    memcpy(out + STORED_HEAD, data, size);
}

/* Deflates bytes that have some before them. */
static size_t deflate_after(struct isal_deflater *d, uint8_t *out, size_t room,
                            const uint8_t *data, size_t before, size_t size,
                            bool final)
{
    struct isal_zstream *s = &d->stream;
    uint32_t known = (uint32_t)(before < FLATE_WINDOW ? before : FLATE_WINDOW);
    isal_deflate_init(s);
    s->level = 1;
    s->level_buf = d->buffer;
    s->level_buf_size = sizeof d->buffer;
    s->flush = final ? NO_FLUSH : SYNC_FLUSH;
    s->end_of_stream = final;
    if (isal_deflate_set_dict(s, (uint8_t *)data - known, known) != COMP_OK)
        return 0;
    s->next_in = (uint8_t *)data; /* which is only read */
    s->avail_in = (uint32_t)size;
    s->next_out = out;
    s->avail_out = flate_step(room);
    if (isal_deflate(s) != COMP_OK || s->avail_in || !s->avail_out)
        return 0;
    return s->total_out;
}

/* Where nothing stands before the data, ISA-L (2.30 to 2.32 at least) hashes
 * the second byte from a register that still holds the address of the stream
 * (.write_first_byte in igzip_icf_body_h1_gr_bt.asm), so that what matches it
 * finds depends on where memory lies. So the first bytes are stored, and stand
 * before the others. */
static size_t isal_deflate_band(void *deflater, uint8_t *out, size_t room,
                                const uint8_t *data, size_t before, size_t size,
                                bool final)
{
    if (size > FLATE_STEP)
        return 0;
    if (before)
        return deflate_after(deflater, out, room, data, before, size, final);
    const size_t first = size < STORED ? size : STORED;
    const size_t stored = STORED_HEAD + first;
    if (room < stored)
        return 0;
    put_stored(out, data, (uint16_t)first, final && first == size);
    if (final && first == size)
        return stored;
    size_t made = deflate_after(deflater, out + stored, room - stored,
                                data + first, first, size - first, final);
    return made ? stored + made : 0;
}

const struct flate flate_isal = {
    .name = "ISA-L",
    .version = isal_version,
    .crc32 = crc32_gzip_refl,
    .adler32 = isal_adler32,
    .inflate_open = isal_inflate_open,
    .inflate = isal_inflate_some,
    .inflate_close = memory_free,
    .deflate_open = isal_deflate_open,
    .deflate = isal_deflate_band,
    .deflate_close = memory_free,
};
