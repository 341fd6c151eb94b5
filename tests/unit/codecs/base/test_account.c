/* What a file may cost; and that an encoder ends where the time is over, by a
 * clock that only this test moves. */
#include "codecs/base/account.h"

#include <stdatomic.h>
#include <time.h>

#include "codecs/codec.h"
#include "codecs/npy/zip.h"
#include "tests/support/test.h"

/* Takes the place of the system's: each time somebody looks it is a second
 * later. */
static atomic_int seconds;

int clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    *t = (struct timespec){ .tv_sec = atomic_fetch_add(&seconds, 1) + 1 };
    return 0;
}

/* Returns an account whose time is over when the clock is read for the nth time
 * from now on. */
static struct account account_of_looks(unsigned n)
{
    struct account account = { .work = 0 };
    account_set_time(&account, n);
    return account;
}

TEST(time_is_over_and_stays_so)
{
    struct err err = { .text = "" };
    struct account account = account_of_looks(3);
    CHECK(account_check_time(&account, &err) == 0, "1 of 3");
    CHECK(account_check_time(&account, &err) == 0, "2 of 3");
    for (int i = 0; i < 3; i++)
        CHECK(account_check_time(&account, &err), "3 of 3, and later");
    CHECK(strcmp(err.text,
                 "it takes more than the 3 seconds of --max-seconds") == 0,
          "%s", err.text);
    CHECK(account_spend(&account, 1, &err), "work takes time, too");
    CHECK(account_check_time(NULL, &err) == 0, "no account");
}

TEST(work_is_over_and_stays_so)
{
    struct err err = { .text = "" };
    struct account account = { .work = 0 };
    CHECK(account_spend(&account, UINT64_MAX, &err) == 0, "no limit");
    account_allow_file(&account, 1000);
    const uint64_t work = account.work;
    CHECK(account_spend(&account, work - 1, &err) == 0, "all but one");
    CHECK(account_check_work(&account, 1, &err) == 0, "one is left");
    CHECK(account_check_work(&account, 2, &err), "not two");
    CHECK(account_spend(&account, 2, &err), "one too many");
    CHECK(account_spend(&account, 1, &err), "and from then on");
    account_allow_pixels(&account, 10);
    CHECK(account_spend(&account, 1, &err) == 0, "pixels allow more");
    CHECK(account_spend(NULL, UINT64_MAX, &err) == 0, "no account");
}

TEST(looks)
{
    struct err err;
    struct account account = { .work = 0 };
    CHECK(account_look(UINT64_MAX), "no account");
    account_allow_file(&account, 0);
    struct account *before = account_enter(&account);
    CHECK(before == NULL && account_current() == &account, "it is entered");
    CHECK(account_look(account.work - 1), "all but one");
    CHECK(account_spend(&account, 0, &err) == 0, "one is left");
    CHECK(!account_look(2) && !account_look(0), "and from then on");
    CHECK(account_spend(&account, 0, &err), "a failure");
    account_enter(before);
    CHECK(account_look(1), "no account again");
}

/* ---- Encoders -------------------------------------------------------------*/

static struct image noise(uint32_t width, uint32_t height)
{
    struct image img = { .cell = CELL_U8,
                         .color = COLOR_RGB,
                         .nplanes = 3,
                         .width = width,
                         .height = height,
                         .maxval = 255 };
    struct err err;
    uint64_t state = 1;
    must(image_alloc(&img, mem_plain, &err) == 0);
    for (size_t i = 0; i < img.pixels.rows.size; i++)
        img.pixels.rows.cells[i] = (uint8_t)(test_random(&state) >> 60);
    return img;
}

/* Encodes with an account of more and more looks at the clock, until that is
 * enough. Checks that it was given up before, and the same file in the end. */
static void check_encoder(const char *name, const struct codec *codec,
                          const struct image *img, int effort, unsigned least)
{
    struct warnings warnings = { 0 };
    struct save_opts save = { .suffix = name,
                              .effort = effort,
                              .warnings = &warnings };
    struct bytes want = { 0 }, got = { 0 };
    struct err err = { .text = "" };
    must(codec->encode(&want, img, &save, &err) == 0);
    unsigned looks = 0;
    for (int status = -1; status && looks < 10000;) {
        struct account account = account_of_looks(++looks);
        save.account = &account;
        bytes_free(&got);
        status = codec->encode(&got, img, &save, &err);
        if (status && !strstr(err.text, "--max-seconds"))
            CHECK(false, "%s, %u: %s", name, looks, err.text);
    }
    CHECK(looks > least, "%s: %u looks", name, looks);
    CHECK(got.size == want.size && memcmp(got.data, want.data, got.size) == 0,
          "%s: %zu bytes, not %zu", name, got.size, want.size);
    bytes_free(&got);
    bytes_free(&want);
}

TEST(png_is_given_up_between_bands)
{
    struct image img = noise(1024, 1024); /* 3 MiB: 6 bands, or 3 large ones */
    check_encoder("stored", &codec_png, &img, 1 + 0, 6);
    check_encoder("fast", &codec_png, &img, 1 + LEVEL_FAST, 6);
    check_encoder("default", &codec_png, &img, 1 + LEVEL_DEFAULT, 6);
    image_free(&img);
    img = noise(512, 1024);
    check_encoder("small", &codec_png, &img, 1 + LEVEL_SMALL, 3);
    image_free(&img);
}

TEST(interlaced_png_is_given_up_between_rows)
{
    owned_image img = noise(64, 100);
    img.meta = codec_new_meta(&codec_png);
    must(img.meta);
    img.meta->interlaced = true;
    /* Of seven passes, each of some rows. */
    check_encoder("adam7", &codec_png, &img, 0,
                  13 + 13 + 12 + 25 + 25 + 50 + 50);
}

TEST(jpeg_is_given_up_between_steps)
{
    owned_image img = noise(256, 256);
    check_encoder("jpeg", &codec_jpeg, &img, 0, 1);
}

TEST(archive_is_given_up_between_bands)
{
    static uint8_t content[(5 << 20) + 1];
    static const uint8_t header[ZIP_ENTRY] = { 0 };
    const struct zip_member member = {
        .method = ZIP_DEFLATED, .name = header, .entry = header, .local = header
    };
    unsigned looks = 0;
    for (int status = -1; status && looks < 100;) {
        owned_bytes file = { 0 };
        struct err err = { .text = "" };
        const struct account account = account_of_looks(++looks);
        struct zip_writer writer = { .file = &file, .account = &account };
        status = zip_put(
            &writer, &member,
            &(struct bytes){ .data = content, .size = sizeof content }, &err);
        if (status)
            CHECK(strstr(err.text, "--max-seconds"), "%u: %s", looks, err.text);
        bytes_free(&writer.directory);
    }
    CHECK(looks > 6, "%u looks", looks);
}
