/* Rewrites a block of metadata that stands in a PNG text in hexadecimal. */
#include "codecs/metadata/raw_profile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/metadata/drop.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/xmp.h"

struct text {
    uint8_t *data;
    size_t size, at;
};

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The next byte that is no blank; 0 at the end. */
static uint8_t peek(struct text *text)
{
    while (text->at < text->size && is_blank(text->data[text->at]))
        text->at++;
    return text->at < text->size ? text->data[text->at] : 0;
}

static int digit_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* "\nexif\n     1234\n": goes behind it. False: it is not like this, or more
 * bytes are announced than there can be. */
static bool read_head(struct text *text, size_t *length)
{
    if (!peek(text))
        return false;
    while (text->at < text->size && text->data[text->at] != '\n')
        text->at++;
    uint8_t c = peek(text);
    if (c < '0' || c > '9')
        return false;
    *length = 0;
    while (text->at < text->size && !is_blank(text->data[text->at])) {
        int digit = digit_value(text->data[text->at++]);
        if (digit < 0 || digit > 9)
            return false;
        *length = *length * 10 + (size_t)digit;
        if (*length > text->size / 2)
            return false;
    }
    return *length > 0;
}

/* False: something else stands among the digits, or there are too few. */
static bool read_block(struct text text, uint8_t *block, size_t length)
{
    for (size_t i = 0; i < 2 * length; i++) {
        int digit = digit_value(peek(&text));
        if (digit < 0)
            return false;
        text.at++;
        block[i / 2] = (uint8_t)(block[i / 2] << 4 | digit);
    }
    return true;
}

/* Where read_block() has found digits. Those that say the same stay. */
static void write_block(struct text text, const uint8_t *block, size_t length)
{
    const uint8_t *all = text.data + text.at;
    const char *digits = "0123456789abcdef";
    for (size_t i = 0; i < text.size - text.at; i++)
        if (all[i] >= 'A' && all[i] <= 'F')
            digits = "0123456789ABCDEF";
    for (size_t i = 0; i < 2 * length; i++) {
        int digit = i % 2 ? block[i / 2] & 15 : block[i / 2] >> 4;
        if (digit_value(peek(&text)) != digit)
            text.data[text.at] = (uint8_t)digits[digit];
        text.at++;
    }
}

/* Behind the sign of an APP1 segment (EXIF 2.3, 4.7.2; XMP specification, part
 * 3, 1.1.3), or without one: how many bytes the sign has, and what follows. */
static size_t sign_of(const uint8_t *block, size_t size, bool *is_xmp)
{
    static const char exif[] = "Exif\0", xmp[] = "http://ns.adobe.com/xap/1.0/";
    size_t skip = size > 6 && !memcmp(block, exif, 6) ? 6 : 0;
    if (size > sizeof xmp && memcmp(block, xmp, sizeof xmp) == 0)
        skip = sizeof xmp;
    *is_xmp = skip == sizeof xmp || block[0] == '<';
    return skip;
}

static void turn_block(uint8_t *block, size_t size, enum xform t,
                       unsigned orientation, uint32_t width, uint32_t height)
{
    bool xmp;
    size_t skip = sign_of(block, size, &xmp);
    if (xmp)
        xmp_turn(block + skip, size - skip, t, orientation);
    else
        exif_turn(block + skip, size - skip, t, orientation, width, height);
}

int raw_profile_turn(uint8_t *data, size_t size, enum xform t,
                     unsigned orientation, uint32_t width, uint32_t height,
                     struct err *err)
{
    struct text text = { .data = data, .size = size };
    size_t length;
    if (!read_head(&text, &length))
        return 0;
    uint8_t *block = calloc(length, 1);
    if (!block)
        return fail_memory(err, "no memory for a text");
    if (read_block(text, block, length)) {
        turn_block(block, length, t, orientation, width, height);
        write_block(text, block, length);
    }
    free(block);
    return 0;
}

/* Gives the block in a text, to be freed, with its sign; NULL in one that is
 * malformed. The text is left where the block begins in it. */
static int open_block(struct text *text, uint8_t **block, size_t *length,
                      struct err *err)
{
    *block = NULL;
    if (!read_head(text, length))
        return 0;
    *block = calloc(*length, 1);
    if (!*block)
        return fail_memory(err, "no memory for a text");
    if (!read_block(*text, *block, *length)) {
        free(*block);
        *block = NULL;
    }
    return 0;
}

int raw_profile_kind(const uint8_t *data, size_t size, enum raw_profile *kind,
                     struct err *err)
{
    struct text text = { .data = (uint8_t *)(uintptr_t)data, .size = size };
    uint8_t *block;
    size_t length;
    bool xmp = false;
    *kind = RAW_PROFILE_NONE;
    if (open_block(&text, &block, &length, err))
        return -1;
    if (block)
        sign_of(block, length, &xmp);
    if (block)
        *kind = xmp ? RAW_PROFILE_XMP : RAW_PROFILE_EXIF;
    free(block);
    return 0;
}

int raw_profile_drop(uint8_t *data, size_t size, unsigned drop, struct err *err)
{
    struct text text = { .data = data, .size = size };
    uint8_t *block;
    size_t length;
    bool xmp;
    if (!drop)
        return 0;
    if (open_block(&text, &block, &length, err))
        return -1;
    if (!block)
        return 0;
    size_t skip = sign_of(block, length, &xmp);
    struct bytes exif = { .data = block + skip, .size = length - skip };
    int status = xmp ? drop_in_xmp(exif.data, exif.size, drop, err)
                     : drop_in_exif(&exif, drop, err);
    write_block(text, block, length);
    free(block);
    return status;
}

int raw_profile_note(const uint8_t *data, size_t size, struct orientation *o,
                     enum tag_place *exif, struct err *err)
{
    struct text text = { .data = (uint8_t *)(uintptr_t)data, .size = size };
    uint8_t *block;
    size_t length;
    bool xmp;
    if (open_block(&text, &block, &length, err))
        return -1;
    if (!block)
        return 0;
    size_t skip = sign_of(block, length, &xmp);
    if (xmp) {
        xmp_note(block + skip, length - skip, o);
    } else {
        orientation_note(o, *exif, exif_tag(block + skip, length - skip));
        *exif = TAG_MORE_EXIF;
    }
    free(block);
    return 0;
}
