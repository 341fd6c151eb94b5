/* How libFuzzer changes the inputs of fuzz_job.c: the words of the command line
 * by others, the bytes of the file as it likes; and the chunks of a PNG get the
 * checksums that they should have, or few would be read at all. */
#ifndef TESTS_FUZZ_MUTATE_JOB_H
#define TESTS_FUZZ_MUTATE_JOB_H

#include <stdint.h>
#include <string.h>

#include "tests/fuzz/png_crc.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
                               unsigned seed);

/* Appends one of the choices, between which bars stand, and a blank. */
static inline size_t add_choice(char *line, size_t at, const char *choices,
                                unsigned *random)
{
    unsigned count = 1;
    for (const char *p = choices; *p; p++)
        count += *p == '|';
    *random = *random * 1103515245 + 12345;
    for (unsigned n = (*random >> 8) % count; n; n--)
        choices = strchr(choices, '|') + 1;
    const size_t size = strcspn(choices, "|");
    memcpy(line + at, choices, size);
    line[at + size] = ' ';
    return at + size + 1;
}

/* Writes a whole command line and its newline. Returns its size. */
static inline size_t make_line(char *line, unsigned *random)
{
    static const char turns[] =
        "copy|upright|fliph|flipv|rotate90|rotate180|rotate270|transverse|"
        "transpose";
    static const char options[] =
        "|--edge=trim|--edge=tag|--edge=fail|--edge=reencode|--lossless|"
        "--tag-only|--tolerant|--strip|--strip=all|--strip=exif,xmp|"
        "--strip=icc,gps|--strip=thumbnail|--quality=50|--optimize|"
        "--no-restart|--png-level=0|--png-level=fast|--png-level=small|"
        "--png-level=6|--depth=8|--depth=16|--depth=float|--layout=chw|"
        "--layout=hwc|--background=red|--ignore-orientation|--verify|"
        "--preserve|--no-clobber|--format=png|--format=jpeg|--format=pam|"
        "--format=npy|--max-pixels=1000|--max-memory=100K|--max-memory=1M|"
        "--max-memory=10M|-j1|-j2|-j3|--json|-v|-q|--dry-run";
    static const char names[] =
        "in new.png|in old.png|in.png in.png|in.jpg in.jpg|in.jpg old.jpg|"
        "in.jpg new.png|in new.pam|in.png new.jpg|in.jpg new.jpeg|"
        "in new.ppm|in old.npy|in new.bmp|in new.tga|in new.hdr|in new.pfm|"
        "in.tga in.tga|in new.qoi|in.gif in.gif|in.gif new.png|"
        "in.bmp old.bmp|in.hdr new.hdr|in.npy in.npy|in.pbm new.pbm";
    size_t n = add_choice(line, 0, turns, random);
    for (int i = 0; i < 3; i++)
        n = add_choice(line, n, options, random);
    n = add_choice(line, n, names, random);
    line[n - 1] = '\n';
    return n;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
                               unsigned seed)
{
    char line[400];
    const uint8_t *end = memchr(data, '\n', size);
    const uint8_t *begin = end && end - data < 400 ? end + 1 : data;
    const size_t n = make_line(line, &seed);
    const size_t had = (size_t)(begin - data);
    if (had && seed >> 8 & 3) { /* the file; else the line */
        size = had + LLVMFuzzerMutate(data + had, size - had, room - had);
    } else if (size - had + n <= room) {
        memmove(data + n, begin, size - had);
        memcpy(data, line, n);
        size = size - had + n;
        return size;
    }
    if (seed >> 10 & 7)
        png_correct_checksums(data + had, size - had);
    return size;
}

#endif
