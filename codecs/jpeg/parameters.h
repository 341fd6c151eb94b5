/* How a JPEG file is coded: tables, sampling, scans, restart intervals. They
 * are noted when a file is read, and set when it is written, turned as its
 * picture is. */
#ifndef CODECS_JPEG_PARAMETERS_H
#define CODECS_JPEG_PARAMETERS_H

#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#include "codecs/codec.h"
#include "codecs/image/image.h"
#include "codecs/jpeg/entropy/entropy.h"

/* The most components of a scan, and of a picture that is turned as it is
 * coded. */
enum { COMPONENTS = 4 };

/* One scan (T.81, B.2.3). */
struct jpeg_scan {
    uint8_t count, component[COMPONENTS];
    uint8_t from, to;  /* coefficients, in zigzag order */
    uint8_t high, low; /* low bits that are missing before it and after it */
};

/* The state of codec_jpeg in a struct meta: how its file is coded. */
struct jpeg_parameters {
    int space;        /* a J_COLOR_SPACE */
    bool arithmetic;  /* else Huffman */
    bool extended;    /* SOF1, although SOF0 may do */
    unsigned restart; /* MCUs between restart markers; 0: none */
    unsigned columns; /* MCUs in a row */
    /* No two ids are equal, and sampling factors are those of the planes as
     * decoded. */
    struct sequential_component component[COMPONENTS];
    uint16_t step[4][64];     /* the tables, rows of steps */
    struct bytes scans;       /* struct jpeg_scan each, in order */
    bool realigned;           /* some coefficients are not the file's own */
    struct sequential *coded; /* how the coefficients are coded, and they
                                 themselves unless the picture has planes of
                                 them; NULL: libjpeg has read it */
    struct sequential_turned *turned; /* its scans as they are turned elsewhere;
                                         NULL: they are not */
};

/* Frees what is coded, also as it is turned elsewhere. */
void parameters_forget_coded(struct jpeg_parameters *p);

/* Frees parameters and what they hold: struct meta.free_state. */
void parameters_free(void *state);

/* Returns the parameters in the meta of a JPEG. */
static inline struct jpeg_parameters *parameters_of(const struct meta *meta)
{
    return (struct jpeg_parameters *)meta->state;
}

/* By how many samples, below 8, the blocks of a component are moved so that a
 * turn leaves them whole: those of the last blocks that lie beyond a picture of
 * this size. */
struct parameters_move {
    uint32_t right, down;
};
struct parameters_move parameters_move(const struct jpeg_parameters *p,
                                       unsigned i, uint32_t width,
                                       uint32_t height, enum xform turn);

/* Divides coarse steps (arithmetic.h) of tables that no component has which
 * stays as it is: `moved` has a bit for each that does not. Sets the divisor of
 * each table. */
void parameters_refine(uint16_t step[4][64], unsigned divisor[4],
                       const struct sequential_component *component,
                       unsigned moved, uint64_t pixels);

/* Leaves the first columns and rows of img, in pixels, by the sampling of its
 * components; 0: all. What is left out of the planes stays in memory. */
void parameters_trim(struct image *img, uint32_t width, uint32_t height);

/* Notes what the headers before the first scan say. */
void parameters_note(struct meta *meta, j_decompress_ptr d);

/* Notes the scan that has just begun. Returns false without memory. */
bool parameters_note_scan(struct meta *meta, j_decompress_ptr d);

/* Notes the scans of what is coded, and frees it. Returns false without
 * memory. */
bool parameters_note_coded(struct jpeg_parameters *p);

/* Notes the quantization tables, after all scans, each of which may have
 * defined some. `components` is their number in the frame header: d may have
 * another one if libjpeg has failed to read something since. */
void parameters_note_tables(struct meta *meta, j_decompress_ptr d,
                            unsigned components);

/* Tells `info` how the file is coded; after parameters_note(). */
void parameters_describe(struct meta *meta, j_decompress_ptr d);

/* Sets the alignments of a file. */
void parameters_alignments(struct stream_info *info, j_decompress_ptr d);

/* Makes c write img, which was decoded from a JPEG file, as that file was
 * coded. The size, the color space and the defaults of c are set. */
void parameters_set(j_compress_ptr c, const struct image *img,
                    const struct save_opts *opts);

#endif
