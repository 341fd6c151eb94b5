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
    struct bytes file; /* that is read, borrowed; or what was written last */
    uint64_t at;
    bool writes, tiled;
    struct err why; /* of the first failure */
};

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

/* Places in a file that is made mean nothing: what is written is collected. */
static tmsize_t on_write(thandle_t context, void *from, tmsize_t size)
{
    struct tiff_handle *h = context;
    return bytes_append(&h->file, from, (size_t)size) ? size : -1;
}

static toff_t on_size(thandle_t context)
{
    enum { HEADER = 8 };
    struct tiff_handle *h = context;
    return h->writes ? HEADER : h->file.size;
}

static toff_t on_seek(thandle_t context, toff_t at, int whence)
{
    struct tiff_handle *h = context;
    return h->at = whence == SEEK_SET   ? at
                   : whence == SEEK_CUR ? h->at + at
                                        : on_size(context) + at;
}

static int on_close(thandle_t context)
{
    (void)context;
    return 0;
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

static uint32_t get32(TIFF *tif, uint32_t tag)
{
    uint32_t value = 0;
    lib_TIFFGetFieldDefaulted(tif, tag, &value);
    return value;
}

static unsigned get16(TIFF *tif, uint32_t tag)
{
    uint16_t value = 0;
    lib_TIFFGetFieldDefaulted(tif, tag, &value);
    return value;
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
static bool set_fields(TIFF *tif, const struct tiff_strips *s)
{
    const struct coding *c = &s->coding;
    const struct cut *cut = &s->cut;
    const bool jpeg = c->compression == CODED_JPEG,
               deflate = c->compression == CODED_DEFLATE ||
                         c->compression == CODED_OLD_DEFLATE;
    const struct {
        uint32_t tag;
        unsigned value;
    } fields[] = {
        { TIFFTAG_IMAGEWIDTH, cut->width },
        { TIFFTAG_IMAGELENGTH, cut->height },
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

struct tiff_handle *tiff_handle_open(const struct tiff_strips *s, bool writes,
                                     struct err *err)
{
    const uint64_t memory = writes ? 0 : s->opts->limits.bytes;
    struct tiff_handle *h = memory_alloc_zeroed(1, sizeof *h);
    TIFFOpenOptions *options = lib_TIFFOpenOptionsAlloc();
    bool done = h && options;
    if (done) {
        h->writes = writes;
        h->tiled = s->cut.tiled;
        if (!writes)
            h->file =
                (struct bytes){ .data = s->file.data, .size = s->file.size };
        lib_TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, h);
        lib_TIFFOpenOptionsSetWarningHandlerExtR(options, on_error, NULL);
        lib_TIFFOpenOptionsSetMaxSingleMemAlloc(
            options, memory > PTRDIFF_MAX ? PTRDIFF_MAX : (tmsize_t)memory);
        h->tif = lib_TIFFClientOpenExt("a TIFF",
                                       !writes                ? "rh"
                                       : s->coding.big_endian ? "wb"
                                                              : "wl",
                                       h, on_read, on_write, on_seek, on_close,
                                       on_size, on_map, NULL, options);
        done = h->tif && (writes ? set_fields(h->tif, s)
                                 : lib_TIFFSetSubDirectory(h->tif, s->at));
    }
    if (options)
        lib_TIFFOpenOptionsFree(options);
    if (!h) {
        fail_memory(err, "no memory for libtiff");
        return NULL;
    }
    if (!done) {
        failure(h, writes ? "it cannot be coded" : "a directory cannot be read",
                err);
        tiff_handle_close(h);
        return NULL;
    }
    if (!writes) {
        set_form(h->tif, get16(h->tif, TIFFTAG_COMPRESSION));
        h->tiled = lib_TIFFIsTiled(h->tif);
    }
    h->why = (struct err){ .text = "" };
    return h;
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

/* Where the codes of a fax end early, libtiff leaves the last rows as they are
 * and says nothing: then they are what they were filled with, whatever that is.
 */
int tiff_handle_read(struct tiff_handle *h, uint32_t part, uint8_t *to,
                     size_t size, struct err *err)
{
    const tmsize_t n = (tmsize_t)size;
    const unsigned compression = get16(h->tif, TIFFTAG_COMPRESSION);
    const bool fax = compression >= COMPRESSION_CCITTRLE &&
                     compression <= COMPRESSION_CCITTFAX4;
    uint8_t fill = fax ? 0x5a : 0;
    size_t end = size;
    tmsize_t got;
    char what[64];
    for (;; fill = 0xa5) {
        memset(to, fill, size);
        got = h->tiled ? lib_TIFFReadEncodedTile(h->tif, part, to, n)
                       : lib_TIFFReadEncodedStrip(h->tif, part, to, n);
        if (!fill || got != n || fill == 0xa5 || to[size - 1] != fill)
            break;
    }
    while (fill && end > 0 && to[end - 1] == fill)
        to[--end] = 0;
    if (got == n && end == size && !*h->why.text)
        return 0;
    if (got >= 0 && !*h->why.text)
        fail(&h->why, "it is too short");
    snprintf(what, sizeof what, "%s %u is damaged", h->tiled ? "tile" : "strip",
             part);
    failure(h, what, err);
    return got == n ? 1 : -1;
}

int tiff_handle_write(struct tiff_handle *h, uint32_t part, void *from,
                      size_t size, struct bytes *made, struct err *err)
{
    const struct bytes was = *made;
    const tmsize_t n = (tmsize_t)size;
    h->file.size = 0;
    const tmsize_t put = h->tiled
                             ? lib_TIFFWriteEncodedTile(h->tif, part, from, n)
                             : lib_TIFFWriteEncodedStrip(h->tif, part, from, n);
    if (put != n)
        return failure(h, "a strip or tile cannot be coded", err);
    *made = h->file;
    h->file = was;
    return 0;
}

int tiff_handle_show(struct tiff_handle *h, const struct tiff_strips *s,
                     uint32_t *rows, struct err *err)
{
    const uint32_t width = s->cut.width, height = s->cut.height;
    const int as_stored = (int)get16(h->tif, TIFFTAG_ORIENTATION);
    uint8_t *to = (uint8_t *)rows;
    if (!lib_TIFFReadRGBAImageOriented(h->tif, width, height, rows, as_stored,
                                       1))
        return failure(h, "it cannot be shown", err);
    for (size_t i = 0; i < (size_t)width * height; i++) {
        const uint32_t pixel = rows[i];
        for (unsigned k = 0; k < s->coding.samples; k++)
            *to++ = (uint8_t)(pixel >> 8 * k);
    }
    return 0;
}
