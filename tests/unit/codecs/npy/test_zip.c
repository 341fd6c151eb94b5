/* Damaged ZIP archives do no harm. Sound ones are turned by
 * tests/support/arrays.py. */
#include "codecs/npy/zip.h"

#include "tests/support/fixture.h"

/* An array that is stored, a text, and the array deflated; in a wide archive
 * the sizes and places stand in fields of ZIP64. */
static struct bytes archive(bool wide)
{
    static const char *const names[] = { "plain", "wide" };
    char name[64];
    struct bytes file = { 0 };
    snprintf(name, sizeof name, "tests/unit/codecs/npy/%s.npz", names[wide]);
    FILE *from = fopen(name, "rb");
    must(from && bytes_reserve(&file, 1000));
    file.size = fread(file.data, 1, 1000, from);
    fclose(from);
    return file;
}

/* Opens a copy that ends where its memory ends, and reads all of it. */
static bool is_sound(const uint8_t *data, size_t size)
{
    owned_bytes copy = copied(data, size);
    struct zip zip;
    struct err err = { .text = "" };
    int status = zip_open(&zip, copy, &err);
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
