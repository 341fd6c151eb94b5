/* --resume reads from a manifest what is left to do, wherever the earlier run
 * was interrupted and whatever became of the files since. */
#include "cli/manifest/resume.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* ---- In place -------------------------------------------------------------*/

/* An end between any two steps: the note that it is about to be replaced, its
 * being replaced by `fresh`, the note that it is done. The times of the file
 * stay, as with --preserve. */
static void check_steps(const char *old, const char *fresh)
{
    unlink(LOG);
    put_file("a.ppm", old, then);
    struct record job = job_of("a.ppm", "a.ppm");
    struct record ready = with_status(job, STATUS_READY, fresh);
    struct record done = with_status(job, STATUS_DONE, fresh);

    CHECK(verdict_of(&job) == VERDICT_TODO, "nothing is noted");
    note(&ready);
    CHECK(verdict_of(&job) ==
              (strcmp(old, fresh) ? VERDICT_TODO : VERDICT_REPLACED),
          "not replaced");
    CHECK(wrong_when_cut(&job, VERDICT_TODO) == 0, "not replaced, cut");
    put_file("a.ppm", fresh, then);
    CHECK(verdict_of(&job) == VERDICT_REPLACED, "replaced");
    put_file("a.ppm", fresh, (struct timespec){ 1800000000, 1 });
    CHECK(verdict_of(&job) == VERDICT_REPLACED,
          "replaced, with times of its own");
    note(&done);
    CHECK(verdict_of(&job) == VERDICT_DONE, "done");
    CHECK(wrong_when_cut(&job, VERDICT_REPLACED) == 0, "done, cut");
    put_file("a.ppm", "something else", then);
    CHECK(verdict_of(&job) == VERDICT_CHANGED, "done, then changed");
    put_file("a.ppm", old, then);
    CHECK(verdict_of(&job) ==
              (strcmp(old, fresh) ? VERDICT_CHANGED : VERDICT_DONE),
          "done, then brought back");
    unlink("a.ppm");
    CHECK(verdict_of(&job) == VERDICT_DONE, "done, then removed");
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
    struct record ready = with_status(job, STATUS_READY, "NEW");
    note(&ready);
    put_file("a.ppm", "third one", then);
    CHECK(verdict_of(&job) == VERDICT_CHANGED, "of another size");
    put_file("a.ppm", "new", (struct timespec){ 1700000000, 123456788 });
    CHECK(verdict_of(&job) == VERDICT_CHANGED, "of another time");
    put_file("a.ppm", "older", then);
    CHECK(verdict_of(&job) == VERDICT_CHANGED,
          "of another size, the same time");
    unlink("a.ppm");
    CHECK(verdict_of(&job) == VERDICT_CHANGED, "gone");
    put_file("a.ppm", "old", then);
    CHECK(verdict_of(&job) == VERDICT_TODO, "as it was");

    /* A job that was skipped or failed says nothing about what the file is. */
    struct record failed = with_status(job, STATUS_FAILED, NULL);
    note(&failed);
    CHECK(verdict_of(&job) == VERDICT_TODO, "failed, as it was");
    put_file("a.ppm", "third one", then);
    CHECK(verdict_of(&job) == VERDICT_CHANGED, "failed, changed");
    note(&failed);
    put_file("a.ppm", "NEW", then);
    CHECK(verdict_of(&job) == VERDICT_REPLACED, "failed, but replaced");
    struct record done = with_status(job, STATUS_DONE, "NEW");
    note(&done);
    CHECK(verdict_of(&job) == VERDICT_DONE, "done in the end");
    unlink(LOG);
    note(&failed);
    note(&ready);
    CHECK(verdict_of(&job) == VERDICT_REPLACED, "first failed, then replaced");

    /* Without the checksum only a different size is evidence. */
    unlink(LOG);
    put_file("a.ppm", "old", then);
    ready.facts.summed = false;
    note(&ready);
    CHECK(verdict_of(&job) == VERDICT_CHANGED, "old or new");
    ready.facts.written = 4;
    note(&ready);
    CHECK(verdict_of(&job) == VERDICT_TODO, "surely old");
}

