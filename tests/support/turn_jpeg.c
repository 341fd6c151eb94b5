/* A JPEG file decoded, turned and encoded; see turn_jpeg.h. */
#include "tests/support/turn_jpeg.h"

#include <stdlib.h>

#include "tests/support/fixture.h"
#include "tests/support/oracle.h"
#include "tests/support/test.h"

struct bytes turn_jpeg(struct bytes file, enum xform t,
                       struct warnings *warnings)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    f->load.warnings = warnings;
    f->save.warnings = warnings;
    f->save.orientation = 1;
    CHECK(!fixture_decode(f, file), "%s", f->err.text);
    if (!f->img.cells)
        abort();
    turn_image(&f->img, t);
    CHECK(!fixture_encode(f), "%s", f->err.text);
    return fixture_take_made(f);
}
