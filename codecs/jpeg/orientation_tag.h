/* What EXIF has to say in a JPEG file that was not turned, or was trimmed. */
#ifndef CODECS_JPEG_ORIENTATION_TAG_H
#define CODECS_JPEG_ORIENTATION_TAG_H

#include "codecs/jpeg/jpeg.h"

/* Makes the segments say this orientation, 1..8, if they do not. `out` is what
 * segments_turned() gave for `meta`; `made`, which is empty, becomes the EXIF
 * segment that is to be written as well if there was none. */
int segments_tag(struct bytes *out, struct bytes *made,
                 const struct meta *meta, unsigned orientation,
                 struct err *err);

/* Makes the EXIF segments say the size of img. */
void segments_trim(struct bytes *out, const struct meta *meta,
                   const struct image *img);

#endif
