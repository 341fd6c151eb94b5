/* Chunks IDAT that are inflated side by side make the picture that was written,
 * however its stream is cut into chunks; and damage is never taken for one. */
#include "codecs/png/png.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/deflate/flate.h"
#include "tests/support/compare.h"
#include "tests/support/must.h"
#include "tests/support/png_file.h"
#include "tests/support/test.h"

enum { POOLS = 3 };
static struct thread_pool *pools[POOLS]; /* of 1, 2 and 7 threads */

/* A picture whose rows partly repeat, so that some bands have matches. */
static struct image picture(uint32_t width, uint32_t height)
{
    struct image img = { .cell = CELL_U8,
                         .color = COLOR_RGB,
                         .maxval = 255,
                         .nplanes = 3,
                         .width = width,
                         .height = height };
    struct err err;
    uint64_t seed = width;
    must(image_alloc(&img, mem_plain, &err) == 0);
    memset(img.cells, 0, img.size);
    for (unsigned p = 0; p < 3; p++)
        for (uint32_t y = 0; y < height; y++) {
            uint8_t *row = plane_row(&img.plane[p], y);
            for (uint32_t x = 0; x < width; x++)
                row[x] = (uint8_t)(x / 3 + y / 2 + (test_random(&seed) >> 62));
            if (y % 5 == 4 && y / 500 % 2)
                memcpy(row, plane_row(&img.plane[p], y - 3), width);
        }
    return img;
}

/* Joins what chunks hold. */
static struct bytes stream_of(struct bytes idats)
{
    struct bytes stream = { 0 };
    for (size_t at = 0; at < idats.size; at += 12 + read_big32(idats.data + at))
        must(bytes_append(&stream, idats.data + at + 8,
                          read_big32(idats.data + at)));
    return stream;
}

static struct bytes cut(struct bytes stream, size_t piece)
{
    struct bytes idats = { 0 };
    for (size_t at = 0; at < stream.size; at += piece)
        add_chunk(&idats, "IDAT", stream.data + at,
                  stream.size - at < piece ? stream.size - at : piece);
    return idats;
}

static bool reads(const struct image *img, struct bytes idats,
                  const struct flate *flate, struct thread_pool *pool,
                  bool *same)
{
    struct image got = { .cell = img->cell,
                         .color = img->color,
                         .maxval = img->maxval,
                         .nplanes = img->nplanes,
                         .width = img->width,
                         .height = img->height };
    struct row_sink rows;
    struct err err;
    must(row_sink_open(&rows, &got, XFORM_NONE, NULL, mem_plain, &err) == 0);
    memset(got.cells, 7, got.size);
    bool read = idat_parts_read(
        &rows, (struct png_range){ .at = idats.data, .size = idats.size },
        flate, pool);
    *same = read && same_cells(&got, img);
    row_sink_close(&rows);
    image_free(&got);
    return read;
}

/* All libraries and pools read these chunks, or none does. */
static void check(const char *what, const struct image *img, struct bytes idats,
                  bool sound)
{
    bool same;
    for (int f = 0; flates[f]; f++)
        for (int p = 0; p < POOLS; p++) {
            bool read = reads(img, idats, flates[f], pools[p], &same);
            CHECK(read == sound && same == sound, "%s, %s, pool %d: %s", what,
                  flates[f]->name, p, read ? "read" : "refused");
        }
}

static struct bytes written(const struct image *img, int level)
{
    struct bytes idats = { 0 };
    struct err err;
    must(idat_write(&idats, img, level, &(struct save_opts){ .quality = 0 },
                    &err) == 0);
    return idats;
}

TEST(our_files)
{
    struct image img = picture(1201, 1700);
    for (int level = 0; level <= 9; level += 3) {
        struct bytes idats = written(&img, level);
        CHECK(level == 9 || /* its bands are larger, and few */
                  idat_parts_suit((struct png_range){ .at = idats.data,
                                                      .size = idats.size },
                                  (uint64_t)(3 * 1201 + 1) * 1700, flates[0]),
              "level %d", level);
        check("ours", &img, idats, true);
        bytes_free(&idats);
    }
    image_free(&img);
}

/* Every eighth chunk refers to nothing before it, whatever codes it. */
TEST(beginnings)
{
    struct image img = picture(1201, 3000);
    uint8_t *out = malloc(1 << 20);
    must(out);
    for (int level = 1; level <= 6; level += 5) {
        struct bytes idats = written(&img, level);
        size_t at = 0, n = 0;
        for (; at < idats.size; at += 12 + read_big32(idats.data + at), n++) {
            struct flate_io io = { .in = idats.data + at + 8,
                                   .in_size = read_big32(idats.data + at),
                                   .out = out,
                                   .out_size = 1 << 20 };
            void *inflater = flate_zlib.inflate_open(true);
            must(inflater);
            if (n && n % 8 == 0)
                CHECK(flate_zlib.inflate(inflater, &io) == FLATE_MORE &&
                          io.in_size == 0 &&
                          flate_zlib.inflate_is_between(inflater),
                      "level %d, chunk %zu", level, n);
            flate_zlib.inflate_close(inflater);
        }
        CHECK(n > 17, "%zu chunks", n);
        bytes_free(&idats);
    }
    free(out);
    image_free(&img);
}

