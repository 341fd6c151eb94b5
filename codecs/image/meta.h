/* All that a file says beside its pixels.
 *
 * It is kept twice. `block` is the file's own: every chunk or segment, byte for
 * byte and in order, for a picture that is written in the format it came from.
 * The portable fields hold what other formats can hold as well; a codec fills
 * them when it is asked to (struct load_opts), since that may mean to inflate
 * a profile. codecs/metadata makes both true of a turned picture. Only codecs/
 * changes a meta; cli/ may list it. */
#ifndef CODECS_IMAGE_META_H
#define CODECS_IMAGE_META_H

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/image/layout.h"
#include "codecs/image/xform.h"

struct codec;
struct account;

/* ---- Orientation tags ----
 *
 * A file may have them in several places. A field of the format itself counts
 * before EXIF; EXIF counts before XMP, as in viewers, and XMP before the tags
 * of single programs. */

/* Where a tag stands; those that come first count before the others. */
enum tag_place {
    TAG_NOWHERE,
    TAG_TRANSFORMS, /* irot and imir of a HEIF file */
    TAG_CODESTREAM, /* the image header of JPEG XL */
    TAG_IFD,        /* the first IFD of a TIFF file */
    TAG_EXIF,
    TAG_XMP,
    TAG_ORNT,      /* a chunk of a PNG, which ImageMagick writes */
    TAG_HEADER,    /* the order of the pixels in an HDR file */
    TAG_MORE_EXIF, /* behind the first EXIF: it never counts */
};

/* {0}: there is none. */
struct orientation {
    unsigned value; /* the one that counts, 1..8; 0: there is none */
    enum tag_place place;
    unsigned other; /* the value of one that disagrees; 0: they agree */
    enum tag_place other_place;
};

/* The name for people: "EXIF", "XMP"; NULL for TAG_NOWHERE. */
extern const char *const orientation_place[TAG_MORE_EXIF + 1];

/* Takes note of a tag, 1..8; 0 is none. */
void orientation_note(struct orientation *o, enum tag_place place,
                      unsigned value);

/* ---- Blocks ---- */

/* What a block is to a turn and to --strip. The codec that reads it says so. */
enum block_kind {
    BLOCK_OTHER,        /* true of the picture in every position, or unknown */
    BLOCK_COLOR,        /* the same, and says how the samples look */
    BLOCK_ICC,          /* the same: a profile */
    BLOCK_ICC_PORTION,  /* one of several that make up a profile */
    BLOCK_ESSENTIAL,    /* the samples cannot be read rightly without it */
    BLOCK_TIED,         /* says nothing true of pixels that were moved */
    BLOCK_TIED_TO_FILE, /* nor of the same pixels in other bytes */
    BLOCK_FRAME,        /* a part of an animation: the picture, not metadata */
    BLOCK_EXIF,         /* from the TIFF header on */
    BLOCK_XMP,          /* a packet */
    BLOCK_XMP_EXTENDED, /* a portion of one: metadata/xmp.h */
    BLOCK_RAW_PROFILE,  /* EXIF or XMP in hexadecimal: metadata/blocks.h */
    BLOCK_COMMENT,      /* plain text */
    BLOCK_JFIF,         /* these two: metadata/blocks.h */
    BLOCK_JFXX,
    BLOCK_MPF,         /* the list of pictures in the file: metadata/tiff.h */
    BLOCK_JUMBF,       /* ISO/IEC 19566-5; C2PA signs the file in it */
    BLOCK_PHOTOSHOP,   /* image resources: metadata/blocks.h */
    BLOCK_TRAILER,     /* all that stands behind the picture */
    BLOCK_AXES,        /* two numbers of 4 bytes, for x and for y, lead it */
    BLOCK_CANVAS,      /* two such pairs */
    BLOCK_SCALE,       /* a byte, then two numbers in decimal */
    BLOCK_ORIENTATION, /* one byte: an EXIF orientation */
};

/* One piece of a file that is not pixels. */
struct metadata_block {
    char name[32]; /* as people call it: "tEXt", "APP1 Exif" */
    enum block_kind kind;
    unsigned drop;  /* DROP_..., or-ed: each of them leaves it out */
    unsigned where; /* the codec's: a marker, or a place in the file */
    bool portable;  /* what it says stands in the portable fields as well */
    bool samples;   /* it holds samples: true only of this depth and color */
    bool dropped;   /* it is not to be written */
    uint8_t *data;  /* owned */
    size_t size;
    size_t begin, end; /* where it stands in the file; of `retag` alone */
};

/* What --strip leaves out; or-ed. */
enum {
    DROP_GPS = 1,
    DROP_THUMBNAIL = 2,
    DROP_XMP = 4,
    DROP_EXIF = 8,
    DROP_ICC = 16,
};

/* Pixels a unit of length, along the rows and down the columns. */
struct density {
    enum { DENSITY_NONE, DENSITY_ASPECT, DENSITY_INCH, DENSITY_METER } unit;
    double x, y; /* for DENSITY_ASPECT only their ratio counts */
};

