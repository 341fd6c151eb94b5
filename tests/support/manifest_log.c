/* A manifest in a directory of its own; see manifest_log.h. */
#include "tests/support/manifest_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/manifest/manifest.h"
#include "codecs/deflate/flate.h"
#include "tests/support/test.h"

static char place[] = "/tmp/gimgxf-test-XXXXXX";

void manifest_log_enter(void)
{
    need(mkdtemp(place) && chdir(place) == 0, place);
}

void manifest_log_leave(void)
{
    unlink(LOG);
    unlink("a.ppm");
    need(chdir("/") == 0 && rmdir(place) == 0, place);
}

/* ---- Files ----------------------------------------------------------------*/

void need(bool holds, const char *what)
{
    if (!holds) {
        perror(what);
        abort();
    }
}

void put_file(const char *name, const char *text, struct timespec mtime)
{
    struct timespec times[2] = { mtime, mtime };
    FILE *file = fopen(name, "wb");
    need(file && fputs(text, file) >= 0 && fclose(file) == 0, name);
    need(utimensat(AT_FDCWD, name, times, 0) == 0, name);
}

char *get_file(const char *name, size_t *size)
{
    struct stat st;
    FILE *file = fopen(name, "rb");
    need(file && fstat(fileno(file), &st) == 0, name);
    char *text = malloc((size_t)st.st_size + 1);
    need(text, name);
    *size = fread(text, 1, (size_t)st.st_size, file);
    text[*size] = '\0';
    fclose(file);
    return text;
}

void append_log(const char *text)
{
    FILE *file = fopen(LOG, "ab");
    need(file && fputs(text, file) >= 0 && fclose(file) == 0, LOG);
}

/* ---- Manifests ------------------------------------------------------------*/

void note(const struct record *record)
{
    struct manifest *manifest;
    struct err err = { .text = "" };
    struct warnings warnings = { 0 };
    CHECK(manifest_open(&manifest, LOG, &warnings, &err) == 0, "%s", err.text);
    CHECK(manifest_note(manifest, record, true, &err) == 0, "%s", err.text);
    CHECK(manifest_close(manifest, &err) == 0, "%s", err.text);
}

static struct record only_job(void *context, size_t i)
{
    return ((const struct record *)context)[i];
}

enum verdict verdict_of(const struct record *job)
{
    struct resume resume = { 0 };
    struct err err = { .text = "" };
    struct record asked = *job;
    const struct resume_jobs jobs = { 1, only_job, &asked };
    int status = resume_read(&resume, LOG, true, &jobs, &err);
    CHECK(status == 0, "%s", err.text);
    if (status)
        return (enum verdict) - 1;
    enum verdict verdict = resume_check(&resume, 0, &asked, &err);
    CHECK((verdict == VERDICT_CHANGED) == (*err.text != '\0'), "%s", err.text);
    resume_free(&resume);
    return verdict;
}

size_t wrong_when_cut(const struct record *job, enum verdict verdict)
{
    size_t size, same = 0;
    owned_memory char *text = get_file(LOG, &size);
    size_t start = size - 1;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    size_t cuts = size - 2 - start;
    for (size_t at = start; at < start + cuts; at++) {
        need(truncate(LOG, (off_t)at) == 0, LOG);
        same += verdict_of(job) == verdict;
        append_log(text + at); /* what it was */
    }
    return cuts - same;
}

struct record job_of(const char *input, const char *output)
{
    struct record job = {
        .input = input,
        .output = output,
        .op = "rotate90",
        .options = "--strip",
    };
    struct stat st;
    if (stat(input, &st) == 0) {
        job.facts.size = (uint64_t)st.st_size;
        job.facts.mtime = st.st_mtim;
    }
    return job;
}

struct record with_status(struct record job, enum manifest_status status,
                          const char *written)
{
    job.facts.status = status;
    if (written) {
        job.facts.written = strlen(written);
        job.facts.crc =
            flate_zlib.crc32(0, (const uint8_t *)written, job.facts.written);
        job.facts.summed = true;
    }
    return job;
}

const struct timespec then = { 1700000000, 123456789 };
