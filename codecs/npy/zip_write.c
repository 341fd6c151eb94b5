/* ZIP archives: writing. */
#include "codecs/npy/zip.h"

#include <string.h>

#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/deflate/flate.h"
#include "codecs/deflate/lz77.h"

/* ---- DEFLATE, by several threads ------------------------------------------*/

/* Bytes that one thread deflates at a time. */
enum { BAND = 1 << 20 };

/* Some bands of the content. */
struct deflate_bands {
    const uint8_t *data;
    size_t before,
        size;           /* bytes before it that matches may refer to; its own */
    bool last;          /* the stream ends with it */
    struct bytes *band; /* deflated; empty if there was no memory, or time */
    size_t count;
    const struct account *account;
};

static void deflate_band(void *context, size_t i)
{
    struct deflate_bands *b = context;
    size_t at = i * BAND, left = b->size - at;
    size_t size = left < BAND ? left : BAND;
    struct err unheard; /* deflate_some() asks again */
    if (account_check_time(b->account, &unheard))
        return;
    struct lz77 *matcher = lz77_new(1, 1);
    struct bytes made = { 0 };
    if (matcher && bytes_reserve(&made, flate_bound(size)))
        made.size =
            lz77_deflate(matcher, made.data, b->data + at, b->before + at, size,
                         b->last && i + 1 == b->count, LZ77_SEVEN);
    /* While it waits for others it takes no more than it has become. */
    (void)bytes_append(&b->band[i], made.data, made.size);
    bytes_free(&made);
    lz77_free(matcher);
}

/* Deflates `size` bytes behind the window. */
static int deflate_some(const struct zip_deflate *d, struct bytes *out,
                        const uint8_t *data, size_t size, bool last,
                        struct err *err)
{
    struct deflate_bands b = {
        .data = data,
        .before = d->window,
        .size = size,
        .last = last,
        .count = size ? (size - 1) / BAND + 1 : 1,
        .account = d->account,
    };
    b.band = memory_alloc_zeroed(b.count, sizeof *b.band);
    if (!b.band)
        return fail_memory(err, "no memory for the file");
    thread_pool_run(d->pool, deflate_band, &b, b.count);
    int status = account_check_time(b.account, err);
    for (size_t i = 0; i < b.count; i++) {
        if (status == 0 && (b.band[i].size == 0 ||
                            !bytes_append(out, b.band[i].data, b.band[i].size)))
            status = fail_memory(err, "no memory for the file");
        bytes_free(&b.band[i]);
    }
    memory_free(b.band);
    return status;
}

/* Appends to `out` what more content becomes, or what waits is held: as many
 * whole bands as there are threads are deflated while there is more, for the
 * last bytes of all end the stream. */
static int deflate(struct zip_deflate *d, struct bytes *out,
                   struct bytes content, bool last, struct err *err)
{
    const size_t some = (size_t)thread_pool_threads(d->pool) * BAND;
    if (last && d->held.size == 0)
        return deflate_some(d, out, content.data, content.size, true, err);
    if (!bytes_append(&d->held, content.data, content.size))
        return fail_memory(err, "no memory for the file");
    if (last)
        return deflate_some(d, out, d->held.data + d->window,
                            d->held.size - d->window, true, err);
    while (d->held.size - d->window > some) {
        if (deflate_some(d, out, d->held.data + d->window, some, false, err))
            return -1;
        const size_t drop = d->window + some - FLATE_WINDOW;
        d->held.size -= drop;
        memmove(d->held.data, d->held.data + drop, d->held.size);
        d->window = FLATE_WINDOW;
    }
    return 0;
}

static void deflate_end(struct zip_deflate *d)
{
    bytes_free(&d->held);
    d->window = 0;
}

