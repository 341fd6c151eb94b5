/* The JSON reader accepts what RFC 8259 allows and refuses all else at the
 * right place; strings of any bytes survive writing and reading. */

#include "cli/json/json.h"
#include "tests/support/test.h"

#define owned_json __attribute__((cleanup(json_free))) struct json_text

/* ---- What is read ---------------------------------------------------------*/

/* A text and the string that it is, or NULL where it is something else. */
static const struct {
    const char *text, *string;
} good[] = {
    { "null", NULL },
    { " \t\r\n[ ] \n", NULL },
    { "{}", NULL },
    { "{ \"a\" : 1 , \"b\" : [ true , false , { } ] }", NULL },
    { "0", NULL },
    { "-0.0e-00", NULL },
    { "10E+2", NULL },
    { "\"\"", "" },
    { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t" },
    { "\"\\u0041\\u00e9\\u20AC\\uD83D\\ude00\"", "A\xc3\xa9\u20ac\U0001F600" },
    { "\"\\udbff\\udfff\\ud800\\udc80\"", "\U0010FFFF\U00010080" },
    { "\"\\uffff\\u0001\\u007f\\u0080\\u07ff\\u0800\"",
      "\xef\xbf\xbf\x01\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80" },
    { "\"\\udc80a\\udcff\\uDCC3\"", "\200a\xff\xc3" },
    { "\"\x7f\x80\xff\xed\xa0\x80\"", "\x7f\x80\xff\xed\xa0\x80" },
};

/* What is wrong, at which byte, or 0: that it ends; and the texts. */
static const struct {
    const char *why;
    unsigned at;
    const char *texts[12];
} bad[] = {
    { "",
      0,
      { "", "  ", "{", "{\"a\"", "[1,", "tru", "-", "[1.", "\"\\",
        "\"\\ud83d\\ude0", "\"a" } },
    { "expected a value",
      1,
      { "x", "\xef\xbb\xbf{}", "\v1", "True", "+1", ".5", "NaN", "'a'" } },
    { "expected true", 4, { "trux", "nulL" } },
    { "after the value", 2, { "01", "0x10" } },
    { "expected a digit", 2, { "-a" } },
    { "expected a digit", 3, { "1.e1" } },
    { "expected a digit", 4, { "1e+x" } },
    { "after the value", 3, { "1 2" } },
    { "after the value", 4, { "{} x" } },
    { "expected a value", 4, { "[1,]" } },
    { "expected a value", 2, { "[,1]" } },
    { "expected ',' or ']'", 4, { "[1 2]" } },
    { "expected ',' or ']'", 3, { "[1}" } },
    { "expected ',' or '}'", 7, { "{\"a\":1]" } },
    { "expected the name", 8, { "{\"a\":1,}" } },
    { "expected the name", 2, { "{,}", "{a:1}", "{1:1}" } },
    { "expected ':'", 6, { "{\"a\" 1}" } },
    { "expected a value", 6, { "{\"a\":}" } },
    { "repeated name", 14, { "{\"a\":1,\"b\":2,\"a\":3}" } },
    { "repeated name", 20, { "{\"a\":{\"b\":1,\"a\":1},\"\\u0061\":3}" } },
    { "expected ','", 7, { "{\"a\":1/**/}" } },
    { "control character", 3, { "\"a\nb\"" } },
    { "control character", 2, { "\"\x1f\"" } },
    { "unknown escape", 2, { "\"\\x41\"", "\"\\U0041\"" } },
    { "hexadecimal", 6, { "\"\\u00g1\"" } },
    { "hexadecimal", 7, { "\"\\u004\"" } },
    { "NUL", 3, { "\"a\\u0000\"" } },
    { "half a",
      2,
      { "\"\\ud83d\"", "\"\\ud83d\\n\"", "\"\\ud83d\\ud83d\"",
        "\"\\ud83d\\u0041\"", "\"\\udc7f\"", "\"\\udc00\"", "\"\\udd00\"",
        "\"\\udfff\"" } },
    { "too early", 0, { "\"\\ud83d\\", "\"\\ud83d\\u" } },
    { "hexadecimal", 12, { "\"\\ud83d\\u00g0\"" } },
};

TEST(good)
{
    owned_json json = { 0 };
    struct err err = { .text = "" };
    for (size_t i = 0; i < COUNT(good); i++) {
        const char *text = good[i].text;
        int status = json_read(&json, text, strlen(text), &err);
        const char *string = json_get_string(json_root(&json));
        CHECK(status == 0, "%s: %s", text, err.text);
        CHECK(!string == !good[i].string, "%s", text);
        if (string && good[i].string)
            CHECK(!strcmp(string, good[i].string), "%s: %s", text, string);
    }
    json_free(&json); /* and once more */
}

static void check_bad(const char *text, const char *why, unsigned where)
{
    owned_json json = { 0 };
    char at[40];
    struct err err = { .text = "" };
    int status = json_read(&json, text, strlen(text), &err);
    snprintf(at, sizeof at, where ? " at byte %u" : ", after %u bytes",
             where ? where : (unsigned)strlen(text));
    CHECK(status == -1, "%s", text);
    CHECK(json.cut == !where, "%s", text);
    CHECK(strstr(err.text, why), "%s: %s", text, err.text);
    CHECK(strlen(err.text) > strlen(at) &&
              !strcmp(err.text + strlen(err.text) - strlen(at), at),
          "%s: %s", text, err.text);
}

TEST(bad)
{
    for (size_t i = 0; i < COUNT(bad); i++)
        for (size_t k = 0; k < COUNT(bad[i].texts) && bad[i].texts[k]; k++)
            check_bad(bad[i].texts[k], bad[i].why, bad[i].at);
}

/* What is refused for a string, or for what follows, can be looked at. */
TEST(refused)
{
    static const struct {
        const char *text, *name; /* NULL: the text has no values */
    } texts[] = {
        { "{\"a\":\"\\u0000\",\"id\":7}", "\xef\xbf\xbd" },
        { "{\"a\":\"x\\ud800y\",\"id\":7}", "x\xef\xbf\xbdy" },
        { "{\"a\":\"\\ud800\\u0041\",\"id\":7}", "\xef\xbf\275A" },
        { "{\"a\":\"\\ud800\\ud83d\\ude00\",\"id\":7}",
          "\xef\xbf\xbd\xf0\x9f\x98\x80" },
        { "{\"id\":7,\"a\":\"x\"} {", "x" },
        { "{\"id\":7,\"a\":\"\\u0000\"", NULL },
    };
    owned_json json = { 0 };
    for (size_t i = 0; i < COUNT(texts); i++) {
        const char *text = texts[i].text, *name = texts[i].name;
        struct err err;
        uint64_t id = 0;
        CHECK(json_read(&json, text, strlen(text), &err) == -1, "%s", text);
        const struct json_value *root = json_root(&json);
        CHECK(!root == !name, "%s", text);
        if (!root || !name)
            continue;
        const char *a = json_get_string(json_find(root, "a"));
        CHECK(a && !strcmp(a, name), "%s: %s", text, a);
        CHECK(json_get_uint(json_find(root, "id"), &id) && id == 7, "%s", text);
    }
}

TEST(nul)
{
    static const char text[] = "[1]\0";
    owned_json json = { 0 };
    struct err err;
    CHECK(json_read(&json, text, 3, &err) == 0, "without the NUL");
    CHECK(json_read(&json, text, 4, &err) == -1 && !json.cut, "a NUL behind");
}

/* ---- Limits ---------------------------------------------------------------*/

/* `count` times a text, between two others. */
static char *repeat(const char *before, const char *text, size_t count,
                    const char *after)
{
    size_t n = strlen(text);
    char *all = malloc(strlen(before) + n * count + strlen(after) + 1);
    must(all);
    char *at = stpcpy(all, before);
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, text);
    strcpy(at, after);
    return all;
}

