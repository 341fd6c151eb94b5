/* Checks that all simple formats share: files are read from memory, pictures
 * have random cells, and damaged files do no harm. */
#ifndef TESTS_SUPPORT_FORMATS_H
#define TESTS_SUPPORT_FORMATS_H

#include "codecs/codec.h"
#include "tests/support/fixture.h"
#include "tests/support/test.h"

/* A text with its size, without its NUL; and samples. */
#define TEXT(text)   text, sizeof text - 1
#define SAMPLES(...) ((const double[]){ __VA_ARGS__ })

/* What is said of a file that ends early, and of one that does not end. */
#define CUT  "cut short, read as far as it goes"
#define MORE " bytes after the picture; only files of one picture can be turned"

/* A file that was decoded, or refused. */
struct opened {
    struct image img;
    struct counted *counted; /* of its cells */
    struct warnings warnings;
    struct err err;
    int status;
};

/* How a file is read: a sum of these and, for arrays, LAYOUT times a layout. */
enum { STRICT = 0, TOLERANT = 1, PORTABLE = 2, LAYOUT = 4 };
/* What a file may ask for at most. */
enum { LIMIT_PIXELS = 1 << 16, LIMIT_BYTES = 1 << 21 };

/* Decodes a copy that ends where its memory ends, so that a sanitizer sees who
 * reads past it. A file that its codec does not know is refused. */
struct opened open_file(const struct codec *codec, const void *data,
                        size_t size, int how);

/* Frees the picture. Checks that all memory was freed, and that no block
 * exceeded LIMIT_BYTES. */
void close_file(struct opened *o);

/* The sample of a plane at x, y, for cells of any type but CELL_DCT. */
double sample_at(const struct image *img, unsigned plane, uint32_t x,
                 uint32_t y);

/* Whether the samples are these, pixel by pixel, row by row. */
bool has_samples(const struct image *img, const double *want);

/* The file that a picture becomes; to be freed. */
struct bytes written(const struct codec *codec, const struct image *img,
                     const char *suffix, struct warnings *warnings);

/* Checks that a file that is read in way `how` has this shape and these
 * samples, and gives the one warning `said`, or none if that is NULL. */
void check_file_read(const struct codec *codec, int how, const void *file,
                     size_t size, uint32_t width, uint32_t height,
                     unsigned nplanes, const double *want, const char *said);

/* The same, read strictly. */
void check_file(const struct codec *codec, const void *file, size_t size,
                uint32_t width, uint32_t height, unsigned nplanes,
                const double *want, const char *said);

/* A file is refused with these words. */
void check_refused(const struct codec *codec, const void *file, size_t size,
                   const char *words);

/* Tolerant, a file has these samples and gives this one warning. */
void check_tolerated(const struct codec *codec, const void *file, size_t size,
                     const double *want, const char *said);

/* The same of texts. */
#define FILE_IS(codec, text, width, height, nplanes, ...)                      \
    check_file(codec, TEXT(text), width, height, nplanes,                      \
               SAMPLES(__VA_ARGS__), NULL)
#define REFUSED(codec, text, words) check_refused(codec, TEXT(text), words)
#define TOLERATED(codec, text, said, ...)                                      \
    check_tolerated(codec, TEXT(text), SAMPLES(__VA_ARGS__), said)

/* A file is written again as `want`: its own format keeps all it says. */
void check_rewritten(const struct codec *codec, const void *file, size_t size,
                     const char *suffix, enum xform turned, const void *want,
                     size_t want_size);

/* A picture of random cells, up to its maxval. */
struct image random_picture(enum cell cell, uint32_t maxval, enum color color,
                            unsigned nplanes, uint32_t width, uint32_t height);

/* Reads a file that was written of img: its cells are the same. Returns what
 * its own format makes of it. An array is read in the layout that it has by
 * default. */
struct bytes written_again(const struct codec *codec, const struct image *img,
                           struct bytes file, const char *suffix);

/* Two files are the same; both are freed. */
void check_same_files(struct bytes a, struct bytes b, const char *name);

/* A picture that comes from no file is written, read, and written again: its
 * cells and its file are the same. */
void check_round_trip(const struct codec *codec, const struct image *img,
                      const char *suffix);

/* Every cut of a file is refused, up to those that are only `blanks` short.
 * Tolerant, a cut file is read with a warning, or refused. */
void check_cuts(const struct codec *codec, const void *file, size_t size,
                size_t blanks);

/* Changes each of the first `head` bytes to many values, and checks that the
 * file is read soundly or refused. */
void check_hostile(const struct codec *codec, const void *file, size_t size,
                   size_t head);

#endif
