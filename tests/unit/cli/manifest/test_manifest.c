/* Manifests as files: damaged lines are skipped, and a full disk loses no line
 * but the one it cuts. */
#include "cli/manifest/manifest.h"

#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/manifest/resume.h"
#include "tests/support/manifest_log.h"
#include "tests/support/test.h"

TEST_SET_UP()
{
    manifest_log_enter();
}

TEST_TEAR_DOWN()
{
    manifest_log_leave();
}

/* ---- What stands in the file ----------------------------------------------*/

/* What is appended behind a cut line is not lost with it. */
TEST(behind_cut)
{
    size_t size;
    unlink(LOG);
    put_file("a.ppm", "NEW", then);
    struct record job = job_of("a.ppm", "a.ppm");
    struct record done = with_status(job, STATUS_DONE, "NEW"), other = done;
    note(&done);
    append_log("{\"input\": \"\xc3");
    other.op = "fliph";
    note(&other);
    CHECK(verdict_of(&job) == VERDICT_DONE, "before");
    CHECK(verdict_of(&other) == VERDICT_DONE, "behind");
    owned_memory char *text = get_file(LOG, &size);
    CHECK(strstr(text, "\"}\n{\"input\": \"\xc3\n{\""), "%s", text);

    need(truncate(LOG, (off_t)size + 4096) == 0, LOG); /* as power cuts do */
    CHECK(verdict_of(&other) == VERDICT_DONE, "before zeros");
    other.op = "flipv";
    note(&other);
    CHECK(verdict_of(&other) == VERDICT_DONE, "behind zeros");
    append_log("\n\n  \n");
    CHECK(verdict_of(&other) == VERDICT_DONE, "before empty lines");
}

#define HEAD "{\"input\": \"a\", \"output\": \"b\", \"op\": \"fliph\", "
#define TIME "\"time\": \"2026-11-21T20:07:21.000000000Z\""

TEST(bad_lines)
{
    static const struct resume_jobs no_jobs;
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
    struct resume resume = { 0 };
    struct err err;
    for (size_t i = 0; i < COUNT(bad); i++) {
        unlink(LOG);
        append_log(HEAD "\"status\": \"failed\", \"new\": [1], " TIME "}\n");
        CHECK(resume_read(&resume, LOG, true, &no_jobs, &err) == 0, "%s",
              err.text);
        resume_free(&resume);
        append_log(bad[i]);
        CHECK(resume_read(&resume, LOG, true, &no_jobs, &err) == -1 &&
                  !strncmp(err.text, "line 2: ", 8),
              "%s", bad[i]);
        resume_free(&resume);
    }
    CHECK(resume_read(&resume, ".", true, &no_jobs, &err) == -1, "a directory");
    resume_free(&resume);
    CHECK(resume_read(&resume, "none", true, &no_jobs, &err) == 0, "%s",
          err.text);
    resume_free(&resume);
    CHECK(resume_read(&resume, "none", false, &no_jobs, &err) == -1 &&
              !strcmp(err.text, "No such file or directory"),
          "%s", err.text);
    resume_free(&resume);
}

static struct warnings warnings; /* there are none */

/* ---- Writing --------------------------------------------------------------*/

/* A line that was cut when the disk was full is ended before the next one. */
TEST(full)
{
    struct rlimit limit = { 300, RLIM_INFINITY };
    struct manifest *manifest;
    struct err err = { .text = "" };
    unlink(LOG);
    put_file("a.ppm", "NEW", then);
    struct record job = job_of("a.ppm", "a.ppm");
    struct record done = with_status(job, STATUS_DONE, "NEW");
    signal(SIGXFSZ, SIG_IGN);
    need(manifest_open(&manifest, LOG, &warnings, &err) == 0, LOG);
    need(setrlimit(RLIMIT_FSIZE, &limit) == 0, "limit");
    int status = 0;
    for (int i = 0; status == 0 && i < 3; i++)
        status = manifest_note(manifest, &done, false, &err);
    CHECK(status == -1 && strstr(err.text, "File too large"), "%s", err.text);
    limit.rlim_cur = RLIM_INFINITY;
    need(setrlimit(RLIMIT_FSIZE, &limit) == 0, "limit");
    done.op = "fliph";
    CHECK(manifest_note(manifest, &done, false, &err) == 0, "%s", err.text);
    CHECK(manifest_close(manifest, &err) == 0, "%s", err.text);
    CHECK(verdict_of(&done) == VERDICT_DONE, "behind what was cut");

    CHECK(manifest_open(&manifest, "/dev/full", &warnings, &err) == 0, "%s",
          err.text);
    CHECK(manifest_note(manifest, &done, true, &err) == -1 &&
              !strcmp(err.text, "No space left on device"),
          "%s", err.text);
    manifest_close(manifest, &err);
    CHECK(manifest_open(&manifest, ".", &warnings, &err) == -1 &&
              !strcmp(err.text, ".: Is a directory"),
          "%s", err.text);
    CHECK(manifest_open(&manifest, "none/log", &warnings, &err) == -1 &&
              !strcmp(err.text, "none/log: No such file or directory"),
          "%s", err.text);
}

/* A file that is not a manifest is left unchanged. */
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
    for (size_t i = 0; i < COUNT(files); i++) {
        size_t size;
        FILE *file = fopen(LOG, "wb");
        need(file &&
                 fwrite(files[i].text, 1, files[i].size, file) ==
                     files[i].size &&
                 fclose(file) == 0,
             LOG);
        bool good = manifest_open(&manifest, LOG, &warnings, &err) == 0;
        CHECK(good == files[i].good, "%zu", i);
        if (good)
            manifest_close(manifest, &err);
        else
            CHECK(!strcmp(err.text, LOG ": not a manifest"), "%s", err.text);
        owned_memory char *text = get_file(LOG, &size);
        CHECK(size == files[i].size && !memcmp(text, files[i].text, size),
              "%zu", i);
    }
}

/* ---- Times ----------------------------------------------------------------*/

/* They are written and read to the nanosecond. */
TEST(times)
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
        "@1.000000000",
    };
    struct timespec time;
    for (size_t i = 0; i < COUNT(times); i++) {
        const char *text = times[i].text;
        CHECK(manifest_time_read(text, &time), "%s", text);
        CHECK(time.tv_sec == times[i].time.tv_sec &&
                  time.tv_nsec == times[i].time.tv_nsec,
              "%s", text);
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK(!manifest_time_read(bad[i], &time), "%s", bad[i]);
}