/* Others cut the stream anywhere. */
TEST(other_files)
{
    static const size_t pieces[] = { 4001, 65536, 300000 };
    struct image img = picture(401, 900);
    struct bytes idats = written(&img, 6), stream = stream_of(idats);
    for (int i = 0; i < 3; i++) {
        struct bytes other = cut(stream, pieces[i]);
        check("others", &img, other, stream.size % pieces[i] > 4);
        bytes_free(&other);
    }
    bytes_free(&stream);
    bytes_free(&idats);
    image_free(&img);
}

/* A chunk that ends within what may be the head of a block seems sound. If it
 * is tried before its turn comes, which depends on the threads, no chunk is
 * read; files of such chunks are left to others. What is read is right. */
TEST(tiny_chunks)
{
    struct image img = picture(401, 900);
    struct bytes idats = written(&img, 6), stream = stream_of(idats);
    struct bytes other = cut(stream, 57);
    for (int f = 0; flates[f]; f++)
        for (int p = 0; p < POOLS; p++) {
            bool same, read = reads(&img, other, flates[f], pools[p], &same);
            CHECK(read == same && (read || p), "%s, pool %d", flates[f]->name,
                  p);
        }
    bytes_free(&other);
    bytes_free(&stream);
    bytes_free(&idats);
    image_free(&img);
}

TEST(damage)
{
    struct image img = picture(601, 1700);
    struct bytes idats = written(&img, 6), stream = stream_of(idats);
    for (int i = 0; i < 12; i++) {
        size_t at = i < 10 ? stream.size / 10 * (size_t)i + 3
                           : stream.size - (size_t)i + 8;
        stream.data[at] ^= 16;
        struct bytes other = cut(stream, 200000);
        check("a wrong byte", &img, other, false);
        bytes_free(&other);
        stream.data[at] ^= 16;
    }
    idats.data[idats.size / 2] ^= 1;
    check("a wrong CRC", &img, idats, false);
    idats.data[idats.size / 2] ^= 1;
    size_t first = 12 + read_big32(idats.data);
    check("cut", &img, (struct bytes){ idats.data, first, 0 }, false);
    check("its beginning is missing", &img,
          (struct bytes){ idats.data + first, idats.size - first, 0 }, false);
    bytes_free(&stream);
    bytes_free(&idats);
    image_free(&img);
}

/* Within a stored block, chunks that are sound streams by themselves: a trial
 * of them succeeds, and must not count. */
TEST(sound_by_chance)
{
    enum { W = 999, H = 60, RAW = (W + 1) * H, PIECE = 15000 };
    struct image img = { .cell = CELL_U8,
                         .color = COLOR_GRAY,
                         .maxval = 255,
                         .nplanes = 1,
                         .width = W,
                         .height = H };
    struct bytes stream = { 0 };
    uint8_t *raw = calloc(1, RAW);
    struct err err;
    const uint8_t head[7] = {
        0x78, 0x01, 1, RAW & 255, RAW >> 8, (uint8_t)~RAW, (uint8_t)(~RAW >> 8)
    };
    must(raw && image_alloc(&img, mem_plain, &err) == 0);
    for (int i = 1; i < 4; i++) {
        const uint16_t size = PIECE - 5;
        uint8_t *at = raw + i * PIECE - (int)sizeof head;
        at[1] = size & 255; /* at[0] is 0: a stored block follows */
        at[2] = size >> 8;
        at[3] = (uint8_t)~size;
        at[4] = (uint8_t)(~size >> 8);
    }
    for (uint32_t y = 0; y < H; y++)
        memcpy(plane_row(&img.plane[0], y), raw + y * (W + 1) + 1, W);
    must(bytes_append(&stream, head, sizeof head) &&
         bytes_append(&stream, raw, RAW));
    add_big32(&stream, flates[0]->adler32(1, raw, RAW));
    struct bytes idats = cut(stream, PIECE);
    bool same, read;
    for (int p = 0; p < POOLS; p++) {
        read = reads(&img, idats, flates[0], pools[p], &same);
        CHECK(same == read, "pool %d: read, but not as it is", p);
    }
    free(raw);
    bytes_free(&idats);
    bytes_free(&stream);
    image_free(&img);
}

TEST_SET_UP()
{
    static const unsigned threads[POOLS] = { 1, 2, 7 };
    for (int i = 0; i < POOLS; i++)
        must((pools[i] = thread_pool_open(threads[i])));
}

TEST_TEAR_DOWN()
{
    for (int i = 0; i < POOLS; i++)
        thread_pool_close(pools[i]);
}
