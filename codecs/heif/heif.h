/* HEIF: pictures in boxes, as HEIC and AVIF are (ISO/IEC 23008-12, "HEIF", and
 * 14496-12, "ISOBMFF"), turned by what says how they are shown.
 *
 * A file has one meta box, which lists its items: coded pictures, pictures that
 * are derived from others, thumbnails, auxiliary pictures, EXIF and XMP. Each
 * has a list of properties (ipma), which stand once for all items (ipco). Three
 * of them change how an item is shown, and are done in the order of the list:
 * clap cuts, irot rotates, imir mirrors. model.c reads all that into tables,
 * turn.c plans the new lists and properties, write.c makes the file by them,
 * and heif.c has the codecs. What is coded is never looked at.
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
    size_t kept;  /* how many lists have it that leave it as it is */
    size_t users; /* how many others have it by the plan */
    bool left;    /* a list had it that will not */
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
    struct heif_list list;      /* at 0: it has none */
    size_t extent, extents;     /* of the extents, those of its data */
    struct heif_item *base;     /* the first item that it is made of; or NULL */
    struct heif_item *master;   /* that it is shown with; or NULL */
    struct heif_change *change; /* in the plan; NULL: it stays */
};

/* A piece of the data of an item. */
struct heif_extent {
    uint32_t item;
    size_t at; /* of the field that tells where in the file it begins; 0: there
                  is none, or that of another extent does */
    size_t begin, end;
    bool open; /* it goes on to the end of the file */
};

enum heif_relation {
    HEIF_SHOWN_WITH, /* a thumbnail or an auxiliary picture, with a picture */
    HEIF_MADE_OF,
    HEIF_DESCRIBES,
    HEIF_ALIKE, /* one of a group, to the first of it */
    HEIF_RELATIONS
};

struct heif_reference {
    enum heif_relation relation;
    struct heif_item *from, *to;
};

enum heif_box {
    HEIF_META,
    HEIF_MINI,
    HEIF_SPACE, /* free, between meta and the data */
    HEIF_HDLR,  /* from here on: in meta; these must be there */
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
    struct bytes file;          /* borrowed */
    struct box box[HEIF_BOXES]; /* end 0: there is none */
    bool all;    /* pictures that are shown alone are turned, too */
    bool sealed; /* C2PA signs the bytes */
    struct heif_item *primary;
    unsigned field; /* the size of those that tell where data begin */
    struct heif_tables {
        struct bytes item, reference, property, extent; /* structs of these */
    } table;
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

/* Reads the file, and checks that all is where it says. heif_free() is to be
 * called whatever it returns. */
int heif_read(struct heif *heif, struct bytes file, struct err *err);
void heif_free(struct heif *heif);

/* Appends a row to a table, whose rows may move. */
int heif_add(struct bytes *table, const void *row, size_t size,
             struct err *err);

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

/* Returns what such a list has: the number of a property, from `essential` on
 * in the upper bit. */
unsigned heif_listed(const struct heif *heif, const struct heif_list *list,
                     size_t i, bool *essential);

/* Returns the bytes of the first property of this kind that an item lists;
 * zeros if there is none. */
const uint8_t *heif_find(const struct heif *heif, const struct heif_item *item,
                         enum heif_kind kind);

/* Returns whether four bytes are one of these types, four letters each. */
bool heif_is_one_of(const void *type, const char *types);

/* ---- turn.c ---------------------------------------------------------------*/

/* How an item is shown. */
struct heif_shown {
    enum xform turn;
    bool any;                      /* it has a transforming property */
    bool in_order;                 /* at most one of each, in MIAF's order */
    uint16_t property[HEIF_KINDS]; /* numbers; 0: none */
    uint8_t clap[HEIF_PROPERTY];   /* as if it came first */
};
int heif_shown(const struct heif *heif, const struct heif_item *item,
               struct heif_shown *shown, struct err *err);

/* What becomes of the list of an item. */
struct heif_change {
    bool in_order;
    struct heif_slot {
        uint16_t was, is;           /* properties; 0: none */
        uint8_t box[HEIF_PROPERTY]; /* that it is to have; zeros: none */
    } slot[HEIF_KINDS];
};

struct heif_plan {
    enum xform turn; /* of the picture as shown by irot and imir */
    bool avif;
    struct heif_change *change;
    size_t count;
};

/* Marks the items that are shown with the picture as `turned`. */
int heif_mark(struct heif *heif, struct err *err);

/* Returns whether an item is made of a turned one, and is to show what it shows
 * all the same. */
bool heif_follows(const struct heif_item *item);

/* Returns whether it is a picture of its own. */
bool heif_stands_alone(const struct heif *heif, const struct heif_item *item);

/* Plans plan->turn of the marked items, and gives the properties of the model
 * their new values, with new ones at their end; some at their end may be gone.
 * The caller frees plan->change. */
int heif_plan(struct heif *heif, struct heif_plan *plan, struct err *err);

/* ---- write.c --------------------------------------------------------------*/

/* What stands in the place of bytes of the file. */
struct heif_edit {
    size_t at, end; /* end 0: there is none */
    struct bytes with;
};

/* Of the iprp box, and of free space behind meta. */
enum { HEIF_EDITS = 2 };
struct heif_edits {
    struct heif_edit edit[HEIF_EDITS];
};

/* Appends the file to `out`, with the properties and the changed lists of the
 * model. The edits, whose bytes the caller frees, tell where the bytes of the
 * file are then. */
int heif_write(struct bytes *out, const struct heif *heif,
               struct heif_edits *edits, struct err *err);

/* Returns where the byte at `at` is afterwards. */
size_t heif_moved(const struct heif_edits *edits, size_t at);

#endif
