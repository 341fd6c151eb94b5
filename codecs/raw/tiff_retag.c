/* The orientation tags of TIFF files and of raw files. */
#include "codecs/raw/tiff_retag.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/xmp.h"

/* ---- EXIF in embedded JPEG files ------------------------------------------*/

struct bytes tiff_retag_exif(struct bytes file, uint64_t jpeg)
{
    enum { SOI = 0xffd8, APP0 = 0xffe0, APP1 = 0xffe1, COM = 0xfffe };
    const uint8_t *data = file.data;
    if (jpeg >= file.size || file.size - jpeg < 4 ||
        read_be16(data + jpeg) != SOI)
        return (struct bytes){ 0 };
    for (size_t at = (size_t)jpeg + 2; file.size - at >= 10;) {
        const unsigned marker = read_be16(data + at);
        const size_t size = read_be16(data + at + 2);
        if ((marker & 0xfff0) != APP0 && marker != COM)
            break;
        if (size < 2 || size > file.size - at - 2)
            break;
        if (marker == APP1 && size > 8 && !memcmp(data + at + 4, "Exif\0", 6))
            return (struct bytes){ .data = file.data + at + 10,
                                   .size = size - 8 };
        at += 2 + size;
    }
    return (struct bytes){ 0 };
}

/* Returns the turn that makes one tag the other. */
static enum xform between(unsigned from, unsigned to)
{
    return xform_then(xform_inverse(xform_from_exif(from)),
                      xform_from_exif(to));
}

void tiff_retag_set_exif(uint8_t *exif, size_t size, unsigned orientation)
{
    const unsigned thumbnail = exif_thumbnail_find(exif, size).orientation;
    exif_retag(exif, size, orientation, between(thumbnail, orientation));
}

/* Returns the EXIF block of the JPEG file that an IFD of a raw file holds as a
 * preview: in Panasonic's, in a tag of its own. */
static struct bytes preview_exif(const struct ifds *ifds, const struct ifd *ifd)
{
    enum { TAG_PANASONIC_JPEG = 46 };
    const struct ifd_values panasonic =
        ifds_values(ifds, ifds_find(ifds, ifd, 0, TAG_PANASONIC_JPEG));
    const uint64_t strip =
        ifds_number(ifds, ifd, ENTRY_STRIPS, ifds->file.size);
    return tiff_retag_exif(
        ifds->file, panasonic.size ? panasonic.at
                                   : ifds_number(ifds, ifd, ENTRY_JPEG, strip));
}

/* ---- Reading --------------------------------------------------------------*/

/* Tags of raw files that come before the orientation where readers look for it.
 */
static const struct {
    unsigned tag;
    const char *maker;
} others[] = { { 34310, "Leaf" }, { 46274, "Imacon" } };

struct reading {
    struct tiff_tags *tags;
    size_t visited;
    uint64_t end; /* where the last samples end */
};

/* Reads the orientation of an IFD; 0: it has none. Values that are none count
 * as 1, as they do for readers. */
static int read_orientation(const struct ifds *ifds, const struct ifd *ifd,
                            unsigned *orientation, struct err *err)
{
    const size_t entry = ifds_find(ifds, ifd, 0, ENTRY_ORIENTATION);
    const struct ifd_values values = ifds_values(ifds, entry);
    *orientation = 0;
    if (!entry)
        return 0;
    if (!values.integers || values.count != 1)
        return fail(err, "its orientation tag is malformed");
    const uint64_t value = ifds_get(ifds, values.at, values.size);
    *orientation = value >= 1 && value <= 8 ? (unsigned)value : 1;
    return 0;
}

/* Takes note of where strips or tiles end. Some cameras write no place. */
static void note_end(struct reading *reading, const struct ifd *ifd,
                     unsigned places, unsigned sizes)
{
    const struct ifds *ifds = &reading->tags->ifds;
    const struct ifd_values at =
        ifds_values(ifds, ifds_find(ifds, ifd, 0, places));
    const struct ifd_values size =
        ifds_values(ifds, ifds_find(ifds, ifd, 0, sizes));
    if (!at.integers || !size.integers)
        return;
    for (size_t i = 0; i < at.count && i < size.count; i++) {
        const uint64_t begin = ifds_get(ifds, at.at + i * at.size, at.size);
        const uint64_t bytes =
            ifds_get(ifds, size.at + i * size.size, size.size);
        const bool somewhere = begin != UINT32_MAX && bytes <= UINT64_MAX / 2;
        if (somewhere && begin <= UINT64_MAX / 2 &&
            begin + bytes > reading->end)
            reading->end = begin + bytes;
    }
}

/* The first picture gives the size of a TIFF file, the largest that of a raw
 * one. Panasonic has tags of its own for it. */
