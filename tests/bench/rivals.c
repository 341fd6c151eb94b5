/* The CPU stage beside other libraries, on one thread: the same planes, in
 * turns, every result checked. Prints tables in Markdown, and what loses.
 *
 *     rivals [ROUNDS [MIB...]]      5 rounds of planes of 64 and of 256 MiB
 *
 * gimgxf turns planes with rows at its own stride; the others have theirs one
 * right after the other, as they make them. All memory is on the same kind of
 * pages and has been written before. */
#include "tests/bench/rivals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/base/clock.h"
#include "cuda/backend.h"
#include "cuda/bench/verify.h"

static const struct rival *const rivals[] = {
#if HAVE_OPENCV
    &rival_opencv,
#endif
#if HAVE_LIBYUV
    &rival_libyuv,
#endif
    NULL,
};

enum { MEMCPY, GIMGXF, RIVALS, MOST = RIVALS + 2, ROUNDS_MOST = 101 };

static const double target = 4; /* times as fast as they are */

/* One size of one kind of cell: as gimgxf has it, and without gaps. */
struct bed {
    struct lane *lane;
    unsigned rounds;
    struct image src, dst;
    struct plane from, to;
    size_t bytes; /* of the cells */
};

struct tally {
    unsigned compared, below_target, lost, wrong;
};

