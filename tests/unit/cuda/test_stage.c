/* Every backend turns as the definitions say. */
#include "cuda/backend.h"
#include "cuda/backend_choose.h"

#include <pthread.h>

#include "cuda/cpu/cpu.h"
#include "tests/support/oracle.h"
#include "tests/support/pairwise.h"
#include "tests/support/test.h"

/* What is to be turned: planes of this size, every second one of half of it,
 * with `pad` times IMAGE_STRIDE bytes more in a row than it needs; or, of width
 * 0, planes that all have another size. */
struct shape {
    enum cell cell;
    unsigned nplanes;
    uint32_t width, height;
    unsigned pad;
};

static const struct lane_opts first = { 0 };
static struct thread_pool *pool; /* for all but lanes side by side */

enum { GUARD = IMAGE_STRIDE, POISON = 0xa5 };

/* The sides of planes: around those of all tiles; for DCT blocks, too. */
static uint32_t any_side(enum cell cell, unsigned n)
{
    static const uint32_t sides[] = { 1, 4, 8, 16, 31, 64, 128, 255, 257, 300 };
    uint64_t seed = 1 + n, r = test_random(&seed) >> 20;
    uint32_t side = r % 2 ? sides[r / 2 % 10] : 1 + (uint32_t)(r / 2 % 150);
    return cell == CELL_DCT ? 1 + side % 40 : side;
}

static void size_plane(struct plane *p, const struct shape *shape, unsigned i,
                       bool exchanged)
{
    const unsigned by = i % 2 ? 2 : 1, n = 2 * i + exchanged;
    p->width =
        shape->width ? (shape->width + by - 1) / by : any_side(shape->cell, n);
    p->height = shape->width ? (shape->height + by - 1) / by
                             : any_side(shape->cell, n ^ 1);
}

/* All of the picture but its memory; its axes may have been exchanged. */
static struct image shaped(struct shape shape, bool exchanged)
{
    struct image img = { .cell = shape.cell, .nplanes = shape.nplanes };
    img.width = shape.width;
    img.height = shape.height;
    for (unsigned i = 0; i < shape.nplanes; i++) {
        struct plane *p = &img.plane[i];
        size_plane(p, &shape, i, exchanged);
        p->stride = p->width * cell_size(shape.cell) + IMAGE_STRIDE - 1;
        p->stride -= p->stride % IMAGE_STRIDE;
        p->stride += shape.pad * (size_t)IMAGE_STRIDE;
        img.pixels.rows.size += p->stride * p->height;
    }
    return img;
}

/* A picture whose block lies between two guards; all bytes are POISON. */
static struct image guarded(struct shape shape, bool exchanged)
{
    struct image img = shaped(shape, exchanged);
    uint8_t *at = aligned_alloc(IMAGE_STRIDE, img.pixels.rows.size + 2 * GUARD);
    must(at);
    memset(at, POISON, img.pixels.rows.size + 2 * GUARD);
    img.pixels.rows.cells = at += GUARD;
    for (unsigned i = 0; i < img.nplanes; i++) {
        img.plane[i].data = at;
        at += img.plane[i].stride * img.plane[i].height;
    }
    return img;
}

static bool guards_hold(const struct image *img)
{
    bool hold = true;
    for (int i = 1; i <= GUARD; i++)
        hold &= img->pixels.rows.cells[-i] == POISON &&
                img->pixels.rows.cells[img->pixels.rows.size + i - 1] == POISON;
    return hold;
}

static void drop(struct image *img)
{
    free(img->pixels.rows.cells - GUARD);
}

static void fill(struct image *img, uint64_t *seed)
{
    for (size_t i = 0; i < img->pixels.rows.size; i += sizeof *seed) {
        uint64_t r = test_random(seed);
        memcpy(img->pixels.rows.cells + i, &r, sizeof r);
    }
    /* The one number whose negative is itself. */
    int16_t lowest = INT16_MIN;
    for (size_t i = 0; i < img->pixels.rows.size; i += 5 * sizeof lowest)
        if (img->cell == CELL_DCT)
            memcpy(img->pixels.rows.cells + i, &lowest, sizeof lowest);
}

