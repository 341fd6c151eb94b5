/* A JPEG file with another orientation, and not another byte changed. */
#include "codecs/jpeg/jpeg.h"

#include "codecs/jpeg/parameters.h"
#include "codecs/metadata/metadata.h"

/* Takes a segment as a block if it may hold an orientation. */
static int take_segment(struct meta *meta, const uint8_t *p, size_t size,
                        size_t at, struct err *err)
{
    if (segments_add(meta, p[1], p + 4, size - 4, err))
        return -1;
    struct metadata_block *block = &meta->block[meta->nblocks - 1];
    block->begin = at;
    block->end = at + size;
    block->dropped = block->kind != BLOCK_EXIF && block->kind != BLOCK_XMP &&
                     block->kind != BLOCK_XMP_EXTENDED;
    return 0;
}

/* Takes the segments before the first scan. *exif_at: where one of EXIF comes
 * to stand, behind those of JFIF. */
static int read_headers(struct meta *meta, struct bytes file, size_t *exif_at,
                        struct err *err)
{
    enum { SOS = 0xda, APP0 = 0xe0 };
    size_t size;
    bool found = false;
    *exif_at = 2;
    for (size_t at = 2; at + 2 <= file.size; at += size) {
        const uint8_t *p = file.data + at;
        size = parameters_segment_size(p, file.size - at);
        if (p[1] == SOS || size == 0)
            break;
        if (size < 4 || !parameters_is_app_or_com(p[1]))
            continue;
        if (take_segment(meta, p, size, at, err))
            return -1;
        if (!found)
            *exif_at = p[1] == APP0 ? at + size : at;
        found = found || p[1] != APP0;
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
