/* JPEG (ITU-T T.81; JFIF is T.871).
 *
 * What comes in is the bytes of a file. What goes out is a picture, as its
 * blocks of coefficients, as the samples that it stores or as pixels, with how
 * it was coded and all of its APPn and COM segments in order; and the other way
 * round, coded as it was. Several threads code one picture.
 *
 * Ways in; read.c chooses. Headers and what they mean are libjpeg-turbo's, the
 * markers and segments of all files ours:
 *
 *   sequential files with Huffman codes      entropy/, to lists of blocks. They
 *                                            stay so until they are written
 *   all others: progressive, arithmetic,     libjpeg, to planes of blocks
 *   damaged, or odd
 *   pixels for another format                libjpeg, to rows
 *   samples, where blocks lie elsewhere      samples.c, of either blocks; or
 *   after the turn                           libjpeg, if it smooths the file
 *   what a device takes                      as it is coded: read_sequential.c
 *
 * Ways out; write.c chooses:
 *
 *   lists of blocks                          entropy/, turned on the way
 *   planes of blocks, turned                 entropy/ if they are to be
 *                                            sequential, else libjpeg
 *   samples, pixels of other formats         samples.c makes blocks of them
 *
 * What ours buy: 12 megapixels of 4:2:0 are turned in 34 ms by one thread and
 * in 24 by two, of which jpegtran takes 108 (BENCHMARKS.md). What libjpeg buys:
 * no rare kind needs a second decoder, and what is wrong with a file is said as
 * other programs say it.
 *
 * The room knows nothing of how pictures are turned, and of metadata only where
 * it stands in a file: codecs/metadata makes it true of a turn. codec_jpeg is
 * in jpeg.c; this header is for the files of the room. */
#ifndef CODECS_JPEG_JPEG_H
#define CODECS_JPEG_JPEG_H

#include "codecs/metadata/metadata.h"

int open_jpeg(struct reader *reader, struct err *err);
int decode_jpeg(struct reader *reader, struct err *err);
int describe_jpeg(struct reader *reader, struct err *err);
void close_jpeg(struct reader *reader);
int write_jpeg(struct bytes *file, const struct image *img,
               const struct save_opts *opts, struct err *err);

/* The most bytes that one segment holds after its length (T.81, B.1.1.4). */
enum { SEGMENT_MAX = 65533 };

/* ---- APPn and COM segments: segments.c ---- */

/* How metadata is kept in segments. */
extern const struct block_format segments_format;

/* Adds a segment to the meta as a block: `marker` is the second byte of its
 * marker. */
int segments_add(struct meta *meta, unsigned marker, const void *data,
                 size_t size, struct err *err);

/* Fills profile, EXIF, XMP and comment of the meta. */
int segments_read_portable(struct meta *meta, const struct load_opts *opts,
                           struct err *err);

/* ---- What stands behind the picture: segments.c ---- */

/* The marker of the block that holds it: EOI. */
enum { TRAILER = 0xd9 };

/* Adds the last `behind` bytes of the file, if there are any, as a block, and
 * notes where it begins as MPF, the list of pictures in the file, counts. */
int segments_take_trailer(struct meta *meta, struct bytes file, size_t behind,
                          struct err *err);

/* The headers of a file have become others: makes what its MPF counts true, as
 * it was of the file before. */
void segments_follow_trailer(struct bytes *file, struct bytes before);

/* Appends that block to the file, which is whole up to its EOI, and makes the
 * MPF in it true. */
int segments_append_trailer(struct bytes *file, const struct meta *meta,
                            struct err *err);

/* ---- For what compares or sums pictures of several formats ------------- */

/* Returns those of plane i of a picture that was read from a JPEG: rows of 8,
 * as a block has them. */
const uint16_t *steps_of(const struct image *img, unsigned i);

/* How blocks of these steps are after a turn: coefficient i is coefficient
 * from[i] times factor[i], which has 32 bits at most. */
struct turned_block {
    uint8_t from[64];
    int32_t factor[64];
};

struct turned_block steps_turn(const uint16_t *steps, enum xform t);

#endif
