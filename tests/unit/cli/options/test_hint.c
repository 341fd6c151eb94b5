/* Wrong values of options are reported, and the nearest word is suggested. */

#include "cli/options/parser.h"
#include "tests/support/test.h"

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

/* Letters are inserted, removed, replaced or exchanged, at most a third of
 * them, and those of either case are the same. */
TEST(choices)
{
    static const char *const names[] = { "format", "no-clobber", "in-place",
                                         "cpu", "cuda" };
    static const char *const pairs[][2] = {
        { "fromat", "format" },
        { "FORMAT", "format" },
        { "inplace", "in-place" },
        { "noclober", "no-clobber" },
        { "cudda", "cuda" },
        { "pcu", "cpu" },
        { "frmat", "format" },
        { "xyz", NULL },
        { "", NULL },
        { "gp", NULL },
        { "cp", NULL },
        { "formidable", NULL },
        { "foramtting-in-place-is-more-than-40-letters", NULL },
    };
    struct err err;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        char want[256];
        const char *like = pairs[i][1];
        snprintf(want, sizeof want,
                 "'%s' is not known; expected format, no-clobber, in-place, "
                 "cpu or cuda%s%s%s",
                 pairs[i][0], like ? "; did you mean '" : "", like ? like : "",
                 like ? "'?" : "");
        CHECK(hint_choice(pairs[i][0], names, COUNT(names), &err) == -1 &&
                  !strcmp(err.text, want),
              "%s", err.text);
    }
    CHECK(hint_choice("x", names, 1, &err) == -1 &&
              !strcmp(err.text, "'x' is not known; expected format"),
          "%s", err.text);
}
