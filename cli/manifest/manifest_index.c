/* Manifests in memory. */
#include "cli/manifest/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/files/files.h"
#include "cli/files/path.h"
#include "cli/json/json.h"

/* ---- Strings ----------------------------------------------------------- */

static const char *keep_string(struct manifest_index *index, const char *text)
{
    return string_arena_keep(&index->strings, text, strlen(text));
}

/* The same for strings that are mostly equal to the last one. */
static const char *keep_usual(struct manifest_index *index, const char *text,
                              const char **last)
{
    if (!*last || strcmp(*last, text) != 0)
        *last = keep_string(index, text);
    return *last;
}

/* ---- Jobs -------------------------------------------------------------- */

static uint64_t hash_string(uint64_t hash, const char *text)
{
    return hash_pair(hash, hash_bytes(text, strlen(text)));
}

/* Sets the last component of a place, which points into the name. */
static void set_base(struct place *place, const char *name)
{
    const struct path path = path_split(name, strlen(name));
    place->base = path.base;
    place->nbase = path.nbase;
}

static int find_place(struct manifest_index *index, const struct entry *entry,
                      const char *name, struct place *place, struct err *err)
{
    char path[PATH_MAX];
    if (!manifest_index_path(entry, name, path))
        return fail(err, "%.100s...: the name is too long", name);
    set_base(place, name);
    return file_identity_directory(&index->places, path,
                                   path_split(path, strlen(path)).ndirectory,
                                   &place->directory, err);
}

static uint64_t hash_place(const struct place *place)
{
    return hash_pair((uintptr_t)place->directory,
                     hash_bytes(place->base, place->nbase));
}

/* Equal directories are equal pointers. */
static bool is_same_place(const struct place *a, const struct place *b)
{
    return a->directory == b->directory && a->nbase == b->nbase &&
           memcmp(a->base, b->base, a->nbase) == 0;
}

static uint64_t hash_entry(const struct entry *entry)
{
    const uint64_t hash = hash_string(hash_place(&entry->in), entry->op);
    return entry->in_place
               ? hash
               : hash_string(hash_pair(hash, hash_place(&entry->out)),
                             entry->options);
}

/* Makes an entry to look for a job by, with the strings of the job. */
static int make_key(struct manifest_index *index, const struct record *job,
                    struct entry *key, struct err *err)
{
    *key = (struct entry){
        .input = job->input,
        .output = job->output,
        .op = job->op,
        .options = job->options ? job->options : "",
        .directory = job->directory,
    };
    if (find_place(index, key, key->input, &key->in, err))
        return -1;
    key->out = key->in;
    if (strcmp(job->input, job->output) != 0 &&
        find_place(index, key, key->output, &key->out, err))
        return -1;
    key->in_place = is_same_place(&key->in, &key->out);
    key->hash = hash_entry(key);
    return 0;
}

static bool is_same_job(const struct entry *a, const struct entry *b)
{
    return a->hash == b->hash && a->in_place == b->in_place &&
           strcmp(a->op, b->op) == 0 && is_same_place(&a->in, &b->in) &&
           (a->in_place || (is_same_place(&a->out, &b->out) &&
                            strcmp(a->options, b->options) == 0));
}

/* Returns the slot of a job, or the empty one where it belongs. There is always
 * an empty one. */
static size_t *find_slot(const struct manifest_index *index,
                         const struct entry *key)
{
    size_t i = key->hash & (index->slots - 1);
    while (index->slot[i] &&
           !is_same_job(&index->entry[index->slot[i] - 1], key))
        i = (i + 1) & (index->slots - 1);
    return &index->slot[i];
}

int manifest_index_find(struct manifest_index *index, const struct record *job,
                        size_t *found, struct err *err)
{
    struct entry key;
    *found = 0;
    if (!index->slots)
        return 0;
    if (make_key(index, job, &key, err))
        return -1;
    *found = *find_slot(index, &key);
    return 0;
}

/* Makes room for one more; at most half of the slots are taken. */
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

/* Returns the entry of a job, a new one if there was none; NULL, with the
 * reason, on failure. */
