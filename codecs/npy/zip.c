/* ZIP archives: reading. */
#include "codecs/npy/zip.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/base/scratch.h"
#include "codecs/deflate/flate.h"

/* The most bytes that one byte of deflate can become. */
enum { MOST_OF_BYTE = 1032 };

bool zip_is(const uint8_t *head, size_t size, const char *suffix)
{
    size_t n = strlen(suffix);
    if (size < ZIP_LOCAL || read_le32(head) != zip_local_sign)
        return false;
    size_t name = read_le16(head + 26);
    return name >= n && name <= size - ZIP_LOCAL &&
           memcmp(head + ZIP_LOCAL + name - n, suffix, n) == 0;
}

/* ---- The end, which says where the directory is ------------------------ */

struct zip_directory {
    uint64_t at, size, count;
};

/* A comment follows the end, which holds its length. */
static const uint8_t *find_end(struct bytes file)
{
    size_t most = file.size < ZIP_END + 65535 ? file.size : ZIP_END + 65535;
    for (size_t back = ZIP_END; back <= most; back++) {
        const uint8_t *end = file.data + file.size - back;
        if (read_le32(end) == zip_end_sign &&
            read_le16(end + 20) == back - ZIP_END)
            return end;
    }
    return NULL;
}

/* Reads the record before the end that is there where 32 bits were too few. */
static int read_end_64(struct zip_directory *d, struct bytes file,
                       const uint8_t *end, struct err *err)
{
    const uint8_t *locator = end - ZIP_LOCATOR;
    if (end - file.data < ZIP_LOCATOR || read_le32(locator) != zip_locator_sign)
        return 0;
    uint64_t at = read_le64(locator + 8);
    uint64_t before = (uint64_t)(locator - file.data);
    if (before < ZIP_END_64 || at > before - ZIP_END_64)
        return fail(err, "the end of the archive is damaged");
    const uint8_t *end64 = file.data + at;
    if (read_le32(end64) != zip_end_64_sign || read_le32(locator + 16) > 1 ||
        read_le32(locator + 4) || read_le32(end64 + 16) ||
        read_le32(end64 + 20) || read_le64(end64 + 24) != read_le64(end64 + 32))
        return fail(err, "the end of the archive is damaged");
    d->count = read_le64(end64 + 32);
    d->size = read_le64(end64 + 40);
    d->at = read_le64(end64 + 48);
    return 0;
}

static int read_end(struct zip_directory *d, struct zip *zip, struct bytes file,
                    struct err *err)
{
    const uint8_t *end = find_end(file);
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
    if (read_end_64(d, file, end, err))
        return -1;
    uint64_t before = (uint64_t)(end - file.data);
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
        for (unsigned i = 0, at = 0; id == ZIP_EXTRA_64 && i < count; i++)
            if (*number[i] == UINT32_MAX && at + 8 <= length) {
                *number[i] = read_le64(extra + 4 + at);
                at += 8;
                missing--;
            }
        if (id == ZIP_EXTRA_64)
            return missing == 0;
        extra += 4 + length;
        size -= 4 + length;
    }
    /* All ones may be the number itself. */
    return true;
}

/* Finds the data of a member behind their own header, which repeats its name.
 * `before` is where the directory begins. */
static int find_data(struct zip_member *m, const uint8_t *file, uint64_t at,
                     uint64_t stored, uint64_t before, struct err *err)
{
    if (before < ZIP_LOCAL || at > before - ZIP_LOCAL)
        return zip_fail_member(err, m, "it lies outside of the archive");
    const uint8_t *local = file + at;
    uint64_t left = before - at - ZIP_LOCAL;
    uint64_t lead = (uint64_t)read_le16(local + 26) + read_le16(local + 28);
    if (read_le32(local) != zip_local_sign || lead > left ||
        read_le16(local + 26) != m->name_size ||
        memcmp(local + ZIP_LOCAL, m->name, m->name_size) != 0 ||
        read_le16(local + 8) != m->method)
        return zip_fail_member(err, m, "its header is damaged");
    if (stored > left - lead)
        return zip_fail_member(err, m, "it lies outside of the archive");
    m->local = local;
    m->data.data = (uint8_t *)(uintptr_t)local + ZIP_LOCAL + lead;
    m->data.size = (size_t)stored;
    return 0;
}

static int check_method(const struct zip_member *m, struct err *err)
{
    if (read_le16(m->entry + 8) & ZIP_ENCRYPTED)
        return zip_fail_member(err, m, "it is encrypted; extract it first");
    if (m->method != ZIP_STORED && m->method != ZIP_DEFLATED)
        return fail(err,
                    "member '%.*s': its compression, method %u, is "
                    "unknown; numpy.savez_compressed deflates",
                    (int)m->name_size, (const char *)m->name, m->method);
    if (m->method == ZIP_STORED && m->size != m->data.size)
        return zip_fail_member(err, m, "its sizes contradict each other");
    if (m->size / MOST_OF_BYTE > m->data.size)
        return zip_fail_member(err, m,
                               "so few bytes cannot hold what it "
                               "claims to hold");
    return 0;
}

/* Returns the size of an entry of the directory, of which `left` bytes are
 * left; 0 if it is damaged. */
