/* TIFF and BigTIFF: the main header of codecs/tiff/.
 *
 * What comes in is the bytes of a file; what goes out is the same file with all
 * its pictures turned, or the first picture for other formats, and the other
 * way round. Our own code reads and writes directories, so that every tag is
 * kept as it is (directory.c); libtiff codes strips and tiles (strips.c).
 * turn.c turns the pictures of a file and makes their tags true, tiff.c is the
 * codec. */
#ifndef CODECS_TIFF_DIRECTORY_H
#define CODECS_TIFF_DIRECTORY_H

#include "codecs/codec.h"

enum {
    FIELD_BYTE = 1,
    FIELD_ASCII = 2,
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
    TAG_SUBFILE = 254,
    TAG_WIDTH = 256,
    TAG_HEIGHT = 257,
    TAG_BITS = 258,
    TAG_COMPRESSION = 259,
    TAG_PHOTOMETRIC = 262,
    TAG_FILL_ORDER = 266,
    TAG_DESCRIPTION = 270,
    TAG_MAKE = 271,
    TAG_STRIP_OFFSETS = 273,
    TAG_ORIENTATION = 274,
    TAG_SAMPLES = 277,
    TAG_ROWS_PER_STRIP = 278,
    TAG_STRIP_SIZES = 279,
    TAG_X_RESOLUTION = 282,
    TAG_Y_RESOLUTION = 283,
    TAG_PLANAR = 284,
    TAG_T4_OPTIONS = 292,
    TAG_T6_OPTIONS = 293,
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
    TAG_SUBSAMPLING = 530,
    TAG_PACKET = 700,
    TAG_PHOTOSHOP = 34377,
    TAG_EXIF_IFD = 34665,
    TAG_ICC = 34675,
    TAG_GPS_IFD = 34853,
    TAG_LAYERS = 37724,
};

/* How a file writes its numbers. */
struct tiff_form {
    bool big_endian;
    bool big; /* BigTIFF: offsets have 8 bytes */
};

struct directory;

/* A tag and its values, in the byte order of the file. */
struct field {
    uint16_t tag, type;
    bool owned; /* its values are this field's; else the file's */
    uint64_t count;
    uint8_t *data;
    size_t size;
    struct directory *child; /* what its values lead to, by `sibling` */
};

struct directory {
    struct directory *next, *sibling;
    uint64_t at; /* in the file */
    struct field *field;
    size_t nfields;
    enum xform turn; /* of its picture; turn.c sets it */
};

/* All directories of a file. */
struct directories {
    struct bytes file; /* borrowed */
    const struct load_opts *opts;
    struct tiff_form form;
    struct directory *first;
    uint64_t count, spent; /* of directories, and their bytes */
    unsigned bad;          /* fields that could not be read */
};

/* Returns whether a file that starts so is a TIFF or BigTIFF. */
bool directories_probe(const uint8_t *head, size_t size);

/* Reads all directories of a file. Fails if a chain of them is damaged, or
 * leads back to itself. directories_free() is to be called in any case. */
int directories_read(struct directories *all, struct bytes file,
                     const struct load_opts *opts, struct err *err);
void directories_free(struct directories *all);
void directory_free(struct directory *dir);

/* ---- Fields ---- */

/* Returns the first field with this tag; NULL if there is none. */
struct field *directory_find(const struct directory *dir, unsigned tag);

/* Returns an unsigned integer of a field; `otherwise` if it is not there. */
uint64_t directory_number(struct tiff_form form, const struct directory *dir,
                          unsigned tag, uint64_t i, uint64_t otherwise);

/* Returns whether a directory has a picture. */
bool directory_is_picture(const struct directory *dir);

/* Give a field these values, which are copied, or are written in the byte order
 * of the file. One that is not there is added. On failure there is no memory.
 */
int directory_set(struct directory *dir, unsigned tag, unsigned type,
                  const void *data, uint64_t count, struct err *err);
int directory_set_numbers(struct tiff_form form, struct directory *dir,
                          const struct field *field, const uint64_t *numbers,
                          struct err *err);
int directory_set_number(struct tiff_form form, struct directory *dir,
                         unsigned tag, uint64_t number, struct err *err);
void directory_remove(struct directory *dir, unsigned tag);

/* Exchanges the values of two tags, of which one may be missing. */
void directory_exchange(struct directory *dir, unsigned a, unsigned b);

/* Integers and floats in the byte order of the file. */
uint64_t tiff_read(struct tiff_form form, const uint8_t *p, unsigned bytes);
void tiff_write(struct tiff_form form, uint8_t *p, unsigned bytes,
                uint64_t value);
double tiff_read_double(struct tiff_form form, const uint8_t *p);
void tiff_write_double(struct tiff_form form, uint8_t *p, double value);

/* ---- Writing ---- */

struct tiff_writer {
    struct tiff_form form;
    struct bytes *out;
    const struct flush *flush; /* NULL: all is kept */
    uint64_t flushed;          /* bytes before those of `out` */
    uint64_t link;             /* where the place of the next directory goes */
};

static inline uint64_t tiff_writer_at(const struct tiff_writer *w)
{
    return w->flushed + w->out->size;
}

/* Appends the header, or bytes. */
int tiff_writer_begin(struct tiff_writer *w, struct err *err);
int tiff_writer_append(struct tiff_writer *w, const void *data, size_t size,
                       struct err *err);

/* Appends a directory and those that its fields lead to, and the first of them
 * where w->link leads. What their pictures are must have been written. */
int tiff_writer_directory(struct tiff_writer *w, struct directory *dir,
                          struct err *err);

#endif
