/* Manifests: what a batch that goes on makes of one, wherever the one before it
 * was ended, and what became of the files since. */
#include "cli/manifest/manifest.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "cli/manifest/manifest_index.h"
#include "cli/manifest/resume.h"
#include "cli/manifest/timestamp.h"
#include "codecs/deflate/flate.h"
#include "tests/support/test.h"

#define LOG "log.jsonl"

/* ---- Files ------------------------------------------------------------- */

static void must(bool holds, const char *what)
{
    if (!holds) {
        perror(what);
        abort();
    }
}

static char place[] = "/tmp/gimgxf-test-XXXXXX";

TEST_SET_UP()
{
    must(mkdtemp(place) && chdir(place) == 0, place);
}

static void put_file(const char *name, const char *text, struct timespec mtime)
{
    struct timespec times[2] = { mtime, mtime };
    FILE *file = fopen(name, "wb");
    must(file && fputs(text, file) >= 0 && fclose(file) == 0, name);
    must(utimensat(AT_FDCWD, name, times, 0) == 0, name);
}

static char *get_file(const char *name, size_t *size)
{
    struct stat st;
    FILE *file = fopen(name, "rb");
    must(file && fstat(fileno(file), &st) == 0, name);
    char *text = malloc((size_t)st.st_size + 1);
    must(text, name);
    *size = fread(text, 1, (size_t)st.st_size, file);
    text[*size] = '\0';
    fclose(file);
    return text;
}

static void append(const char *text)
{
    FILE *file = fopen(LOG, "ab");
    must(file && fputs(text, file) >= 0 && fclose(file) == 0, LOG);
}

/* ---- Manifests --------------------------------------------------------- */

static void note(const struct record *record)
{
    struct manifest *manifest;
    struct err err = { .text = "" };
    CHECK(manifest_open(&manifest, LOG, &err) == 0, "%s", err.text);
    CHECK(manifest_note(manifest, record, true, &err) == 0, "%s", err.text);
    CHECK(manifest_close(manifest, &err) == 0, "%s", err.text);
}

static enum verdict says(const struct record *job)
{
    struct resume *resume = NULL;
    struct err err = { .text = "" };
    int status = resume_read(&resume, LOG, true, &err);
    CHECK(status == 0, "%s", err.text);
    if (status)
        return (enum verdict) - 1;
    struct record asked = *job;
    enum verdict verdict = resume_check(resume, &asked, &err);
    CHECK((verdict == VERDICT_CHANGED) == (*err.text != '\0'), "%s", err.text);
    resume_free(resume);
    return verdict;
}

/* The last line is cut after each of its bytes but the last two, its bracket
 * and newline, which are no loss. Gives how often a verdict is this one. */
static size_t says_when_cut(const struct record *job, enum verdict verdict)
{
    size_t size, same = 0;
    char *text = get_file(LOG, &size);
    size_t start = size - 1;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    size_t cuts = size - 2 - start;
    for (size_t at = start; at < start + cuts; at++) {
        must(truncate(LOG, (off_t)at) == 0, LOG);
        same += says(job) == verdict;
        append(text + at); /* what it was */
    }
    free(text);
    return cuts - same;
}

/* A job on this file as it is. */
static struct record job_of(const char *input, const char *output)
{
    struct record job = {
        .input = input,
        .output = output,
        .op = "rotate90",
        .options = "--strip",
    };
    struct stat st;
    if (stat(input, &st) == 0) {
        job.size = (uint64_t)st.st_size;
        job.mtime = st.st_mtim;
    }
    return job;
}

static struct record told(struct record job, const char *status,
                          const char *written)
{
    job.status = status;
    if (written) {
        job.written = strlen(written);
        job.crc = flate_zlib.crc32(0, (const uint8_t *)written, job.written);
        job.summed = true;
    }
    return job;
}

static const struct timespec then = { 1700000000, 123456789 };

/* ---- In place ---------------------------------------------------------- */

