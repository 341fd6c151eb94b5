/* What was done before, according to a manifest and to the files. */
#include "cli/manifest/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/files/files.h"
#include "cli/json/json.h"

/* ---- Jobs --------------------------------------------------------------- */

/* A key is the operation and the canonical name of the input; and unless that
 * is replaced, also that of the output, and the options. Each ends in a NUL. */
struct resume_entry {
    const char *key;
    size_t size;
    bool in_place; /* the output is the input */
    struct facts facts;
};

static int by_key(const void *left, const void *right)
{
    const struct resume_entry *a = left, *b = right;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return memcmp(a->key, b->key, a->size);
}

static int add_text(struct bytes *key, const char *text, size_t size,
                    struct err *err)
{
    return bytes_append(key, text, size) ? 0 : fail(err, "no memory");
}

/* Appends the canonical name of a file to the key. A relative one starts from
 * this directory; NULL: from the current one. */
static int add_place(struct resume *resume, const char *from, const char *name,
                     struct err *err)
{
    struct path_text whole;
    struct bytes *key = &resume->key;
    const char *directory;
    path_text_set(&whole, *name != '/' && from ? from : "");
    if (whole.length)
        path_text_add(&whole, "/", 1);
    path_text_add(&whole, name, strlen(name));
    if (whole.cut)
        return fail(err, "%.100s...: the name is too long", name);
    const struct path path = path_split(whole.text, whole.length);
    return file_identity_directory(&resume->places, whole.text, path.ndirectory,
                                   &directory, err) ||
                   add_text(key, directory, strlen(directory), err) ||
                   add_text(key, "/", 1, err) ||
                   add_text(key, path.base, path.nbase, err) ||
                   add_text(key, "", 1, err)
               ? -1
               : 0;
}

/* Makes an entry to look for a job by, whose key is that of `resume`. */
static int make_key(struct resume *resume, const struct record *job,
                    struct resume_entry *entry, struct err *err)
{
    struct bytes *key = &resume->key;
    const char *options = job->options ? job->options : "";
    key->size = 0;
    if (add_text(key, job->op, strlen(job->op) + 1, err))
        return -1;
    const size_t input = key->size;
    if (add_place(resume, job->directory, job->input, err))
        return -1;
    const size_t output = key->size, size = output - input;
    bool in_place = strcmp(job->input, job->output) == 0;
    if (!in_place && add_place(resume, job->directory, job->output, err))
        return -1;
    if (!in_place && key->size == output + size &&
        memcmp(key->data + input, key->data + output, size) == 0) {
        in_place = true; /* by another name */
        key->size = output;
    }
    if (!in_place && add_text(key, options, strlen(options) + 1, err))
        return -1;
    *entry = (struct resume_entry){ .key = (const char *)key->data,
                                    .size = key->size,
                                    .in_place = in_place };
    return 0;
}

/* ---- A record ------------------------------------------------------------ */

/* What lines have, from which status on, and where a record has it. */
static const struct member {
    const char *key;
    enum { MEMBER_TEXT, MEMBER_BYTES, MEMBER_TIME, MEMBER_SUM } kind;
    size_t offset;
    enum manifest_status from;
    bool optional;
} members[] = {
#define AT(field) offsetof(struct record, field)
    { "input", MEMBER_TEXT, AT(input), STATUS_SKIPPED, false },
    { "output", MEMBER_TEXT, AT(output), STATUS_SKIPPED, false },
    { "op", MEMBER_TEXT, AT(op), STATUS_SKIPPED, false },
    { "directory", MEMBER_TEXT, AT(directory), STATUS_SKIPPED, true },
    { "options", MEMBER_TEXT, AT(options), STATUS_SKIPPED, true },
    { "size", MEMBER_BYTES, AT(facts.size), STATUS_READY, false },
    { "mtime", MEMBER_TIME, AT(facts.mtime), STATUS_READY, false },
    { "written", MEMBER_BYTES, AT(facts.written), STATUS_READY, false },
    { "written_mtime", MEMBER_TIME, AT(facts.made_time), STATUS_READY, true },
    { "crc32", MEMBER_SUM, AT(facts.crc), STATUS_READY, true },
#undef AT
};

