/* What a file may cost; and that an encoder ends where the time is over, by a
 * clock that only this test moves. */
#include "codecs/image/budget.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "codecs/codec.h"
#include "codecs/npy/zip.h"
#include "tests/support/must.h"
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

/* Begins a budget that is over when the clock is read for the nth time from now
 * on. */
static struct budget budget_of_looks(unsigned n)
{
    struct budget budget;
    budget_begin(&budget, 0, n);
    return budget;
}

TEST(time_is_over_and_stays_so)
{
    struct err err = { .text = "" };
    struct budget budget = budget_of_looks(3), shared;
    CHECK(budget_check_time(&budget, &err) == 0, "1 of 3");
    CHECK(budget_check_time(&budget, &err) == 0, "2 of 3");
    for (int i = 0; i < 3; i++)
        CHECK(budget_check_time(&budget, &err), "3 of 3, and later");
    CHECK(strcmp(err.text,
                 "it takes more than the 3 seconds of --max-seconds") == 0,
          "%s", err.text);
    CHECK(budget_spend(&budget, 1, &err), "work takes time, too");
    budget_begin(&shared, 0, 0);
    CHECK(budget_check_time(&shared, &err) == 0, "no end");
    budget_share_time(&shared, &budget);
    CHECK(budget_check_time(&shared, &err), "a shared end");
    CHECK(budget_check_time(NULL, &err) == 0, "no budget");
}

TEST(work_is_over_and_stays_so)
{
    struct err err = { .text = "" };
    struct budget budget;
    budget_begin(&budget, 1000, 0);
    const uint64_t work = budget.work;
    CHECK(budget_spend(&budget, work - 1, &err) == 0, "all but one");
    CHECK(budget_spend(&budget, 2, &err), "one too many");
    CHECK(budget_spend(&budget, 1, &err), "and from then on");
    budget_allow_pixels(&budget, 10);
    CHECK(budget_spend(&budget, 1, &err) == 0, "pixels allow more");
    CHECK(budget_spend(NULL, UINT64_MAX, &err) == 0, "no budget");
}

TEST(looks)
{
    struct err err;
    struct budget budget;
    CHECK(budget_look(UINT64_MAX), "no budget");
    budget_begin(&budget, 0, 0);
    struct budget *before = budget_enter(&budget);
    struct budget *same = budget_enter(NULL);
    CHECK(before == NULL && same == &budget, "as before");
    CHECK(budget_look(budget.work - 1), "all but one");
    CHECK(budget_spend(&budget, 0, &err) == 0, "one is left");
    CHECK(!budget_look(2) && !budget_look(0), "and from then on");
    CHECK(budget_spend(&budget, 0, &err), "a failure");
    budget_leave(before);
    CHECK(budget_look(1), "no budget again");
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
    for (size_t i = 0; i < img.size; i++)
        img.cells[i] = (uint8_t)(test_random(&state) >> 60);
    return img;
}

/* Encodes with a budget of more and more looks at the clock, until that is
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
        struct budget budget = budget_of_looks(++looks);
        save.budget = &budget;
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
    struct image img = noise(64, 100);
    img.meta = codec_new_meta(&codec_png);
    must(img.meta);
    img.meta->interlaced = true;
    /* Of seven passes, each of some rows. */
    check_encoder("adam7", &codec_png, &img, 0,
                  13 + 13 + 12 + 25 + 25 + 50 + 50);
    image_free(&img);
}

TEST(jpeg_is_given_up_between_steps)
{
    struct image img = noise(256, 256);
    check_encoder("jpeg", &codec_jpeg, &img, 0, 1);
    image_free(&img);
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
        struct bytes file = { 0 };
        struct err err = { .text = "" };
        const struct budget budget = budget_of_looks(++looks);
        struct zip_writer writer = { .file = &file, .budget = &budget };
        status = zip_replace(
            &writer, &member,
            (struct bytes){ .data = content, .size = sizeof content }, &err);
        if (status)
            CHECK(strstr(err.text, "--max-seconds"), "%u: %s", looks, err.text);
        zip_abandon(&writer);
        bytes_free(&file);
    }
    CHECK(looks > 6, "%u looks", looks);
}