static void stop(const char *why)
{
    fprintf(stderr, "rivals: %s\n", why);
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- Planes ---------------------------------------------------------------*/

/* A plane of the same shape without gaps between its rows. */
static struct plane contiguous(const struct image *img, uint8_t *data)
{
    struct plane plane = img->plane[0];
    plane.data = data;
    plane.stride = plane.width * cell_size(img->cell);
    return plane;
}

static uint8_t *large_pages(size_t size)
{
    size_t mask = IMAGE_STRIDE - 1;
    uint8_t *memory = mem_plain.alloc(NULL, (size + mask) & ~mask);
    if (!memory)
        stop("no memory");
    return memory;
}

static void make_bed(struct bed *bed)
{
    struct err err;
    if (image_alloc(&bed->src, mem_plain, &err))
        stop(err.text);
    bed->bytes =
        (size_t)bed->src.width * bed->src.height * cell_size(bed->src.cell);
    bed->from = contiguous(&bed->src, large_pages(bed->bytes));
    bed->to.data = large_pages(bed->bytes);
    verify_fill_image(&bed->src);
    for (uint32_t y = 0; y < bed->from.height; y++)
        memcpy(plane_row(&bed->from, y), plane_row(&bed->src.plane[0], y),
               bed->from.stride);
}

static void free_bed(struct bed *bed)
{
    image_free(&bed->src);
    mem_plain.free(NULL, bed->from.data);
    mem_plain.free(NULL, bed->to.data);
}

/* ---- Measuring ------------------------------------------------------------*/

/* false: it has no function for this turn. */
static bool run(struct bed *bed, unsigned who, enum xform t)
{
    struct err err;
    if (who >= RIVALS)
        return rivals[who - RIVALS]->turn(&bed->to, &bed->from, bed->src.cell,
                                          t);
    if (who == MEMCPY)
        memcpy(bed->to.data, bed->from.data, bed->bytes);
    else if (backend_cpu.apply(bed->lane, &bed->dst, &bed->src, t, NULL, &err))
        stop(err.text);
    return true;
}

/* Over garbage; this is also the round that warms up. */
static bool is_right(struct bed *bed, unsigned who, enum xform t)
{
    struct image made = bed->dst;
    if (who != GIMGXF)
        made.plane[0] = bed->to;
    memset(bed->to.data, 0xa5, bed->bytes);
    memset(bed->dst.pixels.rows.cells, 0xa5, bed->dst.pixels.rows.size);
    return run(bed, who, t) &&
           (who == MEMCPY || verify_count_wrong(&made, t) == 0);
}

/* The median seconds of each contender; 0 of one that cannot, or that is wrong.
 */
static void measure(struct bed *bed, enum xform t, double median[MOST])
{
    double sample[MOST][ROUNDS_MOST];
    unsigned n = 0;
    for (n = 0; n < RIVALS || rivals[n - RIVALS]; n++)
        median[n] = is_right(bed, n, t);
    for (unsigned r = 0; r < bed->rounds; r++)
        for (unsigned i = 0; i < n; i++) {
            double begin = now();
            if (median[i] != 0)
                run(bed, i, t);
            sample[i][r] = now() - begin;
        }
    for (unsigned i = 0; i < n; i++) {
        qsort(sample[i], bed->rounds, sizeof *sample[i], by_value);
        if (median[i] != 0)
            median[i] = sample[i][bed->rounds / 2];
    }
}

/* ---- The table ------------------------------------------------------------*/

static void print_head(const struct bed *bed)
{
    static const char *const names[] = { "u8", "u16", "f32" };
    printf("\n| %s, %u x %u | memcpy | gimgxf | of memcpy |",
           names[bed->src.cell], bed->src.width, bed->src.height);
    for (unsigned i = 0; rivals[i]; i++)
        printf(" %s | gimgxf is |", rivals[i]->name);
    printf("\n|---|---|---|---|");
    for (unsigned i = 0; rivals[i]; i++)
        printf("---|---|");
    printf("\n");
}

static void print_rival(double ours, double theirs, double gb,
                        struct tally *tally)
{
    double times = theirs / ours;
    if (theirs == 0) {
        printf(" - | - |");
        return;
    }
    printf(" %.2f | %.2f%s |", gb / theirs, times,
           times < target ? ", below" : "");
    tally->compared++;
    tally->below_target += times < target;
    tally->lost += times < 1;
}

static void print_row(const struct bed *bed, enum xform t,
                      const double median[MOST], struct tally *tally)
{
    double gb = 2e-9 * (double)bed->bytes;
    if (median[GIMGXF] == 0) {
        tally->wrong++;
        printf("| %s | wrong |\n", xform_name(t));
        return;
    }
    printf("| %s | %.1f | %.1f | %.2f |", xform_name(t), gb / median[MEMCPY],
           gb / median[GIMGXF], median[MEMCPY] / median[GIMGXF]);
    for (unsigned i = RIVALS; rivals[i - RIVALS]; i++)
        print_rival(median[GIMGXF], median[i], gb, tally);
    printf("\n");
    fflush(stdout);
}

static void run_turn(struct bed *bed, enum xform t, struct tally *tally)
{
    double median[MOST];
    struct err err;
    if (image_like(&bed->dst, &bed->src, t, mem_plain, &err))
        stop(err.text);
    bed->to = contiguous(&bed->dst, bed->to.data);
    measure(bed, t, median);
    print_row(bed, t, median, tally);
    image_free(&bed->dst);
}

/* ---- What is run ----------------------------------------------------------*/

/* The primes next to powers of two, one below and one above. */
static uint32_t odd(uint32_t power, bool above)
{
    uint32_t n = above ? power + 1 : power - 1;
    for (uint32_t i = 3; i * i <= n; i += 2)
        if (n % i == 0) {
            n = above ? n + 2 : n - 2;
            i = 1;
        }
    return n;
}

/* 2^bits bytes, as near to a square as powers of two come; or a few more or
 * less. */
static void run_shape(struct bed *bed, unsigned bits, bool is_odd,
                      struct tally *tally)
{
    uint32_t wide = 1u << (bits + 1) / 2, high = 1u << bits / 2;
    bed->src.width = is_odd ? odd(wide, false) : wide;
    bed->src.height = is_odd ? odd(high, true) : high;
    bed->src.nplanes = 1;
    make_bed(bed);
    print_head(bed);
    for (int t = XFORM_NONE + 1; t < XFORM_COUNT; t++)
        run_turn(bed, (enum xform)t, tally);
    free_bed(bed);
}

static void run_size(struct lane *lane, unsigned rounds, size_t mib,
                     struct tally *tally)
{
    unsigned bits = 20;
    while (mib >> (bits - 20) > 1)
        bits++;
    for (unsigned cell = CELL_U8; cell <= CELL_F32; cell++)
        for (int is_odd = 0; is_odd < 2; is_odd++) {
            struct bed bed = { .lane = lane, .rounds = rounds };
            bed.src.cell = (enum cell)cell;
            run_shape(&bed, bits - cell, is_odd, tally);
        }
}

static void print_who(void)
{
    printf("One thread; GB/s read and written, medians. \"Below\": below %.0f "
           "times.\n",
           target);
    for (unsigned i = 0; rivals[i]; i++)
        printf("%s %s\n", rivals[i]->name, rivals[i]->version);
    if (!HAVE_OPENCV)
        printf("OpenCV is not installed; make deps-bench\n");
    if (!HAVE_LIBYUV)
        printf("libyuv is not installed; make deps-bench\n");
}

int main(int argc, char **argv)
{
    static const struct lane_opts one = { 0 };
    struct tally tally = { 0 };
    struct lane *lane;
    struct err err;
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 5;
    if (rounds < 1 || rounds > ROUNDS_MOST)
        stop("ROUNDS is from 1 to 101");
    if (backend_cpu.open(&lane, &one, &err))
        stop(err.text);
    print_who();
    for (int i = 2; i < argc; i++)
        run_size(lane, (unsigned)rounds, strtoul(argv[i], NULL, 10), &tally);
    if (argc <= 2) {
        run_size(lane, (unsigned)rounds, 64, &tally);
        run_size(lane, (unsigned)rounds, 256, &tally);
    }
    backend_cpu.close(lane);
    printf("\nOf %u comparisons %u are below %.0f times, %u are lost; %u wrong "
           "results.\n",
           tally.compared, tally.below_target, target, tally.lost, tally.wrong);
    return tally.wrong != 0;
}