static void note_size(struct reading *reading, const struct ifd *ifd)
{
    enum { TAG_SENSOR_WIDTH = 2, TAG_SENSOR_HEIGHT = 3 };
    const struct ifds *ifds = &reading->tags->ifds;
    struct stream_info *info = &reading->tags->info;
    const uint64_t sensor_width = ifds_number(ifds, ifd, TAG_SENSOR_WIDTH, 0),
                   sensor_height = ifds_number(ifds, ifd, TAG_SENSOR_HEIGHT, 0),
                   width = ifds_number(ifds, ifd, ENTRY_WIDTH, sensor_width),
                   height = ifds_number(ifds, ifd, ENTRY_HEIGHT, sensor_height);
    if (width > UINT32_MAX || height > UINT32_MAX ||
        width * height <= (uint64_t)info->width * info->height)
        return;
    info->width = (uint32_t)width;
    info->height = (uint32_t)height;
}

static int read_ifd(void *context, const struct ifd *ifd, struct err *err)
{
    struct reading *reading = context;
    struct tiff_tags *tags = reading->tags;
    const struct ifds *ifds = &tags->ifds;
    struct orientation *o = &tags->info.orientation;
    const bool first = reading->visited++ == 0;
    unsigned value;
    if (read_orientation(ifds, ifd, &value, err))
        return -1;
    const struct ifd_values xmp =
        ifds_values(ifds, ifds_find(ifds, ifd, 0, ENTRY_XMP));
    if (first && xmp.size == 1)
        xmp_note(ifds->file.data + xmp.at, (size_t)xmp.count, o);
    if (first || (ifds->camera && ifd->kind != IFD_EXIF)) {
        if (!o->value || o->place != TAG_IFD)
            orientation_note(o, TAG_IFD, value);
        else if (value && value != o->value)
            tags->differs = value;
        note_size(reading, ifd);
    }
    if (!ifds->camera || ifd->kind == IFD_EXIF)
        return 0;
    note_end(reading, ifd, ENTRY_STRIPS, ENTRY_STRIP_SIZES);
    note_end(reading, ifd, ENTRY_TILES, ENTRY_TILE_SIZES);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (ifds_find(ifds, ifd, 0, others[i].tag))
            return fail_unread(err,
                               "a raw picture of %s, whose readers ignore the "
                               "orientation tag; convert it to DNG first",
                               others[i].maker);
    return 0;
}

int tiff_retag_read(struct tiff_tags *tags, struct bytes file, bool camera,
                    const struct load_opts *opts, struct err *err)
{
    struct reading reading = { .tags = tags };
    *tags = (struct tiff_tags){ .differs = 0 };
    if (!ifds_open(&tags->ifds, file))
        return fail(err, "not a TIFF file");
    tags->ifds.camera = camera;
    tags->ifds.lenient = camera || opts->tolerant;
    if (ifds_walk(&tags->ifds, SIZE_MAX, read_ifd, &reading, err))
        return -1;
    if (reading.end > file.size && !opts->tolerant)
        return fail(err, "it is cut: its samples end behind its own end; "
                         "--tolerant turns it all the same");
    return 0;
}

/* ---- Writing --------------------------------------------------------------*/

struct retagging {
    const struct tiff_tags *tags;
    struct bytes *out; /* a copy of the file, so far */
    enum xform op;
    unsigned page;  /* what the tag of the last page says afterwards */
    size_t pointer; /* where the offset of the next page stands in `out` */
    size_t visited;
};

/* Appends a copy of an IFD with the tag among its entries, which are in the
 * order of their tags, and lets the pointer to it lead there. */
static int add_tag(struct retagging *r, const struct ifd *ifd, struct err *err)
{
    enum { SHORT = 3 };
    const struct ifds *ifds = &r->tags->ifds;
    struct bytes *out = r->out;
    const unsigned counts = ifds_count(ifds), entry = ifds_entry(ifds),
                   wide = ifds_offset(ifds);
    const size_t at = out->size + out->size % 2;
    const size_t size = counts + (ifd->count + 1) * entry + wide;
    const bool has_link = ifds->file.size - ifd->link >= wide;
    size_t before = ifd->entries;
    if (!ifds->big && (ifd->count == UINT16_MAX || at + size > UINT32_MAX))
        return fail(err, "the orientation tag has no room in its first 4 GB");
    while (before < ifd->link && ifds_get(ifds, before, 2) < ENTRY_ORIENTATION)
        before += entry;
    if (!bytes_reserve(out, at - out->size + size))
        return fail_memory(err, "no memory for the picture");
    uint8_t *to = out->data + at;
    memset(out->data + out->size, 0, at - out->size + size);
    out->size = at + size;
    ifds_put(ifds, to, counts, ifd->count + 1);
    to += counts;
    memcpy(to, out->data + ifd->entries, before - ifd->entries);
    to += before - ifd->entries;
    ifds_put(ifds, to, 2, ENTRY_ORIENTATION);
    ifds_put(ifds, to + 2, 2, SHORT);
    ifds_put(ifds, to + 4, wide, 1);
    ifds_put(ifds, to + 4 + wide, 2, r->page);
    memcpy(to + entry, out->data + before,
           ifd->link - before + (has_link ? wide : 0));
    ifds_put(ifds, out->data + r->pointer, wide, at);
    r->pointer = out->size - wide;
    return 0;
}

