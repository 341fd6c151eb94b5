/* libtiff, which codes strips and tiles in memory. */
#include "codecs/tiff/tiff.h"

#include <stdio.h>
#include <string.h>

#include <tiffio.h>

#include "codecs/base/memory.h"
#include "codecs/base/shared_library.h"

#define FUNCTIONS(F)                                                           \
    F(TIFFOpenOptionsAlloc)                                                    \
    F(TIFFOpenOptionsFree)                                                     \
    F(TIFFOpenOptionsSetMaxSingleMemAlloc)                                     \
    F(TIFFOpenOptionsSetErrorHandlerExtR)                                      \
    F(TIFFOpenOptionsSetWarningHandlerExtR)                                    \
    F(TIFFClientOpenExt)                                                       \
    F(TIFFClose)                                                               \
    F(TIFFSetSubDirectory)                                                     \
    F(TIFFGetFieldDefaulted)                                                   \
    F(TIFFSetField)                                                            \
    F(TIFFIsTiled)                                                             \
    F(TIFFGetStrileOffset)                                                     \
    F(TIFFGetStrileByteCount)                                                  \
    F(TIFFIsCODECConfigured)                                                   \
    F(TIFFReadEncodedStrip)                                                    \
    F(TIFFReadEncodedTile)                                                     \
    F(TIFFWriteEncodedStrip)                                                   \
    F(TIFFWriteEncodedTile)                                                    \
    F(TIFFReadRGBAImageOriented)

#define POINTER(name) static __typeof__(name) *lib_##name;
FUNCTIONS(POINTER)

int tiff_load(struct err *err)
{
#define LISTED(name) { #name, &lib_##name },
    static const struct shared_function functions[] = { FUNCTIONS(LISTED) };
    static struct shared_library library = {
        .soname = TIFF_SONAME,
        .package = "libtiff6",
        .function = functions,
        .nfunctions = sizeof functions / sizeof *functions,
    };
    return shared_library_load(&library, err);
}

/* ---- A file in memory ---------------------------------------------------- */

struct tiff_handle {
    TIFF *tif;
    struct bytes file; /* that is read, borrowed; or made */
    uint64_t at;
    bool writes, tiled, fax;
    struct err why; /* of the first failure */
};

/* Where the parts of a file that is made begin. */
enum { HEADER = 8 };

static tmsize_t on_read(thandle_t context, void *to, tmsize_t size)
{
    struct tiff_handle *h = context;
    uint64_t left = h->at < h->file.size ? h->file.size - h->at : 0;
    size_t n = left < (uint64_t)size ? (size_t)left : (size_t)size;
    if (n)
        memcpy(to, h->file.data + h->at, n);
    h->at += n;
    return (tmsize_t)n;
}

static tmsize_t on_write(thandle_t context, void *from, tmsize_t size)
{
    struct tiff_handle *h = context;
    const size_t n = (size_t)size;
    if (h->at > h->file.size)
        return -1;
    if (h->at + n > h->file.size) {
        if (!bytes_reserve(&h->file, (size_t)h->at + n - h->file.size))
            return -1;
        h->file.size = (size_t)h->at + n;
    }
    if (n)
        memcpy(h->file.data + h->at, from, n);
    h->at += n;
    return size;
}

static toff_t on_seek(thandle_t context, toff_t at, int whence)
{
    struct tiff_handle *h = context;
    return h->at = whence == SEEK_SET   ? at
                   : whence == SEEK_CUR ? h->at + at
                                        : h->file.size + at;
}

static int on_close(thandle_t context)
{
    (void)context;
    return 0;
}

static toff_t on_size(thandle_t context)
{
    return ((struct tiff_handle *)context)->file.size;
}

static int on_map(thandle_t context, void **data, toff_t *size)
{
    struct tiff_handle *h = context;
    *data = h->file.data;
    *size = h->file.size;
    return !h->writes;
}

/* Keeps the first error; of warnings there is no context. */
__attribute__((format(printf, 4, 0))) static int
on_error(TIFF *tif, void *context, const char *module, const char *format,
         va_list arguments)
{
    struct tiff_handle *h = context;
    (void)tif;
    (void)module;
    if (h && !*h->why.text)
        vsnprintf(h->why.text, sizeof h->why.text, format, arguments);
    return 1;
}

