/* Finds and rewrites what an EXIF block says about orientation and size.
 *
 * EXIF 2.3, 4.5: the block is a TIFF file (TIFF 6.0, section 2). A header of 8
 * bytes leads to IFD0, a directory of the picture; its link leads to IFD1, the
 * thumbnail's; entries lead to the Exif, GPS and Interoperability directories.
 * These five are all we follow, each by one known step, so that no chain of
 * links can keep us going. */
#include "codecs/metadata/exif.h"

#include <string.h>

#include "codecs/base/byte_order.h"

/* TIFF 6.0, section 2: an IFD is a count of 2 bytes, entries of 12, and the
 * offset of the next IFD in 4. An entry is tag, type, count, and the value
 * itself if it fits into the last 4 bytes, else its offset. */
enum {
    HEADER = 8,
    ENTRY = 12,
    ENTRY_TYPE = 2,
    ENTRY_COUNT = 4,
    ENTRY_VALUE = 8,
};

enum { TYPE_BYTE = 1, TYPE_SHORT = 3, TYPE_LONG = 4, TYPE_IFD = 13, TYPES };
static const uint8_t type_size[TYPES] = {
    0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4,
};

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

enum { COMPRESSION_JPEG = 6 };

struct tiff {
    const uint8_t *data;
    size_t size;
    bool big; /* the most significant byte comes first */
};

struct ifd {
    size_t start, end; /* end: of the entries that are there; both 0: no IFD */
    size_t link;       /* where the next IFD's offset stands; 0: nowhere */
};

enum { IFD0, IFD1, IFDS = 5 };

/* ---- Reading --------------------------------------------------------------*/

/* `at` and what follows has been checked against the size. */
static uint32_t get(const struct tiff *tiff, size_t at, unsigned bytes)
{
    return read_uint(tiff->data + at, bytes, tiff->big);
}

static bool in_block(const struct tiff *tiff, size_t at, uint64_t length)
{
    return at <= tiff->size && length <= tiff->size - at;
}

static bool open_tiff(struct tiff *tiff, const uint8_t *data, size_t size)
{
    *tiff = (struct tiff){ .data = data, .size = size };
    if (size < HEADER)
        return false;
    tiff->big = data[0] == 'M';
    return memcmp(data, tiff->big ? "MM\0*" : "II*", 4) == 0;
}

/* An IFD that claims more entries than there are has those that are there. */
static struct ifd ifd_at(const struct tiff *tiff, size_t start)
{
    struct ifd ifd = { 0 };
    if (start < HEADER || !in_block(tiff, start, 2))
        return ifd;
    size_t claimed = get(tiff, start, 2);
    size_t count = (tiff->size - start - 2) / ENTRY;
    if (claimed < count)
        count = claimed;
    ifd.start = start;
    ifd.end = start + 2 + count * ENTRY;
    if (count == claimed && in_block(tiff, ifd.end, 4))
        ifd.link = ifd.end;
    return ifd;
}

/* The first entry from `at` on that has this tag; 0: none. */
static size_t find_from(const struct tiff *tiff, const struct ifd *ifd,
                        size_t at, unsigned tag)
{
    for (; at < ifd->end; at += ENTRY) {
        if (get(tiff, at, 2) == tag)
            return at;
    }
    return 0;
}

static size_t find(const struct tiff *tiff, const struct ifd *ifd, unsigned tag)
{
    return find_from(tiff, ifd, ifd->start + 2, tag);
}

static unsigned entry_type(const struct tiff *tiff, size_t entry)
{
    return get(tiff, entry + ENTRY_TYPE, 2);
}

static uint32_t entry_count(const struct tiff *tiff, size_t entry)
{
    return get(tiff, entry + ENTRY_COUNT, 4);
}

/* The one unsigned integer of an entry. Files have LONG where the standard has
 * SHORT, and the other way round. False: it is something else. */