/* An end between any two steps: the note that it is about to be replaced, its
 * being replaced by `fresh`, the note that it is done. The times of the file
 * stay, as with --preserve. */
static void check_steps(const char *old, const char *fresh)
{
    unlink(LOG);
    put_file("a.ppm", old, then);
    struct record job = job_of("a.ppm", "a.ppm");
    struct record ready = told(job, "ready", fresh);
    struct record done = told(job, "done", fresh);

    CHECK(says(&job) == VERDICT_TODO, "nothing is noted");
    note(&ready);
    CHECK(says(&job) == (strcmp(old, fresh) ? VERDICT_TODO : VERDICT_REPLACED),
          "not replaced");
    CHECK(says_when_cut(&job, VERDICT_TODO) == 0, "not replaced, cut");
    put_file("a.ppm", fresh, then);
    CHECK(says(&job) == VERDICT_REPLACED, "replaced");
    put_file("a.ppm", fresh, (struct timespec){ 1800000000, 1 });
    CHECK(says(&job) == VERDICT_REPLACED, "replaced, with times of its own");
    note(&done);
    CHECK(says(&job) == VERDICT_DONE, "done");
    CHECK(says_when_cut(&job, VERDICT_REPLACED) == 0, "done, cut");
    put_file("a.ppm", "something else", then);
    CHECK(says(&job) == VERDICT_CHANGED, "done, then changed");
    put_file("a.ppm", old, then);
    CHECK(says(&job) ==
              (strcmp(old, fresh) ? VERDICT_CHANGED : VERDICT_DONE),
          "done, then brought back");
    unlink("a.ppm");
    CHECK(says(&job) == VERDICT_DONE, "done, then removed");
}

TEST(steps)
{
    check_steps("old", "NEW AND LONGER");
    check_steps("old", "NEW");
    check_steps("the same", "the same");
}

TEST(changed)
{
    unlink(LOG);
    put_file("a.ppm", "old", then);
    struct record job = job_of("a.ppm", "a.ppm");
    struct record ready = told(job, "ready", "NEW");
    note(&ready);
    put_file("a.ppm", "third one", then);
    CHECK(says(&job) == VERDICT_CHANGED, "of another size");
    put_file("a.ppm", "new", (struct timespec){ 1700000000, 123456788 });
    CHECK(says(&job) == VERDICT_CHANGED, "of another time");
    put_file("a.ppm", "older", then);
    CHECK(says(&job) == VERDICT_CHANGED, "of another size, the same time");
    unlink("a.ppm");
    CHECK(says(&job) == VERDICT_CHANGED, "gone");
    put_file("a.ppm", "old", then);
    CHECK(says(&job) == VERDICT_TODO, "as it was");

    /* That it was left alone then, or that it could not be replaced, is no word
     * on what it is. */
    struct record failed = told(job, "failed", NULL);
    note(&failed);
    CHECK(says(&job) == VERDICT_TODO, "failed, as it was");
    put_file("a.ppm", "third one", then);
    CHECK(says(&job) == VERDICT_CHANGED, "failed, changed");
    note(&failed);
    put_file("a.ppm", "NEW", then);
    CHECK(says(&job) == VERDICT_REPLACED, "failed, but replaced");
    struct record done = told(job, "done", "NEW");
    note(&done);
    CHECK(says(&job) == VERDICT_DONE, "done in the end");
    unlink(LOG);
    note(&failed);
    note(&ready);
    CHECK(says(&job) == VERDICT_REPLACED, "first failed, then replaced");

    /* Without the checksum only sizes that differ tell anything. */
    unlink(LOG);
    put_file("a.ppm", "old", then);
    ready.summed = false;
    note(&ready);
    CHECK(says(&job) == VERDICT_CHANGED, "old or new");
    ready.written = 4;
    note(&ready);
    CHECK(says(&job) == VERDICT_TODO, "surely old");
}