/* ---- Handles ------------------------------------------------------------- */

static int failure(struct tiff_handle *h, const char *what, struct err *err)
{
    fail(err, "%s: libtiff: %s", what,
         *h->why.text ? h->why.text : "it does not say why");
    h->why = (struct err){ .text = "" };
    return -1;
}

/* Sets what decoders are asked for: chroma as many as luma, raw LogLuv. */
static void set_form(TIFF *tif, unsigned compression)
{
    if (compression == COMPRESSION_JPEG)
        lib_TIFFSetField(tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    if (compression == COMPRESSION_SGILOG ||
        compression == COMPRESSION_SGILOG24)
        lib_TIFFSetField(tif, TIFFTAG_SGILOGDATAFMT, SGILOGDATAFMT_RAW);
}

/* Sets the fields that strips depend on, in an order that libtiff takes. */
static int set_fields(struct tiff_handle *h, const struct tiff_strips *s)
{
    const struct coding *c = &s->coding;
    const struct cut *cut = &s->cut;
    TIFF *tif = h->tif;
    const bool jpeg = c->compression == CODED_JPEG,
               deflate = c->compression == CODED_DEFLATE ||
                         c->compression == CODED_OLD_DEFLATE;
    const struct {
        uint32_t tag;
        unsigned value;
    } fields[] = {
        { TIFFTAG_IMAGEWIDTH, s->width },
        { TIFFTAG_IMAGELENGTH, s->height },
        { TIFFTAG_BITSPERSAMPLE, c->bits },
        { TIFFTAG_SAMPLESPERPIXEL, c->samples },
        { TIFFTAG_SAMPLEFORMAT, c->format },
        { TIFFTAG_PLANARCONFIG,
          c->separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG },
        { TIFFTAG_COMPRESSION, c->compression },
        { TIFFTAG_FILLORDER, c->fill_order },
        { cut->tiled ? TIFFTAG_TILEWIDTH : TIFFTAG_ROWSPERSTRIP,
          cut->tiled ? cut->chunk_width : cut->chunk_height },
        { cut->tiled ? TIFFTAG_TILELENGTH : 0, cut->chunk_height },
        { c->predictor > 1 ? TIFFTAG_PREDICTOR : 0, c->predictor },
        { c->compression == CODED_T4   ? TIFFTAG_GROUP3OPTIONS
          : c->compression == CODED_T6 ? TIFFTAG_GROUP4OPTIONS
                                       : 0,
          c->options },
        /* 1.4 times as fast as 6, and 2 % larger. */
        { deflate ? TIFFTAG_ZIPQUALITY : 0, 4 },
        { jpeg ? TIFFTAG_JPEGQUALITY : 0, s->quality },
        { jpeg ? TIFFTAG_JPEGTABLESMODE : 0, 0 },
        { c->compression == CODED_WEBP ? TIFFTAG_WEBP_LOSSLESS : 0, 1 },
    };
    int done = 1;
    for (size_t i = 0; i < sizeof fields / sizeof *fields && done; i++)
        if (fields[i].tag)
            done = lib_TIFFSetField(tif, fields[i].tag, fields[i].value);
    if (c->photometric == MEANS_YCC)
        done = done && lib_TIFFSetField(tif, TIFFTAG_YCBCRSUBSAMPLING, c->sub_x,
                                        c->sub_y);
    done = done && lib_TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, c->photometric);
    set_form(tif, c->compression);
    return done;
}

static TIFF *open_client(struct tiff_handle *h, const char *mode,
                         uint64_t memory)
{
    TIFFOpenOptions *options = lib_TIFFOpenOptionsAlloc();
    if (!options)
        return NULL;
    lib_TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, h);
    lib_TIFFOpenOptionsSetWarningHandlerExtR(options, on_error, NULL);
    lib_TIFFOpenOptionsSetMaxSingleMemAlloc(
        options, memory > PTRDIFF_MAX ? PTRDIFF_MAX : (tmsize_t)memory);
    TIFF *tif =
        lib_TIFFClientOpenExt("a TIFF", mode, h, on_read, on_write, on_seek,
                              on_close, on_size, on_map, NULL, options);
    lib_TIFFOpenOptionsFree(options);
    return tif;
}

