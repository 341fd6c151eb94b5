/* An EXIF block: its directories (EXIF 2.3, 4.5), what they say of orientation
 * and size, its thumbnail, and its GPS directory. */
#include "codecs/metadata/exif.h"

#include <string.h>

#include "codecs/base/account.h"
#include "codecs/base/byte_order.h"
#include "codecs/metadata/metadata.h"
#include "codecs/metadata/tiff.h"

enum {
    TAG_IMAGE_WIDTH = 0x0100,
    TAG_IMAGE_LENGTH = 0x0101,
    TAG_COMPRESSION = 0x0103,
    TAG_STRIP_OFFSETS = 0x0111,
    TAG_ORIENTATION = 0x0112,
    TAG_STRIP_BYTE_COUNTS = 0x0117,
    TAG_X_RESOLUTION = 0x011a,
    TAG_Y_RESOLUTION = 0x011b,
    TAG_JPEG_OFFSET = 0x0201,
    TAG_JPEG_LENGTH = 0x0202,
    TAG_RELATED_WIDTH = 0x1001,
    TAG_RELATED_LENGTH = 0x1002,
    TAG_EXIF_IFD = 0x8769,
    TAG_GPS_IFD = 0x8825,
    TAG_SUBJECT_AREA = 0x9214,
    TAG_PIXEL_X_DIMENSION = 0xa002,
    TAG_PIXEL_Y_DIMENSION = 0xa003,
    TAG_INTEROP_IFD = 0xa005,
    TAG_FOCAL_X_RESOLUTION = 0xa20e,
    TAG_FOCAL_Y_RESOLUTION = 0xa20f,
    TAG_SUBJECT_LOCATION = 0xa214,
};

/* ---- Directories ----------------------------------------------------------
 *
 * IFD0 is the picture's; its link leads to IFD1, the thumbnail's; entries lead
 * to the Exif, GPS and Interoperability directories. These five are all we
 * follow, each by one known step, so that no chain of links can keep us going.
 */

enum { IFD0, IFD1, IFD_EXIF, IFD_GPS, IFD_INTEROP, EXIF_IFDS };

struct exif {
    struct tiff tiff;
    struct tiff_ifd ifd[EXIF_IFDS];
};

static struct tiff_ifd ifd_of(const struct exif *exif, int parent, unsigned tag)
{
    uint32_t start = 0;
    tiff_number(&exif->tiff, tiff_find(&exif->tiff, &exif->ifd[parent], tag),
                &start);
    return tiff_ifd_at(&exif->tiff, start);
}

/* Finds the directories of a block. Those that are not there are empty, and so
 * are those that are there twice: a change must be made once. What is not an
 * EXIF block has none. */
static struct exif open_exif(const uint8_t *data, size_t size)
{
    struct exif exif = { .ifd = { { 0 } } };
    const struct tiff *tiff = &exif.tiff;
    struct tiff_ifd *ifd = exif.ifd;
    if (!tiff_open(&exif.tiff, data, size))
        return exif;
    ifd[IFD0] = tiff_ifd_at(tiff, tiff_get(tiff, 4, 4));
    ifd[IFD1] = tiff_ifd_at(tiff, ifd->link ? tiff_get(tiff, ifd->link, 4) : 0);
    ifd[IFD_EXIF] = ifd_of(&exif, IFD0, TAG_EXIF_IFD);
    ifd[IFD_GPS] = ifd_of(&exif, IFD0, TAG_GPS_IFD);
    ifd[IFD_INTEROP] = ifd_of(&exif, IFD_EXIF, TAG_INTEROP_IFD);
    for (unsigned i = 1; i < EXIF_IFDS; i++)
        for (unsigned j = 0; j < i; j++)
            if (ifd[i].start == ifd[j].start)
                ifd[i] = (struct tiff_ifd){ 0 };
    return exif;
}

/* Returns where a directory ends, with its link. */
static size_t ifd_end(const struct tiff_ifd *ifd)
{
    return ifd->link ? ifd->link + 4 : ifd->end;
}