static void limit(char *text, const char *why)
{
    owned_json json = { 0 };
    struct err err = { .text = "" };
    int status = json_read(&json, text, strlen(text), &err);
    if (why)
        CHECK(status == -1 && strstr(err.text, why), "%s", err.text);
    else
        CHECK(status == 0, "%s", err.text);
    free(text);
}

TEST(limits)
{
    char *deep = repeat("1", "]", JSON_DEPTH_MAX, "");
    limit(repeat("", "[", JSON_DEPTH_MAX, deep), NULL);
    limit(repeat("[", "[", JSON_DEPTH_MAX, deep), "too deep");
    free(deep);
    limit(repeat("", "[", 100000, ""), "too deep");
    limit(repeat("[", "[],", 1000, "{}]"), NULL);
    limit(repeat("[", "1,", JSON_VALUES_MAX - 2, "1]"), NULL);
    limit(repeat("[", "1,", JSON_VALUES_MAX - 1, "1]"), "4096 values");
    limit(repeat("\"", "a", JSON_SIZE_MAX - 2, "\""), NULL);
    limit(repeat("\"", "a", JSON_SIZE_MAX - 1, "\""), "1048576 bytes");
    limit(repeat("", "1", JSON_SIZE_MAX, ""), NULL);
}

/* ---- What is in it --------------------------------------------------------*/

static const char job[] =
    " {\"id\": [7,  \"x\"], \"input\": \"a.png\", \"options\": {\"quality\": "
    "90,"
    " \"strip\": true, \"edge\": \"trim\", \"keep\": false}, \"big\":"
    " 18446744073709551615, \"more\": 18446744073709551616, \"half\": -0.5,"
    " \"huge\": 1e999, \"one\": 1.0, \"nothing\": null, \"\": 3}";

