/* Writes manifests. */
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

#include "cli/files/path.h"
#include "cli/json/json.h"
#include "codecs/base/clock.h"

struct manifest {
    int fd;
    const char *name;
    char *cwd;             /* that relative names start from */
    pthread_mutex_t mutex; /* of all that follows, and of writing: so a line
                              that the kernel takes in pieces stays together */
    bool cut;              /* the file may end within a line */
    bool named;            /* the name of the file is on the disk */
};

const char *const manifest_status_name[] = {
    [STATUS_SKIPPED] = "skipped",
    [STATUS_FAILED] = "failed",
    [STATUS_READY] = "ready",
    [STATUS_DONE] = "done",
};

/* ---- Times -------------------------------------------------------------- */

enum { TIME_SIZE = 64 };

static void write_time(char text[TIME_SIZE], struct timespec time)
{
    struct tm tm;
    if (!gmtime_r(&time.tv_sec, &tm)) { /* after the year 2 billion */
        time = (struct timespec){ 0 };
        gmtime_r(&time.tv_sec, &tm);
    }
    snprintf(text, TIME_SIZE, "%04lld-%02d-%02dT%02d:%02d:%02d.%09ldZ",
             tm.tm_year + 1900LL, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
             tm.tm_min, tm.tm_sec, time.tv_nsec);
}

/* sscanf() accepts much; what it reads must be written as the same text. */
bool manifest_time_read(const char *text, struct timespec *time)
{
    struct tm tm = { 0 };
    char again[TIME_SIZE];
    long long year;
    if (sscanf(text, "%11lld-%2d-%2dT%2d:%2d:%2d.%9ldZ", &year, &tm.tm_mon,
               &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec,
               &time->tv_nsec) != 7)
        return false;
    tm.tm_year = (int)(year - 1900);
    tm.tm_mon--;
    time->tv_sec = timegm(&tm);
    write_time(again, *time);
    return strcmp(text, again) == 0;
}

/* ---- Opening ----------------------------------------------------------- */

/* Locks an open file: for one that writes, or for any number that read. Pipes
 * and the like need no lock. Locks of flock() stay as long as the file is open
 * in any process: those of fcntl() would end when it is closed that is read
 * below.
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

/* Returns whether a manifest may begin so: with empty lines, as resume.c
 * accepts them, then an object about an input, which may be cut. */
static bool may_begin(const char *head, size_t size)
{
    static const char start[] = "{\"input\"", blanks[] = " \t\r\n";
    for (; size && memchr(blanks, *head, sizeof blanks); head++)
        size--;
    const char *end = memchr(head, '\n', size);
    size = end ? (size_t)(end - head) : size;
    while (size && memchr(blanks, head[size - 1], sizeof blanks))
        size--;
    const size_t most = sizeof start - 1;
    if (size == 0 || head[size - 1] != '}')
        return memcmp(head, start, size < most ? size : most) == 0;
    return memmem(head, size, "\"input\"", 7) &&
           memmem(head, size, "\"status\"", 8);
}