static bool get_number(const struct tiff *tiff, size_t entry, uint32_t *number)
{
    if (!entry || entry_count(tiff, entry) != 1)
        return false;
    unsigned type = entry_type(tiff, entry);
    if (type != TYPE_BYTE && type != TYPE_SHORT && type != TYPE_LONG &&
        type != TYPE_IFD)
        return false;
    *number = get(tiff, entry + ENTRY_VALUE, type_size[type]);
    return true;
}

/* Where the values of an entry stand. False: not in the block. */
static bool find_values(const struct tiff *tiff, size_t entry, size_t *at,
                        size_t *length)
{
    unsigned type = entry_type(tiff, entry);
    if (type >= TYPES)
        return false;
    uint64_t bytes = (uint64_t)entry_count(tiff, entry) * type_size[type];
    *at = entry + ENTRY_VALUE;
    if (bytes > 4)
        *at = get(tiff, *at, 4);
    *length = (size_t)bytes;
    return in_block(tiff, *at, bytes);
}

static struct ifd ifd_of(const struct tiff *tiff, const struct ifd *parent,
                         unsigned tag)
{
    uint32_t start = 0;
    get_number(tiff, find(tiff, parent, tag), &start);
    return ifd_at(tiff, start);
}

/* Those that are not there are empty, and so are those that are there twice: a
 * change must be made once. */
static void find_ifds(const struct tiff *tiff, struct ifd ifd[IFDS])
{
    enum { EXIF = 2, GPS, INTEROP };
    ifd[IFD0] = ifd_at(tiff, get(tiff, 4, 4));
    ifd[IFD1] = ifd_at(tiff, ifd->link ? get(tiff, ifd->link, 4) : 0);
    ifd[EXIF] = ifd_of(tiff, &ifd[IFD0], TAG_EXIF_IFD);
    ifd[GPS] = ifd_of(tiff, &ifd[IFD0], TAG_GPS_IFD);
    ifd[INTEROP] = ifd_of(tiff, &ifd[EXIF], TAG_INTEROP_IFD);
    for (unsigned i = 1; i < IFDS; i++)
        for (unsigned j = 0; j < i; j++)
            if (ifd[i].start == ifd[j].start)
                ifd[i] = (struct ifd){ 0 };
}

/* All of them; none in what is no EXIF block. */
static void open_ifds(struct tiff *tiff, struct ifd ifd[IFDS],
                      const uint8_t *data, size_t size)
{
    memset(ifd, 0, IFDS * sizeof *ifd);
    if (open_tiff(tiff, data, size))
        find_ifds(tiff, ifd);
}

static unsigned orientation_in(const struct tiff *tiff, const struct ifd *ifd)
{
    uint32_t orientation = 0;
    get_number(tiff, find(tiff, ifd, TAG_ORIENTATION), &orientation);
    return orientation <= 8 ? orientation : 0;
}

unsigned exif_tag(const uint8_t *data, size_t size)
{
    struct tiff tiff;
    if (!open_tiff(&tiff, data, size))
        return 0;
    struct ifd ifd0 = ifd_at(&tiff, get(&tiff, 4, 4));
    return orientation_in(&tiff, &ifd0);
}

unsigned exif_orientation(const uint8_t *data, size_t size)
{
    unsigned orientation = exif_tag(data, size);
    return orientation ? orientation : 1;
}

/* ---- The turn -------------------------------------------------------------*/

static void put(const struct tiff *tiff, uint8_t *data, size_t at,
                unsigned bytes, uint32_t value)
{
    write_uint(data + at, bytes, tiff->big, value);
}

/* All of them: not every reader takes the first. */
static void set_orientation(const struct tiff *tiff, uint8_t *data,
                            const struct ifd *ifd, unsigned orientation)
{
    uint32_t old;
    size_t entry = find(tiff, ifd, TAG_ORIENTATION);
    while (entry) {
        if (get_number(tiff, entry, &old))
            put(tiff, data, entry + ENTRY_VALUE,
                type_size[entry_type(tiff, entry)], orientation);
        entry = find_from(tiff, ifd, entry + ENTRY, TAG_ORIENTATION);
    }
}

