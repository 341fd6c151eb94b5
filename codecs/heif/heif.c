/* HEIC and AVIF: two codecs that differ in how a file is recognized. */
#include "codecs/heif/heif.h"

#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/tiff.h"
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

struct metadata_item {
    struct heif_location location;
    struct bytes data;
    size_t tiff; /* where EXIF begins in it; SIZE_MAX: nowhere */
};

/* EXIF begins where its first four bytes say, counted from behind them; but
 * some files have "Exif" before it all the same, or no such bytes. */
static size_t find_tiff(struct bytes data)
{
    size_t starts[] = { 4, 4, 10, 0, 6 };
    struct tiff tiff;
    if (data.size >= 4)
        starts[0] = (size_t)read_be32(data.data) + 4;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (starts[i] < data.size &&
            tiff_open(&tiff, data.data + starts[i], data.size - starts[i]))
            return starts[i];
    return SIZE_MAX;
}

/* Fills `read`, which the caller frees, with an item that describes the
 * picture; leaves it empty if that is another one. */
static int read_metadata(struct metadata_item *read, const struct heif *heif,
                         const struct heif_item *item, struct account *account,
                         struct err *err)
{
    const bool exif = strcmp(item->type, "Exif") == 0;
    struct heif_extent extent;
    *read = (struct metadata_item){ .tiff = SIZE_MAX };
    if ((!exif && !item->is.xmp) || (item->is.tells && !item->is.ours) ||
        !item->location)
        return 0;
    heif_location(heif, item->location, &read->location);
    if (read->location.method > 1)
        return 0;
    for (unsigned i = 0; i < read->location.extents; i++) {
        if (!heif_extent(heif, &read->location, i, &extent) || extent.open) {
            bytes_free(&read->data);
            return 0;
        }
        const size_t size = extent.end - extent.begin;
        if (account && account_spend(account, size, err))
            return -1;
        if (!bytes_append(&read->data, heif->file.data + extent.begin, size))
            return fail_memory(err, "no memory for %s", exif ? "EXIF" : "XMP");
    }
    if (exif)
        read->tiff = find_tiff(read->data);
    return 0;
}

/* Puts what has changed back to `to`, where the file is now. */
static void put_metadata(uint8_t *to, const struct heif *heif,
                         const struct metadata_item *item,
                         const struct heif_edits *edits)
{
    struct heif_extent extent;
    const uint8_t *from = item->data.data;
    for (unsigned i = 0; i < item->location.extents && from; i++) {
        heif_extent(heif, &item->location, i, &extent);
        for (size_t at = extent.begin; at < extent.end; at++, from++)
            if (*from != heif->file.data[at])
                to[heif_moved(edits, at)] = *from;
    }
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
    const uint8_t *bits = heif->file.data + heif->mini.body;
    const uint32_t sizes = read_be32(bits + 2);
    const bool large = sizes >> 31;
    orientation_note(&picture->orientation, TAG_TRANSFORMS, (bits[1] & 7u) + 1);
    picture->width = 1 + (large ? sizes >> 16 & 0x7fff : sizes >> 24 & 0x7f);
    picture->height = 1 + (large ? sizes >> 1 & 0x7fff : sizes >> 17 & 0x7f);
    picture->transforms = true;
}

/* Adds the metadata to `meta`, unless that is NULL. */
static int describe(struct heif_picture *picture, struct heif *heif,
                    struct account *account, struct meta *meta, struct err *err)
{
    struct heif_shown shown;
    enum tag_place place = TAG_EXIF;
    *picture = (struct heif_picture){ 0 };
    if (heif->mini.end) {
        describe_mini(picture, heif);
        return 0;
    }
    const struct heif_item *primary = heif_item(heif, heif->primary);
    const uint8_t *ispe = heif_find(heif, primary, HEIF_ISPE);
    if (heif_mark(heif, err) || heif_shown(heif, primary, &shown, err))
        return -1;
    picture->width = ispe ? read_be32(ispe + 12) : 0;
    picture->height = ispe ? read_be32(ispe + 16) : 0;
    picture->transforms =
        shown.property[HEIF_IROT] || shown.property[HEIF_IMIR];
    if (picture->transforms)
        orientation_note(&picture->orientation, TAG_TRANSFORMS,
                         xform_to_exif(shown.turn));
    for (size_t i = 0; i < heif->nitems; i++) {
        struct metadata_item read;
        bool added = true;
        int status = read_metadata(&read, heif, &heif->item[i], account, err);
        if (status == 0 && read.tiff != SIZE_MAX) {
            orientation_note(&picture->orientation, place,
                             exif_tag(read.data.data + read.tiff,
                                      read.data.size - read.tiff));
            place = TAG_MORE_EXIF;
        }
        if (status == 0 && meta && read.data.size)
            added = meta_add(meta, heif->item[i].is.xmp ? "XMP" : "Exif", 0,
                             read.data.data, read.data.size);
        bytes_free(&read.data);
        if (status || !added)
            return status ? -1 : fail_memory(err, "no memory for metadata");
    }
    return 0;
}

