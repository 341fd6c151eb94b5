/* Manifests in memory. */
#include "cli/manifest/manifest_index.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/files/hash.h"
#include "cli/files/path.h"
#include "cli/json/json_read.h"
#include "cli/manifest/timestamp.h"
#include "cli/select/line_reader.h"

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

static const char *directory_of(const struct manifest_index *index,
                                const struct entry *entry)
{
    return entry->directory ? entry->directory : index->cwd;
}

/* Returns an entry to look for a job by, with the strings of the job. */
static struct entry key_of(const struct manifest_index *index,
                           const struct record *job)
{
    struct entry key = {
        .input = job->input,
        .output = job->output,
        .op = job->op,
        .options = job->options ? job->options : "",
        .directory = job->directory,
    };
    const char *directory = directory_of(index, &key);
    key.in_place =
        path_compare(directory, key.input, directory, key.output) == 0;
    key.hash = hash_string(path_hash(directory, key.input), key.op);
    if (key.in_place)
        return key;
    key.hash = hash_pair(key.hash, path_hash(directory, key.output));
    key.hash = hash_string(key.hash, key.options);
    return key;
}

static bool is_same_job(const struct manifest_index *index,
                        const struct entry *a, const struct entry *b)
{
    return a->hash == b->hash && a->in_place == b->in_place &&
           strcmp(a->op, b->op) == 0 &&
           path_compare(directory_of(index, a), a->input,
                        directory_of(index, b), b->input) == 0 &&
           (a->in_place || (manifest_index_compare_outputs(index, a, b) == 0 &&
                            strcmp(a->options, b->options) == 0));
}

/* Returns the slot of a job, or the empty one where it belongs. There is always
 * an empty one. */
static size_t *find_slot(const struct manifest_index *index,
                         const struct entry *key)
{
    size_t i = key->hash & (index->slots - 1);
    while (index->slot[i] &&
           !is_same_job(index, &index->entry[index->slot[i] - 1], key))
        i = (i + 1) & (index->slots - 1);
    return &index->slot[i];
}

const struct entry *manifest_index_find(const struct manifest_index *index,
                                        const struct record *job)
{
    if (!index->slots)
        return NULL;
    struct entry key = key_of(index, job);
    size_t found = *find_slot(index, &key);
    return found ? &index->entry[found - 1] : NULL;
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

/* Returns the entry of a job, a new one if there was none; NULL: no memory. */
static struct entry *enter(struct manifest_index *index,
                           const struct record *job, bool *fresh)
{
    if (!make_room(index))
        return NULL;
    struct entry key = key_of(index, job);
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
    *slot = ++index->count;
    return entry;
}

int manifest_index_adopt(struct manifest_index *index, const struct record *job,
                         const struct entry *like)
{
    const struct entry known = *like; /* which enter() may move */
    bool fresh;
    struct entry *entry = enter(index, job, &fresh);
    if (!entry)
        return -1;
    entry->facts = known.facts;
    entry->shown_before = known.shown_before;
    entry->shown = known.shown;
    return 0;
}

bool manifest_index_path(const struct manifest_index *index,
                         const struct entry *entry, const char *name,
                         char *path)
{
    int n = *name == '/' ? snprintf(path, PATH_MAX, "%s", name)
                         : snprintf(path, PATH_MAX, "%s/%s",
                                    directory_of(index, entry), name);
    return n < PATH_MAX;
}

int manifest_index_compare_outputs(const struct manifest_index *index,
                                   const struct entry *a, const struct entry *b)
{
    return path_compare(directory_of(index, a), a->output,
                        directory_of(index, b), b->output);
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
           timestamp_compare(fresh->time, facts->time) >= 0;
}

/* Returns whether `b` did the job of `a`, which was noted first, once more: its
 * input is the same as for `a`; or, in place, it is the output of `a`, which
 * was not written since. Who goes on with a manifest, and does not resume by
 * it, wants that. */
static bool is_again(const struct facts *a, const struct facts *b,
                     bool in_place)
{
    if (timestamp_compare(a->time, b->time) == 0)
        return false; /* the same line, of a copy */
    if (b->anew && a->manifest == b->manifest)
        return false;
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

/* Keeps the digests of the line that counts; the one before it may have them.
 */
static int keep_digests(struct manifest_index *index, struct entry *entry,
                        const struct record *record, bool as_before)
{
    if (as_before && !record->shown)
        return 0;
    entry->shown_before =
        record->shown_before ? keep_string(index, record->shown_before) : NULL;
    entry->shown = record->shown ? keep_string(index, record->shown) : NULL;
    return (record->shown_before && !entry->shown_before) ||
                   (record->shown && !entry->shown)
               ? -1
               : 0;
}

/* Takes a line into an entry, whose facts it sets if it is the first one. */
static int enter_line(struct manifest_index *index, const struct record *record,
                      struct bytes line, struct err *err)
{
    struct facts facts = record->facts;
    bool first;
    struct entry *entry = enter(index, record, &first);
    if (!entry || (index->keep_done && facts.status == STATUS_DONE &&
                   !note_done(entry, &facts)))
        return fail(err, "no memory");
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
    const bool settles = facts.status == STATUS_DONE &&
                         old->status == STATUS_READY &&
                         old->written == facts.written;
    if (!facts.summed && settles) {
        facts.summed = old->summed; /* the line before has the checksum */
        facts.crc = old->crc;
    }
    if (keep_digests(index, entry, record, settles))
        return fail(err, "no memory");
    entry->facts = facts;
    if (!index->keep_lines)
        return 0;
    entry->line =
        string_arena_keep(&index->strings, (const char *)line.data, line.size);
    return entry->line ? 0 : fail(err, "no memory");
}

/* ---- A line ------------------------------------------------------------ */

/* Removes blanks at the end; and zeros, which a file may have gained there when
 * the power failed. */
static void trim(struct bytes *line)
{
    while (line->size &&
           memchr(" \t\r\0", line->data[line->size - 1], sizeof " \t\r"))
        line->size--;
}

static int take_line(struct manifest_index *index, struct json_text *json,
                     struct bytes line, struct err *err)
{
    struct record record = { .facts.manifest = index->manifests };
    trim(&line);
    if (line.size == 0)
        return 0;
    if (json_read(json, (const char *)line.data, line.size, err))
        return json->cut && line.data[0] == '{' ? 0 : -1;
    if (manifest_read_line(json_root(json), &record, err))
        return -1;
    return enter_line(index, &record, line, err);
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
    if (!index->cwd && !(index->cwd = getcwd(NULL, 0)))
        return fail(err, "the current directory has no name: %s",
                    strerror(errno));
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
    for (size_t i = 0; i < index->count; i++)
        free(index->entry[i].done);
    free(index->entry);
    free(index->slot);
    free(index->cwd);
    string_arena_free(&index->strings);
    *index = (struct manifest_index){ 0 };
}