TEST(tree)
{
    owned_json json = { 0 };
    struct err err;
    uint64_t n = 0;
    double d = 0;
    CHECK(json_read(&json, job, sizeof job - 1, &err) == 0, "%s", err.text);
    const struct json_value *root = json_root(&json);
    const struct json_value *id = json_find(root, "id");
    const struct json_value *options = json_find(root, "options");
    CHECK(root->raw == job + 1 && root->raw_size == sizeof job - 2, "raw");
    CHECK(id->raw_size == 9 && !memcmp(id->raw, "[7,  \"x\"]", 9), "id");
    CHECK(!strcmp(json_get_string(json_find(root, "input")), "a.png"), "input");
    CHECK(json_get_uint(json_find(options, "quality"), &n) && n == 90, "90");
    CHECK(json_find(options, "strip")->kind == JSON_TRUE, "true");
    CHECK(json_find(options, "keep")->kind == JSON_FALSE, "false");
    CHECK(!json_find(root, "quality"), "a member of a member");
    CHECK(!json_find(root, "None") && !json_find(id, "id"), "none");
    CHECK(json_get_uint(json_find(root, "big"), &n) && n == UINT64_MAX, "big");
    CHECK(!json_get_uint(json_find(root, "more"), &n), "more");
    CHECK(json_get_number(json_find(root, "more"), &d) && d == 0x1p64, "more");
    CHECK(json_get_number(json_find(root, "half"), &d) && d == -0.5, "half");
    CHECK(!json_get_uint(json_find(root, "half"), &n), "half");
    CHECK(!json_get_number(json_find(root, "huge"), &d), "huge");
    CHECK(!json_get_uint(json_find(root, "one"), &n), "one");
    CHECK(json_get_uint(json_find(root, ""), &n) && n == 3, "empty name");
    CHECK(json_find(root, "nothing")->kind == JSON_NULL, "null");
    CHECK(!json_get_string(NULL) && !json_get_number(NULL, &d) &&
              !json_get_uint(NULL, &n) && !json_find(NULL, "a") &&
              !json_first(NULL),
          "of nothing");
    CHECK(!json_get_string(id), "of an array");

    unsigned members = 0, elements = 0;
    for (const struct json_value *v = json_first(root); v;
         v = json_next(root, v))
        members += v->key != NULL;
    for (const struct json_value *v = json_first(id); v; v = json_next(id, v))
        elements += v->key == NULL;
    CHECK(members == 10 && elements == 2, "%u, %u", members, elements);
}

/* Every prefix of an object is recognized as cut, not as wrong. */
TEST(cut)
{
    owned_json json = { 0 };
    struct err err;
    for (size_t size = 0; size < sizeof job - 1; size++)
        CHECK(json_read(&json, job, size, &err) == -1 && json.cut, "%zu: %s",
              size, err.text);
}

/* ---- What json_write.c writes ---------------------------------------------*/

/* Bytes of which many are parts of UTF-8, quotes and controls. */
static void random_bytes(char *bytes, unsigned size, uint64_t *state)
{
    static const char likely[] = "\"\\/\n\t\x01\x7f\x80\xbf\xc2\xe2\x82\xac\xed"
                                 "\xa0\xf0\x9f\x98\x80\xff\xdc u";
    for (unsigned i = 0; i < size; i++) {
        uint64_t n = test_random(state) >> 32;
        bytes[i] = n & 1 ? likely[n / 2 % (sizeof likely - 1)]
                         : (char)(1 + n / 2 % 255);
    }
    bytes[size] = '\0';
}

TEST(round_trip)
{
    owned_json json = { 0 };
    uint64_t state = 1;
    for (unsigned i = 0; i < 20000; i++) {
        char name[41], key[41], *text = NULL;
        uint64_t number = test_random(&state) >> i % 64, n = 0;
        size_t size = 0;
        struct err err = { .text = "" };
        random_bytes(name, (unsigned)(test_random(&state) >> 32) % 41, &state);
        random_bytes(key, (unsigned)(test_random(&state) >> 32) % 40, &state);
        strcat(key, "!"); /* not the other one */
        struct json_writer out = { .out = open_memstream(&text, &size) };
        must(out.out);
        json_open(&out, NULL, '{');
        json_string(&out, key, name);
        json_uint(&out, "n", number);
        json_close(&out, '}');
        fclose(out.out);
        bool read = json_read(&json, text, size, &err) == 0;
        const struct json_value *root = json_root(&json);
        const char *back = json_get_string(json_find(root, key));
        if (!read || !back || strcmp(back, name) ||
            !json_get_uint(json_find(root, "n"), &n) || n != number)
            CHECK(false, "%s: %s", text, err.text);
        free(text);
    }
    CHECK(true, "all came back");
}
