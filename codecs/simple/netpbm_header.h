/* Headers that are text: numbers and words between blanks, as netpbm's formats
 * and PFM have them. */
#ifndef CODECS_SIMPLE_NETPBM_HEADER_H
#define CODECS_SIMPLE_NETPBM_HEADER_H

#include "codecs/codec.h"

/* A place in a file. Comments met on the way, from '#' to the end of the line,
 * are kept as parts of `meta`, called "comment", if there is one. */
struct scan {
    const uint8_t *at, *end;
    struct meta *meta;
};

static inline size_t scan_left(const struct scan *scan)
{
    return (size_t)(scan->end - scan->at);
}

bool scan_is_blank(uint8_t c);

/* Passes blanks and comments. False: no memory for a comment. */
bool scan_blanks(struct scan *scan);

/* Reads a number in decimal up to 2^31-1, after blanks. False: there is none. */
bool scan_number(struct scan *scan, uint32_t *number);

/* Reads a word shorter than `room` bytes, after blanks. False: there is none. */
bool scan_word(struct scan *scan, char *word, size_t room);

/* Passes the one blank that ends a header; a comment before it ends with it.
 * False: there is none. */
bool scan_one_blank(struct scan *scan);

/* Whether nothing but blanks follows, since what follows may be another
 * picture. Tolerant, it is left with a warning. */
int scan_finish(struct scan *scan, const struct load_opts *opts,
                struct err *err);

/* Whether `need` bytes of pixels follow. Tolerant, a warning will do. */
int scan_has(const struct scan *scan, uint64_t need,
             const struct load_opts *opts, struct err *err);

/* Copies the next `size` bytes, or what there is of them and then zeros. */
void scan_take(struct scan *scan, void *to, size_t size);

/* Appends the comments of `meta` as lines with their '#': its own parts as they
 * were, or else the neutral comment. */
bool scan_put_comments(struct bytes *file, const struct meta *meta, bool own);

/* Fills meta->comment with all comments. */
int scan_neutral_comment(struct meta *meta, struct err *err);

/* Decodes a file whose header and pixels `read` reads: with a meta of `codec`,
 * its comments among it, and nothing left on failure. */
int scan_picture(struct image *img, struct bytes file,
                 const struct codec *codec,
                 int (*read)(struct image *img, struct scan *scan,
                             const struct load_opts *opts, struct err *err),
                 const struct load_opts *opts, struct err *err);

/* Whether a file that was just encoded has the header of img, as `read` reads it
 * into a picture with a meta of `codec`, and as many bytes behind it as that
 * says the samples take. */
int scan_check(struct bytes file, const struct image *img,
               const struct codec *codec,
               int (*read)(struct image *is, struct scan *scan, uint64_t *need,
                           struct err *err),
               struct err *err);

#endif