static size_t entry_size(const uint8_t *entry, size_t left)
{
    if (left < ZIP_ENTRY || read_le32(entry) != zip_entry_sign)
        return 0;
    size_t size = (size_t)ZIP_ENTRY + read_le16(entry + 28) +
                  read_le16(entry + 30) + read_le16(entry + 32);
    return size > left ? 0 : size;
}

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
    return find_data(m, file, at, stored, before, err) ? -1
                                                       : check_method(m, err);
}

static int compare_places(const void *a, const void *b)
{
    const struct zip_member *const *x = a, *const *y = b;
    return ((*x)->local > (*y)->local) - ((*x)->local < (*y)->local);
}

int zip_open(struct zip *zip, struct bytes file, struct err *err)
{
    struct zip_directory d = { 0 };
    *zip = (struct zip){ .mapped = bytes_are_mapped(file) };
    if (read_end(&d, zip, file, err))
        return -1;
    zip->member =
        memory_alloc_zeroed((size_t)d.count + !d.count, sizeof *zip->member);
    if (!zip->member)
        return fail_memory(err, "no memory for the archive");
    const uint8_t *at = file.data + d.at;
    size_t left = (size_t)d.size;
    for (; zip->count < d.count; zip->count++) {
        size_t size = entry_size(at, left);
        if (size == 0)
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

enum { STEP = 1 << 20 }; /* bytes that are read at a time */

static uint32_t crc_of(const struct zip *zip, const struct zip_member *m)
{
    const struct bytes data = m->data;
    struct bytes_passed passed = zip_passed(zip, m);
    uint32_t crc = 0;
    for (size_t at = 0, n; at < data.size; at += n) {
        n = data.size - at < STEP ? data.size - at : STEP;
        crc = flates[0]->crc32(crc, data.data + at, n);
        bytes_pass(&passed, data.data + at + n);
    }
    return crc;
}

/* Inflates a member to `to`, which has room for a byte more than it holds; or,
 * a STEP at a time, through `to` to a temporary file. */
static int inflate_member(uint8_t *to, const struct scratch_map *file,
                          uint32_t *crc, const struct zip *zip,
                          const struct zip_member *m, struct err *err)
{
    struct flate_io io = { .in = m->data.data, .in_size = m->data.size };
    struct bytes_passed passed = zip_passed(zip, m);
    enum flate_status status = FLATE_MORE;
    void *inflater = flate_zlib.inflate_open(true);
    int wrong = inflater ? 0 : fail_memory(err, "no memory for the decoder");
    uint64_t at = 0;
    for (size_t n = STEP; !wrong && status == FLATE_MORE && n; at += n) {
        const size_t room =
            file || m->size - at >= STEP ? STEP : (size_t)(m->size - at) + 1;
        uint8_t *out = file ? to : to + at;
        io.out = out;
        io.out_size = room;
        status = flate_zlib.inflate(inflater, &io);
        n = room - io.out_size;
        bytes_pass(&passed, io.in);
        *crc = flates[0]->crc32(*crc, out, n);
        if (status == FLATE_BAD || n > m->size - at)
            wrong = zip_fail_member(err, m, "its data are damaged");
        else if (file && n)
            wrong = scratch_write(file, at, out, n, err);
    }
    if (!wrong && (status != FLATE_END || io.in_size || at != m->size))
        wrong = zip_fail_member(err, m, "its data are damaged");
    flate_zlib.inflate_close(inflater);
    return wrong;
}

/* The content of a deflated member in a temporary file, which it is then. */
static int inflate_to_file(struct bytes *content, uint32_t *crc,
                           const struct zip *zip, const struct zip_member *m,
                           const struct scratch *scratch, struct err *err)
{
    struct scratch_map file;
    uint8_t *out = memory_alloc(STEP);
    if (!out)
        return fail_memory(err, "no memory for the decoder");
    int status = scratch->make(scratch->context, m->size, &file, err);
    if (status == 0) {
        status = inflate_member(out, &file, crc, zip, m, err);
        *content = file.bytes;
        file.bytes = (struct bytes){ 0 };
        scratch_close(&file);
    }
    memory_free(out);
    return status;
}

int zip_extract(struct bytes *content, const struct zip *zip,
                const struct zip_member *m, const struct scratch *scratch,
                struct err *err)
{
    const size_t size = (size_t)m->size;
    uint32_t crc = 0;
    int status = 0;
    *content = (struct bytes){ 0 };
    if (m->method == ZIP_STORED) {
        *content = (struct bytes){ m->data.data, size, 0 };
        crc = crc_of(zip, m);
    } else if (scratch) {
        status = inflate_to_file(content, &crc, zip, m, scratch, err);
    } else if (!bytes_reserve(content, size + 1)) {
        status = zip_fail_member(err, m, "no memory for what it holds");
    } else {
        status = inflate_member(content->data, NULL, &crc, zip, m, err);
        content->size = size;
    }
    if (status == 0 && crc != m->crc)
        status =
            zip_fail_member(err, m, "its data are damaged: the CRC is wrong");
    return status;
}

size_t zip_extract_head(uint8_t *head, size_t size, const struct zip_member *m)
{
    struct flate_io io = { m->data.data, m->data.size, head, size };
    if (size > m->size)
        io.out_size = size = (size_t)m->size;
    if (m->method == ZIP_DEFLATED) {
        void *inflater = flate_zlib.inflate_open(true);
        if (inflater)
            flate_zlib.inflate(inflater, &io);
        flate_zlib.inflate_close(inflater);
        return size - io.out_size;
    }
    if (size)
        memcpy(head, m->data.data, size);
    return size;
}
