/* The directories of TIFF files and of files built like them. */
#include "codecs/raw/ifds.h"

#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/metadata/tiff.h"

bool ifds_open(struct ifds *ifds, struct bytes file)
{
    static const struct {
        const char *bytes;
        bool big_endian, big;
    } magics[] = {
        { "II*\0", false, false }, { "MM\0*", true, false },
        { "II+\0", false, true },  { "MM\0+", true, true },
        { "IIRO", false, false },  { "IIRS", false, false },
        { "MMOR", true, false },   { "IIU\0", false, false },
    };
    if (file.size < 8)
        return false;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (memcmp(file.data, magics[i].bytes, 4) == 0) {
            *ifds = (struct ifds){ .file = file,
                                   .big_endian = magics[i].big_endian,
                                   .big = magics[i].big };
            return !ifds->big || (file.size >= 16 && /* bytes of an offset */
                                  ifds_get(ifds, 4, 2) == 8);
        }
    return false;
}

uint64_t ifds_get(const struct ifds *ifds, size_t at, unsigned bytes)
{
    return read_uint(ifds->file.data + at, bytes, ifds->big_endian);
}

void ifds_put(const struct ifds *ifds, uint8_t *to, unsigned bytes,
              uint64_t value)
{
    write_uint(to, bytes, ifds->big_endian, value);
}

/* ---- Entries --------------------------------------------------------------*/

size_t ifds_find(const struct ifds *ifds, const struct ifd *ifd, size_t from,
                 unsigned tag)
{
    size_t at = from ? from : ifd->entries;
    while (at < ifd->link && ifds_get(ifds, at, 2) != tag)
        at += ifds_entry(ifds);
    return at < ifd->link ? at : 0;
}

struct ifd_values ifds_values(const struct ifds *ifds, size_t entry)
{
    /* BYTE, SHORT, LONG, IFD, LONG8 and IFD8. */
    const uint32_t integers =
        1u << 1 | 1u << 3 | 1u << 4 | 1u << 13 | 1u << 16 | 1u << 18;
    struct ifd_values values = { 0 };
    if (!entry)
        return values;
    const unsigned wide = ifds_offset(ifds);
    const uint64_t type = ifds_get(ifds, entry + 2, 2);
    const unsigned size = tiff_size_of(type);
    const uint64_t count = ifds_get(ifds, entry + 4, wide);
    uint64_t at = entry + 4 + wide;
    if (size == 0 || count == 0 || count > ifds->file.size / size)
        return values;
    if (count * size > wide)
        at = ifds_get(ifds, (size_t)at, wide);
    if (at > ifds->file.size || count * size > ifds->file.size - at)
        return values;
    values.at = (size_t)at;
    values.count = count;
    values.size = size;
    values.integers = integers >> type & 1;
    return values;
}

uint64_t ifds_number(const struct ifds *ifds, const struct ifd *ifd,
                     unsigned tag, uint64_t otherwise)
{
    const struct ifd_values values =
        ifds_values(ifds, ifds_find(ifds, ifd, 0, tag));
    return values.size && values.integers
               ? ifds_get(ifds, values.at, values.size)
               : otherwise;
}

/* ---- Chains ---------------------------------------------------------------*/

/* Links may lie behind the end, so a size says how wide the offset there is. */
static bool read_ifd(const struct ifds *ifds, struct ifd *ifd, size_t pointer,
                     unsigned wide)
{
    const unsigned counts = ifds_count(ifds), entry = ifds_entry(ifds);
    const size_t size = ifds->file.size;
    if (pointer > size || size - pointer < wide)
        return false;
    const uint64_t start = ifds_get(ifds, pointer, wide);
    if (start < 8 || start > size || size - start < counts)
        return false;
    const uint64_t count = ifds_get(ifds, (size_t)start, counts);
    *ifd = (struct ifd){ .start = (size_t)start,
                         .entries = (size_t)start + counts };
    if (count == 0 || count > (size - ifd->entries) / entry)
        return false;
    ifd->count = (size_t)count;
    ifd->link = ifd->entries + (size_t)count * entry;
    return true;
}

