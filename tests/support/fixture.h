/* What the tests of codecs begin and end with: a picture on its way through a
 * codec, decoded, turned, encoded.
 *
 *     struct fixture *f = fixture_new(&codec_png);
 *     CHECK(!fixture_decode(f, file), "%s", f->err.text);
 *     turn_image(&f->img, XFORM_ROTATE_90);
 *     CHECK(!fixture_encode(f), "%s", f->err.text);
 *     CHECK(f->made.size > 0 && f->warnings.count == 0, "...");
 *     fixture_free(f);
 *
 * A test may set each field of `load`, `plan` and `save` before it calls, and
 * put another picture into `img`. */
#ifndef TESTS_SUPPORT_FIXTURE_H
#define TESTS_SUPPORT_FIXTURE_H

#include "codecs/codec.h"

/* A megapixel, and memory for it. */
static const struct limits small_limits = { .pixels = 1 << 20,
                                            .bytes = 64 << 20 };

struct fixture {
    const struct codec *codec;
    struct load_opts load;   /* small_limits and plain memory */
    struct decode_plan plan; /* samples, as stored */
    struct save_opts save;   /* no suffix, nothing asked for */
    struct image img;
    struct bytes made;        /* by fixture_encode() */
    struct warnings warnings; /* of all calls */
    struct err err;           /* of the last call; "" if it did not fail */
};

/* Ends the test without memory, as all functions of this header. */
struct fixture *fixture_new(const struct codec *codec);

/* Opens and decodes the file into img, in place of what stood there. Returns 0,
 * or -1 with the reason in err. */
int fixture_decode(struct fixture *f, struct bytes file);

/* Encodes img into `made`, in place of what stood there. Returns the same. */
int fixture_encode(struct fixture *f);

/* Frees the picture and the file that was made. */
void fixture_free(struct fixture *f);

/* Frees all but what it returns, which is the caller's. */
struct image fixture_take_img(struct fixture *f);
struct bytes fixture_take_made(struct fixture *f);

/* For tests that call a part of a codec, or several pictures at once. */
struct load_opts small_load(struct warnings *warnings);
struct save_opts plain_save(struct warnings *warnings);

/* Whether one of the warnings that were kept has these words. */
bool is_warned(const struct warnings *warnings, const char *words);

/* A sample of 8 or 16 bits. */
unsigned cell_at(const struct image *img, unsigned c, uint32_t x, uint32_t y);

#endif
