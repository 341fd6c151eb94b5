/* Writes the samples of a PNG that is not interlaced, by several threads: each
 * band of idat_bands.h is a chunk IDAT, and adler32_combine() makes the
 * checksum of the one zlib stream that they are. */
#include "codecs/base/memory.h"
#include "codecs/png/png.h"

#include <string.h>
#include <zlib.h>

#include "codecs/base/account.h"
#include "codecs/png/chunk.h"
#include "codecs/png/idat_choice.h"

enum { STREAM_HEAD = 2, CHECKSUM = 4 };

/* The chunk of a band. Its state is set by the thread that has done what it
 * says, once it is done. The file is complete if each chunk is CHUNK_WRITTEN.
 */
struct band_chunk {
    enum { CHUNK_AWAITED, CHUNK_KEPT, CHUNK_WRITTEN } state;
    uint8_t *kept; /* its bytes, while it is CHUNK_KEPT */
    size_t size;   /* of the chunk, without its CRC */
    uint32_t crc, adler;
};

struct idat_writer {
    struct idat_bands bands;
    pthread_mutex_t lock;     /* of what follows */
    struct band_chunk *chunk; /* of each band */
    uint32_t next;            /* the band whose turn it is to be appended */
    bool appending;           /* a thread does so, or has failed to */

    /* Of the thread that appends. */
    struct bytes *file;
    const struct save_opts *opts;
    uint32_t adler; /* of the bands before the next one */
    bool refused;   /* flushing has failed, for this reason */
    struct err *err;
};

static size_t band_size(const struct idat_writer *w, size_t i)
{
    return idat_bands_rows(&w->bands, i) * w->bands.row;
}

/* Makes the chunk of a band in scratch->out. Returns whether that was possible.
 */
static bool make_chunk(struct idat_writer *w, struct idat_scratch *scratch,
                       uint32_t i)
{
    struct band_chunk *chunk = &w->chunk[i];
    const uint8_t *rows;
    uint8_t *out = scratch->out + CHUNK_HEAD;
    if (i == 0) { /* deflate, a window of 32 KiB; and a check of these bits */
        *out++ = 0x78;
        *out++ = 0x5e;
    }
    size_t made = idat_choice_deflate(&w->bands, scratch, i, out, &rows);
    chunk->adler = flates[0]->adler32(1, rows, band_size(w, i));
    chunk->size = (size_t)(out - scratch->out) + made;
    memcpy(scratch->out + 4, "IDAT", 4);
    chunk->crc = flates[0]->crc32(0, scratch->out + 4, chunk->size - 4);
    return made > 0;
}

/* Appends the chunk of a band; behind the last one, the checksum. Returns false
 * without memory, or if flushing fails. */
static bool append_chunk(struct idat_writer *w, uint32_t i)
{
    const struct band_chunk *chunk = &w->chunk[i];
    uint8_t end[CHECKSUM + 4];
    size_t more = i + 1 == w->bands.count ? CHECKSUM : 0;
    w->adler = (uint32_t)adler32_combine(w->adler, chunk->adler,
                                         (z_off_t)band_size(w, i));
    write_be32(chunk->kept, (uint32_t)(chunk->size - CHUNK_HEAD + more));
    write_be32(end, w->adler);
    write_be32(end + more, flates[0]->crc32(chunk->crc, end, more));
    if (!bytes_append(w->file, chunk->kept, chunk->size) ||
        !bytes_append(w->file, end, more + 4))
        return false;
    w->refused = flush_file(w->opts->flush, w->file, w->err) != 0;
    return !w->refused;
}

/* Appends all chunks whose turn it is, without the lock, so that others go on.
 * One of their buffers becomes that of the scratch memory. */
static bool append_chunks(struct idat_writer *w, struct idat_scratch *scratch)
{
    bool right = true;
    w->appending = true;
    while (right && w->next < w->bands.count &&
           w->chunk[w->next].state == CHUNK_KEPT) {
        struct band_chunk *chunk = &w->chunk[w->next];
        pthread_mutex_unlock(&w->lock);
        right = append_chunk(w, w->next);
        memory_free(scratch->out);
        scratch->out = chunk->kept;
        pthread_mutex_lock(&w->lock);
        chunk->kept = NULL;
        chunk->state = right ? CHUNK_WRITTEN : CHUNK_AWAITED;
        w->next++;
    }
    w->appending = !right; /* nobody goes on after a failure */
    return right;
}

/* Takes the chunk of a band out of the scratch memory, and appends it; or
 * leaves that to the thread that appends, or to one that makes a chunk before
 * it. */
static bool add_chunk(struct idat_writer *w, uint32_t i,
                      struct idat_scratch *scratch)
{
    bool right = true;
    pthread_mutex_lock(&w->lock);
    w->chunk[i].kept = scratch->out;
    w->chunk[i].state = CHUNK_KEPT;
    scratch->out = NULL;
    if (!w->appending)
        right = append_chunks(w, scratch);
    pthread_mutex_unlock(&w->lock);
    if (!scratch->out)
        scratch->out = memory_alloc(w->bands.out_size);
    return right && scratch->out;
}

static void write_band(void *context, size_t i)
{
    struct idat_writer *w = context;
    struct idat_scratch *scratch = idat_bands_take(&w->bands);
    if (!scratch)
        return;
    if (!make_chunk(w, scratch, (uint32_t)i) ||
        !add_chunk(w, (uint32_t)i, scratch))
        atomic_store(&w->bands.failed, true);
    idat_bands_give(&w->bands, scratch);
}

/* Returns whether all chunks are written. If so, sets *adler, unless that is
 * NULL, to the checksum of all rows: made of those of the bands anew, so that
 * it tells whether they were joined rightly. */
static bool is_complete(const struct idat_writer *w, uint32_t *adler)
{
    uLong sum = 1;
    for (uint32_t i = 0; i < w->bands.count; i++) {
        if (w->chunk[i].state != CHUNK_WRITTEN)
            return false;
        sum = adler32_combine(sum, w->chunk[i].adler, (z_off_t)band_size(w, i));
    }
    if (adler)
        *adler = (uint32_t)sum;
    return true;
}

static int write_bands(struct idat_writer *w, struct err *err)
{
    struct idat_bands *bands = &w->bands;
    if (idat_choice_make(bands, err) ||
        idat_bands_run(bands, write_band, w, err))
        return -1;
    if (w->refused || account_check_time(w->opts->account, err))
        return -1;
    return is_complete(w, w->opts->adler)
               ? 0
               : fail_memory(err, "no memory for the encoded picture");
}

int idat_write(struct bytes *file, const struct image *img, int level,
               const struct save_opts *opts, struct err *err)
{
    struct idat_writer w = { .lock = PTHREAD_MUTEX_INITIALIZER,
                             .file = file,
                             .opts = opts,
                             .adler = 1,
                             .err = err };
    int status = -1;
    bool open =
        idat_bands_open(&w.bands, img, level, CHUNK_HEAD + STREAM_HEAD, opts);
    /* Room for most files at once; pages that are not needed are not touched.
     */
    if (!opts->flush)
        (void)bytes_reserve(file, w.bands.row * img->height / 8 * 7);
    w.chunk = memory_alloc_zeroed(w.bands.count, sizeof *w.chunk);
    if (open && w.chunk)
        status = write_bands(&w, err);
    else
        fail_memory(err, "no memory for the encoded picture");
    for (uint32_t i = 0; w.chunk && i < w.bands.count; i++)
        memory_free(w.chunk[i].kept);
    memory_free(w.chunk);
    idat_bands_close(&w.bands);
    return status;
}
