/* The directories (IFDs) of whole TIFF files, and of raw files of cameras that
 * are built like them: in either byte order, with offsets of 4 bytes or, in
 * BigTIFF, of 8 (TIFF 6.0, section 2).
 *
 * codecs/metadata/tiff.h reads those of a block of metadata, which are few.
 * Here chains of them are followed, which may hold anything: loops, too. */
#ifndef CODECS_RAW_IFDS_H
#define CODECS_RAW_IFDS_H

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

enum {
    ENTRY_WIDTH = 256,
    ENTRY_HEIGHT = 257,
    ENTRY_COMPRESSION = 259,
    ENTRY_PHOTOMETRIC = 262,
    ENTRY_STRIPS = 273,
    ENTRY_ORIENTATION = 274,
    ENTRY_STRIP_SIZES = 279,
    ENTRY_TILES = 324,
    ENTRY_TILE_SIZES = 325,
    ENTRY_SUB_IFDS = 330,
    ENTRY_JPEG = 513,
    ENTRY_XMP = 700,
    ENTRY_EXIF = 34665,
    ENTRY_DNG_VERSION = 50706,
};

struct ifds {
    struct bytes file; /* borrowed */
    bool big_endian;
    bool big;     /* BigTIFF */
    bool camera;  /* it is raw */
    bool lenient; /* links of pages that lead nowhere end the chain */
};

struct ifd {
    enum { IFD_PAGE, IFD_SUB, IFD_EXIF } kind; /* page: of the main chain */
    size_t count;                              /* of its entries */
    size_t start;                              /* where that count stands */
    size_t entries, link; /* where they begin, and the offset of the next page,
                             which may lie behind the end of the file */
};

/* Opens a file that begins like TIFF or one of the raw formats. Returns false
 * if it does not. */
bool ifds_open(struct ifds *ifds, struct bytes file);

/* Reads the IFD whose offset stands at `pointer`. Returns false if it is not in
 * the file. */
bool ifds_read(const struct ifds *ifds, struct ifd *ifd, size_t pointer);

/* Returns where the offset of the first page stands. */
static inline size_t ifds_first(const struct ifds *ifds)
{
    return ifds->big ? 8 : 4;
}

typedef int ifd_visit(void *context, const struct ifd *ifd, struct err *err);

/* Visits each page, behind it the IFDs that its SubIFDs lead to, and that of
 * EXIF, to the `most`th page. Fails if a visit does, if a page is not in the
 * file, or if they form a loop. */
int ifds_walk(const struct ifds *ifds, size_t most, ifd_visit *visit,
              void *context, struct err *err);

/* Returns the number of 1, 2, 4 or 8 bytes at `at`, which is in the file. */
uint64_t ifds_get(const struct ifds *ifds, size_t at, unsigned bytes);
void ifds_put(const struct ifds *ifds, uint8_t *to, unsigned bytes,
              uint64_t value);

/* Bytes of an entry, of an offset, and of the count of entries. */
static inline unsigned ifds_entry(const struct ifds *ifds)
{
    return ifds->big ? 20 : 12;
}

static inline unsigned ifds_offset(const struct ifds *ifds)
{
    return ifds->big ? 8 : 4;
}

static inline unsigned ifds_count(const struct ifds *ifds)
{
    return ifds->big ? 8 : 2;
}

/* Returns where the first entry with this tag stands, from the entry at `from`
 * on, or from the first for 0; 0 if there is none. */
size_t ifds_find(const struct ifds *ifds, const struct ifd *ifd, size_t from,
                 unsigned tag);

/* The values of an entry. */
struct ifd_values {
    size_t at;
    uint64_t count;
    unsigned size; /* bytes of one; 0: there are none in the file */
    bool integers; /* they are unsigned integers */
};

/* Returns the values of the entry that ifds_find() has found, or not. */
struct ifd_values ifds_values(const struct ifds *ifds, size_t entry);

/* Returns the first value of a tag; `otherwise` if there is none. */
uint64_t ifds_number(const struct ifds *ifds, const struct ifd *ifd,
                     unsigned tag, uint64_t otherwise);

#endif
