/* Pictures that go through samples are offered to devices that take them, and
 * else done here. */
#include "codecs/codec.h"
#include "codecs/jpeg/entropy/scan_turner.h"
#include "tests/support/fixture.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/oracle.h"
#include "tests/support/test.h"

struct asked {
    unsigned scans;
    bool samples; /* with components that go through samples */
};

static bool begin(void *context, struct scan_turn *scans, unsigned count)
{
    struct asked *asked = context;
    asked->scans += count;
    asked->samples = scans->samples != NULL;
    return false;
}

static struct asked ask(enum representation representation, bool takes)
{
    const struct coding coding = { 103, 77, JCS_YCbCr, .h = 2, .v = 2 };
    struct asked asked = { .scans = 0 };
    const struct scan_turner turner = { .begin = begin,
                                        .context = &asked,
                                        .samples = takes };
    struct bytes file = make_jpeg(&coding);
    struct fixture *f = fixture_new(&codec_jpeg);
    f->plan.representation = representation;
    f->plan.turn = XFORM_ROTATE_90;
    f->plan.scan_turner = &turner;
    CHECK(!fixture_decode(f, file), "%s", f->err.text);
    turn_image(&f->img, XFORM_ROTATE_90);
    CHECK(!fixture_encode(f), "%s", f->err.text);
    fixture_free(f);
    bytes_free(&file);
    return asked;
}

TEST(offered)
{
    for (int r = REPRESENTATION_PLANES; r <= REPRESENTATION_REALIGNED; r++) {
        struct asked asked = ask((enum representation)r, true);
        CHECK(asked.scans == 1 && asked.samples, "%d: %u scans", r,
              asked.scans);
        CHECK(ask((enum representation)r, false).scans == 0, "%d", r);
    }
}