/* One turn of one picture. `kept` is a copy of the bytes of src. */
static void check_turn(const struct backend *backend, struct lane *lane,
                       enum xform t, struct shape shape,
                       const struct image *src, const uint8_t *kept)
{
    struct err err = { .text = "" };
    struct shape turned = shape;
    if (oracle[t].xy) {
        turned.width = shape.height;
        turned.height = shape.width;
    }
    struct image dst = guarded(turned, oracle[t].xy != 0);
    bool right = backend->apply(lane, &dst, src, t, pool, &err) == 0;
    for (unsigned i = 0; right && i < shape.nplanes; i++)
        right = is_turned(t, &dst.plane[i], &src->plane[i], shape.cell);
    CHECK(right, "%s %s %ux%u, %u planes of %zu bytes, pad %u: %s",
          backend->name, oracle[t].name, shape.width, shape.height,
          shape.nplanes, cell_size(shape.cell), shape.pad, err.text);
    CHECK(guards_hold(&dst), "%s %s %ux%u", backend->name, oracle[t].name,
          shape.width, shape.height);
    CHECK(guards_hold(src) &&
              !memcmp(kept, src->pixels.rows.cells, src->pixels.rows.size),
          "%s %s %ux%u changed its source", backend->name, oracle[t].name,
          shape.width, shape.height);
    drop(&dst);
}

/* The turns from one to another. */
static void check_turns(const struct backend *backend, struct lane *lane,
                        unsigned from, unsigned to, struct shape shape)
{
    uint64_t seed = shape.width * 2654435761u + shape.height + 1;
    struct image src = guarded(shape, false);
    fill(&src, &seed);
    owned_memory uint8_t *kept = malloc(src.pixels.rows.size);
    must(kept);
    memcpy(kept, src.pixels.rows.cells, src.pixels.rows.size);
    for (unsigned t = from; t <= to; t++)
        check_turn(backend, lane, (enum xform)t, shape, &src, kept);
    drop(&src);
}

static void check_one(const struct backend *backend, struct lane *lane,
                      enum xform t, struct shape shape)
{
    check_turns(backend, lane, t, t, shape);
}

static void check_shape(const struct backend *backend, struct lane *lane,
                        struct shape shape)
{
    check_turns(backend, lane, 0, XFORM_COUNT - 1, shape);
}

/* One less, as many, one more than the tiles and blocks of every backend are
 * wide, high, or long in vectors; and primes. */
static const uint32_t sides[] = { 1,   2,   3,   7,   15,  16,  17,
                                  31,  32,  33,  61,  63,  64,  65,
                                  127, 128, 129, 251, 255, 256, 257 };
enum { SIDES = COUNT(sides) };

/* Every width and every height goes through every turn of every cell. */
static void check_sides(const struct backend *backend, struct lane *lane,
                        enum cell cell, unsigned cells, const uint32_t *side,
                        unsigned nsides)
{
    struct pairwise p = { .counts = { nsides, nsides, cells * XFORM_COUNT } };
    while (pairwise_next(&p))
        check_one(backend, lane, (enum xform)(p.at[2] % XFORM_COUNT),
                  (struct shape){
                      .cell = (enum cell)(cell + p.at[2] / XFORM_COUNT),
                      .nplanes = 1,
                      .width = side[p.at[0]],
                      .height = side[p.at[1]],
                  });
}

static void test_sides(const struct backend *backend, struct lane *lane)
{
    static const uint32_t few[] = { 1, 2, 3, 7, 8, 9, 16, 17, 31, 33 };
    check_sides(backend, lane, CELL_U8, 3, sides, SIDES);
    check_sides(backend, lane, CELL_DCT, 1, few, COUNT(few));
}

static void test_planes(const struct backend *backend, struct lane *lane)
{
    static const unsigned counts[] = { 1, 3, 4, 5, IMAGE_PLANES };
    struct pairwise p = { .counts = { CELL_DCT + 1, 5, 3, XFORM_COUNT } };
    while (pairwise_next(&p))
        check_one(backend, lane, (enum xform)p.at[3],
                  (struct shape){ .cell = (enum cell)p.at[0],
                                  .nplanes = counts[p.at[1]],
                                  .width = 150 >> p.at[0],
                                  .height = 67 >> p.at[0] / 2,
                                  .pad = p.at[2] });
}

