/* A plane that is turned piece by piece equals the turned plane. Each piece is
 * turned by the oracle. */
#include "cuda/gpu/pieces.h"

#include "tests/support/oracle.h"
#include "tests/support/test.h"

enum { MOST = 4096 };

/* Which cell of its source, counted row by row, stands at x, y of a plane that
 * has w x h cells after t. */
static size_t from(enum xform t, size_t w, size_t h, size_t x, size_t y)
{
    uint32_t width = (uint32_t)(oracle[t].xy ? h : w), sx, sy;
    uint32_t height = (uint32_t)(oracle[t].xy ? w : h);
    turn_source(t, width, height, (uint32_t)x, (uint32_t)y, &sx, &sy);
    return (size_t)sy * width + sx;
}

static struct plane plane_of(uint32_t width, uint32_t height, size_t size)
{
    struct plane p = { .stride = pieces_stride(width, size) };
    p.width = width;
    p.height = height;
    p.data = calloc(height, p.stride);
    return p;
}

static void turn_alone(uint8_t *to, const uint8_t *cells,
                       const struct plane_piece *piece, enum xform t,
                       size_t size)
{
    size_t w = piece->to_width, h = piece->to_height, width = piece->width;
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++) {
            size_t at = from(t, w, h, x, y);
            memcpy(to + y * pieces_stride((uint32_t)w, size) + x * size,
                   cells + at / width * pieces_stride(piece->width, size) +
                       at % width * size,
                   size);
        }
}

static void check_plane(uint32_t width, uint32_t height, size_t size,
                        enum xform t, size_t most)
{
    bool flip = xform_transposes(t);
    struct plane src = plane_of(width, height, size);
    struct plane dst =
        plane_of(flip ? height : width, flip ? width : height, size);
    struct pieces pieces = pieces_cut(width, height, size, most);
    size_t room = most > 65536 * 4 ? most : 65536 * 4, wrong = 0, large = 0;
    owned_memory uint8_t *in = malloc(room), *out = malloc(room);
    /* Numbers each cell by its place. */
    for (size_t y = 0; y < src.height; y++)
        for (size_t x = 0; x < src.width; x++) {
            uint32_t n = (uint32_t)(y * src.width + x) * 2654435761u;
            memcpy(src.data + y * src.stride + x * size, &n,
                   size < 4 ? size : 4);
        }
    for (uint64_t i = 0; i < pieces.count; i++) {
        struct plane_piece p = pieces_get(&pieces, width, height, i, t);
        large += pieces_stride(p.width, size) * p.height > room ||
                 pieces_stride(p.to_width, size) * p.to_height > room;
        if (large)
            break;
        pieces_take(in, &src, &p, size);
        turn_alone(out, in, &p, t, size);
        pieces_give(&dst, &p, out, size);
    }
    for (size_t y = 0; y < dst.height; y++)
        for (size_t x = 0; x < dst.width; x++) {
            size_t at = from(t, dst.width, dst.height, x, y);
            wrong +=
                memcmp(dst.data + y * dst.stride + x * size,
                       src.data + at / width * src.stride + at % width * size,
                       size) != 0;
        }
    CHECK(large == 0, "%u x %u of %zu", width, height, size);
    CHECK(wrong == 0, "%u x %u of %zu, %s: %zu cells", width, height, size,
          xform_name(t), wrong);
    free(src.data);
    free(dst.data);
}

/* Of any size a plane is cut into pieces that are not too large, and of large
 * ones few more than have to be. */
static void check_cut(uint32_t width, uint32_t height, size_t size, size_t most)
{
    struct pieces p = pieces_cut(width, height, size, most);
    uint64_t bytes = (uint64_t)width * height * size;
    struct plane_piece last =
        pieces_get(&p, width, height, p.count - 1, XFORM_NONE);
    CHECK(pieces_stride(p.wide, size) * p.high <= most, "%u x %u", width,
          height);
    CHECK(pieces_stride(p.high, size) * p.wide <= most, "%u x %u", width,
          height);
    CHECK(last.x + last.width == width && last.y + last.height == height,
          "%u x %u", width, height);
    CHECK(p.count <= 4 * (bytes / most + 1) + width / 64 + height / 64,
          "%u x %u of %zu: %llu pieces", width, height, size,
          (unsigned long long)p.count);
}

static const size_t sizes[] = { 1, 2, 4, 128 };

TEST(planes)
{
    static const uint32_t sides[] = { 1, 2, 7, 63, 64, 65, 255, 256, 257, 601 };
    enum { SIDES = COUNT(sides) };
    for (int i = 0; i < SIDES * SIDES; i++)
        for (int s = 0; s < 4; s++) {
            uint32_t w = sides[i % SIDES], h = sides[i / SIDES];
            if (sizes[s] == 128 && w * h > 20000)
                continue;
            for (EACH_TURN(t))
                check_plane(w, h, sizes[s], t, t % 2 ? MOST : 20 * MOST);
        }
}

TEST(cuts)
{
    for (int s = 0; s < 4; s++) {
        check_cut(16381, 16411, sizes[s], 32 << 20);
        check_cut(1200000, 4, sizes[s], 1 << 20);
        check_cut(4, 1200000, sizes[s], 1 << 20);
        check_cut(0x7fffffff, 3, sizes[s], 32 << 20);
        check_cut(100000, 100000, sizes[s], 32 << 20);
    }
}
