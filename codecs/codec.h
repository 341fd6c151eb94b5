/* Codecs: file formats, read and written from memory to memory.
 *
 * What comes in is the bytes of a file, what goes out are planes of cells and
 * the metadata beside them (codecs/image), and the other way round. A picture
 * goes one way, no step of which is done twice:
 *
 *     probe    which format begins so                      codec_probe()
 *     open     parse what comes before the pixels          codec_open()
 *     plan     the turn, the representation, the edges     cli/job/plan.c
 *     decode   as planned, into planes; rows that come     codec_decode()
 *              in order are turned in bands on their way
 *     turn     what is left of the turn                    cuda/backend.h
 *     metadata make it true of the turned picture          metadata_turn()
 *     encode   what is given, into the bytes of a file     struct codec.encode
 *     check    whether that is a whole file                struct codec.check
 *
 * codecs/ does not know how pictures are turned, nor the options of a command
 * line, nor files on disk: nothing here prints, exits or opens a file. */
#ifndef CODECS_CODEC_H
#define CODECS_CODEC_H

#include "codecs/base/bytes.h"
#include "codecs/base/thread_pool.h"
#include "codecs/image/image.h"
#include "codecs/image/meta.h"
#include "codecs/image/rows.h"

/* Decoded representation, from samples to coded coefficients. Later ones lose
 * less when they are encoded again, but allow fewer turns (struct stream_info).
 */
enum representation {
    REPRESENTATION_SAMPLES, /* planes of the size of the picture */
    REPRESENTATION_PLANES,  /* the samples that the file stores: chroma may have
                               fewer */
    REPRESENTATION_REALIGNED, /* coefficients; those of components that have no
                                 whole blocks along an axis that will run
                                 backwards are computed anew, of blocks that are
                                 whole there after the turn */
    REPRESENTATION_COEFFICIENTS, /* blocks of coefficients, as they are */
    REPRESENTATIONS,
};

/* Takes what has been made of a file that memory need not hold, and empties it.
 */
struct flush {
    int (*take)(void *context, struct bytes *file, struct err *err);
    /* Writes over some of the bytes that were taken, `at` behind the first. */
    int (*replace)(void *context, uint64_t at, const void *data, size_t size,
                   struct err *err);
    void *context;
};

/* Passes on what has been made of a file, if that is worth it, where nobody
 * looks back. Fine on NULL: then all of it is kept. */
static inline int flush_file(const struct flush *flush, struct bytes *file,
                             struct err *err)
{
    const size_t enough = 1 << 20;
    return flush && file->size >= enough
               ? flush->take(flush->context, file, err)
               : 0;
}

/* How a file is read. */
struct load_opts {
    struct limits limits;
    struct mem mem;     /* where the cells go */
    bool tolerant;      /* take what can be read of a damaged file, and warn */
    bool portable;      /* the picture will be written in another format: fill
                           the portable fields of the meta, and decode to colors
                           that other formats have */
    bool lossless;      /* fail where what is portable is not all of it */
    bool libraries;     /* decode by the libraries of a format alone, where ours
                           would do, so that one can be held against the other */
    enum layout layout; /* how the axes of arrays are read */
    struct thread_pool *pool;     /* threads that may be kept busy; NULL: the
                                     caller's */
    const struct save_opts *save; /* how struct codec.turn turns and writes;
                                     NULL: it only reads */
    bool all; /* `retag` turns all pictures of a file, also those that are not
                 shown with the first one */
    const struct flush *flush; /* of what it makes of a picture that goes
                                  through limits.scratch */
    struct warnings *warnings;
};

struct scan_turner;

/* What has been decided about a picture before it is decoded. {0} asks for its
 * samples, as stored. */