/* Type and count go with the value, or with its offset: nothing has to move,
 * and the tags stay in their order. */
static void exchange(const struct tiff *tiff, uint8_t *data,
                     const struct ifd *ifd, unsigned tag_x, unsigned tag_y)
{
    size_t x = find(tiff, ifd, tag_x), y = find(tiff, ifd, tag_y);
    if (!x || !y)
        return;
    for (unsigned i = ENTRY_TYPE; i < ENTRY; i++) {
        uint8_t byte = data[x + i];
        data[x + i] = data[y + i];
        data[y + i] = byte;
    }
}

/* Where the pixel at (p[0], p[1]) of a picture of size[0] x size[1] comes to
 * be. False: it was not in the picture. */
static bool turn_point(uint32_t p[2], const uint32_t size[2], enum xform t)
{
    if (p[0] >= size[0] || p[1] >= size[1])
        return false;
    bool flip = xform_transposes(t);
    uint32_t x = p[flip], y = p[!flip];
    p[0] = t & XFORM_MIRROR_X ? size[flip] - 1 - x : x;
    p[1] = t & XFORM_MIRROR_Y ? size[!flip] - 1 - y : y;
    return true;
}

/* EXIF 2.3, SubjectArea: a point; a circle, with its diameter; or a rectangle,
 * by its center, width and height. A place outside of the picture, or one that
 * its type cannot hold after the turn, is left as it is. */
static void turn_subject(const struct tiff *tiff, uint8_t *data, size_t entry,
                         enum xform t, const uint32_t size[2])
{
    size_t at, length;
    if (!entry || !find_values(tiff, entry, &at, &length))
        return;
    uint32_t count = entry_count(tiff, entry), value[4];
    unsigned type = entry_type(tiff, entry), bytes = type_size[type];
    if (count < 2 || count > 4 || (type != TYPE_SHORT && type != TYPE_LONG))
        return;
    for (unsigned i = 0; i < count; i++)
        value[i] = get(tiff, at + i * bytes, bytes);
    if (!turn_point(value, size, t))
        return;
    if (type == TYPE_SHORT && (value[0] > UINT16_MAX || value[1] > UINT16_MAX))
        return;
    if (count == 4 && xform_transposes(t)) {
        uint32_t width = value[2];
        value[2] = value[3];
        value[3] = width;
    }
    for (unsigned i = 0; i < count; i++)
        put(tiff, data, at + i * bytes, bytes, value[i]);
}

static const uint16_t exchanged[][2] = {
    { TAG_IMAGE_WIDTH, TAG_IMAGE_LENGTH },
    { TAG_X_RESOLUTION, TAG_Y_RESOLUTION },
    { TAG_RELATED_WIDTH, TAG_RELATED_LENGTH },
    { TAG_PIXEL_X_DIMENSION, TAG_PIXEL_Y_DIMENSION },
    { TAG_FOCAL_X_RESOLUTION, TAG_FOCAL_Y_RESOLUTION },
};

static void exchange_axes(const struct tiff *tiff, uint8_t *data,
                          const struct ifd *ifd)
{
    for (size_t i = 0; i < sizeof exchanged / sizeof *exchanged; i++)
        exchange(tiff, data, ifd, exchanged[i][0], exchanged[i][1]);
}

/* A tag is looked for in each directory, also where it does not belong: files
 * have them there, and no tag has two meanings. */
void exif_turn(uint8_t *data, size_t size, enum xform t, unsigned orientation,
               uint32_t width, uint32_t height)
{
    const uint32_t shape[2] = { width, height };
    struct tiff tiff;
    struct ifd ifd[IFDS];
    open_ifds(&tiff, ifd, data, size);
    for (unsigned i = 0; i < IFDS; i++) {
        size_t area = find(&tiff, &ifd[i], TAG_SUBJECT_AREA);
        size_t location = find(&tiff, &ifd[i], TAG_SUBJECT_LOCATION);
        turn_subject(&tiff, data, area, t, shape);
        turn_subject(&tiff, data, location, t, shape);
        if (orientation)
            set_orientation(&tiff, data, &ifd[i], orientation);
        if (xform_transposes(t))
            exchange_axes(&tiff, data, &ifd[i]);
    }
}

