/* HEIF: pictures in boxes, as HEIC and AVIF are (ISO/IEC 23008-12, "HEIF", and
 * 14496-12, "ISOBMFF"), turned by what says how they are shown.
 *
 * A file has one meta box, which lists its items: coded pictures, pictures that
 * are derived from others, thumbnails, auxiliary pictures, EXIF and XMP. Each
 * has a list of properties (ipma), which stand once for all items (ipco). Three
 * of them change how an item is shown, and are done in the order of the list:
 * clap cuts, irot rotates, imir mirrors. model.c reads all that into tables,
 * turn.c plans the new lists and properties and makes the file by them, and
 * heif.c has the codecs. What is coded is never looked at.
 *
 * A file may have one mini box instead (HEIF, annex O), whose header of bits
 * says all that. */
#ifndef CODECS_HEIF_HEIF_H
#define CODECS_HEIF_HEIF_H

#include "codecs/base/box.h"
#include "codecs/codec.h"

/* What of a list of properties may be changed. The first three come in this
 * order (MIAF, 7.3.6.7). */
enum heif_kind {
    HEIF_CLAP,
    HEIF_IROT,
    HEIF_IMIR,
    HEIF_ISPE,
    HEIF_KINDS, /* it is none of these, */
    HEIF_ISCL   /* but scales, which is not understood */
};

/* The longest box of such a property, that of clap. */
enum { HEIF_PROPERTY = 40 };

struct heif_property {
    size_t begin, end; /* in the file; 0 of one that is added */
    enum heif_kind kind;
    uint8_t box[HEIF_PROPERTY]; /* all of it, of those kinds; else zeros */
    size_t users;               /* how many times lists have it, by the plan */
    bool left;                  /* a list had it that will not */
};

/* A list of properties, as it stands in ipma. */
struct heif_list {
    uint32_t id; /* of the item */
    size_t at, count;
    bool wide; /* each has two bytes */
};

struct heif_item {
    uint32_t id;
    char type[5]; /* "" of an old version of its box */
    struct heif_marks {
        bool hidden, xmp; /* as its own box says */
        bool blend;  /* it is made of items that are turned themselves, first
                        the picture, then a gain map, or the bits that lack */
        bool turned; /* it is shown with the picture */
        bool part;   /* it is shown with another item, or within it */
        bool within; /* it is within another item, such as a grid */
        bool inside; /* it is within one that is turned */
        bool made;   /* it is made of an item that is turned */
        bool tells;  /* it describes an item */
        bool ours;   /* it describes one that is turned */
    } is;
    struct heif_list list; /* at 0: it has none */
    struct heif_shown {
        enum xform turn;
        enum xform uncut;    /* as much of it as is done before it is cut */
        enum heif_kind last; /* of what it has of these: */
        bool any;            /* it has a transforming property */
        bool out_of_order;   /* or more than one of a kind */
        bool strange;        /* it is cut twice, or scaled once it is rotated */
        uint16_t property[HEIF_KINDS]; /* numbers; 0: none */
    } shown;
    size_t extent, extents;   /* of the extents, those of its data */
    struct heif_item *base;   /* the first item that it is made of; or NULL */
    struct heif_item *master; /* that it is shown with; or NULL */
    struct heif_slot *slot;   /* what becomes of its list; NULL: it stays */
};

/* What an item gets of a kind of property. */
struct heif_slot {
    uint16_t was, is;           /* numbers; 0: none */
    uint8_t box[HEIF_PROPERTY]; /* zeros: none */
};

/* A piece of the data of an item. */
struct heif_extent {
    uint32_t item;
    size_t at; /* of the field that tells where in the file it begins; 0: there
                  is none, or that of another extent does */
    size_t begin, end;
    bool open; /* it goes on to the end of the file */
};

/* "from" is a `type` of "to". Of a group each item is one of the first. */
struct heif_reference {
    char type[4];
    struct heif_item *from, *to;
};

/* The types: a thumbnail or an auxiliary picture, which are shown with a
 * picture; what is made of it; what describes it; one that is alike. */
#define HEIF_SHOWN_WITH "thmbauxl"
#define HEIF_MADE_OF    "dimg"
#define HEIF_DESCRIBES  "cdsc"
#define HEIF_ALIKE      "altrsterpymd"
#define HEIF_KNOWN      HEIF_SHOWN_WITH HEIF_MADE_OF HEIF_DESCRIBES HEIF_ALIKE

