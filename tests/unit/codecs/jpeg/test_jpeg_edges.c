/* JPEG files whose size is not a multiple of the MCU, turned by their stored
 * samples and encoded again: libjpeg shows the turned picture. */
#include <math.h>

#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"

/* ---- A gray picture with a red dot, soft as a lens makes it ---------------*/

static void dot_at(uint8_t rgb[3], double x, double y, double cx, double cy)
{
    double distance = (x - cx) * (x - cx) + (y - cy) * (y - cy);
    double red = 90 * exp(-distance / 18);
    double gray = 110 + 40 * sin(x / 5) * cos(y / 7);
    rgb[0] = (uint8_t)(gray + red);
    rgb[1] = rgb[2] = (uint8_t)(gray - red / 2);
}

static void dot_row(uint8_t *row, uint32_t y, const struct coding *coding,
                    const void *context)
{
    (void)context;
    for (uint32_t x = 0; x < coding->width; x++)
        dot_at(row + 3 * x, x, y, 0.4 * coding->width, 0.55 * coding->height);
}

static struct bytes make_dot(const struct coding *coding)
{
    return make_jpeg_of(coding, dot_row, NULL);
}

static struct coding dot_coding(unsigned sampling, uint32_t w, uint32_t h)
{
    struct coding coding = sampled(sampling, w, h);
    coding.quality = 90;
    return coding;
}

/* ---- What is seen of it ---------------------------------------------------*/

/* Of the second one against the first one, turned. */
static double psnr(const struct decoded *a, const struct decoded *b,
                   enum xform t)
{
    uint32_t w = a->coding.width, h = a->coding.height, sx, sy;
    double sum = 0;
    for (uint32_t y = 0; y < b->coding.height; y++)
        for (uint32_t x = 0; x < b->coding.width; x++)
            for (unsigned c = 0; c < 3; c++) {
                turn_source(t, w, h, x, y, &sx, &sy);
                double off = (double)decoded_at(a, c, sx, sy) -
                             (double)decoded_at(b, c, x, y);
                sum += off * off;
            }
    return 10 * log10(255.0 * 255.0 * 3 * w * h / (sum + 1e-9));
}

/* Less than that is noise of the coding, which far from the dot weighs much. */
static double red_at(const struct decoded *d, uint32_t x, uint32_t y)
{
    double red = (double)decoded_at(d, 0, x, y) - decoded_at(d, 1, x, y);
    return red > 30 ? red - 30 : 0;
}

/* How far the middle of what is red lies from where the turn takes it. */
static double moved(const struct decoded *a, const struct decoded *b,
                    enum xform t)
{
    uint32_t w = a->coding.width, h = a->coding.height, sx, sy;
    double is[2] = { 0 }, was[2] = { 0 }, all = 0, before = 0;
    for (uint32_t y = 0; y < b->coding.height; y++)
        for (uint32_t x = 0; x < b->coding.width; x++) {
            turn_source(t, w, h, x, y, &sx, &sy);
            double red = red_at(b, x, y), then = red_at(a, sx, sy);
            is[0] += red * x, is[1] += red * y, all += red;
            was[0] += then * x, was[1] += then * y, before += then;
        }
    return hypot(is[0] / all - was[0] / before, is[1] / all - was[1] / before);
}

/* ---- Turning --------------------------------------------------------------*/

static struct image read_for(struct bytes file, enum xform t)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    f->plan.representation = REPRESENTATION_PLANES;
    f->plan.turn = t;
    fixture_read(f, file);
    CHECK(f->warnings.count == 0, "%s", f->warnings.list[0].text);
    return fixture_take_img(f);
}

/* Read as if the turn were `expected`. */
static struct bytes turned_for(struct bytes file, enum xform t,
                               enum xform expected)
{
    owned_image img = read_for(file, expected);
    turn_image(&img, t);
    struct bytes made = jpeg_written(&img, (struct save_opts){ 0 }, NULL);
    return made;
}

struct seen {
    const struct decoded *picture;
    enum xform t;
};

static void seen_row(uint8_t *row, uint32_t y, const struct coding *coding,
                     const void *context)
{
    const struct seen *seen = context;
    const struct decoded *d = seen->picture;
    uint32_t sx, sy;
    for (uint32_t x = 0; x < 3 * coding->width; x++) {
        turn_source(seen->t, d->coding.width, d->coding.height, x / 3, y, &sx,
                    &sy);
        row[x] = (uint8_t)decoded_at(d, x % 3, sx, sy);
    }
}

/* As it is seen, with chroma brought to the old sampling by libjpeg, and its
 * own tables. */
static struct bytes resampled(const struct decoded *d, enum xform t)
{
    struct coding coding = { d->coding.width, d->coding.height, JCS_YCbCr,
                             .h = d->coding.h };
    const struct seen seen = { d, t };
    coding.v = d->coding.v;
    if (xform_transposes(t)) {
        coding.width = d->coding.height;
        coding.height = d->coding.width;
        coding.h = d->coding.v;
        coding.v = d->coding.h;
    }
    coding.quality = 90; /* the steps of the file */
    return make_jpeg_of(&coding, seen_row, &seen);
}

