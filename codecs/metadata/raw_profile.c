/* Reads and rewrites a block of metadata in a PNG text in hexadecimal. */
#include "codecs/metadata/blocks.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "codecs/base/account.h"
#include "codecs/metadata/xmp.h"

/* Digits take longer than other bytes that are looked at. */
enum { DIGIT_LOOKS = 2 };

/* A text that is being read. */
struct hex_text {
    const uint8_t *data;
    size_t size, at;
};

/* Returns the next byte that is not blank; 0 at the end. */
static uint8_t peek(struct hex_text *text)
{
    while (text->at < text->size && xml_is_blank(text->data[text->at]))
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

/* Reads the bytes behind the head, "\nexif\n     1234\n", which says how many
 * they are: from *number on. Returns 1; 0 if something else stands there, too
 * few, or more than there can be; or -1 without memory. */
static int read_bytes(struct bytes *bytes, size_t *number, struct bytes from,
                      struct err *err)
{
    struct hex_text text = { .data = from.data, .size = from.size };
    size_t length = 0;
    peek(&text);
    while (text.at < text.size && text.data[text.at] != '\n')
        text.at++;
    peek(&text);
    *number = text.at;
    while (text.at < text.size && !xml_is_blank(text.data[text.at])) {
        const int digit = digit_value(text.data[text.at++]);
        length = length * 10 + (size_t)digit;
        if (digit < 0 || digit > 9 || length > text.size / 2)
            return 0;
    }
    if (!length)
        return 0;
    if (!bytes_reserve(bytes, length))
        return fail_memory(err, "no memory for a text");
    bytes->size = length;
    for (size_t i = 0; i < 2 * length; i++, text.at++) {
        const int digit = digit_value(peek(&text));
        if (digit < 0)
            return 0;
        uint8_t *byte = &bytes->data[i / 2];
        *byte = (uint8_t)((i % 2 ? *byte << 4 : 0) | digit);
    }
    return 1;
}

/* The size of the sign of an APP1 segment (EXIF 2.3, 4.7.2; XMP specification,
 * part 3, 1.1.3), which may stand before the block. */
static size_t sign_size(const struct bytes *bytes, enum block_kind *kind)
{
    static const char exif[] = "Exif\0", xmp[] = "http://ns.adobe.com/xap/1.0/";
    *kind = bytes->data[0] == '<' ? BLOCK_XMP : BLOCK_EXIF;
    if (bytes->size > sizeof exif && !memcmp(bytes->data, exif, sizeof exif))
        return sizeof exif;
    if (bytes->size <= sizeof xmp || memcmp(bytes->data, xmp, sizeof xmp) != 0)
        return 0;
    *kind = BLOCK_XMP;
    return sizeof xmp;
}

int raw_profile_open(struct bytes *text, enum block_kind *kind, struct err *err)
{
    struct bytes bytes = { 0 };
    size_t number;
    if (!account_look(DIGIT_LOOKS * text->size))
        return 0;
    const int read = read_bytes(&bytes, &number, *text, err);
    bytes_free(read > 0 ? text : &bytes);
    if (read <= 0)
        return read;
    const size_t sign = sign_size(&bytes, kind);
    bytes.size -= sign;
    memmove(bytes.data, bytes.data + sign, bytes.size);
    *text = bytes;
    return 0;
}

/* As ImageMagick writes it: lines of 72 digits. */
int raw_profile_close(struct bytes *text, const struct bytes *body,
                      struct err *err)
{
    enum { LINE = 72 / 2 };
    struct bytes bytes = { 0 };
    enum block_kind kind;
    size_t number;
    char line[LINE * 2 + 2];
    int status = read_bytes(&bytes, &number, *text, err);
    if (status > 0) {
        bytes.size = sign_size(&bytes, &kind);
        while (number > 0 && text->data[number - 1] == ' ')
            number--;
        text->size = number;
        bool kept = bytes_append(&bytes, body->data, body->size);
        snprintf(line, sizeof line, "%8zu\n", bytes.size);
        kept = kept && bytes_append(text, line, strlen(line));
        for (size_t i = 0; kept && i < bytes.size; i += LINE) {
            char *to = line;
            for (size_t k = i; k < bytes.size && k < i + LINE; k++)
                to += sprintf(to, "%02x", (unsigned)bytes.data[k]);
            *to++ = '\n';
            kept = bytes_append(text, line, (size_t)(to - line));
        }
        status = kept ? 0 : fail_memory(err, "no memory for a text");
    }
    bytes_free(&bytes);
    return status;
}
