/* One frame, decoded and encoded by libwebp, which is loaded when it is needed;
 * and with which quality it was encoded. */
#include "codecs/webp/webp.h"

#include <math.h>
#include <string.h>

#include <webp/decode.h>
#include <webp/encode.h>

#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/base/shared_library.h"

#define FUNCTIONS(X)                                                           \
    X(WebPInitDecoderConfigInternal)                                           \
    X(WebPDecode)                                                              \
    X(WebPIDecode)                                                             \
    X(WebPIUpdate)                                                             \
    X(WebPIDelete)                                                             \
    X(WebPConfigInitInternal)                                                  \
    X(WebPPictureInitInternal)                                                 \
    X(WebPPictureFree)                                                         \
    X(WebPEncode)
#define POINTER(name) __typeof__(name) *name;
#define ENTRY(name)   { #name, &lib.name },

static struct {
    FUNCTIONS(POINTER)
} lib;

int webp_load(struct err *err)
{
    static const struct shared_function functions[] = { FUNCTIONS(ENTRY) };
    static struct shared_library library = {
        .soname = WEBP_SONAME,
        .package = "libwebp7",
        .function = functions,
        .nfunctions = sizeof functions / sizeof *functions,
    };
    return shared_library_load(&library, err);
}

/* What libwebp takes beside the samples, in bytes of a pixel: measured with
 * pictures of 12 megapixels. */
enum { TO_DECODE = 5, TO_ENCODE = 48 };

static bool take(const struct image *img, unsigned of_pixel, size_t *taken)
{
    *taken = (size_t)img->width * img->height * of_pixel;
    return memory_take(*taken);
}

/* ---- Decoding -------------------------------------------------------------*/

static int shape(struct image *img, const struct webp_frame *frame, bool argb,
                 struct err *err)
{
    *img = (struct image){
        .cell = argb ? CELL_F32 : CELL_U8,
        .width = frame->place.width,
        .height = frame->place.height,
        .nplanes = argb           ? 1
                   : frame->alpha ? 4
                                  : 3,
    };
    for (unsigned i = 1; i < 3 && !argb; i++) {
        img->plane[i].width = (img->width + 1) / 2;
        img->plane[i].height = (img->height + 1) / 2;
    }
    return image_alloc(img, mem_plain, err);
}

/* Without all of its data a frame is decoded as far as it goes. */
static VP8StatusCode decode(WebPDecoderConfig *config,
                            const struct webp_frame *frame, bool tolerant)
{
    if (!tolerant)
        return lib.WebPDecode(frame->data, frame->size, config);
    WebPIDecoder *partial = lib.WebPIDecode(NULL, 0, config);
    if (!partial)
        return VP8_STATUS_OUT_OF_MEMORY;
    const VP8StatusCode status =
        lib.WebPIUpdate(partial, frame->data, frame->size);
    lib.WebPIDelete(partial);
    return status;
}

int webp_decode(struct image *img, const struct webp_frame *frame, bool argb,
                const struct load_opts *opts, struct err *err)
{
    WebPDecoderConfig config;
    struct plane *plane = img->plane;
    size_t taken;
    if (shape(img, frame, argb, err))
        return -1;
    if (!take(img, TO_DECODE, &taken)) {
        image_free(img);
        return fail_memory(err, "no memory for the decoder");
    }
    lib.WebPInitDecoderConfigInternal(&config, WEBP_DECODER_ABI_VERSION);
    config.options.use_threads = opts->pool != NULL;
    config.output.is_external_memory = 1;
    if (argb) {
        config.output.colorspace =
            __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? MODE_BGRA : MODE_ARGB;
        config.output.u.RGBA =
            (WebPRGBABuffer){ plane->data, (int)plane->stride,
                              plane->stride * img->height };
    } else {
        WebPYUVABuffer *to = &config.output.u.YUVA;
        const size_t chroma = plane[1].stride * plane[1].height;
        config.output.colorspace = frame->alpha ? MODE_YUVA : MODE_YUV;
        *to = (WebPYUVABuffer){
            plane[0].data,
            plane[1].data,
            plane[2].data,
            plane[3].data,
            (int)plane[0].stride,
            (int)plane[1].stride,
            (int)plane[2].stride,
            (int)plane[3].stride,
            plane[0].stride * img->height,
            chroma,
            chroma,
            plane[3].stride * img->height,
        };
    }
    if (opts->tolerant)
        memset(img->pixels.rows.cells, 0, img->pixels.rows.size);
    const VP8StatusCode status = decode(&config, frame, opts->tolerant);
    memory_give(taken);
    if (opts->tolerant && status == VP8_STATUS_SUSPENDED)
        warn(opts->warnings, "a picture is cut short: its end is empty");
    else if (status != VP8_STATUS_OK) {
        image_free(img);
        return status == VP8_STATUS_OUT_OF_MEMORY
                   ? fail_memory(err, "no memory for the decoder")
                   : fail(err, "the picture is damaged");
    }
    return 0;
}