void exif_retag(uint8_t *data, size_t size, unsigned orientation, enum xform t)
{
    struct tiff tiff;
    struct ifd ifd[IFDS];
    open_ifds(&tiff, ifd, data, size);
    for (unsigned i = 0; i < IFDS; i++) {
        unsigned own = orientation_in(&tiff, &ifd[i]);
        if (i != IFD1)
            set_orientation(&tiff, data, &ifd[i], orientation);
        else if (own)
            set_orientation(&tiff, data, &ifd[i], xform_retag(own, t));
    }
}

/* ---- The thumbnail --------------------------------------------------------*/

/* EXIF 2.3, 4.5.5: a JPEG thumbnail lies where JPEGInterchangeFormat says. */
static bool find_jpeg(const struct tiff *tiff, const struct ifd *ifd1,
                      size_t *at, size_t *length)
{
    uint32_t offset, bytes;
    if (!get_number(tiff, find(tiff, ifd1, TAG_JPEG_OFFSET), &offset) ||
        !get_number(tiff, find(tiff, ifd1, TAG_JPEG_LENGTH), &bytes))
        return false;
    *at = offset;
    *length = bytes;
    return offset >= HEADER && bytes > 0 && in_block(tiff, offset, bytes);
}

/* Number `i` of an entry that holds SHORT or LONG. */
static bool get_nth(const struct tiff *tiff, size_t entry, size_t i,
                    uint32_t *number)
{
    size_t at, length;
    if (!entry || !find_values(tiff, entry, &at, &length))
        return false;
    unsigned type = entry_type(tiff, entry), bytes = type_size[type];
    if ((type != TYPE_SHORT && type != TYPE_LONG) || i >= length / bytes)
        return false;
    *number = get(tiff, at + i * bytes, bytes);
    return true;
}

/* Any other one lies in strips (TIFF 6.0, section 3), which follow each other
 * in all files known: where one does not, we stop. */
static bool find_strips(const struct tiff *tiff, const struct ifd *ifd1,
                        size_t *at, size_t *length)
{
    size_t offsets = find(tiff, ifd1, TAG_STRIP_OFFSETS);
    size_t counts = find(tiff, ifd1, TAG_STRIP_BYTE_COUNTS);
    uint32_t offset, bytes;
    *length = 0;
    for (size_t i = 0;
         get_nth(tiff, offsets, i, &offset) && get_nth(tiff, counts, i, &bytes);
         i++) {
        if (i == 0)
            *at = offset;
        if (offset < HEADER || offset != *at + *length ||
            !in_block(tiff, offset, bytes))
            break;
        *length += bytes;
    }
    return *length > 0;
}

/* The thumbnail's IFD; an empty one if there is none. */
static struct ifd open_ifd1(struct tiff *tiff, const uint8_t *data, size_t size)
{
    struct ifd ifd[IFDS];
    open_ifds(tiff, ifd, data, size);
    return ifd[IFD1];
}

unsigned exif_thumbnail_orientation(const uint8_t *data, size_t size)
{
    struct tiff tiff;
    struct ifd ifd1 = open_ifd1(&tiff, data, size);
    return orientation_in(&tiff, &ifd1);
}

void exif_exchange_thumbnail(uint8_t *data, size_t size)
{
    struct tiff tiff;
    struct ifd ifd1 = open_ifd1(&tiff, data, size);
    exchange_axes(&tiff, data, &ifd1);
}

/* The Compression tag is often missing or wrong. It decides only where there
 * are strips as well. */
