/* Any bytes as JSON: the tree lies within its text, its strings survive writing
 * and reading, and a cut text is refused. */
#include <stdlib.h>
#include <string.h>

#include "cli/json/json.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/must.h"

static void write_and_read(const char *string)
{
    struct json_text json = { 0 };
    struct err err;
    char *text = NULL;
    size_t size = 0;
    struct json_writer out = { .out = open_memstream(&text, &size) };
    if (!out.out)
        return;
    json_string(&out, NULL, string);
    fclose(out.out);
    /* Six bytes for one may be more than is read. */
    if (size <= JSON_SIZE_MAX) {
        must(json_read(&json, text, size, &err) == 0);
        must(!strcmp(json_get_string(json_root(&json)), string));
    }
    json_free(&json);
    free(text);
}

static void walk(const struct json_value *value, const char *text, size_t size)
{
    must(value->raw >= text && value->raw_size > 0 &&
         value->raw_size <= size - (size_t)(value->raw - text));
    if (json_get_string(value))
        write_and_read(value->string);
    unsigned span = 1;
    for (const struct json_value *v = json_first(value); v;
         v = json_next(value, v)) {
        must(!v->key == (value->kind == JSON_ARRAY));
        must(!v->key || json_find(value, v->key) == v);
        walk(v, value->raw, value->raw_size);
        span += v->span;
    }
    must(span == value->span);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_text json = { 0 };
    struct err err;
    /* Of exactly its size, so that a byte behind it is found out. */
    owned_memory char *text = malloc(size + !size);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    bool sound = json_read(&json, text, size, &err) == 0;
    const struct json_value *root = json_root(&json);
    must(root || !sound);
    if (root) {
        enum json_kind kind = root->kind;
        size_t end = (size_t)(root->raw - text) + root->raw_size;
        walk(root, text, size);
        if (kind == JSON_OBJECT || kind == JSON_ARRAY) {
            size_t cut = end > 1 ? data[end / 2] * end / 256 : 0;
            must(json_read(&json, text, cut, &err) == -1 && json.cut);
        }
    }
    json_free(&json);
    return 0;
}
