/* Pictures of two files held against each other, and pictures as numbers.
 *
 * This room decodes files with the libraries of their formats and looks at
 * their cells with loops that share nothing with what turns pictures. It knows
 * nothing of how turns are done, or of where files come from. */
#ifndef CODECS_COMPARE_COMPARE_H
#define CODECS_COMPARE_COMPARE_H

#include "codecs/convert/convert.h"

/* ---- Which turn makes one picture another ---------------------------------
 *
 * Of two JPEGs the coefficients are compared, dequantized, so that a turn
 * without loss is seen to be one. If they differ, and of other formats, the
 * samples are compared, as they are shown: coefficients of blocks that reach
 * beyond the edge may differ by much where nobody sees it. */

/* How far one picture, turned, is from another. Places are those of the
 * pictures as stored. */
struct difference {
    uint64_t cells, differing; /* of all planes */
    double square;             /* the sum of the squares of what they differ by,
                                  where full intensity is 1; of samples alone,
                                  as what follows `luma` */
    bool luma;                 /* no cell of the first plane differs */
    /* The columns and rows of the second picture that hold all cells which
     * differ, if any does. */
    uint32_t left, top, right, bottom; /* the last two are behind them */
};

/* Returns the peak signal-to-noise ratio in decibels; INFINITY if no cell
 * differs. */
double difference_psnr(const struct difference *d);

struct relation {
    unsigned undecoded;    /* on failure: 1 or 2 if that picture could not be
                              decoded; else 0 */
    bool coefficients;     /* these are the same; else samples were compared */
    bool luma;             /* JPEGs: those of the first channel are the same */
    bool unlike;           /* their samples were of other kinds, and both were
                              converted (convert_to_same) */
    bool frames, pages;    /* of an animation, of a TIFF with several pages,
                              only the first one was */
    unsigned same;         /* 1 << turn, or-ed, of the pictures as shown: all
                              that make the first one the second */
    bool fits;             /* the sizes are those of some turn; then */
    enum xform nearest;    /* the turn that comes closest, and */
    struct difference far; /* by how much its samples miss */
};

enum { ALL_TURNS = (1 << XFORM_COUNT) - 1 };

/* A file and its format. */
struct coded_picture {
    struct bytes file;
    const struct codec *codec;
    enum layout layout;     /* of an array, if it is one */
    bool as_stored;         /* without regard to its orientation tag */
    uint32_t width, height; /* as struct decode_plan has them */
};

/* Finds how the pictures are related, among the turns of this set: 1 << turn,
 * or-ed. The files are read by these options, whose turners and layout are not
 * used. With `convert` the first one is made what it becomes in the format of
 * the second, gray also RGB. Fails if one cannot be decoded, or if their
 * samples cannot be compared, as CMYK and RGB. */
int relate_pictures(struct relation *relation,
                    const struct coded_picture pair[2], unsigned turns,
                    const struct load_opts *opts,
                    const struct convert_opts *convert, struct err *err);

/* ---- Digests --------------------------------------------------------------
 *
 * A number for a picture as it is shown: the SHA-256 of its samples, or of the
 * coefficients of a JPEG. It does not depend on the format, on metadata, or on
 * whether an orientation tag turns the picture; and a picture that is turned
 * without loss and turned back has the same. */

/* A SHA-256 in hexadecimal, and its NUL. */
enum { DIGEST_TEXT = 64 + 1 };

/* Writes the digest of a picture with cells, which is as its file stores it.
 * What is summed: "kind planes width height maxval", as shown, in decimal, with
 * a newline; of a palette 256 colors of 4 bytes, opaque black behind its last
 * one; of a transparent color 2 bytes for each plane; then each plane, its
 * width and height in 4 bytes each, and its rows as shown: samples in as many
 * bytes as they have, or for each block 64 coefficients times their steps, row
 * by row, in 4 bytes. The low byte comes first. An animation has no digest: "".
 * Returns -1 without memory. */
int digest_picture(char text[DIGEST_TEXT], const struct image *img,
                   struct err *err);

#endif
