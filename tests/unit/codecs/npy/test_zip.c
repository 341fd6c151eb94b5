/* ZIP archives are written as they were read, and damaged ones do no harm. */
#include "codecs/npy/zip.h"

#include <zlib.h>

#include "codecs/base/byte_order.h"
#include "codecs/codec.h"
#include "tests/support/fixture.h"

/* An archive that is put together here, byte by byte. */
struct made {
    struct bytes file, directory;
    unsigned count;
    bool wide; /* its sizes and places stand in fields of ZIP64 */
};

static void append(struct bytes *out, const void *data, size_t size)
{
    must(bytes_append(out, data, size));
}

/* Numbers, each in as many bytes as its digit in `sizes` says. */
#define NUMBERS(out, sizes, ...)                                               \
    append_numbers(out, sizes, (const uint64_t[]){ __VA_ARGS__ })
static void append_numbers(struct bytes *out, const char *sizes,
                           const uint64_t *number)
{
    uint8_t bytes[8];
    for (; *sizes; sizes++) {
        write_le64(bytes, *number++);
        append(out, bytes, (size_t)(*sizes - '0'));
    }
}

/* What a local header and an entry share: flags, method, time, checksum, sizes,
 * and the lengths of the name and of the fields behind it. */
static void append_facts(const struct made *made, struct bytes *out,
                         const char *name, unsigned method, struct bytes stored,
                         struct bytes content)
{
    const uint32_t crc = (uint32_t)crc32(0, content.data, (uInt)content.size);
    NUMBERS(out, "22444422", 0x800, method, 0x58215555, crc,
            made->wide ? UINT32_MAX : stored.size,
            made->wide ? UINT32_MAX : content.size, strlen(name),
            made->wide ? 24 : 0);
}

static void append_name(const struct made *made, struct bytes *out,
                        const char *name, struct bytes stored,
                        struct bytes content)
{
    append(out, name, strlen(name));
    if (made->wide)
        NUMBERS(out, "222288", 0xcafe, 0, 1, 16, content.size, stored.size);
}

static void add(struct made *made, const char *name, unsigned method,
                struct bytes stored, struct bytes content)
{
    struct bytes *out = &made->file, *entry = &made->directory;
    const uint64_t at = out->size;
    NUMBERS(out, "42", 0x04034b50, 45);
    append_facts(made, out, name, method, stored, content);
    append_name(made, out, name, stored, content);
    append(out, stored.data, stored.size);
    NUMBERS(entry, "422", 0x02014b50, 0x33f, 45);
    append_facts(made, entry, name, method, stored, content);
    NUMBERS(entry, "2444", 3, 0, 0x81a40000, at);
    append_name(made, entry, name, stored, content);
    append(entry, "why", 3);
    made->count++;
}

static struct bytes end(struct made *made)
{
    struct bytes *out = &made->file;
    const uint64_t at = out->size, size = made->directory.size;
    const uint64_t n = made->count, end64 = at + size;
    append(out, made->directory.data, made->directory.size);
    if (made->wide) {
        NUMBERS(out, "48488888", 0x06064b50, 44, 45 | 45 << 16, 0, n, n, size,
                at);
        NUMBERS(out, "4484", 0x07064b50, 0, end64, 1);
    }
    NUMBERS(out, "4422442", 0x06054b50, 0, made->wide ? 65535 : n,
            made->wide ? 65535 : n, made->wide ? UINT32_MAX : size,
            made->wide ? UINT32_MAX : at, 6);
    append(out, "remark", 6);
    bytes_free(&made->directory);
    return *out;
}

