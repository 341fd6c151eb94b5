/* One frame, decoded and encoded by libwebp, which is loaded when it is needed.
 */
#include "codecs/webp/webp.h"

#include <string.h>

#include <webp/decode.h>
#include <webp/encode.h>

#include "codecs/base/account.h"
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

/* Lossless files are made as cwebp -lossless -exact makes them. */
int webp_encode(struct bytes *made, struct webp_frame *frame,
                const struct image *img, unsigned quality, struct err *err)
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
                               frame->lossless ? 75 : (float)quality,
                               WEBP_ENCODER_ABI_VERSION);
    lib.WebPPictureInitInternal(&picture, WEBP_ENCODER_ABI_VERSION);
    config.lossless = frame->lossless;
    config.exact = config.thread_level = 1;
    config.use_sharp_yuv = !frame->lossless;
    picture.writer = on_write;
    picture.custom_ptr = made;
    picture.progress_hook = on_progress;
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
    const bool done = lib.WebPEncode(&config, &picture);
    const int why = picture.error_code;
    lib.WebPPictureFree(&picture);
    memory_give(taken);
    if (!done)
        return why == VP8_ENC_ERROR_OUT_OF_MEMORY ||
                       why == VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY ||
                       why == VP8_ENC_ERROR_BAD_WRITE
                   ? fail_memory(err, "no memory for the encoder")
                   : fail(err, "libwebp cannot encode it (error %d)", why);
    if (webp_read(&file, NULL, *made, &strict, err))
        return -1;
    frame->alpha = file.frame->alpha;
    frame->data = file.frame->data;
    frame->size = file.frame->size;
    memory_free(file.frame);
    /* The header of VP8L, behind that of its chunk, tells whether there may be
     * alpha, as it did. */
    if (frame->lossless) {
        uint8_t *bits = made->data + (frame->data - made->data) + WEBP_HEAD + 4;
        *bits = (uint8_t)((*bits & ~0x10) | (alpha ? 0x10 : 0));
        frame->alpha = alpha;
    }
    return 0;
}
