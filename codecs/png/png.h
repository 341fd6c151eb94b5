/* PNG: what the files of this room share. codec_png itself is in png.c.
 *
 * This room reads and writes PNG (Third Edition, W3C 2025). Files come in and
 * planes of cells with their metadata go out, and the other way round. libpng
 * parses and writes the header, the palette and the order of chunks; the
 * samples are this room's own: idat_read, idat_write, idat_bands, filter,
 * scanline, pass_rows. libpng decodes them as well, where a file is damaged,
 * for the reason and for the rows before it, and where one decoder is held
 * against another. Frames of an animation are pictures of their own: animation,
 * frames. Other chunks are kept as they are, in order and in their place. The
 * room knows nothing of turns, but that some chunks are not true after one. */
#ifndef CODECS_PNG_PNG_H
#define CODECS_PNG_PNG_H

#include "codecs/base/byte_order.h"
#include "codecs/metadata/metadata.h"

int open_png(struct reader *reader, struct err *err);
int decode_png(struct reader *reader, struct err *err);
int describe_png(struct reader *reader, struct err *err);
void close_png(struct reader *reader);
int write_png(struct bytes *file, const struct image *img,
              const struct save_opts *opts, struct err *err);

int check_png(struct bytes file, const struct image *img,
              const struct save_opts *opts, struct err *err);

/* Returns the color type of a picture as IHDR has it. */
uint8_t ihdr_color_type(const struct image *img);
int retag_png(struct bytes *out, struct stream_info *info, struct bytes file,
              enum xform op, const struct load_opts *opts, struct err *err);

/* `where` of a block: the place of a chunk among the critical ones. */
enum { PNG_PLACE_BEFORE_PLTE, PNG_PLACE_BEFORE_IDAT, PNG_PLACE_AFTER_IDAT };

/* ---- Samples ----------------------------------------------------------- */

struct flate;

/* Reads the samples of a picture into `rows`, by one library; if it is
 * interlaced, as its meta says, `rows` are open for the whole picture; `idats`
 * are its chunks IDAT, whole and one after the other. Returns false if they are
 * damaged, or memory has run out; then libpng reads them and gives the reason.
 */
bool idat_read(struct row_sink *rows, struct bytes idats,
               const struct flate *flate, struct thread_pool *pool);

/* Appends the chunks IDAT of a picture that is not interlaced, at a level from
 * 0 to 9. Of the options pool, flush and adler count; *adler becomes the
 * Adler-32 of the filtered rows. */
int idat_write(struct bytes *file, const struct image *img, int level,
               const struct save_opts *opts, struct err *err);

/* ---- Chunks -------------------------------------------------------------- */

/* How metadata is kept in chunks. */
extern const struct block_format chunks_format;

/* Adds a chunk as a block; see meta_add(). */
struct metadata_block *chunks_add(struct meta *meta, const char *name,
                                  unsigned where, const void *data,
                                  size_t size);

/* Returns whether a chunk of this type and data may hold an orientation. */
bool chunks_may_orient(const uint8_t type[4], const uint8_t *data, size_t size);

/* Appends a block to a file, with its length and CRC. Returns false without
 * memory. */
bool chunks_frame(struct bytes *file, const struct metadata_block *block);

/* Reads transparency and palette alpha out of the blocks into img's meta: out
 * of the one tRNS that libpng shows. Others are kept, with a warning. */
void chunks_note_transparency(struct image *img, struct warnings *warnings);

/* ---- Frames of an animation ---------------------------------------------- */

/* Checks the chunks of kind BLOCK_FRAME, and fills meta->animation. Tolerant,
 * frames that cannot be read are dropped with a warning. */
int frames_read(struct image *img, const struct load_opts *opts,
                struct err *err);

/* Fails if all frames are beyond the limits, and reserves memory for those that
 * are turned at a time; after image_check(). */
int frames_check_size(const struct image *img, const struct load_opts *opts,
                      struct err *err);

/* Decodes all frames and keeps nothing of them: fails if one is damaged, or,
 * tolerant, warns. */
int frames_try(struct image *img, const struct load_opts *opts,
               struct err *err);

/* Turns the frames as img was turned, and encodes them anew: turn_frames() of
 * chunks_format. */
int frames_turn(const struct image *img, const struct save_opts *opts,
                struct err *err);

/* Fills the portable fields of the meta. Profiles and texts that are damaged,
 * or inflate to more than any program writes, are an error, or, tolerant, left
 * with a warning. */
int chunks_read_portable(struct meta *meta, const struct load_opts *opts,
                         struct err *err);

#endif
