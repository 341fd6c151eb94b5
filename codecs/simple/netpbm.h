/* What PNM, PAM and PFM share: a header of text, comments in it, and rows of
 * samples behind it. pnm.c, pam.c and pfm.c each say how their header reads and
 * which samples it announces. */
#ifndef CODECS_SIMPLE_NETPBM_H
#define CODECS_SIMPLE_NETPBM_H

#include "codecs/simple/simple.h"

/* How a file was coded: the states of the three codecs. */
struct pnm_state {
    int digit; /* behind the P: 1 to 3 are numbers in decimal, 4 to 6 bytes */
};
struct pam_state {
    char type[32]; /* the tuple type; "" if the file has none */
};
struct pfm_state {
    char scale[32]; /* as it was written; its sign is the byte order */
    bool big_endian;
};

/* ---- The header ---- */

/* A position in a file. A comment on the way, from '#' to the end of its line,
 * is added to `meta` as a block called "comment". */
struct netpbm_reader {
    const uint8_t *at, *end;
    struct meta *meta; /* NULL: comments are skipped */
    bool cut;          /* a warning has said that the file is cut short */
    struct bytes_passed passed; /* of a file that is only looked through */
    bool starved;               /* there was no memory for a comment */
};

static inline size_t netpbm_left(const struct netpbm_reader *r)
{
    return (size_t)(r->end - r->at);
}

bool netpbm_is_blank(uint8_t c);

/* Skips blanks and comments. Returns false without memory for a comment. */
bool netpbm_skip_blanks(struct netpbm_reader *r);

/* Reads a decimal number up to 2^31-1, after blanks. Returns false if there is
 * none. */
bool netpbm_read_number(struct netpbm_reader *r, uint32_t *number);

/* Reads a word shorter than `room` bytes, after blanks. Returns false if there
 * is none. */
bool netpbm_read_word(struct netpbm_reader *r, char *word, size_t room);

/* Skips the one blank that ends a header; a comment before it ends with it.
 * Returns false if there is none. */
bool netpbm_end_header(struct netpbm_reader *r);

/* Begins a file: its first line, `magic`; the comments of img, unless they are
 * stripped or the format has none; and `fields`, the rest of the header. */
int netpbm_write_header(struct bytes *file, const struct image *img,
                        const struct codec *codec, const struct save_opts *opts,
                        const char *magic, const char *fields, struct err *err);

/* ---- Samples: rows of pixels, each with all its channels ---- */

/* Sets maxval, and with it the size of cells: a byte up to 255, else two. */
int netpbm_set_maxval(struct image *img, uint32_t maxval, struct err *err);

/* The bytes of all rows. */
uint64_t netpbm_samples_size(const struct image *img);

/* Allocates the planes and reads all rows, turned as planned: integers, whose
 * high byte comes first, or the floats of PFM. An integer above maxval is an
 * error; tolerant, it becomes maxval. */
int netpbm_read_samples(struct reader *reader, struct netpbm_reader *r,
                        struct err *err);

/* Reports a sample of row y that is above maxval: an error, or tolerant a
 * warning for the first one; *clipped says whether there was one before. */
int netpbm_note_clipped(bool *clipped, uint32_t y, const struct image *img,
                        const struct load_opts *opts, struct err *err);

/* Opens a sink for the rows of the picture, turned as planned. */
int netpbm_open_rows(struct row_sink *rows, struct reader *reader,
                     struct err *err);

/* How rows are written. */
struct netpbm_rows {
    size_t size;     /* of each, in bytes */
    bool upwards;    /* from the bottom row up */
    bool big_endian; /* the order of bytes in a sample */
    /* Joins row y of img to `row`. */
    void (*join)(const struct image *img, uint32_t y, uint8_t *row,
                 const struct netpbm_rows *rows);
};

/* Appends all rows, and flushes them. */
int netpbm_write_rows(struct bytes *file, const struct image *img,
                      const struct netpbm_rows *rows,
                      const struct save_opts *opts, struct err *err);

/* A `join` of samples. */
void netpbm_join_samples(const struct image *img, uint32_t y, uint8_t *row,
                         const struct netpbm_rows *rows);

/* The same for rows of samples; floats from the bottom row up, as PFM has them.
 */
int netpbm_write_samples(struct bytes *file, const struct image *img,
                         bool big_endian, const struct save_opts *opts,
                         struct err *err);

/* ---- The file ---- */

/* What the three formats do each in their own way: struct codec.format. */
struct netpbm_format {
    /* Reads the header, up to the first sample, into img and the state of its
     * meta. */
    int (*read_header)(struct image *img, struct netpbm_reader *r,
                       struct err *err);

    /* The bytes that the samples take. Of decimal numbers they are known only
     * where `r` stands before them; for NULL it is the least that they take.
     * NULL: netpbm_samples_size(). */
    uint64_t (*samples_size)(const struct image *img,
                             const struct netpbm_reader *r);

    /* Allocates the planes of reader->img and reads its samples. */
    int (*read_samples)(struct reader *reader, struct netpbm_reader *r,
                        struct err *err);
};

/* open() and decode() of struct codec. Bytes behind the picture are an error,
 * or tolerant a warning. */
int netpbm_open(struct reader *reader, struct err *err);
int netpbm_decode(struct reader *reader, struct err *err);

/* Fails unless a file that was just encoded has the header of img and as many
 * bytes of samples as that announces. */
int netpbm_check(struct bytes file, const struct image *img,
                 const struct codec *codec, struct err *err);

#endif
