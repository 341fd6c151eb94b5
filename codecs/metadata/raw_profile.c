/* Reads and rewrites a block of metadata in a PNG text in hexadecimal. */
#include "codecs/metadata/blocks.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "codecs/base/account.h"

/* Digits take longer than other bytes that are looked at. */
enum { DIGIT_LOOKS = 2 };

/* A text that is being read. */
struct hex_text {
    uint8_t *data;
    size_t size, at;
};

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Returns the next byte that is not blank; 0 at the end. */
static uint8_t peek(struct hex_text *text)
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

/* Skips the head, "\nexif\n     1234\n". Returns false if it is malformed, or
 * announces more bytes than there can be. */
static bool read_head(struct hex_text *text, struct raw_profile *profile)
{
    size_t *length = &profile->length;
    if (!peek(text))
        return false;
    while (text->at < text->size && text->data[text->at] != '\n')
        text->at++;
    uint8_t c = peek(text);
    if (c < '0' || c > '9')
        return false;
    profile->number = text->at;
    *length = 0;
    while (text->at < text->size && !is_blank(text->data[text->at])) {
        int digit = digit_value(text->data[text->at++]);
        if (digit < 0 || digit > 9)
            return false;
        *length = *length * 10 + (size_t)digit;
        if (*length > text->size / 2)
            return false;
    }
    profile->end = text->at;
    peek(text);
    profile->hex = text->at;
    return *length > 0;
}

int raw_profile_open(struct raw_profile *profile, const struct bytes *data,
                     struct err *err)
{
    struct hex_text text = { .data = data->data, .size = data->size };
    *profile = (struct raw_profile){ .kind = RAW_PROFILE_NONE };
    if (!account_look(DIGIT_LOOKS * text.size) || !read_head(&text, profile))
        return 0;
    const size_t length = profile->length;
    if (!bytes_reserve(&profile->body, length))
        return fail_memory(err, "no memory for a text");
    memset(profile->body.data, 0, length);
    profile->body.size = length;
    for (size_t i = 0; i < 2 * length; i++, text.at++) {
        int digit = digit_value(peek(&text));
        uint8_t *byte = &profile->body.data[i / 2];
        if (digit < 0) /* something else, or too few */
            return 0;
        *byte = (uint8_t)(*byte << 4 | digit);
    }
    /* Behind the sign of an APP1 segment (EXIF 2.3, 4.7.2; XMP specification,
     * part 3, 1.1.3), or without one. */
    static const char exif[] = "Exif\0", xmp[] = "http://ns.adobe.com/xap/1.0/";
    struct bytes *body = &profile->body;
    size_t skip = 0;
    if (body->size > sizeof exif && !memcmp(body->data, exif, sizeof exif))
        skip = sizeof exif;
    if (body->size > sizeof xmp && !memcmp(body->data, xmp, sizeof xmp))
        skip = sizeof xmp;
    bool is_xmp = skip == sizeof xmp || body->data[0] == '<';
    profile->kind = is_xmp ? RAW_PROFILE_XMP : RAW_PROFILE_EXIF;
    profile->sign_size = skip;
    memcpy(profile->sign, body->data, skip);
    body->size -= skip;
    memmove(body->data, body->data + skip, body->size);
    return 0;
}

void raw_profile_free(struct raw_profile *profile)
{
    bytes_free(&profile->body);
}

/* ---- Writing --------------------------------------------------------------*/

static int digit_of(const struct bytes *block, size_t i)
{
    return i % 2 ? block->data[i / 2] & 15 : block->data[i / 2] >> 4;
}

/* Lines of 72 digits, as ImageMagick has them. */
static bool append_digits(struct bytes *text, const struct bytes *block,
                          const char *digits)
{
    enum { LINE = 72 };
    bool kept = true;
    for (size_t i = 0; i < 2 * block->size && kept; i++)
        kept = bytes_append(text, &digits[digit_of(block, i)], 1) &&
               ((i + 1) % LINE || bytes_append(text, "\n", 1));
    return kept && (2 * block->size % LINE == 0 || bytes_append(text, "\n", 1));
}

/* The text with another length and other digits. The number is as wide as it
 * was, if it can be; what stood behind the digits, and the line that they end
 * on, stays. */
static bool rewrite(struct bytes *text, const struct raw_profile *profile,
                    const struct bytes *block, const char *digits)
{
    struct hex_text behind = { text->data, text->size, profile->hex };
    struct bytes made = { 0 };
    char number[24];
    size_t lead = profile->number;
    for (size_t i = 0; i < 2 * profile->length; i++, behind.at++)
        peek(&behind);
    while (behind.at < text->size && is_blank(text->data[behind.at]))
        if (text->data[behind.at++] == '\n')
            break;
    while (lead > 0 && text->data[lead - 1] == ' ')
        lead--;
    int room = (int)(profile->end - lead < 20 ? profile->end - lead : 20);
    snprintf(number, sizeof number, "%*zu", room, block->size);
    bool kept =
        bytes_append(&made, text->data, lead) &&
        bytes_append(&made, number, strlen(number)) &&
        bytes_append(&made, text->data + profile->end,
                     profile->hex - profile->end) &&
        append_digits(&made, block, digits) &&
        bytes_append(&made, text->data + behind.at, text->size - behind.at);
    bytes_free(kept ? text : &made);
    if (kept)
        *text = made;
    return kept;
}

int raw_profile_close(struct bytes *text, const struct raw_profile *profile,
                      struct err *err)
{
    struct hex_text at = { text->data, text->size, profile->hex };
    const char *digits = "0123456789abcdef";
    struct bytes block = { 0 };
    bool kept = true;
    if (profile->kind == RAW_PROFILE_NONE)
        return 0;
    for (size_t i = profile->hex; i < text->size; i++)
        if (text->data[i] >= 'A' && text->data[i] <= 'F')
            digits = "0123456789ABCDEF";
    if (!bytes_append(&block, profile->sign, profile->sign_size) ||
        !bytes_append(&block, profile->body.data, profile->body.size))
        kept = false;
    else if (block.size != profile->length)
        kept = rewrite(text, profile, &block, digits);
    else /* as many digits as there were; those that say the same stay */
        for (size_t i = 0; i < 2 * block.size; i++, at.at++)
            if (digit_value(peek(&at)) != digit_of(&block, i))
                at.data[at.at] = (uint8_t)digits[digit_of(&block, i)];
    bytes_free(&block);
    return kept ? 0 : fail_memory(err, "no memory for a text");
}
