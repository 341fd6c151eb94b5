/* What is decided about a picture before it is decoded, by the options, by the
 * formats of input and output, and by what the file says before its pixels. */
#ifndef CLI_JOB_PLAN_H
#define CLI_JOB_PLAN_H

#include "cli/job/job.h"
#include "codecs/codec.h"

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

/* Returns the bytes that a job takes whose picture takes `bytes` of cells
 * before and after the turn. Converted, it is there in between, and after the
 * turn instead. */
uint64_t job_plan_memory(const struct job_plan *plan,
                         const struct options *opts,
                         const struct result *result, uint64_t bytes);

#endif
