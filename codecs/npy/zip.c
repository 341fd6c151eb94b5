/* ZIP archives: read, and written member by member as they were read. */
#include "codecs/npy/zip.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/deflate/flate.h"
#include "codecs/deflate/lz77.h"

/* The most bytes that one byte of deflate can become. */
enum { MOST_OF_BYTE = 1032 };

enum {
    LOCAL = 30,  /* bytes of a header before its name */
    END_64 = 56, /* of the records at the end that ZIP64 adds */
    LOCATOR = 20,
    EXTRA_64 = 1, /* the extra field of sizes that 32 bits do not hold */
};
static const uint32_t local_sign = 0x04034b50, entry_sign = 0x02014b50,
                      end_sign = 0x06054b50, end_64_sign = 0x06064b50,
                      locator_sign = 0x07064b50;

/* Bits of a header's flags. */
enum {
    ENCRYPTED = 1 << 0 | 1 << 6 | 1 << 13,
    EFFORT = 1 << 1 | 1 << 2, /* of the program that deflated it */
    SIZES_BEHIND = 1 << 3,    /* the data, where they were not known before */
};

bool zip_is(const uint8_t *head, size_t size, const char *suffix)
{
    size_t n = strlen(suffix);
    if (size < LOCAL || read_le32(head) != local_sign)
        return false;
    size_t name = read_le16(head + 26);
    return name >= n && name <= size - LOCAL &&
           memcmp(head + LOCAL + name - n, suffix, n) == 0;
}

/* ---- The end, which says where the directory is ------------------------ */

struct zip_directory {
    uint64_t at, size, count;
};

static int read_end(struct zip_directory *d, struct zip *zip, struct bytes file,
                    struct err *err)
{
    /* A comment follows the end, which holds its length. */
    size_t most = file.size < ZIP_END + 65535 ? file.size : ZIP_END + 65535;
    const uint8_t *end = NULL;
    for (size_t back = ZIP_END; back <= most && !end; back++) {
        const uint8_t *p = file.data + file.size - back;
        if (read_le32(p) == end_sign && read_le16(p + 20) == back - ZIP_END)
            end = p;
    }
    if (!end)
        return fail(err, "the archive has no end: it is cut short or damaged");
    *d = (struct zip_directory){ .at = read_le32(end + 16),
                                 .size = read_le32(end + 12),
                                 .count = read_le16(end + 10) };
    if (read_le16(end + 4) || read_le16(end + 6) ||
        read_le16(end + 8) != read_le16(end + 10))
        return fail(err, "the archive is one of several parts; join them");
    zip->comment = (struct bytes){ (uint8_t *)(uintptr_t)end + ZIP_END,
                                   read_le16(end + 20), 0 };
    /* There is a record before the end where 32 bits were too few. */
    uint64_t before = (uint64_t)(end - file.data);
    if (before >= LOCATOR && read_le32(end - LOCATOR) == locator_sign) {
        const uint8_t *locator = end - LOCATOR;
        const uint64_t at = read_le64(locator + 8), room = before - LOCATOR;
        if (room < END_64 || at > room - END_64)
            return fail(err, "the end of the archive is damaged");
        const uint8_t *end64 = file.data + at;
        if (read_le32(end64) != end_64_sign || read_le32(locator + 16) > 1 ||
            read_le32(locator + 4) || read_le32(end64 + 16) ||
            read_le32(end64 + 20) ||
            read_le64(end64 + 24) != read_le64(end64 + 32))
            return fail(err, "the end of the archive is damaged");
        d->count = read_le64(end64 + 32);
        d->size = read_le64(end64 + 40);
        d->at = read_le64(end64 + 48);
    }
    if (d->at > before || d->size > before - d->at ||
        d->count > d->size / ZIP_ENTRY)
        return fail(err, "the directory of the archive is damaged");
    return 0;
}

/* ---- Members --------------------------------------------------------------*/

int zip_fail_member(struct err *err, const struct zip_member *m,
                    const char *what)
{
    return fail(err, "member '%.*s': %s", (int)m->name_size,
                (const char *)m->name, what);
}

/* Replaces numbers that are all ones, since 32 bits do not hold them, by those
 * of the extra field, which has them in this order. */
