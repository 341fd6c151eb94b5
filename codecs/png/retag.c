/* Sets the orientation of a PNG file and changes no other byte. */
#include "codecs/png/png.h"

#include <string.h>

#include "codecs/metadata/metadata.h"
#include "codecs/png/chunk.h"

bool chunks_frame(struct bytes *to, const struct metadata_block *block)
{
    const size_t at = to->size;
    uint8_t head[CHUNK_HEAD], crc[4];
    write_be32(head, (uint32_t)block->size);
    memcpy(head + 4, block->name, 4);
    if (!bytes_append(to, head, sizeof head) ||
        !bytes_append(to, block->data, block->size))
        return false;
    write_be32(crc, flates[0]->crc32(0, to->data + at + 4, block->size + 4));
    return bytes_append(to, crc, sizeof crc);
}

/* Takes a chunk as a block if it may hold an orientation. */
static int take_chunk(struct meta *meta, const struct chunk *chunk, size_t at,
                      bool after_idat, struct err *err)
{
    char name[5] = "";
    memcpy(name, chunk->type, 4);
    if (!chunks_may_orient(chunk->type, chunk->data, chunk->size))
        return 0;
    struct metadata_block *block = chunks_add(
        meta, name, after_idat ? PNG_PLACE_AFTER_IDAT : PNG_PLACE_BEFORE_IDAT,
        chunk->data, chunk->size);
    if (!block)
        return fail_memory(err, "no memory for so many chunks");
    block->begin = at;
    block->end = at + chunk->size + CHUNK_AROUND;
    return 0;
}

/* Takes the chunks that may hold an orientation, in order, and looks whether
 * all are sound. *exif_at: where EXIF can be put in: before the first IDAT, and
 * before iDOT, which has the distance from itself to an IDAT; 0: nowhere. */
static int read_chunks(struct image *img, struct bytes file, size_t *exif_at,
                       struct err *err)
{
    struct chunk chunk = { .size = 0 };
    bool first = true, ended = false, after_idat = false;
    *exif_at = 0;
    for (size_t at = PNG_SIGNATURE; !ended; at += chunk.size + CHUNK_AROUND) {
        if (!chunk_find(&chunk, file.data + at, file.size - at))
            return fail(err, "the file is cut short");
        if (!chunk_is_sound(&chunk))
            return fail(err, "chunk %.4s is damaged", (const char *)chunk.type);
        if (first && (!chunk_is(&chunk, "IHDR") || chunk.size != 13))
            return fail(err, "its header is malformed");
        if (first) {
            img->width = read_be32(chunk.data);
            img->height = read_be32(chunk.data + 4);
        }
        first = false;
        ended = chunk_is(&chunk, "IEND");
        after_idat = after_idat || chunk_is(&chunk, "IDAT");
        if (!*exif_at && (after_idat || chunk_is(&chunk, "iDOT")))
            *exif_at = at;
        if (take_chunk(img->meta, &chunk, at, after_idat, err))
            return -1;
    }
    return 0;
}

int retag_png(struct bytes *out, struct stream_info *info, struct bytes file,
              enum xform op, const struct load_opts *opts, struct err *err)
{
    struct image img = { .meta = meta_new(&codec_png) };
    size_t exif_at;
    int status = -1;
    if (!img.meta)
        return fail_memory(err, "no memory for the decoder");
    img.meta->account = opts->limits.account;
    if (read_chunks(&img, file, &exif_at, err) == 0 &&
        metadata_read_orientation(&img, &chunks_format, err) == 0) {
        info->width = img.width;
        info->height = img.height;
        info->orientation = img.meta->orientation;
        status =
            metadata_retag(out, file, &img, op, exif_at, opts->warnings, err);
    }
    meta_free(img.meta);
    return status;
}
