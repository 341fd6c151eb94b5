/* HEIC and AVIF: two codecs that differ in how a file is recognized. */
#include "codecs/heif/heif.h"

#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/xmp.h"

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

/* ---- EXIF and XMP ---------------------------------------------------------*/

/* Appends an item that describes the picture to `data`, which is empty, and
 * stays so if the item is another one, or its data goes on to the end. */
static int read_metadata(struct bytes *data, const struct heif *heif,
                         const struct heif_item *item, struct account *account,
                         struct err *err)
{
    const struct heif_extent *extent = heif_extents(heif) + item->extent;
    const bool ours = item->is.ours || !item->is.tells;
    bool open = false;
    if (!ours || (strcmp(item->type, "Exif") != 0 && !item->is.xmp))
        return 0;
    for (size_t i = 0; i < item->extents; i++)
        open = open || extent[i].open;
    for (size_t i = 0; i < item->extents && !open; i++) {
        const size_t size = extent[i].end - extent[i].begin;
        if (account && account_spend(account, size, err))
            return -1;
        if (!bytes_append(data, heif->file.data + extent[i].begin, size))
            return fail_memory(err, "no memory for metadata");
    }
    return 0;
}

/* Sets the orientations in EXIF and XMP to 1, in the file as it is written. */
static int retag_metadata(uint8_t *to, const struct heif *heif,
                          const struct heif_edits *edits, enum xform op,
                          struct account *account, struct err *err)
{
    int status = 0;
    for (size_t i = 0; i < heif_item_count(heif) && status == 0; i++) {
        const struct heif_item *item = &heif_items(heif)[i];
        const struct heif_extent *extent = heif_extents(heif) + item->extent;
        struct bytes data = { 0 };
        status = read_metadata(&data, heif, item, account, err);
        const size_t begin =
            item->is.xmp ? 0 : exif_item_begin(data.data, data.size);
        if (status == 0 && item->is.xmp && data.size)
            xmp_turn(data.data, data.size, XFORM_NONE, 1);
        else if (status == 0 && begin < data.size)
            exif_retag(data.data + begin, data.size - begin, 1, op);
        for (size_t from = 0; status == 0 && from < data.size; extent++) {
            const size_t size = extent->end - extent->begin;
            memcpy(to + heif_moved(edits, extent->begin), data.data + from,
                   size);
            from += size;
        }
        bytes_free(&data);
    }
    return status;
}

/* ---- Reading --------------------------------------------------------------*/

/* What a file says of its picture. */
struct heif_picture {
    uint32_t width, height; /* as stored */
    struct orientation orientation;
    bool transforms; /* irot or imir says it */
};

/* Reads the bits of a mini box: three of them are the orientation, and then
 * come the sizes. */
static void describe_mini(struct heif_picture *picture, const struct heif *heif)
{
    const uint8_t *bits = heif->file.data + heif->box[HEIF_MINI].body;
    const uint32_t sizes = read_be32(bits + 2);
    const bool large = sizes >> 31;
    orientation_note(&picture->orientation, TAG_TRANSFORMS, (bits[1] & 7u) + 1);
    picture->width = 1 + (large ? sizes >> 16 & 0x7fff : sizes >> 24 & 0x7f);
    picture->height = 1 + (large ? sizes >> 1 & 0x7fff : sizes >> 17 & 0x7f);
    picture->transforms = true;
}

/* Describes the picture, and marks what is shown with it. Adds the metadata to
 * `meta`, unless that is NULL. */
static int describe(struct heif_picture *picture, struct heif *heif,
                    struct account *account, struct meta *meta, struct err *err)
{
    struct heif_shown shown;
    enum tag_place place = TAG_EXIF;
    *picture = (struct heif_picture){ 0 };
    if (heif->box[HEIF_MINI].end) {
        describe_mini(picture, heif);
        return 0;
    }
    const uint8_t *ispe = heif_find(heif, heif->primary, HEIF_ISPE);
    if (heif_mark(heif, err) || heif_shown(heif, heif->primary, &shown, err))
        return -1;
    picture->width = read_be32(ispe + 12);
    picture->height = read_be32(ispe + 16);
    picture->transforms =
        shown.property[HEIF_IROT] || shown.property[HEIF_IMIR];
    if (picture->transforms)
        orientation_note(&picture->orientation, TAG_TRANSFORMS,
                         xform_to_exif(shown.turn));
    for (size_t i = 0; i < heif_item_count(heif); i++) {
        const struct heif_item *item = &heif_items(heif)[i];
        struct bytes data = { 0 };
        int status = read_metadata(&data, heif, item, account, err);
        const size_t begin =
            item->is.xmp ? data.size : exif_item_begin(data.data, data.size);
        if (status == 0 && begin < data.size) {
            orientation_note(&picture->orientation, place,
                             exif_tag(data.data + begin, data.size - begin));
            place = TAG_MORE_EXIF;
        }
        if (status == 0 && meta && data.size &&
            !meta_add(meta, item->is.xmp ? "XMP" : "Exif", 0, data.data,
                      data.size))
            status = fail_memory(err, "no memory for metadata");
        bytes_free(&data);
        if (status)
            return -1;
    }
    return 0;
}

