/* ZIP archives: writing. */
#include "codecs/base/memory.h"
#include "codecs/npy/zip.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/deflate/flate.h"
#include "codecs/deflate/lz77.h"
#include "codecs/image/budget.h"

/* ---- Deflate --------------------------------------------------------------*/

/* Bytes that one thread deflates at a time. */
enum { BAND = 1 << 20 };

struct deflating {
    struct bytes content;
    struct bytes *band; /* deflated; empty if there was no memory, or time */
    size_t count;
    const struct budget *budget;
};

static void deflate_band(void *context, size_t i)
{
    struct deflating *d = context;
    size_t at = i * BAND, left = d->content.size - at;
    size_t size = left < BAND ? left : BAND;
    struct err unheard; /* append_bands() asks again */
    if (budget_check_time(d->budget, &unheard))
        return;
    struct lz77 *matcher = lz77_new();
    struct bytes made = { 0 };
    if (matcher && bytes_reserve(&made, flate_bound(size)))
        made.size = lz77_deflate(matcher, made.data, d->content.data + at, at,
                                 size, i + 1 == d->count, LZ77_SEVEN);
    /* While it waits for others it takes no more than it has become. */
    (void)bytes_append(&d->band[i], made.data, made.size);
    bytes_free(&made);
    lz77_free(matcher);
}

static int append_bands(struct bytes *file, const struct deflating *d,
                        struct err *err)
{
    if (budget_check_time(d->budget, err))
        return -1;
    for (size_t i = 0; i < d->count; i++)
        if (d->band[i].size == 0 ||
            !bytes_append(file, d->band[i].data, d->band[i].size))
            return fail_memory(err, "no memory for the file");
    return 0;
}

/* Makes *deflated the content, deflated. */
static int deflate_content(struct bytes *deflated, struct bytes content,
                           const struct zip_writer *w, struct err *err)
{
    struct deflating d = {
        .content = content,
        .count = content.size ? (content.size - 1) / BAND + 1 : 1,
        .budget = w->budget,
    };
    d.band = memory_alloc_zeroed(d.count, sizeof *d.band);
    if (!d.band)
        return fail_memory(err, "no memory for the file");
    thread_pool_run(w->pool, deflate_band, &d, d.count);
    *deflated = (struct bytes){ 0 };
    int status = append_bands(deflated, &d, err);
    for (size_t i = 0; i < d.count; i++)
        bytes_free(&d.band[i]);
    memory_free(d.band);
    return status;
}

/* ---- Headers --------------------------------------------------------------*/

/* What the two headers of a member say. */
struct zip_facts {
    const struct zip_member *from;
    uint32_t crc;
    uint64_t size, stored, at;
    bool deflated_anew;
};

/* Appends the extra fields of a header but those of ZIP64. Returns their bytes;
 * -1 without memory. */
static int append_extra(struct bytes *out, const uint8_t *extra, size_t size)
{
    size_t before = out->size;
    while (size >= 4) {
        size_t field = 4 + (size_t)read_le16(extra + 2);
        if (field > size)
            break;
        if (read_le16(extra) != ZIP_EXTRA_64 &&
            !bytes_append(out, extra, field))
            return -1;
        extra += field;
        size -= field;
    }
    return (int)(out->size - before);
}

/* Makes the extra field of numbers that 32 bits do not hold: in an entry those
 * that need it, in a local header both sizes if one does. Returns its bytes. */
static size_t make_extra_64(uint8_t extra[28], const struct zip_facts *s,
                            bool local)
{
    const uint64_t number[] = { s->size, s->stored, s->at };
    bool both = s->size >= UINT32_MAX || s->stored >= UINT32_MAX;
    size_t n = 4;
    for (int i = 0; i < (local ? 2 : 3); i++)
        if (local ? both : number[i] >= UINT32_MAX) {
            write_le64(extra + n, number[i]);
            n += 8;
        }
    write_le16(extra, ZIP_EXTRA_64);
    write_le16(extra + 2, (unsigned)n - 4);
    return n > 4 ? n : 0;
}