/* Reads a line of this status into a record, whose strings are those of `root`.
 * Sizes and times matter only if an output was written. Returns 0, or -1 with
 * the reason. */
static int read_record(const struct json_value *root, const char *status,
                       struct record *r, struct err *err)
{
    int i = STATUS_SKIPPED;
    while (status && i <= STATUS_DONE &&
           strcmp(status, manifest_status_name[i]) != 0)
        i++;
    if (!status || i > STATUS_DONE)
        return fail(err, "it is not known what became of a file");
    r->facts.status = (enum manifest_status)i;
    for (size_t k = 0; k < sizeof members / sizeof *members; k++) {
        const struct member *member = &members[k];
        const struct json_value *value = json_find(root, member->key);
        const char *text = json_get_string(value);
        void *field = (char *)r + member->offset;
        bool read = false;
        if (r->facts.status < member->from || (!value && member->optional))
            continue;
        if (!value)
            return fail(err, "%s is missing", member->key);
        switch (member->kind) {
        case MEMBER_TEXT:
            read = (*(const char **)field = text) != NULL;
            break;
        case MEMBER_BYTES:
            read = json_get_uint(value, field);
            break;
        case MEMBER_TIME:
            read = text && manifest_time_read(text, field);
            break;
        case MEMBER_SUM: /* eight hexadecimal digits */
            read = text && strlen(text) == 8 &&
                   strspn(text, "0123456789abcdef") == 8;
            r->facts.crc = read ? (uint32_t)strtoul(text, NULL, 16) : 0;
            r->facts.summed = read;
            break;
        }
        if (!read)
            return fail(err, "%s is not what it must be", member->key);
    }
    return r->directory && *r->directory != '/'
               ? fail(err, "directory is not an absolute name")
               : 0;
}

/* ---- Lines -------------------------------------------------------------- */

/* So many files that were replaced are looked for, of a manifest that may have
 * very many. */
enum { LOOKED_FOR = 1000 };

/* Takes what a line says of a job. The last line counts; but a job that was
 * skipped is as it was before, and one that failed when its input was about to
 * be replaced, or afterwards, may be done or not: "ready" has the facts to
 * tell, and "failed" has not. */
static int enter_record(struct resume *resume, const struct record *record,
                        struct err *err)
{
    struct facts facts = record->facts;
    struct resume_entry like;
    if (make_key(resume, record, &like, err))
        return -1;
    struct resume_entry **found = tfind(&like, &resume->by_key, by_key);
    if (!found) {
        struct resume_entry *entry = malloc(sizeof *entry);
        like.key = string_arena_keep(&resume->strings, like.key, like.size);
        like.facts = facts;
        if (entry)
            *entry = like;
        if (!entry || !like.key || !tsearch(entry, &resume->by_key, by_key)) {
            free(entry);
            return fail(err, "no memory");
        }
        if (like.in_place && facts.status >= STATUS_READY &&
            resume->replaced < LOOKED_FOR) {
            resume->replaced++;
            resume->gone += access(like.key + strlen(like.key) + 1, F_OK) != 0;
        }
        return 0;
    }
    struct facts *old = &(*found)->facts;
    if (old->status == STATUS_READY
            ? facts.status < STATUS_READY
            : old->status == STATUS_DONE && facts.status <= STATUS_SKIPPED)
        return 0;
    if (!facts.summed && facts.status == STATUS_DONE &&
        old->status == STATUS_READY && old->written == facts.written) {
        facts.summed = old->summed; /* the line before has the checksum */
        facts.crc = old->crc;
    }
    *old = facts;
    return 0;
}

static const char blanks[] = " \t\r"; /* and NUL: its end counts as one */

/* Blanks at the end do not count; nor do zeros, which a file may have gained
 * there when the power failed. */
