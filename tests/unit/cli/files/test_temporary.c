/* A file that was made without a name gets one only if it is removed again,
 * whatever happens then. */
#include "cli/files/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"

static char place[] = "/tmp/test-temporary-XXXXXX";
static int directory = -1;

TEST_SET_UP()
{
    CHECK(mkdtemp(place), "%s", strerror(errno));
    directory = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(directory >= 0, "%s", strerror(errno));
}

static size_t count_files(void)
{
    DIR *files = opendir(place);
    size_t n = 0;
    for (struct dirent *file; files && (file = readdir(files));)
        n += !strncmp(file->d_name, TEMPORARY_PREFIX, strlen(TEMPORARY_PREFIX));
    if (files)
        closedir(files);
    return n;
}

/* Returns a file without a name; -1, and skips the test, where there is none.
 */
static int make_unnamed(void)
{
    int fd = openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        test_skip("files without a name: %s", strerror(errno));
    return fd;
}

TEST(link)
{
    int unnamed = make_unnamed(), fd = -1;
    if (unnamed < 0)
        return;
    struct temporary *temporary =
        temporary_open(directory, "a", unnamed, 0, 0, &fd);
    CHECK(temporary && fd >= 0, "%s", strerror(errno));
    CHECK(count_files() == 1, "%zu files", count_files());
    if (temporary)
        temporary_end(temporary);
    CHECK(count_files() == 0, "%zu files are left", count_files());
    close(fd);
    close(unnamed);
}

TEST(link_without_descriptors)
{
    int unnamed = make_unnamed(), fd = -1;
    struct rlimit before, none;
    if (unnamed < 0)
        return;
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0, "%s", strerror(errno));
    none = before;
    none.rlim_cur = 0;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0, "%s", strerror(errno));
    CHECK(!temporary_open(directory, "a", unnamed, 0, 0, &fd),
          "there were descriptors");
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0, "%s", strerror(errno));
    CHECK(count_files() == 0, "%zu files are left", count_files());
    close(unnamed);
}

/* What a run has left that was killed is removed by the next that makes a file
 * for the same name; what has a lock is not. */
TEST(left)
{
    int fd = -1, second = -1;
    struct temporary *one =
        temporary_open(directory, "a", -1, O_WRONLY, 0600, &fd);
    CHECK(one && count_files() == 1, "%s", strerror(errno));
    struct temporary *two =
        temporary_open(directory, "a", -1, O_WRONLY, 0600, &second);
    CHECK(two && count_files() == 2, "%zu files", count_files());
    close(fd); /* as the end of its process does */
    temporary_end(two);
    close(second);
    CHECK(count_files() == 1, "%zu files", count_files());
    two = temporary_open(directory, "a", -1, O_WRONLY, 0600, &second);
    CHECK(two && count_files() == 1, "%zu files", count_files());
    temporary_end(two);
    close(second);
    CHECK(count_files() == 0, "%zu files are left", count_files());
    temporary_end(one);
}

/* Makes files for one name, as other processes do at the same time. Returns how
 * often what had the name then was the file of another one. */
static int make_beside_others(void)
{
    int lost = 0;
    for (int i = 0; i < 3000; i++) {
        int fd = -1;
        struct stat one, two;
        struct temporary *temporary =
            temporary_open(directory, "a", -1, O_WRONLY, 0600, &fd);
        if (!temporary)
            return 100;
        const char *name = temporary_lock(temporary)->name;
        lost += fstatat(directory, name, &two, 0) || fstat(fd, &one) ||
                one.st_ino != two.st_ino;
        temporary_unlock(temporary);
        temporary_end(temporary);
        close(fd);
    }
    return lost < 100 ? lost : 100;
}

TEST(one_name_for_many)
{
    enum { PROCESSES = 4 };
    pid_t process[PROCESSES];
    int status;
    for (int i = 0; i < PROCESSES; i++)
        if ((process[i] = fork()) == 0)
            _exit(make_beside_others());
    for (int i = 0; i < PROCESSES; i++)
        CHECK(waitpid(process[i], &status, 0) == process[i] && status == 0,
              "%d files were lost to others", status >> 8);
    CHECK(count_files() == 0, "%zu files are left", count_files());
}

TEST_TEAR_DOWN()
{
    close(directory);
    CHECK(rmdir(place) == 0, "%s: %s", place, strerror(errno));
}
