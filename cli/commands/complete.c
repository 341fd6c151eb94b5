/* What a shell offers on the command line: the options are those of the tables
 * that are parsed. The files in man/ ask this, and show it. */
#include "cli/commands/commands.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "cli/options/hint.h"
#include "cli/options/option_table.h"

/* The word at the cursor. */
struct completion {
    const char *typed;
    int lead; /* bytes of it that are "--option=", */
    int list; /* and of the values before the last comma behind them */
};

/* Offers a word, if it begins as what was typed. */
static void offer(const struct completion *c, const char *word,
                  const char *what)
{
    const char *last = c->typed + c->lead + c->list;
    if (strncmp(word, last, strlen(last)) == 0)
        printf("%.*s%s\t%s\n", c->lead + c->list, c->typed, word, what);
}

/* Goes behind the last comma of a list. */
static void begin_list(struct completion *c)
{
    const char *values = c->typed + c->lead, *comma = strrchr(values, ',');
    c->list = comma ? (int)(comma - values) + 1 : 0;
}

/* Offers a word of a list that does not have it yet. */
static void offer_once(const struct completion *c, const char *word)
{
    const char *at = c->typed + c->lead, *end = at + c->list;
    for (size_t n; at < end; at += n + 1) {
        n = strcspn(at, ",");
        if (n == strlen(word) && memcmp(at, word, n) == 0)
            return;
    }
    offer(c, word, "");
}

/* Has the shell offer files of a kind, behind "--option=". */
static void offer_files(const struct completion *c, const char *kind)
{
    printf(":%s\t%.*s", kind, c->lead, c->typed);
    for (size_t i = 0; strcmp(kind, "pictures") == 0 && codecs[i]; i++)
        for (size_t k = 0; codecs[i]->suffixes[k]; k++)
            printf("%s%s", i + k ? "|" : "\t", codecs[i]->suffixes[k]);
    putchar('\n');
}

static void offer_formats(const struct completion *c)
{
    for (size_t i = 0; codecs[i]; i++) {
        if (!codecs[i]->oriented)
            offer(c, codecs[i]->name, codecs[i]->title);
        for (size_t k = 0; codecs[i]->kinds && codecs[i]->suffixes[k]; k++)
            if (strcmp(codecs[i]->suffixes[k], codecs[i]->name) != 0)
                offer(c, codecs[i]->suffixes[k], codecs[i]->title);
    }
}

static void offer_devices(struct completion *c)
{
    glob_t found;
    char number[24];
    const int status = glob("/proc/driver/nvidia/gpus/*", 0, NULL, &found);
    begin_list(c);
    if (!c->list)
        offer(c, "all", "");
    for (size_t i = 0; i == 0 || (status == 0 && i < found.gl_pathc); i++) {
        snprintf(number, sizeof number, "%zu", i);
        offer_once(c, number);
    }
    globfree(&found);
}

static void offer_value(struct completion *c,
                        const struct parser_option *option)
{
    char name[32];
    if (option->set == setters_strip)
        begin_list(c);
    if (option->set == setters_format)
        offer_formats(c);
    else if (option->set == setters_devices)
        offer_devices(c);
    else if (option->set == setters_name)
        offer_files(c, "directories");
    else if (option->value && strcmp(option->value, "FILE") == 0)
        offer_files(c, "files");
    for (size_t i = 0; option->choices && option->choices[i].name; i++)
        offer_once(c, option->choices[i].name);
    for (const char *at = setters_colors;
         option->set == setters_background && *at;
         at += strcspn(at, " ") + sizeof " f0f8ff") {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " "), at);
        offer(c, name, "");
    }
}

/* ---- Options ------------------------------------------------------------- */

static bool waits(const struct parser_option *option)
{
    return option->value && *option->value != '[';
}

/* Returns the option of a letter, or of a name that may be abbreviated; or
 * NULL. */
