/* Damaged, forged and oversized PNG files are refused with a reason, without
 * the memory that they ask for. */

#include <sys/resource.h>
#include <zlib.h>

#include "tests/support/fixture.h"
#include "tests/support/metadata.h"
#include "tests/support/png_file.h"

static const struct shape shape = { 13, 9, 8, RGB, false };

/* Decodes, and if that works encodes. Returns whether it was accepted. */
static bool accepts(struct fixture *f, struct bytes file)
{
    if (fixture_decode(f, file)) {
        CHECK(*f->err.text, "it is refused without a reason");
        CHECK(!f->img.pixels.kind && !f->img.meta, "something is left of it");
        return false;
    }
    fixture_write(f);
    image_free(&f->img);
    return true;
}

/* Frees the file. */
static void refuses(const char *name, struct bytes file, const char *words)
{
    owned_fixture *f = fixture_new(&codec_png);
    test_case("%s", name);
    CHECK(!accepts(f, file), "it is accepted");
    CHECK(strstr(f->err.text, words), "%s", f->err.text);
    f->load.tolerant = f->load.portable = true;
    accepts(f, file);
    bytes_free(&file);
}

/* ---- Any byte -------------------------------------------------------------*/

static struct bytes make_small(void)
{
    struct shape s = { 5, 4, 2, PALETTE, true };
    struct bytes file = { 0 };
    add_head(&file, &s);
    add_chunk(&file, "gAMA", "\0\0\xb1\x8f", 4);
    add_palette(&file, 4);
    add_chunk(&file, "tRNS", "\1\2", 2);
    add_chunk(&file, "zTXt", "Comment\0\0x", 10);
    add_pixels(&file, &s, FILTER_ALL, 15);
    add_chunk(&file, "tEXt", "a\0b", 3);
    add_end(&file);
    return file;
}

/* Every byte is guarded: by the signature, or by a CRC. */
TEST(flips)
{
    static const uint8_t flips[] = { 0x01, 0x20, 0x80, 0xff };
    owned_bytes file = make_small();
    owned_fixture *f = fixture_new(&codec_png);
    CHECK(accepts(f, file), "%s", f->err.text);
    for (size_t at = 0; at < file.size; at++)
        for (size_t i = 0; i < sizeof flips; i++) {
            file.data[at] ^= flips[i];
            f->load.tolerant = false;
            CHECK(!accepts(f, file), "%02x at %zu", flips[i], at);
            f->load.tolerant = f->load.portable = true;
            accepts(f, file);
            f->load.portable = false;
            file.data[at] ^= flips[i];
        }
}

/* The same with correct CRCs: the file may be accepted, but must not take more
 * memory than its IHDR needs: at most once again, if libpng has to look what is
 * wrong. */
TEST(forged)
{
    owned_bytes file = make_small();
    uint64_t seed = 1;
    for (int round = 0; round < 3000; round++) {
        owned_bytes copy = copied(file.data, file.size);
        struct counted counted = { 0 };
        owned_fixture *f = fixture_new(&codec_png);
        size_t at = 8 + test_random(&seed) % (file.size - 8);
        copy.data[at] = (uint8_t)test_random(&seed);
        for (size_t c = 8; copy.size - c >= 12;) {
            size_t size = read_be32(copy.data + c);
            if (size > copy.size - c - 12)
                break;
            uLong crc = crc32(0, copy.data + c + 4, (uInt)size + 4);
            for (int i = 0; i < 4; i++)
                copy.data[c + 8 + size + (size_t)i] =
                    (uint8_t)(crc >> (24 - 8 * i));
            c += 12 + size;
        }
        f->load.mem = counted_memory(&counted);
        f->load.tolerant = round % 2;
        f->load.portable = round % 4 / 2;
        accepts(f, copy);
        CHECK(counted.calls <= 2 && counted.freed == counted.calls, "%zu",
              counted.calls);
        CHECK(counted.bytes <= small_limits.bytes, "%zu", counted.bytes);
    }
}

/* ---- Against the words of the standard ------------------------------------*/

static void add_raw_head(struct bytes *file, uint32_t width, uint32_t height,
                         const void *rest)
{
    owned_bytes head = { 0 };
    must(bytes_append(file, "\x89PNG\r\n\x1a\n", 8));
    add_big(&head, width, 4);
    add_big(&head, height, 4);
    must(bytes_append(&head, rest, 5));
    add_chunk(file, "IHDR", head.data, head.size);
}

