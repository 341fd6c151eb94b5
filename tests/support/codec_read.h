/* Reads a file in one call: opens, decodes and closes it. */
#ifndef TESTS_CODEC_READ_H
#define TESTS_CODEC_READ_H

#include "codecs/codec.h"

/* On failure img is {0}. */
static inline int codec_read_as(const struct codec *codec, struct image *img,
                                struct bytes file, const struct load_opts *load,
                                const struct decode_plan *plan, struct err *err)
{
    struct reader reader;
    *img = (struct image){ 0 };
    if (codec_open(&reader, codec, file, load, err))
        return -1;
    int status = codec_decode(&reader, img, plan, err);
    codec_close(&reader);
    return status;
}

/* The same, for the samples as stored. */
static inline int codec_read(const struct codec *codec, struct image *img,
                             struct bytes file, const struct load_opts *load,
                             struct err *err)
{
    const struct decode_plan samples = { .turn = XFORM_NONE };
    return codec_read_as(codec, img, file, load, &samples, err);
}

/* What is known of a file before it is decoded. */
static inline int codec_look(const struct codec *codec,
                             struct stream_info *info, struct bytes file,
                             const struct load_opts *load, struct err *err)
{
    struct reader reader;
    if (codec_open(&reader, codec, file, load, err))
        return -1;
    *info = reader.info;
    codec_close(&reader);
    return 0;
}

#endif
