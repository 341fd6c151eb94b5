/* The list of pictures in MPF is turned and corrected, and a list that makes no
 * sense does no harm. */
#include "codecs/metadata/tiff.h"

#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/metadata.h"

static void add_number(struct bytes *to, bool big, uint32_t value, unsigned n)
{
    (big ? add_big : add_little)(to, value, n);
}

static void add_field(struct bytes *to, bool big, unsigned tag, unsigned type,
                      uint32_t count, uint32_t value)
{
    add_number(to, big, tag, 2);
    add_number(to, big, type, 2);
    add_number(to, big, count, 4);
    add_number(to, big, value, 4);
}

/* Where things lie in the block. */
enum {
    BLOCK_LIST = 8 + 2 + 3 * 12 + 4,
    BLOCK_THIRD = BLOCK_LIST + 2 * 16, /* room for one more */
    BLOCK_SIZE = BLOCK_THIRD + 16,
};

/* A list of two. */
static struct bytes make_block(bool big, struct mpf_entry second)
{
    struct bytes b = { 0 };
    must(bytes_append(&b, big ? "MM\0*" : "II*", 4));
    add_number(&b, big, 8, 4);
    add_number(&b, big, 3, 2);
    add_field(&b, big, 0xb000, 7, 4, 0x30303130);
    add_field(&b, big, 0xb001, 4, 1, 2);
    add_field(&b, big, 0xb002, 7, 2 * 16, BLOCK_LIST);
    add_number(&b, big, 0, 4);
    for (unsigned i = 0; i < 2; i++) {
        add_number(&b, big, i && second.preview ? 0x010002 : 0x020002, 4);
        add_number(&b, big, i ? second.size : 1234, 4);
        add_number(&b, big, i ? second.offset : 0, 4);
        add_number(&b, big, 0, 4);
    }
    for (int i = 0; i < 4; i++)
        add_number(&b, big, 0, 4);
    must(b.size == BLOCK_SIZE);
    return b;
}

TEST(list)
{
    for (unsigned i = 0; i < 4; i++) {
        struct mpf_entry second = { 77, 0x12345678, i & 1 };
        owned_bytes b = make_block(i & 2, second);
        struct mpf mpf;
        CHECK(mpf_open(&mpf, b.data, b.size) && mpf.count == 2, "a list");
        struct mpf_entry first = mpf_get(&mpf, 0);
        struct mpf_entry entry = mpf_get(&mpf, 1);
        CHECK(first.size == 1234 && first.offset == 0, "the first");
        CHECK(entry.size == 77 && entry.offset == 0x12345678, "the second");
        CHECK(entry.preview == (i & 1), "its type");
        entry.size = 0x87654321;
        entry.offset = 5;
        mpf_put(&mpf, b.data, 1, entry);
        owned_bytes expected = make_block(i & 2, entry);
        CHECK(!memcmp(b.data, expected.data, b.size), "only that has changed");
    }
}

/* All announced entries lie within the block. */
static void look(const uint8_t *data, size_t size)
{
    struct mpf mpf;
    owned_bytes block = copied(data, size);
    bool open = mpf_open(&mpf, block.data, size);
    CHECK(open == (mpf.count > 0), "a list or none");
    CHECK(mpf.count <= size / 16, "%zu in %zu bytes", mpf.count, size);
    for (size_t i = 0; i < mpf.count; i++)
        mpf_put(&mpf, block.data, i, mpf_get(&mpf, i));
}

TEST(hostile_list)
{
    static const uint32_t numbers[] = { 0,          1,          7,         8,
                                        0x7fffffff, 0xfffffff0, 0xffffffff };
    for (unsigned big = 0; big < 2; big++) {
        owned_bytes b = make_block(big, (struct mpf_entry){ 0 });
        for (size_t size = 0; size <= b.size; size++)
            look(b.data, size);
        for (size_t at = 0; at + 4 <= b.size; at++)
            for (size_t i = 0; i < COUNT(numbers) + b.size; i++) {
                uint8_t old[4];
                owned_bytes number = { 0 };
                size_t k = i < b.size ? 7 : i - b.size;
                add_number(&number, big,
                           i < b.size ? (uint32_t)i : numbers[k % 7], 4);
                memcpy(old, b.data + at, 4);
                memcpy(b.data + at, number.data, 4);
                look(b.data, b.size);
                memcpy(b.data + at, old, 4);
            }
    }
}