/* A note that it is done with all that is known of the file as it is. */
static struct record noted(struct record job, const char *written)
{
    struct stat st;
    struct record done = told(job, "done", written);
    must(stat(job.output, &st) == 0, job.output);
    done.made = (struct inode_id){ st.st_dev, st.st_ino, true };
    done.made_time = st.st_mtim;
    return done;
}

/* What the inode, the size and the time say is not read: the checksum of these
 * notes is a wrong one, so it is seen whether it counts. */
TEST(replaced)
{
    static const struct timespec later = { 1800000000, 1 };
    struct err err = { .text = "" };
    unlink(LOG);
    put_file("a.ppm", "older", then);
    struct record job = job_of("a.ppm", "a.ppm");
    put_file("a.ppm", "NEW", later);
    struct record done = noted(job, "NEW");
    done.crc ^= 1;
    note(&done);
    CHECK(says(&job) == VERDICT_DONE, "by inode, size and time");
    put_file("a.ppm", "NEW", then);
    CHECK(says(&job) == VERDICT_CHANGED, "of another time");
    done.summed = false;
    note(&done);
    CHECK(says(&job) == VERDICT_DONE, "by inode and size");
    done.made.inode++;
    note(&done);
    CHECK(says(&job) == VERDICT_CHANGED, "by size alone");
    put_file("a.ppm", "NEW", later);
    CHECK(says(&job) == VERDICT_DONE, "by size and time");
    done.made.known = false;
    note(&done);
    put_file("a.ppm", "new", then);
    CHECK(says(&job) == VERDICT_DONE, "of an older version, by size");
    put_file("a.ppm", "older", then);
    CHECK(says(&job) == VERDICT_CHANGED, "of an older version, restored");

    /* With --preserve the original may look the same. */
    unlink(LOG);
    put_file("a.ppm", "old", then);
    job = job_of("a.ppm", "a.ppm");
    put_file("a.ppm", "NEW", then);
    done = noted(job, "NEW");
    note(&done);
    CHECK(says(&job) == VERDICT_DONE, "by its bytes");
    put_file("a.ppm", "old", then);
    CHECK(says(&job) == VERDICT_CHANGED, "alike, but for its bytes");

    /* What a later operation has made of it; but not an earlier one. */
    put_file("a.ppm", "LATER", later);
    struct record next = told(job, "done", "LATER"), ready = next;
    next.op = ready.op = "fliph";
    ready.status = "ready";
    note(&ready);
    CHECK(says(&job) == VERDICT_DONE, "a later one, perhaps");
    note(&next);
    CHECK(says(&job) == VERDICT_DONE, "a later one");
    put_file("a.ppm", "NEW", then);
    CHECK(says(&next) == VERDICT_CHANGED, "an earlier one");

    must(unlink("a.ppm") == 0 && symlink("a.ppm", "a.ppm") == 0, "a.ppm");
    struct resume *resume = NULL;
    CHECK(resume_read(&resume, LOG, false, &err) == 0, "%s", err.text);
    CHECK(resume_check(resume, &job, &err) == VERDICT_CHANGED &&
              !strcmp(err.text, "Too many levels of symbolic links"),
          "%s", err.text);
    resume_free(resume);
    unlink("a.ppm");
}

/* ---- To another place -------------------------------------------------- */

TEST(elsewhere)
{
    struct stat st;
    unlink(LOG);
    put_file("a.ppm", "old", then);
    put_file("b.ppm", "NEWER", then);
    struct record job = job_of("a.ppm", "b.ppm");
    struct record done = told(job, "done", "NEWER");
    CHECK(says(&job) == VERDICT_TODO, "nothing is noted");
    note(&done);
    CHECK(says(&job) == VERDICT_DONE, "done");
    CHECK(says_when_cut(&job, VERDICT_TODO) == 0, "cut");
    put_file("a.ppm", "old", (struct timespec){ 1700000000, 123456788 });
    CHECK(says(&job) == VERDICT_TODO, "the input has another time");
    put_file("a.ppm", "olde", then);
    CHECK(says(&job) == VERDICT_TODO, "the input has another size");
    unlink("a.ppm");
    CHECK(says(&job) == VERDICT_DONE, "the input is gone");
    put_file("b.ppm", "other", then);
    CHECK(says(&job) == VERDICT_DONE, "the output was touched");
    put_file("b.ppm", "NEWE", then);
    CHECK(says(&job) == VERDICT_TODO, "the output has another size");
    unlink("b.ppm");
    CHECK(says(&job) == VERDICT_TODO, "the output is gone");
    must(mkdir("b.ppm", 0777) == 0 && stat("b.ppm", &st) == 0, "b.ppm");
    done.written = (uint64_t)st.st_size;
    note(&done);
    CHECK(says(&job) == VERDICT_TODO, "the output is a directory");
    rmdir("b.ppm");
}

