/* Manifests in memory. */
#include "cli/manifest/manifest_index.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/select/hash.h"
#include "cli/json/json_read.h"
#include "cli/select/path.h"
#include "cli/manifest/timestamp.h"

/* ---- Strings ----------------------------------------------------------- */

static const char *keep_string(struct manifest_index *ledger, const char *text)
{
    return string_arena_keep(&ledger->names, text, strlen(text));
}

/* The same for what is mostly as it was the last time. */
static const char *keep_usual(struct manifest_index *ledger, const char *text,
                              const char **last)
{
    if (!*last || strcmp(*last, text) != 0)
        *last = keep_string(ledger, text);
    return *last;
}

/* ---- Jobs -------------------------------------------------------------- */

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* What a job is found by. */
struct key {
    const struct record *job;
    const char *here; /* from where its names are */
    bool in_place;
    uint64_t hash;
};

static uint64_t hash_string(uint64_t hash, const char *text)
{
    return hash_pair(hash, hash_bytes(text, strlen(text)));
}

static struct key key_of(const struct manifest_index *ledger,
                         const struct record *job)
{
    const char *here = job->directory ? job->directory : ledger->here;
    struct key key = { .job = job, .here = here };
    key.in_place = path_compare(here, job->input, here, job->output) == 0;
    key.hash = hash_string(path_hash(here, job->input), job->op);
    if (key.in_place)
        return key;
    key.hash = hash_pair(key.hash, path_hash(here, job->output));
    key.hash = hash_string(key.hash, or_empty(job->options));
    return key;
}

static const char *here_of(const struct manifest_index *ledger,
                           const struct entry *entry)
{
    return entry->here ? entry->here : ledger->here;
}

static bool is_about(const struct manifest_index *ledger,
                     const struct entry *entry, const struct key *key)
{
    const struct record *job = key->job;
    const char *here = here_of(ledger, entry);
    if (entry->hash != key->hash || entry->in_place != key->in_place ||
        strcmp(entry->op, job->op) != 0 ||
        path_compare(here, entry->input, key->here, job->input) != 0)
        return false;
    return key->in_place ||
           (path_compare(here, entry->output, key->here, job->output) == 0 &&
            strcmp(entry->options, or_empty(job->options)) == 0);
}

/* The slot of a job, or the empty one where it belongs. There is always one
 * that is empty. */
static size_t *find_slot(const struct manifest_index *ledger,
                         const struct key *key)
{
    size_t i = key->hash & (ledger->slots - 1);
    while (ledger->slot[i] &&
           !is_about(ledger, &ledger->entry[ledger->slot[i] - 1], key))
        i = (i + 1) & (ledger->slots - 1);
    return &ledger->slot[i];
}

const struct entry *manifest_index_find(const struct manifest_index *ledger,
                                        const struct record *job)
{
    if (!ledger->slots)
        return NULL;
    struct key key = key_of(ledger, job);
    size_t found = *find_slot(ledger, &key);
    return found ? &ledger->entry[found - 1] : NULL;
}

/* Makes room for one more, at most half of the slots being taken. */
static bool make_room(struct manifest_index *ledger)
{
    if (ledger->count < ledger->capacity)
        return true;
    size_t capacity = ledger->capacity ? 2 * ledger->capacity : 1024;
    struct entry *entry = realloc(ledger->entry, capacity * sizeof *entry);
    if (!entry)
        return false;
    ledger->entry = entry;
    size_t *slot = calloc(2 * capacity, sizeof *slot);
    if (!slot)
        return false;
    free(ledger->slot);
    ledger->slot = slot;
    ledger->slots = 2 * capacity;
    ledger->capacity = capacity;
    for (size_t k = 0; k < ledger->count; k++) {
        size_t i = entry[k].hash & (ledger->slots - 1);
        while (slot[i])
            i = (i + 1) & (ledger->slots - 1);
        slot[i] = k + 1;
    }
    return true;
}