struct decode_plan {
    enum representation representation; /* no later than struct codec.closest */
    enum xform turn; /* of the stored picture, with its tag folded in. Where an
                        axis will run backwards and is not a whole number of
                        chroma samples, planes have chroma in full resolution */
    uint32_t width, height; /* the most columns and rows to take of planes or
                               coefficients, of these whole multiples of the
                               alignment; 0: all */
    /* Turns the picture by `turn` while it is read; NULL: it stays as stored.
     * A codec may ignore it: img->turned says what was done. */
    const struct turner *turner;
    /* Turns the scans of a JPEG without decoding them here, if they suit it:
     * then img->turned says so, and they are there to be encoded once it is
     * done. NULL: there is none. Of REPRESENTATION_SAMPLES it makes samples,
     * packed so, of cells that are converted so: then img has PIXELS_DEVICE.
     *
     * Of a PNG it makes samples as well, of colors and alpha, if they are not
     * packed in rows; else, as of an array, the image data of a PNG, which is
     * written quickly and without other changes to its samples. */
    const struct scan_turner *scan_turner;
    enum packing packing;
    enum cell cell;
};

enum strip {
    STRIP_NOTHING,
    STRIP_METADATA, /* all but what says how the samples look */
    STRIP_ALL,
};

/* What is done with a picture that cannot be turned as it is coded. */
enum edge { EDGE_REENCODE, EDGE_TRIM, EDGE_TAG, EDGE_FAIL };

struct save_opts {
    const char *suffix; /* of the name asked for, as "ppm"; may be "" */
    int quality;        /* 1..100 of a lossy format; 0: the codec's own */
    int effort;         /* to make a PNG small: 1 + 0..9, as zlib counts; 0:
                           what is best for most */
    bool optimize;      /* the smallest file, if that takes longer */
    bool lossless;      /* fail where a lossy format must encode anew */
    bool no_restart;    /* no restart markers, whatever a JPEG had */
    enum strip strip;
    unsigned drop;        /* what of the metadata is left out beside that:
                             codecs/image/meta.h */
    unsigned orientation; /* what tags must say in the output; 0: leave them */
    struct thread_pool *pool; /* threads that may be kept busy; NULL: the
                          caller's. What is written does not depend on it */
    enum edge edge;           /* for pictures behind the first one */
    enum layout layout;       /* of the array that a picture of another format
                                 becomes */
    bool tolerant; /* take what can be read of a damaged frame, and warn */
    bool inner;    /* the picture stands in another one, so what follows
                      its end is left as it is */
    const struct flush *flush;     /* of a picture that has bands or is large;
                                      NULL: all of the file is kept */
    const struct scratch *scratch; /* for frames that memory does not hold, as
                                      animation.stored says */
    bool *encoded_anew; /* `turn`, or `encode` of a codec that is not lossy,
                           sets it where it encodes with loss; NULL */
    uint32_t *adler;    /* PNG: `encode` stores the Adler-32 of its rows here,
                           and `check` compares it; NULL or 0: unknown */
    const struct turner *turner;   /* turns embedded JPEG files */
    const struct account *account; /* whose time `encode` looks at, and gives up
                                    when it is over; NULL: it has no end */
    struct warnings *warnings;
};

/* Levels of compression that have a name. */
enum { LEVEL_FAST = 1, LEVEL_DEFAULT = 6, LEVEL_SMALL = 9 };

/* What a file says before its pixels: all that a plan needs. */
struct stream_info {
    uint32_t width, height; /* as stored */
    struct orientation orientation;
    bool
        lossy; /* of what `turn` turns: it encodes some of it anew, with loss */
    /* In pixels: an axis that runs backwards after a turn must be a whole
     * multiple of it. */
    struct alignment {
        uint32_t x, y;
    } alignment[REPRESENTATIONS];
};

/* Returns whether this picture can be turned by t in this representation. */
bool stream_info_can_turn(const struct stream_info *info,
                          enum representation representation, enum xform t);

