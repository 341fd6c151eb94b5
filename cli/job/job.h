/* One picture, from the bytes of a file to the bytes of another: the main
 * header of cli/job/.
 *
 * What comes in is a job: names, options, a backend to turn with and threads to
 * use; what goes out is the written file and a result that says how it was done
 * and how long each stage took. A job reads the file, plans (plan.h) and
 * decodes the picture, turns what is left, encodes and checks it, and writes it
 * beside its place and renames it (stages.h). It knows nothing of other jobs,
 * of the formats' insides, or of how a result is told. */
#ifndef CLI_JOB_JOB_H
#define CLI_JOB_JOB_H

#include <sys/types.h>
#include <time.h>

#include "cli/options/options.h"
#include "cli/files/resolve.h"
#include "cli/files/left_behind.h"
#include "cuda/backend.h"

enum stage {
    STAGE_READ,
    STAGE_DECODE,
    STAGE_TURN,
    STAGE_ENCODE,
    STAGE_WRITE,
    STAGES,
};

/* How a picture came to be what it is. */
enum how {
    HOW_UNCHANGED, /* there was nothing to do: the same bytes */
    HOW_LOSSLESS,  /* the same samples, moved */
    HOW_CONVERTED, /* the samples were made to fit, by codecs/convert.h */
    HOW_REENCODED, /* by a lossy codec */
    HOW_TRIMMED,   /* the same samples, but for those at an edge */
    HOW_TAGGED,    /* the same samples, where they were; the tag turns them */
    HOWS,
};

const char *job_stage_name(enum stage stage);
const char *job_how_name(enum how how);

struct job {
    const char *input, *output; /* "-": standard input, standard output */
    struct root *input_root, *output_root; /* the names are confined to these,
                                              unless they are NULL */
    const struct codec *format; /* of the output; NULL: that of the input */
    const char *format_name;    /* the name or suffix that chose it, or "" */
    const char *id; /* what whoever asked for it calls it, in JSON, or NULL */
    size_t id_size;
    const struct options *opts;
    const struct backend *backend;
    struct lane *lane; /* of this backend */
    struct thread_pool *pool; /* threads for the codecs */
    struct watch *watch; /* who is told how far it is, or NULL */
    struct left_behind *left; /* see cli/files/left_behind.h; or NULL */
    bool regular; /* input and output are regular files, or it fails: nobody is
                     there to end a program that waits for another one */
    bool make_directories; /* that the output stands in */
    bool served; /* it is one of serve: errors advise what such a job can say */
    /* See struct limits: where jobs share their memory. Or NULL. */
    void (*reserve)(void *context, uint64_t bytes);
    void *context;
};

/* Why a job was not done. */
enum skipped {
    SKIPPED_NOT,
    SKIPPED_EXISTS,  /* the output does: --no-clobber */
    SKIPPED_NEWER,   /* the output is newer: --update */
    SKIPPED_DONE,    /* it was, in a run before: --resume */
};

const char *job_skipped_name(enum skipped skipped);

struct result {
    enum skipped skipped;
    enum how how;
    const struct codec *from, *to;
    enum xform turned;      /* what was done to the stored pixels */
    uint32_t width, height; /* of the output */
    size_t bytes_in, bytes_out;
    struct timespec mtime; /* of the input */
    dev_t device;          /* and which file it was, if mtime is not 0 */
    ino_t inode;
    double seconds[STAGES];
    double waited;   /* seconds that are no stage's: for memory */
    enum stage last; /* the stage that was done last, or failed */
    struct warnings warnings;
    unsigned anew; /* which warning, from 1, says that a JPEG is encoded anew
                      since it cannot be turned without loss; 0: none */
};

/* Chooses the format by the options, else by the name of the output. A name
 * that says nothing leaves the format of the input where the input's says no
 * more, as of files that are replaced; else it fails. */
int job_choose_format(struct job *job, struct err *err);

/* Whether the input is to be replaced: with --in-place, or where the output is
 * written as the same name, byte for byte. */
bool job_replaces_input(const struct job *job);

/* Fails where the output is the input by another name, a link to it for
 * instance, and is to be replaced although nobody asked for that. */
int job_check_output(const struct job *job, struct err *err);

/* Whether the options have it left out, by what stands there now. */
enum skipped job_is_skipped(const struct job *job);

/* Tells by the head of the input, without decoding it, how the job would be
 * done: result->how, and result->to, `anew` and the warnings. Returns -1, with
 * the reason, if it is known to fail. *known is whether `how` can be told. */
int job_foresee(const struct job *job, struct result *result, bool *known,
                struct err *err);

/* Does the job. On failure nothing was written, and `result` says how far it
 * came. */
int job_run(const struct job *job, struct result *result, struct err *err);

/* ---- The same in steps, for callers that do many side by side ---- */

struct job_state; /* what a job holds on its way */

/* Reads the input, or finds that nothing is to be done: result->skipped. The
 * job and the result live until job_end(). NULL: it failed. */
struct job_state *job_read(const struct job *job, struct result *result,
                           struct err *err);

/* Makes the output, in memory. This takes the processor; the pool and the lane
 * of the job count from here on. */
int job_make(struct job_state *state, struct err *err);

/* Returns the bytes that are about to be written, which stay the state's. */
struct bytes job_output(const struct job_state *state);

/* Writes it. */
int job_write(struct job_state *state, struct err *err);

/* Frees it; fine on NULL. */
void job_end(struct job_state *state);

/* Describes a picture, without its pixels, in img, which the caller frees: it
 * has no cells. The name is confined to the root, unless that is NULL. */
int job_describe(const char *input, struct root *root,
                 const struct options *opts, struct image *img,
                 struct result *result, struct err *err);

#endif
