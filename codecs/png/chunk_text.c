/* What a chunk of text or a profile holds. */
#include "codecs/png/chunk_text.h"

#include <string.h>
#include <zlib.h>

/* ---- Compressed data ------------------------------------------------------*/

/* No profile and no text is larger; a bomb of 100 KB would be. */
enum { INFLATED_MAX = 64 << 20 };

/* Fills `out`, which is empty, with what `size` bytes of a zlib stream inflate
 * to. It stays empty on failure. */
static int inflate_to(struct bytes *out, const uint8_t *data, size_t size,
                      struct err *err)
{
    z_stream z = { .next_in = (z_const Bytef *)data };
    int status = Z_OK;
    bool memory = size <= UINT32_MAX && inflateInit(&z) == Z_OK;
    if (!memory)
        return fail_memory(err, "no memory to inflate a chunk");
    z.avail_in = (uInt)size;
    while (status == Z_OK && out->size < INFLATED_MAX) {
        enum { STEP = 1 << 16 };
        memory = bytes_reserve(out, STEP);
        if (!memory)
            break;
        z.next_out = out->data + out->size;
        z.avail_out = STEP;
        status = inflate(&z, Z_NO_FLUSH);
        out->size += STEP - z.avail_out;
    }
    inflateEnd(&z);
    if (status == Z_STREAM_END)
        return 0;
    memory = memory && status != Z_MEM_ERROR;
    bool more = out->size >= INFLATED_MAX;
    bytes_free(out);
    if (!memory)
        return fail_memory(err, "no memory to inflate a chunk");
    return fail(
        err, more ? "a chunk inflates to more than 64 MiB, which is the limit"
                  : "a compressed chunk is damaged");
}

int chunk_text_deflate(struct bytes *out, const struct bytes *text,
                       struct err *err)
{
    uLongf made = compressBound(text->size);
    if (!bytes_reserve(out, made) ||
        compress2(out->data + out->size, &made, text->data, text->size,
                  Z_BEST_COMPRESSION) != Z_OK)
        return fail_memory(err, "no memory to deflate a chunk");
    out->size += made;
    return 0;
}

/* ---- Texts ----------------------------------------------------------------*/

/* The string that begins at `at` ends in front of what is returned; 0: it does
 * not end. */
static size_t skip_string(const uint8_t *data, size_t size, size_t at)
{
    const uint8_t *zero = memchr(data + at, 0, size - at);
    return zero ? (size_t)(zero - data) + 1 : 0;
}

/* After the keyword: in iTXt whether the text is deflated and the method, then
 * a language and a translated keyword; in zTXt and iCCP the method, which is 0.
 */
struct chunk_text chunk_text_find(const char *name, const uint8_t *data,
                                  size_t size)
{
    const struct chunk_text malformed = { 0, false };
    struct chunk_text text = { .begin = size ? skip_string(data, size, 0) : 0 };
    if (strcmp(name, "iCCP") == 0 || *name == 'z') {
        text.deflated = true;
        bool good = *name == 'z' ? text.begin && text.begin < size &&
                                       data[text.begin] == 0
                                 : text.begin && text.begin + 1 < size;
        text.begin++;
        return good ? text : malformed;
    }
    if (*name == 't' || !text.begin)
        return text;
    if (size - text.begin < 2)
        return malformed;
    text.deflated = data[text.begin] != 0;
    text.begin = skip_string(data, size, text.begin + 2);
    if (text.begin)
        text.begin = skip_string(data, size, text.begin);
    return text;
}

bool chunk_text_has_keyword(const uint8_t *data, size_t size,
                            const char *keyword)
{
    size_t n = strlen(keyword) + 1; /* with its zero */
    return size >= n && memcmp(data, keyword, n) == 0;
}

int chunk_text_read(struct bytes *text, const struct metadata_block *block,
                    struct err *err)
{
    struct chunk_text at =
        chunk_text_find(block->name, block->data, block->size);
    const uint8_t *data = block->data + at.begin;
    size_t size = block->size - at.begin;
    if (at.deflated)
        return inflate_to(text, data, size, err);
    if (bytes_append(text, data, size))
        return 0;
    return fail_memory(err, "no memory for a text");
}

int chunk_text_set(struct metadata_block *block, const struct bytes *text,
                   struct err *err)
{
    struct chunk_text at =
        chunk_text_find(block->name, block->data, block->size);
    struct bytes deflated = { 0 };
    const struct bytes *body = at.deflated ? &deflated : text;
    int status = at.deflated ? chunk_text_deflate(&deflated, text, err) : 0;
    if (status == 0 && !metadata_block_set(block, block->data, at.begin,
                                           body->data, body->size))
        status = fail_memory(err, "no memory for a text");
    bytes_free(&deflated);
    return status;
}