/* Some bytes of a block; none if the length is 0. */
struct extent {
    size_t at, length;
};

static bool overlap(struct extent a, struct extent b)
{
    return a.at < b.at + b.length && b.at < a.at + a.length;
}

/* Returns whether a directory or a value lies in these bytes. A thumbnail that
 * says it lies there has no right to them. */
static bool is_used(const uint8_t *data, size_t size, struct extent bytes)
{
    const struct exif exif = open_exif(data, size);
    for (unsigned i = 0; i < EXIF_IFDS; i++) {
        const struct tiff_ifd *ifd = &exif.ifd[i];
        const size_t all = ifd_end(ifd) - ifd->start;
        struct extent value;
        if (overlap(bytes, (struct extent){ ifd->start, all }) ||
            !account_look(all))
            return true;
        for (size_t entry = ifd->start + 2; entry < ifd->end;
             entry += TIFF_ENTRY)
            if (tiff_values(&exif.tiff, entry, &value.at, &value.length) &&
                overlap(bytes, value))
                return true;
    }
    return false;
}

/* ---- Orientation and size -------------------------------------------------*/

/* Returns the orientation in a directory, 1..8; 0 if it is missing or has
 * another value. */
static unsigned get_orientation(const struct tiff *tiff,
                                const struct tiff_ifd *ifd)
{
    uint32_t orientation = 0;
    tiff_number(tiff, tiff_find(tiff, ifd, TAG_ORIENTATION), &orientation);
    return orientation <= 8 ? orientation : 0;
}

unsigned exif_tag(const uint8_t *data, size_t size)
{
    struct tiff tiff;
    if (!tiff_open(&tiff, data, size))
        return 0;
    struct tiff_ifd ifd0 = tiff_ifd_at(&tiff, tiff_get(&tiff, 4, 4));
    return get_orientation(&tiff, &ifd0);
}

size_t exif_item_begin(const uint8_t *data, size_t size)
{
    size_t starts[] = { 4, 4, 10, 0, 6 };
    struct tiff tiff;
    if (size >= 4)
        starts[0] = (size_t)read_be32(data) + 4;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (starts[i] < size &&
            tiff_open(&tiff, data + starts[i], size - starts[i]))
            return starts[i];
    return size;
}

/* Sets the number of an entry, in as many bytes as it has. */
static void set_value(const struct tiff *tiff, uint8_t *data, size_t entry,
                      uint32_t value)
{
    tiff_put(tiff, data, entry + TIFF_ENTRY_VALUE,
             tiff_type_size[tiff_type(tiff, entry)], value);
}

/* All of them: not every reader takes the first. */
static void set_orientation(const struct tiff *tiff, uint8_t *data,
                            const struct tiff_ifd *ifd, unsigned orientation)
{
    uint32_t old;
    size_t entry = tiff_find(tiff, ifd, TAG_ORIENTATION);
    while (entry) {
        if (tiff_number(tiff, entry, &old))
            set_value(tiff, data, entry, orientation);
        entry = tiff_find_from(tiff, ifd, entry + TIFF_ENTRY, TAG_ORIENTATION);
    }
}

/* EXIF 2.3, SubjectArea: a point; a circle, with its diameter; or a rectangle,
 * by its center, width and height. A place outside of the picture, or one that
 * its type cannot hold after the turn, is left as it is. */