bool exif_thumbnail(const uint8_t *data, size_t size, size_t *offset,
                    size_t *length)
{
    struct tiff tiff;
    struct ifd ifd1 = open_ifd1(&tiff, data, size);
    if (!find_jpeg(&tiff, &ifd1, offset, length) || *length < 2 ||
        memcmp(data + *offset, "\xff\xd8", 2) != 0)
        return false;
    uint32_t compression = COMPRESSION_JPEG;
    get_number(&tiff, find(&tiff, &ifd1, TAG_COMPRESSION), &compression);
    size_t strips, bytes;
    return compression == COMPRESSION_JPEG ||
           !find_strips(&tiff, &ifd1, &strips, &bytes);
}

bool exif_has_thumbnail(const uint8_t *data, size_t size)
{
    struct tiff tiff;
    struct ifd ifd1 = open_ifd1(&tiff, data, size);
    size_t at, length;
    return find_jpeg(&tiff, &ifd1, &at, &length) ||
           find_strips(&tiff, &ifd1, &at, &length);
}

static bool overlap(size_t a, size_t a_end, size_t b, size_t b_end)
{
    return a < b_end && b < a_end;
}

/* Whether a directory or a value lies in these bytes. A thumbnail that says it
 * lies there has no right to them. */
static bool is_used(const struct tiff *tiff, size_t from, size_t to)
{
    struct ifd ifd[IFDS];
    find_ifds(tiff, ifd);
    for (unsigned i = 0; i < IFDS; i++) {
        size_t end = ifd[i].link ? ifd[i].link + 4 : ifd[i].end;
        if (overlap(from, to, ifd[i].start, end))
            return true;
        size_t entry = ifd[i].start + 2, at, length;
        for (; entry < ifd[i].end; entry += ENTRY)
            if (find_values(tiff, entry, &at, &length) &&
                overlap(from, to, at, at + length))
                return true;
    }
    return false;
}

/* A number that fits into a SHORT may not do so afterwards. */
static void set_number(const struct tiff *tiff, uint8_t *data, size_t entry,
                       size_t number)
{
    put(tiff, data, entry + ENTRY_TYPE, 2, TYPE_LONG);
    put(tiff, data, entry + ENTRY_VALUE, 4, (uint32_t)number);
}

/* Takes `length` bytes away, unless something else stands there. */
static void erase(struct bytes *exif, size_t at, size_t length)
{
    struct tiff tiff;
    if (!open_tiff(&tiff, exif->data, exif->size) ||
        !in_block(&tiff, at, length) || is_used(&tiff, at, at + length))
        return;
    memset(exif->data + at, 0, length);
    if (at + length == exif->size)
        exif->size = at;
}

/* Puts the file where the old one is, if it fits or if the block ends there;
 * else behind the end, on a word boundary (TIFF 6.0, section 2). At the end it
 * is cut rather than filled up, so that turn after turn the block stays as
 * small as its thumbnail. */
int exif_set_thumbnail(struct bytes *exif, const void *jpeg, size_t length)
{
    size_t at, old;
    if (!exif_thumbnail(exif->data, exif->size, &at, &old))
        return 0;
    struct tiff tiff;
    struct ifd ifd1 = open_ifd1(&tiff, exif->data, exif->size);
    const size_t offset = find(&tiff, &ifd1, TAG_JPEG_OFFSET);
    const size_t bytes = find(&tiff, &ifd1, TAG_JPEG_LENGTH);
    bool stays = !is_used(&tiff, at, at + old) &&
                 (length <= old || at + old == exif->size);
    size_t to = stays ? at : exif->size + (exif->size & 1);
    if (length > UINT32_MAX || to > UINT32_MAX - length)
        return -1;
    size_t end = to + length;
    if (end > exif->size && !bytes_reserve(exif, end - exif->size))
        return -1;

    erase(exif, at, old);
    while (exif->size < to)
        exif->data[exif->size++] = 0;
    if (exif->size < end)
        exif->size = end;
    memcpy(exif->data + to, jpeg, length);
    set_number(&tiff, exif->data, offset, to);
    set_number(&tiff, exif->data, bytes, length);
    return 0;
}