/* A file that is being read, from codec_open() to codec_close(). */
struct reader {
    const struct codec *codec;
    struct bytes file;            /* borrowed */
    const struct load_opts *opts; /* borrowed */
    struct stream_info info;
    const struct decode_plan *plan; /* borrowed; NULL before it is decoded */
    struct image img; /* its shape and its metadata; its cells when decoded */
    size_t at;        /* the codec's: where the pixels begin */
    void *state;      /* the codec's: what else it has parsed */
};

/* What a format can hold. A picture is made to fit by codecs/convert/convert.h.
 */
struct capabilities {
    unsigned cells;  /* 1 << enum cell, or-ed */
    unsigned colors; /* 1 << enum color, or-ed */
    bool alpha;
    bool any_maxval;   /* else 255 and 65535 */
    bool gray_bits;    /* gray without alpha also with maxval 1, 3 and 15 */
    unsigned metadata; /* HOLDS_..., or-ed */
};

/* Returns how `encode` takes samples of PIXELS_DEVICE, so that it need not pack
 * them for an array of this layout: another way than PACKING_ROWS, which every
 * codec takes. */
typedef enum packing packing_of_layout(enum layout layout);

struct block_format;

struct codec {
    const char *name;            /* "png"; what --format takes */
    const char *title;           /* "PNG" */
    const char *const *suffixes; /* lower case, ended by NULL */
    bool lossy;                  /* samples change when they are encoded */
    bool has_quality;            /* that of struct save_opts */
    bool rounds;                 /* samples of other formats change */
    bool kinds;                  /* the suffix chooses among its kinds */
    bool
        oriented; /* all readers show its pictures as its own field says, which
                     is how they are turned: `retag` does it. Their samples are
                     not decoded, and `decode`, `encode` and `check` are NULL */
    bool arrays;  /* it holds arrays, which have no digests */
    enum representation closest; /* to the file that it can decode to */
    bool stores; /* it decodes to bands where limits.scratch asks for that, and
                    encodes pictures that have them, and flushes the file; and
                    so does `turn` */
    struct capabilities capabilities;
    /* Size of the state in the meta of a picture that was read, which keeps how
     * the file was coded; 0: none, or one that open() makes. */
    size_t state_size;
    /* How it keeps metadata in blocks, for metadata_turn(); NULL: it has no
     * blocks that this turns. */
    const struct block_format *blocks;
    /* Returns whether a file that starts with these bytes is of this format. */
    bool (*probe)(const uint8_t *head, size_t size);
    /* Loads the library that the format takes, once
     * (codecs/base/shared_library.h). Called before the process gives up its
     * rights; what needs the library calls it again, to fail with the reason.
     * NULL: there is none, or it is linked. */
    int (*load)(struct err *err);
    /* The same for one that takes as long to load as a picture to turn: of many
     * files, only one whose name has a suffix of the format has it loaded. */
    int (*load_slow)(struct err *err);
    /* Parses what comes before the pixels, into reader->img, whose meta is
     * empty, and reader->info.alignment. What is behind the pixels may wait
     * until they are decoded: the orientation too. */
    int (*open)(struct reader *reader, struct err *err);
    /* Gives reader->img its cells, as reader->plan says, and the rest of its
     * metadata. A picture whose colors no other format holds is read all the
     * same. */
    int (*decode)(struct reader *reader, struct err *err);
    /* Gives reader->img the rest of its shape and its metadata, but for the
     * portable fields, without decoding the pixels, whose damage is not found.
     * NULL: all is there when the file is open. */
    int (*describe)(struct reader *reader, struct err *err);
    /* Frees reader->state. NULL: there is none. */
    void (*close)(struct reader *reader);
    /* Appends the file to `out`, with `op` added to its orientation tag. Only
     * the bytes change that must follow from it. info gets the size and the
     * orientation that the file had. Of a codec that is `oriented`, XFORM_NONE
     * stands for `upright`: where only a tag that not all readers obey turns
     * the picture, its own field does so afterwards, with a warning. NULL: the
     * format has no such tag. */
    int (*retag)(struct bytes *out, struct stream_info *info, struct bytes file,
                 enum xform op, const struct load_opts *opts, struct err *err);
    /* Turns all pictures that a file holds, whatever their cells are, within
     * its format, with the turner of opts->save; each by its own orientation
     * tag first, which then says 1, unless that is to leave tags.
     * Appends the file to `out`, which is empty, and stays empty if nothing
     * changes. img is {0}, and gets only the size of the first picture, as
     * turned, and what its tag says then. Without `save` it turns by nothing:
     * it reads all pictures, and fails if one is damaged. On failure `out` may
     * hold a part, which the caller frees. NULL: pictures are decoded, turned
     * and encoded. */
    int (*turn)(struct bytes *out, struct image *img, struct bytes file,
                enum xform t, const struct load_opts *opts, struct err *err);
    /* Appends the whole file to `file`, which is empty. The picture fits the
     * capabilities, and metadata_turn() has been called for it. On failure
     * `file` may hold a part, which the caller frees. Of samples that were made
     * elsewhere it may become borrowed. */
    int (*encode)(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err);
    packing_of_layout *packing; /* NULL: it takes PACKING_ROWS alone */
    /* Fails, with the reason, if `file`, which `encode` has made of img, is not
     * a whole file of such a picture. That costs a small part of encoding. For
     * a file that `turn` has made, img and opts are NULL. */
    int (*check)(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err);
};