static void turn_subject(const struct tiff *tiff, uint8_t *data, size_t entry,
                         enum xform t, const uint32_t size[2])
{
    size_t at, length;
    if (!entry || !tiff_values(tiff, entry, &at, &length))
        return;
    uint32_t count = tiff_count(tiff, entry), was[4], is[4];
    unsigned type = tiff_type(tiff, entry), bytes = tiff_type_size[type];
    const bool flip = xform_transposes(t);
    if (count < 2 || count > 4 || (type != TIFF_SHORT && type != TIFF_LONG))
        return;
    for (unsigned i = 0; i < count; i++)
        was[i] = is[i] = tiff_get(tiff, at + i * bytes, bytes);
    if (was[0] >= size[0] || was[1] >= size[1])
        return;
    is[0] = t & XFORM_MIRROR_X ? size[flip] - 1 - was[flip] : was[flip];
    is[1] = t & XFORM_MIRROR_Y ? size[!flip] - 1 - was[!flip] : was[!flip];
    if (type == TIFF_SHORT && (is[0] > UINT16_MAX || is[1] > UINT16_MAX))
        return;
    if (count == 4 && flip) {
        is[2] = was[3];
        is[3] = was[2];
    }
    for (unsigned i = 0; i < count; i++)
        tiff_put(tiff, data, at + i * bytes, bytes, is[i]);
}

/* Exchanges sizes and densities for x and for y in a directory. Type and count
 * go with the value, or with its offset: nothing has to move, and the tags stay
 * in their order. */
static void exchange_axes(const struct tiff *tiff, uint8_t *data,
                          const struct tiff_ifd *ifd)
{
    static const uint16_t pairs[][2] = {
        { TAG_IMAGE_WIDTH, TAG_IMAGE_LENGTH },
        { TAG_X_RESOLUTION, TAG_Y_RESOLUTION },
        { TAG_RELATED_WIDTH, TAG_RELATED_LENGTH },
        { TAG_PIXEL_X_DIMENSION, TAG_PIXEL_Y_DIMENSION },
        { TAG_FOCAL_X_RESOLUTION, TAG_FOCAL_Y_RESOLUTION },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        size_t x = tiff_find(tiff, ifd, pairs[i][0]);
        size_t y = tiff_find(tiff, ifd, pairs[i][1]);
        if (x && y)
            axes_exchange(data + x + TIFF_ENTRY_TYPE,
                          data + y + TIFF_ENTRY_TYPE,
                          TIFF_ENTRY - TIFF_ENTRY_TYPE);
    }
}

/* A tag is looked for in each directory, also where it does not belong: files
 * have them there, and no tag has two meanings. */
void exif_turn(uint8_t *data, size_t size, const struct change *change,
               unsigned orientation)
{
    static const uint16_t sides[2][2] = {
        { TAG_IMAGE_WIDTH, TAG_PIXEL_X_DIMENSION },
        { TAG_IMAGE_LENGTH, TAG_PIXEL_Y_DIMENSION },
    };
    const uint32_t shape[2] = { change->kept_width, change->kept_height };
    const struct exif exif = open_exif(data, size);
    const struct tiff *tiff = &exif.tiff;
    const bool flip = xform_transposes(change->turn);
    for (unsigned i = 0; i < EXIF_IFDS; i++) {
        const struct tiff_ifd *ifd = &exif.ifd[i];
        size_t area = tiff_find(tiff, ifd, TAG_SUBJECT_AREA);
        size_t location = tiff_find(tiff, ifd, TAG_SUBJECT_LOCATION);
        turn_subject(tiff, data, area, change->turn, shape);
        turn_subject(tiff, data, location, change->turn, shape);
        if (orientation)
            set_orientation(tiff, data, ifd, orientation);
        if (flip)
            exchange_axes(tiff, data, ifd);
        for (unsigned k = 0; change_trims(change) && i != IFD1 && k < 4; k++) {
            const uint32_t is = shape[(k / 2) ^ flip];
            uint32_t old;
            size_t entry = tiff_find(tiff, ifd, sides[k / 2][k % 2]);
            if (tiff_number(tiff, entry, &old) && is <= old)
                set_value(tiff, data, entry, is);
        }
    }
}

void exif_retag(uint8_t *data, size_t size, unsigned orientation, enum xform t)
{
    const struct exif exif = open_exif(data, size);
    for (unsigned i = 0; i < EXIF_IFDS; i++) {
        const struct tiff_ifd *ifd = &exif.ifd[i];
        unsigned own = get_orientation(&exif.tiff, ifd);
        if (i != IFD1)
            set_orientation(&exif.tiff, data, ifd, orientation);
        else if (own)
            set_orientation(&exif.tiff, data, ifd, xform_retag(own, t));
    }
}