static struct entry *enter(struct manifest_index *index,
                           const struct record *job, bool *fresh,
                           struct err *err)
{
    struct entry key;
    fail(err, "no memory");
    if (!make_room(index) || make_key(index, job, &key, err))
        return NULL;
    size_t *slot = find_slot(index, &key);
    *fresh = !*slot;
    if (!*fresh)
        return &index->entry[*slot - 1];
    struct entry *entry = &index->entry[index->count];
    *entry = key;
    entry->input = keep_string(index, key.input);
    entry->op = keep_usual(index, key.op, &index->op);
    entry->options = keep_usual(index, key.options, &index->options);
    if (key.directory)
        entry->directory = keep_usual(index, key.directory, &index->directory);
    entry->output = strcmp(job->input, job->output) == 0
                        ? entry->input
                        : keep_string(index, job->output);
    if (!entry->input || !entry->output || !entry->op || !entry->options ||
        (job->directory && !entry->directory))
        return NULL;
    set_base(&entry->in, entry->input);
    set_base(&entry->out, entry->output);
    *slot = ++index->count;
    return entry;
}

bool manifest_index_path(const struct entry *entry, const char *name,
                         char *path)
{
    const bool whole = *name == '/' || !entry->directory;
    return snprintf(path, PATH_MAX, "%s%s%s", whole ? "" : entry->directory,
                    whole ? "" : "/", name) < PATH_MAX;
}

int manifest_index_compare(const struct place *a, const struct place *b)
{
    const size_t n = a->nbase < b->nbase ? a->nbase : b->nbase;
    int order = strcmp(a->directory, b->directory);
    order = order ? order : memcmp(a->base, b->base, n);
    return order ? order : (a->nbase > n) - (b->nbase > n);
}

/* ---- Reading a line ------------------------------------------------------ */

/* Reads a member that is a string, if there is one; else NULL. */
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
    return manifest_time_read(text, time) ? 0
                                          : fail(err, "%s is not a time", key);
}

static int need_status(const struct json_value *root,
                       enum manifest_status *status, struct err *err)
{
    const char *name;
    if (need_string(root, "status", &name, err))
        return -1;
    for (int i = 0; i <= STATUS_DONE; i++)
        if (strcmp(name, manifest_status_name[i]) == 0) {
            *status = (enum manifest_status)i;
            return 0;
        }
    return fail(err, "the status '%s' is unknown", name);
}

/* Reads a line into a record, whose strings are those of `root`. A file that
 * was passed over has neither output nor op; sizes and times matter only if an
 * output was written. Returns 0, or -1 with the reason. */
static int read_record(const struct json_value *root, struct record *r,
                       struct err *err)
{
    struct facts *t = &r->facts;
    if (root->kind != JSON_OBJECT)
        return fail(err, "not an object");
    if (need_status(root, &t->status, err) ||
        need_string(root, "input", &r->input, err))
        return -1;
    r->output = r->input;
    r->op = "";
    if (t->status != STATUS_PASSED_OVER &&
        (need_string(root, "output", &r->output, err) ||
         need_string(root, "op", &r->op, err)))
        return -1;
    if (take_string(root, "directory", &r->directory, err) ||
        take_string(root, "options", &r->options, err) ||
        take_string(root, "error", &r->error, err) ||
        need_time(root, "time", &t->time, err))
        return -1;
    if (r->directory && *r->directory != '/')
        return fail(err, "directory is not an absolute name");
    if (t->status < STATUS_READY)
        return 0;
    if (need_uint(root, "size", &t->size, err) ||
        need_time(root, "mtime", &t->mtime, err) ||
        need_uint(root, "written", &t->written, err) ||
        (json_find(root, "written_mtime") &&
         need_time(root, "written_mtime", &t->made_time, err)))
        return -1;
    const char *text;
    if (take_string(root, "crc32", &text, err))
        return -1;
    t->summed = text != NULL;
    if (!text)
        return 0;
    if (strlen(text) != 8 || strspn(text, "0123456789abcdef") != 8)
        return fail(err, "crc32 is not 8 hexadecimal digits");
    t->crc = (uint32_t)strtoul(text, NULL, 16);
    return 0;
}