/* A note that it is done with all that is known of the file as it is. */
static struct record noted(struct record job, const char *written)
{
    struct stat st;
    struct record done = with_status(job, STATUS_DONE, written);
    need(stat(job.output, &st) == 0, job.output);
    done.facts.made_time = st.st_mtim;
    return done;
}

/* What size and time say is not read: the checksum of these notes is a wrong
 * one, so it is seen whether it counts. */
TEST(replaced)
{
    static const struct timespec later = { 1800000000, 1 };
    unlink(LOG);
    put_file("a.ppm", "older", then);
    struct record job = job_of("a.ppm", "a.ppm");
    put_file("a.ppm", "NEW", later);
    struct record done = noted(job, "NEW");
    done.facts.crc ^= 1;
    note(&done);
    CHECK(verdict_of(&job) == VERDICT_DONE, "by size and time");
    put_file("a.ppm", "NEW", then);
    CHECK(verdict_of(&job) == VERDICT_CHANGED, "of another time");
    done.facts.summed = false;
    note(&done);
    CHECK(verdict_of(&job) == VERDICT_CHANGED, "by size alone");
    put_file("a.ppm", "NEW", later);
    CHECK(verdict_of(&job) == VERDICT_DONE, "by size and time, unread");
}

/* ---- To another place -----------------------------------------------------*/

TEST(elsewhere)
{
    struct stat st;
    unlink(LOG);
    put_file("a.ppm", "old", then);
    put_file("b.ppm", "NEWER", then);
    struct record job = job_of("a.ppm", "b.ppm");
    struct record done = with_status(job, STATUS_DONE, "NEWER");
    CHECK(verdict_of(&job) == VERDICT_TODO, "nothing is noted");
    note(&done);
    CHECK(verdict_of(&job) == VERDICT_DONE, "done");
    CHECK(wrong_when_cut(&job, VERDICT_TODO) == 0, "cut");
    put_file("a.ppm", "old", (struct timespec){ 1700000000, 123456788 });
    CHECK(verdict_of(&job) == VERDICT_TODO, "the input has another time");
    put_file("a.ppm", "olde", then);
    CHECK(verdict_of(&job) == VERDICT_TODO, "the input has another size");
    unlink("a.ppm");
    CHECK(verdict_of(&job) == VERDICT_DONE, "the input is gone");
    put_file("b.ppm", "other", then);
    CHECK(verdict_of(&job) == VERDICT_DONE, "the output was touched");
    put_file("b.ppm", "NEWE", then);
    CHECK(verdict_of(&job) == VERDICT_TODO, "the output has another size");
    unlink("b.ppm");
    CHECK(verdict_of(&job) == VERDICT_TODO, "the output is gone");
    need(mkdir("b.ppm", 0777) == 0 && stat("b.ppm", &st) == 0, "b.ppm");
    done.facts.written = (uint64_t)st.st_size;
    note(&done);
    CHECK(verdict_of(&job) == VERDICT_TODO, "the output is a directory");
    rmdir("b.ppm");
}

TEST(other_jobs)
{
    unlink(LOG);
    put_file("a.ppm", "NEW", then);
    struct record job = job_of("a.ppm", "a.ppm"), other = job;
    struct record done = with_status(job, STATUS_DONE, "NEW");
    note(&done);
    other.op = "rotate180";
    CHECK(verdict_of(&other) == VERDICT_TODO, "another operation");
    other = job;
    other.input = "A.ppm";
    CHECK(verdict_of(&other) == VERDICT_TODO, "another input");
    other = job;
    other.output = "A.ppm";
    CHECK(verdict_of(&other) == VERDICT_TODO, "another output");

    /* The same file under two names is replaced, too. */
    other = job_of("a.ppm", "./a.ppm");
    done = with_status(other, STATUS_DONE, "BIG FILE");
    note(&done);
    put_file("a.ppm", "BIG FILE", (struct timespec){ 1800000000, 1 });
    CHECK(verdict_of(&other) == VERDICT_DONE, "by another name");
}

/* With other options the same input has another output, but a file that was
 * turned in place is turned with any options. */
