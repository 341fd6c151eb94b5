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

static void check_plane(uint32_t width, uint32_t height, size_t size,
                        enum xform t, size_t most)
{
    bool flip = xform_transposes(t);
    struct plane src = plane_of(width, height, size);
    struct plane dst =
        plane_of(flip ? height : width, flip ? width : height, size);
    struct pieces pieces = pieces_cut(width, height, size, most);
    size_t wrong = 0;
    /* Numbers each cell by its place. */
    for (size_t y = 0; y < src.height; y++)
        for (size_t x = 0; x < src.width; x++) {
            uint32_t n = (uint32_t)(y * src.width + x) * 2654435761u;
            memcpy(src.data + y * src.stride + x * size, &n, size);
        }
    for (uint64_t i = 0; i < pieces.count; i++) {
        const struct plane_piece p = pieces_get(&pieces, width, height, i, t);
        for (size_t y = 0; y < p.to_height; y++)
            for (size_t x = 0; x < p.to_width; x++) {
                size_t at = from(t, p.to_width, p.to_height, x, y);
                memcpy(dst.data + (p.to_y + y) * dst.stride +
                           (p.to_x + x) * size,
                       src.data + (p.y + at / p.width) * src.stride +
                           (p.x + at % p.width) * size,
                       size);
            }
    }
    for (size_t y = 0; y < dst.height; y++)
        for (size_t x = 0; x < dst.width; x++) {
            size_t at = from(t, dst.width, dst.height, x, y);
            wrong +=
                memcmp(dst.data + y * dst.stride + x * size,
                       src.data + at / width * src.stride + at % width * size,
                       size) != 0;
        }
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

static const size_t sizes[] = { 1, 2, 4 };

TEST(planes)
{
    static const uint32_t sides[] = { 1, 2, 7, 63, 64, 65, 255, 256, 257, 601 };
    enum { SIDES = COUNT(sides) };
    for (int i = 0; i < SIDES * SIDES; i++)
        for (int s = 0; s < 3; s++) {
            uint32_t w = sides[i % SIDES], h = sides[i / SIDES];
            for (EACH_TURN(t))
                check_plane(w, h, sizes[s], t, t % 2 ? MOST : 20 * MOST);
        }
}

TEST(cuts)
{
    for (int s = 0; s < 3; s++) {
        check_cut(16381, 16411, sizes[s], 32 << 20);
        check_cut(1200000, 4, sizes[s], 1 << 20);
        check_cut(4, 1200000, sizes[s], 1 << 20);
        check_cut(0x7fffffff, 3, sizes[s], 32 << 20);
        check_cut(100000, 100000, sizes[s], 32 << 20);
    }
}
