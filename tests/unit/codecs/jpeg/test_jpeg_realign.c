/* JPEG files of which some components are not whole blocks along an axis that
 * runs backwards: those are computed anew, all others only move. */
#include <math.h>

#include "codecs/base/thread_pool.h"
#include "codecs/jpeg/arithmetic.h"
#include "codecs/jpeg/dct.h"
#include "codecs/jpeg/samples.h"
#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"

/* ---- The transform -------------------------------------------------------*/

static uint8_t noise_at(uint32_t x, uint32_t y, unsigned contrast)
{
    uint32_t n = (x + 7919 * y + 31 * contrast) * 0x9e3779b1;
    n ^= n >> 15;
    n *= 0x85ebca77;
    int value = 128 + ((int)((n ^ n >> 13) & 255) - 128) * (int)contrast / 100;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void noise_row(uint8_t *row, uint32_t y, const struct coding *coding,
                      const void *context)
{
    for (uint32_t x = 0; x < coding->width; x++)
        row[x] = noise_at(x, y, *(const unsigned *)context);
}

/* Both ways are libjpeg's, bit for bit. */
static void check_transform(int quality, unsigned contrast)
{
    struct coding coding = { 256, 64, JCS_GRAYSCALE, .quality = quality };
    owned_bytes file = make_jpeg_of(&coding, noise_row, &contrast);
    owned_decoded is = libjpeg_decode(file, JCS_GRAYSCALE);
    owned_image img = read_jpeg_as(file, REPRESENTATION_COEFFICIENTS, NULL);
    struct dct_rounding rounding = { .least = { 0 } };
    unsigned wrong = 0;
    jpeg_steps(file, rounding.step);
    for (uint32_t y = 0; y < 8; y++)
        for (uint32_t x = 0; x < 32; x++) {
            const int16_t *want =
                (const int16_t *)plane_row(&img.plane[0], y) + 64 * x;
            uint8_t from[64], to[64];
            int16_t coefficient[64];
            for (uint32_t i = 0; i < 64; i++)
                from[i] = noise_at(8 * x + i % 8, 8 * y + i / 8, contrast);
            dct_forward(coefficient, from, 8, &rounding);
            wrong += memcmp(coefficient, want, sizeof coefficient) != 0;
            dct_inverse(to, 8, want, rounding.step);
            for (uint32_t i = 0; i < 64; i++)
                wrong +=
                    to[i] != decoded_at(&is, 0, 8 * x + i % 8, 8 * y + i / 8);
        }
    CHECK(wrong == 0, "quality %d, contrast %u: %u differences", quality,
          contrast, wrong);
}

TEST(transform)
{
    static const int qualities[] = { 5, 30, 50, 75, 90, 98, 100 };
    for (size_t i = 0; i < COUNT(qualities); i++) {
        check_transform(qualities[i], 15);
        check_transform(qualities[i], 100);
        check_transform(qualities[i], 900);
    }
}

/* Small coefficients become zero, and no others change. */
TEST(dead_zone)
{
    struct dct_rounding plain = { .least = { 0 } }, rounding = plain;
    uint8_t from[64];
    int16_t is[64], want[64], fine[64];
    struct dct_rounding units = plain;
    unsigned zeros = 0;
    for (uint32_t i = 0; i < 64; i++) {
        from[i] = noise_at(i % 8, i / 8, 60);
        plain.step[i] = rounding.step[i] = (uint16_t)(10 + i);
        units.step[i] = 1;
        rounding.least[i] = 8 * (int32_t)(7 + i);
    }
    dct_forward(want, from, 8, &plain);
    dct_forward(is, from, 8, &rounding);
    dct_forward(fine, from, 8, &units);
    for (int i = 0; i < 64; i++) {
        zeros += is[i] != want[i];
        CHECK(is[i] == want[i] || (is[i] == 0 && abs(fine[i]) <= 7 + i),
              "%d: %d, not %d", i, is[i], want[i]);
    }
    CHECK(zeros > 0, "it does nothing");
}

/* What rounding changes, one coefficient at a time; also by the longest steps.
 */
TEST(rounding_error)
{
    for (uint32_t n = 0; n < 200; n++) {
        uint16_t step[64];
        uint8_t from[64];
        int16_t units[64], is[64];
        uint64_t error = 0;
        unsigned wrong = 0;
        for (uint32_t i = 0; i < 64; i++) {
            step[i] = (uint16_t)(n % 9 == 0   ? 1
                                 : n % 9 == 1 ? 1 + noise_at(i, n, 900) * 256u
                                              : 1 + noise_at(i, n, 900) / 4u);
            from[i] = noise_at(i + 64, n, n % 5 * 250);
        }
        const struct dct_rounding rounding = samples_rounding(step, n % 2);
        dct_forward(units, from, 8, NULL);
        dct_forward(is, from, 8, &rounding);
        for (uint32_t i = 0; i < 64; i++) {
            int32_t least = n % 2 ? requantize_least(i, step[i]) : 0;
            wrong += is[i] != dct_quantize(units[i], step[i], least);
            error += requantize_error(units[i], step[i], least);
        }
        CHECK(wrong == 0, "%u coefficients differ", wrong);
        CHECK(error == dct_rounding_error(units, &rounding), "%u", n);
    }
}

/* A cap is found that keeps the error below its limit, no finer than need be;
 * steps that lose little stay. */
TEST(cap)
{
    static uint8_t cells[256 * 256];
    struct plane plane = { cells, 256, 250, 253 };
    uint16_t step[64];
    for (uint32_t k = 0; k < 64; k++)
        step[k] = (uint16_t)(8 + 2 * k);
    CHECK(samples_find_cap(&plane, step, 0) == 8 + 2 * 63, "flat");
    for (uint32_t i = 0; i < sizeof cells; i++)
        cells[i] = noise_at(i % 256, i / 256, 100);
    unsigned luma = samples_find_cap(&plane, step, 0),
             chroma = samples_find_cap(&plane, step, 1);
    CHECK(luma > 5 && luma < 12, "luma: %u", luma);
    CHECK(chroma >= 5 && chroma < luma, "chroma: %u", chroma);
    for (uint32_t k = 0; k < 64; k++)
        step[k] = 5;
    CHECK(samples_find_cap(&plane, step, 1) == 5, "fine steps stay");
}

/* ---- Turning -------------------------------------------------------------*/

/* YCbCr as cameras sample it, and other spaces. */
static const struct coding others[] = {
    { .space = JCS_GRAYSCALE },
    { .space = JCS_CMYK, .h = 2, .v = 2, .others = { { 1, 2 }, { 2, 1 } } },
    { .space = JCS_YCCK,
      .h = 2,
      .v = 2,
      .others = { { 1, 1 }, { 1, 1 }, { 2, 2 } } },
};
enum { SAMPLINGS = CAMERA_SAMPLINGS + COUNT(others), KINDS = 5 };

static struct coding coding_of(unsigned sampling, unsigned kind, uint32_t width,
                               uint32_t height)
{
    struct coding coding = sampling < CAMERA_SAMPLINGS
                               ? sampled(sampling, width, height)
                               : others[sampling - CAMERA_SAMPLINGS];
    coding = sized(coding, width, height);
    coding.quality = 90;
    coding.standard = kind == 0;
    coding.progressive = kind == 1;
    coding.arithmetic = kind == 2;
    coding.restart = kind == 3 ? 3 : 0;
    if (kind == 4 && coding.space == JCS_YCbCr) {
        coding.scan = jpeg_scans_apart;
        coding.scans = 2;
    }
    return coding;
}

/* How it is turned: while it is written or before that, on how many threads. */
struct way {
    bool fused;
    struct thread_pool *pool;
};

static struct bytes turned(struct bytes file, enum xform t,
                           const struct way *way)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    f->load.pool = f->save.pool = way->pool;
    f->plan = (struct decode_plan){ .representation = REPRESENTATION_REALIGNED,
                                    .turn = t };
    f->plan.turner = way->fused ? &turner_of_cells : NULL;
    return fixture_turned(f, file);
}