/* Lists the pictures beside the first one. */
static int list_pictures(const struct heif *heif, struct meta *meta,
                         struct err *err)
{
    for (size_t i = 0; i < heif->nitems && !heif->mini.end; i++) {
        const struct heif_item *item = &heif->item[i];
        const char *name = NULL;
        if (item->is.turned && item->id != heif->primary)
            name = "picture shown with it";
        else if (!item->is.part && !item->is.hidden && !item->is.turned &&
                 heif_find(heif, item, HEIF_ISPE))
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
                         const struct load_opts *opts)
{
    const struct heif_item *spoilt = NULL;
    const size_t others = heif->mini.end ? 0 : heif_others(heif, &spoilt);
    if (only_exif)
        warn(opts->warnings,
             "only EXIF said the orientation, %u, which not all programs obey; "
             "now irot and imir say it",
             picture->orientation.value);
    if (others)
        warn(opts->warnings,
             "it has %zu other picture%s, which stay%s as stored; --all turns "
             "all",
             others, others > 1 ? "s" : "", others > 1 ? "" : "s");
    if (spoilt)
        warn(opts->warnings,
             "another picture of the file, item %u (%s), has this one within "
             "it, and shows it turned there",
             spoilt->id, spoilt->type);
    if (heif->sealed)
        warn(opts->warnings, "C2PA signs the bytes of the file, and will not "
                             "vouch for the turned one");
}

/* Sets the orientations in EXIF and XMP to 1. */
static int retag_metadata(uint8_t *to, const struct heif *heif,
                          const struct heif_edits *edits, enum xform op,
                          struct account *account, struct err *err)
{
    int status = 0;
    for (size_t i = 0; i < heif->nitems && status == 0; i++) {
        struct metadata_item read;
        status = read_metadata(&read, heif, &heif->item[i], account, err);
        if (status == 0 && read.tiff != SIZE_MAX)
            exif_retag(read.data.data + read.tiff, read.data.size - read.tiff,
                       1, op);
        else if (status == 0 && heif->item[i].is.xmp && read.data.size)
            xmp_turn(read.data.data, read.data.size, XFORM_NONE, 1);
        if (status == 0)
            put_metadata(to, heif, &read, edits);
        bytes_free(&read.data);
    }
    return status;
}

static int turn_items(struct bytes *out, struct heif *heif,
                      struct heif_plan *plan, enum xform op,
                      struct account *account, struct err *err)
{
    const size_t base = out->size;
    struct heif_edits edits = { .count = 0 };
    int status = plan->turn == XFORM_NONE ? 0 : heif_plan(heif, plan, err);
    if (status == 0)
        status = heif_write(out, heif, plan, &edits, err);
    if (status == 0)
        status =
            retag_metadata(out->data + base, heif, &edits, op, account, err);
    heif_edits_free(&edits);
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
        warn_of_turn(heif, &picture, only_exif, opts);
    if (!heif->mini.end && (op != XFORM_NONE || only_exif))
        return turn_items(out, heif, &plan, op, account, err);
    const size_t base = out->size;
    if (!bytes_append(out, heif->file.data, heif->file.size))
        return fail_memory(err, "no memory for the file");
    if (heif->mini.end) {
        uint8_t *bits = out->data + base + heif->mini.body + 1;
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
