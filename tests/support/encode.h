/* A picture encoded as a job does it. */
#ifndef TESTS_SUPPORT_ENCODE_H
#define TESTS_SUPPORT_ENCODE_H

#include "codecs/codec.h"

/* Makes the metadata of the picture true and encodes it. That is done in a copy of
 * the metadata, so that one picture can be encoded several times. */
int encode_as(const struct codec *codec, struct bytes *file,
              const struct image *img, const struct save_opts *save,
              struct err *err);

#endif
