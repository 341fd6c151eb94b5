/* Reads and writes JSON. */
#include "cli/json/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/base/bytes.h"

struct json_parser {
    const char *start, *at, *end;
    unsigned depth;
    struct json_text *json;
    struct err *err;
    struct err fault; /* the first after which reading goes on; or "" */
};

/* Fails because of what is `at` a place. At the end of the text, the only fault
 * is that it ends. */
static int fail_at(struct json_parser *p, const char *at, const char *what)
{
    p->json->cut = at == p->end;
    if (p->json->cut)
        return fail(p->err, "the JSON ends too early, after %zu bytes",
                    (size_t)(at - p->start));
    return fail(p->err, "%s at byte %zu", what, (size_t)(at - p->start) + 1);
}

/* Notes what makes the text unfit, though its values can be told. */
static void note_fault(struct json_parser *p, const char *at, const char *what)
{
    if (!*p->fault.text)
        fail(&p->fault, "%s at byte %zu", what, (size_t)(at - p->start) + 1);
}

/* Goes behind this character if it is next. */
static bool take(struct json_parser *p, char c)
{
    const bool is_next = p->at < p->end && *p->at == c;
    p->at += is_next;
    return is_next;
}

static void skip_space(struct json_parser *p)
{
    while (p->at < p->end && *p->at && strchr(" \t\r\n", *p->at))
        p->at++;
}

/* ---- Strings ----------------------------------------------------------- */

/* There is room for all strings: none is longer than in the text, where its
 * quotes, or the byte after a number, make up for the NUL at its end. */
static void put(struct json_parser *p, uint8_t c)
{
    p->json->strings.data[p->json->strings.size++] = c;
}

static char *string_here(const struct json_parser *p)
{
    return (char *)p->json->strings.data + p->json->strings.size;
}

/* Reads "\uABCD", a unit of UTF-16, whose backslash is next. */
static int read_unit(struct json_parser *p, uint32_t *unit)
{
    *unit = 0;
    p->at += 2;
    for (int i = 0; i < 4; i++, p->at++) {
        static const char digits[] = "0123456789abcdef";
        int c = p->at < p->end ? (uint8_t)*p->at : 0;
        const char *digit = strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c);
        if (!c || !digit)
            return fail_at(p, p->at, "expected a hexadecimal digit");
        *unit = *unit << 4 | (uint32_t)(digit - digits);
    }
    return 0;
}

static int read_escape(struct json_parser *p)
{
    static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    static const uint8_t lead[] = { 0, 0xc0, 0xe0, 0xf0 };
    if (p->at + 1 == p->end)
        return fail_at(p, p->end, "an unknown escape");
    const char *letter = p->at[1] ? strchr(letters, p->at[1]) : NULL;
    if (letter) {
        put(p, (uint8_t)means[letter - letters]);
        p->at += 2;
        return 0;
    }
    if (p->at[1] != 'u')
        return fail_at(p, p->at, "an unknown escape");
    const char *start = p->at;
    uint32_t c, low = 0;
    if (read_unit(p, &c))
        return -1;
    if (c >= 0xdc80 && c <= 0xdcff) {
        put(p, c & 0xff);
        return 0;
    }
    if (c >= 0xd800 && c <= 0xdbff && p->end - p->at >= 2 && p->at[0] == '\\' &&
        p->at[1] == 'u') {
        const char *second = p->at;
        if (read_unit(p, &low))
            return -1;
        if (low >= 0xdc00 && low <= 0xdfff)
            c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
        else
            p->at = second; /* a character of its own */
    }
    /* U+FFFD stands for what no string has. */
    const bool half = c >= 0xd800 && c <= 0xdfff;
    if (c == 0 || half) {
        note_fault(p, start,
                   half ? "half a surrogate pair" : "NUL, which no name has,");
        c = 0xfffd;
    }
    unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    put(p, (uint8_t)(lead[more] | c >> (6 * more)));
    while (more--)
        put(p, 0x80 | (c >> (6 * more) & 0x3f));
    return 0;
}

static int read_string(struct json_parser *p, const char **string)
{
    *string = string_here(p);
    p->at++;
    while (!take(p, '"')) {
        if (p->at == p->end || (uint8_t)*p->at < 0x20)
            return fail_at(p, p->at, "a control character in a string");
        if (*p->at != '\\')
            put(p, (uint8_t)*p->at++);
        else if (read_escape(p))
            return -1;
    }
    put(p, '\0');
    return 0;
}

/* ---- Other values ------------------------------------------------------ */

static int read_digits(struct json_parser *p)
{
    const char *start = p->at;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
        p->at++;
    return p->at > start ? 0 : fail_at(p, p->at, "expected a digit");
}

static int read_number(struct json_parser *p, const char **string)
{
    const char *start = p->at;
    take(p, '-');
    if ((!take(p, '0') && read_digits(p)) || (take(p, '.') && read_digits(p)))
        return -1;
    if (take(p, 'e') || take(p, 'E')) {
        if (!take(p, '+'))
            take(p, '-');
        if (read_digits(p))
            return -1;
    }
    *string = string_here(p);
    while (start < p->at)
        put(p, (uint8_t)*start++);
    put(p, '\0');
    return 0;
}

static int read_value(struct json_parser *p, const char *key);