static bool read_extra_64(const uint8_t *extra, size_t size, uint64_t *number[],
                          unsigned count)
{
    unsigned missing = 0;
    for (unsigned i = 0; i < count; i++)
        missing += *number[i] == UINT32_MAX;
    while (missing && size >= 4) {
        unsigned id = read_le16(extra), length = read_le16(extra + 2);
        if (length > size - 4)
            return false;
        for (unsigned i = 0, at = 0; id == EXTRA_64 && i < count; i++)
            if (*number[i] == UINT32_MAX && at + 8 <= length) {
                *number[i] = read_le64(extra + 4 + at);
                at += 8;
                missing--;
            }
        if (id == EXTRA_64)
            return missing == 0;
        extra += 4 + length;
        size -= 4 + length;
    }
    /* All ones may be the number itself. */
    return true;
}

/* Reads an entry of the directory, and the header before the data, which
 * repeats the name. `before` is where the directory begins. */
static int read_entry(struct zip_member *m, const uint8_t *file,
                      const uint8_t *entry, uint64_t before, struct err *err)
{
    unsigned name = read_le16(entry + 28), extra = read_le16(entry + 30);
    uint64_t stored = read_le32(entry + 20), at = read_le32(entry + 42);
    *m = (struct zip_member){
        .name = entry + ZIP_ENTRY,
        .name_size = name,
        .method = read_le16(entry + 10),
        .crc = read_le32(entry + 16),
        .size = read_le32(entry + 24),
        .entry = entry,
    };
    uint64_t *number[] = { &m->size, &stored, &at };
    if (!read_extra_64(entry + ZIP_ENTRY + name, extra, number, 3))
        return zip_fail_member(err, m, "its extra field is damaged");
    if (before < LOCAL || at > before - LOCAL)
        return zip_fail_member(err, m, "it lies outside of the archive");
    const uint8_t *local = m->local = file + at;
    const uint64_t left = before - at - LOCAL,
                   lead = read_le16(local + 26) + read_le16(local + 28);
    if (read_le32(local) != local_sign || lead > left ||
        read_le16(local + 26) != name ||
        memcmp(local + LOCAL, m->name, name) != 0 ||
        read_le16(local + 8) != m->method)
        return zip_fail_member(err, m, "its header is damaged");
    if (stored > left - lead)
        return zip_fail_member(err, m, "it lies outside of the archive");
    m->data.data = (uint8_t *)(uintptr_t)local + LOCAL + lead;
    m->data.size = (size_t)stored;
    if (read_le16(entry + 8) & ENCRYPTED)
        return zip_fail_member(err, m, "it is encrypted; extract it first");
    if (m->method != ZIP_STORED && m->method != ZIP_DEFLATED)
        return fail(err,
                    "member '%.*s': its compression, method %u, is "
                    "unknown; numpy.savez_compressed deflates",
                    (int)name, (const char *)m->name, m->method);
    if (m->method == ZIP_STORED && m->size != stored)
        return zip_fail_member(err, m, "its sizes contradict each other");
    if (m->size / MOST_OF_BYTE > stored)
        return zip_fail_member(err, m,
                               "so few bytes cannot hold what it "
                               "claims to hold");
    return 0;
}

static int compare_places(const void *a, const void *b)
{
    const struct zip_member *const *x = a, *const *y = b;
    return ((*x)->local > (*y)->local) - ((*x)->local < (*y)->local);
}