/* Many pieces of each kind, where a piece is small. */
static void test_pieces(const struct backend *backend, struct lane *lane)
{
    static const struct shape shapes[] = {
        { CELL_U8, 3, 257, 193, 1 },  { CELL_U16, 1, 257, 193, 0 },
        { CELL_F32, 1, 193, 257, 2 }, { CELL_U8, 1, 4096, 33, 0 },
        { CELL_U8, 1, 70000, 3, 0 },  { CELL_U8, 1, 3, 70000, 0 },
        { CELL_U16, 1, 70000, 1, 0 }, { CELL_F32, 1, 1, 4099, 0 },
        { CELL_DCT, 3, 41, 25, 1 },
    };
    for (size_t i = 0; i < COUNT(shapes); i++)
        check_shape(backend, lane, shapes[i]);
}

/* Pictures as the program makes them: in the lane's own memory, with the shape
 * that image_like() gives. Four quarter turns are nothing. */
static void test_program(const struct backend *backend, struct lane *lane)
{
    struct err err = { .text = "" };
    struct mem mem = backend->memory(lane);
    struct image img[5] = { { .cell = CELL_U16, .nplanes = 3 } };
    uint64_t seed = 5;
    bool right = true;
    img[0].width = 301;
    img[0].height = 97;
    img[0].maxval = 65535;
    right = image_alloc(&img[0], mem, &err) == 0;
    if (right)
        fill(&img[0], &seed);
    for (int i = 0; right && i < 4; i++)
        right =
            image_like(&img[i + 1], &img[i], XFORM_ROTATE_90, mem, &err) == 0 &&
            backend->apply(lane, &img[i + 1], &img[i], XFORM_ROTATE_90, pool,
                           &err) == 0;
    for (unsigned i = 0; right && i < img[0].nplanes; i++)
        right =
            is_turned(XFORM_NONE, &img[4].plane[i], &img[0].plane[i], CELL_U16);
    CHECK(right, "%s: four quarter turns: %s", backend->name, err.text);
    for (int i = 0; i < 5; i++)
        image_free(&img[i]);
}

static void test_devices(const struct backend *backend)
{
    static const int wrong[] = { -1, 1000 };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct err err = { .text = "" };
        struct lane *lane = NULL;
        struct lane_opts opts = { .device = &wrong[i], .ndevices = 1 };
        CHECK(backend->open(&lane, &opts, &err) == -1 && err.text[0],
              "%s: device %d", backend->name, wrong[i]);
    }
}

/* Two lanes at work at once, on threads that did not open them. */
struct worker {
    const struct backend *backend;
    struct lane *lane;
    int failures;
    pthread_t thread;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct shape shape = { CELL_U8, 3, 3000, 200, 0 };
    struct shape turned = { CELL_U8, 3, 200, 3000, 0 };
    struct image src = guarded(shape, false), dst = guarded(turned, true);
    uint64_t seed = 7;
    fill(&src, &seed);
    for (int n = 0; n < 5; n++) {
        struct err err;
        memset(dst.pixels.rows.cells, POISON, dst.pixels.rows.size);
        if (worker->backend->apply(worker->lane, &dst, &src, XFORM_TRANSPOSE,
                                   NULL, &err))
            worker->failures++;
        for (unsigned i = 0; i < shape.nplanes; i++)
            if (!is_turned(XFORM_TRANSPOSE, &dst.plane[i], &src.plane[i],
                           CELL_U8))
                worker->failures++;
    }
    drop(&src);
    drop(&dst);
    return NULL;
}

static void test_lanes(const struct backend *backend)
{
    struct worker workers[2] = { { .backend = backend },
                                 { .backend = backend } };
    struct err err = { .text = "" };
    for (int i = 0; i < 2; i++) {
        if (backend->open(&workers[i].lane, &first, &err) ||
            pthread_create(&workers[i].thread, NULL, work, &workers[i])) {
            printf("no second lane: %s\n", err.text);
            abort();
        }
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK(workers[i].failures == 0, "%s: lane %d", backend->name, i);
        backend->close(workers[i].lane);
    }
}

/* Pictures that go through whole, and those that, with little memory of the
 * device, go through in pieces; on so many devices. */
