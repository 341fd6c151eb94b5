/* The list of all codecs, and the choice among them. */
#include "codecs/codec.h"

#include <strings.h>

#include "codecs/base/memory.h"

const struct codec *const codecs[CODECS_MAX + 1] = {
    &codec_png,  &codec_jpeg, &codec_gif,  &codec_hdr, &codec_npy,
    &codec_npz,  &codec_pnm,  &codec_pam,  &codec_pfm, &codec_qoi,
    &codec_bmp,  &codec_jxl,  &codec_raw,
#if HAVE_TIFF
    &codec_tiff,
#endif
#if HAVE_WEBP
    &codec_webp,
#endif
    &codec_tga,  &codec_heic, &codec_avif,
};

void codec_load_quick(void)
{
    struct err unheard;
    for (size_t i = 0; codecs[i]; i++)
        if (codecs[i]->load)
            codecs[i]->load(&unheard);
}

void codec_load(const struct codec *codec)
{
    struct err unheard;
    for (size_t i = 0; codecs[i]; i++) {
        const struct codec *one = codecs[i];
        if (one->load && (!codec || codec == one))
            one->load(&unheard);
        if (one->load_slow && (!codec || codec == one))
            one->load_slow(&unheard);
    }
}

const struct codec *codec_probe(struct bytes file)
{
    for (size_t i = 0; codecs[i]; i++)
        if (codecs[i]->probe(file.data, file.size))
            return codecs[i];
    return NULL;
}

struct meta *codec_new_meta(const struct codec *codec)
{
    struct meta *meta = meta_new(codec);
    if (!meta || codec->state_size == 0)
        return meta;
    meta->state = memory_alloc_zeroed(1, codec->state_size);
    meta->free_state = memory_free;
    if (meta->state)
        return meta;
    meta_free(meta);
    return NULL;
}

int codec_open(struct reader *reader, const struct codec *codec,
               struct bytes file, const struct load_opts *opts, struct err *err)
{
    *reader = (struct reader){
        .codec = codec,
        .file = file,
        .opts = opts,
        .img = { .orientation = 1, .meta = codec_new_meta(codec) },
    };
    for (int i = 0; i < REPRESENTATIONS; i++)
        reader->info.alignment[i] = (struct alignment){ 1, 1 };
    int status = -1;
    if (reader->img.meta) {
        reader->img.meta->account = opts->limits.account;
        status = codec->open(reader, err);
    } else {
        fail_memory(err, "no memory for the decoder");
    }
    if (status) {
        codec_close(reader);
        return -1;
    }
    reader->info.width = reader->img.width;
    reader->info.height = reader->img.height;
    reader->info.orientation = reader->img.meta->orientation;
    return 0;
}

/* Moves the picture out of the reader, unless something is wrong with it. */
static int take_image(struct reader *reader, struct image *img, int status)
{
    *img = status ? (struct image){ 0 } : reader->img;
    if (status == 0)
        reader->img = (struct image){ 0 };
    return status;
}

int codec_decode(struct reader *reader, struct image *img,
                 const struct decode_plan *plan, struct err *err)
{
    const struct codec *codec = reader->codec;
    reader->plan = plan;
    return take_image(reader, img,
                      codec->decode
                          ? codec->decode(reader, err)
                          : fail_unread(err,
                                        "the samples of %s are not decoded; "
                                        "pictures are turned by their "
                                        "orientation alone",
                                        codec->title));
}

int codec_describe(struct reader *reader, struct image *img, struct err *err)
{
    static const struct decode_plan samples = { .turn = XFORM_NONE };
    const struct codec *codec = reader->codec;
    reader->plan = &samples;
    return take_image(reader, img,
                      codec->describe ? codec->describe(reader, err) : 0);
}

void codec_close(struct reader *reader)
{
    if (reader->codec && reader->codec->close)
        reader->codec->close(reader);
    image_free(&reader->img);
    *reader = (struct reader){ 0 };
}

int codec_decode_file(const struct codec *codec, struct image *img,
                      struct bytes file, const struct load_opts *opts,
                      const struct decode_plan *plan, struct err *err)
{
    struct reader reader;
    *img = (struct image){ 0 };
    if (codec_open(&reader, codec, file, opts, err))
        return -1;
    int status = codec_decode(&reader, img, plan, err);
    codec_close(&reader);
    return status;
}

const struct codec *codec_by_name(const char *name)
{
    for (size_t i = 0; codecs[i]; i++)
        for (const char *const *s = codecs[i]->suffixes; *s; s++)
            if (strcasecmp(*s, name) == 0)
                return codecs[i];
    return NULL;
}

bool stream_info_can_turn(const struct stream_info *info,
                          enum representation representation, enum xform t)
{
    const struct alignment *alignment = &info->alignment[representation];
    return (!xform_reverses_x(t) || info->width % alignment->x == 0) &&
           (!xform_reverses_y(t) || info->height % alignment->y == 0);
}