/* Decibels between the samples of a component and those of the turned one. */
static double psnr(enum xform t, const struct plane *from,
                   const struct plane *to)
{
    double sum = 0;
    for (uint32_t y = 0; y < to->height; y++)
        for (uint32_t x = 0; x < to->width; x++) {
            uint32_t sx, sy;
            turn_source(t, from->width, from->height, x, y, &sx, &sy);
            double off = (double)((uint8_t *)plane_row(from, sy))[sx] -
                         ((uint8_t *)plane_row(to, y))[x];
            sum += off * off;
        }
    return 10 * log10(255.0 * 255 * to->width * to->height / (sum + 1e-9));
}

/* Whether the last block of the component lies partly beyond the picture, where
 * an axis runs backwards. */
static bool is_partial(const struct plane *samples, enum xform t)
{
    uint32_t x, y;
    turn_source(t, 2, 2, 0, 0, &x, &y);
    return (x && samples->width % 8) || (y && samples->height % 8);
}

/* Returns how many components have been computed anew. */
static unsigned check_made(struct bytes file, struct bytes made, enum xform t)
{
    struct image blocks[2], samples[2];
    struct bytes both[2] = { file, made };
    unsigned anew = 0;
    for (int i = 0; i < 2; i++) {
        blocks[i] = read_jpeg_as(both[i], REPRESENTATION_COEFFICIENTS, NULL);
        samples[i] = read_jpeg_as(both[i], REPRESENTATION_PLANES, NULL);
    }
    for (unsigned c = 0; c < blocks[0].nplanes; c++) {
        bool partial = is_partial(&samples[0].plane[c], t);
        double db = psnr(t, &samples[0].plane[c], &samples[1].plane[c]);
        anew += partial;
        CHECK(partial || is_turned(t, &blocks[1].plane[c], &blocks[0].plane[c],
                                   CELL_DCT),
              "component %u is not moved", c);
        CHECK(db > 40, "component %u has %g dB", c, db);
    }
    for (int i = 0; i < 2; i++) {
        image_free(&blocks[i]);
        image_free(&samples[i]);
    }
    return anew;
}