/* Reads an array or object, the value of this index, whose bracket is next. */
static int read_within(struct json_parser *p, unsigned i, bool object)
{
    const char closing = object ? '}' : ']';
    if (++p->depth > JSON_DEPTH_MAX)
        return fail_at(p, p->at, "too deeply nested values");
    p->at++;
    skip_space(p);
    for (bool first = true; !take(p, closing); first = false) {
        struct json_value *in = &p->json->value[i];
        const char *key = NULL;
        if (!first && !take(p, ','))
            return fail_at(p, p->at,
                           object ? "expected ',' or '}'"
                                  : "expected ',' or ']'");
        if (!first)
            skip_space(p);
        const char *start = p->at;
        if (object && (p->at == p->end || *p->at != '"'))
            return fail_at(p, p->at, "expected the name of a member");
        if (object && read_string(p, &key))
            return -1;
        /* The members that were read so far are all of it. */
        in->span = p->json->count - i;
        if (object && json_find(in, key))
            return fail_at(p, start, "a repeated name");
        if (object)
            skip_space(p);
        if (object && !take(p, ':'))
            return fail_at(p, p->at, "expected ':'");
        if (read_value(p, key))
            return -1;
        skip_space(p);
    }
    p->depth--;
    return 0;
}

static int read_value(struct json_parser *p, const char *key)
{
    static const char *const words[] = {
        [JSON_NULL] = "null", [JSON_FALSE] = "false", [JSON_TRUE] = "true"
    };
    unsigned i = p->json->count;
    struct json_value *value = &p->json->value[i];
    int status = 0;
    if (i == JSON_VALUES_MAX)
        return fail(p->err, "the JSON has more than %d values",
                    (int)JSON_VALUES_MAX);
    skip_space(p);
    *value = (struct json_value){ .key = key, .raw = p->at };
    p->json->count++;
    const char c = p->at < p->end ? *p->at : '\0';
    if (c == '{' || c == '[') {
        value->kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        status = read_within(p, i, c == '{');
    } else if (c == '"') {
        value->kind = JSON_STRING;
        status = read_string(p, &value->string);
    } else if (c == 't' || c == 'f' || c == 'n') {
        value->kind = c == 't' ? JSON_TRUE : c == 'f' ? JSON_FALSE : JSON_NULL;
        for (const char *word = words[value->kind]; *word; word++)
            if (!take(p, *word))
                return fail_at(p, p->at, "expected true, false or null");
    } else {
        value->kind = JSON_NUMBER;
        status = c == '-' || (c >= '0' && c <= '9')
                     ? read_number(p, &value->string)
                     : fail_at(p, p->at, "expected a value");
    }
    value->span = p->json->count - i;
    value->raw_size = (size_t)(p->at - value->raw);
    return status;
}

int json_read(struct json_text *json, const char *text, size_t size,
              struct err *err)
{
    struct json_parser p = {
        .start = text, .at = text, .end = text + size, .json = json, .err = err
    };
    json->count = 0;
    json->strings.size = 0;
    json->cut = false;
    if (size > JSON_SIZE_MAX)
        return fail(err, "the JSON has more than %d bytes", (int)JSON_SIZE_MAX);
    if (!json->value)
        json->value = malloc(JSON_VALUES_MAX * sizeof *json->value);
    /* One more byte ends a text that is a number. */
    if (!json->value || !bytes_reserve(&json->strings, size + 1))
        return fail(err, "no memory for the JSON");
    if (read_value(&p, NULL)) {
        json->count = 0;
        return -1;
    }
    skip_space(&p);
    if (p.at < p.end)
        note_fault(&p, p.at, "text after the value");
    if (!*p.fault.text)
        return 0;
    *err = p.fault;
    return -1;
}

void json_free(struct json_text *json)
{
    bytes_free(&json->strings);
    free(json->value);
    *json = (struct json_text){ 0 };
}

/* ---- Values -------------------------------------------------------------- */

const struct json_value *json_root(const struct json_text *json)
{
    return json->count ? json->value : NULL;
}

const struct json_value *json_first(const struct json_value *in)
{
    return in && in->span > 1 ? in + 1 : NULL;
}

const struct json_value *json_next(const struct json_value *in,
                                   const struct json_value *value)
{
    value += value->span;
    return value < in + in->span ? value : NULL;
}

const struct json_value *json_find(const struct json_value *object,
                                   const char *key)
{
    if (!object || object->kind != JSON_OBJECT)
        return NULL;
    const struct json_value *value = json_first(object);
    while (value && strcmp(value->key, key) != 0)
        value = json_next(object, value);
    return value;
}

const char *json_get_string(const struct json_value *value)
{
    return value && value->kind == JSON_STRING ? value->string : NULL;
}

bool json_get_number(const struct json_value *value, double *number)
{
    if (!value || value->kind != JSON_NUMBER)
        return false;
    *number = strtod(value->string, NULL);
    return isfinite(*number);
}

bool json_get_uint(const struct json_value *value, uint64_t *number)
{
    if (!value || value->kind != JSON_NUMBER ||
        value->string[strspn(value->string, "0123456789")])
        return false;
    errno = 0;
    *number = strtoull(value->string, NULL, 10);
    return errno == 0;
}

/* ---- Writing ------------------------------------------------------------ */

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