int zip_open(struct zip *zip, struct bytes file, struct err *err)
{
    struct zip_directory d = { 0 };
    *zip = (struct zip){ 0 };
    if (read_end(&d, zip, file, err))
        return -1;
    zip->member =
        memory_alloc_zeroed((size_t)d.count + !d.count, sizeof *zip->member);
    if (!zip->member)
        return fail_memory(err, "no memory for the archive");
    const uint8_t *at = file.data + d.at;
    size_t left = (size_t)d.size;
    for (; zip->count < d.count; zip->count++) {
        size_t size = ZIP_ENTRY;
        if (left >= size && read_le32(at) == entry_sign)
            size += (size_t)read_le16(at + 28) + read_le16(at + 30) +
                    read_le16(at + 32);
        else
            size = SIZE_MAX;
        if (size > left)
            return fail(err, "the directory of the archive is damaged");
        if (read_entry(&zip->member[zip->count], file.data, at, d.at, err))
            return -1;
        at += size;
        left -= size;
    }
    if (left) /* members beyond their number, which others read */
        return fail(err, "the directory of the archive is damaged");
    /* Members that share bytes are refused: a small file could hold very much
     * in that way, and no program writes such archives by mistake. */
    const struct zip_member **order =
        memory_alloc((zip->count + !zip->count) * sizeof *order);
    int status = order ? 0 : fail_memory(err, "no memory for the archive");
    for (size_t i = 0; order && i < zip->count; i++)
        order[i] = &zip->member[i];
    if (order)
        qsort(order, zip->count, sizeof *order, compare_places);
    for (size_t i = 1; status == 0 && i < zip->count; i++)
        if (order[i]->local < order[i - 1]->data.data + order[i - 1]->data.size)
            status =
                zip_fail_member(err, order[i], "it overlaps another member");
    memory_free(order);
    return status;
}

void zip_close(struct zip *zip)
{
    memory_free(zip->member);
    *zip = (struct zip){ 0 };
}

/* ---- The content of a member ----------------------------------------------*/

int zip_extract(struct bytes *content, const struct zip_member *m, size_t most,
                struct err *err)
{
    const bool all = most == SIZE_MAX;
    const size_t size = m->size < most ? (size_t)m->size : most;
    *content = (struct bytes){ m->data.data, size, 0 };
    if (m->method == ZIP_DEFLATED) {
        *content = (struct bytes){ 0 };
        /* There is room for a byte more than it should hold. */
        if (!bytes_reserve(content, size + 1))
            return zip_fail_member(err, m, "no memory for what it holds");
        struct flate_io io = { m->data.data, m->data.size, content->data,
                               size + all };
        void *inflater = flate_zlib.inflate_open(true);
        if (!inflater)
            return fail_memory(err, "no memory for the decoder");
        const enum flate_status status = flate_zlib.inflate(inflater, &io);
        flate_zlib.inflate_close(inflater);
        if (all && (status != FLATE_END || io.in_size != 0 || io.out_size != 1))
            return zip_fail_member(err, m, "its data are damaged");
        content->size = size + all - io.out_size;
    }
    return !all || flates[0]->crc32(0, content->data, size) == m->crc
               ? 0
               : zip_fail_member(err, m,
                                 "its data are damaged: the CRC is wrong");
}

/* ---- DEFLATE, by several threads ------------------------------------------*/

/* Bytes that one thread deflates at a time. */
enum { BAND = 1 << 20 };

struct deflate_bands {
    struct bytes content;
    struct bytes *band; /* deflated; empty if there was no memory, or time */
    size_t count;
    const struct account *account;
};

static void deflate_band(void *context, size_t i)
{
    struct deflate_bands *b = context;
    size_t at = i * BAND, left = b->content.size - at;
    size_t size = left < BAND ? left : BAND;
    struct err unheard; /* deflate() asks again */
    if (account_check_time(b->account, &unheard))
        return;
    struct lz77 *matcher = lz77_new(1, 1);
    struct bytes made = { 0 };
    if (matcher && bytes_reserve(&made, flate_bound(size)))
        made.size = lz77_deflate(matcher, made.data, b->content.data + at, at,
                                 size, i + 1 == b->count, LZ77_THREE);
    /* While it waits for others it takes no more than it has become. */
    (void)bytes_append(&b->band[i], made.data, made.size);
    bytes_free(&made);
    lz77_free(matcher);
}