void exif_drop_thumbnail(struct bytes *exif)
{
    struct tiff tiff;
    struct ifd ifd1 = open_ifd1(&tiff, exif->data, exif->size);
    if (!ifd1.start)
        return;
    const size_t link = ifd_at(&tiff, get(&tiff, 4, 4)).link;
    size_t at, length, strips_at, strips_length;
    bool jpeg = find_jpeg(&tiff, &ifd1, &at, &length);
    bool strips = find_strips(&tiff, &ifd1, &strips_at, &strips_length);
    if (jpeg)
        erase(exif, at, length);
    if (strips)
        erase(exif, strips_at, strips_length);
    put(&tiff, exif->data, link, 4, 0);
}

/* ---- GPS ------------------------------------------------------------------*/

/* EXIF 2.32 has 32 tags for GPS; one block leads to them. */
enum { GPS_ENTRIES = 64, GPS_LINKS = 8 };

static bool overlaps_picture(const struct tiff *tiff, size_t from, size_t to)
{
    struct tiff same;
    struct ifd ifd1 = open_ifd1(&same, tiff->data, tiff->size);
    size_t at, length;
    return (find_jpeg(tiff, &ifd1, &at, &length) &&
            overlap(from, to, at, at + length)) ||
           (find_strips(tiff, &ifd1, &at, &length) &&
            overlap(from, to, at, at + length));
}

/* Puts zeros there. False: something else has a right to the bytes. */
static bool clear(const struct tiff *tiff, uint8_t *data, size_t at,
                  size_t length)
{
    if (at < HEADER || !in_block(tiff, at, length) ||
        is_used(tiff, at, at + length) ||
        overlaps_picture(tiff, at, at + length))
        return false;
    memset(data + at, 0, length);
    return true;
}

/* The values, then the directory. No entry leads there any more. */
static bool clear_gps(const struct tiff *tiff, uint8_t *data,
                      const struct ifd *gps)
{
    if ((gps->end - gps->start) / ENTRY > GPS_ENTRIES)
        return false;
    for (size_t entry = gps->start + 2; entry < gps->end; entry += ENTRY) {
        size_t at, length;
        if (entry_type(tiff, entry) >= TYPES)
            return false;
        if (find_values(tiff, entry, &at, &length) && length > 4 &&
            !clear(tiff, data, at, length))
            return false;
    }
    size_t end = gps->link ? gps->link + 4 : gps->end;
    return clear(tiff, data, gps->start, end - gps->start);
}

/* What follows the entry in its directory moves up. */
static void remove_entry(const struct tiff *tiff, uint8_t *data,
                         const struct ifd *ifd, size_t entry)
{
    size_t end = ifd->link ? ifd->link + 4 : ifd->end;
    memmove(data + entry, data + entry + ENTRY, end - entry - ENTRY);
    memset(data + end - ENTRY, 0, ENTRY);
    put(tiff, data, ifd->start, 2, get(tiff, ifd->start, 2) - 1);
}

bool exif_drop_gps(uint8_t *data, size_t size)
{
    struct tiff tiff;
    struct ifd ifd[IFDS];
    for (unsigned links = 0; links <= GPS_LINKS; links++) {
        size_t entry = 0;
        unsigned i;
        open_ifds(&tiff, ifd, data, size);
        for (i = 0; i < IFDS && !entry; i++)
            entry = find(&tiff, &ifd[i], TAG_GPS_IFD);
        if (!entry)
            return true;
        uint32_t start;
        if (!get_number(&tiff, entry, &start))
            return false;
        remove_entry(&tiff, data, &ifd[i - 1], entry);
        struct ifd gps = ifd_at(&tiff, start);
        if (gps.start && !clear_gps(&tiff, data, &gps))
            return false;
    }
    return false;
}

/* ---- A tag that was not there ---------------------------------------------*/

