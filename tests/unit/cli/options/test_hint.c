/* The edit distance agrees with its definition, the nearest word is suggested,
 * and wrong values of options are reported. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/hint.h"
#include "cli/options/parser.h"
#include "tests/support/test.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Distances ------------------------------------------------------------*/

static const struct {
    const char *a, *b;
    unsigned distance;
} distances[] = {
    { "", "", 0 },         { "", "abc", 3 },
    { "trim", "trim", 0 }, { "TRIM", "trim", 0 },
    { "trin", "trim", 1 }, { "fromat", "format", 1 },
    { "cpuu", "cpu", 1 },  { "pcu", "cpu", 1 },
    { "abcd", "badc", 2 }, { "kitten", "sitting", 3 },
    { "ca", "abc", 3 },
};

/* By its definition: the least over all ways to begin. */
static unsigned slow(const char *a, const char *b)
{
    if (!*a || !*b)
        return (unsigned)(strlen(a) + strlen(b));
    unsigned least = slow(a + 1, b + 1) + (*a != *b);
    unsigned without_a = slow(a + 1, b) + 1, without_b = slow(a, b + 1) + 1;
    least = without_a < least ? without_a : least;
    least = without_b < least ? without_b : least;
    if (a[1] && b[1] && a[0] == b[1] && a[1] == b[0]) {
        unsigned exchanged = slow(a + 2, b + 2) + 1;
        least = exchanged < least ? exchanged : least;
    }
    return least;
}

static void random_word(char word[8], uint64_t *state)
{
    size_t n = test_random(state) % 7;
    for (size_t i = 0; i < n; i++)
        word[i] = (char)('a' + test_random(state) % 3);
    word[n] = '\0';
}

TEST(distances)
{
    uint64_t state = 1;
    char a[8], b[8], long_word[64];
    for (size_t i = 0; i < COUNT(distances); i++) {
        unsigned d = hint_distance(distances[i].a, distances[i].b);
        CHECK(d == distances[i].distance, "%s %s: %u", distances[i].a,
              distances[i].b, d);
    }
    for (int i = 0; i < 2000; i++) {
        random_word(a, &state);
        random_word(b, &state);
        CHECK(hint_distance(a, b) == slow(a, b), "%s %s", a, b);
    }
    memset(long_word, 'x', 63);
    long_word[41] = '\0';
    CHECK(hint_distance(long_word, "x") == HINT_FAR, "41 letters");
    long_word[40] = '\0';
    CHECK(hint_distance(long_word, "x") == 39, "40 letters");
}

TEST(nearest)
{
    static const char *const words[] = { "format", "no-clobber", "in-place",
                                         "cpu", "cuda" };
    static const char *const pairs[][2] = {
        { "fromat", "format" },
        { "FORMAT", "format" },
        { "inplace", "in-place" },
        { "noclober", "no-clobber" },
        { "cudda", "cuda" },
        { "xyz", NULL },
        { "", NULL },
        { "gp", NULL },
        { "cp", NULL },
        { "formidable", NULL },
    };
    for (size_t i = 0; i < COUNT(pairs); i++) {
        const char *got = hint_nearest(pairs[i][0], words, COUNT(words));
        const char *want = pairs[i][1];
        CHECK(want ? got && strcmp(got, want) == 0 : !got, "%s: %s",
              pairs[i][0], got ? got : "none");
    }
}

/* ---- Values ---------------------------------------------------------------*/

static const struct {
    const char *text;
    int value; /* 0: it is refused */
    const char *why;
} numbers[] = {
    { "1", 1, NULL },
    { "100", 100, NULL },
    { "007", 7, NULL },
    { "0", 0, "0 is out of range; expected 1 to 100" },
    { "101", 0, "101 is out of range; expected 1 to 100" },
    { "-5", 0, "-5 is out of range; expected 1 to 100" },
    { "99999999999999999999", 0,
      "99999999999999999999 is out of range; expected 1 to 100" },
    { "", 0, "'' is not a number; expected 1 to 100" },
    { "-", 0, "'-' is not a number; expected 1 to 100" },
    { "x", 0, "'x' is not a number; expected 1 to 100" },
    { " 9", 0, "' 9' is not a number; expected 1 to 100" },
    { "+9", 0, "'+9' is not a number; expected 1 to 100" },
    { "9%", 0, "'9%' is not a number; expected 1 to 100" },
};

#define NOT_AMOUNT                                                             \
    " is not a number; expected one as 500000, or with K, M or G as 500M"
#define NO_AMOUNT " is out of range; expected 1 or more, and less than 2^64"
static const struct {
    const char *text;
    uint64_t value;
    const char *why;
} amounts[] = {
    { "1", 1, NULL },
    { "3k", 3000, NULL },
    { "500M", 500000000, NULL },
    { "18446744073709551615", UINT64_MAX, NULL },
    { "18446744073G", UINT64_C(18446744073000000000), NULL },
    { "0", 0, "0" NO_AMOUNT },
    { "0K", 0, "0K" NO_AMOUNT },
    { "18446744073709551616", 0, "18446744073709551616" NO_AMOUNT },
    { "18446744074G", 0, "18446744074G" NO_AMOUNT },
    { "12Q", 0, "'12Q'" NOT_AMOUNT },
    { "12KB", 0, "'12KB'" NOT_AMOUNT },
    { "1 ", 0, "'1 '" NOT_AMOUNT },
    { "-1", 0, "'-1'" NOT_AMOUNT },
    { "", 0, "''" NOT_AMOUNT },
    { "K", 0, "'K'" NOT_AMOUNT },
};

TEST(numbers)
{
    const struct parser_option percent = { .least = 1, .most = 100 };
    const struct parser_option thousands = { .least = 1000 };
    struct err err;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        int value = 0, status;
        status = setters_number(&percent, &value, numbers[i].text, &err);
        CHECK(numbers[i].why ? status && !strcmp(err.text, numbers[i].why)
                             : !status && value == numbers[i].value,
              "%s: %d, %s", numbers[i].text, value, status ? err.text : "");
    }
    for (size_t i = 0; i < COUNT(amounts); i++) {
        uint64_t value = 0;
        int status = setters_amount(&thousands, &value, amounts[i].text, &err);
        CHECK(amounts[i].why ? status && !strcmp(err.text, amounts[i].why)
                             : !status && value == amounts[i].value,
              "%s: %s", amounts[i].text, status ? err.text : "");
    }
}

TEST(choices)
{
    static const char *const names[] = { "auto", "cpu", "cuda" };
    struct err err;
    CHECK(hint_choice("Cuda", names, 3, &err) == -1 &&
              !strcmp(err.text, "'Cuda' is not known; expected auto, cpu or "
                                "cuda; did you mean 'cuda'?"),
          "%s", err.text);
    CHECK(hint_choice("opencl", names, 2, &err) == -1 &&
              !strcmp(err.text, "'opencl' is not known; expected auto or cpu"),
          "%s", err.text);
    CHECK(hint_choice("x", names, 1, &err) == -1 &&
              !strcmp(err.text, "'x' is not known; expected auto"),
          "%s", err.text);
}
