/* Writes manifests, and reads and writes their lines. */
#include "cli/manifest/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/json/json_read.h"
#include "cli/json/json_write.h"
#include "cli/manifest/timestamp.h"
#include "codecs/base/clock.h"

struct manifest {
    int fd;
    const char *name;
    char *cwd;             /* that relative names start from */
    pthread_mutex_t mutex; /* of all that follows, and of writing: so a line
                              that the kernel takes in pieces stays together */
    bool cut;              /* the file may end within a line */
    bool goes_on;          /* there were lines before */
    bool named;            /* the name of the file is on the disk */
};

/* ---- Opening ----------------------------------------------------------- */

/* Returns whether a file begins as a manifest does: with empty lines, as
 * manifest_index_read() accepts them, then an object. */
static bool begins_as_manifest(int in)
{
    char head[4096];
    ssize_t n = pread(in, head, sizeof head, 0);
    for (ssize_t i = 0; i < n; i++)
        if (!memchr(" \t\r\n\0", head[i], sizeof " \t\r\n"))
            return head[i] == '{';
    return true;
}

/* Looks at the bytes that are there already. If they cannot be read, they may
 * end within a line, after which an empty line does no harm. */
static int check_contents(struct manifest *m, struct err *err)
{
    struct stat st;
    char last = '\0';
    if (fstat(m->fd, &st) || !S_ISREG(st.st_mode) || st.st_size == 0)
        return 0;
    int in =
        strcmp(m->name, "-") == 0 ? -1 : open(m->name, O_RDONLY | O_CLOEXEC);
    bool good = in < 0 || begins_as_manifest(in);
    if (in >= 0) {
        (void)!pread(in, &last, 1, st.st_size - 1);
        close(in);
    }
    m->cut = last != '\n';
    m->goes_on = true;
    return good ? 0 : fail(err, "%s: not a manifest", m->name);
}

/* Locks an open file: for one that writes, or for any number that read. Pipes
 * and the like need no lock. Locks of flock() stay as long as the file is open
 * in any process: those of fcntl() would end when check_contents() closes it.
 */
static int lock(int fd, int how, const char *name, struct warnings *warnings,
                struct err *err)
{
    struct stat st;
    if ((fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) ||
        TEMP_FAILURE_RETRY(flock(fd, how | LOCK_NB)) == 0)
        return 0;
    if (errno == EWOULDBLOCK)
        return fail(err, "%s: in use by another run", name);
    warn(warnings,
         "%s: the manifest cannot be locked (%s); let no other run use it "
         "meanwhile",
         name, strerror(errno));
    return 0;
}

int manifest_hold(const char *name, struct warnings *warnings, struct err *err)
{
    /* Never closed: the lock ends with the program. */
    const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd < 0 ? fail(err, "%s: %s", name, strerror(errno))
                  : lock(fd, LOCK_SH, name, warnings, err);
}

int manifest_open(struct manifest **manifest, const char *name,
                  struct warnings *warnings, struct err *err)
{
    const bool prints = strcmp(name, "-") == 0;
    struct manifest *m = calloc(1, sizeof *m);
    if (!m)
        return fail(err, "no memory");
    if (!(m->cwd = getcwd(NULL, 0))) {
        free(m);
        return fail(err, "the current directory has no name: %s",
                    strerror(errno));
    }
    m->name = name;
    m->fd = prints
                ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                : open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    int status = m->fd < 0 ? fail(err, "%s: %s", name, strerror(errno)) : 0;
    if (status == 0 && !prints) /* other programs may share standard output */
        status = lock(m->fd, LOCK_EX, name, warnings, err);
    if (status == 0)
        status = check_contents(m, err);
    if (status) {
        if (m->fd >= 0)
            close(m->fd);
        free(m->cwd);
        free(m);
        return -1;
    }
    pthread_mutex_init(&m->mutex, NULL);
    *manifest = m;
    return 0;
}

/* ---- Writing a line ----------------------------------------------------- */

static void put_text(struct json_writer *json, const char *key,
                     const char *text)
{
    if (text)
        json_string(json, key, text);
}

static void put_time(struct json_writer *json, const char *key,
                     struct timespec time)
{
    char text[TIMESTAMP_SIZE];
    timestamp_write(text, time);
    json_string(json, key, text);
}

static void put_identity(struct json_writer *json, const char *key,
                         const struct inode_id *id)
{
    char text[48];
    if (!id->known)
        return;
    snprintf(text, sizeof text, "%" PRIu64 ":%" PRIu64, id->device, id->inode);
    json_string(json, key, text);
}

static void put_written(struct json_writer *json, const struct facts *facts)
{
    char crc[9];
    json_uint(json, "written", facts->written);
    put_identity(json, "written_inode", &facts->made);
    if (facts->made.known)
        put_time(json, "written_mtime", facts->made_time);
    if (!facts->summed)
        return;
    snprintf(crc, sizeof crc, "%08" PRIx32, facts->crc);
    json_string(json, "crc32", crc);
}

static void put_record(struct json_writer *json, const struct record *r,
                       const struct manifest *m)
{
    const struct facts *facts = &r->facts;
    json_open(json, NULL, '{');
    put_text(json, "input", r->input);
    put_text(json, "output", r->output);
    put_text(json, "op", r->op);
    put_text(json, "options", r->options);
    put_text(json, "status", manifest_status_name[facts->status]);
    put_text(json, "format", r->format);
    put_text(json, "how", r->how);
    put_text(json, "error", r->error);
    if (facts->size || facts->mtime.tv_sec || facts->mtime.tv_nsec) {
        json_uint(json, "size", facts->size);
        put_time(json, "mtime", facts->mtime);
        put_identity(json, "inode", &facts->file);
    }
    put_text(json, "sha256", r->shown_before);
    if (facts->status >= STATUS_READY)
        put_written(json, facts);
    put_text(json, "written_sha256", r->shown);
    put_time(json, "time", clock_read(CLOCK_REALTIME));
    if (*r->input != '/' || (r->output && *r->output != '/'))
        json_string(json, "directory", m->cwd);
    if (facts->anew && m->goes_on)
        json_bool(json, "anew", true);
    json_close(json, '}');
}