/* Sets all of them: not every reader takes the first. */
static void set_tags(struct retagging *r, const struct ifd *ifd, size_t entry,
                     unsigned orientation)
{
    const struct ifds *ifds = &r->tags->ifds;
    for (; entry; entry = ifds_find(ifds, ifd, entry + ifds_entry(ifds),
                                    ENTRY_ORIENTATION)) {
        const struct ifd_values values = ifds_values(ifds, entry);
        if (values.integers)
            ifds_put(ifds, r->out->data + values.at, values.size, orientation);
    }
}

/* What a raw file says follows, if it has said the same. */
static void set_preview(struct retagging *r, const struct ifd *ifd)
{
    const struct bytes exif = preview_exif(&r->tags->ifds, ifd);
    const unsigned was = r->tags->info.orientation.value;
    if (exif.size && exif_tag(exif.data, exif.size) == (was ? was : 1))
        tiff_retag_set_exif(r->out->data +
                                (exif.data - r->tags->ifds.file.data),
                            exif.size, r->page);
}

static int write_ifd(void *context, const struct ifd *ifd, struct err *err)
{
    struct retagging *r = context;
    const struct ifds *ifds = &r->tags->ifds;
    const bool first = r->visited++ == 0, camera = ifds->camera;
    const size_t entry = ifds_find(ifds, ifd, 0, ENTRY_ORIENTATION);
    const struct ifd_values xmp =
        ifds_values(ifds, ifds_find(ifds, ifd, 0, ENTRY_XMP));
    unsigned value;
    if (read_orientation(ifds, ifd, &value, err))
        return -1;
    if (camera || first)
        value = r->tags->info.orientation.value;
    const unsigned turned = xform_retag(value, r->op);
    if (ifd->kind == IFD_PAGE)
        r->page = turned;
    if (xmp.size == 1)
        xmp_turn(r->out->data + xmp.at, (size_t)xmp.count, XFORM_NONE,
                 ifd->kind == IFD_SUB ? turned : r->page);
    if (camera && ifd->kind != IFD_EXIF)
        set_preview(r, ifd);
    set_tags(r, ifd, entry, ifd->kind == IFD_EXIF ? r->page : turned);
    if (ifd->kind != IFD_PAGE)
        return 0;
    if (!entry && r->page != 1 && (first || !camera))
        return add_tag(r, ifd, err);
    r->pointer = ifd->link;
    return 0;
}

int tiff_retag_write(struct bytes *out, const struct tiff_tags *tags,
                     enum xform op, struct err *err)
{
    const struct bytes file = tags->ifds.file;
    struct retagging r = {
        .tags = tags, .out = out, .op = op, .pointer = ifds_first(&tags->ifds)
    };
    if (!bytes_append(out, file.data, file.size))
        return fail_memory(err, "no memory for the picture");
    return op == XFORM_NONE
               ? 0
               : ifds_walk(&tags->ifds, SIZE_MAX, write_ifd, &r, err);
}

int tiff_retag(struct bytes *out, struct stream_info *info, struct bytes file,
               enum xform op, const struct load_opts *opts, struct err *err)
{
    struct tiff_tags tags;
    if (tiff_retag_read(&tags, file, false, opts, err))
        return -1;
    *info = tags.info;
    return tiff_retag_write(out, &tags, op, err);
}

/* ---- Raw or not -----------------------------------------------------------*/

struct sensor_search {
    const struct ifds *ifds;
    bool found;
};

/* What a sensor has measured, behind a filter of colors or linear (DNG 1.7); or
 * coded as only cameras do: Sony, Epson, Samsung, Nikon, Kodak, Pentax. */
static int look_for_sensor(void *context, const struct ifd *ifd,
                           struct err *err)
{
    static const uint16_t photometrics[] = { 32803, 34892 };
    static const uint16_t compressions[] = { 32767, 32769, 32770,
                                             34713, 65000, 65535 };
    struct sensor_search *search = context;
    const struct ifds *ifds = search->ifds;
    const uint64_t photometric = ifds_number(ifds, ifd, ENTRY_PHOTOMETRIC, 0);
    const uint64_t compression = ifds_number(ifds, ifd, ENTRY_COMPRESSION, 0);
    bool found = ifds_find(ifds, ifd, 0, ENTRY_DNG_VERSION);
    for (size_t i = 0; i < sizeof photometrics / sizeof *photometrics; i++)
        found = found || photometric == photometrics[i];
    for (size_t i = 0; i < sizeof compressions / sizeof *compressions; i++)
        found = found || compression == compressions[i];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        found = found || ifds_find(ifds, ifd, 0, others[i].tag);
    search->found = found && ifd->kind != IFD_EXIF;
    return search->found ? fail(err, "found") : 0;
}

bool tiff_retag_is_raw(const struct ifds *ifds)
{
    enum { PAGES = 8 }; /* raw files have no more */
    struct ifds camera = *ifds;
    struct sensor_search search = { .ifds = &camera };
    struct err unheard;
    camera.camera = camera.lenient = true;
    ifds_walk(&camera, PAGES, look_for_sensor, &search, &unheard);
    return search.found;
}
