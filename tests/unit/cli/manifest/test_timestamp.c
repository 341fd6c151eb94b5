/* Timestamps of manifests are written, read and compared to the nanosecond. */
#include "cli/manifest/timestamp.h"

#include <string.h>

#include "tests/support/test.h"

TEST(timestamps)
{
    static const struct {
        struct timespec time;
        const char *text;
    } times[] = {
        { { 0, 0 }, "1970-01-01T00:00:00.000000000Z" },
        { { -1, 999999999 }, "1969-12-31T23:59:59.999999999Z" },
        { { 951782400, 1 }, "2000-02-29T00:00:00.000000001Z" },
        { { 253402300799, 5 }, "9999-12-31T23:59:59.000000005Z" },
        { { 253402300800, 0 }, "10000-01-01T00:00:00.000000000Z" },
        { { -62198755200, 0 }, "-001-01-01T00:00:00.000000000Z" },
        { { 100000000000000000, 7 }, "@100000000000000000.000000007" },
    };
    static const char *const bad[] = {
        "",
        "2026-11-21T20:07:21Z",
        "2026-11-21T20:07:21.123456789",
        "2026-11-21T20:07:21.12345678Z",
        "2026-11-21T20:07:21.1234567890Z",
        "2026-02-30T20:07:21.123456789Z",
        "2026-11-21T24:07:21.123456789Z",
        "2026-11-21 20:07:21.123456789Z",
        " 2026-11-21T20:07:21.123456789Z",
        "@1.5",
        "@1.000000000",
    };
    struct timespec time;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char text[TIMESTAMP_SIZE];
        timestamp_write(text, times[i].time);
        CHECK(!strcmp(text, times[i].text), "%s", text);
        CHECK(timestamp_read(text, &time), "%s", text);
        CHECK(timestamp_compare(time, times[i].time) == 0, "%s", text);
        CHECK(i < 3 || timestamp_compare(times[2].time, times[i].time) ==
                           (times[i].time.tv_sec > 0 ? -1 : 1),
              "%s", text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!timestamp_read(bad[i], &time), "%s", bad[i]);
}
