/* What a chunk of text or a profile holds: behind a keyword, and deflated or
 * not (PNG, Third Edition, 11.3.2.3 and 11.3.3). */
#ifndef CODECS_PNG_CHUNK_TEXT_H
#define CODECS_PNG_CHUNK_TEXT_H

#include "codecs/image/meta.h"

struct chunk_text {
    size_t begin; /* of the text in the chunk; 0: the chunk is malformed */
    bool deflated;
};

/* Finds the text of a tEXt, zTXt, iTXt or iCCP chunk, of `size` bytes. */
struct chunk_text chunk_text_find(const char *name, const uint8_t *data,
                                  size_t size);

/* Returns whether the keyword of such a chunk is this one. */
bool chunk_text_has_keyword(const uint8_t *data, size_t size,
                            const char *keyword);

/* Fills `text`, which is empty, with the text of a chunk that is not malformed.
 * On failure, without memory or of a damaged chunk, it stays empty. */
int chunk_text_read(struct bytes *text, const struct metadata_block *block,
                    struct err *err);

/* Gives the chunk another text, deflated if the one before was. Fails only
 * without memory. */
int chunk_text_set(struct metadata_block *block, const struct bytes *text,
                   struct err *err);

/* Appends a profile or a text to `out`, deflated. Fails only without memory. */
int chunk_text_deflate(struct bytes *out, const struct bytes *text,
                       struct err *err);

#endif
