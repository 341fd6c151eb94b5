/* One picture, from the bytes of a file to the bytes of another: the main
 * header of cli/job/.
 *
 * What comes in is a job: names, options, a backend to turn with and threads to
 * use; what goes out is the written file and a result that says how it was done
 * and how long each stage took. The room knows nothing of other jobs, of what
 * is in the formats, or of how a result is reported.
 *
 * The way of a picture, as `rotate90 in.png out.png` goes it; run.c calls the
 * stages, and stages.h has what each hands to the next:
 *
 * - STAGE_READ, job_read_input() in run.c: the file is read, or mapped if it
 *   is large. Its first bytes tell its format; options and names tell that of
 *   the output.
 * - STAGE_DECODE, job_decode() in turn.c: by the formats job_plan_formats()
 *   plans what is turned: one picture; a tag alone, by set_tag(); or all that a
 *   GIF, a TIFF, a WebP or a file of arrays holds, by its codec, which
 *   turn_within() calls. With the last two the output is made. Limits are set,
 *   and where samples go that are beyond them. The codec parses what comes
 *   before the pixels, and by that job_plan_picture() plans the turn, and
 *   whether samples or coefficients are turned. Then the codec decodes. PNG,
 *   the formats of netpbm, HDR and TIFF give rows to a row_sink (codecs/image),
 *   which decides by the limits whether they go to memory or to a temporary
 *   file, and turns them some hundred at a time by one function pointer, that
 *   of turner_of() in turn.c, if the backend turns parts of a picture. The
 *   scans of a JPEG, the image data of a PNG or an array may go to a device
 *   instead (codecs/image/scan_turner.h).
 * - STAGE_TURN, job_turn() in turn.c: samples become what the output can hold
 *   (codecs/convert), and the backend turns the whole picture if that has not
 *   been done by rows. For most pictures there is nothing left to do.
 * - STAGE_ENCODE, job_encode() in turn.c: metadata are made true of the
 *   turned picture, and the codec encodes it, to memory or, if it is large, to
 *   a file that becomes the output. check_output() looks whether that is a
 *   whole file; --verify decodes input and output again (look.c).
 * - STAGE_WRITE, write_output() in run.c: the output is written beside
 *   its place and renamed. Until then no file has changed. */
#ifndef CLI_JOB_JOB_H
#define CLI_JOB_JOB_H

#include <sys/types.h>
#include <time.h>

#include "cli/files/path.h"
#include "cli/files/resolve.h"
#include "cli/options/options.h"
#include "cuda/backend.h"
#include "cuda/jpeg/scan_engine.h"

enum stage {
    STAGE_READ,
    STAGE_DECODE,
    STAGE_TURN,
    STAGE_ENCODE,
    STAGE_WRITE,
    STAGES,
};

/* How an output was made. */
enum how {
    HOW_UNCHANGED,     /* the same bytes: nothing was to be done */
    HOW_LOSSLESS,      /* the same samples, moved */
    HOW_LUMA_LOSSLESS, /* the same luma, moved; chroma encoded anew */
    HOW_CONVERTED, /* the samples were made to fit, by codecs/convert/convert.h
                    */
    HOW_REENCODED, /* by a lossy codec */
    HOW_TRIMMED,   /* the same samples, but for those at an edge */
    HOW_TAGGED,    /* the same samples, where they were; the tag turns them */
    HOW_ORIENTED,  /* the same bytes but for the field by which all readers turn
                      the picture */
    HOWS,
};

extern const char *const job_stage_name[STAGES];
extern const char *const job_how_name[HOWS];

/* What a job is done with: of the thread that does it. */
struct job_tools {
    const struct backend *backend;
    struct lane *lane;        /* of this backend */
    struct thread_pool *pool; /* threads for the codecs */
    /* Turns what job_device_kind() says, but for what the options say; or NULL.
     */
    const struct scan_turner *scan_turner;
    /* Where jobs share their memory, or NULL: of struct read_opts, before the
     * file is read, and of struct limits. */
    void (*reserve_file)(void *context, uint64_t bytes);
    void (*reserve)(void *context, uint64_t bytes);
    void *context;
};

/* Takes the output instead of a file of its own, and sets *size to what it
 * takes there. */
struct job_taker {
    int (*put)(void *context, struct bytes output, size_t *size,
               struct err *err);
    void *context;
};

struct job {
    const char *input, *output; /* "-": standard input, standard output */
    struct root *input_root, *output_root; /* the names are confined to these,
                                              unless they are NULL */
    const struct codec *format; /* of the output; NULL: that of the input */
    const char *format_name;    /* the name or suffix that chose it, or "" */
    const struct options *opts;
    struct job_tools tools;
    const struct job_taker *taker; /* or NULL */
    bool regular; /* fail unless input and output are regular files: in a batch
                     nobody ends a job that waits for another program */
    bool served;  /* it comes through serve: errors advise accordingly */
    bool tells_replaced; /* it is said if the output replaces a file */
};

/* Why a job was not done. */
enum skipped {
    SKIPPED_NOT,
    SKIPPED_EXISTS, /* the output exists: --no-clobber */
    SKIPPED_NEWER,  /* the output is newer: --update */
    SKIPPED_DONE,   /* an earlier run did it: --resume */
};

extern const char *const job_skipped_name[SKIPPED_DONE + 1];

