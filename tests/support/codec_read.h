/* Files that are read in one call. */
#ifndef TESTS_CODEC_READ_H
#define TESTS_CODEC_READ_H

#include "codecs/codec.h"

/* Reads the samples as stored. On failure img is {0}. */
static inline int codec_read(const struct codec *codec, struct image *img,
                             struct bytes file, const struct load_opts *load,
                             struct err *err)
{
    const struct decode_plan samples = { .turn = XFORM_NONE };
    return codec_decode_file(codec, img, file, load, &samples, err);
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
