/* JSON on a stream. */
#include "cli/json.h"

#include <stdint.h>

unsigned utf8_length(const char *text)
{
    const uint8_t *p = (const uint8_t *)text;
    unsigned n = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (p[0] == 0 || (p[0] >= 0x80 && p[0] < 0xc2) || p[0] > 0xf4)
        return 0;
    for (unsigned i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    /* No longer form than needed, no surrogates, nothing past U+10FFFF. */
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

static void put_string(FILE *out, const char *text)
{
    putc('"', out);
    while (*text) {
        unsigned n = utf8_length(text);
        uint8_t c = (uint8_t)*text;
        if (n == 0) {
            fprintf(out, "\\udc%02x", c);
            text++;
        } else if (n == 1 && (c < 0x20 || c == 0x7f)) {
            fprintf(out, "\\u%04x", c);
            text++;
        } else {
            if (c == '"' || c == '\\')
                putc('\\', out);
            text += fwrite(text, 1, n, out) == n ? n : 1;
        }
    }
    putc('"', out);
}

static void begin(struct json *json, const char *key)
{
    if (json->more)
        fputs(", ", json->out);
    if (key) {
        put_string(json->out, key);
        fputs(": ", json->out);
    }
    json->more = true;
}

void json_open(struct json *json, const char *key, char bracket)
{
    begin(json, key);
    putc(bracket, json->out);
    json->more = false;
}

void json_close(struct json *json, char bracket)
{
    putc(bracket, json->out);
    json->more = true;
}

void json_string(struct json *json, const char *key, const char *value)
{
    begin(json, key);
    put_string(json->out, value);
}

void json_number(struct json *json, const char *key, double value)
{
    begin(json, key);
    fprintf(json->out, "%.15g", value);
}

void json_bool(struct json *json, const char *key, bool value)
{
    begin(json, key);
    fputs(value ? "true" : "false", json->out);
}

void json_null(struct json *json, const char *key)
{
    begin(json, key);
    fputs("null", json->out);
}
