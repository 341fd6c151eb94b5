/* TIFF files and raw files of cameras as directories (IFDs) of tags: the main
 * header of codecs/ifd/.
 *
 * What comes in is the bytes of a file, of TIFF, BigTIFF or built like them;
 * what goes out is a list of its directories, whose tags can be changed, and a
 * writer of new files (directory.c), or the same file with other orientation
 * tags (retag.c). It knows nothing of samples: codecs/tiff decodes them, and
 * codecs/raw has the files of cameras. */
#ifndef CODECS_IFD_DIRECTORY_H
#define CODECS_IFD_DIRECTORY_H

#include "codecs/base/byte_order.h"
#include "codecs/codec.h"

enum {
    FIELD_BYTE = 1,
    FIELD_SHORT = 3,
    FIELD_LONG = 4,
    FIELD_RATIONAL = 5,
    FIELD_UNDEFINED = 7,
    FIELD_DOUBLE = 12,
    FIELD_IFD = 13,
    FIELD_LONG8 = 16,
    FIELD_IFD8 = 18,
};

enum {
    TAG_PANASONIC_JPEG = 46,
    TAG_SUBFILE = 254,
    TAG_WIDTH = 256,
    TAG_HEIGHT = 257,
    TAG_BITS = 258,
    TAG_COMPRESSION = 259,
    TAG_PHOTOMETRIC = 262,
    TAG_DESCRIPTION = 270,
    TAG_STRIP_OFFSETS = 273,
    TAG_ORIENTATION = 274,
    TAG_SAMPLES = 277,
    TAG_ROWS_PER_STRIP = 278,
    TAG_STRIP_SIZES = 279,
    TAG_X_RESOLUTION = 282,
    TAG_Y_RESOLUTION = 283,
    TAG_PLANAR = 284,
    TAG_RESOLUTION_UNIT = 296,
    TAG_PREDICTOR = 317,
    TAG_COLOR_MAP = 320,
    TAG_TILE_WIDTH = 322,
    TAG_TILE_HEIGHT = 323,
    TAG_TILE_OFFSETS = 324,
    TAG_TILE_SIZES = 325,
    TAG_SUB_IFDS = 330,
    TAG_EXTRA_SAMPLES = 338,
    TAG_SAMPLE_FORMAT = 339,
    TAG_JPEG_TABLES = 347,
    TAG_JPEG_FILE = 513,
    TAG_JPEG_SIZE = 514,
    TAG_SUBSAMPLING = 530,
    TAG_PACKET = 700,
    TAG_IPTC = 33723,
    TAG_EXIF_IFD = 34665,
    TAG_ICC = 34675,
    TAG_GPS_IFD = 34853,
};

/* How a file writes its numbers. */
struct tiff_form {
    bool big_endian;
    bool big; /* BigTIFF: offsets have 8 bytes */
};

/* Integers in the byte order of the file. */
static inline uint64_t tiff_read(struct tiff_form form, const uint8_t *p,
                                 unsigned bytes)
{
    return read_uint(p, bytes, form.big_endian);
}

static inline void tiff_write(struct tiff_form form, uint8_t *p, unsigned bytes,
                              uint64_t value)
{
    write_uint(p, bytes, form.big_endian, value);
}

/* Bytes of an offset, and of the count of entries. */
static inline unsigned tiff_offset_size(struct tiff_form form)
{
    return form.big ? 8 : 4;
}

static inline unsigned tiff_count_size(struct tiff_form form)
{
    return form.big ? 8 : 2;
}

struct directory;

/* A tag and its values, in the byte order of the file. */
struct field {
    uint16_t tag, type;
    bool owned;     /* its values are this field's; else the file's */
    uint32_t order; /* among those of its directory in the file */
    uint64_t count;
    uint8_t *data;
    size_t size;
    struct directory *child; /* what its values lead to, by `sibling` */
};

struct directory {
    struct tiff_form form;
    bool failed;  /* there was no memory for a tag: it cannot be written */
    unsigned tag; /* that leads here; 0: a page of the file */
    struct directory *next, *sibling;
    struct directory *then; /* of all in the file: pages, each with those that
                               it leads to behind it */
    const struct directory *lead; /* what is before it in its chain, or leads to
                                     the chain */
    uint64_t at, link;            /* in the file: where it stands, and where the
                                     place of the next page does */
    struct field *field;
    size_t nfields;
    enum xform turn; /* of its picture; codecs/tiff/turn.c sets it */
};

/* All directories of a file, and how they are read: set those before `first`.
 */
struct directories {
    struct bytes file; /* borrowed */
    const struct load_opts
        *opts;      /* NULL with tags_only: nothing is tolerated */
    bool tags_only; /* what leads nowhere is passed over, and fields that cannot
                       be read have no values; nothing will be written */
    bool camera;    /* other magics of raw files are taken, and pages that are
                       no directories end the chain */
    unsigned most;  /* pages that are read; 0: all */
    struct tiff_form form;
    struct directory *first, **end; /* of the list by `then` */
    unsigned depth;                 /* of what is being read */
    uint64_t count, spent;          /* of directories, and their bytes */
    unsigned bad;                   /* fields that could not be read */
    bool cut; /* a large one of them, or a directory that one leads to, is
                 behind the end of the file */
};

