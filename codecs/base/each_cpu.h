/* A function that is compiled twice, the second time for x86-64-v3, whose CPUs
 * have AVX2, shift by any register and count zeros (BMI, LZCNT): the loader
 * decides. What it calls must become part of it. Sanitizers run before that can
 * be decided, and clang has another form of it. */
#ifndef CODECS_BASE_EACH_CPU_H
#define CODECS_BASE_EACH_CPU_H

#if defined __x86_64__ && defined __ELF__ && !defined __clang__ &&             \
    __GNUC__ >= 12 && !defined __SANITIZE_THREAD__ &&                          \
    !defined __SANITIZE_ADDRESS__
#define FOR_EACH_CPU __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define FOR_EACH_CPU
#endif

#endif
