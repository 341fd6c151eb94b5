/* The orientation tags of TIFF files, and of raw files built like them: read,
 * and turned without any other change.
 *
 * Of a TIFF file each page has its own tag, which is turned, and is added to
 * pages that lack it. Of a camera's raw file all directories are one picture:
 * the first one that has the tag counts, as for LibRaw, all say the same
 * afterwards, and only the first one gets a tag that it lacked. What else tells
 * the same follows where it is there: the directory of EXIF, and XMP. */
#ifndef CODECS_IFD_RETAG_H
#define CODECS_IFD_RETAG_H

#include "codecs/ifd/directory.h"

/* What the tags of a file say. */
struct tiff_tags {
    struct directories all;
    struct stream_info info; /* of the first page; or of the largest picture of
                                a raw file */
    unsigned differs;        /* raw: what another one says; 0: none does */
};

/* Reads the tags of a TIFF or, with `camera`, of a raw file. Fails if its
 * directories are damaged, or if samples, previews or blocks of metadata are
 * missing at its end, which opts->tolerant allows. directories_free(&tags->all)
 * is to be called in any case. */
int retag_read(struct tiff_tags *tags, struct bytes file, bool camera,
               const struct load_opts *opts, struct err *err);

/* Says that a file is cut short, which opts->tolerant allows. */
int retag_cut(const struct load_opts *opts, struct err *err);

/* Appends the file to `out`, which is empty, with tags that are turned by `op`.
 */
int retag_write(struct bytes *out, const struct tiff_tags *tags, enum xform op,
                struct err *err);

/* Does both, as struct codec.retag, for TIFF files. */
int retag_tiff(struct bytes *out, struct stream_info *info, struct bytes file,
               enum xform op, const struct load_opts *opts, struct err *err);

/* Returns whether a file that begins as a TIFF file does is a raw file: a
 * directory holds what a sensor has measured. */
bool retag_is_raw(struct bytes file);

/* ---- EXIF in embedded JPEG files ------------------------------------------*/

/* Finds the EXIF block of the JPEG file that begins at `jpeg`. Returns an empty
 * one if there is none; else it is borrowed. */
struct bytes retag_find_exif(struct bytes file, uint64_t jpeg);

/* Makes all orientation tags of an EXIF block say the same, also that of the
 * thumbnail. */
void retag_set_exif(uint8_t *exif, size_t size, unsigned orientation);

#endif
