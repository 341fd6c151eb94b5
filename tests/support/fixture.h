/* What the tests of codecs begin and end with: pictures and files compared,
 * memory that is counted, and a picture on its way through a codec, decoded,
 * turned, encoded.
 *
 *     owned_fixture *f = fixture_new(&codec_png);
 *     fixture_read(f, file);
 *     turn_image(&f->img, XFORM_ROTATE_90);
 *     fixture_write(f);
 *     CHECK(f->made.size > 0 && f->warnings.count == 0, "...");
 *
 * A test may set each field of `load`, `plan` and `save` before it calls, and
 * put another picture into `img`. */
#ifndef TESTS_SUPPORT_FIXTURE_H
#define TESTS_SUPPORT_FIXTURE_H

#include "codecs/codec.h"
#include "tests/support/oracle.h"
#include "tests/support/test.h"

/* Memory for cells that counts what is asked of it, and gives blocks full of
 * garbage. */
struct counted {
    size_t calls, freed;
    size_t bytes, most; /* in all, and of the largest block */
};

struct mem counted_memory(struct counted *counted);

/* The same without counts. */
extern const struct mem garbage_memory;

/* Whether two pictures have planes of the same shape and the same cells. */
bool same_cells(const struct image *a, const struct image *b);

bool same_bytes(struct bytes a, struct bytes b);

/* A copy, whose memory ends where it does, for sanitizers to see; to be owned.
 */
struct bytes copied(const void *data, size_t size);

/* The bytes of a text, which are not to be freed. */
struct bytes bytes_of(const char *text);

/* Reads the samples as stored. On failure img is {0}. */
static inline int codec_read(const struct codec *codec, struct image *img,
                             struct bytes file, const struct load_opts *load,
                             struct err *err)
{
    const struct decode_plan samples = { .turn = XFORM_NONE };
    return codec_decode_file(codec, img, file, load, &samples, err);
}

/* What is known of a file before it is decoded. */
static inline int codec_look(const struct codec *codec,
                             struct stream_info *info, struct bytes file,
                             const struct load_opts *load, struct err *err)
{
    struct reader reader;
    if (codec_open(&reader, codec, file, load, err))
        return -1;
    *info = reader.info;
    codec_close(&reader);
    return 0;
}

/* Makes the metadata of the picture true and encodes it. That is done in a copy
 * of the metadata, so that one picture can be encoded several times. */
int encode_as(const struct codec *codec, struct bytes *file,
              const struct image *img, const struct save_opts *save,
              struct err *err);

/* ---- The fixture ----------------------------------------------------------
 */

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

/* The same where they have to succeed: if not, the test has failed, and ends.
 */
void fixture_read(struct fixture *f, struct bytes file);
void fixture_write(struct fixture *f);

/* Reads the file, turns the picture as the plan says unless the codec has done
 * so, and writes it, which has to succeed without a warning. Frees all but the
 * file that it returns. */
struct bytes fixture_turned(struct fixture *f, struct bytes file);

/* Frees the picture and the file that was made. */
void fixture_free(struct fixture *f);
static inline void fixture_free_at(struct fixture **f)
{
    fixture_free(*f);
}

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

/* Whether a JPEG file of any size can be turned so in this representation. */
bool jpeg_can_turn(struct bytes file, enum representation representation,
                   enum xform t);

/* Decodes a JPEG file by its samples, turns and encodes it; tags say 1
 * afterwards. Ends the test if that fails. */
struct bytes turn_jpeg(struct bytes file, enum xform t,
                       struct warnings *warnings);

#endif
