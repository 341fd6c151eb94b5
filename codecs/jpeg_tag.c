/* What EXIF has to say in a JPEG file that was not turned, or was trimmed. */
#include "codecs/jpeg_tag.h"

#include <string.h>

#include "codecs/exif.h"

static const char head[] = "Exif\0"; /* and a second 0 */

/* Gives a segment the tag; `segment` may be empty. */
static int tag_segment(struct bytes *segment, unsigned orientation,
                       struct err *err)
{
    struct bytes exif = { 0 };
    int status = -1;
    if (segment->size > sizeof head &&
        !bytes_append(&exif, segment->data + sizeof head,
                      segment->size - sizeof head))
        fail(err, "no memory for EXIF");
    else if (exif_add_orientation(&exif, orientation) ||
             exif.size > SEGMENT_MAX - sizeof head)
        fail(err, "the EXIF segment has no room for an orientation");
    else
        status = 0;
    segment->size = 0;
    if (status == 0 && (!bytes_append(segment, head, sizeof head) ||
                        !bytes_append(segment, exif.data, exif.size)))
        status = fail(err, "no memory for EXIF");
    bytes_free(&exif);
    return status;
}

int segments_tag(struct bytes *out, struct bytes *made,
                 const struct meta *meta, unsigned orientation,
                 struct err *err)
{
    struct bytes *segment = made;
    for (size_t i = 0; i < meta->nparts && segment == made; i++)
        if (out[i].data && segment_of(&meta->part[i]) == SEGMENT_EXIF)
            segment = &out[i];
    if (segment != made &&
        exif_orientation(segment->data + sizeof head,
                         segment->size - sizeof head) == orientation)
        return 0;
    return tag_segment(segment, orientation, err);
}

void segments_trim(struct bytes *out, const struct meta *meta,
                   const struct image *img)
{
    for (size_t i = 0; i < meta->nparts; i++)
        if (out[i].data && segment_of(&meta->part[i]) == SEGMENT_EXIF)
            exif_set_size(out[i].data + sizeof head,
                          out[i].size - sizeof head, img->width, img->height);
}
