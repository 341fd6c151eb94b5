/* Blocks of metadata that hold other blocks or pictures: texts in hexadecimal,
 * resources of Photoshop, EXIF with its thumbnail, and what stands behind the
 * picture in a JPEG file. */
#ifndef CODECS_METADATA_BLOCKS_H
#define CODECS_METADATA_BLOCKS_H

#include "codecs/metadata/metadata.h"

/* ---- Raw profiles: PNG texts "Raw profile type exif", "... APP1" ----------
 *
 * ImageMagick wrote EXIF and XMP into PNG so before there was a chunk for it,
 * and still does: a name, the length in decimal, and the bytes in hexadecimal,
 * each on lines of their own. */

/* Makes the text, as inflated, the block that it holds, EXIF from its TIFF
 * header on or a packet, and *kind what that is. A malformed one stays. Fails
 * only without memory. */
int raw_profile_open(struct bytes *text, enum block_kind *kind,
                     struct err *err);

/* Makes `text`, which raw_profile_open() has opened a copy of, hold `body`
 * instead. Fails only without memory. */
int raw_profile_close(struct bytes *text, const struct bytes *body,
                      struct err *err);

/* ---- Image resources of Photoshop, as a JPEG holds them: IPTC, thumbnail,
 * paths (Adobe Photoshop File Formats Specification, "Image Resources
 * Section") -----------------------------------------------------------------*/

/* Makes the resources true of img: resolution and paths. Leaves out what
 * opts->drop names: thumbnails, profile, and the EXIF and XMP that may stand
 * here as well; and, with a warning, the thumbnail of a picture that was
 * turned. A resource that continues in the next block stays, with a warning.
 * All else, IPTC among it, stays byte for byte. The block, which owns its
 * memory, may get shorter. Fails if something cannot be left out. */
int photoshop_turn(struct bytes *block, const struct image *img,
                   const struct save_opts *opts, struct err *err);

/* ---- JPEG files within a picture's metadata, or behind the picture, turned so
 * that both are shown alike -------------------------------------------------*/

struct embedded_jpeg {
    const struct image *outer; /* the picture, as it is after its turn */
    struct limits limits;
    unsigned tag; /* the orientation of the inner one, 1..8, where it stands
                     outside of it; 0: the tag that it has itself */
    enum fit {
        FIT_ANY,   /* of whatever shape it is */
        FIT_SIDE,  /* broad if the picture is broad, high if it is high */
        FIT_SHAPE, /* of the picture's shape, within a few percent */
    } fit;
    bool view; /* more than a thumbnail: it is trimmed as the picture was, and
                  a loss is a warning, or a failure, as save->edge asks for */
    enum xform turned; /* set: the turn that was taken */
    bool refused;      /* set: it failed because --edge asks for that */
};

/* Pictures within another one may always have this many pixels. */
enum { PIXELS_MIN = 1 << 20 };

/* Makes `out`, which is empty, the turned file, saved as `save` says. A picture
 * with a tag of its own is turned as it is shown by that tag; one without is
 * turned as the outer picture was. If there is nothing to do the file is
 * copied, and its pixels are not read. Fails if it cannot be read or does not
 * fit; `out` may hold a part then. */
int embedded_jpeg_turn(struct bytes *out, struct bytes file,
                       struct embedded_jpeg *inner,
                       const struct save_opts *save, struct err *err);

/* Returns the turn for a picture of width x height whose tag is `tag`, 1..8, or
 * 0 for none. `fold`: all tags say 1 afterwards. */
enum xform embedded_jpeg_choose(const struct image *outer, unsigned tag,
                                bool fold, uint32_t width, uint32_t height);

/* ---- Thumbnails -----------------------------------------------------------*/

/* Turns the thumbnail of an EXIF block, whose tags are true of img already, so
 * that it lies as img does. `tag` is the orientation that the thumbnail
 * had, 1..8, or 0. The block grows to no more than `room` bytes; a thumbnail
 * that cannot be turned, or no longer fits, is dropped with a warning, since
 * one that lies on its side is worse than none. Fails only without memory. */
int thumbnail_turn_exif(struct bytes *exif, size_t room, unsigned tag,
                        const struct image *img, const struct save_opts *opts,
                        struct err *err);

/* ---- The pictures behind the first one in a JPEG file ---------------------
 *
 * The list in MPF says where pictures are in the trailer: gain maps, previews,
 * other views. Those that lie as the first one does are turned as it was. All
 * other bytes of the trailer stay what they are, and in their order, so that
 * what is counted from the end of the file, as the film of a motion photo is,
 * stays true as well. */

/* Turns the pictures, whose lengths change, and says so in the list of MPF as
 * if the picture before them had kept its length: the encoder, which knows by
 * how much that has changed, sets it right. XMP is read even if it is dropped.
 * Adds to t->lengths what has changed. A picture that cannot be turned stays,
 * with a warning. Fails without memory, or as opts->edge asks for. */
int trailing_pictures_turn(struct turned *t, struct err *err);

#endif
