/* JPEG files as the tests make and read them: libjpeg codes the pixels, and
 * every APPn and COM segment is inserted and extracted here.
 *
 * A test in which libjpeg fails, or runs out of memory, ends. */
#ifndef TESTS_SUPPORT_JPEG_FILE_H
#define TESTS_SUPPORT_JPEG_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h> /* after FILE */

#include "codecs/codec.h"
#include "tests/support/must.h"

/* How a file is coded. */
struct coding {
    uint32_t width, height;
    J_COLOR_SPACE space; /* in the file; what it is made of is jpeg_sample() */
    int h, v;            /* sampling of the first component; 0: 1 */
    int others[3][2];    /* and of the others; 0: 1 */
    int quality;         /* 0: 95 */
    unsigned restart;
    bool progressive, arithmetic;
    bool standard;              /* Huffman tables as T.81, Annex K has them */
    int ids[4];                 /* of components; 0: libjpeg's */
    const jpeg_scan_info *scan; /* other scans than those of libjpeg */
    int scans;
};

/* The ways to sample YCbCr that tests try: those of cameras first, then all
 * kinds of others, the last one with the same factors for all components. */
enum { CAMERA_SAMPLINGS = 5, JPEG_SAMPLINGS = 18 };
extern const struct jpeg_sampling {
    const char *name;
    int h, v, others[2][2];
} jpeg_samplings[JPEG_SAMPLINGS];

/* The same coding of another size. */
struct coding sized(struct coding coding, uint32_t width, uint32_t height);

/* How a picture of YCbCr that is sampled so is coded. */
struct coding sampled(unsigned sampling, uint32_t width, uint32_t height);

/* Scans of one component each, the last ones first; and the first one alone. */
extern const jpeg_scan_info jpeg_scans_alone[3], jpeg_scans_apart[2];
#define SCANS_ALONE .scan = jpeg_scans_alone, .scans = 3
#define SCANS_APART .scan = jpeg_scans_apart, .scans = 2

/* A coding of YCbCr whose size is filled in later. */
#define YCC_OF(...)                                                            \
    {                                                                          \
        .space = JCS_YCbCr, __VA_ARGS__                                        \
    }

/* How many samples a pixel has in that space. */
unsigned space_channels(J_COLOR_SPACE space);

/* A picture that is smooth, so that little is lost in coding, and that no turn
 * leaves as it is. */
unsigned jpeg_sample(unsigned c, uint32_t x, uint32_t y, uint32_t w,
                     uint32_t h);

/* Makes row y of what is coded, the samples of a pixel side by side. */
typedef void jpeg_row(uint8_t *row, uint32_t y, const struct coding *coding,
                      const void *context);

/* A whole file without segments, of the rows that are made. */
struct bytes make_jpeg_of(const struct coding *coding, jpeg_row *make_row,
                          const void *context);

/* The same of jpeg_sample(). */
struct bytes make_jpeg(const struct coding *coding);

/* The same with noise of that strength, so that codes of all lengths are
 * needed. */
struct bytes make_noisy_jpeg(const struct coding *coding, unsigned noise);

/* Columns alone, of three channels: once it is transposed, everything has
 * another code. */
struct bytes make_columns_jpeg(const struct coding *coding);

/* A square of gray, coded as if the step of the first coefficient were 1, which
 * the file says is `step`. */
struct bytes make_plain_jpeg(uint32_t side, uint8_t sample, uint8_t step);

/* Makes the steps of a file so long that coefficients are beyond what samples
 * have.
 */
void jpeg_lengthen_steps(struct bytes file);

/* ---- Segments -------------------------------------------------------------*/

/* Puts bytes into a file, at a place of it. */
void insert_bytes(struct bytes *file, size_t at, const void *data, size_t size);

/* Takes bytes out of it, as many as there are. */
void remove_bytes(struct bytes *file, size_t at, size_t size);

/* Where the first marker of low to high stands from there on; the size of the
 * file if there is none. */
size_t find_marker(struct bytes file, size_t from, unsigned low, unsigned high);

/* Puts a segment after those that were put in before: *at is 0 for the first
 * one, and `at` may be NULL for the only one. */
void add_segment(struct bytes *file, size_t *at, unsigned marker,
                 const void *data, size_t size);

/* A head and a body, one behind the other, to be freed; and a segment of them.
 */
struct bytes headed(const char *head, size_t size, struct bytes body);
void add_headed(struct bytes *file, size_t *at, unsigned marker,
                const char *head, size_t size, struct bytes body);
#define XMP_HEAD "http://ns.adobe.com/xap/1.0/"

struct segment_seen {
    unsigned marker;
    const uint8_t *data; /* in the file */
    size_t size;
};

enum { SEGMENTS_MAX = 300 };
struct segments {
    struct segment_seen segment[SEGMENTS_MAX];
    size_t count;
    size_t scan; /* where the first scan begins in the file */
};

/* Lists the APPn and COM segments before the first scan. Ends the test if the
 * file is not a JPEG. */
struct segments read_segments(struct bytes file);

/* The first segment with this marker that begins so, or NULL. */
const struct segment_seen *find_segment(const struct segments *list,
                                        unsigned marker, const char *begin);

/* Whether it is there and holds this. */
bool segment_is(const struct segment_seen *segment, struct bytes data);

/* ---- Through the codec ----------------------------------------------------*/

/* A file, read without a warning in one of its representations, by a pool of
 * threads if one is given; and the file that a picture becomes. */
struct image read_jpeg_as(struct bytes file, enum representation representation,
                          struct thread_pool *pool);
struct bytes jpeg_written(const struct image *img, struct save_opts save,
                          struct thread_pool *pool);

/* A picture of jpeg_sample() that comes from no file, and of so much noise. */
struct image jpeg_picture(enum color color, uint32_t width, uint32_t height,
                          unsigned noise);

/* ---- Reading --------------------------------------------------------------*/

/* A file that libjpeg decoded. */
struct decoded {
    struct coding coding;
    J_COLOR_SPACE out;
    unsigned channels;
    uint8_t *samples; /* side by side */
    long warnings;    /* libjpeg's count of them */
};

/* For libjpeg, in place of messages on stderr. */
void say_nothing(j_common_ptr cinfo);

/* What libjpeg makes of a file, in the space `out`, or in that of the file if
 * it is JCS_UNKNOWN. To be owned. */
struct decoded libjpeg_decode(struct bytes file, J_COLOR_SPACE out);
#define owned_decoded __attribute__((cleanup(decoded_free))) struct decoded
static inline void decoded_free(struct decoded *decoded)
{
    free(decoded->samples);
}

/* Copies the first quantization table of a file, rows of steps. */
void jpeg_steps(struct bytes file, uint16_t step[64]);

/* The sample of channel c at x, y. */
unsigned decoded_at(const struct decoded *d, unsigned c, uint32_t x,
                    uint32_t y);

/* The most that a sample of a picture that was turned by t is off the one that
 * it was; 1000 if it has another shape. */
int decoded_distance(const struct decoded *is, const struct decoded *was,
                     enum xform t);
int image_distance(const struct image *is, const struct decoded *was,
                   enum xform t);

#endif