static void test_loads(const struct backend *backend, unsigned ndevices,
                       uint64_t vram)
{
    static const struct shape shapes[] = {
        { CELL_U8, 3, 1021, 769, 0 },  { CELL_U16, 2, 700, 501, 1 },
        { CELL_F32, 1, 333, 1027, 0 }, { CELL_U8, 1, 70000, 3, 0 },
        { CELL_U8, 1, 3, 70000, 0 },
    };
    struct lane_opts opts = { .ndevices = ndevices, .vram = vram };
    struct lane *lane = NULL;
    struct err err = { .text = "" };
    CHECK(backend->open(&lane, &opts, &err) == 0, "%s", err.text);
    for (size_t i = 0; lane && i < COUNT(shapes); i++)
        check_shape(backend, lane, shapes[i]);
    if (lane)
        backend->close(lane);
}

/* The CPU on several threads, with pieces small enough for all of them, with
 * and without streaming stores. */
static void check_pool(unsigned threads, size_t stream_from)
{
    struct err err = { .text = "" };
    struct lane *lane = NULL;
    char name[80];
    struct backend backend = backend_cpu;
    struct cpu_opts opts = {
        .piece = 5000,
        .stream_from = stream_from,
    };
    snprintf(name, sizeof name, "cpu (%u threads, streams from %zu)", threads,
             stream_from);
    backend.name = name;
    bool open = cpu_open_with(&lane, &opts, &err) == 0;
    CHECK(open, "%s: %s", name, err.text);
    if (!open)
        return;
    pool = thread_pool_open(threads);
    if (threads == 1)
        test_sides(&backend, lane);
    else
        test_pieces(&backend, lane);
    test_planes(&backend, lane);
    thread_pool_close(pool);
    backend.close(lane);
}

TEST(pool)
{
    check_pool(1, 0);
    check_pool(1, SIZE_MAX);
    check_pool(2, 0);
    check_pool(7, SIZE_MAX);
}

static void check_backend(const char *name)
{
    struct err err = { .text = "" };
    struct lane *lane = NULL;
    const struct backend *backend = backend_choose(name, &err);
    if (!backend) {
        const char *required = getenv("CUDA_REQUIRED");
        CHECK(err.text[0], "%s: no reason", name);
        CHECK(!strcmp(name, "cuda"), "%s cannot be missing", name);
        CHECK(!required || strcmp(required, "1"), "%s", err.text);
        test_skip("%s: %s", name, err.text);
        return;
    }
    CHECK(!strcmp(backend->name, name), "%s is %s", name, backend->name);
    bool open = backend->open(&lane, &first, &err) == 0;
    CHECK(open, "%s: %s", name, err.text);
    if (!open)
        return;
    pool = thread_pool_open(3);
    test_sides(backend, lane);
    test_planes(backend, lane);
    test_pieces(backend, lane);
    /* Many planes of all sizes; and what is so large that a backend turns it on
     * several threads, and, the third one, with stores that bypass the cache.
     */
    static const struct shape shapes[] = {
        { CELL_U8, 3, 1021, 769, 1 },   { CELL_DCT, 3, 161, 97, 1 },
        { CELL_F32, 1, 1153, 1027, 2 }, { CELL_U8, 60, 0, 0, 0 },
        { CELL_U16, 60, 0, 0, 0 },      { CELL_F32, 60, 0, 0, 0 },
        { CELL_DCT, 60, 0, 0, 0 },
    };
    for (size_t i = 0; i < COUNT(shapes); i++)
        check_shape(backend, lane, shapes[i]);
    test_program(backend, lane);
    backend->close(lane);
    test_lanes(backend);
    if (strcmp(name, "cpu") != 0) {
        test_devices(backend);
        test_loads(backend, 0, 1 << 20);
        test_loads(backend, (unsigned)LANE_ALL_DEVICES, 1 << 20);
        test_loads(backend, (unsigned)LANE_ALL_DEVICES, 0);
    }
    thread_pool_close(pool);
}

TEST(choice)
{
    static const char *const wrong[] = { "", "gpu", "CPU", "cpu " };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct err err = { .text = "" };
        CHECK(!backend_choose(wrong[i], &err) && err.text[0], "\"%s\"",
              wrong[i]);
    }
}

TEST(cpu)
{
    check_backend("cpu");
}

TEST(cuda)
{
    check_backend("cuda");
}