/* ---- Encoding -------------------------------------------------------------*/

static int on_write(const uint8_t *data, size_t size,
                    const WebPPicture *picture)
{
    return bytes_append(picture->custom_ptr, data, size);
}

static int on_progress(int percent, const WebPPicture *picture)
{
    (void)percent, (void)picture;
    return !account_is_over();
}

static int encode(struct bytes *made, WebPPicture *picture, WebPConfig *config,
                  float least, struct err *err)
{
    WebPAuxStats stats = { .coded_size = 0 };
    bool done, enough;
    picture->writer = on_write;
    picture->custom_ptr = made;
    picture->progress_hook = on_progress;
    picture->stats = &stats;
    do {
        made->size = 0;
        done = lib.WebPEncode(config, picture);
        enough =
            config->lossless || stats.PSNR[3] >= least || config->quality > 95;
        config->quality += (100 - config->quality) / 3;
    } while (done && !enough);
    lib.WebPPictureFree(picture);
    const int why = picture->error_code;
    if (done)
        return 0;
    return why == VP8_ENC_ERROR_OUT_OF_MEMORY ||
                   why == VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY ||
                   why == VP8_ENC_ERROR_BAD_WRITE
               ? fail_memory(err, "no memory for the encoder")
               : fail(err, "libwebp cannot encode it (error %d)", why);
}

/* Lossless files are made as cwebp -lossless -exact makes them. */
int webp_encode(struct bytes *made, struct webp_frame *frame,
                const struct image *img, float quality, float least,
                struct err *err)
{
    static const struct load_opts strict = { .tolerant = false };
    const bool alpha = frame->alpha;
    const struct plane *plane = img->plane;
    struct webp_file file;
    WebPConfig config;
    WebPPicture picture;
    size_t taken;
    if (img->width > WEBP_SIDE || img->height > WEBP_SIDE)
        return fail(err,
                    "%u x %u pixels: a WebP picture can have no more than %d "
                    "to a side",
                    img->width, img->height, WEBP_SIDE);
    lib.WebPConfigInitInternal(&config, WEBP_PRESET_DEFAULT,
                               frame->lossless ? 75 : quality,
                               WEBP_ENCODER_ABI_VERSION);
    lib.WebPPictureInitInternal(&picture, WEBP_ENCODER_ABI_VERSION);
    config.lossless = frame->lossless;
    config.exact = config.thread_level = 1;
    config.use_sharp_yuv = !frame->lossless;
    picture.width = (int)img->width;
    picture.height = (int)img->height;
    picture.use_argb = img->nplanes == 1;
    if (picture.use_argb) {
        picture.argb = (uint32_t *)(void *)plane->data;
        picture.argb_stride = (int)(plane->stride / sizeof(uint32_t));
    } else {
        picture.colorspace = img->nplanes == 4 ? WEBP_YUV420A : WEBP_YUV420;
        picture.y = plane[0].data;
        picture.u = plane[1].data;
        picture.v = plane[2].data;
        picture.a = plane[3].data;
        picture.y_stride = (int)plane[0].stride;
        picture.uv_stride = (int)plane[1].stride;
        picture.a_stride = (int)plane[3].stride;
    }
    if (!take(img, TO_ENCODE, &taken))
        return fail_memory(err, "no memory for the encoder");
    const int status = encode(made, &picture, &config, least, err);
    memory_give(taken);
    if (status || webp_read(&file, NULL, *made, &strict, err))
        return -1;
    frame->alpha = file.frame->alpha;
    frame->data = file.frame->data;
    frame->size = file.frame->size;
    frame->image = file.frame->image;
    frame->image_size = file.frame->image_size;
    memory_free(file.frame);
    /* The header of VP8L tells whether there may be alpha, as it did. */
    if (frame->lossless) {
        uint8_t *bits = made->data + (frame->image - made->data) + 4;
        *bits = (uint8_t)((*bits & ~0x10) | (alpha ? 0x10 : 0));
        frame->alpha = alpha;
    }
    return 0;
}

