/* HEIF: pictures in boxes, as HEIC and AVIF are (ISO/IEC 23008-12, "HEIF", and
 * 14496-12, "ISOBMFF"), turned by what says how they are shown.
 *
 * A file has one meta box, which lists its items: coded pictures, pictures that
 * are derived from others, thumbnails, auxiliary pictures, EXIF and XMP. Each
 * has a list of properties (ipma), which stand once for all items (ipco). Three
 * of them change how an item is shown, and are done in the order of the list:
 * clap cuts, irot rotates, imir mirrors. model.c reads all that into a struct
 * heif, turn.c plans the new lists, write.c makes the file by them, and heif.c
 * has the codecs. What is coded is never looked at.
 *
 * A file may have one mini box instead (HEIF, annex O), whose header of bits
 * says all that. */
#ifndef CODECS_HEIF_HEIF_H
#define CODECS_HEIF_HEIF_H

#include "codecs/base/box.h"
#include "codecs/codec.h"

/* What of a list of properties may be changed. The first three come in this
 * order (MIAF, 7.3.6.7). */
enum heif_kind { HEIF_CLAP, HEIF_IROT, HEIF_IMIR, HEIF_ISPE, HEIF_KINDS };

/* The longest box of such a property, that of clap. */
enum { HEIF_PROPERTY = 40 };

struct heif_property {
    size_t begin, body, end;    /* in the file; all 0 of one that is added */
    enum heif_kind kind;        /* HEIF_KINDS: another one, or malformed */
    uint8_t box[HEIF_PROPERTY]; /* all of it, of those kinds */
    size_t users;               /* how often lists have it */
    size_t leaving;             /* how many of those are in lists that change */
    const uint8_t *wanted; /* what the first of these wants instead; or NULL */
    bool split;            /* another one of these wants something else */
};

struct heif_association {
    uint16_t property; /* counted from 1; 0: none */
    bool essential;
};

struct heif_item {
    uint32_t id;
    char type[5]; /* "" of an old version of its box */
    struct heif_marks {
        bool hidden, xmp; /* as its own box says */
        bool turned;      /* it is shown with the picture */
        bool part;        /* it is shown with another item, or within it */
        bool within;      /* it is within another item, such as a grid */
        bool inside;      /* it is within one that is turned */
        bool made;        /* it is made of an item that is turned */
        bool tells;       /* it describes an item */
        bool ours;        /* it describes one that is turned */
    } is;
    uint32_t master; /* the item that it is shown with; 0: none */
    size_t location; /* of its entry in iloc; 0: it has none */
    bool listed;     /* in ipma, with these of the associations */
    size_t first, count;
    size_t change; /* in the plan, from 1; 0: it stays */
};

/* "from" is a `type` of "to": a thumbnail, for instance. Of a group of items
 * each is a `type` of the first one. */
struct heif_reference {
    char type[4];
    uint32_t from, to;
};

enum { HEIF_LISTS = 8 };

/* Where the lists of a model grow. */
enum {
    HEIF_ITEMS,
    HEIF_REFERENCES,
    HEIF_PROPERTIES,
    HEIF_ASSOCIATIONS,
    HEIF_STORES
};

struct heif_iloc {
    struct box box;
    unsigned version, offset, length, base, index; /* sizes of fields */
    size_t first;                                  /* where the entries begin */
    uint32_t count;
};

struct heif {
    struct bytes file;           /* borrowed */
    struct box meta, iprp, ipco; /* end 0: there is none */
    struct box mini, idat;       /* the same */
    struct box space;            /* a free box between meta and the data */
    bool all;    /* pictures that are shown alone are turned, too */
    bool sealed; /* C2PA signs the bytes */
    struct heif_iloc iloc;
    uint32_t primary;
    struct heif_item *item; /* in the order of their ids */
    size_t nitems;
    struct heif_reference *reference;
    size_t nreferences;
    struct heif_property *property; /* the first is number 1 */
    size_t nproperties;
    struct box ipma[HEIF_LISTS]; /* which become one, with these flags */
    unsigned nipmas, version;
    uint32_t flags;
    struct heif_association *association;
    size_t nassociations;
    struct bytes store[HEIF_STORES]; /* the memory of all these */
};

