/* The orientation tags of TIFF files, and of raw files built like them: read,
 * and turned without any other change.
 *
 * Of a TIFF file each page has its own tag, which is turned, and is added to
 * pages that lack it. Of a camera's raw file all IFDs are one picture: the
 * first one that has the tag counts, as for LibRaw, all say the same
 * afterwards, and only the first IFD gets a tag that it lacked. What else tells
 * the same follows where it is there: the IFD of EXIF, and XMP. */
#ifndef CODECS_RAW_TIFF_RETAG_H
#define CODECS_RAW_TIFF_RETAG_H

#include "codecs/codec.h"
#include "codecs/raw/ifds.h"

/* What the tags of a file say. */
struct tiff_tags {
    struct ifds ifds;
    struct stream_info info; /* of the first page; or of the largest picture of
                                a raw file */
    unsigned differs;        /* raw: what another IFD says; 0: none does */
};

/* Reads the tags. Fails if the file is not TIFF or built like it, if its IFDs
 * are damaged, or, of a raw file, if samples are missing at its end, which
 * opts->tolerant allows. */
int tiff_retag_read(struct tiff_tags *tags, struct bytes file, bool camera,
                    const struct load_opts *opts, struct err *err);

/* Appends the file to `out`, which is empty, with tags that are turned by `op`.
 */
int tiff_retag_write(struct bytes *out, const struct tiff_tags *tags,
                     enum xform op, struct err *err);

/* Does both, as struct codec.retag, for TIFF files. */
int tiff_retag(struct bytes *out, struct stream_info *info, struct bytes file,
               enum xform op, const struct load_opts *opts, struct err *err);

/* Returns whether it is a raw file that begins as a TIFF file does: an IFD
 * holds what a sensor has measured. */
bool tiff_retag_is_raw(const struct ifds *ifds);

/* ---- EXIF in embedded JPEG files ------------------------------------------*/

/* Finds the EXIF block of the JPEG file that begins at `jpeg`. Returns an empty
 * one if there is none; else it is borrowed. */
struct bytes tiff_retag_exif(struct bytes file, uint64_t jpeg);

/* Makes all orientation tags of an EXIF block say the same, also that of the
 * thumbnail. */
void tiff_retag_set_exif(uint8_t *exif, size_t size, unsigned orientation);

#endif
