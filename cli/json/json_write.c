/* Writes JSON to a stream. */
#include "cli/json/json_write.h"

#include <inttypes.h>
#include <math.h>

#include "codecs/base/utf8.h"

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

static void begin(struct json_writer *json, const char *key)
{
    if (json->more)
        fputs(", ", json->out);
    if (key) {
        put_string(json->out, key);
        fputs(": ", json->out);
    }
    json->more = true;
}

void json_open(struct json_writer *json, const char *key, char bracket)
{
    begin(json, key);
    putc(bracket, json->out);
    json->more = false;
}

void json_close(struct json_writer *json, char bracket)
{
    putc(bracket, json->out);
    json->more = true;
}

void json_string(struct json_writer *json, const char *key, const char *value)
{
    begin(json, key);
    if (value)
        put_string(json->out, value);
    else
        fputs("null", json->out);
}

void json_number(struct json_writer *json, const char *key, double value)
{
    begin(json, key);
    if (isfinite(value))
        fprintf(json->out, "%.15g", value);
    else
        fputs("null", json->out);
}

void json_uint(struct json_writer *json, const char *key, uint64_t value)
{
    begin(json, key);
    fprintf(json->out, "%" PRIu64, value);
}

void json_bool(struct json_writer *json, const char *key, bool value)
{
    begin(json, key);
    fputs(value ? "true" : "false", json->out);
}

void json_raw(struct json_writer *json, const char *key, const char *value,
              size_t size)
{
    begin(json, key);
    for (size_t i = 0; i < size; i++)
        putc(value[i] == '\n' || value[i] == '\r' ? ' ' : value[i], json->out);
}