/* ---- Tests ----------------------------------------------------------------*/

static double seen(struct bytes made, const struct decoded *from, enum xform t,
                   double *how_far)
{
    owned_decoded is = libjpeg_decode(made, JCS_RGB);
    double db = psnr(from, &is, t);
    *how_far = moved(from, &is, t);
    return db;
}

static unsigned shifts; /* how many plain mirrors would move chroma */

/* A turn by planes whose chroma reaches over an edge that becomes the first. */
static bool is_partial(struct bytes file, enum xform t)
{
    return !jpeg_can_turn(file, REPRESENTATION_PLANES, t);
}

static void check_seen(const struct coding *coding, enum xform t)
{
    owned_bytes file = make_dot(coding);
    owned_decoded from = libjpeg_decode(file, JCS_RGB);
    struct bytes made[] = { turned_for(file, t, t),
                            turned_for(file, t, XFORM_NONE),
                            resampled(&from, t) };
    double far[3], db[3];
    for (int i = 0; i < 3; i++) {
        db[i] = seen(made[i], &from, t, &far[i]);
        bytes_free(&made[i]);
    }
    CHECK(db[0] > 43, "%g dB", db[0]);
    CHECK(far[0] < 0.3, "moved by %g", far[0]);
    if (is_partial(file, t)) {
        CHECK(db[0] > db[1] && db[0] > db[2] - 0.5, "%g dB, not %g and %g",
              db[0], db[1], db[2]);
        shifts += far[1] > 0.5;
    }
}

TEST(seen)
{
    static const uint32_t sizes[][2] = {
        { 45, 61 }, { 46, 62 }, { 47, 64 }, { 48, 63 }, { 50, 57 }
    };
    for (unsigned s = 0; s < CAMERA_SAMPLINGS; s++)
        for (unsigned i = 0; i < COUNT(sizes); i++)
            for (EACH_TURN(t)) {
                struct coding coding = dot_coding(s, sizes[i][0], sizes[i][1]);
                test_case("%s %u x %u, %s", jpeg_samplings[s].name,
                          coding.width, coding.height, xform_name(t));
                check_seen(&coding, t);
            }
    CHECK(shifts > 50, "a plain mirror moves the dot: %u times", shifts);
}

/* Chroma that libjpeg shows without smoothing, since it has two columns or a
 * quarter of them, is as it was shown. */
TEST(not_smoothed)
{
    static const struct coding codings[] = {
        { 3, 3, JCS_YCbCr, .h = 2, .v = 2 },
        { 4, 3, JCS_YCbCr, .h = 2, .v = 2 },
        { 3, 4, JCS_YCbCr, .h = 2, .v = 2 },
        { 3, 9, JCS_YCbCr, .h = 2, .v = 2 },
        { 9, 3, JCS_YCbCr, .h = 2, .v = 2 },
        { 3, 5, JCS_YCbCr, .h = 2, .v = 1 },
        { 5, 3, JCS_YCbCr, .h = 1, .v = 2 },
        { 35, 19, JCS_YCbCr, .h = 4, .v = 2 },
    };
    for (size_t i = 0; i < COUNT(codings); i++)
        for (EACH_TURN(t)) {
            double far;
            owned_bytes file = make_jpeg(&codings[i]);
            owned_decoded from = libjpeg_decode(file, JCS_RGB);
            if (is_partial(file, t)) {
                owned_bytes made = turned_for(file, t, t);
                double db = seen(made, &from, t, &far);
                CHECK(db > 36, "%zu, %s: %g dB", i, xform_name(t), db);
            }
        }
}

/* Only along an axis that has to be, now or after another turn, is chroma in
 * full resolution. */
TEST(axes)
{
    static const struct {
        uint32_t width, height;
        enum xform t;
        int h, v;
    } sizes[] = {
        { 46, 62, XFORM_ROTATE_180, 2, 2 }, { 45, 62, XFORM_ROTATE_180, 1, 2 },
        { 46, 61, XFORM_ROTATE_180, 2, 1 }, { 45, 61, XFORM_ROTATE_180, 1, 1 },
        { 45, 61, XFORM_MIRROR_X, 1, 1 },   { 45, 61, XFORM_MIRROR_Y, 1, 1 },
        { 45, 61, XFORM_ROTATE_90, 1, 1 },  { 45, 61, XFORM_ROTATE_270, 1, 1 },
        { 45, 61, XFORM_TRANSPOSE, 2, 2 },
    };
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct coding coding = dot_coding(3, sizes[i].width, sizes[i].height);
        owned_bytes file = make_dot(&coding);
        owned_bytes made = turned_for(file, sizes[i].t, sizes[i].t);
        owned_decoded is = libjpeg_decode(made, JCS_UNKNOWN);
        CHECK(is.coding.h == sizes[i].h && is.coding.v == sizes[i].v,
              "%zu: %d x %d", i, is.coding.h, is.coding.v);
    }
}