bool ifds_read(const struct ifds *ifds, struct ifd *ifd, size_t pointer)
{
    return read_ifd(ifds, ifd, pointer, ifds_offset(ifds));
}

struct ifds_walker {
    const struct ifds *ifds;
    ifd_visit *visit;
    void *context;
    uint64_t bytes; /* of IFDs that there may still be, and how many of them: no
                       byte is in two of them, but for those that are shared */
    size_t left;
};

/* Returns whether all types are known. A link to something else than an IFD,
 * as cameras have, leads to other numbers. */
static bool is_plausible(const struct ifds *ifds, const struct ifd *ifd)
{
    for (size_t at = ifd->entries; at < ifd->link; at += ifds_entry(ifds))
        if (!tiff_size_of(ifds_get(ifds, at + 2, 2)))
            return false;
    return true;
}

/* Counts an IFD that is about to be visited. */
static int count_ifd(struct ifds_walker *walker, const struct ifd *ifd,
                     struct err *err)
{
    const uint64_t bytes = ifd->link - ifd->start;
    if (walker->left == 0 || bytes > walker->bytes)
        return fail(err, "its directories (IFDs) form a loop");
    walker->left--;
    walker->bytes -= bytes;
    return 0;
}

static int visit_all(struct ifds_walker *walker, struct ifd *ifd,
                     unsigned depth, struct err *err);

/* Visits the IFDs whose offsets are values of an entry. */
static int visit_values(struct ifds_walker *walker, const struct ifd *ifd,
                        unsigned tag, unsigned depth, struct err *err)
{
    const struct ifds *ifds = walker->ifds;
    const struct ifd_values values =
        ifds_values(ifds, ifds_find(ifds, ifd, 0, tag));
    struct ifd sub;
    if (!values.integers || values.size < 4)
        return 0;
    for (uint64_t i = 0; i < values.count; i++) {
        const size_t at = values.at + (size_t)i * values.size;
        if (!read_ifd(ifds, &sub, at, values.size))
            continue;
        if (count_ifd(walker, &sub, err))
            return -1;
        sub.kind = tag == ENTRY_EXIF ? IFD_EXIF : IFD_SUB;
        if (is_plausible(ifds, &sub) && visit_all(walker, &sub, depth, err))
            return -1;
    }
    return 0;
}

/* Visits an IFD, and those that are below it: pictures that belong to a preview
 * are as deep as files have them. */
static int visit_all(struct ifds_walker *walker, struct ifd *ifd,
                     unsigned depth, struct err *err)
{
    if (walker->visit(walker->context, ifd, err))
        return -1;
    if (depth == 0 || ifd->kind == IFD_EXIF)
        return 0;
    return visit_values(walker, ifd, ENTRY_SUB_IFDS, depth - 1, err) ||
                   visit_values(walker, ifd, ENTRY_EXIF, depth - 1, err)
               ? -1
               : 0;
}

int ifds_walk(const struct ifds *ifds, size_t most, ifd_visit *visit,
              void *context, struct err *err)
{
    enum { DEEPEST = 3, MOST = 1 << 20, SHARED = 4 };
    struct ifds_walker walker = { .ifds = ifds,
                                  .visit = visit,
                                  .context = context,
                                  .bytes = ifds->file.size * (uint64_t)SHARED,
                                  .left = MOST };
    struct ifd ifd;
    size_t pointer = ifds_first(ifds);
    const unsigned wide = ifds_offset(ifds);
    for (size_t i = 0; i < most; i++, pointer = ifd.link) {
        const bool leads = ifds_read(ifds, &ifd, pointer) &&
                           (!ifds->camera || is_plausible(ifds, &ifd));
        if (!leads && i == 0)
            return fail(err, "its first directory (IFD) is damaged");
        if (!leads && (ifds->lenient || ifds->file.size - pointer < wide ||
                       ifds_get(ifds, pointer, wide) == 0))
            return 0;
        if (!leads)
            return fail(err,
                        "its directory (IFD) %zu is damaged; --tolerant "
                        "turns the pages before it",
                        i);
        if (count_ifd(&walker, &ifd, err) ||
            visit_all(&walker, &ifd, DEEPEST, err))
            return -1;
    }
    return 0;
}
