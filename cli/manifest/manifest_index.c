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

static const char *keep_string(struct manifest_index *index, const char *text)
{
    return string_arena_keep(&index->names, text, strlen(text));
}

/* The same for what is mostly as it was the last time. */
static const char *keep_usual(struct manifest_index *index, const char *text,
                              const char **last)
{
    if (!*last || strcmp(*last, text) != 0)
        *last = keep_string(index, text);
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

static struct key key_of(const struct manifest_index *index,
                         const struct record *job)
{
    const char *here = job->directory ? job->directory : index->here;
    struct key key = { .job = job, .here = here };
    key.in_place = path_compare(here, job->input, here, job->output) == 0;
    key.hash = hash_string(path_hash(here, job->input), job->op);
    if (key.in_place)
        return key;
    key.hash = hash_pair(key.hash, path_hash(here, job->output));
    key.hash = hash_string(key.hash, or_empty(job->options));
    return key;
}

static const char *here_of(const struct manifest_index *index,
                           const struct entry *entry)
{
    return entry->here ? entry->here : index->here;
}

static bool is_about(const struct manifest_index *index,
                     const struct entry *entry, const struct key *key)
{
    const struct record *job = key->job;
    const char *here = here_of(index, entry);
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
static size_t *find_slot(const struct manifest_index *index,
                         const struct key *key)
{
    size_t i = key->hash & (index->slots - 1);
    while (index->slot[i] &&
           !is_about(index, &index->entry[index->slot[i] - 1], key))
        i = (i + 1) & (index->slots - 1);
    return &index->slot[i];
}

const struct entry *manifest_index_find(const struct manifest_index *index,
                                        const struct record *job)
{
    if (!index->slots)
        return NULL;
    struct key key = key_of(index, job);
    size_t found = *find_slot(index, &key);
    return found ? &index->entry[found - 1] : NULL;
}

/* Makes room for one more, at most half of the slots being taken. */
static bool make_room(struct manifest_index *index)
{
    if (index->count < index->capacity)
        return true;
    size_t capacity = index->capacity ? 2 * index->capacity : 1024;
    struct entry *entry = realloc(index->entry, capacity * sizeof *entry);
    if (!entry)
        return false;
    index->entry = entry;
    size_t *slot = calloc(2 * capacity, sizeof *slot);
    if (!slot)
        return false;
    free(index->slot);
    index->slot = slot;
    index->slots = 2 * capacity;
    index->capacity = capacity;
    for (size_t k = 0; k < index->count; k++) {
        size_t i = entry[k].hash & (index->slots - 1);
        while (slot[i])
            i = (i + 1) & (index->slots - 1);
        slot[i] = k + 1;
    }
    return true;
}

/* The entry of a job, which is made if there is none; NULL: no memory. */
static struct entry *enter(struct manifest_index *index,
                           const struct record *job, bool *fresh)
{
    if (!make_room(index))
        return NULL;
    struct key key = key_of(index, job);
    size_t *slot = find_slot(index, &key);
    *fresh = !*slot;
    if (!*fresh)
        return &index->entry[*slot - 1];
    struct entry *entry = &index->entry[index->count];
    *entry = (struct entry){
        .input = keep_string(index, job->input),
        .op = keep_usual(index, job->op, &index->op),
        .options = keep_usual(index, or_empty(job->options), &index->options),
        .here = job->directory
                    ? keep_usual(index, job->directory, &index->directory)
                    : NULL,
        .in_place = key.in_place,
        .hash = key.hash,
    };
    entry->output = strcmp(job->input, job->output) == 0
                        ? entry->input
                        : keep_string(index, job->output);
    if (!entry->input || !entry->output || !entry->op || !entry->options ||
        (job->directory && !entry->here))
        return NULL;
    *slot = ++index->count;
    return entry;
}

int manifest_index_adopt(struct manifest_index *index, const struct record *job,
                         const struct entry *like)
{
    struct facts facts = like->facts;
    bool fresh;
    struct entry *entry = enter(index, job, &fresh);
    if (!entry)
        return -1;
    entry->facts = facts;
    return 0;
}

void manifest_index_forget(struct manifest_index *index,
                           const struct entry *entry)
{
    index->entry[entry - index->entry].facts.status = STATUS_SKIPPED;
}

bool manifest_index_path(const struct manifest_index *index,
                         const struct entry *entry, const char *name,
                         char *path)
{
    int n = *name == '/' ? snprintf(path, PATH_MAX, "%s", name)
                         : snprintf(path, PATH_MAX, "%s/%s",
                                    here_of(index, entry), name);
    return n < PATH_MAX;
}

int manifest_index_compare_outputs(const struct manifest_index *index,
                                   const struct entry *a, const struct entry *b)
{
    return path_compare(here_of(index, a), a->output, here_of(index, b),
                        b->output);
}

/* ---- What holds -------------------------------------------------------- */

/* Clocks are set back at times, so within a manifest it is the order that
 * counts. What was skipped is as it was before. What failed when it was about
 * to be replaced, or afterwards, may be replaced or not: "ready" has what it
 * takes to tell, and "failed" has not. */
static bool supersedes(const struct facts *fresh, const struct facts *facts)
{
    if (facts->status == STATUS_READY && fresh->status == STATUS_FAILED)
        return false;
    if (facts->status == STATUS_FAILED && fresh->status == STATUS_READY)
        return true;
    if (fresh->status <= STATUS_SKIPPED && facts->status >= STATUS_READY)
        return false;
    if (facts->status <= STATUS_SKIPPED && fresh->status >= STATUS_READY)
        return true;
    return fresh->manifest == facts->manifest ||
           timestamp_compare(fresh->time, facts->time) >= 0;
}

/* Whether the input of `b` is what it was for `a`, which was noted first; or,
 * if it is replaced in place, what `a` made of it and nobody wrote since. */
static bool is_again(const struct facts *a, const struct facts *b,
                     bool in_place)
{
    if (timestamp_compare(a->time, b->time) == 0)
        return false; /* the same line, of a copy */
    if (a->size == b->size && timestamp_compare(a->mtime, b->mtime) == 0)
        return true;
    return in_place && a->written == b->size &&
           timestamp_compare(b->mtime, a->time) <= 0;
}

static bool note_done(struct entry *entry, const struct facts *fresh)
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

static int enter_line(struct manifest_index *index, const struct record *record,
                      const struct facts *fresh, struct bytes line,
                      struct err *err)
{
    bool is_new;
    struct entry *entry = enter(index, record, &is_new);
    if (!entry)
        return fail(err, "no memory");
    if (index->keep_done && fresh->status == STATUS_DONE &&
        !note_done(entry, fresh))
        return fail(err, "no memory");
    bool holds = is_new || supersedes(fresh, &entry->facts);
    struct facts kept = *fresh;
    if (!is_new && !kept.summed && kept.status == STATUS_DONE &&
        entry->facts.status == STATUS_READY &&
        entry->facts.written == kept.written) {
        kept.summed = entry->facts.summed; /* it was noted before */
        kept.crc = entry->facts.crc;
    }
    if (holds || (entry->facts.status == STATUS_READY &&
                  fresh->status == STATUS_FAILED)) {
        entry->error = record->error ? keep_string(index, record->error) : NULL;
        if (record->error && !entry->error)
            return fail(err, "no memory");
    }
    if (!holds)
        return 0;
    entry->facts = kept;
    if (!index->keep_lines)
        return 0;
    entry->line =
        string_arena_keep(&index->names, (const char *)line.data, line.size);
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

static int take_crc(const struct json_value *root, struct facts *facts,
                    struct err *err)
{
    const char *text;
    if (take_string(root, "crc32", &text, err))
        return -1;
    facts->summed = text != NULL;
    if (!text)
        return 0;
    if (strlen(text) != 8 || strspn(text, "0123456789abcdef") != 8)
        return fail(err, "crc32 is not 8 hexadecimal digits");
    facts->crc = (uint32_t)strtoul(text, NULL, 16);
    return 0;
}

/* "DEVICE:INODE", if it is there. */
static int take_identity(const struct json_value *root, const char *key,
                         struct inode_id *id, struct err *err)
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
static int take_made(const struct json_value *root, struct facts *t,
                     struct err *err)
{
    if (take_identity(root, "written_inode", &t->made, err))
        return -1;
    return t->made.known ? need_time(root, "written_mtime", &t->made_time, err)
                         : 0;
}

static int take_directory(const struct json_value *root, struct record *r,
                          struct facts *t, struct err *err)
{
    if (take_string(root, "directory", &r->directory, err))
        return -1;
    if (r->directory && *r->directory != '/')
        return fail(err, "directory is not an absolute name");
    t->placed = r->directory || (*r->input == '/' && *r->output == '/');
    return 0;
}

static int take_status(const char *name, enum manifest_status *status,
                       struct err *err)
{
    static const char *const names[] = {
        [STATUS_PASSED_OVER] = "passed_over",
        [STATUS_SKIPPED] = "skipped",
        [STATUS_FAILED] = "failed",
        [STATUS_READY] = "ready",
        [STATUS_DONE] = "done",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            *status = (enum manifest_status)i;
            return 0;
        }
    return fail(err, "the status '%s' is unknown", name);
}

/* What was passed over is to become nothing. */
static int take_names(const struct json_value *root, struct record *r,
                      enum manifest_status status, struct err *err)
{
    if (need_string(root, "input", &r->input, err))
        return -1;
    r->output = r->input;
    r->op = "";
    if (status == STATUS_PASSED_OVER)
        return 0;
    return need_string(root, "output", &r->output, err) ||
                   need_string(root, "op", &r->op, err)
               ? -1
               : 0;
}

/* Sizes and times matter only where something was written. */
static int take_record(const struct json_value *root, struct record *r,
                       struct facts *t, struct err *err)
{
    if (root->kind != JSON_OBJECT)
        return fail(err, "not an object");
    if (need_string(root, "status", &r->status, err) ||
        take_status(r->status, &t->status, err) ||
        take_names(root, r, t->status, err) ||
        take_directory(root, r, t, err) ||
        take_string(root, "options", &r->options, err) ||
        take_string(root, "error", &r->error, err) ||
        need_time(root, "time", &t->time, err))
        return -1;
    if (t->status < STATUS_READY)
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

static int take_line(struct manifest_index *index, struct json_text *json,
                     struct bytes line, struct err *err)
{
    struct facts facts = { .manifest = index->manifests };
    struct record record = { 0 };
    trim(&line);
    if (line.size == 0)
        return 0;
    if (json_read(json, (const char *)line.data, line.size, err))
        return json->cut && line.data[0] == '{' ? 0 : -1;
    if (take_record(json_root(json), &record, &facts, err))
        return -1;
    return enter_line(index, &record, &facts, line, err);
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

static int read_lines(struct manifest_index *index, FILE *in, struct err *err)
{
    struct json_text json = { 0 };
    struct bytes line = { 0 };
    struct err why;
    int status = 0;
    bool begun = false;
    for (size_t n = 1; status == 0 && !feof(in) && !ferror(in); n++) {
        status = next_line(in, &line, &why);
        if (status == 0 && !ferror(in))
            status = take_line(index, &json, line, &why);
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

int manifest_index_read(struct manifest_index *index, const char *name,
                        struct err *err)
{
    bool standard = strcmp(name, "-") == 0;
    if (!index->here && !(index->here = getcwd(NULL, 0)))
        return fail(err, "the current directory has no name: %s",
                    strerror(errno));
    FILE *in = standard ? stdin : fopen(name, "re");
    if (!in)
        return fail(err, "%s", strerror(errno));
    int status = read_lines(index, in, err);
    if (!standard)
        fclose(in);
    index->manifests++;
    return status;
}

void manifest_index_free(struct manifest_index *index)
{
    for (size_t i = 0; i < index->count; i++)
        free(index->entry[i].done);
    free(index->entry);
    free(index->slot);
    free(index->here);
    string_arena_free(&index->names);
    *index = (struct manifest_index){ 0 };
}