TEST(other_jobs)
{
    unlink(LOG);
    put_file("a.ppm", "NEW", then);
    struct record job = job_of("a.ppm", "a.ppm"), other = job;
    struct record done = told(job, "done", "NEW");
    note(&done);
    other.op = "rotate180";
    CHECK(says(&other) == VERDICT_TODO, "another operation");
    other = job;
    other.input = "A.ppm";
    CHECK(says(&other) == VERDICT_TODO, "another input");
    other = job;
    other.output = "A.ppm";
    CHECK(says(&other) == VERDICT_TODO, "another output");

    /* The same file under two names is replaced, too. */
    other = job_of("a.ppm", "./a.ppm");
    done = told(other, "done", "BIG FILE");
    note(&done);
    put_file("a.ppm", "BIG FILE", (struct timespec){ 1800000000, 1 });
    CHECK(says(&other) == VERDICT_DONE, "by another name");
}

/* Options make another output of the same input, but what is turned in place is
 * turned, whatever they are. */
TEST(options)
{
    static const char *const options[] = { "--strip=all", "", NULL };
    put_file("a.ppm", "old", then);
    put_file("b.ppm", "NEW", then);
    struct record in_place = job_of("a.ppm", "a.ppm");
    struct record elsewhere = job_of("a.ppm", "b.ppm");
    struct record done = told(in_place, "done", "NEW");
    unlink(LOG);
    note(&done);
    put_file("a.ppm", "NEW", then);
    done = told(elsewhere, "done", "NEW");
    note(&done);
    CHECK(says(&elsewhere) == VERDICT_DONE, "the same options");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        in_place.options = elsewhere.options = options[i];
        CHECK(says(&in_place) == VERDICT_DONE, "in place, %zu", i);
        CHECK(says(&elsewhere) == VERDICT_TODO, "elsewhere, %zu", i);
    }
    done.options = NULL;
    note(&done);
    elsewhere.options = "";
    CHECK(says(&elsewhere) == VERDICT_DONE, "none are none");

    in_place.options = "--strip=all";
    in_place.op = "rotate180";
    struct record ready = told(in_place, "ready", "NEWER");
    note(&ready);
    put_file("a.ppm", "NEWER", then);
    in_place.options = NULL;
    CHECK(says(&in_place) == VERDICT_REPLACED, "about to be replaced");
    unlink("b.ppm");
}

/* What was found in a directory is looked for there: a directory in it that has
 * become a link leads to no answer about another file. */
TEST(confined)
{
    struct root root;
    struct err err = { .text = "" };
    unlink(LOG);
    must(mkdir("walked", 0777) == 0 && mkdir("other", 0777) == 0, "walked");
    must(symlink("../other", "walked/a") == 0, "walked/a");
    put_file("other/a.ppm", "turned", then);
    put_file("other/old.ppm", "old", then);
    CHECK(root_open_walked(&root, "walked", ROOT_LINKS_NONE, true, &err) == 0,
          "%s", err.text);
    struct record in_place = job_of("walked/a/a.ppm", "walked/a/a.ppm");
    struct record ready = told(in_place, "ready", "turned");
    struct record elsewhere = job_of("walked/a/old.ppm", "other/a.ppm");
    struct record done = told(elsewhere, "done", "turned");
    note(&ready);
    note(&done);
    CHECK(says(&in_place) == VERDICT_REPLACED, "by any name");
    CHECK(says(&elsewhere) == VERDICT_DONE, "from any name");
    in_place.input_root = in_place.output_root = &root;
    elsewhere.input_root = &root;
    CHECK(says(&in_place) == VERDICT_CHANGED, "not by a link");
    CHECK(says(&elsewhere) == VERDICT_TODO, "not from a link");
    root_close(&root);
    unlink("walked/a");
    unlink("other/a.ppm");
    unlink("other/old.ppm");
    must(rmdir("walked") == 0 && rmdir("other") == 0, "walked");
}

