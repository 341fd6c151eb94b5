/* One NPY array that all pictures of a batch go into: --stack.
 *
 * The first picture that is done decides the shape and the type of all. Each
 * goes to its place in the file as soon as it is done; the file gets its name
 * when all are there. */
#ifndef CLI_BATCH_STACK_H
#define CLI_BATCH_STACK_H

#include "cli/files/file_write.h"
#include "cli/options/options.h"

struct stack;

/* Begins the array of `count` pictures that opts->stack names. The options must
 * outlive it. Returns 0, or -1 with the reason. */
int stack_open(struct stack **stack, const struct options *opts, size_t count,
               struct err *err);

/* Puts the i-th picture, which is an NPY file by itself, into the array;
 * `input` is its name, which must outlive the stack. *size becomes the bytes
 * that it takes there. Fails if it is unlike the first one. Any number of
 * threads may call it. Returns 0, or -1 with the reason. */
int stack_put(struct stack *stack, size_t i, const char *input,
              struct bytes npy, size_t *size, struct err *err);

/* Writes the file to its place. All pictures have been put. Returns as
 * file_write() does. */
enum written stack_settle(struct stack *stack, struct err *err);

/* Returns the bytes of the whole file; 0 as long as no picture is there. */
uint64_t stack_size(const struct stack *stack);

/* Prints what became of the array, as the options ask; `err` is why it was not
 * written, and `stack` may be NULL unless it was. */
void stack_report(const struct options *opts, const struct stack *stack,
                  enum written written, const struct err *err);

/* Removes the file unless it is in its place, and frees. Fine on NULL. */
void stack_close(struct stack *stack);

#endif
