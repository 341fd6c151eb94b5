/* What EXIF has to say in a JPEG file that was not turned, or was trimmed. */
#include "codecs/jpeg/orientation_tag.h"

#include "codecs/metadata/exif.h"

/* What stands before EXIF in its segment: "Exif" and two bytes of 0. */
enum { HEAD = sizeof "Exif\0" };

/* Gives a segment the tag; `segment` may be empty. */
static int tag_segment(struct bytes *segment, unsigned orientation,
                       struct err *err)
{
    struct bytes exif = { 0 };
    if (segment->size && segment_open(&exif, segment, SEGMENT_EXIF, err))
        return -1;
    if (exif_add_orientation(&exif, orientation) ||
        exif.size > segment_room(SEGMENT_EXIF)) {
        bytes_free(&exif);
        return fail(err, "the EXIF segment is damaged or full, so that it cannot hold "
                         "an orientation");
    }
    return segment_close(segment, SEGMENT_EXIF, &exif, err);
}

int segments_tag(struct bytes *out, struct bytes *made,
                 const struct meta *meta, unsigned orientation,
                 struct err *err)
{
    struct bytes *segment = made;
    for (size_t i = 0; i < meta->nblocks && segment == made; i++)
        if (out[i].data && segment_of(&meta->block[i]) == SEGMENT_EXIF)
            segment = &out[i];
    if (segment != made &&
        exif_orientation(segment->data + HEAD, segment->size - HEAD) ==
            orientation)
        return 0;
    return tag_segment(segment, orientation, err);
}

void segments_trim(struct bytes *out, const struct meta *meta,
                   const struct image *img)
{
    for (size_t i = 0; i < meta->nblocks; i++)
        if (out[i].data && segment_of(&meta->block[i]) == SEGMENT_EXIF)
            exif_set_size(out[i].data + HEAD, out[i].size - HEAD, img->width,
                          img->height);
}
