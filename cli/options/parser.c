/* One parser for the command lines of all commands: it obeys the rules of
 * getopt_long(), by a table, with messages of our own. */
#include "cli/options/parser.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What is known while a command line is read. */
struct parser_state {
    const struct parser_table *table;
    void *opts;
    struct parser_result *result;
    struct err *err;
    char **argv;
    int argc, at; /* the word that is looked at */
};

/* Sets an option to the value that its word has, or for NULL to the next word
 * if it takes a value. */
static int set(struct parser_state *p, const struct parser_option *option,
               const char *value)
{
    const size_t i = (size_t)(option - p->table->option);
    const char *next = p->at + 1 < p->argc ? p->argv[p->at + 1] : NULL;
    void *field = (char *)p->opts + option->offset;
    struct err why;
    if (value && !option->value)
        return fail(p->err, "--%s: takes no value, but '%s' was given",
                    option->name, value);
    if (!value && option->value && *option->value == '[') {
        if (next && !hint_is_file(next) &&
            option->set(option, field, next, &why) == 0)
            return fail(p->err, "--%s: a value is joined by '=': --%s=%s",
                        option->name, option->name, next);
    } else if (!value && option->value) {
        if (!next)
            return fail(
                p->err, "--%s: a value is missing; expected --%s %s (%s)",
                option->name, option->name, option->value, option->help);
        value = next;
        p->at++;
    }
    if (p->table->refusal && !(option->groups & p->table->allowed))
        return fail(p->err, "--%s: %s", option->name, p->table->refusal);
    p->result->given |= UINT64_C(1) << i;
    p->result->value[i] = value;
    return option->set(option, field, value, &why)
               ? fail(p->err, "--%s: %s", option->name, why.text)
               : 0;
}

/* Reads a word that begins with a dash. Of a long option the first letters do,
 * unless several begin so. One with one dash, as -dry-run or jpegtran's
 * -outfile, is not meant as -d ry-run or -o utfile. */
static int read_word(struct parser_state *p, const char *word)
{
    const struct parser_table *table = p->table;
    const bool is_long = word[1] == '-';
    const char *name = word + 1 + is_long;
    const size_t length = strcspn(name, "=");
    const struct parser_option *option = NULL;
    bool whole = false;
    for (size_t i = 0, begin = 0; i < table->count && !whole; i++) {
        const struct parser_option *one = &table->option[i];
        if (strncmp(one->name, name, length) != 0)
            continue;
        whole = !one->name[length];
        option = begin++ && !whole ? NULL : one;
    }
    if (is_long ? !option : whole || hint_said_of(name))
        return hint_option(word, table, p->err);
    if (is_long)
        return set(p, option, name[length] ? name + length + 1 : NULL);
    for (; *name; name++) {
        size_t i = 0;
        while (i < table->count && table->option[i].letter != *name)
            i++;
        if (i == table->count)
            return hint_option(word, table, p->err);
        const bool joined = table->option[i].value && name[1];
        if (set(p, &table->option[i], joined ? name + 1 : NULL))
            return -1;
        if (joined)
            break;
    }
    return 0;
}

int parser_read(const struct parser_table *table, void *opts, int argc,
                char **argv, struct parser_result *result, struct err *err)
{
    struct parser_state p = { table, opts, result, err, argv, argc, 1 };
    *result = (struct parser_result){ .first = 1 };
    for (bool ended = false; p.at < argc && !ended; p.at++) {
        char *moved[2] = { argv[p.at] };
        const int from = p.at;
        if (moved[0][0] != '-' || !moved[0][1])
            continue;
        ended = strcmp(moved[0], "--") == 0;
        if (!ended && read_word(&p, moved[0]))
            return -1;
        /* Behind the other options, before the words that are none. */
        const size_t n = (size_t)(p.at + 1 - from);
        moved[1] = argv[p.at];
        memmove(argv + result->first + n, argv + result->first,
                (size_t)(from - result->first) * sizeof *argv);
        memcpy(argv + result->first, moved, n * sizeof *argv);
        result->first += (int)n;
    }
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
