/* The program of the filter, made from the verdicts. */
#include "cli/sandbox/call_filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef CALL_VERDICTS_ARCH

struct program {
    struct sock_filter code[4 * CALL_VERDICTS];
    unsigned short length;
    bool too_far; /* a jump has no room for its distance */
};

static void put(struct program *program, unsigned code, uint32_t k)
{
    program->code[program->length++] =
        (struct sock_filter){ .code = (uint16_t)code, .k = k };
}

/* Compares, and skips so many instructions if it is true, or false. */
static void put_if(struct program *program, unsigned comparison, uint32_t k,
                   unsigned if_true, unsigned if_false)
{
    put(program, BPF_JMP | BPF_K | comparison, k);
    struct sock_filter *jump = &program->code[program->length - 1];
    jump->jt = (uint8_t)if_true;
    jump->jf = (uint8_t)if_false;
}

static void put_end(struct program *program, uint32_t action)
{
    put(program, BPF_RET | BPF_K, action);
}

static void put_load(struct program *program, size_t offset)
{
    put(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

/* Arguments have 64 bits, and both processors have the lower half first. */
static void put_rule(struct program *program, const struct call_rule *rule)
{
    const size_t low = offsetof(struct seccomp_data, args[rule->argument]);
    if (rule->test == TEST_EQUAL) {
        put_load(program, low + 4);
        put_if(program, BPF_JEQ, 0, 0, rule->values + 2);
        put_load(program, low);
        for (unsigned i = 0, left = rule->values; left-- > 0; i++)
            put_if(program, BPF_JEQ, rule->value[i], left, left == 0);
    } else if (rule->test == TEST_OTHER) {
        put_load(program, low);
        for (unsigned i = 0, left = rule->values; left-- > 0; i++)
            put_if(program, BPF_JEQ, rule->value[i], left + 1, 0);
    } else {
        put_load(program, low);
        put_if(program, BPF_JSET, rule->value[0], rule->test == TEST_HAS_NO,
               rule->test == TEST_HAS);
    }
    put_end(program, SECCOMP_RET_ALLOW);
    put_end(program, rule->otherwise);
}

static bool is_alike(struct call_verdict a, struct call_verdict b)
{
    return a.rule == b.rule && a.action == b.action;
}

/* Returns the first call of another verdict behind this one. */
static unsigned next_verdict(const struct call_verdicts *verdicts,
                             unsigned call)
{
    unsigned next = call + 1;
    while (next < CALL_VERDICTS &&
           is_alike(verdicts->of[next], verdicts->of[call]))
        next++;
    return next;
}

/* Decides about the calls from `first` up to `end`, by halves: when a filter is
 * installed, the kernel runs it once for every call. */
static void put_tree(struct program *program,
                     const struct call_verdicts *verdicts, unsigned first,
                     unsigned end)
{
    const struct call_verdict verdict = verdicts->of[first];
    unsigned middle = first + (end - first) / 2;
    if (next_verdict(verdicts, first) >= end) {
        if (verdict.rule)
            put_rule(program, verdict.rule);
        else
            put_end(program, verdict.action);
        return;
    }
    /* Not within calls that are treated alike. */
    while (middle > first + 1 &&
           is_alike(verdicts->of[middle - 1], verdicts->of[middle]))
        middle--;
    if (is_alike(verdicts->of[middle - 1], verdicts->of[middle]))
        middle = next_verdict(verdicts, first);
    const unsigned short at = program->length;
    put_if(program, BPF_JGE, middle, 0, 0);
    put_tree(program, verdicts, first, middle);
    const unsigned distance = program->length - at - 1u;
    program->code[at].jt = (uint8_t)distance;
    program->too_far = program->too_far || distance > UINT8_MAX;
    put_tree(program, verdicts, middle, end);
}

static void make_program(struct program *program, unsigned calls_of)
{
    struct call_verdicts verdicts;
    call_verdicts_choose(&verdicts, calls_of);
    program->length = 0;
    program->too_far = false;
    put_load(program, offsetof(struct seccomp_data, arch));
    put_if(program, BPF_JEQ, CALL_VERDICTS_ARCH, 1, 0);
    put_end(program, SECCOMP_RET_KILL_PROCESS);
    put_load(program, offsetof(struct seccomp_data, nr));
    put_if(program, BPF_JGE, CALL_VERDICTS, 0, 1);
    put_end(program, SECCOMP_RET_ERRNO | ENOSYS);
    put_tree(program, &verdicts, 0, CALL_VERDICTS);
}

/* Without the first flag, kernels before 5.16 slow the process down against
 * attacks on speculation, which is of use where several programs share a
 * process. */
int call_filter_install(unsigned calls_of, struct err *err)
{
    struct program program;
    make_program(&program, calls_of);
    if (program.too_far)
        return fail(err, "the filter of system calls is too long");
    const struct sock_fprog prog = { program.length, program.code };
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                SECCOMP_FILTER_FLAG_SPEC_ALLOW, &prog) == 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) == 0)
        return 0;
    return fail(err,
                errno == ENOSYS || errno == EINVAL
                    ? "this kernel has no seccomp"
                    : "seccomp: %s",
                strerror(errno));
}

#else /* Other processors have other calls, with other arguments. */

int call_filter_install(unsigned calls_of, struct err *err)
{
    (void)calls_of;
    return fail(err, "on this processor they are not filtered");
}

#endif