static int take_line(struct resume *resume, struct json_text *json,
                     struct bytes line, struct err *err)
{
    struct record record = { 0 };
    while (line.size && memchr(blanks, line.data[line.size - 1], sizeof blanks))
        line.size--;
    if (line.size == 0)
        return 0;
    if (json_read(json, (const char *)line.data, line.size, err))
        return json->cut && line.data[0] == '{' ? 0 : -1;
    const struct json_value *root = json_root(json);
    const char *status = json_get_string(json_find(root, "status"));
    if (status && strcmp(status, "passed_over") == 0)
        return 0; /* of a file that was no picture, as 0.9.0 noted it */
    return read_record(root, status, &record, err) ||
                   enter_record(resume, &record, err)
               ? -1
               : 0;
}

/* A line that is far too long ends the reading: no manifest has one. If not
 * even the first line looks like a manifest, its number is of no use. */
static int read_lines(struct resume *resume, int fd, struct err *err)
{
    struct line_reader lines = { .fd = fd, .end = '\n', .most = JSON_SIZE_MAX };
    struct json_text json = { 0 };
    struct err why;
    int status = 0;
    bool begun = false;
    for (size_t n = 1; status == 0; n++) {
        char *text;
        size_t size, blank = 0;
        enum line got = line_reader_next(&lines, &text, &size);
        if (got == LINE_NONE)
            break;
        if (got == LINE_FAILED) {
            status = fail(err, "%s", strerror(errno));
            break;
        }
        const struct bytes line = { (uint8_t *)text, size, 0 };
        status = got == LINE_TOO_LONG ? fail(&why, "too long")
                                      : take_line(resume, &json, line, &why);
        while (blank < size && memchr(blanks, text[blank], sizeof blanks))
            blank++;
        if (status && !begun && blank < size && text[blank] != '{')
            fail(err, "not a manifest");
        else if (status)
            fail(err, "line %zu: %s", n, why.text);
        begun = begun || size > 0;
    }
    json_free(&json);
    line_reader_free(&lines);
    return status;
}

/* ---- The manifest ------------------------------------------------------- */

int resume_read(struct resume *resume, const char *name, bool may_lack,
                const struct resume_jobs *jobs, struct err *err)
{
    const int fd = open(name, O_RDONLY | O_CLOEXEC);
    resume->name = name;
    if (fd < 0 && !(may_lack && errno == ENOENT))
        return fail(err, "%s", strerror(errno));
    const int status = fd < 0 ? 0 : read_lines(resume, fd, err);
    if (fd >= 0)
        close(fd);
    if (status)
        return -1;
    resume->found = calloc(jobs->count + 1, sizeof(struct resume_entry *));
    if (!resume->found)
        return fail(err, "no memory to look up %zu files", jobs->count);
    for (size_t i = 0; i < jobs->count && resume->by_key; i++) {
        const struct record one = jobs->job(jobs->context, i);
        struct resume_entry like;
        if (make_key(resume, &one, &like, err))
            return -1;
        struct resume_entry **found = tfind(&like, &resume->by_key, by_key);
        resume->found[i] = found ? *found : NULL;
    }
    return 0;
}

void resume_free(struct resume *resume)
{
    tdestroy(resume->by_key, free);
    file_identities_free(&resume->places);
    string_arena_free(&resume->strings);
    bytes_free(&resume->key);
    free(resume->found);
    *resume = (struct resume){ 0 };
}

/* ---- The files --------------------------------------------------------- */