static const struct parser_option *find(const struct parser_table *table,
                                        char letter, const char *name)
{
    const size_t n = name ? strcspn(name, "=") : 0;
    const struct parser_option *like = NULL;
    for (size_t i = 0; i < table->count; i++) {
        const struct parser_option *option = &table->option[i];
        if (letter ? option->letter == letter
                   : strncmp(option->name, name, n) == 0 && !option->name[n])
            return option;
        if (!letter && strncmp(option->name, name, n) == 0)
            like = option;
    }
    return like;
}

/* Returns the option whose value the next word is; NULL: none. Behind one dash,
 * the value of the first letter that takes one is the rest of the word. */
static const struct parser_option *awaits(const struct parser_table *table,
                                          const char *word)
{
    const struct parser_option *option = NULL;
    if (word[1] == '-') {
        option = strchr(word, '=') ? NULL : find(table, 0, word + 2);
        return option && waits(option) ? option : NULL;
    }
    for (word++; *word && !(option && waits(option)); word++)
        option = find(table, *word, NULL);
    return option && waits(option) && !*word ? option : NULL;
}

static void offer_options(const struct completion *c,
                          const struct parser_table *table, unsigned groups)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct parser_option *option = &table->option[i];
        char text[32];
        if (!(option->groups & groups))
            continue;
        snprintf(text, sizeof text, "--%s", option->name);
        offer(c, text, option->help);
        snprintf(text, sizeof text, "--%s=", option->name);
        if (option->value && !waits(option))
            offer(c, text, option->help);
    }
}

/* Returns the groups of the options that a command takes; NULL is any. */
static unsigned groups_of(const char *command)
{
    static const struct {
        const char *command;
        unsigned groups;
    } takes[] = {
        { "info", FOR_INFO },
        { "check", FOR_CHECK },
        { "relate", FOR_RELATE },
        { "serve", FOR_SERVE | ABOUT_SHAPE | ABOUT_JOB },
        { "bench", ~0U },
    };
    for (size_t i = 0; command && i < sizeof takes / sizeof *takes; i++)
        if (strcmp(takes[i].command, command) == 0)
            return takes[i].groups;
    return command ? ABOUT_ALL : ~0U;
}

/* ---- The command line ---------------------------------------------------- */

void complete_print(char *const *word, int n, const struct parser_table *bench)
{
    const struct parser_option *option = NULL;
    const struct parser_table *table = &option_table;
    const char *command = NULL;
    struct completion c = { .typed = n ? word[n - 1] : "" };
    bool ended = false;
    int operands = 0;
    for (int i = 0; i + 1 < n; i++) {
        if (option) {
            option = NULL;
        } else if (ended || word[i][0] != '-' || !word[i][1]) {
            operands += command != NULL;
            command = command ? command : word[i];
            table = strcmp(command, "bench") == 0 ? bench : &option_table;
        } else if (strcmp(word[i], "--") == 0) {
            ended = true;
        } else {
            option = awaits(table, word[i]);
        }
    }
    const char *equals = strchr(c.typed, '=');
    if (!option && !ended && equals && c.typed[0] == '-' && c.typed[1] == '-') {
        option = find(table, 0, c.typed + 2);
        c.lead = (int)(equals - c.typed) + 1;
        if (!option)
            return;
    }
    if (option) {
        offer_value(&c, option);
    } else if (!ended && *c.typed == '-' && c.typed[1]) {
        offer_options(&c, table, groups_of(command));
    } else if (command && strcmp(command, "serve") == 0) {
        if (operands == 0)
            offer(&c, "-", "jobs from standard input");
    } else if (command && table == &option_table) {
        offer_files(&c, "pictures");
    } else if (!command) {
        begin_list(&c);
        for (int i = 0;
             c.list ? i < HINT_OPERATIONS : hint_words[i].name != NULL; i++)
            offer(&c, hint_words[i].name, hint_words[i].what);
    }
}
