/* One NPY array of many pictures. */
#include "cli/batch/batch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json/json.h"
#include "cli/report/report.h"
#include "codecs/npy/header.h"

struct stack {
    const struct options *opts;
    size_t count;
    struct file_draft *file;
    pthread_mutex_t lock;
    const char *first;        /* the input that decided; NULL: none has */
    struct npy_header one;    /* of each picture, */
    size_t size;              /* its bytes, */
    struct npy_header header; /* and of all of them */
};

/* Removes the file unless it is in its place. */
static void close_stack(struct stack *stack)
{
    file_draft_end(stack->file);
    pthread_mutex_destroy(&stack->lock);
    free(stack);
}

int stack_open(struct stack **stack, const struct options *opts, size_t count,
               struct err *err)
{
    const struct write_opts write = {
        .no_clobber = opts->no_clobber,
        .mode = 0666,
        .regular = true,
        .stays = true,
    };
    struct stack *made = calloc(1, sizeof *made);
    if (!made)
        return fail_memory(err, "no memory for a stack");
    made->opts = opts;
    made->count = count;
    pthread_mutex_init(&made->lock, NULL);
    *stack = made;
    if (file_draft_begin(&made->file, opts->stack, &write, err) == 0)
        return 0;
    close_stack(made);
    *stack = NULL;
    return -1;
}

/* ---- Shapes --------------------------------------------------------------*/

/* Reads the header of a picture. One of gray samples gets an axis of channels
 * where the layout that was asked for names them. */
static int read_header(const struct stack *stack, struct npy_header *one,
                       struct bytes npy, struct err *err)
{
    enum layout asked = stack->opts->stack_layout;
    bool last = asked == LAYOUT_NHWC;
    if (npy_read_header(one, npy, err))
        return -1;
    if (one->fortran)
        return fail(err, "an array in Fortran order cannot be a part of a "
                         "stack; numpy.ascontiguousarray changes the order");
    if (one->naxes == 4) { /* of one picture, or it had not been read */
        memmove(one->shape, one->shape + 1, 3 * sizeof *one->shape);
        one->shape[one->naxes = 3] = 0;
    }
    if (asked == LAYOUT_NHW && one->naxes == 3)
        return fail(err, "--layout nhw has no axis for channels; nhwc and nchw "
                         "have one");
    if ((last || asked == LAYOUT_NCHW) && one->naxes == 2) {
        if (!last)
            memmove(one->shape + 1, one->shape, 2 * sizeof *one->shape);
        one->shape[last ? 2 : 0] = 1;
        one->naxes = 3;
    }
    return 0;
}

/* Writes the header of all. */
static int begin(struct stack *stack, const char *input,
                 const struct npy_header *one, size_t size, struct err *err)
{
    struct bytes lead = { 0 };
    uint64_t all;
    stack->one = stack->header = *one;
    stack->header.naxes = one->naxes + 1;
    stack->header.shape[0] = stack->count;
    memcpy(stack->header.shape + 1, one->shape,
           one->naxes * sizeof *one->shape);
    int status = npy_write_header(&lead, &stack->header, err);
    stack->header.size = lead.size;
    if (status == 0 && (__builtin_mul_overflow(size, stack->count, &all) ||
                        all > INT64_MAX / 2))
        status = fail(err, "%zu pictures of %zu bytes are too many for a file",
                      stack->count, size);
    if (status == 0)
        status = file_draft_put(stack->file, 0, lead, err);
    if (status == 0) {
        stack->size = size;
        stack->first = input;
    }
    bytes_free(&lead);
    return status;
}

/* ---- Pictures ------------------------------------------------------------*/

int stack_put(struct stack *stack, size_t i, const char *input,
              struct bytes npy, size_t *size, struct err *err)
{
    struct npy_header one;
    struct err why;
    if (read_header(stack, &one, npy, &why))
        return fail(err, "%s: %s", input, why.text);
    const struct bytes cells = { npy.data + one.size, npy.size - one.size, 0 };
    one.size = 0;
    pthread_mutex_lock(&stack->lock);
    int status = stack->first ? 0 : begin(stack, input, &one, cells.size, err);
    pthread_mutex_unlock(&stack->lock);
    if (status)
        return -1;
    if (strcmp(one.descr, stack->one.descr) != 0 ||
        one.naxes != stack->one.naxes ||
        memcmp(one.shape, stack->one.shape, sizeof one.shape) != 0) {
        char this[128], first[128];
        layout_print_shape(this, sizeof this, one.shape, one.naxes);
        layout_print_shape(first, sizeof first, stack->one.shape,
                           stack->one.naxes);
        return fail(err,
                    "%s is of shape %s and type %s, but %s of %s and %s; all "
                    "pictures of a stack must be alike",
                    input, this, one.descr, stack->first, first,
                    stack->one.descr);
    }
    *size = stack->size;
    return file_draft_put(stack->file,
                          stack->header.size + (uint64_t)i * stack->size, cells,
                          err);
}

void stack_report(const struct options *opts, enum written written,
                  const struct err *err)
{
    static const char *const status[] = { [1 + WRITTEN_NOT] = "failed",
                                          [1 + WRITTEN] = "stacked",
                                          [1 + WRITTEN_EXISTS] = "skipped" };
    const char *error = written == WRITTEN_NOT ? err->text : NULL;
    if (opts->json) {
        struct json_writer json = { .out = stdout };
        json_open(&json, NULL, '{');
        json_string(&json, "output", opts->stack);
        json_string(&json, "status", status[1 + written]);
        json_string(&json, "error", error);
        json_close(&json, '}');
        putchar('\n');
    }
    if (error)
        report_error(opts->stack, error);
    if (written == WRITTEN_EXISTS && !opts->quiet)
        report_error(opts->stack, "exists, so it is left alone");
}

int stack_end(struct stack *stack, size_t done)
{
    enum written written = WRITTEN_NOT;
    struct err err;
    if (done < stack->count)
        fail(&err, "not written, since %zu of %zu pictures are missing",
             stack->count - done, stack->count);
    else
        written = file_draft_settle(stack->file, &err);
    stack_report(stack->opts, written, &err);
    close_stack(stack);
    return written == WRITTEN_NOT ? -1 : 0;
}
