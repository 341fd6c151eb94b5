/* JSON (RFC 8259) on a stream, one value at a time.
 *
 * A file's name is bytes, JSON is Unicode: a byte that is not UTF-8 is written
 * as a lone surrogate, U+DC00 plus the byte, which Python's
 * surrogateescape reads back as the byte. */
#ifndef CLI_JSON_JSON_WRITE_H
#define CLI_JSON_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Each writes ", " before it unless it is the first of its object: `key` is its
 * name there, or NULL in an array. */
struct json {
    FILE *out;
    bool more; /* a value stands before the next one */
};

void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
void json_string(struct json *json, const char *key, const char *value);
void json_number(struct json *json, const char *key, double value);
/* Exactly, which a double is up to 2^53 only. */
void json_uint(struct json *json, const char *key, uint64_t value);
void json_bool(struct json *json, const char *key, bool value);
/* A value that is JSON already, put on one line: newlines can only stand
 * between its tokens. */
void json_raw(struct json *json, const char *key, const char *value,
              size_t size);
void json_null(struct json *json, const char *key);

#endif