/* Appends to `out` what content becomes, however many threads there are. */
static int deflate(const struct zip_writer *w, struct bytes *out,
                   struct bytes content, struct err *err)
{
    struct deflate_bands b = {
        .content = content,
        .count = content.size ? (content.size - 1) / BAND + 1 : 1,
        .account = w->account,
    };
    b.band = memory_alloc_zeroed(b.count, sizeof *b.band);
    if (!b.band)
        return fail_memory(err, "no memory for the file");
    thread_pool_run(w->pool, deflate_band, &b, b.count);
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

/* ---- Headers --------------------------------------------------------------*/

/* What becomes of a member. */
struct zip_output {
    const struct zip_member *from;
    uint64_t at;       /* where its header begins */
    uint32_t crc;      /* of the content */
    uint64_t size;     /* bytes of that */
    struct bytes data; /* what these have become */
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
        if (read_le16(extra) != EXTRA_64 && !bytes_append(out, extra, field))
            return -1;
        extra += field;
        size -= field;
    }
    return (int)(out->size - before);
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
    const size_t lead = local ? LOCAL : ZIP_ENTRY, later = local ? 0 : 2;
    const unsigned size = read_le16(old + later + 28);
    const uint8_t *old_extra = old + lead + m->name_size;
    const unsigned stale = SIZES_BEHIND | (s->deflated_anew ? EFFORT : 0);
    /* The extra field of numbers that 32 bits do not hold has in an entry those
     * that need it, in a local header both sizes if one does. */
    const uint64_t number[] = { s->size, s->data.size, s->at };
    const bool both = s->size >= UINT32_MAX || s->data.size >= UINT32_MAX;
    uint8_t extra[28];
    size_t begin = out->size, n = 4;
    for (int i = 0; i < (local ? 2 : 3); i++)
        if (local ? both : number[i] >= UINT32_MAX) {
            write_le64(extra + n, number[i]);
            n += 8;
        }
    write_le16(extra, EXTRA_64);
    write_le16(extra + 2, (unsigned)n - 4);
    n = n > 4 ? n : 0;
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
    write_le32(p + 18, local && n ? UINT32_MAX : in_32(s->data.size));
    write_le32(p + 22, local && n ? UINT32_MAX : in_32(s->size));
    write_le16(p + 28, (unsigned)n + (unsigned)more);
    if (!local)
        write_le32(p + 40, in_32(s->at));
    return 0;
}

/* ---- Members --------------------------------------------------------------*/

int zip_put(struct zip_writer *w, const struct zip_member *m,
            const struct bytes *content, struct err *err)
{
    struct bytes deflated = { 0 };
    struct zip_output s = { m, w->file->size, m->crc, m->size, m->data, false };
    int status = 0;
    if (content) {
        s.crc = flates[0]->crc32(0, content->data, content->size);
        s.size = content->size;
        s.data = *content;
        s.deflated_anew = true;
        if (m->method == ZIP_DEFLATED) {
            status = deflate(w, &deflated, *content, err);
            s.data = deflated;
        }
    }
    if (status || append_header(w->file, &s, true, err) ||
        append_header(&w->directory, &s, false, err))
        status = -1;
    else if (!bytes_append(w->file, s.data.data, s.data.size))
        status = fail_memory(err, "no memory for the file");
    w->count++;
    bytes_free(&deflated);
    return status;
}

/* ---- The end --------------------------------------------------------------*/

int zip_finish(struct zip_writer *w, struct bytes comment, struct err *err)
{
    uint64_t at = w->file->size, size = w->directory.size;
    uint8_t end[ZIP_END] = { 0 };
    bool large = at >= UINT32_MAX || size >= UINT32_MAX || w->count >= 65535;
    unsigned count = w->count < 65535 ? (unsigned)w->count : 65535;
    if (!bytes_append(w->file, w->directory.data, w->directory.size))
        return fail_memory(err, "no memory for the file");
    if (large) { /* two records with what is all ones in the end itself */
        uint8_t record[END_64 + LOCATOR] = { 0 }, *locator = record + END_64;
        write_le32(record, end_64_sign);
        write_le64(record + 4, END_64 - 12);
        write_le16(record + 12, 45);
        write_le16(record + 14, 45);
        write_le64(record + 24, w->count);
        write_le64(record + 32, w->count);
        write_le64(record + 40, size);
        write_le64(record + 48, at);
        write_le32(locator, locator_sign);
        write_le64(locator + 8, at + size);
        write_le32(locator + 16, 1);
        if (!bytes_append(w->file, record, sizeof record))
            return fail_memory(err, "no memory for the file");
    }
    write_le32(end, end_sign);
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
