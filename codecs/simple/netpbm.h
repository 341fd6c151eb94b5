/* Headers that are text: numbers and words between blanks, as netpbm's formats
 * and PFM have them. */
#ifndef CODECS_SIMPLE_NETPBM_H
#define CODECS_SIMPLE_NETPBM_H

#include "codecs/codec.h"

/* A place in a file. Comments met on the way, from '#' to the end of the line,
 * are kept as blocks of `meta`, called "comment", if there is one. */
struct netpbm_reader {
    const uint8_t *at, *end;
    struct meta *meta;
};

static inline size_t netpbm_left(const struct netpbm_reader *scan)
{
    return (size_t)(scan->end - scan->at);
}

bool netpbm_is_blank(uint8_t c);

/* Passes blanks and comments. False: no memory for a comment. */
bool netpbm_blanks(struct netpbm_reader *scan);

/* Reads a number in decimal up to 2^31-1, after blanks. False: there is none.
 */
bool netpbm_number(struct netpbm_reader *scan, uint32_t *number);

/* Reads a word shorter than `room` bytes, after blanks. False: there is none.
 */
bool netpbm_word(struct netpbm_reader *scan, char *word, size_t room);

/* Passes the one blank that ends a header; a comment before it ends with it.
 * False: there is none. */
bool netpbm_one_blank(struct netpbm_reader *scan);

/* Whether `need` bytes of pixels follow. Tolerant, a warning will do. */
int netpbm_has(const struct netpbm_reader *scan, uint64_t need,
               const struct load_opts *opts, struct err *err);

/* Copies the next `size` bytes, or what there is of them and then zeros. */
void netpbm_take(struct netpbm_reader *scan, void *to, size_t size);

/* Appends the comments of `meta` as lines with their '#': its own blocks as
 * they were, or else the portable comment. */
bool netpbm_put_comments(struct bytes *file, const struct meta *meta, bool own);

/* Returns where a file that is being read is to be read on. */
struct netpbm_reader netpbm_begin(const struct reader *reader);

/* Ends a picture whose pixels have been read: nothing but blanks may follow,
 * since what follows may be another picture. Tolerant, it is left with a
 * warning. Fills the portable comment, if it is asked for. */
int netpbm_end(struct netpbm_reader *scan, const struct reader *reader,
               struct err *err);

/* Whether a file that was just encoded has the header of img, as `read` reads
 * it into a picture with a meta of `codec`, and as many bytes behind it as that
 * says the samples take. */
int netpbm_check(struct bytes file, const struct image *img,
                 const struct codec *codec,
                 int (*read)(struct image *is, struct netpbm_reader *scan,
                             uint64_t *need, struct err *err),
                 struct err *err);

#endif
