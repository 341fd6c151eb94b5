/* Boxes of ISO/IEC 14496-12. */
#include "codecs/base/box.h"

#include "codecs/base/byte_order.h"

bool box_read(struct box *box, struct bytes file, size_t at, size_t end)
{
    enum { HEAD = 8, LONG_HEAD = 16 };
    if (at > end || end > file.size || end - at < HEAD)
        return false;
    const uint8_t *p = file.data + at;
    uint64_t size = read_be32(p);
    size_t head = HEAD;
    *box = (struct box){ .begin = at, .open = size == 0 };
    memcpy(box->type, p + 4, 4);
    if (size == 1) {
        if (end - at < LONG_HEAD)
            return false;
        size = (uint64_t)read_be32(p + 8) << 32 | read_be32(p + 12);
        head = LONG_HEAD;
    } else if (size == 0) {
        size = end - at;
    }
    box->body = at + head;
    box->end = at + (size_t)size;
    return size >= head && size <= end - at;
}

bool box_find(struct box *box, const char *type, struct bytes file, size_t at,
              size_t end)
{
    for (; box_read(box, file, at, end); at = box->end)
        if (box_is(box, type))
            return true;
    return false;
}

int box_resize(uint8_t *to, const struct box *box, uint64_t size,
               struct err *err)
{
    if (box->open)
        return 0;
    if (box->body - box->begin > 8)
        write_be64(to + 8, size);
    else if (size > UINT32_MAX)
        return fail(err, "its box %s would be larger than 4 GiB", box->type);
    else
        write_be32(to, (uint32_t)size);
    return 0;
}