/* The entry of a job, which is made if there is none; NULL: no memory. */
static struct entry *enter(struct manifest_index *ledger,
                           const struct record *job, bool *fresh)
{
    if (!make_room(ledger))
        return NULL;
    struct key key = key_of(ledger, job);
    size_t *slot = find_slot(ledger, &key);
    *fresh = !*slot;
    if (!*fresh)
        return &ledger->entry[*slot - 1];
    struct entry *entry = &ledger->entry[ledger->count];
    *entry = (struct entry){
        .input = keep_string(ledger, job->input),
        .op = keep_usual(ledger, job->op, &ledger->op),
        .options = keep_usual(ledger, or_empty(job->options), &ledger->options),
        .here = job->directory
                    ? keep_usual(ledger, job->directory, &ledger->directory)
                    : NULL,
        .in_place = key.in_place,
        .hash = key.hash,
    };
    entry->output = strcmp(job->input, job->output) == 0
                        ? entry->input
                        : keep_string(ledger, job->output);
    if (!entry->input || !entry->output || !entry->op || !entry->options ||
        (job->directory && !entry->here))
        return NULL;
    *slot = ++ledger->count;
    return entry;
}

int ledger_adopt(struct manifest_index *ledger, const struct record *job,
                 const struct entry *like)
{
    struct telling held = like->held;
    bool fresh;
    struct entry *entry = enter(ledger, job, &fresh);
    if (!entry)
        return -1;
    entry->held = held;
    return 0;
}

void ledger_forget(struct manifest_index *ledger, const struct entry *entry)
{
    ledger->entry[entry - ledger->entry].held.told = TOLD_SKIPPED;
}

bool ledger_path(const struct manifest_index *ledger, const struct entry *entry,
                 const char *name, char *path)
{
    int n = *name == '/' ? snprintf(path, PATH_MAX, "%s", name)
                         : snprintf(path, PATH_MAX, "%s/%s",
                                    here_of(ledger, entry), name);
    return n < PATH_MAX;
}

int ledger_compare_outputs(const struct manifest_index *ledger,
                           const struct entry *a, const struct entry *b)
{
    return path_compare(here_of(ledger, a), a->output, here_of(ledger, b),
                        b->output);
}

/* ---- What holds -------------------------------------------------------- */

/* Clocks are set back at times, so within a manifest it is the order that
 * counts. What was skipped is as it was before. What failed when it was about
 * to be replaced, or afterwards, may be replaced or not: "ready" has what it
 * takes to tell, and "failed" has not. */
static bool supersedes(const struct telling *fresh, const struct telling *held)
{
    if (held->told == TOLD_READY && fresh->told == TOLD_FAILED)
        return false;
    if (held->told == TOLD_FAILED && fresh->told == TOLD_READY)
        return true;
    if (fresh->told <= TOLD_SKIPPED && held->told >= TOLD_READY)
        return false;
    if (held->told <= TOLD_SKIPPED && fresh->told >= TOLD_READY)
        return true;
    return fresh->manifest == held->manifest ||
           timestamp_compare(fresh->time, held->time) >= 0;
}

/* Whether the input of `b` is what it was for `a`, which was noted first; or,
 * if it is replaced in place, what `a` made of it and nobody wrote since. */
static bool is_again(const struct telling *a, const struct telling *b,
                     bool in_place)
{
    if (timestamp_compare(a->time, b->time) == 0)
        return false; /* the same line, of a copy */
    if (a->size == b->size && timestamp_compare(a->mtime, b->mtime) == 0)
        return true;
    return in_place && a->written == b->size &&
           timestamp_compare(b->mtime, a->time) <= 0;
}

static bool note_done(struct entry *entry, const struct telling *fresh)
{
    if (!entry->done) {
        entry->done = malloc(sizeof *entry->done);
        if (entry->done)
            *entry->done = *fresh;
        return entry->done;
    }
    bool later = timestamp_compare(fresh->time, entry->done->time) >= 0;
    if (later ? is_again(entry->done, fresh, entry->in_place)
              : is_again(fresh, entry->done, entry->in_place))
        entry->twice = true;
    if (later)
        *entry->done = *fresh;
    return true;
}

static int enter_line(struct manifest_index *ledger,
                      const struct record *record, const struct telling *fresh,
                      struct bytes line, struct err *err)
{
    bool is_new;
    struct entry *entry = enter(ledger, record, &is_new);
    if (!entry)
        return fail(err, "no memory");
    if (ledger->keep_done && fresh->told == TOLD_DONE &&
        !note_done(entry, fresh))
        return fail(err, "no memory");
    bool holds = is_new || supersedes(fresh, &entry->held);
    struct telling told = *fresh;
    if (!is_new && !told.summed && told.told == TOLD_DONE &&
        entry->held.told == TOLD_READY && entry->held.written == told.written) {
        told.summed = entry->held.summed; /* it was told before */
        told.crc = entry->held.crc;
    }
    if (holds ||
        (entry->held.told == TOLD_READY && fresh->told == TOLD_FAILED)) {
        entry->error =
            record->error ? keep_string(ledger, record->error) : NULL;
        if (record->error && !entry->error)
            return fail(err, "no memory");
    }
    if (!holds)
        return 0;
    entry->held = told;
    if (!ledger->keep_lines)
        return 0;
    entry->line =
        string_arena_keep(&ledger->names, (const char *)line.data, line.size);
    return entry->line ? 0 : fail(err, "no memory");
}