static bool is_at(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_as_long(const struct facts *facts, const struct stat *st)
{
    return S_ISREG(st->st_mode) && (uint64_t)st->st_size == facts->written;
}

/* Returns whether a file has the size and time of the input as it was read. */
static bool is_input(const struct facts *facts, const struct stat *st)
{
    return (uint64_t)st->st_size == facts->size &&
           is_at(st->st_mtim, facts->mtime);
}

/* Returns whether the file has the size and the checksum that the line has;
 * false also if it cannot be read. */
static bool has_sum(const struct facts *facts, struct root *root,
                    const char *name)
{
    uint64_t size;
    uint32_t crc;
    return facts->summed && file_checksum(root, name, &size, &crc) &&
           size == facts->written && crc == facts->crc;
}

/* With --preserve the output may have the size and time of the input, and an
 * original that is restored has them as well. */
static bool is_as_written(const struct facts *facts, struct root *root,
                          const char *name, const struct stat *st)
{
    const bool same_time = is_at(st->st_mtim, facts->made_time);
    const bool timed = facts->made_time.tv_sec || facts->made_time.tv_nsec;
    const bool alike =
        facts->size == facts->written && is_at(facts->mtime, facts->made_time);
    if (!is_as_long(facts, st))
        return false;
    if (timed && same_time && !alike)
        return true;
    return facts->summed ? has_sum(facts, root, name) : !timed || same_time;
}

/* ---- The verdict ------------------------------------------------------- */

/* If the file is gone, nothing is left to be turned; if it is another one, it
 * must be neither turned nor skipped silently. `st` is NULL if it cannot be
 * looked at, for the reason `why`. */
static enum verdict of_replaced(const struct resume *resume,
                                const struct record *job, const struct stat *st,
                                int why, struct err *err)
{
    if (st ? is_as_written(&job->facts, job->output_root, job->output, st)
           : why == ENOENT || why == ENOTDIR)
        return VERDICT_DONE;
    fail(err,
         "%s was done, but the file %s. To turn it, name it alone, with "
         "--manifest %s and without --resume; to keep it as it is, leave it "
         "out, as by --exclude",
         job->op,
         !st ? strerror(why)
         : is_input(&job->facts, st)
             ? "is as it was before that; it may have been restored"
             : "has changed since; it may be a new picture, or another program "
               "has edited it",
         resume->name);
    return VERDICT_CHANGED;
}

/* Its input became the output, or did not. The bytes decide first, since size
 * and times may be the same before and after. */
static enum verdict of_ready(const struct record *job, const struct stat *st,
                             struct err *err)
{
    const struct facts *facts = &job->facts;
    if (st && is_as_long(facts, st) &&
        has_sum(facts, job->output_root, job->output))
        return VERDICT_REPLACED;
    if (st && is_input(facts, st) &&
        (facts->summed || facts->size != facts->written))
        return VERDICT_TODO;
    fail(err,
         "a run was interrupted while it replaced this file, which has "
         "changed since; it may be turned or not; --resume leaves it alone");
    return VERDICT_CHANGED;
}

/* The input of a job may be gone once its output is there. One that is the same
 * file under another name was replaced. */
enum verdict resume_check(const struct resume *resume, size_t i,
                          struct record *job, struct err *err)
{
    const struct resume_entry *entry = resume->found[i];
    struct stat in, out;
    if (!entry || entry->facts.status < STATUS_READY)
        return VERDICT_TODO;
    const bool there = resolve_stat(job->output_root, job->output, true, &out);
    const int why = errno;
    job->facts = entry->facts;
    if (entry->facts.status == STATUS_READY)
        return of_ready(job, there ? &out : NULL, err);
    if (entry->in_place)
        return of_replaced(resume, job, there ? &out : NULL, why, err);
    if (!there)
        return VERDICT_TODO;
    if (!resolve_stat(job->input_root, job->input, true, &in))
        return (errno == ENOENT || errno == ENOTDIR) &&
                       is_as_long(&entry->facts, &out)
                   ? VERDICT_DONE
                   : VERDICT_TODO; /* and then a reason is reported */
    if (in.st_dev == out.st_dev && in.st_ino == out.st_ino)
        return of_replaced(resume, job, &out, 0, err);
    return is_input(&entry->facts, &in) && is_as_long(&entry->facts, &out)
               ? VERDICT_DONE
               : VERDICT_TODO;
}
