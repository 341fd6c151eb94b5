/* gimgxf manifest: several manifests put together, and checked. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/json.h"
#include "cli/ledger.h"
#include "cli/path.h"
#include "cli/report.h"
#include "cli/stamp.h"

enum { GOOD = 0, BAD = 1, USAGE = 2 };

/* ---- Jobs in order ----------------------------------------------------- */

static int by_job(const void *left, const void *right)
{
    const struct entry *a = *(const struct entry *const *)left;
    const struct entry *b = *(const struct entry *const *)right;
    int order = strcmp(a->input, b->input);
    order = order ? order : strcmp(a->output, b->output);
    order = order ? order : strcmp(a->op, b->op);
    return order ? order : strcmp(a->options, b->options);
}

/* By what is written; of several that write one file the last is last. */
static int by_output(const void *left, const void *right, void *here)
{
    const struct entry *a = *(const struct entry *const *)left;
    const struct entry *b = *(const struct entry *const *)right;
    int order = path_compare(here, a->output, b->output);
    order = order ? order : stamp_compare(a->held.time, b->held.time);
    return order ? order : by_job(left, right);
}

/* The entries, to be sorted; NULL: no memory. */
static const struct entry **list_entries(const struct ledger *ledger)
{
    const struct entry **list = calloc(ledger->count + 1, sizeof *list);
    for (size_t i = 0; list && i < ledger->count; i++)
        list[i] = &ledger->entry[i];
    return list;
}

/* ---- merge ------------------------------------------------------------- */

static int merge(const struct entry **list, size_t count)
{
    qsort(list, count, sizeof *list, by_job);
    for (size_t i = 0; i < count; i++)
        puts(list[i]->line);
    return GOOD;
}

/* ---- check ------------------------------------------------------------- */

struct tally {
    size_t told[TOLD_DONE + 1];
    size_t outputs; /* that should be there: */
    size_t lost;    /* those that are gone, or of another size */
    size_t astray;  /* those that are gone, by names that are relative */
    size_t twice;
};

static void check_jobs(struct tally *tally, const struct entry **list,
                       size_t count)
{
    struct err text;
    qsort(list, count, sizeof *list, by_job);
    for (size_t i = 0; i < count; i++) {
        const struct entry *entry = list[i];
        tally->told[entry->held.told]++;
        tally->twice += entry->twice;
        if (entry->held.told == TOLD_FAILED) {
            fail(&text, "%s failed: %s", entry->op,
                 entry->error ? entry->error : "nobody said why");
            report_error(entry->input, text.text);
        } else if (entry->held.told == TOLD_READY) {
            fail(&text, "%s was about to replace it%s%s; it is not noted "
                        "whether it did",
                 entry->op, entry->error ? ", and failed: " : "",
                 entry->error ? entry->error : "");
            report_error(entry->input, text.text);
        }
        if (entry->twice) {
            fail(&text, "%s was done twice", entry->op);
            report_error(entry->input, text.text);
        }
    }
}

/* Whether the file is what was written last, as far as its size tells. */
static void check_output(struct tally *tally, const struct entry *entry)
{
    struct stat st;
    struct err why;
    bool gone = stat(entry->output, &st) != 0;
    tally->outputs++;
    if (gone)
        fail(&why, "the output is gone: %s", strerror(errno));
    else if (S_ISREG(st.st_mode) && (uint64_t)st.st_size == entry->held.written)
        return;
    else
        fail(&why,
             "the output has %jd bytes, not the %" PRIu64 " that were written",
             (intmax_t)st.st_size, entry->held.written);
    tally->lost++;
    tally->astray += gone && *entry->output != '/';
    report_error(entry->output, why.text);
}

static void check_outputs(struct tally *tally, const struct entry **list,
                          size_t count, char *here)
{
    size_t written = 0;
    for (size_t i = 0; i < count; i++)
        if (list[i]->held.told >= TOLD_READY)
            list[written++] = list[i];
    qsort_r(list, written, sizeof *list, by_output, here);
    for (size_t i = 0; i < written; i++) {
        bool last = i + 1 == written ||
                    path_compare(here, list[i]->output, list[i + 1]->output);
        if (last && list[i]->held.told == TOLD_DONE)
            check_output(tally, list[i]);
    }
    if (tally->astray && tally->astray == tally->outputs)
        report_error(NULL, "none of the outputs is here; their names are "
                           "relative to where the batch was started");
}

static void print_tally(const struct tally *tally, bool as_json)
{
    const struct {
        const char *name;
        size_t count;
    } counts[] = {
        { "done", tally->told[TOLD_DONE] },
        { "skipped", tally->told[TOLD_SKIPPED] },
        { "failed", tally->told[TOLD_FAILED] },
        { "ready", tally->told[TOLD_READY] },
        { "lost", tally->lost },
        { "twice", tally->twice },
    };
    struct json json = { .out = stdout };
    if (as_json)
        json_open(&json, NULL, '{');
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (as_json)
            json_uint(&json, counts[i].name, counts[i].count);
        else
            printf("%s%zu %s", i ? ", " : "", counts[i].count, counts[i].name);
    if (as_json)
        json_close(&json, '}');
    putchar('\n');
}

static int check(const struct entry **list, const struct ledger *ledger,
                 bool json)
{
    struct tally tally = { 0 };
    check_jobs(&tally, list, ledger->count);
    check_outputs(&tally, list, ledger->count, ledger->here);
    print_tally(&tally, json);
    return tally.told[TOLD_FAILED] || tally.told[TOLD_READY] || tally.lost ||
                   tally.twice
               ? BAD
               : GOOD;
}

/* ---- Words ------------------------------------------------------------- */

static int read_all(struct ledger *ledger, const char *const *name, int count)
{
    struct err err;
    for (int i = 0; i < count; i++)
        if (ledger_read(ledger, name[i], &err)) {
            report_error(name[i], err.text);
            return -1;
        }
    return 0;
}

int manifest_main(const char *const *word, int nwords, bool json)
{
    bool merging = nwords > 0 && strcmp(word[0], "merge") == 0;
    struct ledger ledger = { .keep_lines = merging, .keep_done = !merging };
    const struct entry **list = NULL;
    int status = BAD;
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* there may be a million lines */
    if (!merging && (nwords == 0 || strcmp(word[0], "check") != 0)) {
        report_error(NULL, "manifest needs to be told to merge or to check");
        return USAGE;
    }
    if (nwords < 2) {
        report_error(NULL, "no manifest is named");
        return USAGE;
    }
    if (read_all(&ledger, word + 1, nwords - 1))
        goto out;
    list = list_entries(&ledger);
    if (!list)
        report_error(NULL, "no memory");
    else
        status = merging ? merge(list, ledger.count)
                         : check(list, &ledger, json);
out:
    free(list);
    ledger_free(&ledger);
    return status;
}