/* ---- A tag that was not there ---------------------------------------------*/

/* IFD0 is written anew behind all else, where it may grow. */
int exif_add_orientation(struct bytes *exif, unsigned orientation)
{
    /* A block of nothing but an orientation, which is put at its byte 19. */
    static const uint8_t smallest[] = {
        'M',        'M', 0, '*', 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0,
        TIFF_SHORT, 0,   0, 0,   1, 0, 1, 0, 0, 0, 0,    0,    0,
    };
    struct tiff tiff;
    if (exif->size == 0) {
        if (!bytes_append(exif, smallest, sizeof smallest))
            return -1;
        exif->data[19] = (uint8_t)orientation;
        return 0;
    }
    if (!tiff_open(&tiff, exif->data, exif->size))
        return -1;
    const struct tiff_ifd ifd0 = tiff_ifd_at(&tiff, tiff_get(&tiff, 4, 4));
    const size_t to = exif->size + exif->size % 2;
    const size_t entries = (ifd0.end - ifd0.start) / TIFF_ENTRY;
    if (!ifd0.start || to > UINT32_MAX || entries == UINT16_MAX ||
        !tiff_add_orientation(exif, tiff.big, false, &ifd0, orientation))
        return -1;
    tiff_put(&tiff, exif->data, 4, 4, (uint32_t)to);
    return 0;
}

/* ---- The thumbnail --------------------------------------------------------*/

/* EXIF 2.3, 4.5.5: a JPEG thumbnail lies where JPEGInterchangeFormat says. */
static struct extent find_jpeg(const struct exif *exif)
{
    const struct tiff *tiff = &exif->tiff;
    const struct tiff_ifd *ifd1 = &exif->ifd[IFD1];
    uint32_t at, length;
    if (!tiff_number(tiff, tiff_find(tiff, ifd1, TAG_JPEG_OFFSET), &at) ||
        !tiff_number(tiff, tiff_find(tiff, ifd1, TAG_JPEG_LENGTH), &length) ||
        at < TIFF_HEADER || !tiff_contains(tiff, at, length))
        return (struct extent){ 0 };
    return (struct extent){ at, length };
}

/* Number `i` of an entry that holds SHORT or LONG. */
static bool get_nth(const struct tiff *tiff, size_t entry, size_t i,
                    uint32_t *number)
{
    size_t at, length;
    if (!entry || !account_look(TIFF_ENTRY) ||
        !tiff_values(tiff, entry, &at, &length))
        return false;
    unsigned type = tiff_type(tiff, entry), bytes = tiff_type_size[type];
    if ((type != TIFF_SHORT && type != TIFF_LONG) || i >= length / bytes)
        return false;
    *number = tiff_get(tiff, at + i * bytes, bytes);
    return true;
}

/* Any other one lies in strips (TIFF 6.0, section 3), which follow each other
 * in all files known: where one does not, we stop. */
static struct extent find_strips(const struct exif *exif)
{
    const struct tiff *tiff = &exif->tiff;
    const struct tiff_ifd *ifd1 = &exif->ifd[IFD1];
    size_t offsets = tiff_find(tiff, ifd1, TAG_STRIP_OFFSETS);
    size_t counts = tiff_find(tiff, ifd1, TAG_STRIP_BYTE_COUNTS);
    struct extent found = { 0 };
    uint32_t offset, bytes;
    for (size_t i = 0;
         get_nth(tiff, offsets, i, &offset) && get_nth(tiff, counts, i, &bytes);
         i++) {
        if (i == 0)
            found.at = offset;
        if (offset < TIFF_HEADER || bytes == 0 ||
            offset != found.at + found.length ||
            !tiff_contains(tiff, offset, bytes))
            break;
        found.length += bytes;
    }
    return found.length ? found : (struct extent){ 0 };
}

/* The Compression tag is often missing or wrong. It decides only where there
 * are strips as well. */