/* However its names are spelled, a file is the same one. */
TEST(spellings)
{
    char here[PATH_MAX], whole[PATH_MAX + 20];
    must(getcwd(here, sizeof here) != NULL, "here");
    snprintf(whole, sizeof whole, "//%s/./q/a.ppm", here);
    const char *const same[] = {
        "q/a.ppm", "./q/a.ppm", "q//a.ppm", "././/q/./a.ppm", whole, whole + 1,
    };
    static const char *const others[] = {
        "q/../q/a.ppm", "/q/a.ppm", "a.ppm", "q/a.pp", "q/a.ppm2",
        "q/a/ppm",      "qa.ppm",   ".q/a.ppm",
    };
    enum { SAME = sizeof same / sizeof *same };
    must(mkdir("q", 0777) == 0, "q");
    put_file("q/a.ppm", "NEW", then);
    for (size_t i = 0; i < SAME; i++) {
        struct record job = job_of(same[i], same[i]);
        struct record beside = job_of(same[i], "b.ppm");
        struct record done = told(job, "done", "NEW");
        unlink(LOG);
        note(&done);
        for (size_t k = 0; k < SAME; k++) {
            job.input = same[k];
            CHECK(says(&job) == VERDICT_DONE, "%s, %s", same[i], same[k]);
            job.output = same[k];
            CHECK(says(&job) == VERDICT_DONE, "%s, %s", same[i], same[k]);
        }
        CHECK(says(&beside) == VERDICT_TODO, "another output");
        for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
            job.input = job.output = others[k];
            CHECK(says(&job) == VERDICT_TODO, "%s, %s", same[i], others[k]);
        }
    }
    unlink("q/a.ppm");
    rmdir("q");

    unlink(LOG);
    put_file("a.ppm", "old", then);
    put_file("b.ppm", "NEW", then);
    struct record job = job_of("a.ppm", "./b.ppm");
    struct record done = told(job, "done", "NEW");
    note(&done);
    job.input = ".//a.ppm";
    job.output = "b.ppm";
    CHECK(says(&job) == VERDICT_DONE, "to another place");
    unlink("b.ppm");
}

TEST(order)
{
    unlink(LOG);
    put_file("a.ppm", "NEW", then);
    struct record job = job_of("a.ppm", "a.ppm");
    struct record done = told(job, "done", "NEW");
    struct record failed = told(job, "failed", NULL);
    struct record skipped = told(job, "skipped", NULL);
    note(&skipped);
    CHECK(says(&job) == VERDICT_TODO, "skipped");
    note(&failed);
    CHECK(says(&job) == VERDICT_TODO, "failed");
    note(&done);
    CHECK(says(&job) == VERDICT_DONE, "done");
    note(&skipped);
    CHECK(says(&job) == VERDICT_DONE, "skipped, since it was done");
    note(&failed);
    CHECK(says(&job) == VERDICT_TODO, "done, then failed");
}

/* ---- What stands in the file ------------------------------------------- */

