/* A PNG that was just encoded, looked at once more: all its chunks, but not what
 * the samples deflate to. */
#include "codecs/png/png.h"

#include <pthread.h>
#include <string.h>

#include "codecs/deflate/flate.h"

enum {
    SIGNATURE = 8,
    HEAD = 8,     /* a chunk's length and type */
    AROUND = 12,  /* and its CRC */
    IHDR = 13,
    CHECKSUM = 4, /* at the end of the zlib stream */
    WORTH_THREADS = 1 << 20, /* bytes */
};

/* What has been seen of the file. */
struct chunk_summary {
    size_t chunks;
    bool palette, end;
    uint64_t samples;       /* bytes in all chunks IDAT */
    uint8_t head[2];        /* their first ones */
    uint8_t tail[CHECKSUM]; /* their last ones */
};

static bool is(const uint8_t *chunk, const char *name)
{
    return memcmp(chunk + 4, name, 4) == 0;
}

static int check_header(const uint8_t *data, const struct image *img,
                        struct err *err)
{
    bool interlaced = codec_is_own(&codec_png, img) && img->meta->interlaced;
    const uint8_t meant[5] = { (uint8_t)image_bits(img), png_color_type(img), 0,
                               0, interlaced };
    if (read_be32(data) != img->width || read_be32(data + 4) != img->height ||
        memcmp(data + 8, meant, sizeof meant) != 0)
        return fail(err, "IHDR is of another picture");
    return 0;
}

static void note_samples(struct chunk_summary *seen, const uint8_t *data,
                         size_t size)
{
    for (size_t i = 0; i < size && seen->samples + i < sizeof seen->head; i++)
        seen->head[seen->samples + i] = data[i];
    size_t n = size < CHECKSUM ? size : CHECKSUM;
    memmove(seen->tail, seen->tail + n, CHECKSUM - n);
    memcpy(seen->tail + CHECKSUM - n, data + size - n, n);
    seen->samples += size;
}

static int check_chunk(struct chunk_summary *seen, const uint8_t *chunk,
                       size_t size, const struct image *img, struct err *err)
{
    seen->chunks++;
    if (is(chunk, "IHDR"))
        return size == IHDR ? check_header(chunk + HEAD, img, err)
                            : fail(err, "IHDR has %zu bytes", size);
    if (is(chunk, "IDAT"))
        note_samples(seen, chunk + HEAD, size);
    seen->palette = seen->palette || is(chunk, "PLTE");
    seen->end = is(chunk, "IEND");
    return 0;
}

static int check_samples(const struct chunk_summary *seen,
                         const struct save_opts *opts, struct err *err)
{
    if (seen->samples < sizeof seen->head + CHECKSUM ||
        read_be16(seen->head) % 31 || (seen->head[0] & 15) != 8)
        return fail(err, "there is no IDAT with samples");
    if (opts->adler && *opts->adler && *opts->adler != read_be32(seen->tail))
        return fail(err, "the samples have another Adler-32");
    return 0;
}

/* ---- CRCs, by several threads ------------------------------------------- */

struct summing {
    pthread_mutex_t lock;
    const uint8_t *next;  /* the chunk that nobody has taken yet */
    const uint8_t *wrong; /* one whose CRC is wrong; NULL: none so far */
};

static void sum_next(void *context, size_t i)
{
    struct summing *s = context;
    (void)i;
    pthread_mutex_lock(&s->lock);
    const uint8_t *chunk = s->next;
    size_t size = read_be32(chunk);
    s->next = chunk + AROUND + size;
    pthread_mutex_unlock(&s->lock);
    if (flates[0]->crc32(0, chunk + 4, size + 4) ==
        read_be32(chunk + HEAD + size))
        return;
    pthread_mutex_lock(&s->lock);
    s->wrong = chunk;
    pthread_mutex_unlock(&s->lock);
}

/* Of a file whose chunks are whole. */
static int check_sums(struct bytes file, size_t chunks,
                      struct thread_pool *pool, struct err *err)
{
    struct summing s = { .next = file.data + SIGNATURE };
    pthread_mutex_init(&s.lock, NULL);
    thread_pool_run(file.size < WORTH_THREADS ? NULL : pool, sum_next, &s,
                    chunks);
    pthread_mutex_destroy(&s.lock);
    if (!s.wrong)
        return 0;
    return fail(err, "the CRC of %.4s is wrong", (const char *)s.wrong + 4);
}

/* ---- The whole ---------------------------------------------------------- */

int check_png(struct bytes file, const struct image *img,
              const struct save_opts *opts, struct err *err)
{
    struct chunk_summary seen = { 0 };
    if (!codec_png.probe(file.data, file.size) ||
        file.size < SIGNATURE + HEAD || !is(file.data + SIGNATURE, "IHDR"))
        return fail(err, "it does not begin as a PNG");
    for (size_t at = SIGNATURE; at < file.size;) {
        const uint8_t *chunk = file.data + at;
        size_t left = file.size - at,
               size = left < AROUND ? 0 : read_be32(chunk);
        if (seen.end || left < AROUND || size > left - AROUND)
            return fail(err, "a chunk is cut short, or one too many");
        if (check_chunk(&seen, chunk, size, img, err))
            return -1;
        at += AROUND + size;
    }
    if (!seen.end)
        return fail(err, "IEND is missing");
    if (img->color == COLOR_INDEXED && !seen.palette)
        return fail(err, "the palette is missing");
    if (check_samples(&seen, opts, err))
        return -1;
    return check_sums(file, seen.chunks, opts->pool, err);
}