/* All codecs that this program is built with, ended by NULL. Those that first
 * bytes identify with less certainty come last. */
enum { CODECS_MAX = 31 };
extern const struct codec *const codecs[CODECS_MAX + 1];

/* Loads the libraries of a codec, or of all for NULL; or of all but for those
 * that take long. What is missing is said where it is needed. */
void codec_load(const struct codec *codec);
void codec_load_quick(void);

/* Returns the codec of a file by its first bytes; NULL if no codec reads it. */
const struct codec *codec_probe(struct bytes file);

/* Opens a file of this format, which like the options is borrowed until
 * codec_close(): then reader->info is known. On failure there is nothing to
 * close. */
int codec_open(struct reader *reader, const struct codec *codec,
               struct bytes file, const struct load_opts *opts,
               struct err *err);

/* Decodes the picture into img, which the caller frees. On failure img is {0}.
 * May be called once. */
int codec_decode(struct reader *reader, struct image *img,
                 const struct decode_plan *plan, struct err *err);

/* Opens, decodes and closes: all of these. On failure img is {0}. */
int codec_decode_file(const struct codec *codec, struct image *img,
                      struct bytes file, const struct load_opts *opts,
                      const struct decode_plan *plan, struct err *err);

/* Describes the picture instead: img gets its shape and its metadata, but for
 * the portable fields, and no cells. */
int codec_describe(struct reader *reader, struct image *img, struct err *err);

/* Frees what the reader holds. Fine on {0}, and twice. */
void codec_close(struct reader *reader);

/* Returns an empty meta of this codec, with its state zeroed; NULL without
 * memory. */
struct meta *codec_new_meta(const struct codec *codec);

/* Returns the codec of this name, or of this suffix without its dot, in either
 * case; NULL if there is none. */
const struct codec *codec_by_name(const char *name);

/* Returns whether img was decoded by `codec`: then its own blocks are written,
 * else the portable fields. */
static inline bool codec_is_own(const struct codec *codec,
                                const struct image *img)
{
    return img->meta && img->meta->codec == codec;
}

extern const struct codec codec_png, codec_jpeg, codec_gif, codec_bmp,
    codec_tga, codec_hdr, codec_pnm, codec_pam, codec_pfm, codec_qoi, codec_jxl,
    codec_npy, codec_npz, codec_raw, codec_tiff, codec_heic, codec_avif,
    codec_webp;

#endif
