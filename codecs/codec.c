/* The list of all codecs, and the choice among them. */
#include "codecs/codec.h"

#include <strings.h>

const struct codec *const codecs[CODECS] = {
    &codec_png, &codec_jpeg, &codec_hdr, &codec_npy, &codec_npz, &codec_pnm,
    &codec_pam, &codec_pfm,  &codec_bmp, &codec_tga,
};

const struct codec *codec_probe(struct bytes file)
{
    for (size_t i = 0; i < CODECS; i++)
        if (codecs[i]->probe(file.data, file.size))
            return codecs[i];
    return NULL;
}

const struct codec *codec_by_name(const char *name)
{
    for (size_t i = 0; i < CODECS; i++)
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