/* An array of a file, as `info` tells of it. */
struct array_note {
    char name[128];     /* that it has in an archive; "" if there is but one */
    char type[64];      /* of its cells, as numpy calls it: "<f4" */
    enum layout layout; /* LAYOUT_AUTO: its shape does not tell */
    bool fortran;       /* in Fortran order */
    uint64_t shape[LAYOUT_AXES];
    unsigned naxes; /* may be more than the shape has room for */
};

/* What the blocks of kind BLOCK_FRAME say of an animation. */
struct animation {
    uint32_t frames; /* 0: a still picture */
    uint32_t plays;  /* 0: without end */
    bool apart;      /* the picture itself is none of the frames */
    double seconds;  /* of all frames, and of the ones shown least and most */
    double shortest, longest;
    bool side_by_side; /* there is memory for a frame a thread */
    bool stored;       /* there is none for one: each goes through a file */
    bool tried;        /* all frames have been decoded, and warned of */
};

/* Adds the time for which a frame is shown; `first`: the first one. */
void animation_add(struct animation *animation, double seconds, bool first);

/* How a JPEG is coded, as `info` tells of it. */
struct coding_note {
    const char *coding;   /* "baseline" and the like; NULL: it is none */
    char subsampling[32]; /* "4:2:0", or the factors of the components; "" of
                             one */
    unsigned restart;     /* MCUs between restart markers; 0: there are none */
};

struct meta {
    const struct codec *codec; /* that has read the file. The blocks are its
                                  own, until metadata_turn() puts those of the
                                  format to be written in their place */
    struct account *account; /* of the file, for what its blocks hold; borrowed;
                              NULL: there is none */
    struct metadata_block *block;
    size_t nblocks;
    size_t mpf_trailer; /* the trailer's first byte, as MPF counts; 0: no MPF */

    struct orientation orientation; /* what all tags say; that of the image is
                                       what counts, or 1 */
    struct animation animation;
    struct array_note *array; /* filled only where the pixels are not read */
    size_t narrays;
    struct coding_note coding; /* the same */

    struct bytes icc;     /* a profile, as ICC.1 has it */
    struct bytes exif;    /* from the TIFF header on */
    struct bytes xmp;     /* the packet, UTF-8 */
    struct bytes comment; /* plain text, UTF-8 */
    struct density density;

    unsigned ncolors;        /* the palette of COLOR_INDEXED, and PNG's PLTE */
    uint8_t palette[256][4]; /* red, green, blue, alpha */
    unsigned nalphas;        /* how many of them have an alpha of their own */
    bool keyed;              /* cells equal to `key` are transparent */
    uint16_t key[3];

    bool interlaced;  /* PNG: Adam7 */
    bool progressive; /* JPEG: its scans refine one another */
    bool paged; /* TIFF: there are pages behind the one that was decoded */

    /* How the file was coded, as only its own codec understands it; NULL if
     * that codec needs nothing of the kind. meta_free() calls free_state(). */
    void *state;
    void (*free_state)(void *state);
};

/* Returns an empty meta; NULL without memory. meta_free() is fine on NULL. */
struct meta *meta_new(const struct codec *codec);
void meta_free(struct meta *meta);

/* Inserts a copy of `size` bytes as block `index`, zeroed but for these fields.
 * Returns it, until the next block is added; NULL when there is no memory, or
 * when the file has more blocks than it may. */
struct metadata_block *meta_insert(struct meta *meta, size_t index,
                                   const char *name, unsigned where,
                                   const void *data, size_t size);

/* Inserts a block behind all others; else as meta_insert(). */
struct metadata_block *meta_add(struct meta *meta, const char *name,
                                unsigned where, const void *data, size_t size);

/* Makes the block hold `lead` bytes, which may be its own, and a copy of `size`
 * others behind them. Returns false without memory; then nothing has changed.
 */
bool metadata_block_set(struct metadata_block *block, const void *lead,
                        size_t lead_size, const void *data, size_t size);

/* Exchanges the blocks of two metas. */
void meta_swap_blocks(struct meta *a, struct meta *b);

/* Frees the blocks that are dropped. */
void meta_remove_dropped(struct meta *meta);

/* Appends a note of an array, which is zeroed; NULL when there is no memory, or
 * when the file has more than it may. The pointer holds until the next one is
 * added. */
struct array_note *meta_note_array(struct meta *meta);

/* Returns whether the meta has as many blocks as it may. */
bool meta_is_full(const struct meta *meta);

/* Makes the comment UTF-8, which it is said to be; see utf8_append(). To be
 * called by a codec that has filled it. */
int meta_comment_utf8(struct meta *meta, struct err *err);

/* What a format can hold of the portable fields. */
enum {
    HOLDS_ICC = 1,
    HOLDS_EXIF = 2,
    HOLDS_XMP = 4,
    HOLDS_COMMENT = 8,
    HOLDS_DENSITY = 16,
};

/* One warning that names what a picture loses by being written as `name`, a
 * format other than its own which holds only `holds`. */
void meta_warn_lost(const struct meta *meta, unsigned holds, const char *name,
                    struct warnings *warnings);

#endif
