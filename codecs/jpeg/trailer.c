/* What stands behind the picture in a JPEG file: pictures, a film, anything. It
 * is a block of its own, in which codecs/metadata/trailing_pictures.h turns the
 * pictures. The list in MPF counts from a place before the first picture's end,
 * which is known here alone. */
#include "codecs/jpeg/jpeg.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/jpeg/entropy/marker.h"
#include "codecs/metadata/mpf.h"

/* Of an MPF segment, "MPF\0". */
enum { MPF_HEAD = 4 };

/* Where the block in the first MPF segment of a file begins; 0: there is none.
 */
static size_t find_block(struct bytes file)
{
    enum { APP2 = MARKER_APP0 + 2 };
    const uint8_t *end = file.data + file.size;
    struct marker m;
    for (const uint8_t *p = marker_first(file);
         p && marker_read(&m, p, end) && m.code != MARKER_SOS; p = m.behind)
        if (m.code == APP2 && m.size >= MPF_HEAD &&
            memcmp(m.data, "MPF\0", MPF_HEAD) == 0)
            return (size_t)(m.data - file.data) + MPF_HEAD;
    return 0;
}

int trailer_take(struct meta *meta, struct bytes file, size_t behind,
                 struct err *err)
{
    if (file.size < 4 || behind > file.size)
        return 0;
    size_t block = find_block(file), end = file.size - behind;
    if (block && block < end)
        meta->mpf_trailer = end - block;
    if (behind == 0)
        return 0;
    return segments_add(meta, TRAILER, file.data + end, behind, err);
}

/* By how much the end of the first picture has moved, its list counts more. */
static int move_list(struct bytes *file, size_t block, size_t limit, size_t was,
                     size_t behind, size_t end, struct err *err)
{
    struct mpf mpf;
    if (!mpf_open(&mpf, file->data + block, limit))
        return 0;
    if (file->size - block > UINT32_MAX)
        return fail(err, "the file is too large for its MPF");
    struct mpf_entry first = mpf_get(&mpf, 0);
    first.size = (uint32_t)end;
    mpf_put(&mpf, file->data + block, 0, first);
    for (size_t i = 1; i < mpf.count; i++) {
        struct mpf_entry entry = mpf_get(&mpf, i);
        if (entry.offset < was || entry.offset - was > behind)
            continue;
        entry.offset = (uint32_t)(entry.offset - was + (end - block));
        mpf_put(&mpf, file->data + block, i, entry);
    }
    return 0;
}

void trailer_follow(struct bytes *file, struct bytes before)
{
    const size_t was = find_block(before), is = find_block(*file);
    struct mpf mpf;
    if (!was || !is || file->size == before.size)
        return;
    uint8_t *block = file->data + is;
    size_t limit = (size_t)read_be16(block - MPF_HEAD - 2) - 2 - MPF_HEAD;
    uint32_t longer = (uint32_t)(file->size - before.size);
    uint32_t farther = (uint32_t)(file->size - is - (before.size - was));
    if (!mpf_open(&mpf, block, limit))
        return;
    for (size_t i = 0; i < mpf.count; i++) {
        struct mpf_entry entry = mpf_get(&mpf, i);
        if (entry.offset == 0)
            entry.size += longer;
        else
            entry.offset += farther;
        mpf_put(&mpf, block, i, entry);
    }
}

int trailer_append(struct bytes *file, const struct meta *meta, struct err *err)
{
    const size_t end = file->size, was = meta->mpf_trailer;
    for (size_t i = 0; i < meta->nblocks; i++)
        if (meta->block[i].kind == BLOCK_TRAILER &&
            !bytes_append(file, meta->block[i].data, meta->block[i].size))
            return fail_memory(err,
                               "no memory for what stands behind the picture");
    size_t block = find_block(*file);
    if (!block || !was)
        return 0;
    size_t limit =
        (size_t)read_be16(file->data + block - MPF_HEAD - 2) - 2 - MPF_HEAD;
    return move_list(file, block, limit, was, file->size - end, end, err);
}