/* Sampling, coding and names stay. */
TEST(kept)
{
    for (int kind = 0; kind < 4; kind++) {
        struct coding coding = dot_coding(1, 46, 27);
        coding.progressive = kind & 1;
        coding.arithmetic = kind & 2;
        coding.restart = 4;
        coding.ids[0] = 9, coding.ids[1] = 4, coding.ids[2] = 77;
        owned_bytes file = make_dot(&coding);
        size_t at = 0;
        add_segment(&file, &at, 0xe0, "JFIF\0\1\2\0\0\1\0\1\0\0", 14);
        add_segment(&file, &at, 0xfe, "a comment", 9);
        owned_bytes made = turned_for(file, XFORM_ROTATE_90, XFORM_ROTATE_90);
        owned_decoded is = libjpeg_decode(made, JCS_UNKNOWN);
        CHECK(is.coding.h == 1 && is.coding.v == 2, "%d x %d", is.coding.h,
              is.coding.v);
        CHECK(is.coding.progressive == coding.progressive &&
                  is.coding.arithmetic == coding.arithmetic &&
                  !memcmp(is.coding.ids, coding.ids, sizeof coding.ids),
              "%d", kind);
        CHECK(is.coding.restart == 4, "%u", is.coding.restart);
        const struct segments list = read_segments(made);
        CHECK(list.count == 2 && find_segment(&list, 0xfe, "a comment"), "%d",
              kind);
    }
}

/* Steps are transposed, and those above a cap become the cap, which is 5 at
 * least. */
TEST(tables)
{
    static const int qualities[] = { 1, 30, 75, 95, 100 };
    for (unsigned i = 0; i < COUNT(qualities); i++) {
        struct coding coding = dot_coding(0, 45, 27);
        coding.quality = qualities[i];
        owned_bytes file = make_dot(&coding);
        owned_bytes made = turned_for(file, XFORM_ROTATE_90, XFORM_ROTATE_90);
        UINT16 was[64], is[64];
        int cap = 5;
        bool good = true;
        jpeg_steps(file, was);
        jpeg_steps(made, is);
        for (int k = 0; k < 64; k++)
            cap = is[k] > cap ? is[k] : cap;
        for (int k = 0; k < 64; k++) {
            int step = was[8 * (k % 8) + k / 8];
            good &= is[k] == (step > cap ? cap : step);
        }
        CHECK(good, "quality %d", qualities[i]);
    }
}

/* ---- Turned again and again -----------------------------------------------*/

/* The strength of their noise: as of a sensor, and noise alone. */
static const unsigned noises[] = { 9, 250 };

/* Eight turns give a file that is not much larger than the first two gave, and
 * a picture that is not much worse. */
static void turn_eight(const struct coding *coding, unsigned noise,
                       enum xform t)
{
    struct bytes file = make_noisy_jpeg(coding, noise);
    owned_decoded from = libjpeg_decode(file, JCS_RGB);
    size_t first = 0;
    enum xform all = XFORM_NONE;
    for (int i = 0; i < 8; i++) {
        struct bytes made = turned_for(file, t, t);
        bytes_free(&file);
        file = made;
        all = xform_then(all, t);
        first = i < 2 ? file.size : first;
    }
    owned_decoded is = libjpeg_decode(file, JCS_RGB);
    double db = psnr(&from, &is, all);
    CHECK(file.size <= first + first / 8, "%zu bytes grow to %zu", first,
          file.size);
    CHECK(db > (noise > 9 ? 30 : 34), "%g dB", db);
    bytes_free(&file);
}

TEST(growth)
{
    static const enum xform ops[] = { XFORM_MIRROR_X, XFORM_ROTATE_90,
                                      XFORM_ROTATE_180 };
    static const int qualities[] = { 30, 75, 90, 95 };
    for (unsigned n = 0; n < 4 * 2 * 3 * 4; n++) {
        struct coding coding = sampled(n % 4, 129, 83);
        const unsigned noise = noises[n / 4 % 2];
        const enum xform t = ops[n / 8 % 3];
        coding.quality = qualities[n / 24];
        test_case("%s, noise %u, quality %d, %s", jpeg_samplings[n % 4].name,
                  noise, coding.quality, xform_name(t));
        turn_eight(&coding, noise, t);
    }
}

/* What lies beyond the picture is what its edge is, not what memory held. */
TEST(padding)
{
    for (unsigned s = 0; s < CAMERA_SAMPLINGS; s++) {
        struct coding coding = dot_coding(s, 20, 20);
        struct bytes file = make_dot(&coding), made[2];
        for (int i = 0; i < 2; i++) {
            owned_image img = read_for(file, XFORM_NONE);
            for (unsigned c = 0; c < img.nplanes; c++)
                for (uint32_t y = 0; y < img.plane[c].height; y++)
                    memset((uint8_t *)plane_row(&img.plane[c], y) +
                               img.plane[c].width,
                           i ? 0xff : 0,
                           img.plane[c].stride - img.plane[c].width);
            made[i] = jpeg_written(&img, (struct save_opts){ 0 }, NULL);
        }
        CHECK(same_bytes(made[0], made[1]), "%s", jpeg_samplings[s].name);
        bytes_free(&made[0]);
        bytes_free(&made[1]);
        bytes_free(&file);
    }
}