int manifest_open(struct manifest **manifest, const char *name,
                  struct warnings *warnings, struct err *err)
{
    struct manifest *m = calloc(1, sizeof *m);
    struct stat st;
    if (!m)
        return fail(err, "no memory");
    if (!(m->cwd = getcwd(NULL, 0))) {
        free(m);
        return fail(err, "the current directory has no name: %s",
                    strerror(errno));
    }
    m->name = name;
    m->fd = open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    int status = m->fd < 0 ? fail(err, "%s: %s", name, strerror(errno))
                           : lock(m->fd, LOCK_EX, name, warnings, err);
    if (status == 0 && fstat(m->fd, &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_size) {
        /* If it cannot be read, it may end within a line, after which an empty
         * line does no harm. */
        char head[4096], last = '\0';
        int in = open(name, O_RDONLY | O_CLOEXEC);
        const ssize_t n = in < 0 ? 0 : pread(in, head, sizeof head, 0);
        const bool is = may_begin(head, n > 0 ? (size_t)n : 0);
        if (in >= 0) {
            (void)!pread(in, &last, 1, st.st_size - 1);
            close(in);
        }
        m->cut = last != '\n';
        if (!is)
            status = fail(err, "%s: not a manifest", name);
    }
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

static bool is_known(struct timespec time)
{
    return time.tv_sec || time.tv_nsec;
}

static void put_text(struct json_writer *json, const char *key,
                     const char *text)
{
    if (text)
        json_string(json, key, text);
}

static void put_time(struct json_writer *json, const char *key,
                     struct timespec time)
{
    char text[TIME_SIZE];
    write_time(text, time);
    json_string(json, key, text);
}

static void put_record(struct json_writer *json, const struct record *r,
                       const struct manifest *m)
{
    const struct facts *facts = &r->facts;
    char crc[9];
    json_open(json, NULL, '{');
    put_text(json, "input", r->input);
    put_text(json, "output", r->output);
    put_text(json, "op", r->op);
    put_text(json, "options", r->options);
    put_text(json, "status", manifest_status_name[facts->status]);
    put_text(json, "how", r->how);
    put_text(json, "error", r->error);
    if (facts->size || is_known(facts->mtime)) {
        json_uint(json, "size", facts->size);
        put_time(json, "mtime", facts->mtime);
    }
    if (facts->status >= STATUS_READY)
        json_uint(json, "written", facts->written);
    if (facts->status >= STATUS_READY && is_known(facts->made_time))
        put_time(json, "written_mtime", facts->made_time);
    if (facts->status >= STATUS_READY && facts->summed) {
        snprintf(crc, sizeof crc, "%08" PRIx32, facts->crc);
        json_string(json, "crc32", crc);
    }
    put_time(json, "time", clock_read(CLOCK_REALTIME));
    if (*r->input != '/' || (r->output && *r->output != '/'))
        json_string(json, "directory", m->cwd);
    json_close(json, '}');
}

/* A line has a newline before it, too, which ends one that was cut short. It is
 * appended in one write() if the kernel takes it so. Pipes and the like cannot
 * be synced, and need not be. */
int manifest_note(struct manifest *manifest, const struct record *record,
                  bool safe, struct err *err)
{
    struct manifest *m = manifest;
    char *line = NULL;
    size_t size;
    int status = 0;
    struct json_writer json = { .out = open_memstream(&line, &size) };
    if (!json.out)
        return fail(err, "no memory");
    putc('\n', json.out);
    put_record(&json, record, m);
    putc('\n', json.out);
    bool whole = !ferror(json.out);
    if (fclose(json.out) || !whole) {
        free(line);
        return fail(err, "no memory");
    }
    pthread_mutex_lock(&m->mutex);
    for (size_t at = m->cut ? 0 : 1; at < size && status == 0;) {
        ssize_t n = TEMP_FAILURE_RETRY(write(m->fd, line + at, size - at));
        if (n < 0)
            status = fail_system(err, NULL);
        else
            m->cut = (at += (size_t)n) < size;
    }
    pthread_mutex_unlock(&m->mutex);
    free(line);
    if (status || !safe)
        return status;
    if (fdatasync(m->fd) && errno != EINVAL && errno != EROFS &&
        errno != ENOTSUP)
        return fail_system(err, NULL);
    /* A new file is safe only when its directory is. Some file systems cannot
     * sync one. */
    pthread_mutex_lock(&m->mutex);
    const struct path path = path_split(m->name, strlen(m->name));
    struct path_text directory;
    path_text_set(&directory, path.ndirectory ? "" : ".");
    path_text_add(&directory, path.directory, path.ndirectory);
    const int fd =
        m->named ? -1
                 : open(directory.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    m->named = true;
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    pthread_mutex_unlock(&m->mutex);
    return 0;
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