struct tiff_handle *tiff_handle_open(const struct tiff_strips *s, bool writes,
                                     struct err *err)
{
    struct tiff_handle *h = memory_alloc_zeroed(1, sizeof *h);
    if (!h) {
        fail_memory(err, "no memory for libtiff");
        return NULL;
    }
    h->writes = writes;
    h->tiled = s->cut.tiled;
    if (!writes)
        h->file = (struct bytes){ .data = s->file.data, .size = s->file.size };
    h->tif = open_client(h,
                         !writes                ? "rh"
                         : s->coding.big_endian ? "wb"
                                                : "wl",
                         writes ? 0 : s->opts->limits.bytes);
    uint16_t compression = 0;
    bool done = h->tif != NULL;
    if (done && writes)
        done = set_fields(h, s);
    else if (done && (done = lib_TIFFSetSubDirectory(h->tif, s->at))) {
        lib_TIFFGetFieldDefaulted(h->tif, TIFFTAG_COMPRESSION, &compression);
        set_form(h->tif, compression);
        h->tiled = lib_TIFFIsTiled(h->tif);
        h->fax = compression == COMPRESSION_CCITTRLE ||
                 compression == COMPRESSION_CCITTRLEW ||
                 compression == CODED_T4 || compression == CODED_T6;
    }
    if (done) {
        h->why = (struct err){ .text = "" };
        return h;
    }
    failure(h, writes ? "it cannot be coded" : "a directory cannot be read",
            err);
    tiff_handle_close(h);
    return NULL;
}

/* What libtiff writes when it closes a file is not looked at. */
void tiff_handle_close(struct tiff_handle *h)
{
    if (!h)
        return;
    if (h->tif)
        lib_TIFFClose(h->tif);
    if (h->writes)
        bytes_free(&h->file);
    memory_free(h);
}

static unsigned get16(TIFF *tif, uint32_t tag)
{
    uint16_t value = 0;
    lib_TIFFGetFieldDefaulted(tif, tag, &value);
    return value;
}

static uint32_t get32(TIFF *tif, uint32_t tag)
{
    uint32_t value = 0;
    lib_TIFFGetFieldDefaulted(tif, tag, &value);
    return value;
}

