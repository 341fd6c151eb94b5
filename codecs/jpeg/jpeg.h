/* What the files of the JPEG codec share; codec_jpeg itself is in jpeg.c.
 *
 * ITU-T T.81 (JPEG), T.871 (JFIF). Every APPn and COM segment is kept byte for
 * byte and in order, but for what a turn makes false, and so is what stands
 * behind the picture. */
#ifndef CODECS_JPEG_JPEG_H
#define CODECS_JPEG_JPEG_H

#include "codecs/codec.h"
#include "codecs/metadata/xmp_container.h"

int open_jpeg(struct reader *reader, struct err *err);
int decode_jpeg(struct reader *reader, const struct decode_plan *plan,
                struct err *err);
int describe_jpeg(struct reader *reader, struct err *err);
void close_jpeg(struct reader *reader);
int write_jpeg(struct bytes *file, const struct image *img,
               const struct save_opts *opts, struct err *err);

int check_jpeg(struct bytes file, const struct image *img,
               const struct save_opts *opts, struct err *err);
int retag_jpeg(struct bytes *out, struct stream_info *info, struct bytes file,
               enum xform op, const struct load_opts *opts, struct err *err);

/* A small file can ask for thousands of passes over a large picture.
 * Progressive files have about ten scans; one for each coefficient of a
 * component is 64. */
enum { SCANS_MAX = 200 };

/* The most bytes that one segment holds after its length (T.81, B.1.1.4). */
enum { SEGMENT_MAX = 65533 };

/* What a segment is, by its first bytes. */
enum segment {
    SEGMENT_OTHER,
    SEGMENT_JFIF,
    SEGMENT_JFXX,
    SEGMENT_EXIF,
    SEGMENT_XMP,
    SEGMENT_XMP_MORE, /* Extended XMP: XMP Specification Part 3, 1.1.3.1 */
    SEGMENT_ICC,
    SEGMENT_MPF,
    SEGMENT_JUMBF, /* ISO/IEC 19566-5; C2PA signs the file in it */
    SEGMENT_PHOTOSHOP,
    SEGMENT_ADOBE,
    SEGMENT_COMMENT,
    SEGMENT_TRAILER, /* no segment: all that stands behind the picture */
};
enum segment segment_of(const struct metadata_block *block);

/* The bytes that a segment of this kind begins with. */
const char *segment_head(enum segment segment, size_t *size);

/* How long what follows the head of such a segment may be. */
size_t segment_room(enum segment segment);

/* Copies what follows the head to `body`, which is empty. */
int segment_open(struct bytes *body, const struct bytes *data,
                 enum segment segment, struct err *err);

/* Makes the segment, which may be empty, one of this kind with this body, which
 * is freed in any case. */
int segment_close(struct bytes *data, enum segment segment, struct bytes *body,
                  struct err *err);

/* Adds a segment to the meta: `marker` is the second byte of its marker. */
int segment_add(struct meta *meta, unsigned marker, const void *data,
                size_t size, struct err *err);

/* Marks the segments that say how samples look. */
void segments_note(struct meta *meta);

/* Fills meta->orientation. Fails only without memory. */
int segments_orientation(struct meta *meta, struct err *err);

/* Takes note of what XMP says of it. */
int segments_note_xmp(struct meta *meta, struct err *err);

/* Fills EXIF, XMP and comment of the meta. */
int segments_to_portable(struct image *img, struct err *err);

/* Adds to `made`, which is empty, the segments that say what the portable fields
 * of img's meta say. */
int segments_from_portable(struct meta *made, const struct image *img,
                          const struct save_opts *opts, struct err *err);

/* Gives in out[i] what block i of `meta` says after img->turned, to be freed by
 * the caller also on failure; data is NULL for a block that is not to be
 * written. `out` has room for all blocks and is zeroed. */
int segments_turned(struct bytes *out, const struct meta *meta,
                    const struct image *img, const struct save_opts *opts,
                    struct err *err);

/* The share of it that is about XMP: makes the packets in out[i], and Extended
 * XMP, true. */
int segments_turn_xmp(struct bytes *out, const struct meta *meta,
                      const struct image *img, const struct save_opts *opts,
                      const struct lengths *lengths, struct err *err);

/* ---- What stands behind the picture: trailer.c ---- */

/* The marker of the block that holds it: EOI. */
enum { TRAILER = 0xd9 };

/* Adds the last `behind` bytes of the file, if there are any, as a block, and
 * notes where MPF, the list of pictures in the file, counts from. */
int trailer_take(struct meta *meta, struct bytes file, size_t behind,
                 struct err *err);

/* Turns the pictures in out[i] of that block, whose lengths change, and says so
 * in out[i] of MPF, as if the picture before them had kept its length. */
int trailer_turn(struct bytes *out, const struct meta *meta,
                 const struct image *img, const struct save_opts *opts,
                 struct lengths *lengths, struct err *err);

/* The headers of a file have become others: makes what its MPF counts true, as it
 * was of the file before. */
void trailer_follow(struct bytes *file, struct bytes before);

/* Appends that block to the file, which is whole up to its EOI, and makes the
 * MPF in it true. */
int trailer_append(struct bytes *file, const struct meta *meta,
                   const struct bytes *out, struct err *err);

#endif