static unsigned check_turn(struct bytes file, enum xform t)
{
    struct thread_pool *pool = thread_pool_open(3);
    const struct way ways[4] = {
        { false, NULL }, { true, NULL }, { false, pool }, { true, pool }
    };
    struct bytes made[4];
    for (int i = 0; i < 4; i++) {
        made[i] = turned(file, t, &ways[i]);
        CHECK(same_bytes(made[i], made[0]), "way %d gives another file", i);
    }
    unsigned anew = check_made(file, made[0], t);
    CHECK((anew > 0) == !jpeg_can_turn(file, REPRESENTATION_COEFFICIENTS, t),
          "%u components", anew);
    for (int i = 0; i < 4; i++)
        bytes_free(&made[i]);
    thread_pool_close(pool);
    return anew;
}

/* The sizes end as 1920 x 1080 and 4000 x 3000 do, or with less than a block.
 */
TEST(turns)
{
    static const uint32_t sizes[][2] = { { 64, 56 }, { 80, 72 }, { 56, 64 },
                                         { 40, 24 }, { 24, 8 },  { 8, 8 },
                                         { 47, 56 }, { 56, 45 } };
    unsigned anew = 0;
    for (unsigned n = 0; n < SAMPLINGS * KINDS * COUNT(sizes); n++) {
        const unsigned s = n % SAMPLINGS, k = n / SAMPLINGS % KINDS;
        const uint32_t *size = sizes[n / SAMPLINGS / KINDS];
        const struct coding coding = coding_of(s, k, size[0], size[1]);
        if (k == 4 && coding.space != JCS_YCbCr)
            continue;
        owned_bytes file = make_jpeg(&coding);
        for (EACH_TURN(t)) {
            test_case("sampling %u, kind %u, %u x %u, %s", s, k, size[0],
                      size[1], xform_name(t));
            if (jpeg_can_turn(file, REPRESENTATION_REALIGNED, t))
                anew += check_turn(file, t);
        }
    }
    CHECK(anew > 500, "%u components are computed anew", anew);
}

/* Which sizes suit: luma of whole blocks, chroma of whole samples. */
TEST(suits)
{
    enum { OF_444, OF_422, OF_440, OF_420, OF_411 };
    static const struct {
        uint32_t width, height;
        unsigned sampling;
        enum xform t;
        bool suits;
    } cases[] = {
        { 1920, 1080, OF_420, XFORM_ROTATE_180, true },
        { 4000, 3000, OF_420, XFORM_ROTATE_90, true },
        { 1918, 1080, OF_420, XFORM_ROTATE_90, true },
        { 1918, 1080, OF_420, XFORM_ROTATE_180, false },
        { 24, 12, OF_420, XFORM_ROTATE_90, false },
        { 12, 24, OF_422, XFORM_MIRROR_X, false },
        { 24, 11, OF_422, XFORM_MIRROR_X, true },
        { 40, 11, OF_411, XFORM_MIRROR_X, true },
        { 12, 8, OF_444, XFORM_MIRROR_X, false },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct coding coding =
            coding_of(cases[i].sampling, 0, cases[i].width, cases[i].height);
        owned_bytes file = make_jpeg(&coding);
        CHECK(jpeg_can_turn(file, REPRESENTATION_REALIGNED, cases[i].t) ==
                  cases[i].suits,
              "%zu", i);
    }
}

/* A file that is turned again and again neither grows nor fades much; its luma
 * stays what it was. Where its steps are coarse it grows once, and chroma fades
 * less. */
static void turn_again(uint32_t width, uint32_t height, int quality,
                       double growth, double least)
{
    const struct way way = { .fused = true };
    struct coding coding = sampled(3, width, height);
    coding.standard = true;
    coding.quality = quality;
    struct bytes file = make_noisy_jpeg(&coding, 12), made = { 0 };
    bytes_append(&made, file.data, file.size);
    for (int i = 0; i < 8; i++) {
        struct bytes next = turned(made, XFORM_ROTATE_90, &way);
        bytes_free(&made);
        made = next;
    }
    owned_image from = read_jpeg_as(file, REPRESENTATION_PLANES, NULL);
    owned_image to = read_jpeg_as(made, REPRESENTATION_PLANES, NULL);
    CHECK((double)made.size < growth * (double)file.size,
          "%d: %zu of %zu bytes", quality, made.size, file.size);
    for (unsigned c = 0; c < 3; c++) {
        double db = psnr(XFORM_NONE, &from.plane[c], &to.plane[c]);
        CHECK(db > (c ? least : 99), "%d: component %u has %g dB", quality, c,
              db);
    }
    bytes_free(&made);
    bytes_free(&file);
}

TEST(again)
{
    for (int quality = 70; quality <= 95; quality += 5)
        turn_again(328, 216, quality, 1.02, 32);
    for (int quality = 10; quality <= 85; quality += 25)
        turn_again(200, 168, quality, 1.6, 36);
}
