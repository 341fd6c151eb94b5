/* Reads JSON (RFC 8259), strictly: one value in a text, no more.
 *
 * Strings are bytes, as names of files are: what json_write.h writes for a byte that
 * is not UTF-8, a lone surrogate from U+DC80 to U+DCFF, becomes that byte
 * again; bytes that stand in the text as they are stay so. Refused are NUL,
 * which no name holds, other lone surrogates, and two members of one name. */
#ifndef CLI_JSON_JSON_READ_H
#define CLI_JSON_JSON_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

/* A text with more is refused: jobs and lines of manifests have less by far. */
enum {
    JSON_SIZE_MAX = 1 << 20, /* in bytes */
    JSON_VALUES_MAX = 4096,
    JSON_DEPTH_MAX = 32, /* of arrays and objects within each other */
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
    unsigned span;      /* how many values it is, with all within it */
    const char *key;    /* its name in an object; NULL elsewhere */
    const char *string; /* what a string says; a number, as it is written */
    const char *raw;    /* the value as it stands in the text, */
    size_t raw_size;    /* to give it back as it was */
};

/* What was read. {0} is nothing; it may be used for one text after another, and
 * holds the last. */
struct json_text {
    struct json_value *value; /* each followed by what is within it */
    unsigned count, capacity;
    struct bytes strings;
    bool cut; /* what is wrong with the text is only that it ends: it is the
                 beginning of one that is right */
};

/* Reads a text, which must live as long as `raw` is looked at. The reason why
 * it cannot be read says where, counting bytes from 1. */
int json_read(struct json_text *json, const char *text, size_t size,
              struct err *err);

/* Frees all, with every value and string. Fine on {0}, and twice. */
void json_free(struct json_text *json);

/* The value that a text is; there is none if it could not be read. */
const struct json_value *json_root(const struct json_text *json);

/* The first value in an array or object, and the one after `value`; NULL if
 * there is none. */
const struct json_value *json_first(const struct json_value *in);
const struct json_value *json_next(const struct json_value *in,
                                   const struct json_value *value);

/* The member of this name; NULL if there is none, or `object` is none. */
const struct json_value *json_find(const struct json_value *object,
                                   const char *key);

/* What a value says, if it is of this kind; `value` may be NULL, which is of
 * none. An integer is written without point and exponent and is at most
 * 2^64 - 1; a number is any that a double comes near to. */
const char *json_get_string(const struct json_value *value); /* or NULL */
bool json_get_number(const struct json_value *value, double *number);
bool json_get_uint(const struct json_value *value, uint64_t *number);
bool json_get_bool(const struct json_value *value, bool *truth);

#endif
