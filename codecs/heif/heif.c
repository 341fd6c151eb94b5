/* HEIC and AVIF: two codecs that differ in how a file is recognized. */
#include "codecs/heif/heif.h"

#include "codecs/base/byte_order.h"
#include "codecs/metadata/exif.h"

/* ---- Recognizing ----------------------------------------------------------*/

/* Returns whether a file has one of these brands (ISO/IEC 14496-12, 4.3), four
 * letters each, of which mif3 keeps one in the place of the minor version. */
static bool has_brand(const uint8_t *head, size_t size, const char *brands)
{
    if (size < 16 || memcmp(head + 4, "ftyp", 4) != 0)
        return false;
    size_t end = read_be32(head);
    end = end < size ? end : size;
    for (; *brands; brands += 4)
        for (size_t at = 8; at + 4 <= end; at += 4)
            if (memcmp(head + at, brands, 4) == 0 &&
                (at != 12 || memcmp(head + 8, "mif3", 4) == 0))
                return true;
    return false;
}

static bool probe_avif(const uint8_t *head, size_t size)
{
    return has_brand(head, size, "avifavis");
}

/* CR3 and JPEG 2000 have brands of their own, and may have these as well. */
static bool probe_heic(const uint8_t *head, size_t size)
{
    return has_brand(head, size,
                     "heicheixheimheishevchevxmif1mif2mif3msf1miafjpegj2ki"
                     "avcivvicevbiunif") &&
           !has_brand(head, size, "avifaviscrx jpx jp2 ");
}

/* ---- Reading --------------------------------------------------------------*/

/* Reads the file, says what it says of its picture, and marks what is shown
 * with that. Adds the metadata to `meta`, unless that is NULL. */
static int look(struct heif *heif, struct stream_info *info, struct meta *meta)
{
    enum tag_place place = TAG_EXIF;
    if (heif_read(heif))
        return -1;
    if (heif->box[HEIF_MINI].end) {
        /* Three of its bits are the orientation, and then come the sizes. */
        const uint8_t *bits = heif->file.data + heif->box[HEIF_MINI].body;
        const uint32_t sizes = read_be32(bits + 2);
        const bool large = sizes >> 31;
        orientation_note(&info->orientation, TAG_TRANSFORMS,
                         (bits[1] & 7u) + 1);
        info->width = 1 + (large ? sizes >> 16 & 0x7fff : sizes >> 24 & 0x7f);
        info->height = 1 + (large ? sizes >> 1 & 0x7fff : sizes >> 17 & 0x7f);
        return 0;
    }
    if (heif_mark(heif))
        return -1;
    const struct heif_shown *shown = &heif->primary->shown;
    const uint8_t *ispe = heif_size(heif, heif->primary);
    info->width = read_be32(ispe + 12);
    info->height = read_be32(ispe + 16);
    if (shown->property[HEIF_IROT] || shown->property[HEIF_IMIR])
        orientation_note(&info->orientation, TAG_TRANSFORMS,
                         xform_to_exif(shown->turn));
    for (size_t i = 0; i < heif_item_count(heif); i++) {
        const struct heif_item *item = &heif_items(heif)[i];
        struct bytes data = { 0 };
        size_t begin;
        int status = heif_metadata(&data, &begin, heif, item);
        if (status == 0 && begin < data.size) {
            orientation_note(&info->orientation, place,
                             exif_tag(data.data + begin, data.size - begin));
            place = TAG_MORE_EXIF;
        }
        if (status == 0 && meta && data.size &&
            !meta_add(meta, item->is.xmp ? "XMP" : "Exif", 0, data.data,
                      data.size))
            status = fail_memory(heif->err, "no memory for metadata");
        bytes_free(&data);
        if (status)
            return -1;
    }
    return 0;
}