/* Lists the pictures beside the first one. */
static int list_pictures(const struct heif *heif, struct meta *meta,
                         struct err *err)
{
    for (size_t i = 0; i < heif_item_count(heif); i++) {
        const struct heif_item *item = &heif_items(heif)[i];
        const char *name = NULL;
        if (item->is.turned && item != heif->primary)
            name = "picture shown with it";
        else if (!item->is.turned && heif_stands_alone(heif, item))
            name = "another picture";
        if (name && !meta_is_full(meta) && !meta_add(meta, name, 0, "", 0))
            return fail_memory(err, "no memory for metadata");
    }
    return 0;
}

static int open(struct reader *reader, struct err *err)
{
    struct heif heif;
    struct heif_picture picture;
    struct meta *meta = reader->img.meta;
    int status = heif_read(&heif, reader->file, err);
    if (status == 0)
        status =
            describe(&picture, &heif, reader->opts->limits.account, meta, err);
    if (status == 0)
        status = list_pictures(&heif, meta, err);
    if (status == 0) {
        reader->img.width = picture.width;
        reader->img.height = picture.height;
        meta->orientation = picture.orientation;
        reader->img.orientation =
            picture.orientation.value ? picture.orientation.value : 1;
    }
    heif_free(&heif);
    return status;
}

/* ---- Turning --------------------------------------------------------------*/

static void warn_of_turn(const struct heif *heif,
                         const struct heif_picture *picture, bool only_exif,
                         struct warnings *warnings)
{
    const struct heif_item *spoilt = NULL;
    size_t others = 0;
    for (size_t i = 0; i < heif_item_count(heif); i++) {
        const struct heif_item *item = &heif_items(heif)[i];
        others += !item->is.turned && heif_stands_alone(heif, item);
        if (item->is.made && !heif_follows(item))
            spoilt = item;
    }
    if (only_exif)
        warn(warnings,
             "only EXIF said the orientation, %u, which not all programs obey; "
             "now irot and imir say it",
             picture->orientation.value);
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
    if (heif->sealed)
        warn(warnings, "C2PA signs the bytes of the file, and will not vouch "
                       "for the turned one");
}

static int turn_items(struct bytes *out, struct heif *heif,
                      struct heif_plan *plan, enum xform op,
                      struct account *account, struct err *err)
{
    const size_t base = out->size;
    struct heif_edits edits = { 0 };
    int status = plan->turn == XFORM_NONE ? 0 : heif_plan(heif, plan, err);
    if (status == 0)
        status = heif_write(out, heif, &edits, err);
    if (status == 0)
        status =
            retag_metadata(out->data + base, heif, &edits, op, account, err);
    for (int i = 0; i < HEIF_EDITS; i++)
        bytes_free(&edits.edit[i].with);
    memory_free(plan->change);
    return status;
}

static int turn(struct bytes *out, struct stream_info *info, struct heif *heif,
                enum xform op, const struct load_opts *opts, struct err *err)
{
    struct account *account = opts->limits.account;
    struct heif_picture picture;
    struct heif_plan plan = {
        .avif = probe_avif(heif->file.data, heif->file.size),
        .turn = op,
    };
    heif->all = opts->all;
    if (describe(&picture, heif, account, NULL, err))
        return -1;
    info->width = picture.width;
    info->height = picture.height;
    info->orientation = picture.orientation;
    const unsigned was = picture.orientation.value;
    const bool only_exif = !picture.transforms && was > 1;
    if (only_exif)
        plan.turn = xform_then(xform_from_exif(was), op);
    if (op != XFORM_NONE || only_exif)
        warn_of_turn(heif, &picture, only_exif, opts->warnings);
    if (!heif->box[HEIF_MINI].end && (op != XFORM_NONE || only_exif))
        return turn_items(out, heif, &plan, op, account, err);
    const size_t base = out->size;
    if (!bytes_append(out, heif->file.data, heif->file.size))
        return fail_memory(err, "no memory for the file");
    if (heif->box[HEIF_MINI].end) {
        uint8_t *bits = out->data + base + heif->box[HEIF_MINI].body + 1;
        *bits = (uint8_t)((*bits & ~7u) | (xform_retag(was, op) - 1));
    }
    return 0;
}

static int retag(struct bytes *out, struct stream_info *info, struct bytes file,
                 enum xform op, const struct load_opts *opts, struct err *err)
{
    struct heif heif;
    int status = heif_read(&heif, file, err);
    if (status == 0)
        status = turn(out, info, &heif, op, opts, err);
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
