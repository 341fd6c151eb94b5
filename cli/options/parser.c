/* One parser for the command lines of all commands: getopt_long(), driven by a
 * table, with messages of our own. */
#include "cli/options/parser.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/options/hint.h"

/* getopt's val of an option is its index in the table past all letters. */
enum { FIRST_OPTION = 256 };

/* A table as getopt_long() wants it. */
struct getopt_table {
    struct option longs[PARSER_OPTIONS + 1];
    char letters[2 * PARSER_OPTIONS + 2];
};

static bool value_is_optional(const struct parser_option *option)
{
    return option->value && option->value[0] == '[';
}

static const struct parser_option *option_of(const struct parser_table *table,
                                             int found)
{
    for (size_t i = 0; i < table->count; i++)
        if (found == FIRST_OPTION + (int)i ||
            (found && found == table->option[i].letter))
            return &table->option[i];
    return NULL;
}

/* Returns the word with one dash in which getopt has just found this letter. */
static const char *word_of_letter(int letter, char **argv)
{
    const char *current = argv[optind], *before = argv[optind - 1];
    bool is_current = current && current[0] == '-' && current[1] != '-' &&
                      strchr(current, letter);
    return is_current ? current : before;
}

/* Returns whether a word with one dash is a long option, as -dry-run, which is
 * not meant as -d ry-run. */
static bool is_long(const char *word, const struct option *longs)
{
    const size_t length = strcspn(++word, "=");
    while (longs->name && (strlen(longs->name) != length ||
                           strncmp(longs->name, word, length) != 0))
        longs++;
    return longs->name != NULL;
}

/* Says what is wrong with a word that getopt refused: optopt is the option, or
 * 0 if it is not known. */
static int refuse_word(const struct parser_table *table, int found, char **argv,
                       const struct option *longs, struct err *err)
{
    const struct parser_option *option = option_of(table, optopt);
    const char *word = argv[optind - 1];
    if (option && found == ':')
        return fail(err, "--%s: a value is missing; expected --%s %s (%s)",
                    option->name, option->name, option->value, option->help);
    if (option)
        return fail(err, "--%s: takes no value, but '%s' was given",
                    option->name, word + strcspn(word, "=") + 1);
    if (optopt)
        word = word_of_letter(optopt, argv);
    return hint_option(word, longs, err);
}

/* Returns whether a word, which is no file, would be a value of the option. */
static bool is_its_value(const struct parser_option *option, void *opts,
                         const char *word)
{
    struct err unheard;
    return word && !hint_is_file(word) &&
           option->set(option, (char *)opts + option->offset, word, &unheard) ==
               0;
}

int parser_read(const struct parser_table *table, void *opts, int argc,
                char **argv, struct parser_result *result, struct err *err)
{
    struct getopt_table getopts = { 0 };
    char *letter = getopts.letters;
    *letter++ = ':'; /* tell a missing value from an unknown option */
    for (size_t i = 0; i < table->count; i++) {
        const struct parser_option *option = &table->option[i];
        getopts.longs[i] = (struct option){
            .name = option->name,
            .has_arg = !option->value              ? no_argument
                       : value_is_optional(option) ? optional_argument
                                                   : required_argument,
            .val = FIRST_OPTION + (int)i,
        };
        if (option->letter) {
            *letter++ = option->letter;
            if (option->value)
                *letter++ = ':';
        }
    }
    int found;
    *result = (struct parser_result){ 0 };
    opterr = 0;
    optind = 0; /* getopt starts anew: this may not be the first command line */
    while ((found = getopt_long(argc, argv, getopts.letters, getopts.longs,
                                NULL)) != -1) {
        const struct parser_option *option = option_of(table, found);
        if (!option)
            return refuse_word(table, found, argv, getopts.longs, err);
        const char *word =
            found < FIRST_OPTION ? word_of_letter(found, argv) : NULL;
        if (word && optarg != argv[optind - 1] && is_long(word, getopts.longs))
            return hint_option(word, getopts.longs, err);
        if (value_is_optional(option) && !optarg &&
            is_its_value(option, opts, argv[optind]))
            return fail(err, "--%s: a value is joined by '=': --%s=%s",
                        option->name, option->name, argv[optind]);
        size_t i = (size_t)(option - table->option);
        struct err why;
        if (table->refusal && !(option->groups & table->allowed))
            return fail(err, "--%s: %s", option->name, table->refusal);
        result->given |= UINT64_C(1) << i;
        result->value[i] = optarg;
        if (option->set(option, (char *)opts + option->offset, optarg, &why))
            return fail(err, "--%s: %s", option->name, why.text);
    }
    result->first = optind;
    return 0;
}

void parser_help(const struct parser_table *table, unsigned groups)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct parser_option *option = &table->option[i];
        const char *value = option->value ? option->value : "";
        char name[40];
        if (!(option->groups & groups))
            continue;
        snprintf(name, sizeof name, "%s%s%s", option->name,
                 *value && *value != '[' ? " " : "", value);
        if (option->letter)
            printf("  -%c, --%-20s %s\n", option->letter, name, option->help);
        else
            printf("      --%-20s %s\n", name, option->help);
    }
}