/* Returns whether a file that starts so is a TIFF or BigTIFF; with `camera`,
 * also whether it begins as raw files do that are built like them. */
bool directories_probe(struct tiff_form *form, struct bytes head, bool camera);

/* Reads all directories of a file. Fails if a chain of them is damaged, or
 * leads back to itself. directories_free() is to be called in any case; until
 * then nothing else frees a directory of the list. */
int directories_read(struct directories *all, struct err *err);
void directories_free(struct directories *all);

/* Returns the first page that has a picture; NULL if there is none. */
struct directory *directories_picture(const struct directories *all);

/* ---- Fields ---- */

/* Returns the first field with this tag; NULL if there is none. */
struct field *directory_find(const struct directory *dir, unsigned tag);

/* Returns an unsigned integer of a field; `otherwise` if it is not there. */
uint64_t directory_number(const struct directory *dir, unsigned tag, uint64_t i,
                          uint64_t otherwise);

/* Returns whether all values of a field, at least one, are such integers. */
bool field_has_integers(const struct field *field);

/* Return whether a directory has a picture, and whether it lies in tiles. */
bool directory_is_picture(const struct directory *dir);
bool directory_is_tiled(const struct directory *dir);

/* Returns what a directory's tag says, 1..8; 0: there is none. Another value
 * counts as 1, as it does for readers. */
unsigned directory_orientation(const struct directory *dir);

/* Give a field these values, which are copied, or are written in the byte order
 * of the file. One that is not there is added; a single number keeps the type
 * of one that is, if it fits. There is a NUL behind the values. Without memory
 * the directory has `failed`. */
void directory_set(struct directory *dir, unsigned tag, unsigned type,
                   const void *data, uint64_t count);
void directory_set_numbers(struct directory *dir, unsigned tag, unsigned type,
                           const uint64_t *numbers, uint64_t count);
void directory_set_number(struct directory *dir, unsigned tag, uint64_t number);
/* Sets it as it is in another file of this byte order, with what its values
 * lead to, which must stay. */
void directory_copy(struct directory *dir, const struct field *field);
void directory_remove(struct directory *dir, unsigned tag);
/* Returns so many values of 0, to be filled in; NULL without memory. */
uint8_t *directory_make(struct directory *dir, unsigned tag, unsigned type,
                        uint64_t count);

/* Removes all fields. */
void directory_clear(struct directory *dir);

/* Returns a field's values, to be changed; NULL without such a field, or
 * without memory. */
uint8_t *directory_own(struct directory *dir, unsigned tag);

/* Exchanges the values of two tags, of which one may be missing. */
void directory_exchange(struct directory *dir, unsigned a, unsigned b);

/* ---- Strips and tiles ---- */

/* The places of some parts of the file, and their sizes, in two tags. */
enum { PART_AT, PART_SIZE };
struct directory_parts {
    struct tiff_form form;
    uint8_t *value[2];
    unsigned bytes[2]; /* of each number */
    uint64_t count;
};

/* Returns those of two tags; none if they are not there. */
struct directory_parts directory_parts_of(const struct directory *dir,
                                          unsigned places, unsigned sizes);

/* Returns or sets the place or the size of one of them, which may be anything.
 */
static inline uint64_t directory_part(const struct directory_parts *parts,
                                      unsigned which, uint64_t i)
{
    const unsigned bytes = parts->bytes[which];
    return tiff_read(parts->form, parts->value[which] + i * bytes, bytes);
}
static inline void directory_part_set(const struct directory_parts *parts,
                                      unsigned which, uint64_t i,
                                      uint64_t number)
{
    const unsigned bytes = parts->bytes[which];
    tiff_write(parts->form, parts->value[which] + i * bytes, bytes, number);
}

/* Finds the strips or tiles of a picture, if it has one. Fails if they are not
 * in the file. */
int directory_parts_find(struct directory_parts *parts,
                         const struct directories *all,
                         const struct directory *dir, struct err *err);

/* Gives a directory room for so many, all 0, to be set. */
int directory_parts_make(struct directory_parts *parts, struct directory *dir,
                         bool tiled, uint64_t count, struct err *err);

/* ---- Writing ---- */

struct tiff_writer {
    struct tiff_form form;
    struct bytes *out;
    const struct flush *flush; /* NULL: all is kept */
    uint64_t flushed;          /* bytes before those of `out` */
    uint64_t link;             /* where the place of the next directory goes */
    struct err *err;           /* says why it has `failed` */
    int failed;                /* 0 or -1: nothing more is written */
};

static inline uint64_t tiff_writer_at(const struct tiff_writer *w)
{
    return w->flushed + w->out->size;
}

/* Appends the header, or bytes. */
void tiff_writer_begin(struct tiff_writer *w);
void tiff_writer_append(struct tiff_writer *w, const void *data, size_t size);

/* Appends a directory and those that its fields lead to, and the first of them
 * where w->link leads. What their pictures are must have been written. */
void tiff_writer_directory(struct tiff_writer *w, struct directory *dir);

#endif