static uint32_t in_32(uint64_t n)
{
    return n >= UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

/* Appends a header of a member, in the directory or before the data: the old
 * one with what has changed. What both say stands 2 bytes later in the
 * directory. */
static int append_header(struct bytes *out, const struct zip_facts *s,
                         bool local, struct err *err)
{
    const struct zip_member *m = s->from;
    const uint8_t *old = local ? m->local : m->entry;
    const size_t lead = local ? ZIP_LOCAL : ZIP_ENTRY, later = local ? 0 : 2;
    const unsigned size = read_le16(old + later + 28);
    const uint8_t *old_extra = old + lead + m->name_size;
    const unsigned stale =
        ZIP_SIZES_BEHIND | (s->deflated_anew ? ZIP_EFFORT : 0);
    uint8_t extra[28];
    size_t begin = out->size, n = make_extra_64(extra, s, local);
    if (!bytes_append(out, old, lead) ||
        !bytes_append(out, m->name, m->name_size) ||
        !bytes_append(out, extra, n))
        return fail_memory(err, "no memory for the file");
    int more = append_extra(out, old_extra, size);
    if (more >= 0 && n + (size_t)more > UINT16_MAX)
        return zip_fail_member(err, m, "its extra fields are too long");
    if (more < 0 ||
        (!local && !bytes_append(out, old_extra + size, read_le16(old + 32))))
        return fail_memory(err, "no memory for the file");
    uint8_t *p = out->data + begin + later;
    write_le16(p + 4, n ? 45 : 20);
    write_le16(p + 6, read_le16(m->entry + 8) & ~stale);
    write_le32(p + 14, s->crc);
    write_le32(p + 18, local && n ? UINT32_MAX : in_32(s->stored));
    write_le32(p + 22, local && n ? UINT32_MAX : in_32(s->size));
    write_le16(p + 28, (unsigned)n + (unsigned)more);
    if (!local)
        write_le32(p + 40, in_32(s->at));
    return 0;
}

/* ---- Members --------------------------------------------------------------*/

static int append_member(struct zip_writer *w, const struct zip_facts *s,
                         const uint8_t *data, struct err *err)
{
    if (append_header(w->file, s, true, err) ||
        append_header(&w->directory, s, false, err))
        return -1;
    w->count++;
    return bytes_append(w->file, data, s->stored)
               ? 0
               : fail_memory(err, "no memory for the file");
}

int zip_copy(struct zip_writer *w, const struct zip_member *m, struct err *err)
{
    const struct zip_facts s = {
        m, m->crc, m->size, m->data.size, w->file->size, false
    };
    return append_member(w, &s, m->data.data, err);
}

int zip_replace(struct zip_writer *w, const struct zip_member *m,
                struct bytes content, struct err *err)
{
    struct bytes data = { .data = content.data, .size = content.size };
    int status =
        m->method == ZIP_DEFLATED ? deflate_content(&data, content, w, err) : 0;
    const struct zip_facts s = {
        .from = m,
        .crc = flates[0]->crc32(0, content.data, content.size),
        .size = content.size,
        .stored = data.size,
        .at = w->file->size,
        .deflated_anew = true,
    };
    if (status == 0)
        status = append_member(w, &s, data.data, err);
    bytes_free(&data);
    return status;
}

/* ---- The end --------------------------------------------------------------*/

/* Appends two records with what is all ones in the end itself. */
static int append_end_64(struct zip_writer *w, uint64_t at, struct err *err)
{
    uint8_t end[ZIP_END_64 + ZIP_LOCATOR] = { 0 }, *locator = end + ZIP_END_64;
    write_le32(end, zip_end_64_sign);
    write_le64(end + 4, ZIP_END_64 - 12);
    write_le16(end + 12, 45);
    write_le16(end + 14, 45);
    write_le64(end + 24, w->count);
    write_le64(end + 32, w->count);
    write_le64(end + 40, w->directory.size);
    write_le64(end + 48, at);
    write_le32(locator, zip_locator_sign);
    write_le64(locator + 8, at + w->directory.size);
    write_le32(locator + 16, 1);
    return bytes_append(w->file, end, sizeof end)
               ? 0
               : fail_memory(err, "no memory for the file");
}

int zip_finish(struct zip_writer *w, struct bytes comment, struct err *err)
{
    uint64_t at = w->file->size, size = w->directory.size;
    uint8_t end[ZIP_END] = { 0 };
    bool large = at >= UINT32_MAX || size >= UINT32_MAX || w->count >= 65535;
    unsigned count = w->count < 65535 ? (unsigned)w->count : 65535;
    if (!bytes_append(w->file, w->directory.data, w->directory.size))
        return fail_memory(err, "no memory for the file");
    if (large && append_end_64(w, at, err))
        return -1;
    write_le32(end, zip_end_sign);
    write_le16(end + 8, count);
    write_le16(end + 10, count);
    write_le32(end + 12, in_32(size));
    write_le32(end + 16, in_32(at));
    write_le16(end + 20, (unsigned)comment.size);
    return bytes_append(w->file, end, sizeof end) &&
                   bytes_append(w->file, comment.data, comment.size)
               ? 0
               : fail_memory(err, "no memory for the file");
}

void zip_abandon(struct zip_writer *w)
{
    bytes_free(&w->directory);
}
