/* A JPEG file with another orientation, and not another byte changed. */
#include "codecs/jpeg/jpeg.h"

#include "codecs/jpeg/entropy/marker.h"
#include "codecs/metadata/metadata.h"

/* Takes the segments before the first scan that may hold an orientation as
 * blocks. *exif_at: where one of EXIF comes to stand, behind those of JFIF. */
static int read_headers(struct meta *meta, struct bytes file, size_t *exif_at,
                        struct err *err)
{
    const uint8_t *end = file.data + file.size;
    struct marker m;
    bool found = false;
    *exif_at = 2;
    for (const uint8_t *p = marker_first(file);
         p && marker_read(&m, p, end) && m.code != MARKER_SOS; p = m.behind) {
        if (!marker_is_metadata(m.code))
            continue;
        if (segments_add(meta, m.code, m.data, m.size, err))
            return -1;
        struct metadata_block *block = &meta->block[meta->nblocks - 1];
        block->begin = (size_t)(m.at - file.data);
        block->end = (size_t)(m.behind - file.data);
        block->dropped = block->kind != BLOCK_EXIF &&
                         block->kind != BLOCK_XMP &&
                         block->kind != BLOCK_XMP_EXTENDED;
        if (!found)
            *exif_at = m.code == MARKER_APP0 ? block->end : block->begin;
        found = found || m.code != MARKER_APP0;
    }
    meta_remove_dropped(meta);
    return 0;
}

int retag_jpeg(struct bytes *out, struct stream_info *info, struct bytes file,
               enum xform op, const struct load_opts *opts, struct err *err)
{
    struct meta *meta = meta_new(&codec_jpeg);
    struct image img = { .meta = meta };
    struct reader reader = { 0 };
    size_t exif_at;
    int status = -1;
    if (!meta)
        return fail_memory(err, "no memory for the decoder");
    meta->budget = opts->limits.budget;
    if (codec_open(&reader, &codec_jpeg, file, opts, err) == 0 &&
        read_headers(meta, file, &exif_at, err) == 0 &&
        metadata_read_orientation(&img, &segments_format, err) == 0) {
        *info = reader.info;
        img.width = info->width;
        img.height = info->height;
        status =
            metadata_retag(out, file, &img, op, exif_at, opts->warnings, err);
    }
    if (status == 0)
        trailer_follow(out, file);
    codec_close(&reader);
    meta_free(meta);
    return status;
}