/* What is appended behind a cut line is not lost with it. */
TEST(behind_cut)
{
    size_t size;
    unlink(LOG);
    put_file("a.ppm", "NEW", then);
    struct record job = job_of("a.ppm", "a.ppm");
    struct record done = told(job, "done", "NEW"), other = done;
    note(&done);
    append("{\"input\": \"\xc3");
    other.op = "fliph";
    note(&other);
    CHECK(says(&job) == VERDICT_DONE, "before");
    CHECK(says(&other) == VERDICT_DONE, "behind");
    char *text = get_file(LOG, &size);
    CHECK(strstr(text, "\"}\n{\"input\": \"\xc3\n{\""), "%s", text);
    free(text);

    must(truncate(LOG, (off_t)size + 4096) == 0, LOG); /* as power cuts do */
    CHECK(says(&other) == VERDICT_DONE, "before zeros");
    other.op = "flipv";
    note(&other);
    CHECK(says(&other) == VERDICT_DONE, "behind zeros");
    append("\n\n  \n");
    CHECK(says(&other) == VERDICT_DONE, "before empty lines");
}

#define HEAD "{\"input\": \"a\", \"output\": \"b\", \"op\": \"fliph\", "
#define TIME "\"time\": \"2026-11-21T20:07:21.000000000Z\""

TEST(bad_lines)
{
    static const char *const bad[] = {
        "hello\n",
        "{\"input\": \"a\"}\n",
        "[]\n",
        "17",
        "\"abc",
        "\x89PNG",
        "{\"a\": 1}}\n",
        HEAD "\"status\": \"did\", " TIME "}\n",
        HEAD "\"status\": 1, " TIME "}\n",
        HEAD "\"status\": \"failed\"}\n",
        HEAD "\"status\": \"failed\", \"options\": 0, " TIME "}\n",
        HEAD "\"status\": \"done\", " TIME "}\n",
        HEAD "\"status\": \"done\", \"size\": 1, \"mtime\": \"2026\", "
             "\"written\": 2, " TIME "}\n",
        HEAD "\"status\": \"done\", \"size\": 1.0, \"mtime\": "
             "\"2026-11-21T20:07:21.000000000Z\", \"written\": 2, " TIME "}\n",
        HEAD "\"status\": \"done\", \"size\": 1, \"mtime\": "
             "\"2026-11-21T20:07:21.000000000Z\", \"written\": 2, \"crc32\": "
             "\"0x123456\", " TIME "}\n",
    };
    struct resume *resume = NULL;
    struct err err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unlink(LOG);
        append(HEAD "\"status\": \"failed\", \"new\": [1], " TIME "}\n");
        CHECK(resume_read(&resume, LOG, true, &err) == 0, "%s", err.text);
        resume_free(resume);
        append(bad[i]);
        CHECK(resume_read(&resume, LOG, true, &err) == -1 &&
                  !strncmp(err.text, "line 2: ", 8),
              "%s", bad[i]);
    }
    CHECK(resume_read(&resume, ".", true, &err) == -1, "a directory");
    CHECK(resume_read(&resume, "none", true, &err) == 0, "%s", err.text);
    struct resume *none = NULL;
    CHECK(resume_read(&none, "none", false, &err) == -1 &&
              !strcmp(err.text, "No such file or directory"),
          "%s", err.text);
    resume_free(resume);
    resume_free(NULL);
}

TEST(names)
{
    enum { NAMES = 5000 };
    static char name[NAMES][24];
    struct manifest *manifest;
    struct resume *resume = NULL;
    struct err err;
    uint64_t state = 1;
    unlink(LOG);
    must(manifest_open(&manifest, LOG, &err) == 0, LOG);
    for (int i = 0; i < NAMES; i++) {
        int n = snprintf(name[i], sizeof name[i], "%d", i);
        for (int k = n; k < 20; k++)
            name[i][k] = (char)(1 + (test_random(&state) >> 32) % 255);
        struct record record = { .input = name[i],
                                 .output = name[i],
                                 .op = "fliph",
                                 .status = i % 3 ? "done" : "failed" };
        record.size = UINT64_MAX - (uint64_t)i;
        must(manifest_note(manifest, &record, false, &err) == 0, LOG);
    }
    must(manifest_close(manifest, &err) == 0, LOG);
    CHECK(resume_read(&resume, LOG, true, &err) == 0, "%s", err.text);
    int wrong = 0;
    for (int i = 0; resume && i < NAMES; i++) {
        struct record job = { .input = name[i],
                              .output = name[i],
                              .op = "fliph" };
        wrong +=
            (resume_check(resume, &job, &err) == VERDICT_DONE) != !!(i % 3);
    }
    CHECK(wrong == 0, "%d", wrong);
    resume_free(resume);
}

