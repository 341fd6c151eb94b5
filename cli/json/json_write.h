/* Writes JSON (RFC 8259) to a stream, one value at a time.
 *
 * This room turns values into JSON and back; it knows nothing of what they
 * mean. It stands beside the libraries for JSON because names of files are
 * bytes, and JSON is Unicode: a byte that is not UTF-8 is written as a lone
 * surrogate, U+DC00 plus the byte, which Python's surrogateescape reads back as
 * the byte. Libraries refuse such names or change them. */
#ifndef CLI_JSON_JSON_WRITE_H
#define CLI_JSON_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_writer {
    FILE *out;
    bool more; /* the next value follows another one */
};

/* Each function writes one value, after ", " unless it is the first in its
 * array or object. `key` is its name in an object, or NULL. Errors are those of
 * the stream. */

/* Begin and end an array or object, by its '[' or '{' and ']' or '}'. */
void json_open(struct json_writer *json, const char *key, char bracket);
void json_close(struct json_writer *json, char bracket);

/* NULL is written as null. */
void json_string(struct json_writer *json, const char *key, const char *value);
/* What is not a number, or infinite, is written as null. */
void json_number(struct json_writer *json, const char *key, double value);
/* Exact, as a double is only up to 2^53. */
void json_uint(struct json_writer *json, const char *key, uint64_t value);
void json_bool(struct json_writer *json, const char *key, bool value);

/* Writes `size` bytes that are JSON already, on one line: newlines can stand
 * only between its tokens. */
void json_raw(struct json_writer *json, const char *key, const char *value,
              size_t size);

#endif
