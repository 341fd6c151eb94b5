/* Checks a PNG that was just encoded: all its chunks, but not what the samples
 * inflate to. */
#include "codecs/png/png.h"

#include <pthread.h>

#include "codecs/png/animation.h"
#include "codecs/png/chunk.h"

enum {
    IHDR = 13,
    CHECKSUM = 4,            /* at the end of the zlib stream */
    WORTH_THREADS = 1 << 20, /* bytes */
};

/* What the chunks so far have said. */
struct chunk_summary {
    size_t chunks;
    bool palette, end;
    struct animation_parser animation;
    uint64_t samples;       /* bytes in all chunks IDAT */
    uint8_t head[2];        /* the first ones */
    uint8_t tail[CHECKSUM]; /* the last ones */
};

static int check_header(const struct chunk *chunk, const struct image *img,
                        struct err *err)
{
    bool interlaced = codec_is_own(&codec_png, img) && img->meta->interlaced;
    const uint8_t expected[5] = { (uint8_t)image_bits(img),
                                  ihdr_color_type(img), 0, 0, interlaced };
    if (chunk->size != IHDR)
        return fail(err, "IHDR has %zu bytes", chunk->size);
    if (read_be32(chunk->data) != img->width ||
        read_be32(chunk->data + 4) != img->height ||
        memcmp(chunk->data + 8, expected, sizeof expected) != 0)
        return fail(err, "IHDR is that of another picture");
    return 0;
}

static void add_samples(struct chunk_summary *all, const uint8_t *data,
                        size_t size)
{
    for (size_t i = 0; i < size && all->samples + i < sizeof all->head; i++)
        all->head[all->samples + i] = data[i];
    size_t n = size < CHECKSUM ? size : CHECKSUM;
    memmove(all->tail, all->tail + n, CHECKSUM - n);
    memcpy(all->tail + CHECKSUM - n, data + size - n, n);
    all->samples += size;
}

static int add_chunk(struct chunk_summary *all, const struct chunk *chunk,
                     const struct image *img, struct err *err)
{
    char name[5] = "";
    memcpy(name, chunk->type, 4);
    all->chunks++;
    if (chunk_is(chunk, "IHDR"))
        return check_header(chunk, img, err);
    if (chunk_is(chunk, "IDAT"))
        add_samples(all, chunk->data, chunk->size);
    if (chunk_is(chunk, "acTL") || chunk_is(chunk, "fcTL") ||
        chunk_is(chunk, "fdAT"))
        return animation_take(&all->animation, name, chunk->data, chunk->size,
                              all->samples > 0, err);
    all->palette = all->palette || chunk_is(chunk, "PLTE");
    all->end = chunk_is(chunk, "IEND");
    return 0;
}

/* ---- CRCs, by several threads ------------------------------------------- */

struct crc_check {
    pthread_mutex_t lock;
    struct bytes left; /* the chunks that no thread has taken */
    struct bytes_passed passed;
    const uint8_t *wrong; /* the type of one whose CRC is wrong, or NULL */
};

static void check_next_crc(void *context, size_t i)
{
    struct crc_check *check = context;
    struct chunk chunk = { 0 };
    (void)i;
    pthread_mutex_lock(&check->lock);
    chunk_next(&chunk, &check->left);
    pthread_mutex_unlock(&check->lock);
    const bool sound = chunk_is_sound(&chunk);
    pthread_mutex_lock(&check->lock);
    if (!sound)
        check->wrong = chunk.type;
    bytes_pass(&check->passed, chunk.data + chunk.size);
    pthread_mutex_unlock(&check->lock);
}

/* All chunks of the file must be whole. */
static int check_crcs(struct bytes file, size_t chunks,
                      struct thread_pool *pool, struct err *err)
{
    struct crc_check check = { .lock = PTHREAD_MUTEX_INITIALIZER,
                               .left = chunk_bytes(file),
                               .passed = bytes_passed_begin(file) };
    thread_pool_run(file.size < WORTH_THREADS ? NULL : pool, check_next_crc,
                    &check, chunks);
    if (!check.wrong)
        return 0;
    return fail(err, "the CRC of %.4s is wrong", (const char *)check.wrong);
}

/* ---- The whole ---------------------------------------------------------- */

int check_png(struct bytes file, const struct image *img,
              const struct save_opts *opts, struct err *err)
{
    struct chunk_summary all = { .animation = { .width = img->width,
                                                .height = img->height } };
    struct bytes_passed passed = bytes_passed_begin(file);
    struct bytes left = chunk_bytes(file);
    struct chunk chunk;
    if (!codec_png.probe(file.data, file.size) || left.size < CHUNK_HEAD ||
        memcmp(left.data + 4, "IHDR", 4) != 0)
        return fail(err, "the file does not begin as a PNG");
    while (left.size) {
        if (all.end || !chunk_next(&chunk, &left))
            return fail(err, "a chunk is cut short, or follows IEND");
        if (add_chunk(&all, &chunk, img, err))
            return -1;
        bytes_pass(&passed, left.data);
    }
    bytes_pass(&passed, file.data);
    if (!all.end)
        return fail(err, "IEND is missing");
    if (img->color == COLOR_INDEXED && !all.palette)
        return fail(err, "the palette is missing");
    if (all.samples < sizeof all.head + CHECKSUM || read_be16(all.head) % 31 ||
        (all.head[0] & 15) != 8)
        return fail(err, "IDAT is missing, or has no samples");
    if (opts->adler && *opts->adler && *opts->adler != read_be32(all.tail))
        return fail(err, "the Adler-32 of the samples is wrong");
    /* The samples of each frame have been checked when it was encoded. */
    const uint32_t frames = img->meta ? img->meta->animation.frames : 0;
    if (animation_end(&all.animation, err))
        return -1;
    if (all.animation.frames != frames)
        return fail(err, "there are %u frames, not %u", all.animation.frames,
                    frames);
    return check_crcs(file, all.chunks, opts->pool, err);
}