/* ---- In files -------------------------------------------------------------*/

static const struct coding first_coding = { 48, 32, JCS_YCbCr, .h = 2, .v = 2 };
static const struct coding second_coding = { 24, 16, JCS_GRAYSCALE, .h = 1 };

/* A picture, one behind it, and a few bytes; the block begins at *at. */
static struct bytes make_file(size_t *at, struct bytes *second)
{
    struct bytes file = make_jpeg(&first_coding), data = { 0 };
    struct mpf_entry entry = { 0 };
    *second = make_jpeg(&second_coding);
    *at = 2 + 4 + 4;
    entry.size = (uint32_t)second->size;
    entry.offset = (uint32_t)(file.size + 4 + 4 + BLOCK_SIZE - *at);
    owned_bytes block = make_block(true, entry);
    must(bytes_append(&data, "MPF", 4) &&
         bytes_append(&data, block.data, block.size));
    add_segment(&file, NULL, 0xe2, data.data, data.size);
    must(bytes_append(&file, second->data, second->size) &&
         bytes_append(&file, "some more", 9));
    bytes_free(&data);
    return file;
}

static bool ends_with(struct bytes file, const void *end, size_t size)
{
    return file.size >= size &&
           !memcmp(file.data + file.size - size, end, size);
}

/* Whatever the list says, the file comes out with all that was in it: what is
 * not turned stays byte for byte. */
TEST(hostile_file)
{
    struct bytes second;
    size_t at;
    owned_bytes file = make_file(&at, &second);
    for (size_t i = 0; i < BLOCK_SIZE; i++)
        for (unsigned k = 0; k < 4; k++) {
            static const uint8_t bytes[] = { 0, 1, 0x7f, 0xff };
            struct warnings warnings = { 0 };
            uint8_t old = file.data[at + i];
            file.data[at + i] = bytes[k];
            owned_bytes made = turn_jpeg(file, XFORM_TRANSPOSE, &warnings);
            CHECK(ends_with(made, "some more", 9), "the end");
            if (is_warned(&warnings, "not turned"))
                CHECK(ends_with(made, file.data + file.size - second.size - 9,
                                second.size + 9),
                      "byte %zu: it stays", i);
            file.data[at + i] = old;
        }
    bytes_free(&second);
}

/* Pictures that overlap, or are listed in another order than they stand in, are
 * kept unchanged. */
TEST(overlap)
{
    for (unsigned order = 0; order < 2; order++) {
        struct bytes second;
        struct warnings warnings = { 0 };
        struct mpf mpf;
        size_t at;
        owned_bytes file = make_file(&at, &second);
        must(mpf_open(&mpf, file.data + at, BLOCK_SIZE));
        struct mpf_entry entry = mpf_get(&mpf, 1), behind = entry;
        /* A list of three: what follows it is the third. */
        uint8_t *third = file.data + at + BLOCK_THIRD;
        file.data[at + 8 + 2 + 2 * 12 + 7] = 3 * 16;
        memset(third, 0, 16);
        mpf.count = 3;
        behind.offset += entry.size;
        behind.size = 9;
        entry.size -= !order;
        mpf_put(&mpf, file.data + at, 2, entry);
        if (order)
            mpf_put(&mpf, file.data + at, 1, behind);
        owned_bytes made = turn_jpeg(file, XFORM_MIRROR_X, &warnings);
        CHECK(is_warned(&warnings, "overlap"), "a warning");
        CHECK(ends_with(made, file.data + file.size - second.size - 9,
                        second.size + 9),
              "it stays");
        bytes_free(&second);
    }
}