/* ---- Which line counts -------------------------------------------------- */

/* Returns whether a new line overrides the one that counts so far. Clocks are
 * set back at times, so within a manifest the order decides. A job that was
 * skipped is as it was before. A job that failed when its input was about to be
 * replaced, or afterwards, may be done or not: "ready" has the facts to tell,
 * and "failed" has not. */
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
           manifest_time_compare(fresh->time, facts->time) >= 0;
}

/* Takes a line into an entry, whose facts it sets if it is the first one. */
static int enter_line(struct manifest_index *index, const struct record *record,
                      struct bytes line, struct err *err)
{
    struct facts facts = record->facts;
    bool first;
    struct entry *entry = enter(index, record, &first, err);
    if (!entry)
        return -1;
    const struct facts *old = first ? &facts : &entry->facts;
    bool counts = first || supersedes(&facts, old);
    if (counts ||
        (old->status == STATUS_READY && facts.status == STATUS_FAILED)) {
        entry->error = record->error ? keep_string(index, record->error) : NULL;
        if (record->error && !entry->error)
            return fail(err, "no memory");
    }
    if (!counts)
        return 0;
    if (!facts.summed && facts.status == STATUS_DONE &&
        old->status == STATUS_READY && old->written == facts.written) {
        facts.summed = old->summed; /* the line before has the checksum */
        facts.crc = old->crc;
    }
    entry->facts = facts;
    if (!index->keep_lines)
        return 0;
    entry->line =
        string_arena_keep(&index->strings, (const char *)line.data, line.size);
    return entry->line ? 0 : fail(err, "no memory");
}

/* ---- A line ------------------------------------------------------------ */

/* Blanks at the end do not count; nor do zeros, which a file may have gained
 * there when the power failed. */
static int take_line(struct manifest_index *index, struct json_text *json,
                     struct bytes line, struct err *err)
{
    struct record record = { .facts.manifest = index->manifests };
    while (line.size &&
           memchr(" \t\r\0", line.data[line.size - 1], sizeof " \t\r"))
        line.size--;
    if (line.size == 0)
        return 0;
    if (json_read(json, (const char *)line.data, line.size, err))
        return json->cut && line.data[0] == '{' ? 0 : -1;
    return read_record(json_root(json), &record, err) ||
                   enter_line(index, &record, line, err)
               ? -1
               : 0;
}

/* ---- A file ------------------------------------------------------------ */

/* If not even the first line looks like a manifest, its number is of no use. */
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

/* A line that is far too long ends the reading: no manifest has one. */
static int read_lines(struct manifest_index *index, int fd, struct err *err)
{
    struct line_reader lines = { .fd = fd, .end = '\n', .most = JSON_SIZE_MAX };
    struct json_text json = { 0 };
    struct err why;
    int status = 0;
    bool begun = false;
    for (size_t n = 1; status == 0; n++) {
        char *text;
        struct bytes line = { 0 };
        enum line got = line_reader_next(&lines, &text, &line.size);
        if (got == LINE_NONE)
            break;
        if (got == LINE_FAILED) {
            status = fail(err, "%s", strerror(errno));
            break;
        }
        line.data = (uint8_t *)text;
        status = got == LINE_TOO_LONG ? fail(&why, "too long")
                                      : take_line(index, &json, line, &why);
        if (status)
            fail_line(line, n, begun, &why, err);
        begun = begun || line.size > 0;
    }
    json_free(&json);
    line_reader_free(&lines);
    return status;
}

int manifest_index_read(struct manifest_index *index, const char *name,
                        struct err *err)
{
    bool standard = strcmp(name, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(err, "%s", strerror(errno));
    int status = read_lines(index, fd, err);
    if (!standard)
        close(fd);
    index->manifests++;
    return status;
}

void manifest_index_free(struct manifest_index *index)
{
    free(index->entry);
    free(index->slot);
    file_identities_free(&index->places);
    string_arena_free(&index->strings);
    *index = (struct manifest_index){ 0 };
}