/* Raw deflate, by zlib. */
static struct bytes deflated(struct bytes content)
{
    struct bytes out = { 0 };
    z_stream z = { 0 };
    must(bytes_reserve(&out, content.size + 64) &&
         deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    z.next_in = content.data;
    z.avail_in = (uInt)content.size;
    z.next_out = out.data;
    z.avail_out = (uInt)out.capacity;
    must(deflate(&z, Z_FINISH) == Z_STREAM_END);
    out.size = z.total_out;
    deflateEnd(&z);
    return out;
}

/* An NPY of 4 rows of 6 bytes. */
static struct bytes array(void)
{
    static const char text[] =
        "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 6), }";
    struct bytes file = { 0 };
    append(&file, "\x93NUMPY\1\0\x76\0", 10);
    append(&file, text, sizeof text - 1);
    while (file.size < 127)
        append(&file, " ", 1);
    append(&file, "\nabcdefghijklmnopqrstuvwx", 25);
    return file;
}

static struct bytes archive(bool wide)
{
    struct made made = { .wide = wide };
    owned_bytes npy = array(), packed = deflated(npy);
    add(&made, "first.npy", ZIP_STORED, npy, npy);
    add(&made, "text", ZIP_STORED, bytes_of("no array"), bytes_of("no array"));
    add(&made, "packed.npy", ZIP_DEFLATED, packed, npy);
    return end(&made);
}

/* ---- Tests ----------------------------------------------------------------*/

static bool holds(const struct zip_member *m, struct bytes want)
{
    struct err err;
    bool same = true;
    for (unsigned all = 0; all < 2; all++) {
        const size_t n = all || want.size < 8 ? want.size : 8;
        struct bytes got = { 0 };
        same = same && zip_extract(&got, m, all ? SIZE_MAX : 8, &err) == 0 &&
               got.size == n && memcmp(got.data, want.data, n) == 0;
        bytes_free(&got);
    }
    return same;
}

/* Whatever its sizes were written in, an archive is read as the same. */
static void check_members(struct bytes file)
{
    static const char *const names[] = { "first.npy", "text", "packed.npy" };
    owned_bytes npy = array();
    struct zip zip;
    struct err err;
    int status = zip_open(&zip, file, &err);
    CHECK(status == 0 && zip.count == 3, "%s", err.text);
    CHECK(status || (zip.comment.size == 6 &&
                     memcmp(zip.comment.data, "remark", 6) == 0),
          "%zu", zip.comment.size);
    for (size_t i = 0; status == 0 && i < zip.count; i++) {
        const struct zip_member *m = &zip.member[i];
        CHECK(m->name_size == strlen(names[i]) &&
                  memcmp(m->name, names[i], m->name_size) == 0,
              "%.*s", (int)m->name_size, (const char *)m->name);
        CHECK(holds(m, i == 1 ? bytes_of("no array") : npy), "%s", names[i]);
    }
    zip_close(&zip);
}

/* Copied and replaced by the same, members are what they were. */
static void check_rewrite(struct bytes file)
{
    struct bytes out = { 0 }, content;
    struct zip_writer writer = { .file = &out };
    struct zip zip;
    struct err err;
    CHECK(zip_open(&zip, file, &err) == 0, "%s", err.text);
    for (size_t i = 0; i < zip.count; i++)
        CHECK(zip_put(&writer, &zip.member[i], NULL, &err) == 0, "%s",
              err.text);
    CHECK(zip_finish(&writer, zip.comment, &err) == 0, "%s", err.text);
    check_members(out);
    bytes_free(&writer.directory);
    bytes_free(&out);
    writer = (struct zip_writer){ .file = &out };
    for (size_t i = 0; i < zip.count; i++) {
        CHECK(zip_extract(&content, &zip.member[i], SIZE_MAX, &err) == 0, "%s",
              err.text);
        CHECK(zip_put(&writer, &zip.member[i], &content, &err) == 0, "%s",
              err.text);
        bytes_free(&content);
    }
    CHECK(zip_finish(&writer, zip.comment, &err) == 0, "%s", err.text);
    check_members(out);
    bytes_free(&writer.directory);
    bytes_free(&out);
    zip_close(&zip);
}

TEST(read_and_written)
{
    for (int wide = 0; wide < 2; wide++) {
        owned_bytes file = archive(wide);
        check_members(file);
        check_rewrite(file);
    }
}

/* Opens a copy that ends where its memory ends, and reads all of it. */
static bool is_sound(const uint8_t *data, size_t size)
{
    owned_memory uint8_t *copy = malloc(size + !size);
    struct zip zip;
    struct err err = { .text = "" };
    memcpy(copy, data, size);
    int status = zip_open(&zip, (struct bytes){ copy, size, 0 }, &err);
    for (size_t i = 0; i < zip.count && status == 0; i++) {
        struct bytes content;
        if (zip.member[i].size > 1 << 20)
            continue;
        (void)zip_extract(&content, &zip.member[i], 64, &err);
        bytes_free(&content);
        *err.text = '\0';
        status = zip_extract(&content, &zip.member[i], SIZE_MAX, &err);
        bytes_free(&content);
    }
    CHECK(status == 0 || *err.text, "it fails without a word");
    zip_close(&zip);
    return status == 0;
}

/* No byte that is changed does harm, and none of the data goes unnoticed. */
TEST(hostile)
{
    static const uint8_t values[] = { 0, 1, 8, 0x7f, 0x80, 0xff };
    for (int wide = 0; wide < 2; wide++) {
        owned_bytes file = archive(wide);
        CHECK(is_sound(file.data, file.size), "an archive of ours");
        for (size_t cut = 0; cut < file.size; cut++)
            CHECK(!is_sound(file.data, cut), "%zu of %zu", cut, file.size);
        for (size_t at = 0; at < file.size; at++)
            for (size_t i = 0; i < sizeof values; i++) {
                uint8_t was = file.data[at];
                file.data[at] = values[i];
                bool sound = is_sound(file.data, file.size);
                bool data = at >= 120 && at < 120 + 32;
                CHECK(!sound || !data || was == values[i], "at %zu", at);
                file.data[at] = was;
            }
    }
}

/* Others find members by the size of the directory. */
TEST(fewer_than_there_are)
{
    owned_bytes file = archive(false);
    const size_t counts = file.size - 6 - ZIP_END + 8; /* both, of 2 bytes */
    file.data[counts]--;
    file.data[counts + 2]--;
    CHECK(!is_sound(file.data, file.size), "a member is not counted");
}
