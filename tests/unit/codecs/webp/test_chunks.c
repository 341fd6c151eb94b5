/* A WebP of many frames, with a chunk behind each, takes work as its chunks
 * are many, and not as their square; and where that is too much it is said. */

#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"
#include "tests/support/fixture.h"

enum { LOSSLESS = 26 };

/* A picture of one pixel. */
static const char lossless[LOSSLESS + 1] =
    "VP8L\x11\0\0\0\x2f\0\0\0\0\x07\x50\x8a\x2a\xd4\xa3\xff\x81\x88\xe8\x7f\0";

static void put(struct bytes *file, const void *data, size_t size)
{
    if (!bytes_append(file, data, size))
        CHECK(false, "no memory");
}

static struct bytes make_file(unsigned frames)
{
    struct bytes file = { 0 };
    put(&file, "RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\2\0\0\0\0\0\0\0\0\0", 30);
    put(&file, "ANIM\6\0\0\0\0\0\0\0\0\0", 14);
    for (unsigned i = 0; i < frames; i++) {
        put(&file, "ANMF\x2a\0\0\0", 8);
        put(&file, (const uint8_t[16]){ 0 }, 16);
        put(&file, lossless, LOSSLESS);
        put(&file, "mine\2\0\0\0ab", 10);
    }
    write_le32(file.data + 4, (uint32_t)file.size - 8);
    return file;
}

/* Turns such a file, and counts what was looked at in its metadata. */
static int turn(struct account *account, const struct codec *webp,
                unsigned frames, struct err *err)
{
    const struct turner turner = { .turn = turn_cells, .tile = 4096 };
    struct warnings warnings = { 0 };
    const struct save_opts save = { .orientation = 1,
                                    .turner = &turner,
                                    .warnings = &warnings };
    const struct load_opts load = {
        .limits = { .pixels = 1 << 20, .bytes = 1 << 30, .account = account },
        .mem = mem_plain,
        .save = &save,
        .warnings = &warnings,
    };
    owned_bytes file = make_file(frames), made = { 0 };
    struct image img = { 0 };
    struct account *before = account_enter(account);
    const int status =
        webp->turn(&made, &img, file, XFORM_ROTATE_90, &load, err);
    account_enter(before);
    CHECK(status || made.size >= file.size, "%zu of %zu bytes", made.size,
          file.size);
    return status;
}

static uint64_t work_of(const struct codec *webp, unsigned frames)
{
    struct account account = { .work = UINT64_MAX };
    struct err err;
    if (turn(&account, webp, frames, &err))
        CHECK(false, "%s", err.text);
    return account.spent;
}

TEST(work_is_linear)
{
    const struct codec *webp = codec_by_name("webp");
    if (!webp) {
        test_skip("gimgxf is built without WebP");
        return;
    }
    const uint64_t few = work_of(webp, 100), many = work_of(webp, 3200);
    CHECK(few > 0 && many <= 32 * few, "%llu, and of 32 times as many: %llu",
          (unsigned long long)few, (unsigned long long)many);
}

TEST(too_much_work_is_said)
{
    const struct codec *webp = codec_by_name("webp");
    struct account account = { .work = 1000 };
    struct err err = { .text = "" };
    if (!webp) {
        test_skip("gimgxf is built without WebP");
        return;
    }
    const int status = turn(&account, webp, 100, &err);
    CHECK(status && !err.memory && strstr(err.text, "more work"), "%d: %s",
          status, err.text);
}
