/* Raw files of cameras: DNG, NEF, CR2, ARW, PEF, SRW, 3FR and others, which are
 * TIFF files; ORF and RW2, which begin otherwise; CR3 and RAF. No sample is
 * decoded: all readers turn them as their tag says, which is set. */
#include <string.h>

#include "codecs/base/box.h"
#include "codecs/base/byte_order.h"
#include "codecs/ifd/retag.h"
#include "codecs/metadata/exif.h"

struct raw_file {
    struct bytes file;
    enum raw_kind { RAW_TIFF, RAW_CR2, RAW_IIQ, RAW_CR3, RAW_RAF } kind;
    struct tiff_tags tags; /* in the file itself; of CR3 and RAF only its
                              orientation */
    struct bytes exif;     /* what CR3 and RAF have instead, in the file */
};

/* ---- CR3 ------------------------------------------------------------------
 *
 * Boxes: in moov, one with an identifier of Canon's holds CMT1, which is the
 * first IFD of other raw files, with a TIFF header. */

static int open_cr3(struct raw_file *raw, const struct load_opts *opts,
                    struct err *err)
{
    const struct bytes file = raw->file;
    struct box moov, uuid, cmt1;
    size_t at = 0;
    bool found = false;
    if (box_find(&moov, "moov", file, 0, file.size))
        for (at = moov.body; !found && box_read(&uuid, file, at, moov.end);
             at = uuid.end)
            found = box_is(&uuid, "uuid") && uuid.end - uuid.body > 16 &&
                    box_find(&cmt1, "CMT1", file, uuid.body + 16, uuid.end);
    if (!found)
        return fail(err, "it has no box CMT1, which says its orientation");
    for (at = 0; box_read(&uuid, file, at, file.size); at = uuid.end)
        continue;
    if (at < file.size && retag_cut(opts, err))
        return -1;
    raw->exif = (struct bytes){ .data = file.data + cmt1.body,
                                .size = cmt1.end - cmt1.body };
    return 0;
}

/* ---- RAF ------------------------------------------------------------------
 *
 * The header has places and lengths: of a JPEG file, whose EXIF is that of the
 * picture, and of other things. */

static int open_raf(struct raw_file *raw, const struct load_opts *opts,
                    struct err *err)
{
    enum { PLACES = 84, SAMPLES = 100, HEADER = 108 };
    const struct bytes file = raw->file;
    if (file.size < HEADER)
        return fail(err, "the header is cut short");
    for (size_t at = PLACES; at <= SAMPLES; at += 8)
        if ((uint64_t)read_be32(file.data + at) +
                    read_be32(file.data + at + 4) >
                file.size &&
            retag_cut(opts, err))
            return -1;
    raw->exif = retag_find_exif(file, read_be32(file.data + PLACES));
    return 0;
}

/* ---- All kinds ------------------------------------------------------------*/

static enum raw_kind kind_of(const uint8_t *head, size_t size)
{
    static const struct {
        enum raw_kind kind;
        unsigned at, size;
        const char *bytes;
    } signs[] = {
        { RAW_CR2, 8, 2, "CR" },
        { RAW_IIQ, 8, 6, "IIIICwaR" },
        { RAW_IIQ, 8, 7, "MMMMRaw" },
        { RAW_CR3, 4, 8, "ftypcrx " },
        { RAW_RAF, 0, 16, "FUJIFILMCCD-RAW " },
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (size >= 17 &&
            (signs[i].kind != RAW_CR2 || memcmp(head, "II*", 4) == 0) &&
            memcmp(head + signs[i].at, signs[i].bytes, signs[i].size) == 0)
            return signs[i].kind;
    return RAW_TIFF;
}

/* Others that begin as TIFF does are told by what they hold. */
static bool probe(const uint8_t *head, size_t size)
{
    const enum raw_kind kind = kind_of(head, size);
    const struct bytes file = { .data = (uint8_t *)(uintptr_t)head,
                                .size = size };
    struct tiff_form form;
    if (kind == RAW_CR3 || kind == RAW_RAF)
        return true;
    return directories_probe(&form, file, true) &&
           (!directories_probe(&form, file, false) || kind != RAW_TIFF ||
            retag_is_raw(file));
}

/* The directories are to be freed in any case. */
static int open_raw(struct raw_file *raw, struct bytes file,
                    const struct load_opts *opts, struct err *err)
{
    *raw = (struct raw_file){ .file = file,
                              .kind = kind_of(file.data, file.size) };
    if (raw->kind == RAW_IIQ)
        return fail_unread(err, "a raw picture of Phase One (IIQ), whose "
                                "readers ignore the orientation tag; convert "
                                "it to DNG first");
    if (raw->kind != RAW_CR3 && raw->kind != RAW_RAF)
        return retag_read(&raw->tags, file, true, opts, err);
    if (raw->kind == RAW_CR3 ? open_cr3(raw, opts, err)
                             : open_raf(raw, opts, err))
        return -1;
    orientation_note(&raw->tags.info.orientation, TAG_EXIF,
                     exif_tag(raw->exif.data, raw->exif.size));
    return 0;
}

static int open(struct reader *reader, struct err *err)
{
    struct raw_file raw;
    const int status = open_raw(&raw, reader->file, reader->opts, err);
    const struct stream_info *info = &raw.tags.info;
    reader->img.width = info->width;
    reader->img.height = info->height;
    reader->img.meta->orientation = info->orientation;
    if (info->orientation.value)
        reader->img.orientation = info->orientation.value;
    directories_free(&raw.tags.all);
    return status;
}

static int retag(struct bytes *out, struct stream_info *info, struct bytes file,
                 enum xform op, const struct load_opts *opts, struct err *err)
{
    struct raw_file raw;
    int status = open_raw(&raw, file, opts, err);
    const unsigned was = raw.tags.info.orientation.value;
    *info = raw.tags.info;
    if (status == 0 && (raw.kind == RAW_CR3 || raw.kind == RAW_RAF)) {
        if (op != XFORM_NONE && !was)
            status = fail_unread(err, "its EXIF has no orientation tag, and no "
                                      "room for one");
        else if (!bytes_append(out, file.data, file.size))
            status = fail_memory(err, "no memory for the picture");
        else if (op != XFORM_NONE)
            retag_set_exif(out->data + (raw.exif.data - file.data),
                           raw.exif.size, xform_retag(was, op));
    } else if (status == 0) {
        if (op != XFORM_NONE && raw.tags.differs)
            warn(opts->warnings,
                 "another directory (IFD) says orientation %u; all say the "
                 "same now",
                 raw.tags.differs);
        /* LibRaw takes the maker notes of Canon where the tag says 1. */
        if (raw.kind == RAW_CR2 && was > 1 && xform_retag(was, op) == 1)
            warn(opts->warnings,
                 "programs built on LibRaw may go on to turn it, as the maker "
                 "notes of Canon say");
        status = retag_write(out, &raw.tags, op, err);
    }
    directories_free(&raw.tags.all);
    return status;
}

static const char *const suffixes[] = {
    "raw", "dng", "nef", "nrw", "cr2", "cr3", "arw", "sr2", "pef", "orf", "raf",
    "rw2", "rwl", "srw", "3fr", "iiq", "erf", "kdc", "dcr", "mef", "gpr", NULL,
};

const struct codec codec_raw = {
    .name = "raw",
    .title = "camera raw",
    .suffixes = suffixes,
    .oriented = true,
    .closest = REPRESENTATION_SAMPLES,
    .probe = probe,
    .open = open,
    .retag = retag,
};
