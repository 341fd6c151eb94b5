/* What --backend auto weighs. */
#include "cli/schedule/device_scans.h"

#include "tests/support/test.h"

static bool device_pays_for(double pictures, struct scan_load each,
                            unsigned processors)
{
    const struct scan_load load = { pictures, pictures * each.bytes,
                                    pictures * each.samples,
                                    pictures * each.encoded };
    struct scan_estimate e =
        device_scans_model(SCAN_KIND_JPEG, &load, processors);
    return e.by_device < e.by_processors;
}

static bool device_pays(double pictures, double bytes_each, unsigned processors)
{
    return device_pays_for(pictures, (struct scan_load){ .bytes = bytes_each },
                           processors);
}

TEST(few_are_for_processors)
{
    for (unsigned processors = 1; processors <= 128; processors *= 2) {
        CHECK(!device_pays(1, 2e6, processors), "one file, %u", processors);
        CHECK(!device_pays(20, 4e5, processors), "20 files, %u", processors);
    }
}

TEST(many_are_for_a_device)
{
    for (unsigned processors = 1; processors <= 32; processors *= 2)
        CHECK(device_pays(20000, 4e5, processors), "%u", processors);
}

/* To decode takes longer than to turn what is coded, and so does to encode. */
TEST(samples_pay_sooner)
{
    const struct scan_load decoded = { .bytes = 4e5, .samples = 6e6 },
                           encoded = { .bytes = 4e5, .encoded = 3e6 };
    for (unsigned processors = 1; processors <= 32; processors *= 2)
        for (double n = 1; n < 1e6; n *= 2) {
            bool pays = device_pays(n, 4e5, processors);
            CHECK(!pays || device_pays_for(n, decoded, processors),
                  "%g decoded files, %u", n, processors);
            CHECK(!pays || device_pays_for(n, encoded, processors),
                  "%g encoded files, %u", n, processors);
        }
}

/* PNG files of 2 megapixels, that 16 processors turn in 2.5 ms each. */
TEST(png)
{
    for (double n = 1; n < 1e6; n *= 2) {
        const struct scan_load load = { n, n * 2.5e6, n * 6.3e6, 0 };
        const struct scan_estimate e =
            device_scans_model(SCAN_KIND_PNG, &load, 16);
        const bool pays = e.by_device < e.by_processors;
        CHECK(pays == (n > 200), "%g files", n);
    }
}

/* The same as arrays of bytes, and of floats, for which it pays sooner; with
 * these the processors that write them are what all wait for. */
TEST(arrays)
{
    for (double n = 1; n < 1e6; n *= 2) {
        const struct scan_load bytes = { n, n * 2.2e6, n * 6.3e6, 0 },
                               floats = { n, n * 2.2e6, n * 25e6, 0 };
        const struct scan_estimate b = device_scans_model(SCAN_KIND_FROM_PNG,
                                                          &bytes, 16),
                                   f = device_scans_model(SCAN_KIND_FROM_PNG,
                                                          &floats, 16);
        CHECK((b.by_device < b.by_processors) == (n > 300), "%g files", n);
        CHECK((f.by_device < f.by_processors) == (n > 200), "%g files", n);
    }
    const struct scan_load floats = { 1600, 1600 * 2.2e6, 1600 * 25e6, 0 };
    const struct scan_estimate e =
        device_scans_model(SCAN_KIND_FROM_PNG, &floats, 16);
    CHECK(e.by_device > 2.9 && e.by_device < 3.5, "%g s", e.by_device);
    CHECK(e.by_processors > 7.5 && e.by_processors < 8.5, "%g s",
          e.by_processors);
}

/* With more files, or fewer processors, a device does not lose. */
TEST(monotone)
{
    for (double each = 1e3; each < 1e7; each *= 4)
        for (unsigned processors = 1; processors <= 64; processors *= 2)
            for (double n = 1; n < 1e6; n *= 2) {
                bool pays = device_pays(n, each, processors);
                CHECK(!pays || device_pays(2 * n, each, processors),
                      "%g files of %g bytes, %u", n, each, processors);
                CHECK(!device_pays(n, each, 2 * processors) || pays,
                      "%g files of %g bytes, %u", n, each, processors);
            }
}
