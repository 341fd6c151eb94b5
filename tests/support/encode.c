/* A picture encoded as a job does it. */
#include "tests/support/encode.h"

#include <stdlib.h>

#include "codecs/metadata/metadata.h"
#include "tests/support/oracle.h"

static void copy_bytes(struct bytes *to)
{
    struct bytes from = *to;
    *to = (struct bytes){ 0 };
    if (!bytes_append(to, from.data, from.size))
        abort();
}

/* The codec's state is lent. */
static struct meta *copy_meta(const struct meta *from)
{
    struct meta *to = meta_new(from->codec);
    if (!to)
        abort();
    *to = *from;
    to->block = NULL;
    to->array = NULL;
    to->nblocks = to->room = 0;
    for (size_t i = 0; i < from->nblocks; i++) {
        struct metadata_block was = from->block[i];
        struct metadata_block *block =
            meta_add(to, was.name, was.where, was.data, was.size);
        if (!block)
            abort();
        was.data = block->data;
        *block = was;
    }
    copy_bytes(&to->icc);
    copy_bytes(&to->exif);
    copy_bytes(&to->xmp);
    copy_bytes(&to->comment);
    return to;
}

int encode_as(const struct codec *codec, struct bytes *file,
                            const struct image *img,
                            const struct save_opts *save, struct err *err)
{
    struct image copy = *img;
    struct save_opts with_turner = *save;
    with_turner.turner = &turner_of_cells;
    save = &with_turner;
    if (img->meta)
        copy.meta = copy_meta(img->meta);
    int status = metadata_turn(&copy, codec, save, err);
    if (status == 0)
        status = codec->encode(file, &copy, save, err);
    if (copy.meta)
        copy.meta->state = NULL; /* it was lent */
    meta_free(copy.meta);
    return status;
}