/* ---- model.c --------------------------------------------------------------*/

/* Reads the file, and checks that all is where it says. heif_free() is to be
 * called whatever it returns. */
int heif_read(struct heif *heif, struct bytes file, struct err *err);
void heif_free(struct heif *heif);

/* Returns the item with this id; NULL if there is none. */
struct heif_item *heif_item(const struct heif *heif, uint32_t id);

/* Returns the bytes of a property of this kind that an item lists; NULL if
 * there is none. */
const uint8_t *heif_find(const struct heif *heif, const struct heif_item *item,
                         enum heif_kind kind);

/* An entry of iloc. */
struct heif_location {
    uint32_t item;
    unsigned method;
    size_t base_at, extents_at, stride, end; /* in the file; stride: of an
                                                extent */
    uint64_t base;
    unsigned extents;
};

/* Reads the entry at `at`, which has been checked, or is checked here: returns
 * false if it is cut short. */
bool heif_location(const struct heif *heif, size_t at,
                   struct heif_location *location);

/* Finds extent `i` of those: where its offset stands, and where its data begin
 * and end, in the file or in idat, which is taken for a part of it. Returns
 * false if it is not within the file. */
struct heif_extent {
    size_t at, begin, end;
    bool open; /* it goes on to the end of the file */
};
bool heif_extent(const struct heif *heif, const struct heif_location *location,
                 unsigned i, struct heif_extent *extent);

/* ---- turn.c ---------------------------------------------------------------*/

/* How an item is shown. */
struct heif_shown {
    enum xform turn;
    bool any;                      /* it has a transforming property */
    bool in_order;                 /* at most one of each, in MIAF's order */
    uint16_t property[HEIF_KINDS]; /* numbers; 0: none. Also of ispe */
    uint8_t clap[HEIF_PROPERTY];   /* as if it came first */
};
int heif_shown(const struct heif *heif, const struct heif_item *item,
               struct heif_shown *shown, struct err *err);

/* What becomes of an item's list. */
struct heif_change {
    struct heif_item *item;
    bool in_order;
    struct heif_slot {
        bool wanted;
        uint16_t was, is;           /* properties; 0: none */
        uint8_t box[HEIF_PROPERTY]; /* that it is to have */
    } slot[HEIF_KINDS];
};

struct heif_plan {
    enum xform turn; /* of the picture as shown by irot and imir */
    bool avif;
    struct heif_change *change;
    size_t nchanges;
};

/* Marks the items that are shown with the picture as `turned`. */
int heif_mark(struct heif *heif, struct err *err);

/* Returns how many pictures of the file are shown alone, and stay. Sets *spoilt
 * to an item that has the turned one within it, and so shows it turned, too;
 * NULL: there is none. */
size_t heif_others(const struct heif *heif, const struct heif_item **spoilt);

/* Plans plan->turn of the marked items, and gives the properties of the model
 * their new values, with new ones at their end; some at their end may be gone.
 * The caller frees plan->change. */
int heif_plan(struct heif *heif, struct heif_plan *plan, struct err *err);

/* ---- write.c --------------------------------------------------------------*/

/* What changes its length: bytes of the file, and what stands there instead. */
struct heif_edit {
    size_t at, end;
    struct bytes with;
};

enum { HEIF_EDITS = 12 };
struct heif_edits {
    struct heif_edit edit[HEIF_EDITS]; /* in the order of their places */
    unsigned count;
};

/* Appends the file to `out` as the plan says. The edits, which the caller
 * frees, tell where the bytes of the file are then. */
int heif_write(struct bytes *out, struct heif *heif,
               const struct heif_plan *plan, struct heif_edits *edits,
               struct err *err);
void heif_edits_free(struct heif_edits *edits);

/* Returns where the byte at `at` is afterwards. */
size_t heif_moved(const struct heif_edits *edits, size_t at);

#endif