/* ---- Writing ----------------------------------------------------------- */

enum { THREADS = 4, NOTES = 500 };

static void *note_many(void *context)
{
    static char number[THREADS * NOTES][16];
    static unsigned next;
    struct err err;
    for (int i = 0; i < NOTES; i++) {
        unsigned n = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
        snprintf(number[n], sizeof number[n], "%u", n);
        struct record record = { .input = number[n],
                                 .output = "out",
                                 .op = "copy",
                                 .status = "failed" };
        must(manifest_note(context, &record, false, &err) == 0, LOG);
    }
    return NULL;
}

TEST(threads)
{
    struct manifest_index index = { 0 };
    struct manifest *manifest;
    struct err err = { .text = "" };
    pthread_t thread[THREADS];
    unlink(LOG);
    must(manifest_open(&manifest, LOG, &err) == 0, LOG);
    for (int i = 0; i < THREADS; i++)
        must(!pthread_create(&thread[i], NULL, note_many, manifest), "thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    must(manifest_close(manifest, &err) == 0, LOG);
    CHECK(manifest_index_read(&index, LOG, &err) == 0, "%s", err.text);
    CHECK(index.count == THREADS * NOTES, "%zu", index.count);
    manifest_index_free(&index);
}

/* A line that was cut when the disk was full is ended before the next one. */
TEST(full)
{
    struct rlimit limit = { 300, RLIM_INFINITY };
    struct manifest *manifest;
    struct err err = { .text = "" };
    unlink(LOG);
    put_file("a.ppm", "NEW", then);
    struct record job = job_of("a.ppm", "a.ppm");
    struct record done = told(job, "done", "NEW");
    signal(SIGXFSZ, SIG_IGN);
    must(manifest_open(&manifest, LOG, &err) == 0, LOG);
    must(setrlimit(RLIMIT_FSIZE, &limit) == 0, "limit");
    int status = 0;
    for (int i = 0; status == 0 && i < 3; i++)
        status = manifest_note(manifest, &done, false, &err);
    CHECK(status == -1 && strstr(err.text, "File too large"), "%s", err.text);
    limit.rlim_cur = RLIM_INFINITY;
    must(setrlimit(RLIMIT_FSIZE, &limit) == 0, "limit");
    done.op = "fliph";
    CHECK(manifest_note(manifest, &done, false, &err) == 0, "%s", err.text);
    CHECK(manifest_close(manifest, &err) == 0, "%s", err.text);
    CHECK(says(&done) == VERDICT_DONE, "behind what was cut");

    CHECK(manifest_open(&manifest, "/dev/full", &err) == 0, "%s", err.text);
    CHECK(manifest_note(manifest, &done, true, &err) == -1 &&
              !strcmp(err.text, "No space left on device"),
          "%s", err.text);
    manifest_close(manifest, &err);
    CHECK(manifest_open(&manifest, ".", &err) == -1 &&
              !strcmp(err.text, ".: Is a directory"),
          "%s", err.text);
    CHECK(manifest_open(&manifest, "none/log", &err) == -1 &&
              !strcmp(err.text, "none/log: No such file or directory"),
          "%s", err.text);
}

/* What is no manifest stays as it is. */
TEST(no_manifest)
{
    static const struct {
        const char *text;
        size_t size;
        bool good;
    } files[] = {
#define FILE_OF(text, good) { text, sizeof text - 1, good }
        FILE_OF("", true),
        FILE_OF("\n", true),
        FILE_OF("{", true),
        FILE_OF("\n \n{\"", true),
        FILE_OF("\0\0\0\0", true), /* which power cuts leave */
        FILE_OF("\xff\xd8\xff\xe0", false),
        FILE_OF("\x89PNG\r\n", false),
        FILE_OF("\0\0\2\0", false), /* a TGA */
        FILE_OF("\nP5 1 1 1 {", false),
#undef FILE_OF
    };
    struct manifest *manifest;
    struct err err = { .text = "" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t size;
        FILE *file = fopen(LOG, "wb");
        must(file && fwrite(files[i].text, 1, files[i].size, file) ==
                         files[i].size && fclose(file) == 0, LOG);
        bool good = manifest_open(&manifest, LOG, &err) == 0;
        CHECK(good == files[i].good, "%zu", i);
        if (good)
            manifest_close(manifest, &err);
        else
            CHECK(!strcmp(err.text, LOG ": not a manifest"), "%s", err.text);
        char *text = get_file(LOG, &size);
        CHECK(size == files[i].size && !memcmp(text, files[i].text, size),
              "%zu", i);
        free(text);
    }
}

TEST(pipe)
{
    int end[2];
    char name[40], text[1000] = "";
    struct manifest *manifest;
    struct err err;
    struct record record = {
        .input = "i", .output = "o", .op = "copy", .status = "skipped"
    };
    must(pipe(end) == 0, "pipe");
    snprintf(name, sizeof name, "/proc/self/fd/%d", end[1]);
    CHECK(manifest_open(&manifest, name, &err) == 0, "%s", err.text);
    CHECK(manifest_note(manifest, &record, true, &err) == 0, "%s", err.text);
    manifest_close(manifest, &err);
    must(read(end[0], text, sizeof text - 1) > 0, "pipe");
    static const char want[] = "{\"input\": \"i\", \"output\": \"o\", \"op\": "
                               "\"copy\", \"status\": \"skipped\", \"time\": ";
    CHECK(!strncmp(text, want, sizeof want - 1), "%s", text);
    close(end[0]);
    close(end[1]);
}

/* ---- Times ------------------------------------------------------------- */

TEST(stamps)
{
    static const struct {
        struct timespec time;
        const char *text;
    } times[] = {
        { { 0, 0 }, "1970-01-01T00:00:00.000000000Z" },
        { { -1, 999999999 }, "1969-12-31T23:59:59.999999999Z" },
        { { 951782400, 1 }, "2000-02-29T00:00:00.000000001Z" },
        { { 253402300799, 5 }, "9999-12-31T23:59:59.000000005Z" },
        { { 253402300800, 0 }, "10000-01-01T00:00:00.000000000Z" },
        { { -62198755200, 0 }, "-001-01-01T00:00:00.000000000Z" },
        { { 100000000000000000, 7 }, "@100000000000000000.000000007" },
    };
    static const char *const bad[] = {
        "",
        "2026-11-21T20:07:21Z",
        "2026-11-21T20:07:21.123456789",
        "2026-11-21T20:07:21.12345678Z",
        "2026-11-21T20:07:21.1234567890Z",
        "2026-02-30T20:07:21.123456789Z",
        "2026-11-21T24:07:21.123456789Z",
        "2026-11-21 20:07:21.123456789Z",
        " 2026-11-21T20:07:21.123456789Z",
        "@1.5",
        "@1.000000000",
    };
    struct timespec time;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char text[TIMESTAMP_SIZE];
        timestamp_write(text, times[i].time);
        CHECK(!strcmp(text, times[i].text), "%s", text);
        CHECK(timestamp_read(text, &time), "%s", text);
        CHECK(timestamp_compare(time, times[i].time) == 0, "%s", text);
        CHECK(i < 3 || timestamp_compare(times[2].time, times[i].time) ==
                           (times[i].time.tv_sec > 0 ? -1 : 1),
              "%s", text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!timestamp_read(bad[i], &time), "%s", bad[i]);
}

TEST_TEAR_DOWN()
{
    unlink(LOG);
    unlink("a.ppm");
    must(chdir("/") == 0 && rmdir(place) == 0, place);
}
