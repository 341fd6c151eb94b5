/* DEFLATE of members, in bands. */
#include "codecs/npy/zip_deflate.h"

#include <string.h>

#include "codecs/base/account.h"
#include "codecs/base/memory.h"
#include "codecs/deflate/flate.h"
#include "codecs/deflate/lz77.h"

/* Bytes that one thread deflates at a time. */
enum { BAND = 1 << 20 };

/* Some bands of the content. */
struct bands {
    const uint8_t *data;
    size_t before,
        size;           /* bytes before it that matches may refer to; its own */
    bool last;          /* the stream ends with it */
    struct bytes *band; /* deflated; empty if there was no memory, or time */
    size_t count;
    const struct account *account;
};

static void deflate_band(void *context, size_t i)
{
    struct bands *b = context;
    size_t at = i * BAND, left = b->size - at;
    size_t size = left < BAND ? left : BAND;
    struct err unheard; /* append_bands() asks again */
    if (account_check_time(b->account, &unheard))
        return;
    struct lz77 *matcher = lz77_new(1, 1);
    struct bytes made = { 0 };
    if (matcher && bytes_reserve(&made, flate_bound(size)))
        made.size =
            lz77_deflate(matcher, made.data, b->data + at, b->before + at, size,
                         b->last && i + 1 == b->count, LZ77_SEVEN);
    /* While it waits for others it takes no more than it has become. */
    (void)bytes_append(&b->band[i], made.data, made.size);
    bytes_free(&made);
    lz77_free(matcher);
}

static int append_bands(struct bytes *out, const struct bands *b,
                        struct err *err)
{
    if (account_check_time(b->account, err))
        return -1;
    for (size_t i = 0; i < b->count; i++)
        if (b->band[i].size == 0 ||
            !bytes_append(out, b->band[i].data, b->band[i].size))
            return fail_memory(err, "no memory for the file");
    return 0;
}

/* Deflates `size` bytes behind the window. */
static int deflate_some(const struct zip_deflate *d, struct bytes *out,
                        const uint8_t *data, size_t size, bool last,
                        struct err *err)
{
    struct bands b = {
        .data = data,
        .before = d->window,
        .size = size,
        .last = last,
        .count = size ? (size - 1) / BAND + 1 : 1,
        .account = d->account,
    };
    b.band = memory_alloc_zeroed(b.count, sizeof *b.band);
    if (!b.band)
        return fail_memory(err, "no memory for the file");
    thread_pool_run(d->pool, deflate_band, &b, b.count);
    int status = append_bands(out, &b, err);
    for (size_t i = 0; i < b.count; i++)
        bytes_free(&b.band[i]);
    memory_free(b.band);
    return status;
}

/* Deflates as many whole bands of what is held as there are threads, while
 * there is more: the last bytes of all end the stream. */
static int deflate_held(struct zip_deflate *d, struct bytes *out,
                        struct err *err)
{
    const size_t some = (size_t)thread_pool_threads(d->pool) * BAND;
    while (d->held.size - d->window > some) {
        if (deflate_some(d, out, d->held.data + d->window, some, false, err))
            return -1;
        const size_t done = d->window + some, drop = done - FLATE_WINDOW;
        d->held.size -= drop;
        memmove(d->held.data, d->held.data + drop, d->held.size);
        d->window = FLATE_WINDOW;
    }
    return 0;
}

int zip_deflate(struct zip_deflate *d, struct bytes *out, struct bytes content,
                bool last, struct err *err)
{
    if (last && d->held.size == 0)
        return deflate_some(d, out, content.data, content.size, true, err);
    if (!bytes_append(&d->held, content.data, content.size))
        return fail_memory(err, "no memory for the file");
    if (!last)
        return deflate_held(d, out, err);
    return deflate_some(d, out, d->held.data + d->window,
                        d->held.size - d->window, true, err);
}

void zip_deflate_end(struct zip_deflate *d)
{
    bytes_free(&d->held);
    d->window = 0;
}