/* A block of nothing but an orientation, to be put at its byte 19. */
static const uint8_t smallest[] = {
    'M', 'M', 0, '*', 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, TYPE_SHORT,
    0,   0,   0, 1,   0, 1, 0, 0, 0, 0, 0,    0,
};

/* Copies the entries of an IFD, which are in the order of their tags, to `to`,
 * with an orientation among them. Returns how many there are then. */
static unsigned copy_entries(const struct tiff *tiff, const struct ifd *ifd,
                             uint8_t *data, size_t to, unsigned orientation)
{
    unsigned count = 0;
    size_t at = ifd->start + 2, entry;
    for (bool put_in = false; at < ifd->end || !put_in; count++) {
        unsigned tag = at < ifd->end ? get(tiff, at, 2) : UINT16_MAX + 1;
        entry = to + count * ENTRY;
        if (tag > TAG_ORIENTATION && !put_in) {
            memset(data + entry, 0, ENTRY);
            put(tiff, data, entry, 2, TAG_ORIENTATION);
            put(tiff, data, entry + ENTRY_TYPE, 2, TYPE_SHORT);
            put(tiff, data, entry + ENTRY_COUNT, 4, 1);
            put(tiff, data, entry + ENTRY_VALUE, 2, orientation);
            put_in = true;
            continue;
        }
        if (tag == TAG_ORIENTATION) /* one that cannot be read */
            count--;
        else
            memcpy(data + entry, data + at, ENTRY);
        at += ENTRY;
    }
    return count;
}

/* IFD0 is written anew behind all else, where it may grow. */
int exif_add_orientation(struct bytes *exif, unsigned orientation)
{
    struct tiff tiff;
    if (exif->size == 0) {
        if (!bytes_append(exif, smallest, sizeof smallest))
            return -1;
        exif->data[19] = (uint8_t)orientation;
        return 0;
    }
    if (!open_tiff(&tiff, exif->data, exif->size))
        return -1;
    struct ifd ifd0 = ifd_at(&tiff, get(&tiff, 4, 4));
    size_t to = exif->size + (exif->size & 1);
    if (!ifd0.start || to > UINT32_MAX ||
        !bytes_reserve(exif, to - exif->size + ifd0.end - ifd0.start + ENTRY +
                                 4))
        return -1;
    uint8_t *data = exif->data;
    tiff.data = data;
    uint32_t link = ifd0.link ? get(&tiff, ifd0.link, 4) : 0;
    data[exif->size] = 0;
    unsigned count = copy_entries(&tiff, &ifd0, data, to + 2, orientation);
    put(&tiff, data, to, 2, count);
    exif->size = to + 2 + count * ENTRY + 4;
    put(&tiff, data, exif->size - 4, 4, link);
    put(&tiff, data, 4, 4, (uint32_t)to);
    return 0;
}

/* ---- Another size ---------------------------------------------------------*/

static void set_size(const struct tiff *tiff, uint8_t *data,
                     const struct ifd *ifd, unsigned tag, uint32_t size)
{
    uint32_t old;
    size_t entry = find(tiff, ifd, tag);
    if (get_number(tiff, entry, &old) && size <= old)
        put(tiff, data, entry + ENTRY_VALUE,
            type_size[entry_type(tiff, entry)], size);
}

void exif_set_size(uint8_t *data, size_t size, uint32_t width, uint32_t height)
{
    struct tiff tiff;
    struct ifd ifd[IFDS];
    open_ifds(&tiff, ifd, data, size);
    for (unsigned i = 0; i < IFDS; i++) {
        if (i == IFD1) /* the thumbnail's */
            continue;
        set_size(&tiff, data, &ifd[i], TAG_IMAGE_WIDTH, width);
        set_size(&tiff, data, &ifd[i], TAG_IMAGE_LENGTH, height);
        set_size(&tiff, data, &ifd[i], TAG_PIXEL_X_DIMENSION, width);
        set_size(&tiff, data, &ifd[i], TAG_PIXEL_Y_DIMENSION, height);
    }
}