/* ---- The quality ----------------------------------------------------------*/

/* RFC 6386, 7.3; all bits of a header are as likely 0 as 1. */
struct bool_reader {
    const uint8_t *at, *end;
    uint32_t value, range;
    int bits; /* that were shifted out of the second byte */
};

static int read_bits(struct bool_reader *r, unsigned n)
{
    int value = 0;
    while (n-- > 0) {
        const uint32_t split = 1 + ((r->range - 1) >> 1);
        const bool set = r->value >= split << 8;
        r->value -= set ? split << 8 : 0;
        r->range = set ? r->range - split : split;
        for (; r->range < 128; r->range <<= 1) {
            r->value <<= 1;
            if (++r->bits == 8) {
                r->bits = 0;
                r->value |= r->at < r->end ? *r->at++ : 0;
            }
        }
        value = value << 1 | set;
    }
    return value;
}

/* A number that may be missing, with its sign. */
static int read_optional(struct bool_reader *r, unsigned n)
{
    if (!read_bits(r, 1))
        return 0;
    const int value = read_bits(r, n);
    return read_bits(r, 1) ? -value : value;
}

/* libwebp makes a quality c = f(q), and of that a step for each of up to four
 * segments of the picture, 127 (1 - c^e): the exponents e, weighed by the sizes
 * of the segments, are 1 on average. So the weighed average of log c gives c,
 * and q. */
float webp_quality(const struct webp_frame *frame)
{
    struct bool_reader r = { frame->image + 10,
                             frame->image + frame->image_size, 0, 255, 0 };
    int step[4] = { 0 }, p[3] = { 255, 255, 255 };
    bool absolute = false;
    if (frame->image_size < 12)
        return 75;
    r.value = read_be16(r.at);
    r.at += 2;
    read_bits(&r, 2); /* color space and clamping */
    if (read_bits(&r, 1)) {
        const bool map = read_bits(&r, 1), data = read_bits(&r, 1);
        if (data) {
            absolute = read_bits(&r, 1);
            for (int i = 0; i < 4; i++)
                step[i] = read_optional(&r, 7);
            for (int i = 0; i < 4; i++)
                read_optional(&r, 6);
        }
        for (int i = 0; i < 3 && map; i++)
            p[i] = read_bits(&r, 1) ? read_bits(&r, 8) : 255;
    }
    read_bits(&r, 10); /* the loop filter */
    if (read_bits(&r, 1) && read_bits(&r, 1))
        for (int i = 0; i < 8; i++)
            read_optional(&r, 6);
    read_bits(&r, 2); /* partitions */
    const int base = read_bits(&r, 7);
    const double weight[4] = { p[0] * p[1], p[0] * (255 - p[1]),
                               (255 - p[0]) * p[2],
                               (255 - p[0]) * (255 - p[2]) };
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        const int q = absolute ? step[i] : base + step[i];
        const double of_range = q < 0 ? 0 : q > 126 ? 126 : q;
        sum += weight[i] * log(1 - (of_range + 0.5) / 127);
    }
    const double c = exp(sum / (255 * 255)), linear = c * c * c;
    return (float)(linear < 0.5 ? 150 * linear : 50 * (linear + 1));
}
