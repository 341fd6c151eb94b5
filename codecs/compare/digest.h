/* A number for a picture as it is shown: the SHA-256 of its samples, or of the
 * coefficients of a JPEG. It does not depend on the format, on metadata, or on
 * whether an orientation tag turns the picture; and a picture that is turned
 * without loss and turned back has the same. */
#ifndef CODECS_COMPARE_DIGEST_H
#define CODECS_COMPARE_DIGEST_H

#include "codecs/codec.h"

/* A SHA-256 in hexadecimal, and its NUL. */
enum { DIGEST_TEXT = 64 + 1 };

/* Writes the digest of a picture with cells, which is as its file stores it.
 * What is summed: "kind planes width height maxval", as shown, in decimal, with
 * a newline; of a palette 256 colors of 4 bytes, opaque black behind its last
 * one; of a transparent color 2 bytes for each plane; then each plane, its
 * width and height in 4 bytes each, and its rows as shown: samples in as many
 * bytes as they have, or for each block 64 coefficients times their steps, row
 * by row, in 4 bytes. The low byte comes first. Of an animation "animation
 * frames plays" and a newline follow; and for each frame "frame x y width
 * height", as shown, "delay units disposal blending", as PNG has them, and a
 * newline; then its planes, unless the picture is the frame. Frames are decoded
 * by `opts`; the file is that of img. Returns -1 without memory, if a frame is
 * damaged, or if the time is over.
 */
int digest_picture(char text[DIGEST_TEXT], const struct image *img,
                   const struct load_opts *opts, struct err *err);

#endif