struct exif_thumbnail exif_thumbnail_find(const uint8_t *data, size_t size)
{
    enum { COMPRESSION_JPEG = 6 };
    const struct exif exif = open_exif(data, size);
    const struct tiff_ifd *ifd1 = &exif.ifd[IFD1];
    const struct extent jpeg = find_jpeg(&exif), strips = find_strips(&exif);
    uint32_t compression = COMPRESSION_JPEG;
    tiff_number(&exif.tiff, tiff_find(&exif.tiff, ifd1, TAG_COMPRESSION),
                &compression);
    struct exif_thumbnail found = {
        .exists = jpeg.length || strips.length,
        .orientation = get_orientation(&exif.tiff, ifd1),
    };
    if (jpeg.length >= 2 && memcmp(data + jpeg.at, "\xff\xd8", 2) == 0 &&
        (compression == COMPRESSION_JPEG || !strips.length)) {
        found.at = jpeg.at;
        found.length = jpeg.length;
    }
    return found;
}

void exif_thumbnail_exchange(uint8_t *data, size_t size)
{
    const struct exif exif = open_exif(data, size);
    exchange_axes(&exif.tiff, data, &exif.ifd[IFD1]);
}

/* Takes these bytes away, unless something else stands there. */
static void erase(struct bytes *exif, struct extent bytes)
{
    if (!bytes.length || bytes.at + bytes.length > exif->size ||
        is_used(exif->data, exif->size, bytes))
        return;
    memset(exif->data + bytes.at, 0, bytes.length);
    if (bytes.at + bytes.length == exif->size)
        exif->size = bytes.at;
}

/* Puts the file where the old one is, if it fits or if the block ends there;
 * else behind the end, on a word boundary (TIFF 6.0, section 2). At the end it
 * is cut rather than filled up, so that turn after turn the block stays as
 * small as its thumbnail. */
int exif_thumbnail_set(struct bytes *exif, const void *jpeg, size_t length)
{
    const struct exif_thumbnail was =
        exif_thumbnail_find(exif->data, exif->size);
    const struct extent old = { was.at, was.length };
    if (!was.length)
        return 0;
    const struct exif opened = open_exif(exif->data, exif->size);
    const struct tiff *tiff = &opened.tiff;
    const size_t entry[] = {
        tiff_find(tiff, &opened.ifd[IFD1], TAG_JPEG_OFFSET),
        tiff_find(tiff, &opened.ifd[IFD1], TAG_JPEG_LENGTH),
    };
    bool stays = !is_used(exif->data, exif->size, old) &&
                 (length <= old.length || old.at + old.length == exif->size);
    size_t to = stays ? old.at : exif->size + (exif->size & 1);
    if (length > UINT32_MAX || to > UINT32_MAX - length)
        return -1;
    size_t end = to + length;
    if (end > exif->size && !bytes_reserve(exif, end - exif->size))
        return -1;

    erase(exif, old);
    while (exif->size < to)
        exif->data[exif->size++] = 0;
    if (exif->size < end)
        exif->size = end;
    memcpy(exif->data + to, jpeg, length);
    for (int i = 0; i < 2; i++) { /* it may no longer fit into a SHORT */
        tiff_put(tiff, exif->data, entry[i] + TIFF_ENTRY_TYPE, 2, TIFF_LONG);
        tiff_put(tiff, exif->data, entry[i] + TIFF_ENTRY_VALUE, 4,
                 (uint32_t)(i ? length : to));
    }
    return 0;
}

void exif_thumbnail_drop(struct bytes *exif)
{
    const struct exif opened = open_exif(exif->data, exif->size);
    if (!opened.ifd[IFD1].start)
        return;
    const struct extent jpeg = find_jpeg(&opened),
                        strips = find_strips(&opened);
    erase(exif, jpeg);
    erase(exif, strips);
    tiff_put(&opened.tiff, exif->data, opened.ifd[IFD0].link, 4, 0);
}

/* ---- What --strip names ---------------------------------------------------*/