/* Makes a line with its newline, and with one before it, which ends a line that
 * was cut short. Returns NULL without memory. */
static char *make_line(const struct record *record, const struct manifest *m,
                       size_t *size)
{
    char *line = NULL;
    struct json_writer json = { .out = open_memstream(&line, size) };
    if (!json.out)
        return NULL;
    putc('\n', json.out);
    put_record(&json, record, m);
    putc('\n', json.out);
    bool whole = !ferror(json.out);
    if (fclose(json.out) || !whole) {
        free(line);
        return NULL;
    }
    return line;
}

/* ---- Appending --------------------------------------------------------- */

/* Appends a line, in one write() if the kernel takes it so. */
static int append(struct manifest *m, const char *line, size_t size,
                  struct err *err)
{
    size_t at = m->cut ? 0 : 1;
    while (at < size) {
        ssize_t n = TEMP_FAILURE_RETRY(write(m->fd, line + at, size - at));
        if (n < 0)
            return fail_system(err, NULL);
        at += (size_t)n;
        m->cut = at < size;
    }
    return 0;
}

/* A new file is safe only when its directory is. Some file systems cannot sync
 * one. */
static void sync_directory(const char *name)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(name, '/');
    int n = slash ? (int)(slash - name) + 1 : 0;
    if (snprintf(directory, sizeof directory, "%.*s.", n, name) >= PATH_MAX)
        return;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

/* Pipes and the like cannot be synced, and need not be. */
static int sync_data(struct manifest *m, struct err *err)
{
    if (fdatasync(m->fd) && errno != EINVAL && errno != EROFS &&
        errno != ENOTSUP)
        return fail_system(err, NULL);
    pthread_mutex_lock(&m->mutex);
    if (!m->named && strcmp(m->name, "-") != 0)
        sync_directory(m->name);
    m->named = true;
    pthread_mutex_unlock(&m->mutex);
    return 0;
}

int manifest_note(struct manifest *manifest, const struct record *record,
                  bool safe, struct err *err)
{
    size_t size;
    char *line = make_line(record, manifest, &size);
    if (!line)
        return fail(err, "no memory");
    pthread_mutex_lock(&manifest->mutex);
    int status = append(manifest, line, size, err);
    pthread_mutex_unlock(&manifest->mutex);
    free(line);
    return status == 0 && safe ? sync_data(manifest, err) : status;
}

int manifest_close(struct manifest *manifest, struct err *err)
{
    int status = close(manifest->fd);
    if (status)
        fail_system(err, "cannot be written");
    pthread_mutex_destroy(&manifest->mutex);
    free(manifest->cwd);
    free(manifest);
    return status;
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

static int take_digest(const struct json_value *root, const char *key,
                       const char **text, struct err *err)
{
    if (take_string(root, key, text, err))
        return -1;
    if (*text &&
        (strlen(*text) != 64 || strspn(*text, "0123456789abcdef") != 64))
        return fail(err, "%s is not 64 hexadecimal digits", key);
    return 0;
}

/* Reads "DEVICE:INODE", if it is there. */
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

static int take_directory(const struct json_value *root, struct record *r,
                          struct err *err)
{
    if (take_string(root, "directory", &r->directory, err))
        return -1;
    if (r->directory && *r->directory != '/')
        return fail(err, "directory is not an absolute name");
    r->facts.placed = r->directory || (*r->input == '/' && *r->output == '/');
    return 0;
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

/* A file that was passed over has no output. */
static int take_names(const struct json_value *root, struct record *r,
                      struct err *err)
{
    if (need_string(root, "input", &r->input, err))
        return -1;
    r->output = r->input;
    r->op = "";
    if (r->facts.status == STATUS_PASSED_OVER)
        return 0;
    return need_string(root, "output", &r->output, err) ||
                   need_string(root, "op", &r->op, err)
               ? -1
               : 0;
}

/* Sizes and times matter only if an output was written. Lines of older versions
 * do not have all of them. */
int manifest_read_line(const struct json_value *root, struct record *r,
                       struct err *err)
{
    struct facts *t = &r->facts;
    if (root->kind != JSON_OBJECT)
        return fail(err, "not an object");
    const struct json_value *anew = json_find(root, "anew");
    t->anew = anew && anew->kind == JSON_TRUE;
    if (need_status(root, &t->status, err) || take_names(root, r, err) ||
        take_directory(root, r, err) ||
        take_string(root, "options", &r->options, err) ||
        take_string(root, "error", &r->error, err) ||
        take_digest(root, "sha256", &r->shown_before, err) ||
        take_digest(root, "written_sha256", &r->shown, err) ||
        need_time(root, "time", &t->time, err))
        return -1;
    if (t->status < STATUS_READY)
        return 0;
    if (need_uint(root, "size", &t->size, err) ||
        need_time(root, "mtime", &t->mtime, err) ||
        need_uint(root, "written", &t->written, err) ||
        take_identity(root, "inode", &t->file, err) ||
        take_identity(root, "written_inode", &t->made, err) ||
        (t->made.known && need_time(root, "written_mtime", &t->made_time, err)))
        return -1;
    return take_crc(root, t, err);
}