/* ---- A line ------------------------------------------------------------ */

/* A member that is a string; NULL if there is none. */
static int take_string(const struct json_value *root, const char *key,
                       const char **string, struct err *err)
{
    const struct json_value *value = json_find(root, key);
    *string = json_get_string(value);
    return !value || *string ? 0 : fail(err, "%s is not a string", key);
}

static int need_string(const struct json_value *root, const char *key,
                       const char **string, struct err *err)
{
    if (take_string(root, key, string, err))
        return -1;
    return *string ? 0 : fail(err, "%s is missing", key);
}

static int need_uint(const struct json_value *root, const char *key,
                     uint64_t *number, struct err *err)
{
    return json_get_uint(json_find(root, key), number)
               ? 0
               : fail(err, "%s is not a number of bytes", key);
}

static int need_time(const struct json_value *root, const char *key,
                     struct timespec *time, struct err *err)
{
    const char *text;
    if (need_string(root, key, &text, err))
        return -1;
    return timestamp_read(text, time) ? 0 : fail(err, "%s is not a time", key);
}

static int take_crc(const struct json_value *root, struct telling *telling,
                    struct err *err)
{
    const char *text;
    if (take_string(root, "crc32", &text, err))
        return -1;
    telling->summed = text != NULL;
    if (!text)
        return 0;
    if (strlen(text) != 8 || strspn(text, "0123456789abcdef") != 8)
        return fail(err, "crc32 is not 8 hexadecimal digits");
    telling->crc = (uint32_t)strtoul(text, NULL, 16);
    return 0;
}

/* "DEVICE:INODE", if it is there. */
static int take_identity(const struct json_value *root, const char *key,
                         struct identity *id, struct err *err)
{
    const char *text;
    if (take_string(root, key, &text, err))
        return -1;
    if (!text)
        return 0;
    size_t n = strspn(text, "0123456789");
    size_t m = text[n] == ':' ? strspn(text + n + 1, "0123456789") : 0;
    if (n == 0 || n > 20 || m == 0 || m > 20 || text[n + 1 + m])
        return fail(err, "%s is not DEVICE:INODE", key);
    id->device = strtoull(text, NULL, 10);
    id->inode = strtoull(text + n + 1, NULL, 10);
    id->known = true;
    return 0;
}

/* What is known of the output, which lines of older versions do not tell. */
static int take_made(const struct json_value *root, struct telling *t,
                     struct err *err)
{
    if (take_identity(root, "written_inode", &t->made, err))
        return -1;
    return t->made.known ? need_time(root, "written_mtime", &t->made_time, err)
                         : 0;
}

static int take_directory(const struct json_value *root, struct record *r,
                          struct telling *t, struct err *err)
{
    if (take_string(root, "directory", &r->directory, err))
        return -1;
    if (r->directory && *r->directory != '/')
        return fail(err, "directory is not an absolute name");
    t->placed = r->directory || (*r->input == '/' && *r->output == '/');
    return 0;
}

static int take_told(const char *status, enum manifest_status *told,
                     struct err *err)
{
    static const char *const names[] = {
        [TOLD_PASSED_OVER] = "passed_over",
        [TOLD_SKIPPED] = "skipped",
        [TOLD_FAILED] = "failed",
        [TOLD_READY] = "ready",
        [TOLD_DONE] = "done",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(status, names[i]) == 0) {
            *told = (enum manifest_status)i;
            return 0;
        }
    return fail(err, "the status '%s' is unknown", status);
}

/* What was passed over is to become nothing. */
static int take_names(const struct json_value *root, struct record *r,
                      enum manifest_status told, struct err *err)
{
    if (need_string(root, "input", &r->input, err))
        return -1;
    r->output = r->input;
    r->op = "";
    if (told == TOLD_PASSED_OVER)
        return 0;
    return need_string(root, "output", &r->output, err) ||
                   need_string(root, "op", &r->op, err)
               ? -1
               : 0;
}