/* ---- Headers --------------------------------------------------------------*/

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
static size_t make_extra_64(uint8_t extra[28], const struct zip_output *s,
                            bool local)
{
    const uint64_t number[] = { s->size, s->deflated, s->at };
    bool both = s->size >= UINT32_MAX || s->deflated >= UINT32_MAX;
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
static int append_header(struct bytes *out, const struct zip_output *s,
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
    write_le32(p + 18, local && n ? UINT32_MAX : in_32(s->deflated));
    write_le32(p + 22, local && n ? UINT32_MAX : in_32(s->size));
    write_le16(p + 28, (unsigned)n + (unsigned)more);
    if (!local)
        write_le32(p + 40, in_32(s->at));
    return 0;
}

/* ---- Members --------------------------------------------------------------*/

/* Passes on what has been made, if the file is flushed. */
static int flush(struct zip_writer *w, struct err *err)
{
    const size_t made = w->file->size;
    if (flush_file(w->flush, w->file, err))
        return -1;
    w->flushed += made - w->file->size;
    return 0;
}

static uint64_t position(const struct zip_writer *w)
{
    return w->flushed + w->file->size;
}

/* The header is that of the member as it was, until its content is known. */
int zip_begin(struct zip_writer *w, const struct zip_member *m, struct err *err)
{
    const size_t before = w->file->size;
    w->now = (struct zip_output){ .from = m,
                                  .at = position(w),
                                  .crc = m->crc,
                                  .size = m->size,
                                  .deflated = m->data.size,
                                  .deflate = { .pool = w->pool,
                                               .account = w->account } };
    if (append_header(w->file, &w->now, true, err))
        return -1;
    w->now.header = w->file->size - before;
    w->now.deflated_anew = true;
    w->now.crc = 0;
    w->now.size = w->now.deflated = 0;
    return 0;
}

static int put(struct zip_writer *w, struct bytes piece, bool last,
               struct err *err)
{
    struct zip_output *now = &w->now;
    const size_t before = w->file->size;
    now->crc = flates[0]->crc32(now->crc, piece.data, piece.size);
    now->size += piece.size;
    if (now->from->method == ZIP_DEFLATED) {
        if (deflate(&now->deflate, w->file, piece, last, err))
            return -1;
    } else if (!bytes_append(w->file, piece.data, piece.size)) {
        return fail_memory(err, "no memory for the file");
    }
    now->deflated += w->file->size - before;
    return last ? 0 : flush(w, err);
}

int zip_put(struct zip_writer *w, struct bytes piece, struct err *err)
{
    return put(w, piece, false, err);
}

/* Replaces the header that is in memory, whose size may be another. */
static int replace_in_memory(struct zip_writer *w, struct bytes header,
                             struct err *err)
{
    struct bytes *file = w->file;
    const size_t at = (size_t)(w->now.at - w->flushed), old = w->now.header;
    if (header.size > old && !bytes_reserve(file, header.size - old))
        return fail_memory(err, "no memory for the file");
    if (header.size != old)
        memmove(file->data + at + header.size, file->data + at + old,
                file->size - at - old);
    memcpy(file->data + at, header.data, header.size);
    file->size = file->size - old + header.size;
    return 0;
}

/* Writes the header again, with what is known now. */
static int end_header(struct zip_writer *w, struct err *err)
{
    const struct zip_output *now = &w->now;
    struct bytes header = { 0 };
    int status = append_header(&header, now, true, err);
    if (status == 0 && now->at >= w->flushed)
        status = replace_in_memory(w, header, err);
    else if (status == 0 && header.size != now->header)
        status = zip_fail_member(err, now->from,
                                 "it is nearly 4 GiB large; a larger "
                                 "--max-memory turns it in memory");
    else if (status == 0)
        status = w->flush->replace(w->flush->context, now->at, header.data,
                                   header.size, err);
    bytes_free(&header);
    return status;
}

int zip_end(struct zip_writer *w, struct bytes piece, struct err *err)
{
    if (put(w, piece, true, err) || end_header(w, err) ||
        append_header(&w->directory, &w->now, false, err))
        return -1;
    deflate_end(&w->now.deflate);
    w->count++;
    return flush(w, err);
}

int zip_replace(struct zip_writer *w, const struct zip_member *m,
                struct bytes content, struct err *err)
{
    return zip_begin(w, m, err) || zip_end(w, content, err) ? -1 : 0;
}

int zip_copy(struct zip_writer *w, const struct zip *zip,
             const struct zip_member *m, struct err *err)
{
    enum { STEP = 1 << 20 };
    const struct zip_output as_was = { .from = m,
                                       .at = position(w),
                                       .crc = m->crc,
                                       .size = m->size,
                                       .deflated = m->data.size };
    const struct bytes data = m->data;
    struct bytes_passed passed = zip_passed(zip, m);
    if (append_header(w->file, &as_was, true, err) ||
        append_header(&w->directory, &as_was, false, err))
        return -1;
    w->count++;
    for (size_t at = 0, n; at < data.size; at += n) {
        n = data.size - at < STEP ? data.size - at : STEP;
        if (!bytes_append(w->file, data.data + at, n))
            return fail_memory(err, "no memory for the file");
        if (flush(w, err))
            return -1;
        bytes_pass(&passed, data.data + at + n);
    }
    return 0;
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
    uint64_t at = position(w), size = w->directory.size;
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
    deflate_end(&w->now.deflate);
}