/* Lists the pictures beside the first one, too. */
static int open(struct reader *reader, struct err *err)
{
    struct heif heif = { .file = reader->file,
                         .opts = reader->opts,
                         .err = err };
    struct image *img = &reader->img;
    struct stream_info info = { 0 };
    int status = look(&heif, &info, img->meta);
    for (size_t i = 0; i < heif_item_count(&heif) && status == 0; i++) {
        const struct heif_item *item = &heif_items(&heif)[i];
        const char *name = item == heif.primary || meta_is_full(img->meta)
                               ? NULL
                           : item->is.turned ? "picture shown with it"
                           : heif_stands_alone(&heif, item) ? "another picture"
                                                            : NULL;
        if (name && !meta_add(img->meta, name, 0, "", 0))
            status = fail_memory(err, "no memory for metadata");
    }
    img->width = info.width;
    img->height = info.height;
    img->meta->orientation = info.orientation;
    img->orientation = info.orientation.value ? info.orientation.value : 1;
    heif_free(&heif);
    return status;
}

/* ---- Turning --------------------------------------------------------------*/

/* Turns what look() has read. */
static int turn(struct bytes *out, struct heif *heif,
                const struct orientation *orientation, enum xform op)
{
    const unsigned was = orientation->value;
    const bool only_exif = orientation->place != TAG_TRANSFORMS && was > 1;
    const enum xform t = only_exif ? xform_then(xform_from_exif(was), op) : op;
    const struct box *mini = &heif->box[HEIF_MINI];
    const size_t base = out->size;
    struct warnings *warnings = heif->opts->warnings;
    const struct heif_item *spoilt = NULL;
    size_t others = 0;
    if (only_exif)
        warn(warnings,
             "only EXIF said the orientation, %u, which not all programs obey; "
             "now irot and imir say it",
             was);
    const bool changes = op != XFORM_NONE || only_exif;
    for (size_t i = 0; i < heif_item_count(heif) && changes; i++) {
        const struct heif_item *item = &heif_items(heif)[i];
        others += !item->is.turned && heif_stands_alone(heif, item);
        if (item->is.made && !heif_follows(item))
            spoilt = item;
    }
    if (others)
        warn(warnings,
             "it has %zu other picture%s, which stay%s as stored; --all turns "
             "all",
             others, others > 1 ? "s" : "", others > 1 ? "" : "s");
    if (spoilt)
        warn(warnings,
             "another picture of the file, item %u (%s), has this one within "
             "it, and shows it turned there",
             spoilt->id, spoilt->type);
    if (heif->sealed && changes)
        warn(warnings, "C2PA signs the bytes of the file, and will not vouch "
                       "for the turned one");
    if (!mini->end && changes)
        return (t != XFORM_NONE && heif_plan(heif, t)) ||
                       heif_write(out, heif, op)
                   ? -1
                   : 0;
    if (!bytes_append(out, heif->file.data, heif->file.size))
        return fail_memory(heif->err, "no memory for the file");
    if (mini->end) {
        uint8_t *bits = out->data + base + mini->body + 1;
        *bits = (uint8_t)((*bits & ~7u) | (xform_retag(was, op) - 1));
    }
    return 0;
}

static int retag(struct bytes *out, struct stream_info *info, struct bytes file,
                 enum xform op, const struct load_opts *opts, struct err *err)
{
    struct heif heif = { .file = file,
                         .opts = opts,
                         .err = err,
                         .avif = probe_avif(file.data, file.size) };
    *info = (struct stream_info){ 0 };
    int status = look(&heif, info, NULL);
    if (status == 0)
        status = turn(out, &heif, &info->orientation, op);
    heif_free(&heif);
    return status;
}

const struct codec codec_heic = {
    .name = "heic",
    .title = "HEIC",
    .suffixes =
        (const char *const[]){ "heic", "heif", "hif", "heics", "heifs", NULL },
    .oriented = true,
    .probe = probe_heic,
    .open = open,
    .retag = retag,
};

const struct codec codec_avif = {
    .name = "avif",
    .title = "AVIF",
    .suffixes = (const char *const[]){ "avif", "avifs", NULL },
    .oriented = true,
    .probe = probe_avif,
    .open = open,
    .retag = retag,
};