/* Sizes and times matter only where something was written. */
static int take_record(const struct json_value *root, struct record *r,
                       struct telling *t, struct err *err)
{
    if (root->kind != JSON_OBJECT)
        return fail(err, "not an object");
    if (need_string(root, "status", &r->status, err) ||
        take_told(r->status, &t->told, err) ||
        take_names(root, r, t->told, err) || take_directory(root, r, t, err) ||
        take_string(root, "options", &r->options, err) ||
        take_string(root, "error", &r->error, err) ||
        need_time(root, "time", &t->time, err))
        return -1;
    if (t->told < TOLD_READY)
        return 0;
    if (need_uint(root, "size", &t->size, err) ||
        need_time(root, "mtime", &t->mtime, err) ||
        need_uint(root, "written", &t->written, err) ||
        take_identity(root, "inode", &t->file, err) || take_made(root, t, err))
        return -1;
    return take_crc(root, t, err);
}

/* Blanks at the end; and zeros, which a file may have gained there when the
 * power failed. */
static void trim(struct bytes *line)
{
    while (line->size &&
           memchr(" \t\r\0", line->data[line->size - 1], sizeof " \t\r"))
        line->size--;
}

static int take_line(struct manifest_index *ledger, struct json_text *json,
                     struct bytes line, struct err *err)
{
    struct telling telling = { .manifest = ledger->manifests };
    struct record record = { 0 };
    trim(&line);
    if (line.size == 0)
        return 0;
    if (json_read(json, (const char *)line.data, line.size, err))
        return json->cut && line.data[0] == '{' ? 0 : -1;
    if (take_record(json_root(json), &record, &telling, err))
        return -1;
    return enter_line(ledger, &record, &telling, line, err);
}

/* ---- A file ------------------------------------------------------------ */

/* Reads up to a newline, which is not kept. What is far too long is no manifest
 * and need not be read on. */
static int next_line(FILE *in, struct bytes *line, struct err *err)
{
    int c;
    line->size = 0;
    while ((c = getc_unlocked(in)) != EOF && c != '\n') {
        if (line->size == line->capacity && !bytes_reserve(line, 4096))
            return fail(err, "no memory");
        line->data[line->size++] = (uint8_t)c;
        if (line->size > JSON_SIZE_MAX)
            return fail(err, "it is too long");
    }
    return 0;
}

/* A picture or a text is no manifest, and which line of it is wrong is of no
 * use. */
static int fail_line(struct bytes line, size_t number, bool begun,
                     const struct err *why, struct err *err)
{
    size_t i = 0;
    while (i < line.size && memchr(" \t\r\0", line.data[i], 4))
        i++;
    if (!begun && i < line.size && line.data[i] != '{')
        return fail(err, "not a manifest");
    return fail(err, "line %zu: %s", number, why->text);
}

static int read_lines(struct manifest_index *ledger, FILE *in, struct err *err)
{
    struct json_text json = { 0 };
    struct bytes line = { 0 };
    struct err why;
    int status = 0;
    bool begun = false;
    for (size_t n = 1; status == 0 && !feof(in) && !ferror(in); n++) {
        status = next_line(in, &line, &why);
        if (status == 0 && !ferror(in))
            status = take_line(ledger, &json, line, &why);
        if (status)
            fail_line(line, n, begun, &why, err);
        begun = begun || line.size > 0;
    }
    if (ferror(in))
        status = fail(err, "%s", strerror(errno));
    json_free(&json);
    bytes_free(&line);
    return status;
}

int manifest_index_read(struct manifest_index *ledger, const char *name,
                        struct err *err)
{
    bool standard = strcmp(name, "-") == 0;
    if (!ledger->here && !(ledger->here = getcwd(NULL, 0)))
        return fail(err, "the current directory has no name: %s",
                    strerror(errno));
    FILE *in = standard ? stdin : fopen(name, "re");
    if (!in)
        return fail(err, "%s", strerror(errno));
    int status = read_lines(ledger, in, err);
    if (!standard)
        fclose(in);
    ledger->manifests++;
    return status;
}

void manifest_index_free(struct manifest_index *ledger)
{
    for (size_t i = 0; i < ledger->count; i++)
        free(ledger->entry[i].done);
    free(ledger->entry);
    free(ledger->slot);
    free(ledger->here);
    string_arena_free(&ledger->names);
    *ledger = (struct manifest_index){ 0 };
}
