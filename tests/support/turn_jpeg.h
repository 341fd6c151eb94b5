/* A JPEG file decoded, turned and encoded. */
#ifndef TESTS_TURN_JPEG_H
#define TESTS_TURN_JPEG_H

#include "tests/support/codec_read.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/oracle.h"
#include "tests/support/test.h"
#include "tests/support/turn.h"

/* By its samples; tags say 1 afterwards. Ends the test if it cannot be read. */
static inline struct bytes turn_jpeg(struct bytes file, enum xform t,
                                     struct warnings *warnings)
{
    struct bytes made = { 0 };
    struct load_opts load = small_load(warnings);
    struct save_opts save = plain_save(warnings);
    struct image img = { 0 };
    struct err err = { .text = "" };
    save.orientation = 1;
    CHECK(!codec_read(&codec_jpeg, &img, file, &load, &err), "%s", err.text);
    if (!img.cells)
        abort();
    turn_image(&img, t);
    CHECK(!codec_jpeg.encode(&made, &img, &save, &err), "%s", err.text);
    image_free(&img);
    return made;
}

#endif