enum heif_box {
    HEIF_META,
    HEIF_MINI,
    HEIF_HDLR, /* from here on: in meta; these must be there */
    HEIF_PITM,
    HEIF_IINF,
    HEIF_ILOC,
    HEIF_IPRP,
    HEIF_IREF, /* and these may */
    HEIF_GRPL,
    HEIF_IDAT,
    HEIF_IPCO, /* in iprp */
    HEIF_BOXES
};

struct heif {
    struct bytes file; /* borrowed */
    const struct load_opts *opts;
    struct err *err;
    bool avif;
    bool sealed;                /* C2PA signs the bytes */
    struct box box[HEIF_BOXES]; /* end 0: there is none */
    struct heif_item *primary;
    unsigned field; /* the size of those that tell where data begin */
    struct heif_tables {
        struct bytes item, reference, property, extent; /* structs of these */
    } table;
    struct heif_slot *slot; /* HEIF_KINDS for each item that changes */
    size_t slots;
};

/* The rows of its tables: items in the order of their ids; properties by their
 * number, 0 being that of none. */
#define HEIF_ROWS(name, names)                                                 \
    static inline struct heif_##name *heif_##names(const struct heif *heif)    \
    {                                                                          \
        return (void *)heif->table.name.data;                                  \
    }                                                                          \
    static inline size_t heif_##name##_count(const struct heif *heif)          \
    {                                                                          \
        return heif->table.name.size / sizeof(struct heif_##name);             \
    }
HEIF_ROWS(item, items)
HEIF_ROWS(reference, references)
HEIF_ROWS(property, properties)
HEIF_ROWS(extent, extents)

/* ---- model.c --------------------------------------------------------------*/

/* Reads heif->file, of which no more is set than err and opts, and checks that
 * all is where it says. heif_free() is to be called whatever it returns. */
int heif_read(struct heif *heif);
void heif_free(struct heif *heif);

/* Appends a row to a table, whose rows may move. */
int heif_add(struct heif *heif, struct bytes *table, const void *row,
             size_t size);

/* Returns the item with this id; NULL if there is none. */
struct heif_item *heif_find_item(const struct heif *heif, uint32_t id);

/* Numbers one after the other, from high bytes to low ones. */
struct heif_cursor {
    const uint8_t *data;
    size_t at, end;
    bool bad; /* it has gone beyond the end, and gives zeros */
    unsigned version;
    uint32_t flags;
};

uint64_t heif_take(struct heif_cursor *c, unsigned bytes);

/* Begins behind version and flags of a box that has them. */
struct heif_cursor heif_open(const struct heif *heif, const struct box *box);

/* Takes a list of an ipma box. */
struct heif_list heif_take_list(struct heif_cursor *c);

/* Returns what such a list has: the number of a property, and a bit that it is
 * essential. */
enum { HEIF_NUMBER = 0x7fff, HEIF_ESSENTIAL = 0x8000 };
unsigned heif_listed(const struct heif *heif, const struct heif_list *list,
                     size_t i);

/* Returns the box with the size of an item; zeros if there is none. */
static inline const uint8_t *heif_size(const struct heif *heif,
                                       const struct heif_item *item)
{
    return heif_properties(heif)[item->shown.property[HEIF_ISPE]].box;
}

/* Returns whether four bytes are one of these types, four letters each. */
bool heif_is_one_of(const void *type, const char *types);

extern const enum xform heif_angles[4], heif_axes[2];

/* ---- turn.c ---------------------------------------------------------------*/

/* Marks the items that are shown with the picture as `turned`. */
int heif_mark(struct heif *heif);

/* Returns whether an item shows a turned one, and is to show it as it was. */
bool heif_follows(const struct heif_item *item);

/* Returns whether it is a picture of its own. */
bool heif_stands_alone(const struct heif *heif, const struct heif_item *item);

/* Plans how the marked items are turned, and gives the properties of the model
 * their new values, with new ones at their end; some at their end may be gone.
 */
int heif_plan(struct heif *heif, enum xform turn);

/* Appends the file to `out`, with the properties and the changed lists of the
 * model, and the orientations in EXIF and XMP set to 1, of which that of a
 * thumbnail is turned on by op. */
int heif_write(struct bytes *out, struct heif *heif, enum xform op);

/* Appends an item that describes the picture to `data`, which is empty, and
 * stays so if the item is another one, or goes on to the end of the file.
 * *begin is where EXIF begins in it; its end if it is none. */
int heif_metadata(struct bytes *data, size_t *begin, const struct heif *heif,
                  const struct heif_item *item);

#endif