int tiff_handle_describe(struct tiff_handle *h, struct tiff_strips *s,
                         struct err *err)
{
    TIFF *tif = h->tif;
    struct coding *c = &s->coding;
    uint16_t sub_x = 1, sub_y = 1;
    const unsigned compression = get16(tif, TIFFTAG_COMPRESSION);
    if (!lib_TIFFIsCODECConfigured((uint16_t)compression))
        return fail_unread(err, "compression %u, which cannot be decoded here",
                           compression);
    *c = (struct coding){
        .compression = compression,
        .predictor = 1,
        .photometric = get16(tif, TIFFTAG_PHOTOMETRIC),
        .bits = get16(tif, TIFFTAG_BITSPERSAMPLE),
        .samples = get16(tif, TIFFTAG_SAMPLESPERPIXEL),
        .format = get16(tif, TIFFTAG_SAMPLEFORMAT),
        .fill_order = get16(tif, TIFFTAG_FILLORDER),
        .big_endian = s->coding.big_endian,
    };
    c->separate = c->samples > 1 &&
                  get16(tif, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
    if (compression == CODED_T4 || compression == CODED_T6)
        c->options =
            get32(tif, compression == CODED_T4 ? TIFFTAG_GROUP3OPTIONS
                                               : TIFFTAG_GROUP4OPTIONS);
    if (compression == COMPRESSION_LZW || compression == CODED_DEFLATE ||
        compression == CODED_OLD_DEFLATE || compression == COMPRESSION_LZMA ||
        compression == COMPRESSION_ZSTD)
        c->predictor = get16(tif, TIFFTAG_PREDICTOR);
    if (c->photometric == MEANS_YCC)
        lib_TIFFGetFieldDefaulted(tif, TIFFTAG_YCBCRSUBSAMPLING, &sub_x,
                                  &sub_y);
    c->sub_x = sub_x;
    c->sub_y = sub_y;
    s->cut = (struct cut){
        .width = get32(tif, TIFFTAG_IMAGEWIDTH),
        .height = get32(tif, TIFFTAG_IMAGELENGTH),
        .chunk_width = h->tiled ? get32(tif, TIFFTAG_TILEWIDTH) : 0,
        .chunk_height =
            get32(tif, h->tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP),
        .tiled = h->tiled,
    };
    return 0;
}

struct bytes tiff_handle_coded(struct tiff_handle *h, uint32_t part)
{
    const uint64_t at = lib_TIFFGetStrileOffset(h->tif, part),
                   size = lib_TIFFGetStrileByteCount(h->tif, part),
                   left = at < h->file.size ? h->file.size - at : 0;
    return left > 4 && size <= left - 4
               ? (struct bytes){ h->file.data + at, (size_t)size, 0 }
               : (struct bytes){ 0 };
}

/* Reads a part to bytes that are all `fill` before. */
static tmsize_t decode(struct tiff_handle *h, uint32_t part, uint8_t *to,
                       size_t size, uint8_t fill)
{
    const tmsize_t n = (tmsize_t)size;
    memset(to, fill, size);
    return h->tiled ? lib_TIFFReadEncodedTile(h->tif, part, to, n)
                    : lib_TIFFReadEncodedStrip(h->tif, part, to, n);
}

/* Where the codes of a fax end early, libtiff leaves the last rows as they are
 * and says nothing. Such rows are what they were filled with, whatever that
 * is. */
int tiff_handle_read(struct tiff_handle *h, uint32_t part, uint8_t *to,
                     size_t size, struct err *err)
{
    static const uint8_t fills[] = { 0x5a, 0xa5 };
    tmsize_t got = 0;
    bool whole = true;
    size_t end = 0;
    char what[64];
    for (unsigned i = 0; i < 2 && whole && end < size; i++) {
        got = decode(h, part, to, size, h->fax ? fills[i] : 0);
        whole = got == (tmsize_t)size;
        for (end = size; h->fax && end > 0 && to[end - 1] == fills[i];)
            end--;
    }
    memset(to + end, 0, size - end);
    if (whole && end == size && !*h->why.text)
        return 0;
    if (got >= 0 && !*h->why.text)
        fail(&h->why, "it is too short");
    snprintf(what, sizeof what, "%s %u is damaged", h->tiled ? "tile" : "strip",
             part);
    failure(h, what, err);
    return whole ? 1 : -1;
}

int tiff_handle_write(struct tiff_handle *h, uint32_t part, void *from,
                      size_t size, struct bytes *made, struct err *err)
{
    const tmsize_t n = (tmsize_t)size;
    const tmsize_t put = h->tiled
                             ? lib_TIFFWriteEncodedTile(h->tif, part, from, n)
                             : lib_TIFFWriteEncodedStrip(h->tif, part, from, n);
    if (put != n)
        return failure(h, "a strip or tile cannot be coded", err);
    if (!bytes_append(made, h->file.data + HEADER, h->file.size - HEADER))
        return fail_memory(err, "no memory for a strip or tile");
    h->file.size = HEADER;
    return 0;
}

int tiff_handle_show(struct tiff_handle *h, const struct tiff_strips *s,
                     uint32_t *rows, struct err *err)
{
    const size_t pixels = (size_t)s->width * s->height;
    const int as_stored = (int)get16(h->tif, TIFFTAG_ORIENTATION);
    uint8_t *to = (uint8_t *)rows;
    if (!lib_TIFFReadRGBAImageOriented(h->tif, s->width, s->height, rows,
                                       as_stored, 1))
        return failure(h, "it cannot be shown", err);
    for (size_t i = 0; i < pixels; i++) {
        const uint32_t pixel = rows[i];
        for (unsigned k = 0; k < s->coding.samples; k++)
            *to++ = (uint8_t)(pixel >> 8 * k);
    }
    return 0;
}
