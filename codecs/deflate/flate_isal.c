/* Deflate by ISA-L (igzip_lib.h). */
#include "codecs/deflate/flate.h"

#include <isa-l.h>
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

/* ISA-L counts in 32 bits; so much at a time. */
static const size_t most = (size_t)1 << 30;

static uint32_t some(size_t size)
{
    return (uint32_t)(size < most ? size : most);
}

#define TEXT_OF(tokens) #tokens
#define TEXT(macro)     TEXT_OF(macro)

/* ISA-L tells its version only to whoever is compiled with it. */
static const char *isal_version(void)
{
    return TEXT(ISAL_MAJOR_VERSION) "." TEXT(ISAL_MINOR_VERSION) "." TEXT(
        ISAL_PATCH_VERSION);
}

static uint32_t isal_crc32(uint32_t crc, const uint8_t *data, size_t size)
{
    return crc32_gzip_refl(crc, data, size);
}

static uint32_t isal_adler(uint32_t adler, const uint8_t *data, size_t size)
{
    return isal_adler32(adler, data, size);
}

struct inflater {
    struct inflate_state state;
};

static struct inflater *isal_inflate_open(void)
{
    struct inflater *made = malloc(sizeof *made);
    if (!made)
        return NULL;
    isal_inflate_init(&made->state);
    made->state.crc_flag = ISAL_ZLIB;
    return made;
}

static enum flate_status isal_inflate_some(struct inflater *inflater,
                                           struct flow *flow)
{
    struct inflate_state *s = &inflater->state;
    int status;
    do {
        uint32_t in = some(flow->in_size), out = some(flow->out_size);
        s->next_in = (uint8_t *)flow->in; /* which is only read */
        s->avail_in = in;
        s->next_out = flow->out;
        s->avail_out = out;
        status = isal_inflate(s);
        flow->in = s->next_in;
        flow->in_size -= in - s->avail_in;
        flow->out = s->next_out;
        flow->out_size -= out - s->avail_out;
    } while (status == ISAL_DECOMP_OK && flow->in_size && flow->out_size &&
             s->block_state != ISAL_BLOCK_FINISH);
    if (status != ISAL_DECOMP_OK)
        return FLATE_BAD;
    if (s->block_state != ISAL_BLOCK_FINISH)
        return FLATE_MORE;
    /* What lies behind the end it may have taken already. */
    return s->read_in_length < 8 ? FLATE_END : FLATE_BAD;
}

static void isal_inflate_close(struct inflater *inflater)
{
    free(inflater);
}

struct deflater {
    struct isal_zstream stream;
    uint8_t buffer[ISAL_DEF_LVL1_DEFAULT];
};

/* Its level 1 for all: 2 and 3 are slower, and make rows of pixels no
 * smaller. */
static struct deflater *isal_deflate_open(int level)
{
    (void)level;
    return malloc(sizeof(struct deflater));
}

static size_t isal_deflate_band(struct deflater *deflater, uint8_t *out,
                                size_t room, const uint8_t *data, size_t before,
                                size_t size, bool final)
{
    struct isal_zstream *s = &deflater->stream;
    uint32_t known = (uint32_t)(before < FLATE_WINDOW ? before : FLATE_WINDOW);
    if (size > most)
        return 0;
    isal_deflate_init(s);
    s->level = 1;
    s->level_buf = deflater->buffer;
    s->level_buf_size = sizeof deflater->buffer;
    s->flush = final ? NO_FLUSH : SYNC_FLUSH;
    s->end_of_stream = final;
    if (known &&
        isal_deflate_set_dict(s, (uint8_t *)data - known, known) != COMP_OK)
        return 0;
    s->next_in = (uint8_t *)data; /* which is only read */
    s->avail_in = (uint32_t)size;
    s->next_out = out;
    s->avail_out = some(room);
    if (isal_deflate(s) != COMP_OK || s->avail_in || !s->avail_out)
        return 0;
    return s->total_out;
}

static void isal_deflate_close(struct deflater *deflater)
{
    free(deflater);
}

const struct flate flate_isal = {
    .name = "ISA-L",
    .version = isal_version,
    .crc32 = isal_crc32,
    .adler32 = isal_adler,
    .inflate_open = isal_inflate_open,
    .inflate = isal_inflate_some,
    .inflate_close = isal_inflate_close,
    .deflate_open = isal_deflate_open,
    .deflate = isal_deflate_band,
    .deflate_close = isal_deflate_close,
};