/* Puts zeros there. Returns false if the bytes belong to something else as
 * well. */
static bool clear(uint8_t *data, size_t size, struct extent bytes)
{
    const struct exif exif = open_exif(data, size);
    if (bytes.at < TIFF_HEADER ||
        !tiff_contains(&exif.tiff, bytes.at, bytes.length) ||
        is_used(data, size, bytes) || overlap(bytes, find_jpeg(&exif)) ||
        overlap(bytes, find_strips(&exif)))
        return false;
    memset(data + bytes.at, 0, bytes.length);
    return true;
}

/* Puts zeros in the place of the GPS directory and its values, and takes away
 * the entries that lead there, of which a sound block has one: what follows
 * each in its directory moves up. What lies in another directory may go with a
 * place that claims to be there. Returns false if that would harm what lies in
 * the same bytes, or if the block is malformed; some of it may be gone then. */
static bool drop_gps(uint8_t *data, size_t size)
{
    enum { GPS_LINKS = 8, GPS_ENTRIES = 64 /* EXIF 2.32 has 32 tags */ };
    const unsigned orientation = exif_tag(data, size);
    for (unsigned links = 0; links <= GPS_LINKS; links++) {
        const struct exif exif = open_exif(data, size);
        const struct tiff *tiff = &exif.tiff;
        size_t entry = 0;
        unsigned i;
        uint32_t start;
        for (i = 0; i < EXIF_IFDS && !entry; i++)
            entry = tiff_find(tiff, &exif.ifd[i], TAG_GPS_IFD);
        if (!entry)
            return exif_tag(data, size) == orientation;
        if (!tiff_number(tiff, entry, &start))
            return false;
        const struct tiff_ifd *from = &exif.ifd[i - 1];
        const size_t last = ifd_end(from) - TIFF_ENTRY;
        const struct extent moved = { entry, ifd_end(from) - entry };
        if (overlap(moved, find_jpeg(&exif)) ||
            overlap(moved, find_strips(&exif)))
            return false;
        memmove(data + entry, data + entry + TIFF_ENTRY, last - entry);
        memset(data + last, 0, TIFF_ENTRY);
        tiff_put(tiff, data, from->start, 2,
                 tiff_get(tiff, from->start, 2) - 1);
        /* The values, then the directory, which no entry leads to any more. */
        const struct tiff_ifd gps = tiff_ifd_at(tiff, start);
        if ((gps.end - gps.start) / TIFF_ENTRY > GPS_ENTRIES)
            return false;
        for (entry = gps.start + 2; entry < gps.end; entry += TIFF_ENTRY) {
            struct extent value;
            if (tiff_type(tiff, entry) >= TIFF_TYPES ||
                (tiff_values(tiff, entry, &value.at, &value.length) &&
                 value.length > 4 && !clear(data, size, value)))
                return false;
        }
        if (gps.start &&
            !clear(data, size,
                   (struct extent){ gps.start, ifd_end(&gps) - gps.start }))
            return false;
    }
    return false;
}

/* A thumbnail, which is a file, may hold coordinates itself. */
int exif_drop(struct bytes *exif, unsigned drop, struct err *err)
{
    static const char *const heads[] = { "Exif", "http://ns.adobe.com/xap/",
                                         "Photoshop 3.0" };
    const struct exif_thumbnail t = exif_thumbnail_find(exif->data, exif->size);
    bool thumbnail = drop & DROP_THUMBNAIL;
    for (size_t i = 0; drop & DROP_GPS && i < sizeof heads / sizeof *heads; i++)
        thumbnail =
            thumbnail || (t.length && memmem(exif->data + t.at, t.length,
                                             heads[i], strlen(heads[i])));
    if (thumbnail)
        exif_thumbnail_drop(exif);
    if (drop & DROP_GPS && !drop_gps(exif->data, exif->size))
        return fail(err, "GPS in EXIF shares bytes with something else, or is "
                         "malformed, so that it cannot be cut out; "
                         "--strip=exif drops all of EXIF");
    return 0;
}