/* What a device that turns coded scans did for a job, or why it did nothing. */
enum device_use {
    DEVICE_NONE, /* there is none */
    DEVICE_TURNED,
    DEVICE_UNSUITED, /* the format, or how a JPEG is coded */
    DEVICE_PROGRESSIVE,
    DEVICE_SAMPLES, /* a JPEG is encoded anew */
    DEVICE_NOT_READY,
    DEVICE_TOO_LARGE,
    DEVICE_REFUSED, /* what is odd about a scan, the CPU can tell */
    DEVICE_USES,
};

/* What --verify has found. */
struct verified {
    bool done;   /* it has looked, and all is well */
    bool same;   /* all samples or coefficients are those of the input */
    double psnr; /* in decibels, where they are not */
};

struct result {
    enum skipped skipped;
    enum how how;
    struct verified verified;
    const struct codec *from, *to;
    enum xform turned;      /* what was done to the stored pixels */
    uint32_t width, height; /* of the output */
    unsigned threads;       /* that worked on it */
    unsigned worker;  /* which worker of a batch or of serve did it, from 1; or
                         0: none */
    bool progressive; /* the input is a progressive JPEG */
    bool replaced;   /* the output took the place of a file with something in it
                        that was not the input */
    bool by_backend; /* that of the job has moved samples */
    enum device_use device_use;
    size_t bytes_in, bytes_out;
    uint64_t scratch;      /* bytes of cells that went through a file */
    struct timespec mtime; /* of the input */
    double seconds[STAGES];
    double waited;         /* seconds spent waiting for memory, in no stage */
    enum stage last;       /* the last stage that was begun */
    unsigned edge_warning; /* which warning, from 1, says that a JPEG cannot be
                              turned without loss: that it, or its chroma, is
                              encoded anew, or that it is left by its tag; 0:
                              none */
    struct warnings warnings; /* long, and seldom used: at the end */
};

/* Chooses the format of the output by the options, else by its name. A name
 * without a known suffix keeps the format of the input if it is a stream, or if
 * the input has the same suffix, as a file that is replaced has. On failure the
 * name is of no known format. */
int job_choose_format(struct job *job, struct err *err);

/* Fails if the output is the input by another name, for instance a link to it,
 * and would be replaced although nobody asked for that. */
int job_check_output(const struct job *job, struct err *err);

/* Returns whether the output would replace a file with something in it that is
 * not the input. */
bool job_would_replace(const struct job *job);

/* Returns whether the options leave the job out, by the files that exist. */
enum skipped job_is_skipped(const struct job *job);

/* Does the job. On failure nothing was written, and result->last is the stage
 * that failed. */
int job_run(const struct job *job, struct result *result, struct err *err);

/* ---- The same in steps, for callers that do many side by side ---- */

struct job_state; /* what a job holds on its way: stages.h */

/* Reads the input, or finds that the job is left out: result->skipped. The job
 * and the result must live until job_end(). Returns NULL on failure. */
struct job_state *job_read(const struct job *job, struct result *result,
                           struct err *err);

/* Makes the output in memory, which takes the processor. The pool, the lane and
 * the turner of scans need not be set before. If that has begun with a picture,
 * its scans must be turned before job_finish(). If they are refused,
 * job_retry() is called in place of job_begin(). */
int job_begin(struct job_state *state, struct err *err);
int job_retry(struct job_state *state, struct err *err);
int job_finish(struct job_state *state, struct err *err);

/* Returns what a device would have to turn for a job that was read; SCAN_KINDS:
 * nothing that one does. */
enum scan_kind job_device_kind(const struct options *opts,
                               const struct result *result);

/* Returns the bytes that are about to be written, which stay the state's. */
struct bytes job_output(const struct job_state *state);

/* Returns whether they are where the turner of scans has made them, which must
 * leave them there until they are written. */
bool job_borrows_output(const struct job_state *state);

/* Writes the output to its place. */
int job_write(struct job_state *state, struct err *err);

/* Frees the state. Fine on NULL. */
void job_end(struct job_state *state);

struct relation;

/* Finds which turns make the first picture the second:
 * codecs/compare/compare.h.
 */
int job_relate(struct relation *relation, const char *first, const char *second,
               const struct options *opts, struct warnings *warnings,
               struct err *err);

enum soundness { SOUND, UNSOUND, SOUNDNESS_UNKNOWN };

/* Decodes a file, whatever it holds, and keeps nothing of it. Returns whether
 * it is sound, with the reason if it is not, or if that is not known: if a
 * limit or the system keeps it from being read to its end. `digest`, unless it
 * is NULL, gets that of the picture, as codecs/compare/compare.h makes it; of
 * what is not one picture, and of what stays an array, "". The job has an
 * input, options, and what it shares its memory by. */
enum soundness job_check_sound(const struct job *job, struct result *result,
                               char *digest, struct err *err);

/* What a picture is, and what would become of it. */
struct description {
    struct image img; /* without cells; the caller frees it */
    struct result result;
    enum how turns[XFORM_COUNT]; /* how it would be turned so within its format;
                                    `upright` stands for XFORM_NONE */
};

/* Describes a picture without decoding it. The name is confined to the root,
 * unless that is NULL. */
int job_describe(const char *input, struct root *root,
                 const struct options *opts, struct description *description,
                 struct err *err);

#endif
