/* Turns values into JSON (RFC 8259) and back; it knows nothing of what they
 * mean.
 *
 * It stands beside the libraries for JSON because names of files are bytes, and
 * JSON is Unicode: a byte that is not UTF-8 is written as a lone surrogate,
 * U+DC00 plus the byte, which Python's surrogateescape reads back as the byte.
 * Libraries refuse such names or change them; and none of those at hand keeps
 * the text of a value, or tells a text that is cut short from one that is
 * wrong. */
#ifndef CLI_JSON_JSON_H
#define CLI_JSON_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

/* ---- Reading ----
 *
 * Strictly: a text is one value and nothing else. Strings are bytes: the
 * surrogates U+DC80 to U+DCFF become those bytes again, and bytes in the text
 * stay as they are. NUL, which no name has, other lone surrogates, and two
 * members of one name are refused. */

/* Longer texts are refused: jobs and lines of manifests are far shorter. */
enum {
    JSON_SIZE_MAX = 1 << 20, /* bytes */
    JSON_VALUES_MAX = 4096,
    JSON_DEPTH_MAX = 32, /* of nested arrays and objects */
};

enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json_value {
    enum json_kind kind;
    unsigned span;      /* the number of values in it, and itself */
    const char *key;    /* its name in an object; elsewhere NULL */
    const char *string; /* the bytes of a string, the digits of a number */
    const char *raw;    /* where the value stands in the text, and */
    size_t raw_size;    /* its size there */
};

/* A text that was read. {0} is empty. It may be used for one text after
 * another, and holds the last. */
struct json_text {
    struct json_value
        *value; /* JSON_VALUES_MAX, each followed by those in it */
    unsigned count;
    struct bytes strings;
    bool cut; /* the text is wrong only because it ends too early */
};

/* Reads a text, which must exist as long as `raw` is used. Returns 0, or -1
 * with a reason that has the place, in bytes counted from 1. If only strings
 * are refused, or text follows the value, the value can be looked at all the
 * same: it has U+FFFD where a string was refused. */
int json_read(struct json_text *json, const char *text, size_t size,
              struct err *err);

/* Frees every value and string. Fine on {0}, and twice. */
void json_free(struct json_text *json);

/* Returns the value that the text is, or NULL if that is not known. */
const struct json_value *json_root(const struct json_text *json);

/* Return the first value in an array or object, and the one after `value`; NULL
 * if there is none. */
const struct json_value *json_first(const struct json_value *in);
const struct json_value *json_next(const struct json_value *in,
                                   const struct json_value *value);

/* Returns the member of this name; NULL if there is none, or `object` is not an
 * object. */
const struct json_value *json_find(const struct json_value *object,
                                   const char *key);

/* Each returns what a value is, or NULL or false if it is of another kind, or
 * NULL. An integer has neither point nor exponent and is at most 2^64 - 1; a
 * number is any that a double can be near to. */
const char *json_get_string(const struct json_value *value);
bool json_get_number(const struct json_value *value, double *number);
bool json_get_uint(const struct json_value *value, uint64_t *number);

/* ---- Writing to a stream, one value at a time ---- */

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
