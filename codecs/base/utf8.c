/* UTF-8, and text that is not UTF-8. */
#include "codecs/base/utf8.h"

#include <string.h>

unsigned utf8_length(const char *text)
{
    const uint8_t *p = (const uint8_t *)text;
    unsigned n = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (p[0] == 0 || (p[0] >= 0x80 && p[0] < 0xc2) || p[0] > 0xf4)
        return 0;
    for (unsigned i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    /* No form longer than needed, no surrogates, nothing above U+10FFFF. */
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

static bool is_utf8(const char *text)
{
    unsigned n = 1;
    while (*text && n > 0) {
        n = utf8_length(text);
        text += n;
    }
    return n > 0;
}

bool utf8_append(struct bytes *to, const uint8_t *text, size_t size)
{
    struct bytes copy = { 0 };
    bool good = bytes_append(&copy, text, size) && bytes_append(&copy, "", 1);
    const char *line = (const char *)copy.data;
    if (good && is_utf8(line)) {
        good = bytes_append(to, line, strlen(line));
    } else {
        for (; good && *line; line++) {
            uint8_t c = (uint8_t)*line;
            uint8_t two[2] = { 0xc0 | c >> 6, 0x80 | (c & 0x3f) };
            good =
                c < 0x80 ? bytes_append(to, &c, 1) : bytes_append(to, two, 2);
        }
    }
    bytes_free(&copy);
    return good;
}
