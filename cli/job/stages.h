/* The stages of a job, in the order of job.h, and what one hands to the next.
 */
#ifndef CLI_JOB_STAGES_H
#define CLI_JOB_STAGES_H

#include "cli/files/file_write.h"
#include "cli/files/files.h"
#include "cli/files/scratch_file.h"
#include "cli/job/job.h"
#include "codecs/base/account.h"
#include "codecs/codec.h"
#include "codecs/convert/convert.h"

/* ---- The plan (plan.c) ----
 *
 * What is decided about a picture before it is decoded, by the options, by the
 * formats of input and output, and by what the file says before its pixels. */

struct job_plan {
    bool own;    /* the output has the format of the input, and its depth */
    bool within; /* it is turned within its format: struct codec.turn */
    bool tags; /* only what says how it is shown changes: struct codec.retag */
    struct decode_plan decode;
    unsigned tag; /* 1..8: the pixels stay, and this tag turns them; 0: they are
                     turned */
};

/* Returns the turn of the stored pixels: that of the orientation tag, 0 if
 * there is none, then the operation. */
enum xform job_plan_turn(const struct options *opts, unsigned orientation);

/* Plans what the formats alone decide: result->from and result->to are known,
 * result->how is set. On failure --lossless refuses that. */
int job_plan_formats(struct job_plan *plan, const struct options *opts,
                     struct result *result, struct err *err);

/* Returns the first option that was given and means something for JPEG alone,
 * or for `to`, unless that is NULL; or NULL. */
const char *job_plan_jpeg_option(const struct options *opts,
                                 const struct codec *to);

/* Plans the rest by what the file says, and sets result->how. On failure an
 * option refuses what would have to be done. */
int job_plan_picture(struct job_plan *plan, const struct options *opts,
                     const struct stream_info *info, struct result *result,
                     struct err *err);

/* ---- What a job holds on its way ---- */

/* What reading hands over. */
struct job_input {
    struct bytes file;         /* which stays as free_input() in turn.c says */
    struct permissions source; /* what it was when it was read */
    unsigned warned;           /* warnings so far */
};

/* What encoding hands over; or decoding, if nothing is left to turn or encode
 * then. */
struct job_output {
    struct bytes file;
    struct image outline; /* the picture in it, with the orientation that its
                             tags say; without pixels and metadata */
    bool made;            /* it is there */
};

/* Temporary files, for a picture that is more than memory is to hold, and for
 * what is made of it. */
struct job_scratch {
    struct scratch access;
    struct scratch_file early; /* takes the output while it is encoded */
};

struct job_state {
    const struct job *job;
    const struct options *opts;
    struct result *result;
    struct account account; /* what it may cost, and has cost */
    struct job_input input;
    struct job_plan plan;
    struct image img; /* as decoded, then as turned */
    struct job_output output;
    struct job_scratch scratch;
    atomic_bool by_backend; /* the one of job->tools has moved samples */
};

/* ---- Stages, and what they share ---- */

/* Frees what the state holds, in whose account the thread is. */
void job_free_state(struct job_state *state);

/* Lets a picture that is more than the memory of these limits go through a
 * file, if that is possible for what is planned. */
void job_offer_scratch(struct job_state *state, struct limits *limits);

/* Lowers the limits for an input that decodes to very many times its size,
 * unless the user has set them. */
void job_limit_sparse(const struct job_state *state, struct limits *limits);

/* With less memory the program itself, and what threads encode with, would be
 * most of it. */
enum { JOB_MEMORY_LEAST = 16 << 20 };

/* Limits the memory that a file, which has been read, may take in all. */
void job_limit_memory(struct job_state *state, const struct limits *limits);

/* Lowers the limits for two pictures that are compared, whose files have so
 * many bytes together, unless the user has set them. */
void job_limit_compared(struct limits *limits, const struct options *opts,
                        uint64_t files);

/* Says, if it is so, that a job has failed for that limit. */
void job_explain_memory(const struct job_state *state, struct err *err);

/* Returns how files of so many bytes together, which have been read, are
 * decoded, and allows the work for them. */
struct load_opts job_load_opts(struct job_state *state, uint64_t files,
                               struct warnings *warnings);

/* The same for the input alone, within the limits of a file of its size. */
struct load_opts job_load_input(struct job_state *state);

/* Reads the input, and finds its format and that of the output. */
int job_read_input(struct job_state *state, struct err *err);

/* Plans and decodes the picture; or makes the output, where that takes no
 * decoding. */
int job_decode(struct job_state *state, struct err *err);

/* Converts the picture to what the output can hold and turns what is left of
 * the turn; or makes the output of the input, where nothing is to be done. */
int job_turn(struct job_state *state, struct err *err);

/* Encodes the picture, and checks what that has made. */
int job_encode(struct job_state *state, struct err *err);

/* Returns how the options convert samples. */
struct convert_opts job_convert_opts(const struct job_state *state);

/* Decodes input and output with the libraries of their formats, and fails
 * unless one is the other after the turn. */
int job_verify(struct job_state *state, struct err *err);

/* Returns the mode of an output that does not exist yet: that of what it is
 * made of, as cp gives it. */
mode_t job_mode_of_new(const struct job_state *state);

#endif
