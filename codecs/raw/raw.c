/* Raw files of cameras: DNG, NEF, CR2, ARW, PEF, SRW, 3FR and others, which are
 * TIFF files; ORF and RW2, which begin otherwise; IIQ, CR3 and RAF. No sample
 * is decoded: all readers turn them as their tag says, which is set. */
#include <string.h>

#include "codecs/base/box.h"
#include "codecs/base/byte_order.h"
#include "codecs/ifd/retag.h"
#include "codecs/metadata/exif.h"

struct raw_file {
    struct bytes file;
    enum raw_kind { RAW_TIFF, RAW_CR2, RAW_IIQ, RAW_CR3, RAW_RAF } kind;
    struct tiff_tags tags; /* in the file itself; only `info` of CR3 and RAF */
    struct bytes exif;     /* what CR3 and RAF have instead, in the file */
    size_t flip;           /* IIQ: where its own orientation stands */
};

/* ---- IIQ ------------------------------------------------------------------
 *
 * Behind the TIFF header a block of Phase One begins with "IIII" and "Raw", or
 * "MMMM", and the place of its directory, whose entries have 16 bytes, a number
 * in the last four. Readers obey its orientation, and not the TIFF tag. */

enum { IIQ_BLOCK = 8, IIQ_FLIP = 0x100 };

/* What it says, by its two bits. */
static const uint8_t iiq_orientations[] = { 1, 6, 8, 3 };

static int open_iiq(struct raw_file *raw, const struct load_opts *opts,
                    struct err *err)
{
    enum { ENTRY = 16 };
    const struct tiff_form form = raw->tags.all.form;
    const uint8_t *data = raw->file.data;
    const size_t size = raw->file.size;
    size_t at = IIQ_BLOCK;
    if (size >= IIQ_BLOCK + 12)
        at += tiff_read(form, data + IIQ_BLOCK + 8, 4);
    if (at > size || size - at < 8)
        return fail(err, "its block of Phase One is not in the file");
    size_t count = tiff_read(form, data + at, 4);
    for (at += 8; count > 0 && size - at >= ENTRY; count--, at += ENTRY) {
        const uint64_t bytes = tiff_read(form, data + at + 8, 4),
                       value = tiff_read(form, data + at + 12, 4);
        if (tiff_read(form, data + at, 4) == IIQ_FLIP)
            raw->flip = at + 12;
        else if (bytes > 4 && IIQ_BLOCK + value + bytes > size &&
                 retag_cut(opts, err))
            return -1;
    }
    if (!raw->flip)
        return fail_unread(err, "its block of Phase One has no orientation");
    raw->tags.info.orientation = (struct orientation){ 0 };
    orientation_note(
        &raw->tags.info.orientation, TAG_IFD,
        iiq_orientations[tiff_read(form, data + raw->flip, 4) & 3]);
    return 0;
}

static int set_iiq(const struct raw_file *raw, struct bytes *out, enum xform op,
                   struct err *err)
{
    const struct tiff_form form = raw->tags.all.form;
    uint8_t *flip = out->data + raw->flip;
    const uint32_t was = (uint32_t)tiff_read(form, flip, 4);
    const unsigned is = xform_retag(iiq_orientations[was & 3], op);
    for (uint32_t i = 0; i < sizeof iiq_orientations; i++)
        if (iiq_orientations[i] == is) {
            tiff_write(form, flip, 4, (was & ~3u) | i);
            return 0;
        }
    return fail(err, "IIQ cannot say that a picture is mirrored");
}

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
    struct directories *all = &raw->tags.all;
    struct err unheard;
    *all =
        (struct directories){ .file = raw->exif, .tags_only = true, .most = 1 };
    if (directories_read(all, &unheard) == 0) {
        raw->tags.info.width =
            (uint32_t)directory_number(all->first, TAG_WIDTH, 0, 0);
        raw->tags.info.height =
            (uint32_t)directory_number(all->first, TAG_HEIGHT, 0, 0);
    }
    return 0;
}

/* ---- RAF ------------------------------------------------------------------
 *
 * The header has places and lengths: of a JPEG file, whose EXIF is that of the
 * picture, of a directory, and of the samples. */

/* Entries are a tag, a length and so many bytes. */
static void read_raf_size(struct raw_file *raw, size_t at)
{
    enum { TAG_CROPPED_SIZE = 0x111 };
    const uint8_t *data = raw->file.data;
    const size_t size = raw->file.size;
    if (at > size || size - at < 4)
        return;
    uint32_t count = read_be32(data + at);
    for (at += 4; count > 0 && size - at >= 8; count--) {
        if (read_be16(data + at) == TAG_CROPPED_SIZE) {
            raw->tags.info.height = read_be16(data + at + 4);
            raw->tags.info.width = read_be16(data + at + 6);
            return;
        }
        const size_t length = 4 + read_be16(data + at + 2);
        if (length > size - at)
            return;
        at += length;
    }
}

static int open_raf(struct raw_file *raw, const struct load_opts *opts,
                    struct err *err)
{
    enum { PLACES = 84, DIRECTORY = 92, SAMPLES = 100, HEADER = 108 };
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
    read_raf_size(raw, read_be32(file.data + DIRECTORY));
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
        { RAW_IIQ, IIQ_BLOCK, 6, "IIIICwaR" },
        { RAW_IIQ, IIQ_BLOCK, 7, "MMMMRaw" },
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
    if (raw->kind != RAW_CR3 && raw->kind != RAW_RAF)
        return retag_read(&raw->tags, file, true, opts, err) ||
                       (raw->kind == RAW_IIQ && open_iiq(raw, opts, err))
                   ? -1
                   : 0;
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

/* Sets the tag in a block of EXIF, in place. */
static int set_exif(const struct raw_file *raw, struct bytes *out,
                    enum xform op, struct err *err)
{
    const unsigned was = raw->tags.info.orientation.value;
    if (op != XFORM_NONE && !was)
        return fail_unread(err, "its EXIF has no orientation tag, and no room "
                                "for one");
    if (!bytes_append(out, raw->file.data, raw->file.size))
        return fail_memory(err, "no memory for the picture");
    if (op != XFORM_NONE)
        retag_set_exif(out->data + (raw->exif.data - raw->file.data),
                       raw->exif.size, xform_retag(was, op));
    return 0;
}

/* LibRaw takes the maker notes of Canon where the tag says 1. */
static void warn_of_readers(const struct raw_file *raw, enum xform op,
                            struct warnings *warnings)
{
    const unsigned was = raw->tags.info.orientation.value;
    if (raw->tags.differs)
        warn(warnings,
             "another directory (IFD) says orientation %u; all say "
             "the same now",
             raw->tags.differs);
    if (raw->kind == RAW_CR2 && was > 1 && xform_retag(was, op) == 1)
        warn(warnings, "programs built on LibRaw may go on to turn it, as the "
                       "maker notes of Canon say");
}

static int retag(struct bytes *out, struct stream_info *info, struct bytes file,
                 enum xform op, const struct load_opts *opts, struct err *err)
{
    struct raw_file raw;
    int status = open_raw(&raw, file, opts, err);
    *info = raw.tags.info;
    if (status == 0 && (raw.kind == RAW_CR3 || raw.kind == RAW_RAF)) {
        status = set_exif(&raw, out, op, err);
    } else if (status == 0) {
        if (op != XFORM_NONE)
            warn_of_readers(&raw, op, opts->warnings);
        status = retag_write(out, &raw.tags, op, err);
        if (status == 0 && raw.flip)
            status = set_iiq(&raw, out, op, err);
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