TEST(options)
{
    static const char *const options[] = { "--strip=all", "", NULL };
    put_file("a.ppm", "old", then);
    put_file("b.ppm", "NEW", then);
    struct record in_place = job_of("a.ppm", "a.ppm");
    struct record elsewhere = job_of("a.ppm", "b.ppm");
    struct record done = with_status(in_place, STATUS_DONE, "NEW");
    unlink(LOG);
    note(&done);
    put_file("a.ppm", "NEW", then);
    done = with_status(elsewhere, STATUS_DONE, "NEW");
    note(&done);
    CHECK(verdict_of(&elsewhere) == VERDICT_DONE, "the same options");
    for (size_t i = 0; i < COUNT(options); i++) {
        in_place.options = elsewhere.options = options[i];
        CHECK(verdict_of(&in_place) == VERDICT_DONE, "in place, %zu", i);
        CHECK(verdict_of(&elsewhere) == VERDICT_TODO, "elsewhere, %zu", i);
    }
    done.options = NULL;
    note(&done);
    elsewhere.options = "";
    CHECK(verdict_of(&elsewhere) == VERDICT_DONE, "none are none");

    in_place.options = "--strip=all";
    in_place.op = "rotate180";
    struct record ready = with_status(in_place, STATUS_READY, "NEWER");
    note(&ready);
    put_file("a.ppm", "NEWER", then);
    in_place.options = NULL;
    CHECK(verdict_of(&in_place) == VERDICT_REPLACED, "about to be replaced");
    unlink("b.ppm");
}

/* What was found in a directory is looked for there: a directory in it that has
 * become a link leads to no answer about another file. */
TEST(confined)
{
    struct root root;
    struct err err = { .text = "" };
    unlink(LOG);
    need(mkdir("walked", 0777) == 0 && mkdir("other", 0777) == 0, "walked");
    need(symlink("../other", "walked/a") == 0, "walked/a");
    put_file("other/a.ppm", "turned", then);
    put_file("other/old.ppm", "old", then);
    CHECK(root_open(&root, "walked", ROOT_LINKS_NONE, true, &err) == 0, "%s",
          err.text);
    struct record in_place = job_of("walked/a/a.ppm", "walked/a/a.ppm");
    struct record ready = with_status(in_place, STATUS_READY, "turned");
    struct record elsewhere = job_of("walked/a/old.ppm", "other/a.ppm");
    struct record done = with_status(elsewhere, STATUS_DONE, "turned");
    note(&ready);
    note(&done);
    CHECK(verdict_of(&in_place) == VERDICT_REPLACED, "by any name");
    CHECK(verdict_of(&elsewhere) == VERDICT_DONE, "from any name");
    in_place.input_root = in_place.output_root = &root;
    elsewhere.input_root = &root;
    CHECK(verdict_of(&in_place) == VERDICT_CHANGED, "not by a link");
    CHECK(verdict_of(&elsewhere) == VERDICT_TODO, "not from a link");
    root_close(&root);
    unlink("walked/a");
    unlink("other/a.ppm");
    unlink("other/old.ppm");
    need(rmdir("walked") == 0 && rmdir("other") == 0, "walked");
}

TEST(order)
{
    unlink(LOG);
    put_file("a.ppm", "NEW", then);
    struct record job = job_of("a.ppm", "a.ppm");
    struct record done = with_status(job, STATUS_DONE, "NEW");
    struct record failed = with_status(job, STATUS_FAILED, NULL);
    struct record skipped = with_status(job, STATUS_SKIPPED, NULL);
    note(&skipped);
    CHECK(verdict_of(&job) == VERDICT_TODO, "skipped");
    note(&failed);
    CHECK(verdict_of(&job) == VERDICT_TODO, "failed");
    note(&done);
    CHECK(verdict_of(&job) == VERDICT_DONE, "done");
    note(&skipped);
    CHECK(verdict_of(&job) == VERDICT_DONE, "skipped, since it was done");
    note(&failed);
    CHECK(verdict_of(&job) == VERDICT_TODO, "done, then failed");
}