TEST(heads)
{
    static const struct {
        const char *name;
        uint32_t width, height;
        uint8_t rest[5];
        const char *words;
    } heads[] = {
        { "no columns", 0, 9, { 8, 2, 0, 0, 0 }, "" },
        { "no rows", 13, 0, { 8, 2, 0, 0, 0 }, "" },
        { "3 bits", 13, 9, { 3, 0, 0, 0, 0 }, "" },
        { "4 bits of RGB", 13, 9, { 4, 2, 0, 0, 0 }, "" },
        { "a palette of 16 bits", 13, 9, { 16, 3, 0, 0, 0 }, "" },
        { "color type 5", 13, 9, { 8, 5, 0, 0, 0 }, "" },
        { "compression 1", 13, 9, { 8, 2, 1, 0, 0 }, "" },
        { "filter method 1", 13, 9, { 8, 2, 0, 1, 0 }, "" },
        { "interlace 2", 13, 9, { 8, 2, 0, 0, 2 }, "" },
        { "2^31 columns", 0x80000000u, 9, { 8, 2, 0, 0, 0 }, "" },
        { "2^32-1 rows", 13, 0xffffffffu, { 8, 2, 0, 0, 0 }, "" },
        { "more rows than data", 13, 900, { 8, 2, 0, 0, 0 }, "" },
        { "all at once", 0x7fffffff, 0x7fffffff, { 16, 6, 0, 0, 1 }, "" },
        { "60000 rows", 60000, 60000, { 1, 0, 0, 0, 1 }, "cut short" },
    };
    for (size_t i = 0; i < COUNT(heads); i++) {
        struct bytes file = { 0 };
        struct counted counted = { 0 };
        owned_fixture *f = fixture_new(&codec_png);
        add_raw_head(&file, heads[i].width, heads[i].height, heads[i].rest);
        add_palette(&file, 2);
        if (i != 2 && heads[i].rest[1] != 2)
            file.size -= 3 * 2 + 12; /* only colors may have a palette */
        add_pixels(&file, &shape, 0, SIZE_MAX);
        add_end(&file);
        f->load.mem = counted_memory(&counted);
        f->load.tolerant = true;
        if (!accepts(f, file))
            CHECK(counted.calls == 0, "%s: memory is taken", heads[i].name);
        refuses(heads[i].name, file, heads[i].words);
    }
}

/* A file of the pieces that the letters name. */
static struct bytes compose(const char *pieces)
{
    static const struct {
        char letter;
        const char *name, *data;
        size_t size;
    } chunks[] = { { 'i', "IDAT", "x", 1 },
                   { 't', "tEXt", "a\0b", 3 },
                   { 'a', "acTL", "\0\0\0\2\0\0\0\0", 8 },
                   { 'C', "CrIt", "critical", 8 },
                   { '!', "te!t", "no name", 7 } };
    struct bytes file = { 0 }, head = { 0 };
    add_head(&head, &shape);
    must(bytes_append(&file, head.data, 8));
    for (; *pieces; pieces++)
        switch (*pieces) {
        case 'H':
            must(bytes_append(&file, head.data + 8, head.size - 8));
            break;
        case 'P':
            add_palette(&file, 5);
            break;
        case 'I':
            add_pixels(&file, &shape, 1, 80);
            break;
        case 'E':
            add_end(&file);
            break;
        default:
            for (size_t i = 0; i < COUNT(chunks); i++)
                if (chunks[i].letter == *pieces)
                    add_chunk(&file, chunks[i].name, chunks[i].data,
                              chunks[i].size);
        }
    bytes_free(&head);
    return file;
}

TEST(order)
{
    static const struct {
        const char *pieces, *words;
    } orders[] = {
        { "PHIE", "" },
        { "IHE", "" },
        { "HHIE", "" },
        { "HE", "" },
        { "HPPIE", "" },
        { "HIPE", "" },
        { "HtiIE", "" },
        { "HItiE", "" },
        { "tHIE", "missing IHDR" },
        { "tHPItE", "missing IHDR" },
        { "HI", "cut short" },
        { "H", "cut short" },
        { "", "cut short" },
        { "HaIE", "acTL says that there are 2 frames" },
        { "HPaIE", "acTL says that there are 2 frames" },
        { "HIaE", "acTL stands behind the image data" },
        { "HCIE", "unknown critical chunk CrIt" },
        { "H!IE", "" },
        { "HICE", "unknown critical chunk CrIt" },
    };
    owned_fixture *f = fixture_new(&codec_png);
    owned_bytes good = compose("HtPtItE");
    CHECK(accepts(f, good), "%s", f->err.text);
    for (size_t i = 0; i < COUNT(orders); i++)
        refuses(orders[i].pieces, compose(orders[i].pieces), orders[i].words);
}

/* ---- Memory ---------------------------------------------------------------*/

static long resident_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* A chunk that says it is longer than the file. Of IDAT, some versions of
 * libpng see that when they come to its end: then there are the rows of the
 * picture.
 */
TEST(lengths)
{
    static const char names[][5] = { "tEXt", "zTXt", "iTXt", "sPLT", "pCAL",
                                     "sCAL", "iCCP", "eXIf", "tRNS", "PLTE",
                                     "abCd", "abCD", "IDAT", "IEND", "bKGD",
                                     "hIST", "acTL", "CrIt" };
    static const uint32_t lengths[] = { 1u << 30, 0x7fffffff, 0x80000000u,
                                        0xffffffffu, 100 };
    const size_t rows = 256 * 3 * 9; /* of the picture, padded */
    long before = resident_kib();
    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t j = 0; j < COUNT(lengths); j++) {
            owned_bytes file = { 0 };
            struct counted counted = { 0 };
            owned_fixture *f = fixture_new(&codec_png);
            add_head(&file, &shape);
            add_big(&file, lengths[j], 4);
            must(bytes_append(&file, names[i], 4) &&
                 bytes_append(&file, "some bytes of it", 16));
            f->load.mem = counted_memory(&counted);
            CHECK(!accepts(f, file), "%s of %u", names[i], lengths[j]);
            CHECK(counted.bytes <= (strcmp(names[i], "IDAT") == 0 ? rows : 0),
                  "%s of %u: memory is taken", names[i], lengths[j]);
            f->load.tolerant = f->load.portable = true;
            accepts(f, file);
        }
    long grown = resident_kib() - before;
    CHECK(grown < 64 << 10, "%ld KiB more are resident", grown);
}
